"""Finds the bands of a page that belong to none of its columns: titles, wide tables, captions.

Knows positions only, not what the text says.
"""

from __future__ import annotations

from trivium.extract.pdf.marks import Column, Fragment


def find_bands(
    crossing: list[Fragment], others: list[Fragment], x: float
) -> list[tuple[float, float]]:
    """Bands of the page that belong to no column. Two count as one unless a line of a column is
    between them: the rows of a wide table need not all cross the gutter."""
    zones: list[tuple[float, float]] = []
    sides = column_sides(others, x) if others else (Column(0, x), Column(x, 2 * x))
    for fragment in sorted(crossing, key=lambda f: f.middle):
        top, bottom = fragment.top, fragment.bottom
        if zones and not _parted(zones[-1][1], top, others, x, sides):
            zones[-1] = (zones[-1][0], max(bottom, zones[-1][1]))
        else:
            zones.append((top, bottom))
    zones = [_with_tail(zone, crossing, others) for zone in zones]
    return _merge([_with_rows(zone, others, x) for zone in zones])


def _merge(zones: list[tuple[float, float]]) -> list[tuple[float, float]]:
    merged: list[tuple[float, float]] = []
    for top, bottom in sorted(zones):
        if merged and top <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(bottom, merged[-1][1]))
        else:
            merged.append((top, bottom))
    return merged


def _with_rows(zone: tuple[float, float], others: list[Fragment], x: float) -> tuple[float, float]:
    """The band with a table above or below that crosses the page without crossing the gutter: its
    columns happen to leave it free, but its rows stand on both sides."""
    if not others:
        return zone
    top, bottom = zone
    sides = column_sides(others, x)
    above = sorted((f for f in others if f.middle < top), key=lambda f: -f.middle)
    below = sorted((f for f in others if f.middle > bottom), key=lambda f: f.middle)
    for edge, part in ((top, above), (bottom, below)):
        rows = _short_rows(edge, part, sides, x)
        paired = sum(len({f.left >= x for f in row}) == 2 for row in rows)
        if len(rows) >= 3 and paired >= 0.6 * len(rows):
            top = min(top, *(f.top for row in rows for f in row))
            bottom = max(bottom, *(f.middle + 1 for row in rows for f in row))
    return top, bottom


def _short_rows(
    edge: float, part: list[Fragment], sides: tuple[Column, Column], x: float
) -> list[list[Fragment]]:
    """Rows from the edge outwards until a line of prose or wide white ends them."""
    rows: list[list[Fragment]] = []
    last = edge
    for fragment in part:
        side = sides[fragment.left >= x - 2]
        prose = fragment.width > 0.6 * (side.right - side.left)
        if prose or abs(fragment.middle - last) > 40:
            break
        if rows and abs(rows[-1][0].middle - fragment.middle) < 3:
            rows[-1].append(fragment)
        else:
            rows.append([fragment])
        last = fragment.middle
    return rows


def _with_tail(
    zone: tuple[float, float], crossing: list[Fragment], others: list[Fragment]
) -> tuple[float, float]:
    """The band with the short last line of its paragraph, which crosses nothing."""
    last = max((f for f in crossing if f.bottom <= zone[1]), key=lambda f: f.middle)
    step = 1.35 * last.size
    below = [f for f in others if last.middle + 2 < f.middle < last.middle + step]
    if len(below) == 1 and abs(below[0].size - last.size) < 0.5 and below[0].left < last.left + 3:
        return zone[0], max(zone[1], below[0].middle + 1)
    return zone


def _parted(
    bottom: float, top: float, others: list[Fragment], x: float, sides: tuple[Column, Column]
) -> bool:
    """Whether a line of a column, or too much white space, is between two bands."""
    if top - bottom > 150:
        return True
    for fragment in others:
        if bottom < fragment.middle < top:
            side = sides[0] if fragment.right <= x + 2 else sides[1]
            if fragment.width > 0.6 * (side.right - side.left):
                return True
    return False


def column_sides(fragments: list[Fragment], x: float) -> tuple[Column, Column]:
    left = [f for f in fragments if f.right <= x + 2] or fragments
    right = [f for f in fragments if f.left >= x - 2] or fragments
    return (
        Column(min(f.left for f in left), max(f.right for f in left)),
        Column(min(f.left for f in right), max(f.right for f in right)),
    )
