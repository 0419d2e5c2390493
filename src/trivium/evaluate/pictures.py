"""Which charts an evaluation is shown by, in a report as on a page. Knows figures only."""

from __future__ import annotations

from collections.abc import Sequence

from trivium.evaluate.charts import Bar, Point, Series, bars, profile, scatter, waterfall
from trivium.evaluate.metrics import MAIN
from trivium.evaluate.run import Evaluation, Run, run_title
from trivium.evaluate.saved import Change

_ORDER = ("vector", "keyword", "trigram", "hybrid", "reranked")  # each has its colour
_TOLD = "nDCG@10 per query, worst first: higher and further left is better"


def measured(evaluation: Evaluation, width: int = 440) -> list[str]:
    """For each measure the runs as bars with their intervals."""
    runs = evaluation.runs
    return [
        bars(
            measure,
            [
                Bar(
                    run_title(name),
                    run.means[measure],
                    run.intervals[measure].low,
                    run.intervals[measure].high,
                    _colour(name, runs),
                )
                for name, run in runs.items()
            ],
            1.0,
            width,
        )
        for measure in next(iter(runs.values())).each
    ]


def by_query(
    evaluation: Evaluation, width: int = 560, height: int = 260, title: str = _TOLD
) -> str:
    """How many queries each run answers how well."""
    runs = evaluation.runs
    lines = [
        Series(run_title(name), run.each[MAIN], _colour(name, runs)) for name, run in runs.items()
    ]
    return profile(title, lines, width, height)


def latency(evaluation: Evaluation, width: int = 440) -> list[str]:
    """One chart, or none if nothing was timed."""
    timed = {name: run.latency_ms for name, run in evaluation.runs.items() if run.latency_ms}
    if not timed:
        return []
    return [
        bars(
            "Milliseconds for ten results: median, 95th percentile",
            [
                Bar(
                    run_title(name),
                    took["p50"],
                    took["p50"],
                    took["p95"],
                    _colour(name, evaluation.runs),
                    f"{took['p50']:.0f} / {took['p95']:.0f}",
                )
                for name, took in timed.items()
            ],
            1.15 * max(took["p95"] for took in timed.values()),  # room for the figures
            width,
        )
    ]


def changed(name: str, changes: Sequence[Change], width: int = 560) -> list[str]:
    """A run now and before: the gain of every query, and each query's two values."""
    gains = [(c.gain, f"{c.gain:+.3f} {c.query}: {c.text}") for c in changes]
    points = [
        Point(c.theirs, c.ours, f"{c.query}: {c.text} ({c.theirs:.3f}, {c.ours:.3f})")
        for c in changes
    ]
    return [
        waterfall(f"{run_title(name)}: gain of every query", gains, width),
        scatter(f"{run_title(name)}: every query", points, "before", "now"),
    ]


def _colour(name: str, runs: dict[str, Run]) -> int:
    if name in _ORDER:
        return _ORDER.index(name)
    return len(_ORDER) + [other for other in runs if other not in _ORDER].index(name)
