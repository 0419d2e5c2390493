"""Makes rows and the names of columns of the lines of a table that `tables` found.

A cell may run over several lines: they become one row, so that a label and its value are found
together. Knows positions and what figures look like, nothing of ruling lines.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest

from trivium.extract.composer import cut_header, line_of
from trivium.extract.divisions import is_part
from trivium.extract.pdf.direction import runs_left
from trivium.extract.pdf.marks import Block, Line, Word
from trivium.extract.pdf.tables import (
    UNIT,
    YEAR,
    Cell,
    Row,
    Table,
    cell_of,
    hangs_above,
    is_figure,
    row_of,
    text_of,
)
from trivium.text.titles import is_cut

MAX_HEADER_ROWS = 8  # lines of names: reports break long ones
WRAPPED = 1.9  # sizes of the font between the lines of a cell
WIDE = 8  # columns from which a table that is mostly empty has none: labels of a drawing
SPARSE = 0.4
SHIFTED = 0.45  # of a column's width, of all names of a line alike
PART = 10  # sizes of the font between the parts of a table, with labels between
MIN_DATA = 2  # rows that say alone where the columns are
ALIGNED = 0.7  # sizes of the font that a name's middle or end may be off its column's
CLOSE = 1.5  # sizes of the font between the places of one column's figures
CENTRED = 0.25  # of a column's width: how far from the middle of its columns a name may stand

_YEARS = re.compile(r"[1-9] ?[-–] ?[1-9]")  # "1-3" over "years"
_MARK = re.compile(r"\(\d\)(?: ?\(\d\))*")  # of a note
_DATE = re.compile(r"[A-Z][a-z]+\.? \d{1,2},? (?:19|20)\d\d")

# What stands over the labels beside the names: "(in millions)", "Three months ended June 30,".
_PERIOD = re.compile(r"(?i)^\(.*\)$|\bended\b|,$|\b(?:19|20)\d\d$")

Span = tuple[float, float]


@dataclass(slots=True)
class _Cells:
    """A line of a table: the cells by column."""

    row: Row
    cells: list[tuple[int, Cell]]

    @property
    def columns(self) -> set[int]:
        return {at for at, _ in self.cells}

    def at(self, column: int) -> list[Cell]:
        return [cell for at, cell in self.cells if at == column]


def table_block(table: Table, above: Block | None = None) -> Block:
    """The table's rows as text and its header. A table without one that goes on from the page
    before (`above` is the block that ended there) has the header of the part above."""
    rows = _labels_apart(_marks_with_rows(table.rows))
    _label_by_years(rows)
    lines = [row.line for row in rows]
    for row in rows:
        row.cells = row.cells or [cell_of(row.line.words)]
    spans = _columns(rows)
    grid = [_Cells(row, [(_place(cell, spans), cell) for cell in row.cells]) for row in rows]
    count = _header_rows(grid)
    names = _names(grid[:count], spans)
    body = _whole(grid[count if names else 0 :], len(spans))
    filled = sum(bool(cell) for row in body for cell in row)
    if len(spans) >= WIDE and filled < SPARSE * len(spans) * len(body):
        texts = [line_of([c.text for c in row.cells]) for row in rows]
        return Block(lines, "table", "\n".join(texts))
    used = [at for at in range(len(spans)) if names[at : at + 1] > [""] or any(r[at] for r in body)]
    texts = [line_of([row[at] for at in used]) for row in ([names] if names else []) + body]
    header = texts[0] if names else ""
    has_names = len(rows[0].cells) > 1 and _names_only(rows[0]) and any(r.figures for r in rows)
    if above is not None and above.header and not (header or has_names):
        header = above.header if _goes_on(above, lines, spans) else ""
    return Block(lines, "table", "\n".join(texts), header=cut_header(header))


def _marks_with_rows(rows: list[Row]) -> list[Row]:
    """The mark of a note that hangs above its figure, on a line of its own, put into the row of
    that figure."""
    whole: list[Row] = []
    for row, below in zip_longest(rows, rows[1:]):
        if below is not None and hangs_above(row.line, below.line):
            cells = [*(below.cells or [cell_of(below.line.words)]), cell_of(row.line.words)]
            below.cells = sorted(cells, key=lambda cell: cell.left)
        else:
            whole.append(row)
    return whole


def _labels_apart(rows: list[Row]) -> list[Row]:
    """Figures that stand close behind their label parted from it, where others stand below or
    above them."""
    spans = _joined([(c.left, c.right) for row in rows for c in row.figures])
    for row in rows:
        for index, cell in enumerate(row.cells[:-1] if row.figures else ()):
            at = next(
                (at for at in range(1, len(cell.words)) if _is_tail(cell.words[at:], spans)), 0
            )
            if at and not cell.figure:
                label, figure = cell_of(cell.words[:at]), cell_of(cell.words[at:])
                row.cells[index : index + 1] = [label, figure]
                row.figures.insert(0, figure)
                break
    return rows


def _label_by_years(rows: list[Row]) -> None:
    """Makes years labels where they stand before figures as words do in other rows, though in the
    middle of their column: "2019" over "Thereafter"."""
    labels = [
        row.cells[0].left for row in rows if row.figures and row.figures[0] is not row.cells[0]
    ]
    for row in [row for row in rows if labels and row.figures]:
        first = row.cells[0]
        years = [YEAR.fullmatch(cell.text) for cell in row.figures]
        if row.figures[0] is first and years[0] and not all(years):
            first.left, first.figure = min(first.left, *labels), False
            del row.figures[0]


def _is_tail(words: list[Word], spans: list[Span]) -> bool:
    left, right = words[0].left, words[-1].right
    if not any(left > a - 3 and right < b + 6 for a, b in spans):
        return False
    return is_figure(text_of(words))


def _columns(rows: Sequence[Row]) -> list[Span]:
    """Where the columns run: figures that stand below each other, words of full rows where no
    figures stand. A long label or a name over several columns makes none; years over other
    figures are names too."""
    figures = _figure_columns([row for row in rows if not _names_only(row)] or rows)
    for year in (cell for row in rows if _names_only(row) and figures for cell in row.figures):
        at = _place(year, figures)
        wider = (min(figures[at][0], year.left), max(figures[at][1], year.right))
        if not any(
            low < wider[1] and high > wider[0] for low, high in figures if low != figures[at][0]
        ):
            figures[at] = wider
    top = next((at for at, row in enumerate(rows) if not _names_only(row)), 0) if figures else 0
    data = rows[top:] if len(rows) - top >= MIN_DATA else rows  # a name may stand beside its column
    most = max(len(row.cells) for row in data)
    full = [row for row in data if len(row.cells) >= 0.7 * most]
    words = []
    for row in full:
        for cell in row.cells:
            if not cell.figure and not any(
                min(cell.right, high) - max(cell.left, low) > 1 for low, high in figures
            ):
                words.append((cell.left, cell.right))
    if figures and not words:  # labels reach over the first figures in every row
        words = [
            (row.cells[0].left, row.cells[0].left + 1)
            for row in full
            if row.figures[:1] != row.cells[:1]
        ]
    leftward = sum(runs_left(row.line.text) for row in rows) > 0.5 * len(rows)
    return sorted(figures + _joined(words), reverse=leftward)


def _figure_columns(rows: Sequence[Row]) -> list[Span]:
    """Figures that overlap, as columns. Two of one row are never in one: then the widest reaches
    into its neighbour, and does not count."""
    spans = {(c.left, c.right) for row in rows for c in row.figures}
    while True:
        columns = _without_gaps(_joined(list(spans)), rows)
        crowded = [
            (left, right)
            for left, right in columns
            if any(
                sum(left <= c.left and c.right <= right for c in row.figures) > 1 for row in rows
            )
        ]
        if not crowded:
            return columns
        left, right = crowded[0]
        inside = [span for span in spans if left <= span[0] and span[1] <= right]
        if len(inside) < 3:
            return columns
        spans.remove(max(inside, key=lambda span: (span[1] - span[0], span)))


def _without_gaps(columns: list[Span], rows: Sequence[Row]) -> list[Span]:
    """Columns that stand close, of which each row fills one, as one: a "–" for none stands left of
    figures of one digit."""
    size = rows[0].line.size if rows else 0.0
    merged: list[Span] = []
    for left, right in columns:
        if merged and left - merged[-1][1] < CLOSE * size:
            low = merged[-1][0]
            if all(sum(low <= c.left and c.right <= right for c in r.figures) < 2 for r in rows):
                merged[-1] = (low, right)
                continue
        merged.append((left, right))
    return merged


def _joined(spans: list[Span]) -> list[Span]:
    """Spans that overlap as one."""
    joined: list[Span] = []
    for left, right in sorted(spans):
        if joined and left < joined[-1][1] - 1:
            joined[-1] = (joined[-1][0], max(right, joined[-1][1]))
        else:
            joined.append((left, right))
    return joined


def _place(cell: Cell, spans: list[Span]) -> int:
    """The column of a cell: the one it reaches furthest into, else the nearest; words that begin
    at the left edge are in the first."""
    first, last = spans[0], spans[-1]
    if first <= last and not cell.figure and cell.left < min(first[1], first[0] + 40):
        return 0
    shares = [min(cell.right, right) - max(cell.left, left) for left, right in spans]
    return max(range(len(spans)), key=lambda at: (shares[at], -at))


# --- names -------------------------------------------------------------------------------------


def _header_rows(grid: list[_Cells]) -> int:
    """How many lines above the first row of data name the columns; none when the table begins
    with data, or nothing tells names from data."""
    count = 0
    while count < len(grid) and _names_only(grid[count].row):
        count += 1
    figures = count < len(grid)
    while count and grid[count - 1].columns == {0} and not _is_unit(grid[count - 1]):
        count -= 1  # the name of the first part of the table, not of a column
    labelled = sum(
        len(line.cells) > 1 and 0 in line.columns and _PERIOD.search(line.cells[0][1].text) is None
        for line in grid[:count]
    )
    years = sum(cell.figure for _, cell in grid[count - 1].cells) if count else 0
    if figures and count <= MAX_HEADER_ROWS and (labelled < 2 or years > 1):
        return count
    # Words below words: names must look different.
    bold = len(grid) > 1 and grid[0].row.line.bold and not grid[1].row.line.bold
    return int(bold and grid[0].row.celled)


def _is_unit(line: _Cells) -> bool:
    return UNIT.fullmatch(line.cells[0][1].text) is not None


def _names(grid: list[_Cells], spans: list[Span]) -> list[str]:
    """What the lines say over each column; empty if most have no name: then it is the end of a row
    that began on the page before."""
    names = [""] * len(spans)
    for line, below in zip_longest(grid, grid[1:]):
        if len(spans) > 2 and len(line.cells) == 1 and line.cells[0][0] and _is_unit(line):
            continue  # "(In millions)" in the middle is no name of the column below it
        shared = _shared(line, spans, below)
        for at, cell in line.cells:
            over = shared.get(id(cell)) or [
                i
                for i, (low, high) in enumerate(spans)
                if min(cell.right, high) - max(cell.left, low) > 1
            ]
            over = list(over) if at and len(over) > 1 else [at]
            parts = _parts(cell, [spans[i] for i in over]) if len(over) > 1 else []
            if not parts:
                over = over if id(cell) in shared else _nearest(cell, over, spans)
                parts = [cell.text] * len(over)
            for column, text in zip(over, parts, strict=True):
                names[column] = f"{names[column]} {text}".strip()
    named = sum(bool(name) for name in names[1:])
    return names if named and named >= 0.5 * (len(names) - 1) else []


def _nearest(cell: Cell, over: list[int], spans: list[Span]) -> list[int]:
    """The columns of a name that reaches over several: only one if it stands in its middle or ends
    where it ends, and not in the middle of all."""
    joint = abs(cell.middle - (spans[over[0]][0] + spans[over[-1]][1]) / 2)
    off = [min(abs(cell.middle - sum(spans[i]) / 2), abs(cell.right - spans[i][1])) for i in over]
    limit = ALIGNED * cell.words[0].style.size
    return [over[off.index(min(off))]] if min(off) < limit and joint > 2 * limit else over


def _parts(cell: Cell, spans: list[Span]) -> list[str]:
    """What words say that are names of several columns: dates that stand close are one of each, and
    so are names of which each ends where its column does."""
    words, count = cell.text.split(" "), len(spans)
    each, left = divmod(len(words), count)
    if not left and count > 1 and each > 1:
        parts = [" ".join(words[at : at + each]) for at in range(0, len(words), each)]
        if all(_DATE.fullmatch(part) for part in parts):
            return parts
    near: list[list[Word]] = [[] for _ in spans]
    for word in cell.words:
        middle = (word.left + word.right) / 2
        off = [max(left - middle, middle - right) for left, right in spans]
        near[off.index(min(off))].append(word)
    if not all(near):
        return []
    pairs = [(cell_of(group), span) for group, span in zip(near, spans, strict=True)]
    limit = ALIGNED * cell.words[0].style.size
    is_parted = all(abs(part.right - right) < limit for part, (_, right) in pairs)
    return [part.text for part, _ in pairs] if is_parted else []


def _shared(line: _Cells, spans: list[Span], below: _Cells | None) -> dict[int, range]:
    """The columns of each name, by its identity, where each stands in the middle of some and all
    have one: a short name over wide columns reaches over few of them."""
    names = [cell for at, cell in line.cells if at]
    count = len(spans) - 1
    years = below is not None and sum(_is_year(cell) for at, cell in below.cells if at) == count
    if not names or (len(names) == 1 and not (years or _is_over_all(names[0].text, count))):
        return {}
    width = (spans[-1][1] - spans[1][0]) / count
    if even := _evenly(names, spans, width):
        return even
    shared: dict[int, range] = {}
    start = 1
    for cell in names:
        off = [abs(cell.middle - (spans[start][0] + last[1]) / 2) for last in spans[start:]]
        if not off or min(off) > CENTRED * width:
            return {}
        end = start + off.index(min(off)) + 1
        shared[id(cell)] = range(start, end)
        start = end
    reach = {
        id(cell): sum(min(cell.right, high) - max(cell.left, low) > 1 for low, high in spans)
        for cell in names
    }
    few = len(set(map(len, shared.values()))) > 1 and any(
        len(over) > 2 * reach[name] + 1 for name, over in shared.items()
    )  # names over two columns each happen to stand in the middle of six and two
    return shared if start == len(spans) and not few else {}


def _is_year(cell: Cell) -> bool:
    return YEAR.fullmatch(cell.text) is not None


def _is_over_all(name: str, columns: int) -> bool:
    """Whether a name that stands alone may be over all columns, and is not half of the name of the
    middle one of three."""
    return name.endswith(",") or (columns != 3 and _PERIOD.search(name) is not None)


def _evenly(names: list[Cell], spans: list[Span], width: float) -> dict[int, range]:
    """As many columns for each name, where all stand as far from the middle of theirs: figures end
    at the right of a column whose name stands in its middle."""
    each, left = divmod(len(spans) - 1, len(names))
    if left or each < 2:
        return {}
    over = [range(at, at + each) for at in range(1, len(spans), each)]
    off = [
        cell.middle - (spans[group[0]][0] + spans[group[-1]][1]) / 2
        for cell, group in zip(names, over, strict=True)
    ]
    if max(off) - min(off) > CENTRED * width or max(map(abs, off)) > SHIFTED * width:
        return {}
    return {id(cell): group for cell, group in zip(names, over, strict=True)}


def _names_only(row: Row) -> bool:
    """Whether a row holds no data: no figures but years, and the marks of notes beside words."""
    figures = [cell.text for cell in row.cells if cell.figure and not YEAR.fullmatch(cell.text)]
    if len(figures) > 1 and all(map(_YEARS.fullmatch, figures)):
        return True
    marked = 2 < len(row.cells) >= 2 * len(figures) and all(map(_MARK.fullmatch, figures))
    return not figures or (marked and not row.cells[-1].figure)


# --- cells over several lines ------------------------------------------------------------------


def _whole(grid: list[_Cells], count: int) -> list[list[str]]:
    """The texts of the rows, those that run over several lines put together."""
    rows: list[list[str]] = []
    wrap = _Wrapping(grid)
    for at, line in enumerate(grid):
        if not wrap.joins(at):
            rows.append([""] * count)
        for column, cell in line.cells:
            rows[-1][column] = f"{rows[-1][column]} {cell.text}".strip()
    return rows


class _Wrapping:
    """Says which lines of a table, asked for in order, go on with the row above them."""

    def __init__(self, grid: list[_Cells]) -> None:
        self._grid = grid
        labels = [line.at(0)[-1] for line in grid if 0 in line.columns and len(line.columns) > 1]
        self._edge = max((label.right for label in labels), default=0.0)
        self._row: list[tuple[int, Cell]] = []  # the cells of the row so far

    def joins(self, at: int) -> bool:
        goes_on = at > 0 and self._goes_on(at)
        self._row = [*(self._row if goes_on else ()), *self._grid[at].cells]
        return goes_on

    def _goes_on(self, at: int) -> bool:
        above, line = self._grid[at - 1], self._grid[at]
        gap = line.row.line.base - above.row.line.base
        if above.row.line.column is not line.row.line.column or gap > WRAPPED * line.row.line.size:
            return False
        if is_part(line.row.line.text):
            return False  # in the middle between the items of a table of contents
        row = _Cells(above.row, self._row)
        figures = {column for column, cell in row.cells if cell.figure}
        if figures & {column for column, cell in line.cells if cell.figure}:
            return False
        if 0 not in line.columns:
            if row.columns == {0}:  # the figures stand beside the end of their label
                return not row.cells[-1][1].text.endswith(":")
            return _goes_on_in_columns(row, line)
        label = line.at(0)[0]
        if row.columns == {0}:
            is_half = line.columns != {0} or is_cut(above.cells[-1][1].text)
            return is_half and self._leads_on(above, label)
        if line.columns == {0}:
            return _is_inner(label.text) and not self._leads_on_to_next(at)
        if line.row.figures and not figures and _is_inner(label.text):
            return line.columns >= row.columns
        return _goes_on_in_columns(row, line)

    def _leads_on(self, above: _Cells, label: Cell) -> bool:
        """Whether a line of words alone is the first half of the label below it: that begins in
        the middle of a sentence, or its first word had no room."""
        last = above.cells[-1][1]
        if last.text.endswith(":"):
            return False
        if _is_inner(label.text) or is_cut(last.text):
            return True
        if len(self._row) > 1 and abs(label.left - last.left) < 1:
            return True  # the third line of a label, where the second one hangs
        room = self._edge - last.right
        return (
            len(last.words) > 2
            and above.row.line.bold == label.words[0].style.bold
            and last.text.isupper() == label.text.isupper()
            and -label.words[0].style.size < room < label.words[0].right - label.words[0].left
        )

    def _leads_on_to_next(self, at: int) -> bool:
        """Whether a line between two rows rather belongs to the one below it."""
        if at + 1 >= len(self._grid):
            return False
        below = self._grid[at + 1]
        line = self._grid[at].row.line
        near = below.row.line.base - line.base < line.base - self._grid[at - 1].row.line.base - 1
        return near and 0 in below.columns and _is_inner(below.at(0)[0].text)


def _is_inner(text: str) -> bool:
    """Whether a text begins as the second half of a sentence does."""
    return text[:1].islower() or text[:1] in "(&,;"


def _goes_on_in_columns(above: _Cells, line: _Cells) -> bool:
    """Whether the words of a line go on with those above, column by column: some cells have no
    second line, or most of them begin in the middle of a sentence."""
    if not line.columns <= above.columns or any(
        cell.figure and not YEAR.fullmatch(cell.text) for _, cell in line.cells
    ):
        return False
    inner = sum(_is_inner(cell.text) for at, cell in line.cells if at)
    fewer = 0 not in line.columns and len(line.columns) < len(above.columns - {0})
    return fewer or 2 * inner >= len(line.columns - {0})


def _goes_on(above: Block, lines: list[Line], spans: list[Span]) -> bool:
    """Whether the lines continue the table that ended the column or page before."""
    last, first = above.lines[-1], lines[0]
    near = first.column is last.column and first.base - last.base < PART * first.size
    if above.role != "table" or not (near or (first.first and first.page - last.page <= 1)):
        return False
    rows = [row_of(line) for line in above.lines]
    _label_by_years(rows)
    before = _columns(rows)
    if len(before) != len(spans):
        return False
    shift = lines[0].column.left - above.lines[0].column.left
    return all(
        min(a[1] + shift, b[1]) - max(a[0] + shift, b[0]) > -2
        for a, b in zip(before[1:], spans[1:], strict=True)
    )
