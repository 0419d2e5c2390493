"""Finds tables among the lines of a column: rows of short cells that stand below each other.

Knows nothing of ruling lines inside a table, and nothing of cells that span rows.
"""

from __future__ import annotations

import re
from collections.abc import Set
from itertools import pairwise

from trivium.extract.pdf.marks import Fragment, Line
from trivium.extract.pdf.typography import clean

MIN_ROWS = 3
_CAPTION = re.compile(r"(?:table|tabelle|tab\.|tableau)\s*[\dIVXA-Z]+", re.I)
_SIGNS = re.compile(r"[=≈∑∏∫√∈≤≥∀∂⇡⌃]|^\(\d+\)$")


def find_tables(lines: list[Line], headings: Set[int]) -> list[tuple[int, int]]:
    """Ranges of lines that are tables, in order, ends exclusive. A heading is no row."""
    found = []
    start = 0
    while start < len(lines):
        end = _run(lines, start, headings)
        if end > start and _is_table(lines, start, end):
            found.append((start, end))
            start = end
        else:
            start += 1 if end <= start else end - start
    return found


def _run(lines: list[Line], start: int, headings: Set[int]) -> int:
    """The end of the rows with cells that begin here; `start` when there are none."""
    if start in headings or not _has_cells(lines[start]):
        return start
    end = start + 1
    misses = 0
    for at in range(start + 1, len(lines)):
        above, line = lines[at - 1], lines[at]
        if at in headings or line.first or line.column is not above.column:
            break
        if line.base - above.base > 2.6 * max(above.size, line.size):
            break
        if _has_cells(line):
            end, misses = at + 1, 0
        elif _inside_one_column(line, lines[start:end]):
            misses += 1
            if misses > 2:
                break
        else:
            break
    return end


def _has_cells(line: Line) -> bool:
    """Whether the line is parted by white that no justified line of prose has."""
    cells = _merged(line.cells)
    if len(cells) < 2:
        return False
    white = sum(b.left - a.right for a, b in pairwise(cells))
    longest = max(len(cell.text.split()) for cell in cells)
    return len(cells) > 2 or white > 0.2 * (line.right - line.left) or longest <= 4


def _merged(cells: list[Fragment]) -> list[Fragment]:
    """Cells as printed: indices and accents that overlap their neighbour are part of it."""
    merged: list[Fragment] = []
    for cell in cells:
        if merged and cell.left - merged[-1].right < 0.6 * cell.size:
            merged[-1] = Fragment([*merged[-1].words, *cell.words])
        else:
            merged.append(cell)
    return merged


def _inside_one_column(line: Line, rows: list[Line]) -> bool:
    width = max(row.right for row in rows) - min(row.left for row in rows)
    return line.right - line.left < 0.6 * width and len(line.text) < 60


def _is_table(lines: list[Line], start: int, end: int) -> bool:
    rows = lines[start:end]
    celled = [row for row in rows if _has_cells(row)]
    if len(celled) < MIN_ROWS:
        return False
    captioned = any(
        _CAPTION.match(line.text) and line.page == rows[0].page
        for line in lines[max(0, start - 6) : start] + lines[end : end + 4]
    )
    cells = [cell.text for row in celled for cell in _merged(row.cells)]
    signs = sum(bool(_SIGNS.search(cell)) for cell in cells)
    if not captioned and (signs > 0.15 * len(cells) or _justified(celled)):
        return False
    single = sum(len(cell) == 1 and not cell.isdigit() for cell in cells)
    return single < 0.5 * len(cells) and _aligned(celled) >= (0.4 if captioned else 0.6)


def _justified(rows: list[Line]) -> bool:
    """Whether most rows fill their column to both edges: badly set prose, not cells."""
    filled = sum(
        row.left < row.column.left + 14 and row.right > row.column.right - 1.5 for row in rows
    )
    return filled > 0.5 * len(rows)


def _aligned(rows: list[Line]) -> float:
    """The share of rows with a cell, not the first, that stands exactly below one above."""
    aligned = 0
    for above, below in pairwise(rows):
        edges = [(c.left, c.right, (c.left + c.right) / 2) for c in _merged(above.cells)]
        aligned += any(
            abs(cell.left - left) < 3
            or abs(cell.right - right) < 3
            or abs((cell.left + cell.right) / 2 - middle) < 3
            for cell in _merged(below.cells)[1:]
            for left, right, middle in edges
        )
    return aligned / max(1, len(rows) - 1)


def table_rows(lines: list[Line]) -> list[str]:
    """The rows as text, cells parted by ` | `, empty where a column has nothing."""
    grid = [_merged(line.cells) for line in lines]
    columns = _columns(grid)
    rows = []
    for cells in grid:
        row = [""] * len(columns)
        for cell in cells:
            at = max(range(len(columns)), key=lambda i: (_shared(cell, columns[i]), -i))
            row[at] = f"{row[at]} {clean(cell.text)}".strip()
        rows.append(" | ".join(row).strip() if any(row) else "")
    return [row for row in rows if row]


def _columns(grid: list[list[Fragment]]) -> list[tuple[float, float]]:
    """Where the columns of a table run: the cells of full rows, joined where they overlap."""
    most = max(len(cells) for cells in grid)
    spans = sorted(
        (cell.left, cell.right) for cells in grid if len(cells) >= 0.7 * most for cell in cells
    )
    columns: list[tuple[float, float]] = []
    for left, right in spans:
        if columns and left < columns[-1][1] - 1:
            columns[-1] = (columns[-1][0], max(right, columns[-1][1]))
        else:
            columns.append((left, right))
    return columns


def _shared(cell: Fragment, column: tuple[float, float]) -> float:
    """How far a cell reaches into a column; below zero its distance from it."""
    return min(cell.right, column[1]) - max(cell.left, column[0])
