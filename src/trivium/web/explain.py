"""The picture in the explain drawer: each result's rank in every signal, how much each signal
contributed to its score, the weights chosen for the query, and the timings.

Geometry only, in the units of the SVG; the template draws it. Pure.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from trivium.core.results import Analysis, Result, Results
from trivium.core.types import Signal

WIDTH = 400
ROW, HEAD = 26, 30
_COLUMNS = {Signal.VECTOR: 34, Signal.KEYWORD: 100, Signal.TRIGRAM: 166}  # the middle of each list
_FUSED = 232
_BAR_LEFT, _BAR_WIDTH = 260, WIDTH - 260
_DRAWN = 20  # results: more are a thicket
_LEAST = 1.5  # of a segment, so that a small one is seen at all
_SHADES = 6  # of the bar of times, as the stylesheet has them


@dataclass(frozen=True, slots=True)
class Node:
    """A result in one signal's list."""

    signal: str
    x: float
    y: float
    rank: int

    @property
    def told(self) -> str:
        return Signal(self.signal).told


@dataclass(frozen=True, slots=True)
class BarPart:
    """A part of a bar."""

    kind: str
    x: float
    width: float
    value: float
    name: str = ""


@dataclass(frozen=True, slots=True)
class Lane:
    """A result's ranks in the signals and its final rank."""

    result: Result
    chosen: bool
    y: float
    path: str
    nodes: list[Node]
    bar: list[BarPart]


@dataclass(frozen=True, slots=True)
class ScoreRow:
    """A line of the table that adds up to a result's score."""

    kind: str  # signal, or part of reranking
    name: str
    rank: str
    raw: str
    weight: str
    gives: str


@dataclass(frozen=True, slots=True)
class Weighed:
    """The weights chosen for one query."""

    text: str
    analysis: Analysis
    bar: list[BarPart]


@dataclass(frozen=True, slots=True)
class Picture:
    height: int
    heads: list[tuple[str, str, int]]  # signal, its name, the middle of its list
    lanes: list[Lane]
    left_out: int
    chosen: Result | None
    rows: list[ScoreRow]
    decided: list[Weighed]
    times: list[BarPart]
    width: int = WIDTH
    fused: int = _FUSED
    bar_left: int = _BAR_LEFT


def picture(results: Results, chosen: int) -> Picture:
    """`chosen`: rank of the result to explain; 0 or an unknown rank: none."""
    drawn = results[:_DRAWN]
    result = next((r for r in results if r.rank == chosen), None)
    present = [s for s in Signal if any(s in r.signals for r in drawn)]
    lists = {s: _positions(drawn, s) for s in present}
    longest = max((r.score for r in drawn), default=0.0) or 1.0
    return Picture(
        height=HEAD + ROW * len(drawn) + 4,
        heads=[(s.value, s.told, _COLUMNS[s]) for s in present],
        lanes=[_lane(r, lists, longest, r.rank == chosen) for r in drawn],
        left_out=len(results) - len(drawn),
        chosen=result,
        rows=_rows(result) if result else [],
        decided=[
            Weighed(text, analysis, _weights(analysis))
            for text, analysis in zip(results.queries, results.analyses, strict=True)
        ],
        times=_times(results.timings_ms),
    )


def _positions(drawn: tuple[Result, ...], signal: Signal) -> dict[int, int]:
    """Results by rank, and their positions in one signal's list as drawn."""
    results = sorted(
        (r for r in drawn if signal in r.signals), key=lambda r: r.signals[signal].rank
    )
    return {result.rank: at for at, result in enumerate(results)}


def _y(at: int) -> float:
    return HEAD + ROW * at + ROW / 2


def _between(y: float) -> float:
    """The gap between two rows that is nearest to a height."""
    return HEAD + ROW * max(1, round((y - HEAD) / ROW))


