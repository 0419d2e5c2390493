"""Finds the white space between columns of prose, on a page and shared by a document's pages. Knows
positions only, not the text."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import accumulate

from trivium.extract.pdf.marks import Fragment, Page

MIN_SIDE = 0.15  # of the text's height must be on each side of a gutter
MAX_CROSSING = 0.6  # of the text's height may cross a gutter: a page half filled by a wide table
PROSE = 9.0  # sizes of the font that a line of three columns is wide; figures have up to 6


@dataclass(frozen=True, slots=True)
class Gutter:
    x: float
    crossing: float  # share of the text's height that crosses it


def find_gutter(
    fragments: list[Fragment], narrowest: float = 60.0, *, nested: bool = True
) -> Gutter | None:
    """Where white space runs down between columns of prose; None if there is no sign of it.
    `nested`: there may be two more columns beside it."""
    if len(fragments) < 8:
        return None
    left = min(f.left for f in fragments)
    right = max(f.right for f in fragments)
    cover = _coverage(fragments, left, right)
    low, high = int(0.2 * len(cover)), int(0.8 * len(cover))
    if high - low < 10:
        return None
    least = min(cover[low:high])
    total = sum(f.height for f in fragments)
    if least > MAX_CROSSING * total:
        return None
    x = left + _widest(cover, low, high, least + 0.02 * total)
    sides = ((left, x), (x, right))
    if all(
        _is_column(fragments, start, end, total, narrowest, nested=nested) for start, end in sides
    ):
        return Gutter(x, least / total)
    return None


def _coverage(fragments: list[Fragment], left: float, right: float) -> list[float]:
    """For every point across, the height of the fragments over it."""
    steps = [0.0] * (int(right - left) + 3)
    for fragment in fragments:
        steps[int(fragment.left - left)] += fragment.height
        steps[int(fragment.right - left) + 1] -= fragment.height
    return list(accumulate(steps))


def _widest(cover: list[float], low: int, high: int, ceiling: float) -> float:
    """The middle of the widest stretch that hardly anything covers."""
    best, start = (0, low), None
    for at in range(low, high + 1):
        if at < high and cover[at] <= ceiling:
            start = at if start is None else start
        elif start is not None:
            best = max(best, (at - start, start))
            start = None
    return best[1] + best[0] / 2


def _is_column(
    fragments: list[Fragment],
    left: float,
    right: float,
    total: float,
    narrowest: float,
    *,
    nested: bool,
) -> bool:
    """Whether what lies between is prose: enough of it, in lines that fill the width; or two
    columns of it beside each other."""
    inside = [f for f in fragments if f.left >= left - 1 and f.right <= right + 1]
    if not inside:
        return False
    height = sum(f.height for f in inside)
    width = max(f.right for f in inside) - min(f.left for f in inside)
    area = sum(f.height * f.width for f in inside)
    full = sum(f.height * f.width for f in inside if f.width >= 0.6 * width)
    if height < MIN_SIDE * total or width <= narrowest:
        return False
    return full >= 0.5 * area or (nested and _has_columns(inside))


def _has_columns(fragments: list[Fragment]) -> bool:
    """Whether the fragments are two columns of prose, both of long lines: cells of a table that
    happen to fill their columns are shorter."""
    gutter = find_gutter(fragments, nested=False)
    if gutter is None:
        return False
    left = [f for f in fragments if f.right <= gutter.x + 2]
    right = [f for f in fragments if f.right > gutter.x + 2]
    return all(
        side and sum(f.width for f in side) >= PROSE * sum(f.size for f in side)
        for side in (left, right)
    )


def common_gutter(pages: list[Page], gutters: list[Gutter | None]) -> float | None:
    """The gutter that the document's pages share, as a share of the width."""
    shares: Counter[float] = Counter()
    for page, gutter in zip(pages, gutters, strict=True):
        if gutter is not None:
            shares[round(gutter.x / page.across, 2)] += 1
    if not shares:
        return None
    near = {x: sum(n for other, n in shares.items() if abs(other - x) <= 0.03) for x in shares}
    best = max(near, key=lambda x: (near[x], shares[x], -x))
    return best if near[best] >= max(1, 0.4 * len(pages)) else None
