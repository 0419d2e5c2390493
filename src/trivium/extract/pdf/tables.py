"""Finds tables among the lines of a column: rows of cells that stand below each other.

Figures decide where they can: numbers below numbers are a table however the page is set, while
words need white that no justified line of prose has. `grid` makes rows and names of what is found.
Knows nothing of ruling lines inside a table, and nothing of cells that span rows.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from trivium.extract.pdf.characters import clean
from trivium.extract.pdf.marks import Line, Word, join_words

MIN_ROWS = 3  # of words; two rows of figures are enough
FAR = 2.6  # sizes of the font between the baselines of two rows
FARTHEST = 4.0  # where figures stand below figures: an empty row may lie between
MAX_HEADER_ROWS = 6
MAX_PARTS = 3  # lines between the names of a table and its first row
MAX_LABELS = 3  # lines between two rows
LABELLED = 2.5  # times the usual distance between a row and the label of the next part
PHRASE = 3  # words of a cell; longer ones may be sentences that run over several lines
_CAPTION = re.compile(r"(?:table|tabelle|tab\.|tableau)\s*[\dIVXA-Z]+", re.I)
_SIGNS = re.compile(r"[=≈∑∏∫√∈≤≥∀∂⇡⌃]")
_MONEY = r"(?:[$€£¥]|US\$|USD|EUR)"
# Digits and signs without a letter, as 1,234, (40), 12.5%, 50.1±2.4 or 3/4; or the sign for none.
_FIGURE = re.compile(
    rf"[(–—−-]*(?:{_MONEY}\s*)?(?=\D*\d)[\d.,'’±%()+\-–—−/:*†‡<>~]+[€£¥]?"
    r"(?:x|bps|pts|(?:\s?\(\w{1,2}\))+)?|[$€£¥(]*\s*[-–—−]+\s*[)%]*(?:\s?\([a-z]{1,2}\))*"
)
# Thousands parted by a blank, as much of Europe writes them.
_GROUPED = re.compile(r"[(–—−-]*\d{1,3}(?: \d{3})+(?:[.,]\d+)?[)%]*")
HANGING = 0.75  # of a row's size: the mark of a note that stands above it is set smaller
MARKED = 1.5  # sizes of the font between a figure and the mark of its note
BLANK = 0.45  # sizes of the font: columns of figures stand further apart than words
_LETTERED = re.compile(r"N/?A|nm|NM|n\.m\.|(?:US\$|USD|EUR)\s*[\d.,()-]+")
_OPENING = re.compile(rf"{_MONEY}|\(|{_MONEY}\s*\(")  # belongs to the figure on its right
_CLOSING = re.compile(r"[)%]+")  # belongs to the figure on its left
_MARK = re.compile(r"(?:\([a-z]{1,2}\))+")  # of a note; "(1)" may be a figure
_NOTE = re.compile(r"\(?\w{1,2}\)?")
_FIGURES = re.compile(r"[\d–—-]$")
YEAR = re.compile(
    r"(?:(?:FY|CY)\s?)?(?:19|20)\d\d(?:\s*[-–/]\s*(?:19|20)\d\d)?(?:\s*\(\w{1,2}\)|[*†‡A-Z:])?"
    r"|\d{1,2}/(?:\d{1,2}/(?:\d\d)?)?\d\d"  # 12/28/2013, 12/17
)
_DAYS = re.compile(r"\d{1,2}/\d{1,2}/\d{2,4} ?[—–-] ?\d{1,2}/\d{1,2}/\d{2,4}")
_ANNOUNCES = re.compile(r"(?i)\b(?:follows?|following)\b.*:$")  # another table
_LEADER = re.compile(r"[.…·_]{3,}|[.…·]")  # a word of dots; single ones count in a row
UNIT = re.compile(r"\(.{3,70}\)")
_INSIDE_FIGURE = re.compile(
    r"(?<=[$€£¥(]) +(?=[\d(.–—-])|(?<=\d) +(?=[)%])|(?<=\)) +(?=%)|(?<=[\d%]) +(?=±)|(?<=±) +(?=\d)"
)


@dataclass(slots=True)
class Cell:
    """Words of a row that stand together."""

    words: list[Word]
    left: float
    right: float
    text: str
    figure: bool

    @property
    def middle(self) -> float:
        return (self.left + self.right) / 2


def cell_of(words: list[Word]) -> Cell:
    text = text_of(words)
    left, right = words[0].left, words[0].right
    if len(words) > 1:
        left, right = min([w.left for w in words]), max([w.right for w in words])
    return Cell(words, left, right, text, is_figure(text) or _is_grouped(words))


def text_of(words: list[Word]) -> str:
    """What a cell says, without the blanks that white inside a figure leaves, and without dots that
    lead the eye to the next cell."""
    if len(words) == 1:
        text = clean(words[0].text)
    else:
        text = _INSIDE_FIGURE.sub("", clean(join_words(words)))
    return text.rstrip(" .") if text.endswith("....") else text


def _is_grouped(words: list[Word]) -> bool:
    """Whether several words are one number: no pattern alone tells 12 345 from two columns."""
    return (
        len(words) > 1
        and words[-1].text[:1].isdigit()
        and all(b.left - a.right < BLANK * b.style.size for a, b in pairwise(words))
        and _GROUPED.fullmatch(clean(join_words(words))) is not None
    )


def is_figure(text: str) -> bool:
    """Whether a cell holds a number, or the sign for none."""
    if text[:1].isalpha():
        return _LETTERED.fullmatch(text) is not None
    return _FIGURE.fullmatch(text) is not None


def cells_of(line: Line) -> list[Cell]:
    """The cells of a line, parted by white or dots; signs of money and percent join a figure."""
    parts: list[list[Word]] = []
    left = right = 0.0  # of the last part
    for fragment in line.cells:
        # In a row that runs left the neighbour stands to the right.
        if parts and max(fragment.left - right, left - fragment.right) < 0.6 * fragment.size:
            parts[-1] = [*parts[-1], *fragment.words]  # an index or an accent of its neighbour
            left, right = min(left, fragment.left), max(right, fragment.right)
        else:
            parts.append(fragment.words)
            left, right = fragment.left, fragment.right
    if _has_leader(line):
        parts = [words for part in parts for words in _without_leaders(part)]
    cells = [cell_of(words) for words in parts]
    cells = [piece for cell in cells for piece in _figures_apart(cell)]
    joined: list[Cell] = []
    for cell in cells:
        if joined and cell.figure and _OPENING.fullmatch(joined[-1].words[-1].text):
            *label, sign = joined.pop().words  # a sign close behind the label is the figure's
            joined += [cell_of(label)] if label else []
            joined.append(cell_of([sign, *cell.words]))
        elif joined and _belongs(cell, joined[-1]):
            joined[-1] = cell_of([*joined[-1].words, *cell.words])
        else:
            joined.append(cell)
    return joined


def _belongs(cell: Cell, before: Cell) -> bool:
    """Whether a sign or the mark of a note is the end of the figure before it."""
    if _CLOSING.fullmatch(cell.text):
        return _FIGURES.search(before.text) is not None
    near = cell.left - before.right < MARKED * before.words[0].style.size
    return before.figure and near and _MARK.fullmatch(cell.text) is not None


def _without_leaders(words: list[Word]) -> list[list[Word]]:
    """The words on both sides of dots that lead the eye to a number."""
    dots = [bool(_LEADER.fullmatch(word.text)) for word in words]
    if sum(dots) < 3 and not any(d and len(w.text) > 2 for d, w in zip(dots, words, strict=True)):
        return [words]
    parts: list[list[Word]] = [[]]
    for word, dot in zip(words, dots, strict=True):
        if not dot:
            parts[-1].append(word)
        elif parts[-1]:
            parts.append([])
    return [part for part in parts if part]


def _figures_apart(cell: Cell) -> list[Cell]:
    """A cell of several figures as several: their columns stand close."""
    last = cell.text[-1:]
    if cell.figure or len(cell.words) < 2 or not (last.isdigit() or last in ")%—–-$€£¥"):
        return [cell]
    if _DAYS.fullmatch(cell.text):
        return [cell]
    pieces: list[list[Word]] = [[]]
    for word in cell.words:
        whole = pieces[-1]
        ends = whole and not word.glued and cell_of(whole).figure
        is_end = _CLOSING.fullmatch(word.text) or _MARK.fullmatch(word.text)
        if ends and not is_end and not _continues(whole, word):
            pieces.append([])
        pieces[-1].append(word)
    cells = [cell_of(piece) for piece in pieces]
    alone = all(piece.figure or _OPENING.fullmatch(piece.text) for piece in cells)
    return cells if len(cells) > 1 and alone else [cell]


def _continues(figure: list[Word], word: Word) -> bool:
    """Whether a word belongs to the figure before it: its next thousand, or one more of a list."""
    listed = (
        figure[-1].text.endswith(",") and word.left - figure[-1].right < BLANK * word.style.size
    )
    return listed or _is_grouped([*figure, word])


@dataclass(slots=True)
class Row:
    line: Line
    cells: list[Cell]
    figures: list[Cell]  # behind the first cell, or all when there is nothing else
    celled: bool


@dataclass(slots=True)
class Table:
    """Lines that are a table."""

    end: int  # the line behind its last
    rows: list[Row]


def row_of(line: Line) -> Row:
    cells = cells_of(line) if len(line.cells) > 1 or _has_leader(line) else []
    if len(cells) < 2:
        return Row(line, cells, [], False)
    figures = [cell for cell in cells[1:] if cell.figure]
    if figures and cells[0].figure:
        figures.insert(0, cells[0])
    white = sum(max(b.left - a.right, a.left - b.right) for a, b in pairwise(cells))
    celled = (
        len(cells) > 2
        or bool(figures)
        or white > 0.2 * (line.right - line.left)
        or max(len(cell.words) for cell in cells) <= 4
    )
    return Row(line, cells, figures, celled)


def _has_leader(line: Line) -> bool:
    return "..." in line.text or ". . ." in line.text or "…" in line.text


def is_row(line: Line) -> bool:
    """Whether a line by itself is a row: white that no prose has, then a figure."""
    if len(line.cells) < 2 or line.cells[-1].left - line.cells[-2].right < 2 * line.size:
        return False
    return is_figure(clean(line.cells[-1].text))


def hangs_above(line: Line, below: Line) -> bool:
    """Whether a line is the mark of a note that belongs to a figure of the one below it."""
    near = below.base - line.base < below.size
    return near and line.size < HANGING * below.size and _NOTE.fullmatch(line.text) is not None


def find_tables(lines: list[Line], headings: Mapping[int, int]) -> dict[int, Table]:
    """The tables among the lines by their first line. `headings` are ranges too; one
    that stands among rows which belong together is a label of the table."""
    rows = [row_of(line) for line in lines]
    taken = {at for start, end in headings.items() for at in range(start, end)}
    tables: dict[int, Table] = {}
    start = floor = 0
    words = -1  # the first line of a table without data right above: it may be names
    while start < len(lines):
        end = _run(rows, start, headings, taken)
        if end > start and _is_table(rows, start, end):
            top = _top(rows, start, end, floor)
            if words >= 0 and top <= words:
                del tables[words]
            elif words >= 0:
                top = max(top, tables[words].end)
            end += _ends_below(rows, start, end)
            tables[top] = Table(end, rows[top:end])
            words, floor = (-1, end) if _has_data(rows[start:end]) else (top, floor)
            start = end
        else:
            start += 1 if end <= start else end - start
    return tables


def _has_data(rows: list[Row]) -> bool:
    return any(not YEAR.fullmatch(cell.text) for row in rows for cell in row.figures)


def _run(rows: list[Row], start: int, headings: Mapping[int, int], taken: set[int]) -> int:
    """The end of the rows with cells that begin here; `start` when there are none."""
    if not rows[start].celled or (start in taken and not rows[start].figures):
        return start
    end = start + 1
    misses = 0
    at = start + 1
    while at < len(rows):
        above, row = rows[at - 1].line, rows[at]
        if row.line.first or row.line.column is not above.column:
            break
        gap = row.line.base - above.base
        if _is_far(rows, start, end, at):
            break
        if at in headings and not row.figures:
            if not _is_label(rows, start, end, at, headings[at], gap):
                break
            at = headings[at]
            continue
        if row.celled and (row.figures or not rows[start].figures or len(row.cells) > 2):
            end, misses = at + 1, 0
        elif row.celled or _inside_one_column(rows, start, end, at):
            misses += 1
            if misses > 2:
                break
        else:
            break
        at += 1
    return end


def _is_far(rows: list[Row], start: int, end: int, at: int) -> bool:
    """Whether a line stands too far below the one above it to be of the same table."""
    line, above = rows[at].line, rows[at - 1].line
    gap, size = line.base - above.base, max(above.size, line.size)
    if gap <= FAR * size or gap > FARTHEST * size:
        return gap > FAR * size
    return not (_joins(rows, start, end, at) or _stands_over(rows[at - 1], rows[at]))


def _is_label(rows: list[Row], start: int, end: int, at: int, after: int, gap: float) -> bool:
    """Whether a line set like a heading names a part of the table: it stands hardly further from
    the rows than they do from each other, and the figures below it stand under those above."""
    if after >= len(rows) or rows[after].line.column is not rows[at].line.column:
        return False
    steps = sorted(b.line.base - a.line.base for a, b in pairwise(rows[start:end]))
    usual = steps[len(steps) // 2] if steps else rows[at].line.size * 1.5
    below = rows[after].line.base - rows[after - 1].line.base
    if gap > LABELLED * usual or below > 1.7 * usual:
        return False
    return _joins(rows, start, end, after)


def _joins(rows: list[Row], start: int, end: int, at: int) -> bool:
    """Whether the next figures, a few labels further, stand under those of the rows above and
    are no years: those would head another table."""
    below = next((row.figures for row in rows[at : at + 1 + MAX_LABELS] if row.figures), [])
    if not below or all(YEAR.fullmatch(cell.text) for cell in below):
        return False
    edges = [cell for row in rows[max(start, end - 6) : end] for cell in row.figures]
    return sum(any(_below(cell, edge) for edge in edges) for cell in below) >= 0.5 * len(below)


def _inside_one_column(rows: list[Row], start: int, end: int, at: int) -> bool:
    line, lines = rows[at].line, [row.line for row in rows[start:end]]
    if _ANNOUNCES.search(line.text):
        return False
    if at + 1 < len(rows) and hangs_above(line, rows[at + 1].line):
        return True
    left, right = min(row.left for row in lines), max(row.right for row in lines)
    if any(row.figures for row in rows[start:end]):  # the label column may be most of the table
        figures = [cell.left for row in rows[start:end] for cell in row.figures]
        return line.right < max(sorted(figures)[len(figures) // 2], left + 0.6 * (right - left))
    return line.right - line.left < 0.6 * (right - left) and len(line.text) < 60


def _top(rows: list[Row], start: int, end: int, floor: int) -> int:
    """The first line of a table with the names that stand above its columns, or their unit."""
    figures = [cell.left for row in rows[start:end] for cell in row.figures]
    if not figures:
        return start
    edge = min(figures)
    left = min(row.line.left for row in rows[start:end])
    top = start - _parts_above(rows, start, floor, edge)
    while top > floor and start - top < MAX_HEADER_ROWS:
        line, below = rows[top - 1].line, rows[top].line
        if line.column is not below.column or below.first or line.page != below.page:
            break
        over = _stands_over(rows[top - 1], rows[start])
        reach = FARTHEST if over else 2.0
        if below.base - line.base > reach * max(line.size, below.size):
            break
        names = line.left > max(left + 0.15 * (edge - left), edge - 8 * line.size)
        is_unit = UNIT.fullmatch(line.text) is not None
        if len(line.text) > 90 or not (names or is_unit or over):
            break
        top -= 1
    return top - 1 if top == start > floor and _begins_above(rows, start) else top


def _parts_above(rows: list[Row], start: int, floor: int, edge: float) -> int:
    """How many lines above a table name its first part and what holds that, below the names of its
    columns: "Revenue" and "Rental" over "Base rent"."""
    for at in range(start - 1, max(floor, start - 1 - MAX_PARTS), -1):
        line, below, names = rows[at].line, rows[at + 1].line, rows[at - 1].line
        over = _stands_over(rows[at - 1], rows[start])
        reach = (FARTHEST if over else FAR) * line.size
        near = below.base - line.base < FAR * line.size and line.base - names.base < reach
        alike = below.column is line.column is names.column and not (line.first or below.first)
        is_label = not rows[at].celled and line.text[-1] not in ".;,"
        if not (is_label and near and alike and (over or line.right <= edge)):
            return 0
        if (over or names.left > edge - 8 * names.size) and names.page == line.page:
            return start - at
    return 0


def _ends_below(rows: list[Row], start: int, end: int) -> bool:
    """Whether the line below the last row is the second half of its label."""
    figures = [cell.left for row in rows[start:end] for cell in row.figures]
    if end >= len(rows) or not figures or rows[end].celled:
        return False
    line, last = rows[end].line, rows[end - 1].line
    near = line.column is last.column and line.base - last.base < 1.9 * line.size
    return near and not line.first and line.text[:1].islower() and line.right < min(figures)


def _begins_above(rows: list[Row], start: int) -> bool:
    """Whether the line above the first row is the first half of its label."""
    above, line, label = rows[start - 1].line, rows[start].line, rows[start].cells[0]
    near = above.column is line.column and not line.first and not rows[start - 1].celled
    return (
        near
        and line.base - above.base < FAR * line.size
        and abs(above.left - label.left) < 3 * line.size
        and label.text[:1].islower()
        and above.text[-1] not in ".:;"
    )


def _stands_over(names: Row, row: Row) -> bool:
    """Whether a row has a name over each cell of another, the first may be without one."""
    count = len(row.cells)
    if count < 3 or len(names.cells) not in (count - 1, count):
        return False
    over = zip(names.cells[1 - count :], row.cells[1:], strict=True)
    return all(
        (not a.figure or YEAR.fullmatch(a.text)) and (_below(a, b) or _overlap(a, b))
        for a, b in over
    )


def _is_table(rows: list[Row], start: int, end: int) -> bool:
    celled = [row for row in rows[start:end] if row.celled]
    cells = [cell for row in celled for cell in row.cells]
    captioned = any(
        _CAPTION.match(row.line.text) and row.line.page == celled[0].line.page
        for row in rows[max(0, start - 6) : start] + rows[end : end + 4]
    )
    signs = sum(bool(_SIGNS.search(cell.text)) for cell in cells)
    if not captioned and signs > 0.15 * len(cells):
        return False
    # A word that goes on in the next line, behind single words that somebody spread.
    spread = all(len(cell.words) == 1 for cell in cells)
    if spread and any(
        a.line.text[-1] == "-" and b.line.text[0].islower() for a, b in pairwise(celled)
    ):
        return False
    figured = [row for row in celled if row.figures]
    labelled = any(not row.cells[0].figure for row in figured)
    enough = max(2 if labelled else MIN_ROWS, 0.3 * len(celled))
    if len(figured) >= enough and _aligned_figures(figured) >= 0.6:
        return True
    if len(celled) < MIN_ROWS or (not captioned and (_justified(celled) or _is_prose(celled))):
        return False
    single = sum(len(cell.text) == 1 and not cell.text.isdigit() for cell in cells)
    return single < 0.5 * len(cells) and _aligned(celled) >= (0.4 if captioned else 0.6)


def _below(a: Cell, b: Cell) -> bool:
    """Whether two cells stand in one column: at an edge, in the middle, or but for a sign that
    hangs over the edge."""
    return abs(a.right - b.right) < 6 or abs(a.left - b.left) < 3 or abs(a.middle - b.middle) < 3


def _aligned_figures(rows: Sequence[Row]) -> float:
    """The share of rows with a figure below one of the two rows above: amounts and percentages may
    take turns, each at its own edge."""
    aligned = 0
    for at, below in enumerate(rows[1:], start=1):
        above = [cell for row in rows[max(0, at - 2) : at] for cell in row.figures]
        aligned += any(_below(a, b) or _overlap(a, b) for a in above for b in below.figures)
    return aligned / (len(rows) - 1)


def _overlap(a: Cell, b: Cell) -> bool:
    """Whether most of the narrower cell is below the other: "24.2 %" below "$ 168"."""
    shared = min(a.right, b.right) - max(a.left, b.left)
    return shared > 0.6 * min(a.right - a.left, b.right - b.left)


def _justified(rows: list[Row]) -> bool:
    """Whether most rows fill their column to both edges with little white, or with single words
    that somebody spread: badly set prose."""
    filled = 0
    for row in rows:
        line, column = row.line, row.line.column
        if line.left < column.left + 14 and line.right > column.right - 1.5:
            widest = max(max(b.left - a.right, a.left - b.right) for a, b in pairwise(row.cells))
            filled += widest < 3 * line.size or all(len(cell.words) == 1 for cell in row.cells)
    return filled > 0.5 * len(rows)


def _is_prose(rows: list[Row]) -> bool:
    """Whether the cells are words of sentences that white parts, as in the text layer of a scan
    whose letters were wider: they begin small, where cells of a table begin with a capital."""
    cells = [cell for row in rows for cell in row.cells[1:]]
    small = sum(cell.text[:1].islower() for cell in cells)
    words = sum(len(cell.words) for cell in cells) / len(cells)
    return small > (0.75 if words > PHRASE else 0.5) * len(cells) and words < 2 * PHRASE


def _aligned(rows: list[Row]) -> float:
    """The share of rows with a cell, not the first, that stands exactly below one above."""
    aligned = 0
    for above, below in pairwise(rows):
        aligned += any(
            abs(cell.left - other.left) < 3
            or abs(cell.right - other.right) < 3
            or abs(cell.middle - other.middle) < 3
            for cell in below.cells[1:]
            for other in above.cells
        )
    return aligned / max(1, len(rows) - 1)
