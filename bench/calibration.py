"""Fits the match to judged sets, and measures it on sets that were not part of the fit.

    python -m bench.calibration --data ../shared/data [--picture docs/reliability.svg]

Each set is indexed and asked once (`bench.heard`), and what every signal said is kept in the cache,
so that another fit takes seconds. Of each query the ten best documents count; queries of
other sets, which a library can't answer, count as lists without a relevant document. Each set is
judged by a fit to all the others; the two translations of one set leave each other out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from bench.harness import arguments
from bench.heard import FORMAT, SAME, SETS, Columns, hear
from trivium.config import Settings, load
from trivium.search.match import KNEE, OWN, OWN_EVIDENCE, Fit, Signs, behind, falling
from trivium.search.rerank import Shares, blend
from trivium.search.separation import Passages

if TYPE_CHECKING:
    from numpy.typing import NDArray

PAGE = 10
POOL = 30  # candidates of a page that a reranker sees
BINS = 10
# Pulls the weights of standardised signs to 0. From .001 to .01 the mean error of calibration on
# held-out sets moved by .004 and the AUROC by .001.
RIDGE = 0.005
FLOORS = (0.08, 0.09, 0.1, 0.11, 0.12, 0.13, 0.14, 0.15)
KINDS: Mapping[str, tuple[str, ...]] = {
    "words": ("share", "behind"),
    "meaning": ("share", "behind", "similarity"),
    "judged": ("share", "behind", "similarity", "judged"),
}
LIBRARY = ("length", "alike")  # fitted too wherever meaning is
ROUNDS = 50


@dataclass(frozen=True, slots=True)
class Listed:
    """The page of one query."""

    foreign: bool
    signs: tuple[Signs, ...]
    relevant: tuple[bool, ...]


def pages(columns: Columns, *, reranked: bool) -> list[Listed]:
    table = columns.table
    found = []
    bounds = zip(table["starts"][:-1], table["starts"][1:], table["source"], strict=True)
    for start, end, source in bounds:
        rows = {name: table[name][start:end] for name in _READ}
        order = _documents(rows, POOL if reranked else PAGE)
        scores = [float(rows["fused"][at]) for at in order]
        if reranked:
            judged = [float(rows["late"][at]) for at in order]
            blended = blend(scores, judged, Shares())[:PAGE]
            order, scores = [order[one.at] for one in blended], [one.score for one in blended]
        found.append(
            Listed(
                bool(source),
                tuple(
                    Signs(
                        float(rows["share"][at]),
                        lag,
                        float(rows["cosine"][at]),
                        float(rows["late"][at]) if reranked else None,
                        Passages(float(rows["usual"][at]), float(rows["alike"][at])),
                    )
                    for at, lag in zip(order, behind(scores), strict=True)
                ),
                tuple(bool(rows["relevant"][at] > 0) for at in order),
            )
        )
    return [one for one in found if one.signs]


_READ = ("fused", "late", "share", "cosine", "relevant", "document", "usual", "alike")


def _documents(rows: Mapping[str, NDArray[np.float32]], most: int) -> list[int]:
    """By the fused order the best passage of each document."""
    kept: dict[float, int] = {}
    for at in np.argsort(-np.nan_to_num(rows["fused"], nan=-1.0), kind="stable"):
        if not np.isnan(rows["fused"][at]):
            kept.setdefault(float(rows["document"][at]), int(at))
    return list(kept.values())[:most]


# --- fitting -------------------------------------------------------------------------------------


def fit(sets: Sequence[Sequence[Listed]], kind: str) -> Fit:
    """What the reranker says counts half: halfway to the fit without it, so that reranking does
    not turn a weak result into a strong one by a single word that it knows."""
    if kind != "judged":
        return _regressed(sets, kind)
    both = [_regressed(sets, one) for one in ("judged", "meaning")]
    names = [field.name for field in fields(Fit)]
    return Fit(**{n: round(sum(getattr(one, n) for one in both) / 2, 2) for n in names})


def _regressed(sets: Sequence[Sequence[Listed]], kind: str) -> Fit:
    """Each set counts the same, and in it the queries that its library can't answer as much as its
    own. Where they counted .5, the mean error was .004 higher.

    Which evidence is beyond the knee, and how much being behind counts, depends on the fit, so it
    is fitted again with what the last fit says, until it stays."""
    drawn = [_columns(lists) for lists in sets]
    known = {name: np.concatenate([one[name] for one in drawn]) for name in drawn[0]}
    y, w = known["relevant"], known["weight"] / len(sets)
    names = KINDS[kind]
    of_library = () if kind == "words" else LIBRARY
    plain = np.column_stack([known[name] for name in names])
    found = _newton(plain, y, w)
    found = np.concatenate([found[:-1], np.zeros(len(of_library)), found[-1:]])
    evidence = [at for at, name in enumerate(names) if name != "behind"]
    for _ in range(ROUNDS):
        own = plain[:, evidence] @ found[evidence] + found[-1]
        counted = plain.copy()
        counted[:, names.index("behind")] /= 1 + np.exp(OWN * (own - OWN_EVIDENCE))
        library = [known[name] * np.maximum(0.0, own - KNEE) for name in of_library]
        again = _newton(np.column_stack([counted, *library]), y, w)
        moved = float(np.abs(again - found).max())
        found = (found + again) / 2  # halfway: else it may go to and fro
        if moved < 1e-3:
            break
    return _named((*names, *of_library), found)


def _columns(lists: Sequence[Listed]) -> dict[str, NDArray[np.float64]]:
    """The signs of a set as columns, with what is relevant and how much each row counts."""
    rows = [
        (signs, one.foreign, relevant)
        for one in lists
        for signs, relevant in zip(one.signs, one.relevant, strict=True)
    ]
    foreign = np.array([foreign for _, foreign, _ in rows])
    most = np.where(foreign, max(1, foreign.sum()), max(1, (~foreign).sum()))
    return {
        "share": np.array([signs.share for signs, _, _ in rows]),
        "behind": np.array([signs.behind for signs, _, _ in rows]),
        "similarity": np.array([signs.similarity or 0.0 for signs, _, _ in rows]),
        "judged": np.array([signs.judged or 0.0 for signs, _, _ in rows]),
        "length": np.array([signs.passages.length for signs, _, _ in rows]),
        "alike": np.array([signs.passages.alike for signs, _, _ in rows]),
        "relevant": np.array([float(relevant) for _, _, relevant in rows]),
        "weight": 1 / most,
    }


def _newton(
    x: NDArray[np.float64], y: NDArray[np.float64], w: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Logistic regression; the weight of each column, then the offset."""
    mean, deviation = x.mean(axis=0), np.where(x.std(axis=0) > 0, x.std(axis=0), 1.0)
    z = np.column_stack([(x - mean) / deviation, np.ones(len(x))])
    ridge = np.diag([RIDGE] * x.shape[1] + [0.0])
    b = np.zeros(z.shape[1])
    for _ in range(50):
        p = 1 / (1 + np.exp(-z @ b))
        slope = z.T @ (w * (p - y)) + ridge @ b
        step = np.linalg.solve((z * (w * p * (1 - p))[:, None]).T @ z + ridge, slope)
        b -= step
        if np.abs(step).max() < 1e-8:
            break
    each = b[:-1] / deviation
    return np.append(each, b[-1] - each @ mean)


