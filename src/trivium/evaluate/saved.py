"""Saves an evaluation as JSON, with the values of every query, and compares another with it.

It holds queries and figures, never the text of a document. Knows nothing of how runs are made or
shown.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Protocol, Self, TypeVar

from trivium.core.errors import RunInvalid
from trivium.core.shapes import Part, Shape, said, to_json
from trivium.evaluate.metrics import MAIN
from trivium.evaluate.run import Evaluation, Run
from trivium.evaluate.statistics import EQUAL, Interval, RunDifference, compare

FORMAT = "trivium-evaluation/1"
_KEPT = {
    "dataset", "synthetic", "documents", "texts", "runs", "each", "intervals", "latency_ms",
    "settings", "version", "notes",
}  # fmt: skip
SHOWN = 5  # queries of the greatest wins, and of the greatest losses


@dataclass(frozen=True, slots=True)
class Saved:
    """What an earlier evaluation found: enough to compare with."""

    dataset: str
    synthetic: bool
    queries: dict[str, str]
    means: dict[str, dict[str, float]]  # by run, then measure
    each: dict[str, dict[str, dict[str, float]]]  # by run, measure and query
    settings: dict[str, str]


@dataclass(frozen=True, slots=True)
class Change:
    """One query's value now and before."""

    query: str
    text: str
    ours: float
    theirs: float

    @property
    def gain(self) -> float:
        gain = self.ours - self.theirs
        return gain if abs(gain) >= EQUAL else 0.0


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two evaluations on the queries that both asked."""

    dataset: str  # of the earlier one
    common: int  # queries
    differences: dict[str, dict[str, RunDifference]]  # by run, then measure
    changes: dict[str, list[Change]]  # by run: every query, the greatest win first
    settings: dict[str, tuple[str, str]]  # those that differ: before and now
    notes: tuple[str, ...] = ()


class _Gained(Protocol):
    @property
    def gain(self) -> float: ...


T = TypeVar("T", bound=_Gained)


def ends_of(sorted_by_gain: Sequence[T], most: int) -> tuple[list[T], list[T]]:
    """The greatest wins, and the greatest losses, each beginning with the greatest."""
    wins = [change for change in sorted_by_gain[:most] if change.gain > 0]
    return wins, [change for change in sorted_by_gain[: -most - 1 : -1] if change.gain < 0]


class EvaluationAnswer(Part, kw_only=True):
    """The figures of one evaluation, by way of searching and measure."""

    format: str
    version: str
    dataset: str
    synthetic: bool
    documents: int
    queries: int
    runs: Mapping[str, Mapping[str, float]]
    intervals: Mapping[str, Mapping[str, Sequence[float]]] = said(
        "95% confidence interval: low and high."
    )
    latency_ms: Mapping[str, Mapping[str, float]]
    settings: Mapping[str, str]
    notes: Sequence[str]

    @classmethod
    def of(cls, evaluation: Evaluation, /, **more: Any) -> Self:
        runs = evaluation.runs
        return super().of(
            evaluation,
            format=FORMAT,
            queries=len(evaluation.queries),
            runs={name: run.means for name, run in runs.items()},
            intervals={
                name: {measure: [i.low, i.high] for measure, i in run.intervals.items()}
                for name, run in runs.items()
            },
            latency_ms={name: run.latency_ms for name, run in runs.items()},
            **more,
        )


class WholeEvaluation(EvaluationAnswer, kw_only=True):
    """With the values of every query: what is saved."""

    texts: Mapping[str, str] = said("Texts of the queries, by id.")
    each: Mapping[str, Mapping[str, Mapping[str, float]]] = said(
        "Values by run, measure and query."
    )

    @classmethod
    def of(cls, evaluation: Evaluation, /, **more: Any) -> Self:
        texts, each = evaluation.queries, _each(evaluation)
        return super().of(evaluation, texts=texts, each=each, **more)


def _each(evaluation: Evaluation) -> dict[str, dict[str, dict[str, float]]]:
    return {
        name: {
            measure: dict(zip(evaluation.queries, values, strict=True))
            for measure, values in run.each.items()
        }
        for name, run in evaluation.runs.items()
    }


def save(path: Path, evaluation: Evaluation) -> None:
    payload = WholeEvaluation.of(evaluation)
    path.write_text(to_json(payload, ensure_ascii=False, indent=1), encoding="utf-8")


def load(path: Path) -> Saved:
    payload = _payload(path)
    return Saved(
        payload["dataset"],
        payload["synthetic"],
        payload["texts"],
        payload["runs"],
        payload["each"],
        payload["settings"],
    )


def as_saved(evaluation: Evaluation) -> Saved:
    """What `load` would give of an evaluation, once saved."""
    means = {name: run.means for name, run in evaluation.runs.items()}
    return Saved(
        evaluation.dataset,
        evaluation.synthetic,
        evaluation.queries,
        means,
        _each(evaluation),
        evaluation.settings,
    )


def recall(path: Path) -> Evaluation:
    """The evaluation that was saved, without its rankings, which are not kept."""
    p = _payload(path)
    runs = {
        name: Run(
            {m: [values[query] for query in p["texts"]] for m, values in each.items()},
            {m: Interval(*ends) for m, ends in p["intervals"][name].items()},
            p["latency_ms"].get(name, {}),
        )
        for name, each in p["each"].items()
    }
    parts = (p["dataset"], p["synthetic"], p["documents"], p["texts"], runs, p["settings"])
    return Evaluation(*parts, version=p["version"], notes=tuple(p["notes"]))


def _payload(path: Path) -> dict[str, Any]:
    try:
        payload = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as reason:
        raise RunInvalid(f"Couldn't read {path}: {reason}.") from reason
    if not isinstance(payload, dict) or payload.get("format") != FORMAT or "each" not in payload:
        raise RunInvalid(f"{path} isn't a saved evaluation.")
    missing = _KEPT - payload.keys()
    if missing:
        raise RunInvalid(f"The saved evaluation {path} has no {min(missing)!r}.")
    return payload


def compared(evaluation: Evaluation, before: Saved) -> Comparison:
    """Compare runs of the same name on their common queries. Raises RunInvalid if there are
    none."""
    common = [
        query for query, text in evaluation.queries.items() if before.queries.get(query) == text
    ]
    names = [name for name in evaluation.runs if name in before.each]
    if not common or not names:
        raise RunInvalid(
            f"The saved evaluation of {before.dataset} has no query or no run in common with this"
            " one.",
            fix="Compare evaluations of the same judged set.",
        )
    at = {query: place for place, query in enumerate(evaluation.queries)}
    differences: dict[str, dict[str, RunDifference]] = {}
    changes: dict[str, list[Change]] = {}
    for name in names:
        ours, theirs = evaluation.runs[name].each, before.each[name]
        differences[name] = {
            measure: compare(
                [values[at[query]] for query in common],
                [theirs[measure][query] for query in common],
            )
            for measure, values in ours.items()
            if measure in theirs
        }
        changes[name] = sorted(
            (
                Change(q, evaluation.queries[q], ours[MAIN][at[q]], theirs[MAIN].get(q, 0.0))
                for q in common
            ),
            key=lambda change: (-change.gain, change.query),
        )
    return Comparison(
        before.dataset,
        len(common),
        differences,
        changes,
        _changed(before.settings, evaluation.settings),
        _notes(evaluation, before, len(common)),
    )


def _changed(before: dict[str, str], now: dict[str, str]) -> dict[str, tuple[str, str]]:
    names = [*now, *(name for name in before if name not in now)]
    pairs = {name: (before.get(name, ""), now.get(name, "")) for name in names}
    return {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}


def _notes(evaluation: Evaluation, before: Saved, common: int) -> tuple[str, ...]:
    notes = []
    if common < max(len(evaluation.queries), len(before.queries)):
        notes.append(
            f"Compared on the {common} queries in common, of {len(evaluation.queries)} now and"
            f" {len(before.queries)} before."
        )
    if evaluation.synthetic or before.synthetic:
        notes.append("The queries are synthetic.")
    return tuple(notes)


class ChangeAnswer(Shape):
    query: str
    text: str
    ours: float
    theirs: float
    gain: float

    @classmethod
    def of(cls, change: Change) -> Self:
        return cls(**asdict(change), gain=round(change.gain, 5))


class ComparisonAnswer(Part, kw_only=True):
    """A run's gain over an earlier one, on their common queries."""

    dataset: str
    queries: int
    differences: Mapping[str, Mapping[str, Mapping[str, Any]]] = said(
        "By run and measure: gain, interval, p, wins, losses, ties, real."
    )
    greatest: Mapping[str, Mapping[str, Sequence[ChangeAnswer]]]
    settings: Mapping[str, Mapping[str, str]] = said("Settings that differ.")
    notes: Sequence[str]

    @classmethod
    def of(cls, comparison: Comparison, /, **more: Any) -> Self:
        greatest = {
            name: {
                side: [ChangeAnswer.of(change) for change in some]
                for side, some in zip(("wins", "losses"), ends_of(changes, SHOWN), strict=True)
            }
            for name, changes in comparison.changes.items()
        }
        return super().of(
            comparison,
            queries=comparison.common,
            differences={
                name: {
                    measure: asdict(d)
                    | {"interval": [d.interval.low, d.interval.high], "real": d.real}
                    for measure, d in measures.items()
                }
                for name, measures in comparison.differences.items()
            },
            greatest=greatest,
            settings={n: {"before": a, "now": b} for n, (a, b) in comparison.settings.items()},
            **more,
        )


class WholeComparison(ComparisonAnswer, kw_only=True):
    changes: Mapping[str, Sequence[ChangeAnswer]] = said("Every query, biggest gain first.")

    @classmethod
    def of(cls, comparison: Comparison, /, **more: Any) -> Self:
        every = comparison.changes.items()
        changes = {name: [ChangeAnswer.of(change) for change in some] for name, some in every}
        return super().of(comparison, changes=changes, **more)
