"""Fits the settings of fusion to judged queries, and says whether that helps with others.

One knob after the other is turned to where the training queries gain most, round after round, until
none helps any more; a knob that gains next to nothing stays where it is. Cross-validated: each
query is judged by settings that were fitted without it, and the gain over the settings as they are
is tested query by query. The settings that come out are fitted to all queries.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias

from trivium.config import Settings, names, shown
from trivium.core.errors import DatasetInvalid
from trivium.evaluate.metrics import MAIN
from trivium.evaluate.replay import Replay
from trivium.evaluate.statistics import RunDifference, compare
from trivium.evaluate.subject import Progress

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

FOLDS = 5
FEWEST = 10  # queries: with fewer a fold holds one, and no gain could ever be told from chance
# On the training queries, below which a knob is left alone. Held-out gain on xquad_de at 0, .0005,
# .001 and .002: .0038 .0040 .0028 .0027, with 77, 43, 61 and 61 settings tried; on xquad_en .0012
# (chance) at 0 and .0005, with 154 and 103. So it spares work; that it gains is not shown.
LEAST_GAIN = 0.0005
ROUNDS = 3

FITTED = (
    "fusion.method",
    "fusion.adaptive",
    "fusion.k",
    "fusion.vector",
    "fusion.keyword",
    "fusion.trigram",
    "analysis.strength",
    "search.threshold",
)
BLENDED = ("rerank.share", "rerank.hybrid", "rerank.position")

Choice: TypeAlias = Mapping[str, Any]  # attributes of Settings and their values
Values: TypeAlias = "NDArray[np.float64]"
Places: TypeAlias = "NDArray[np.intp]"


@dataclass(frozen=True, slots=True)
class Knob:
    """Settings that are turned together, and the positions to try, given where they are."""

    name: str
    choices: Callable[[Settings], Sequence[Choice]]


@dataclass(frozen=True, slots=True)
class Tuned:
    """What came out, in the words of the settings."""

    dataset: str
    synthetic: bool
    queries: int
    measure: str
    rerank: bool  # of reranked pages
    before: float  # on all queries
    fitted: float  # the same queries that it was fitted to: too good to be true
    held_out: RunDifference  # gain on queries that had no part in the fit
    changed: dict[str, tuple[str, str]]  # by setting: before and fitted
    folds: tuple[dict[str, str], ...]  # what each fold chose
    tried: int  # different settings
    settings: Settings
    notes: tuple[str, ...] = ()

    @property
    def worth_it(self) -> bool:
        return bool(self.changed) and self.held_out.real and self.held_out.gain > 0

    @property
    def verdict(self) -> str:
        gain, ends, p = self.held_out.gain, self.held_out.interval, self.held_out.p
        figures = f"{gain:+.4f} [{ends.low:+.4f}, {ends.high:+.4f}], p = {p:.3f}"
        if not self.changed:
            return "No setting does better on these queries: keep your settings."
        if self.worth_it:
            return f"The gain is real: on held-out queries {self.measure} changes by {figures}."
        if self.held_out.real:
            return (
                f"Tuning makes it worse: on held-out queries {self.measure} changes by {figures}."
                " Keep your settings."
            )
        return (
            f"The gain is not significant: on held-out queries {self.measure} changes by {figures},"
            " which may be chance. Keep your settings, or judge more queries."
        )


def tune(
    replay: Replay,
    start: Settings,
    *,
    measure: str = MAIN,
    rerank: bool = False,
    folds: int = FOLDS,
    seed: int = 0,
    named: tuple[str, bool] = ("", False),
    on_progress: Progress = lambda stage, done, total: None,
) -> Tuned:
    """`rerank`: judge reranked pages and fit what the reranker counts too. `named`: the set's name
    and whether it is synthetic."""
    import numpy as np

    count = len(replay)
    if count < FEWEST:
        raise DatasetInvalid(
            f"{count} judged queries are too few to tune; you need at least {FEWEST}.",
            fix="`trivium judge` collects more; `trivium judge --synthetic N` generates some.",
        )
    folds = max(2, min(folds, count))
    bench = _Bench(replay, measure, rerank)
    parts = np.array_split(np.random.default_rng(seed).permutation(count), folds)
    before = bench.values(start)
    held_out = np.empty(count)
    chosen: list[dict[str, str]] = []
    for done, part in enumerate(parts):
        on_progress("fit", done, folds + 1)
        rest = np.setdiff1d(np.arange(count), part)
        settings = _fit(bench, start, rest, rerank=rerank)
        held_out[part] = bench.values(settings)[part]
        chosen.append({name: now for name, (_, now) in _changed(start, settings).items()})
    on_progress("fit", folds, folds + 1)
    best = _fit(bench, start, np.arange(count), rerank=rerank)
    return Tuned(
        *named,
        count,
        measure,
        rerank,
        round(float(before.mean()), 5),
        round(float(bench.values(best).mean()), 5),
        compare(held_out.tolist(), before.tolist(), seed),
        _changed(start, best),
        tuple(chosen),
        bench.tried,
        best,
        replay.notes,
    )


def as_toml(tuned: Tuned) -> str:
    """All that was fitted, changed or not, as a file that `config` loads: what it was fitted from
    may have been given on a command line."""
    lines = [
        f"# Fitted by `trivium tune` to {tuned.queries} queries of {tuned.dataset or 'a set'}.",
        f"# {tuned.verdict}",
    ]
    if tuned.synthetic:
        lines.append("# The queries are synthetic: no person asked or judged them.")
    groups: dict[str, list[str]] = {}
    for name in (*FITTED, *BLENDED) if tuned.rerank else FITTED:
        group, _, key = name.partition(".")
        value = getattr(tuned.settings, names()[name])
        # As JSON a number, a switch or a text is what it is in TOML.
        groups.setdefault(group, []).append(f"{key} = {json.dumps(value)}")
    for group, pairs in groups.items():
        lines += ["", f"[{group}]", *pairs]
    return "\n".join(lines) + "\n"


class _Bench:
    """Values of settings on all queries, each computed once."""

    def __init__(self, replay: Replay, measure: str, rerank: bool) -> None:
        self._replay = replay
        self._measure = measure
        self._rerank = rerank
        self._values: dict[Settings, Values] = {}

    @property
    def tried(self) -> int:
        return len(self._values)

    def values(self, settings: Settings) -> Values:
        import numpy as np

        if settings not in self._values:
            values = self._replay.values(settings, self._measure, rerank=self._rerank)
            self._values[settings] = np.array(values)
        return self._values[settings]


def _fit(bench: _Bench, start: Settings, train: Places, *, rerank: bool) -> Settings:
    best, reached = start, bench.values(start)[train].mean()
    for _ in range(ROUNDS):
        turned = False
        for knob in (*KNOBS, SHARES) if rerank else KNOBS:
            for choice in sorted(knob.choices(best), key=lambda c: _distance(start, c)):
                settings = replace(best, **choice)
                mean = bench.values(settings)[train].mean()
                if mean > reached + LEAST_GAIN:  # of equals the nearest to what was
                    best, reached, turned = settings, mean, True
        if not turned:
            break
    return best


def _distance(start: Settings, choice: Choice) -> float:
    """How far a choice is from the settings as they were."""
    apart = ((getattr(start, name), value) for name, value in choice.items())
    return sum(
        abs(then - now) if isinstance(now, float) else float(then != now) for then, now in apart
    )


def _changed(start: Settings, now: Settings) -> dict[str, tuple[str, str]]:
    pairs = {
        name: (shown(getattr(start, attribute)), shown(getattr(now, attribute)))
        for name, attribute in names().items()
    }
    return {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}


# --- knobs ---------------------------------------------------------------------------------------


def _methods(_now: Settings) -> list[Choice]:
    return [
        {"fusion_method": method, "fusion_adaptive": adaptive}
        for method in ("scores", "rrf")
        for adaptive in (True, False)
    ]


def _simplex(attributes: tuple[str, str, str], steps: int) -> Iterator[Choice]:
    """All ways to share 1 among three by equal steps."""
    for first in range(steps + 1):
        for second in range(steps + 1 - first):
            shares = (first, second, steps - first - second)
            yield {
                name: round(share / steps, 3)
                for name, share in zip(attributes, shares, strict=True)
            }


_WEIGHTS = ("fusion_vector", "fusion_keyword", "fusion_trigram")
_SHARES = ("rerank_share", "rerank_hybrid", "rerank_position")


def _near(attributes: tuple[str, str, str]) -> Callable[[Settings], list[Choice]]:
    """Half a tenth from one to another of three."""

    def choices(now: Settings) -> list[Choice]:
        values = {name: float(getattr(now, name)) for name in attributes}
        step = 0.05 * sum(values.values())
        return [
            {source: round(values[source] - step, 3), target: round(values[target] + step, 3)}
            for source in attributes
            for target in attributes
            if source != target and values[source] >= step
        ]

    return choices


def _ranks(now: Settings) -> list[Choice]:
    if now.fusion_method != "rrf":
        return []  # k counts for ranks only
    return [{"fusion_k": k} for k in (2.0, 5.0, 10.0, 20.0, 40.0, 60.0, 100.0)]


KNOBS = (
    Knob("method", _methods),
    Knob("weights", lambda _now: list(_simplex(_WEIGHTS, 5))),
    Knob("weights, finely", _near(_WEIGHTS)),
    Knob("k", _ranks),
    Knob("analysis", lambda _now: [{"analysis_strength": s} for s in (0.0, 0.5, 1.0, 1.5, 2.0)]),
    Knob(
        "threshold", lambda _now: [{"search_threshold": t} for t in (-1.0, 0.1, 0.2, 0.3, 0.4, 0.5)]
    ),
)
SHARES = Knob("shares of the reranker", lambda now: [*_simplex(_SHARES, 5), *_near(_SHARES)(now)])