def _named(names: Sequence[str], found: NDArray[np.float64]) -> Fit:
    rounded = [round(float(value), 2) for value in found]
    return Fit(offset=rounded[-1], **dict(zip(names, rounded[:-1], strict=True)))


def matches(given: Fit, one: Listed) -> list[float]:
    if not given.similarity:  # fitted without it
        return falling(given.probability(replace(s, similarity=None)) for s in one.signs)
    return falling(map(given.probability, one.signs))


# --- judging -------------------------------------------------------------------------------------


def calibration_error(p: Sequence[float], y: Sequence[bool]) -> float:
    return sum(share * abs(mean - rate) for mean, rate, share in reliability(p, y))


def reliability(p: Sequence[float], y: Sequence[bool]) -> list[tuple[float, float, float]]:
    """For each tenth that holds some: the mean match, how many are relevant, its share of all."""
    values, labels = np.array(p), np.array(y, float)
    bins = np.minimum((values * BINS).astype(int), BINS - 1)
    return [
        (float(values[here].mean()), float(labels[here].mean()), float(here.mean()))
        for here in (bins == at for at in range(BINS))
        if here.any()
    ]


def auroc(yes: Iterable[float], no: Iterable[float]) -> float:
    """How often one of the first is above one of the second; equal ones count half."""
    a, b = np.array(list(yes)), np.sort(np.array(list(no)))
    if not len(a) or not len(b):
        return float("nan")
    below = np.searchsorted(b, a, "left")
    return float((below + np.searchsorted(b, a, "right")).sum() / (2 * len(a) * len(b)))


@dataclass(frozen=True, slots=True)
class Judged:
    name: str
    error: float
    separated: float  # AUROC of relevant against not, among the ten best
    foreign: float  # AUROC of answerable against foreign queries by their best match
    missed: float  # answerable queries below the floor
    refused: float  # foreign ones
    p: tuple[float, ...]
    y: tuple[bool, ...]


def judge(name: str, lists: Sequence[Listed], match: Matcher, floor: float) -> Judged:
    own = [one for one in lists if not one.foreign]
    p = [value for one in own for value in match(one)]
    y = [value for one in own for value in one.relevant]
    best = [max(match(one)) for one in own]
    others = [max(match(one)) for one in lists if one.foreign]
    return Judged(
        name,
        calibration_error(p, y),
        auroc((v for v, r in zip(p, y, strict=True) if r),
              (v for v, r in zip(p, y, strict=True) if not r)),
        auroc(best, others),
        float(np.mean(np.array(best) < floor)),
        float(np.mean(np.array(others) < floor)) if others else float("nan"),
        tuple(p),
        tuple(y),
    )  # fmt: skip


