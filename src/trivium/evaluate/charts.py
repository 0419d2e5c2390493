"""Charts as SVG for a page: no script, no font, no outside address.

Colours are classes (`c0`, `c1`, ... and `win`, `loss`), which the page defines for light and dark.
Escapes whatever comes from data. Knows numbers and names, nothing of searching.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape

COLOURS = 8  # classes that a page defines
_ROW = 26  # height of a bar with its gap
_LABEL = 96  # width kept for names
_VALUE = 60  # and for figures behind bars


@dataclass(frozen=True, slots=True)
class Bar:
    name: str
    value: float
    low: float | None = None  # ends of its whisker
    high: float | None = None
    colour: int = 0
    told: str = ""  # the figure behind it; the value itself if empty


@dataclass(frozen=True, slots=True)
class Series:
    name: str
    values: Sequence[float]
    colour: int = 0


@dataclass(frozen=True, slots=True)
class Point:
    x: float
    y: float
    told: str


def bars(title: str, rows: Sequence[Bar], most: float, width: int = 440) -> str:
    """Horizontal bars from 0 to `most`, with a whisker where an interval is known."""
    span = width - _LABEL - _VALUE
    height = _ROW * len(rows) + 24
    parts = [_text(0, 14, title, "title")]
    for at, row in enumerate(rows):
        top = 24 + at * _ROW
        middle = top + _ROW / 2 - 3
        long = span * min(1.0, row.value / most) if most else 0.0
        text = row.told or f"{row.value:.3f}"
        parts.append(_text(_LABEL - 8, middle + 4, _cut(row.name, 14), "label end"))
        parts.append(
            f'<rect class="c{row.colour % COLOURS}" x="{_LABEL}" y="{top + 1}" rx="2"'
            f' width="{long:.1f}" height="{_ROW - 8}">{_tip(f"{row.name}: {text}")}</rect>'
        )
        end = long
        if row.low is not None and row.high is not None and most:
            left, end = (_LABEL + span * min(1.0, v / most) for v in (row.low, row.high))
            parts.append(
                f'<path class="whisker" d="M{left:.1f} {middle:.1f}H{end:.1f}'
                f'M{left:.1f} {middle - 4:.1f}v8M{end:.1f} {middle - 4:.1f}v8"/>'
            )
            end -= _LABEL
        parts.append(_text(_LABEL + max(long, end) + 6, middle + 4, text, "value"))
    return _svg(width, height, title, parts)


def profile(title: str, series: Sequence[Series], width: int = 560, height: int = 260) -> str:
    """For each share of the queries, worst first, the value of its last one: a higher line is
    better, and the share at zero found nothing."""
    frame = _Frame(width, height, "share of queries", title)
    parts = frame.parts()
    for line in series:
        ranked = sorted(line.values)
        if not ranked:
            continue
        last = len(ranked)
        steps = " ".join(
            f"{frame.x(at / last):.1f},{frame.y(value):.1f}"
            for index, value in enumerate(ranked)
            for at in (index, index + 1)
        )
        parts.append(
            f'<polyline class="line s{line.colour % COLOURS}" points="{steps}">'
            f"{_tip(line.name)}</polyline>"
        )
    return _svg(width, height, title, parts) + _legend(series)


def scatter(title: str, points: Sequence[Point], x: str, y: str, size: int = 320) -> str:
    """Points above the diagonal are better by the second measure than by the first."""
    frame = _Frame(size, size, x, y)
    parts = frame.parts()
    parts.append(
        f'<path class="grid" d="M{frame.x(0):.1f} {frame.y(0):.1f}'
        f'L{frame.x(1):.1f} {frame.y(1):.1f}"/>'
    )
    for point in points:
        kind = "win" if point.y > point.x else "loss" if point.y < point.x else "same"
        parts.append(
            f'<circle class="{kind} dot" cx="{frame.x(point.x):.1f}" cy="{frame.y(point.y):.1f}"'
            f' r="4">{_tip(point.told)}</circle>'
        )
    return _svg(size, size, title, parts)


def waterfall(title: str, gains: Sequence[tuple[float, str]], width: int = 560) -> str:
    """A bar for each query, up where it won, down where it lost, in the order given."""
    height, middle, left = 220, 118.0, 44.0
    greatest = max((abs(gain) for gain, _ in gains), default=0.0) or 1.0
    step = (width - left) / max(1, len(gains))
    parts = [_text(0, 14, title, "title")]
    for value, y in ((greatest, middle - 88), (0.0, middle), (-greatest, middle + 88)):
        parts.append(f'<path class="grid" d="M{left} {y}H{width}"/>')
        parts.append(_text(left - 6, y + 4, f"{value:+.2f}" if value else "0", "tick end"))
    for at, (gain, text) in enumerate(gains):
        if not gain:
            continue
        tall = 88 * abs(gain) / greatest
        parts.append(
            f'<rect class="{"win" if gain > 0 else "loss"}" x="{left + at * step:.2f}"'
            f' y="{middle - tall if gain > 0 else middle:.1f}" width="{max(step, 0.6):.2f}"'
            f' height="{tall:.1f}">{_tip(text)}</rect>'
        )
    return _svg(width, height, title, parts)


@dataclass(frozen=True, slots=True)
class _Frame:
    """A square from 0 to 1 on both axes."""

    width: int
    height: int
    below: str
    beside: str

    def x(self, value: float) -> float:
        return 44 + (self.width - 56) * value

    def y(self, value: float) -> float:
        return self.height - 40 - (self.height - 64) * value

    def parts(self) -> list[str]:
        texts = [_text(0, 12, self.beside, "title")]
        for tick in (0.0, 0.25, 0.5, 0.75, 1.0):
            x, y = self.x(tick), self.y(tick)
            texts.append(f'<path class="grid" d="M{self.x(0):.1f} {y:.1f}H{self.x(1):.1f}"/>')
            texts.append(_text(self.x(0) - 6, y + 4, f"{tick:g}", "tick end"))
            texts.append(_text(x, self.y(0) + 16, f"{tick:g}", "tick middle"))
        texts.append(_text(self.x(0.5), self.height - 6, self.below, "tick middle"))
        return texts


def _legend(series: Iterable[Series]) -> str:
    entries = (
        f'<span><i class="b{line.colour % COLOURS}"></i>{escape(line.name)}</span>'
        for line in series
    )
    return f'<p class="legend">{"".join(entries)}</p>'


def _svg(width: int, height: int, title: str, parts: Iterable[str]) -> str:
    return (
        f'<svg viewBox="0 0 {width} {height}" width="{width}" role="img"'
        f' aria-label="{escape(title)}">{"".join(parts)}</svg>'
    )


def _text(x: float, y: float, text: str, kind: str) -> str:
    return f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}">{escape(text)}</text>'


def _tip(text: str) -> str:
    """The text for a pointer or a screen reader."""
    return f"<title>{escape(text)}</title>"


def _cut(name: str, most: int) -> str:
    return name if len(name) <= most else f"{name[: most - 1]}…"
