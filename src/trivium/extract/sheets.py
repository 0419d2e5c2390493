"""Writes the rows of a sheet as elements, finding the header row of each block on the way.

Every reader of tables (CSV, XLSX, XLS, ODS) brings rows of strings; knows nothing of files.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from trivium.errors import FileTooLarge
from trivium.extract.composer import Composer, cut_header, line_of
from trivium.types import Place

MAX_COLUMNS = 16_384  # Excel's own limit
MAX_CELLS = 20_000_000
MAX_HEADER_CELL = 100  # longer ones are prose

_FIGURE = re.compile(
    r"[-+(]?\s*[$€£¥]?\s*[-+]?\d[\d.,'\s ]*(?:[eE][-+]?\d+)?\s*[%€$£)]?"
    r"|\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}(?:[T ][\d:.]+Z?)?|\d{1,2}:\d\d(?::\d\d)?|TRUE|FALSE"
)
_YEAR = re.compile(r"(?:19|20)\d\d")


class SheetWriter:
    """One sheet on its way into a composer, row by row."""

    def __init__(self, out: Composer, name: str, sheet: str = "") -> None:
        self._out = out
        self._name = name
        self._sheet = sheet
        self._header = ""
        self._columns: set[int] = set()  # that the header names
        self._margin = 0
        self._candidate: tuple[int, Sequence[str]] | None = None
        self._fresh = True  # at the top of a block of rows
        self._cells = 0
        self.rows = 0

    def write(self, rows: Iterable[tuple[int, Sequence[str]]]) -> None:
        """Rows by number, rising; empty ones may be left out, they end a block. A header that is
        no row of the file itself has the number 0."""
        last = 0
        for number, cells in rows:
            self._measure(cells)
            filled = [cell for cell in cells if cell.strip()]
            if not filled:
                continue
            if number != last + 1:
                self._end_block()
            last = number
            self._row(number, cells, filled)
        self._end_block()

    def _row(self, number: int, cells: Sequence[str], filled: list[str]) -> None:
        if self._candidate is not None:
            self._settle(cells)
        if self._fresh and len(filled) > 1:
            self._fresh = False
            if _could_head(cells, filled):
                self._candidate = (number, cells)
                return
            if not _columns(cells) <= self._columns:  # another table, without a header of its own
                self._header = ""
        elif self._fresh and len(filled) == 1:  # a title above the table, wherever it stands
            self._add(number, cells if _FIGURE.fullmatch(filled[0].strip()) else filled, "")
            return
        self._add(number, cells, self._header)

    def _settle(self, following: Sequence[str]) -> None:
        """Decide about the row held back, now that the one below it is known."""
        assert self._candidate is not None
        number, cells = self._candidate
        self._candidate = None
        # Below the first block only figures under words make a header: else it is a gap.
        figures = any(_FIGURE.fullmatch(cell.strip()) for cell in following)
        if self._header and not figures and _columns(cells) <= self._columns:
            self._add(number, cells, self._header)
            return
        self._columns = _columns(cells)
        # A column of labels need not have a name: the row below tells where the table begins.
        self._margin = min(self._columns | _columns(following))
        self._header = cut_header(line_of(cells[self._margin :]))
        self._add(number, cells, "")

    def _end_block(self) -> None:
        if self._candidate is not None:
            number, cells = self._candidate
            self._candidate = None
            self._add(number, cells, self._header)
        self._fresh = True

    def _add(self, number: int, cells: Sequence[str], header: str) -> None:
        place = Place(sheet=self._sheet, rows=(number, number) if number else None)
        # Columns left of the table hold nothing in it. What stands there all the same joins the
        # first cell: the others stay under their names.
        shown = cells[self._margin :]
        if any(cells[: self._margin]):
            first = " ".join([*cells[: self._margin], *shown[:1]])
            shown = [first, *shown[1:]]
        if self._out.add("row", line_of(shown), header=header, place=place):
            self.rows += 1

    def _measure(self, cells: Sequence[str]) -> None:
        self._cells += len(cells)
        if len(cells) > MAX_COLUMNS:
            raise FileTooLarge(
                f"{self._name} has a row of {len(cells):,} columns, the limit is {MAX_COLUMNS:,}."
            )
        if self._cells > MAX_CELLS:
            raise FileTooLarge(f"{self._name} has more than {MAX_CELLS:,} cells.")


def _could_head(cells: Sequence[str], filled: list[str]) -> bool:
    """Words, all different, none of them prose; or two years or more beside a column of labels."""
    if len(set(filled)) != len(filled) or any(len(cell) > MAX_HEADER_CELL for cell in filled):
        return False
    figures = [cell for cell in filled if _FIGURE.fullmatch(cell.strip())]
    if len(figures) < 2 or figures[0] is cells[0]:
        return not figures
    return all(_YEAR.fullmatch(cell.strip()) for cell in figures)


def _columns(cells: Sequence[str]) -> set[int]:
    return {at for at, cell in enumerate(cells) if cell.strip()}