Matcher = Callable[[Listed], list[float]]


def today(one: Listed) -> list[float]:
    """The match as it was: the similarity."""
    return [min(1.0, max(0.0, signs.similarity or 0.0)) for signs in one.signs]


def held_out(sets: Mapping[str, Sequence[Listed]], kind: str) -> dict[str, Fit]:
    """For each set a fit to all the others."""
    return {
        name: fit(
            [o for known, o in sets.items() if known != name and not {known, name} <= SAME], kind
        )
        for name in sets
    }


def judged_by(
    fits: Mapping[str, Fit], sets: Mapping[str, Sequence[Listed]], floor: float
) -> list[Judged]:
    return [judge(name, lists, partial(matches, fits[name]), floor) for name, lists in sets.items()]


def show(title: str, judged: Sequence[Judged]) -> None:
    print(f"\n{title:20} error  AUROC  foreign  missed  refused")
    for one in judged:
        print(
            f"{one.name:20} {one.error:.3f}  {one.separated:.3f}   {one.foreign:.3f}"
            f"   {one.missed:.3f}    {one.refused:.3f}"
        )
    p, y = [v for o in judged for v in o.p], [v for o in judged for v in o.y]
    print(f"{'all':20} {calibration_error(p, y):.3f}")


def picture(judged: Sequence[Judged]) -> str:
    """Match against the share that is relevant, a line for each set; dots for all together."""
    size, left = 360, 48

    def x(v: float) -> float:
        return left + (size - 2 * left) * v

    def y(v: float) -> float:
        return size - left - (size - 2 * left) * v

    parts = [f'<path d="M{x(0)} {y(0)}L{x(1)} {y(1)}" stroke="#999" stroke-dasharray="4"/>']
    for one in judged:
        points = " ".join(f"{x(m):.1f},{y(r):.1f}" for m, r, _ in reliability(one.p, one.y))
        parts.append(
            f'<polyline points="{points}" fill="none" stroke="#4a7" stroke-opacity=".5">'
            f"<title>{one.name}</title></polyline>"
        )
    p, r = [v for o in judged for v in o.p], [v for o in judged for v in o.y]
    parts += [
        f'<circle cx="{x(m):.1f}" cy="{y(rate):.1f}" r="{2 + 14 * share**0.5:.1f}" fill="#c52"/>'
        for m, rate, share in reliability(p, r)
    ]
    for tick in (0, 0.25, 0.5, 0.75, 1):
        parts.append(f'<text x="{x(tick)}" y="{size - 30}" text-anchor="middle">{tick:g}</text>')
        parts.append(f'<text x="{left - 8}" y="{y(tick) + 4}" text-anchor="end">{tick:g}</text>')
    parts.append(f'<text x="{size / 2}" y="{size - 10}" text-anchor="middle">match</text>')
    parts.append('<text x="8" y="20">share that is relevant (a line for each set)</text>')
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size} {size}" width="{size}"'
        f' font-family="sans-serif" font-size="11">{"".join(parts)}</svg>\n'
    )


def _heard(name: str, data: Path, settings: Settings, others: Sequence[str]) -> Columns:
    kept = settings.cache / "heard" / f"{name}-{FORMAT}.npz"
    if not kept.exists():
        kept.parent.mkdir(parents=True, exist_ok=True)
        hear(name, data, settings, others).write(kept)
    return Columns.read(kept)


def main() -> None:
    given = arguments(
        __doc__,
        "data",
        sets=",".join(SETS),
        cache=(Path, "where libraries and columns are kept"),
        floor=0.11,
        picture=Path,
    )
    settings = load({"cache": str(given.cache)} if given.cache else {}).settings
    names = given.sets.split(",")
    heard = {name: _heard(name, given.data, settings, names) for name in sorted(names)}
    plain = {name: pages(columns, reranked=False) for name, columns in heard.items()}
    late = {name: pages(columns, reranked=True) for name, columns in heard.items()}
    show("similarity alone", [judge(n, one, today, given.floor) for n, one in plain.items()])
    for kind in KINDS:
        sets = late if kind == "judged" else plain
        fits = held_out(sets, kind)
        found = judged_by(fits, sets, given.floor)
        show(f"{kind}, held out", found)
        whole = fit(list(sets.values()), kind)
        show(f"{kind}, fit to all", judged_by(dict.fromkeys(sets, whole), sets, given.floor))
        print(whole)
        for floor in FLOORS:
            tried = judged_by(fits, sets, floor)
            missed, refused = [one.missed for one in tried], [one.refused for one in tried]
            print(
                f"floor {floor:.3f}: missed {np.mean(missed):.3f}, at most {max(missed):.3f};"
                f" refused {np.mean(refused):.3f}, at least {min(refused):.3f}"
            )
        if kind == "meaning" and given.picture:
            given.picture.write_text(picture(found), encoding="utf-8")


if __name__ == "__main__":
    main()
