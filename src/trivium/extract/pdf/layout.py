"""Puts the fragments of a page in reading order: columns, bands that cross them, rows in each.

Knows positions only, not what the text says.
"""

from __future__ import annotations

from trivium.extract.pdf.bands import column_sides, find_bands
from trivium.extract.pdf.columns import Gutter, find_gutter
from trivium.extract.pdf.direction import in_order, runs_left
from trivium.extract.pdf.marks import Column, Fragment, Line, Page, Word

WIDE_GAP = 1.0  # in sizes of the font: a wider gap parts cells; justified lines seldom have one
SHELF = 8.0  # points
HALF_LINE = 0.6  # sizes of the font between baselines; lines of a text stand 1 or more apart
MAX_DEPTH = 3  # of columns within columns
NARROWEST = 0.2  # of the page: a column within a column is not narrower


def fragments_of(page: Page) -> list[Fragment]:
    """Words that follow each other in the file and are next to each other on a line."""
    fragments: list[Fragment] = []
    if not page.words:
        return fragments
    last = page.words[0]
    current, even = [last], True
    for word in page.words[1:]:
        # Most words stand right of the one before them, in the same type on the same line.
        gap, style = word.left - last.right, word.style
        if gap >= 0 and style is last.style and word.base == last.base:
            beside = gap < WIDE_GAP * style.size
        else:
            beside = _follows(last, word)
            even = even and not beside
        if not beside:
            fragments.append(Fragment(current, even=even))
            current, even = [], True
        current.append(word)
        last = word
    fragments.append(Fragment(current, even=even))
    return fragments


def _follows(last: Word, word: Word) -> bool:
    size, other = last.style.size, word.style.size
    size = other if other > size else size
    gap = word.left - last.right
    if gap < 0 and runs_left(last.text + word.text):
        gap = last.left - word.right
    if not -0.6 * size < gap < WIDE_GAP * size:
        return False
    return abs(word.base - last.base) <= 0.65 * size or _overlap(last, word)


def _overlap(a: Word, b: Word) -> bool:
    """Whether two words share most of their height: an index that hangs low still does."""
    shared = min(a.bottom, b.bottom) - max(a.top, b.top)
    return shared > 0.5 * min(a.height, b.height)


def read_lines(
    page: Page, fragments: list[Fragment], gutter: Gutter | None, shared: float | None = None
) -> list[Line]:
    """The page's lines in the order a person reads them; `gutter` is the page's own, `shared` the
    document's."""
    if not fragments:
        return []
    if gutter is None and shared is not None:
        gutter = _apply(fragments, shared * page.across)
    leftward = runs_left("".join([word.text for word in page.words]))
    lines: list[Line] = []
    for column, part in _regions(fragments, gutter, NARROWEST * page.across):
        rows = _rows(part)
        if leftward:
            rows = [in_order(row) for row in rows]
        for index, row in enumerate(rows):
            lines.append(Line(page.number, row, column, first=index == 0))
    return lines


def head_lines(page: Page, heads: list[Fragment]) -> list[Line]:
    """The running heads that stay on this page: behind its text, so that they part no paragraph
    and open no document."""
    return [
        Line(page.number, [head], Column(head.left, head.right), first=True, running=True)
        for head in heads
    ]


def _apply(fragments: list[Fragment], x: float) -> Gutter | None:
    """The document's gutter on a page that by itself would not show one."""
    total = sum(f.height for f in fragments)
    crossing = sum(f.height for f in fragments if f.left < x - 2 and f.right > x + 2)
    return Gutter(x, crossing / total) if crossing < 0.5 * total else None


def _regions(
    fragments: list[Fragment], gutter: Gutter | None, narrowest: float, depth: int = 0
) -> list[tuple[Column, list[Fragment]]]:
    whole = Column(min(f.left for f in fragments), max(f.right for f in fragments))
    if gutter is None or depth >= MAX_DEPTH:
        return [(whole, fragments)]
    x = gutter.x
    crossing: list[Fragment] = []
    others: list[Fragment] = []
    for fragment in fragments:
        crosses = fragment.left < x - 2 and fragment.right > x + 2
        (crossing if crosses else others).append(fragment)
    zones = find_bands(crossing, others, x)
    regions: list[tuple[Column, list[Fragment]]] = []
    rest = sorted(fragments, key=lambda f: f.middle)
    sides = column_sides(fragments, x)
    for top, bottom in [*zones, (float("inf"), float("inf"))]:
        above = [f for f in rest if f.middle < top]
        inside = [f for f in rest if top <= f.middle <= bottom]
        rest = [f for f in rest if f.middle > bottom]
        for side, column in zip((0, 1), sides, strict=True):
            part = [f for f in above if ((f.left + f.right) / 2 >= x) == bool(side)]
            if part:
                deeper = find_gutter(part, narrowest) if len(part) > 20 else None
                if deeper is None:
                    regions.append((column, part))
                else:
                    regions.extend(_regions(part, deeper, narrowest, depth + 1))
        if inside:
            regions.append((whole, inside))
    return regions


def _rows(fragments: list[Fragment]) -> list[list[Fragment]]:
    """Fragments of one column, grouped by line, each row from left to right."""
    rows: list[tuple[float, float, list[Fragment]]] = []  # baseline, size
    # Rows by baseline: a page may have thousands.
    shelves: dict[int, list[tuple[float, float, list[Fragment]]]] = {}
    based = [(_base(fragment), fragment) for fragment in fragments]
    for base, fragment in sorted(based, key=lambda b: (-round(b[1].size), b[0], b[1].left)):
        size = fragment.size
        shelf = int(base // SHELF)
        for row_base, row_size, row in [
            row for at in range(shelf - 2, shelf + 3) if at in shelves for row in shelves[at]
        ]:
            small = size <= 0.8 * row_size  # an index may stand above another
            reach = 0.6 if small else 0.45
            if abs(base - row_base) < reach * row_size and (small or _fits(fragment, row)):
                row.append(fragment)
                break
        else:
            rows.append((base, size, [fragment]))
            shelves.setdefault(shelf, []).append(rows[-1])
    rows.sort(key=lambda row: (row[0], row[2][0].left))
    joined: list[tuple[float, float, list[Fragment]]] = []
    for base, size, row in rows:
        if joined and base - joined[-1][0] < HALF_LINE * size and _labels(joined[-1][2], row):
            joined[-1][2].extend(row)
        else:
            joined.append((base, size, row))
    return [
        row if len(row) == 1 else sorted(row, key=lambda f: (f.left, f.right))
        for _, _, row in joined
    ]


def _labels(upper: list[Fragment], lower: list[Fragment]) -> bool:
    """Whether one of two rows is the label of the other's figures, set half a line off."""
    label, figures = (upper, lower) if len(upper) == 1 else (lower, upper)
    return len(label) == 1 < len(figures) and label[0].right < min(f.left for f in figures)


def _fits(fragment: Fragment, row: list[Fragment]) -> bool:
    """Whether the fragment's place in the row is free."""
    return all(
        min(fragment.right, other.right) - max(fragment.left, other.left)
        < 0.5 * min(fragment.width, other.width) + 1
        for other in row
    )


def _base(fragment: Fragment) -> float:
    size = fragment.size
    for word in fragment.words:
        if word.style.size == size:
            return word.base
    return fragment.words[0].base