def _lane(
    result: Result, lists: Mapping[Signal, dict[int, int]], longest: float, chosen: bool
) -> Lane:
    y = _y(result.rank - 1)
    nodes = [
        Node(s.value, _COLUMNS[s], _y(places[result.rank]), result.signals[s].rank)
        for s, places in lists.items()
        if result.rank in places
    ]
    points: list[tuple[float, float]] = []
    for signal, places in lists.items():
        if result.rank in places:
            points.append((_COLUMNS[signal], _y(places[result.rank])))
        elif points:  # not in this list: the line passes between two of its ranks
            points.append((_COLUMNS[signal], _between((points[-1][1] + y) / 2)))
    return Lane(result, chosen, y, _path([*points, (_FUSED, y)]), nodes, _bar(result, longest))


def _path(points: list[tuple[float, float]]) -> str:
    """A smooth path from point to point, level at each point."""
    x, y = points[0]
    path = f"M{x:g} {y:g}"
    for nx, ny in points[1:]:
        middle = (x + nx) / 2
        path += f"C{middle:g} {y:g} {middle:g} {ny:g} {nx:g} {ny:g}"
        x, y = nx, ny
    return path


def _bar(result: Result, longest: float) -> list[BarPart]:
    """The parts a score adds up from. With several queries the score isn't a sum: one whole bar."""
    if result.rerank:
        r = result.rerank
        parts = [("rerank", r.rerank), ("hybrid", r.hybrid), ("position", r.position)]
        parts += [("rerank", r.deep)] if r.deep else []
    elif result.queries:
        parts = [("match", result.score)]
    else:
        signal_parts = result.signals
        parts = [(s.value, signal_parts[s].contribution) for s in Signal if s in signal_parts]
        parts += [("order", result.in_order.contribution)] if result.in_order else []
    parts += [("preference", p.contribution) for p in result.preferences]
    return _stacked(parts, _BAR_LEFT, _BAR_WIDTH / longest)


def _stacked(parts: list[tuple[str, float]], left: float, scale: float) -> list[BarPart]:
    segments, x = [], left
    for kind, value in parts:
        width = max(_LEAST, value * scale) if value > 0 else 0.0
        segments.append(BarPart(kind, round(x, 1), round(width, 1), value))
        x += width
    return [segment for segment in segments if segment.width]


def _rows(result: Result) -> list[ScoreRow]:
    signal_parts = result.signals
    rows = [
        ScoreRow(
            s.value,
            s.told,
            str(signal_parts[s].rank),
            f"{signal_parts[s].score:.3f}",
            f"{signal_parts[s].weight:.2f}",
            f"{signal_parts[s].contribution:.3f}",
        )
        for s in Signal
        if s in signal_parts
    ]
    if p := result.in_order:
        text = f"{p.words} of {p.of} words in order"
        rows.append(ScoreRow("order", text, "", "", "", f"{p.contribution:.3f}"))
    if result.rerank:
        r = result.rerank
        rows = [
            ScoreRow("rerank", f"reranker: {r.judged:.2f}", "", "", "", f"{r.rerank:.3f}"),
            ScoreRow("hybrid", "signals, fused", str(r.before), "", "", f"{r.hybrid:.3f}"),
            ScoreRow(
                "position", "rank before reranking", str(r.before), "", "", f"{r.position:.3f}"
            ),
        ]
        if r.read is not None:
            rows.append(
                ScoreRow("rerank", f"cross-encoder: {r.read:.2f}", "", "", "", f"{r.deep:.3f}")
            )
    rows += [
        ScoreRow("preference", p.name, "", "", f"× {p.factor:.2f}", f"{p.contribution:.3f}")
        for p in result.preferences
    ]
    return rows


def _weights(analysis: Analysis) -> list[BarPart]:
    whole = sum(analysis.weights.values()) or 1.0
    shown = [s for s in Signal if s in analysis.weights and s not in analysis.silent]
    parts = [(s.value, analysis.weights[s]) for s in shown]
    return [
        BarPart(
            segment.kind, segment.x, segment.width, segment.value / whole, Signal(segment.kind).told
        )
        for segment in _stacked(parts, 0, WIDTH / whole)
    ]


def _times(timings: Mapping[str, float]) -> list[BarPart]:
    whole = sum(timings.values()) or 1.0
    stacked = _stacked(list(timings.items()), 0, WIDTH / whole)
    return [
        BarPart(f"shade{at % _SHADES}", segment.x, segment.width, segment.value, segment.kind)
        for at, segment in enumerate(stacked)
    ]
