"""Makes columns of the cells of an HTML table, whose own columns may only be white space, signs and
parts of others. Knows where cells begin and end, nothing of tags."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import TypeAlias

from trivium.extract.headers import is_data, is_figure, is_year

_OPENING = re.compile(r"(?:[$€£¥]|US\$|C\$|R\$|RMB)?\s*\(?")  # belongs to the figure on its right
_CLOSING = re.compile(r"\)?\s*[%)x]\)?")  # belongs to the figure on its left
_BEGINS_FIGURE = re.compile(r"\(?[\d.—–-]")
_ENDS_FIGURE = re.compile(r"[\d)—–-]$")
_UNIT = re.compile(r"\(.*\)")
_MEASURE = re.compile(r"(?i)\b(?:in|of|except|unaudited)\b|%")  # but "Increase/" over "(Decrease)"
NEAR = 1  # empty columns between a sign and its figure


_Placed: TypeAlias = tuple[list[int], str]  # the columns of a cell, and what it says


@dataclass(slots=True)
class Cell:
    """A text with its range of columns."""

    start: int
    end: int
    text: str


@dataclass(slots=True)
class Grid:
    """A table cell by cell, without its empty rows and columns. Figures have their signs. A cell
    over several columns stands in the first."""

    captions: list[str]  # rows at the top that are one text over the table
    rows: list[list[str]]
    names: list[str]  # of the columns, where names stand over several of them; else empty


def aligned(rows: Iterable[Iterable[Cell]]) -> Grid:
    whole = [row for cells in rows if (row := _with_signs(cells))]
    columns = _columns({(cell.start, cell.end) for row in whole for cell in row})
    placed = [[(_covered(cell, columns), cell.text) for cell in row] for row in whole]
    captions = [row[0][1] for row in takewhile(_is_alone, placed)]
    lines = [_line(row, len(columns)) for row in placed]
    top = len(captions)
    if 0 < top < len(lines) and not (
        _spans(placed[0]) or _spans(placed[top]) or _names_what_follows(lines[top:])
    ):
        top = 0  # the first label of the data
    return Grid(captions[:top], lines[top:], _names(placed[top:], lines[top:]))


def _names_what_follows(lines: Sequence[list[str]]) -> bool:
    """Whether a row without figures but years stands over a row of data."""
    names, *below = lines
    figures = [text for text in names if is_figure(text)]
    filled = (line for line in below if sum(map(bool, line)) > 1)
    return is_data(next(filled, [""])) and all(map(is_year, figures)) and not is_data(names)


def _covered(cell: Cell, columns: list[tuple[int, int]]) -> list[int]:
    first = bisect_right(columns, cell.start, key=lambda column: column[1])
    after = bisect_left(columns, cell.end, key=lambda column: column[0])
    return list(range(first, after))


def _line(row: Sequence[_Placed], width: int) -> list[str]:
    cells = [""] * width
    for (first, *_), text in row:
        cells[first] = f"{cells[first]} {text}".strip()
    return cells


def _names(rows: Sequence[Sequence[_Placed]], lines: Sequence[list[str]]) -> list[str]:
    """A name for each column from the rows at the top: those with a cell over several columns and
    what stands below it. Empty if there are none."""
    top = 0
    for at, (row, line) in enumerate(zip(rows, lines, strict=True)):
        last = rows[at - 1] if at else []
        is_unit = len(last) == 1 and _UNIT.fullmatch(last[0][1]) is not None
        below = _spans(last) and not is_unit and not is_data(line)
        named = [text for over, text in row if over != [0]]  # the label column has the unit
        years = at > 0 and bool(named) and all(map(is_year, named))
        if _is_alone(row) or not (_spans(row) or below or years):
            break
        top = at + 1
    if not top or not _spans(rows[0]):
        return []
    names: list[list[str]] = [[] for _ in lines[0]]
    for row in rows[:top]:
        for over, text in row:
            if len(over) > 1 and _UNIT.fullmatch(text) and _MEASURE.search(text):
                continue
            for at in over:
                if text not in names[at] and (at or not text.endswith(":")):  # the first part
                    names[at].append(text)
    return [" ".join(parts) for parts in names]


def _is_alone(row: Sequence[_Placed]) -> bool:
    return len(row) == 1 and 0 in row[0][0]


def _spans(row: Sequence[_Placed]) -> bool:
    return any(len(over) > 1 for over, _ in row)


def _with_signs(row: Iterable[Cell]) -> list[Cell]:
    """The filled cells, with signs of money, brackets and percent joined to their figures."""
    joined: list[Cell] = []
    for cell in row:
        if not cell.text:
            continue
        last = joined[-1] if joined else None
        if last is None or cell.start - last.end > NEAR:
            joined.append(cell)
        elif (_OPENING.fullmatch(last.text) and _BEGINS_FIGURE.match(cell.text)) or (
            _CLOSING.fullmatch(cell.text) and _ENDS_FIGURE.search(last.text)
        ):
            joined[-1] = Cell(last.start, cell.end, last.text + cell.text)
        else:
            joined.append(cell)
    return joined


def _columns(ranges: set[tuple[int, int]]) -> list[tuple[int, int]]:
    """The columns that narrow cells make; a wider one over several of them makes none."""
    owners: dict[int, tuple[int, int]] = {}  # which column a place belongs to
    for start, end in sorted(ranges, key=lambda r: (r[1] - r[0], r[0])):
        shared = {owners[at] for at in range(start, end) if at in owners}
        if len(shared) < 2:
            low, high = next(iter(shared), (start, end))
            column = (min(start, low), max(end, high))
            owners.update(dict.fromkeys(range(*column), column))
    return sorted(set(owners.values()))
