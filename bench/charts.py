"""Draws the results of `bench.compare`: times on a log axis, queries a second, quality.

Horizontal bars with the names of systems beside them, Trivium in its own colour. Pure, except for
writing files.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil, floor, log10
from pathlib import Path
from typing import Any

from bench.drawing import Box, Drawing, Words
from bench.lines import NAMES, Line, Side, lines

_LABELS = 250  # pixels for the names of systems
_PANEL = 330  # of a panel's axis
_GAP = 130  # behind a panel, for the figures at the end of its bars
_ROW = 30
_HEAD = 62  # for the title
_TOP = 40  # above the bars of a pair of panels
_FOOT = 34  # below them
_BAR = 8
_OURS, _OURS_PALE = "#1f5fbf", "#a9c6f0"
_PEER, _PEER_PALE = "#6b7686", "#cfd5de"
_GRID, _FAINT = "#e6e9ee", "#5a6472"
_FULL = 9.5  # results of ten


@dataclass(frozen=True, slots=True)
class Bar:
    """A bar, perhaps a paler one behind it, and the text at their end."""

    value: float
    beyond: float  # the paler one's; 0: none
    told: str


@dataclass(frozen=True, slots=True)
class Row:
    label: str
    ours: bool
    bars: tuple[Bar, ...]
    told: str = ""  # instead of bars


@dataclass(frozen=True, slots=True)
class Panel:
    title: str
    rows: tuple[Row, ...]
    logarithmic: bool


def write_charts(found: Mapping[str, Any], under: str, folder: Path) -> list[Path]:
    """`under`: date and machine, in a line below each title."""
    pages = {
        f"speed-{chunks}": draw(f"Hybrid search, {int(chunks):,} chunks, top 10", under, speed(of))
        for chunks in found["rows"]
        if (of := lines(found, int(chunks)))
    }
    if found["judged"]:
        title = "Quality with the same embeddings: nDCG@10 (more is better)"
        pages["quality"] = draw(title, under, quality(found["judged"]))
    written = []
    for name, drawing in pages.items():
        (folder / f"{name}.svg").write_text(drawing.svg(), encoding="utf-8")
        drawing.paint(folder / f"{name}.png")
        written += [folder / f"{name}.svg", folder / f"{name}.png"]
    return written


def speed(of: Sequence[Line]) -> list[Panel]:
    plain, filtered = [line.plain for line in of], [line.filtered for line in of]
    return [
        Panel(title, tuple(map(shown, of, sides)), logarithmic=True)
        for title, shown, sides in (
            ("p50 and p95, ms (less is better)", _timed, plain),
            ("the same with a filter that 1 % pass", _timed, filtered),
            ("queries a second: 1, 2, 8 clients (more is better)", _rates, plain),
            ("the same with the filter", _rates, filtered),
        )
    ]


def quality(judged: Mapping[str, Mapping[str, Any]]) -> list[Panel]:
    return [
        Panel(
            name,
            tuple(
                Row(
                    NAMES.get(system, system),
                    system == "trivium",
                    (Bar(one["ndcg@10"], 0, f"{one['ndcg@10']:.3f}"),),
                )
                for system, one in ranked.items()
            ),
            logarithmic=False,
        )
        for name, ranked in judged.items()
    ]


def draw(title: str, under: str, panels: Sequence[Panel]) -> Drawing:
    """Panels in pairs; each pair shares the names at its left."""
    pairs = [panels[at : at + 2] for at in range(0, len(panels), 2)]
    heights = [_TOP + max(len(panel.rows) for panel in pair) * _ROW + _FOOT for pair in pairs]
    page = Drawing(_LABELS + 2 * (_PANEL + _GAP), _HEAD + sum(heights))
    page.add(Words(16, 30, title, 18, bold=True), Words(16, 50, under, 11, colour=_FAINT))
    top = _HEAD + _TOP
    for pair, height in zip(pairs, heights, strict=True):
        for number, row in enumerate(pair[0].rows):
            middle = top + number * _ROW + _ROW / 2 + 4
            colour = _OURS if row.ours else "#1c2330"
            page.add(Words(_LABELS - 14, middle, row.label, 12, "end", colour))
        for number, panel in enumerate(pair):
            left = _LABELS + number * (_PANEL + _GAP)
            _draw_panel(page, panel, _Scale.of(pair, left), top)
        top += height
    return page


def ticks(least: float, most: float) -> list[float]:
    """1, 2 and 5 of each power of ten that the values span."""
    low, high = floor(log10(least)), ceil(log10(most))
    return [step * 10.0**power for power in range(low, high + 1) for step in (1, 2, 5)]


def _draw_panel(page: Drawing, panel: Panel, scale: _Scale, top_of_all: float) -> None:
    left = scale.left
    bottom = top_of_all + len(panel.rows) * _ROW
    page.add(Words(left, top_of_all - 16, panel.title, 13, bold=True))
    for value, named in scale.marks():
        at = scale.at(value)
        page.add(Box(at, top_of_all - 6, 1, bottom - top_of_all + 10, _GRID))
        if named:
            page.add(Words(at, bottom + 20, f"{value:,g}", 11, "middle", _FAINT))
    for number, row in enumerate(panel.rows):
        top = top_of_all + number * _ROW
        if row.told:
            page.add(Words(left + 4, top + _ROW / 2 + 4, row.told, 11, "start", _FAINT))
        solid, pale = (_OURS, _OURS_PALE) if row.ours else (_PEER, _PEER_PALE)
        thick = _BAR if len(row.bars) > 1 else 2 * _BAR
        first = top + (_ROW - len(row.bars) * thick) / 2
        for place, bar in enumerate(row.bars):
            y = first + place * thick
            end = scale.at(max(bar.value, bar.beyond))
            page.add(Box(left, y, end - left, thick - 1, pale if bar.beyond else solid))
            if bar.beyond:
                page.add(Box(left, y, scale.at(bar.value) - left, thick - 1, solid))
            if bar.told:
                page.add(Words(end + 6, top + _ROW / 2 + 4, bar.told, 11, "start", _FAINT))


@dataclass(frozen=True, slots=True)
class _Scale:
    """The x of a value on a panel's axis. Both panels of a pair have the same axis."""

    left: float
    least: float  # 0 where it is not logarithmic
    most: float

    @classmethod
    def of(cls, pair: Sequence[Panel], left: float) -> _Scale:
        bars = [bar for panel in pair for row in panel.rows for bar in row.bars]
        values = [value for bar in bars for value in (bar.value, bar.beyond) if value]
        most = max(values, default=1.0)
        if not pair[0].logarithmic:
            return cls(left, 0.0, ceil(most * 10) / 10)
        # Half a step below the least, so that its bar can be seen.
        return cls(left, min(values, default=0.5) / 2, most)

    def at(self, value: float) -> float:
        if not self.least:
            return self.left + _PANEL * value / self.most
        share = log10(max(value, self.least) / self.least) / log10(self.most / self.least)
        return self.left + _PANEL * share

    def marks(self) -> Iterable[tuple[float, bool]]:
        """Values of grid lines, and whether they are named."""
        if not self.least:
            return [(number / 10, True) for number in range(round(self.most * 10) + 1)]
        wide = self.most / self.least > 1000
        return [
            (value, not wide or log10(value) % 1 == 0)
            for value in ticks(self.least, self.most)
            if self.least <= value <= self.most
        ]


def _timed(line: Line, side: Side | None) -> Row:
    if side is None:
        return Row(line.label, line.ours, (), line.failed or "failed")
    few = f", {side.returned:.1f} of 10" if side.returned < _FULL else ""
    bar = Bar(side.p50, side.p95, f"{_brief(side.p50)} / {_brief(side.p95)}{few}")
    return Row(line.label, line.ours, (bar,))


def _rates(line: Line, side: Side | None) -> Row:
    if side is None or not side.per_second:
        return Row(line.label, line.ours, (), "too slow to count" if side else "failed")
    told = " / ".join(_brief(rate) for rate in side.per_second.values())
    bars = [Bar(rate, 0, "") for rate in side.per_second.values()]
    best = max(range(len(bars)), key=lambda at: bars[at].value)
    bars[best] = Bar(bars[best].value, 0, told)
    return Row(line.label, line.ours, tuple(bars))


def _brief(value: float) -> str:
    return f"{value:,.1f}" if value < 10 else f"{value:,.0f}"
