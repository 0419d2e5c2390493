"""Tells a table's column names from its data. Knows rows of strings, nothing of files."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

LONGEST = 9  # digits of a number that may count columns
_FIGURE = re.compile(
    r"[-+(]?\s*[$€£¥]?\s*[-+(]?\d[\d.,'\s ]*(?:[eE][-+]?\d+)?\s*[%€$£)]{0,2}"
    r"|\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}(?:[T ][\d:.]+Z?)?|\d{1,2}:\d\d(?::\d\d)?|TRUE|FALSE"
)
_YEAR = re.compile(r"(?:19|20)\d\d")
_DAY = re.compile(r"[^\W\d_]{3,9}\.? \d{1,2},?|\d{1,2}\.? [^\W\d_]{3,9}\.?")
_UNIT = re.compile(r"\(.*\)")
_ENTRY = re.compile(r"\d{1,3}(?:\.\d+|\(\w{1,3}\))+[*†+#^ ]*")  # of a list of exhibits: 10.29*
_NUMBERS = re.compile(r"\d+")

# Characters of a column's name; longer cells are text. Over figures a name may be twice as long:
# "Approximate Dollar Value of Shares That May Yet Be Purchased Under the Plans or Programs".
MAX_NAME = 120

Row = Sequence[str]


def is_figure(cell: str) -> bool:
    """Whether a cell holds a number, a date, a time or a truth."""
    return _FIGURE.fullmatch(cell.strip()) is not None


def is_year(cell: str) -> bool:
    return _YEAR.fullmatch(cell.strip()) is not None


def columns(row: Row) -> set[int]:
    """The positions of filled cells."""
    return {at for at, cell in enumerate(row) if cell.strip()}


def is_data(row: Row) -> bool:
    """Whether a row is figures, or figures behind a label: no names. Years name columns, and so do
    numbers that count them."""
    filled = [cell.strip() for cell in row if cell.strip()]
    figures = [cell for cell in filled if is_figure(cell)]
    if len(filled) > 3 and not len(filled) % 2 and figures == filled[1::2]:
        return not any(map(is_year, figures))  # a label and its figure, several times over
    if not figures or len(figures) < len(filled) - 1 or not (row[0].strip() or len(row) == 1):
        return False
    if len(figures) > 1 and all(cell.isdecimal() and len(cell) < LONGEST for cell in figures):
        counted = all(int(b) - int(a) == 1 for a, b in pairwise(figures))
        return not counted and not all(map(is_year, figures))
    return not is_year(figures[0])


def goes_on(above: Row, below: Row) -> bool:
    """Whether a row has the second half of the names: `Europe` over `2022` and `2023`. It names
    columns that the row above leaves open, by years, by names that come again, or beside a cell
    that fills both rows."""
    upper, lower = columns(above), columns(below)
    if _completes_dates(above, below):
        return True
    names = [below[at].strip() for at in sorted(lower)]
    if not upper or lower <= upper or is_data(names):
        return False
    figures = [name for name in names if is_figure(name)]
    if not all(map(is_year, figures)):
        return False
    spread = max(lower) > max(upper) or any(b - a > 1 for a, b in pairwise(sorted(upper)))
    shared = any(above[at] == below[at] for at in upper & lower)  # a cell over both rows
    return spread and (shared or len(figures) > 1 or len(set(names)) < len(names))


def _completes_dates(above: Row, below: Row) -> bool:
    """Whether a row has the years of the days above it: `December 31,` over `2018`."""
    both = [(a.strip(), b.strip()) for a, b in zip(above, below, strict=False) if a.strip()]
    days = [(a, b) for a, b in both if _DAY.fullmatch(a)]
    return bool(days) and len(days) >= len(both) - 1 and all(is_year(b) for _, b in days)


def joined(above: Row, below: Row) -> list[str]:
    """Two header rows as one: a name above covers all columns up to the next."""
    names, over = [], ""
    for at in range(max(len(above), len(below))):
        upper = above[at].strip() if at < len(above) else ""
        lower = below[at].strip() if at < len(below) else ""
        over = upper or over
        lower = "" if lower == upper else lower  # one cell that fills both rows
        names.append(" ".join(filter(None, (over if lower or upper else "", lower))))
    return names


def names_of(rows: Sequence[Row], *, certain: bool = False) -> list[str]:
    """The names of the columns of a whole table; empty when it begins with data. `certain`: its
    file says that the first row has them."""
    if len(rows) < 2:
        return []
    longest = 2 * MAX_NAME if is_data(rows[1]) else MAX_NAME
    if not certain and (is_data(rows[0]) or max(map(len, rows[0])) > longest):
        return []
    if not certain and _ENTRY.fullmatch(rows[0][0].strip()):
        return []
    if not certain and columns(rows[0]) == {0} and len(columns(rows[1])) > 1:
        return list(rows[0]) if _UNIT.fullmatch(rows[0][0].strip()) else []  # names a part
    if len(rows) > 2 and goes_on(rows[0], rows[1]):
        return joined(rows[0], rows[1])
    return list(rows[0])


def without_part(names: Sequence[str], rows: Sequence[Row]) -> list[str]:
    """The names without a first one that only names the first part of a table, whose other parts
    are named alike: "Year ended May 31, 2024" over rows, and "Year ended May 31, 2023" further
    down."""
    if not names or not any(map(str.isdecimal, names[0])):
        return list(names)
    part = _NUMBERS.sub("#", names[0].strip())
    alike = any(columns(row) == {0} and _NUMBERS.sub("#", row[0].strip()) == part for row in rows)
    return ["", *names[1:]] if alike else list(names)
