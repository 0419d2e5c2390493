"""Writes the rows of a sheet as elements, and finds the header row of each block. Every reader of
tables (CSV, XLSX, XLS, ODS) provides rows of strings. Knows nothing of files."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from trivium.core.errors import FileTooLarge
from trivium.core.types import Place
from trivium.extract.composer import Composer, cut_header, line_of
from trivium.extract.headers import columns, goes_on, is_figure, is_year, joined

MAX_COLUMNS = 16_384  # Excel's own limit
MAX_CELLS = 20_000_000
MAX_HEADER_CELL = 100  # longer ones are prose


class SheetWriter:
    """Writes one sheet to a composer, row by row."""

    def __init__(self, out: Composer, name: str, sheet: str = "") -> None:
        self._out = out
        self._name = name
        self._sheet = sheet
        self._header = ""
        self._names: Sequence[str] = ()  # the header's cells
        self._columns: set[int] = set()  # that the header names
        self._margin = 0
        self._candidate: tuple[int, Sequence[str]] | None = None
        self._over: Sequence[str] = ()  # the row above the candidate: names over several columns
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
            if not self._over and goes_on(self._candidate[1], cells):
                above, self._over = self._candidate
                self._candidate = (number, cells)
                self._margin = min(columns(self._over) | columns(cells))
                self._add(above, self._over, "")
                return
            self._settle(cells)
        if self._fresh and len(filled) > 1:
            self._fresh = False
            if _could_head(cells, filled):
                self._candidate = (number, cells)
                return
            if not columns(cells) <= self._columns:  # another table without its own header
                self._header = ""
        elif self._fresh and len(filled) == 1:  # a title above the table, anywhere
            self._margin = 0
            self._add(number, cells if is_figure(filled[0]) else filled, "")
            return
        self._add(number, cells, self._header)

    def _settle(self, following: Sequence[str]) -> None:
        """Decide about the row held back, now that the one below it is known."""
        assert self._candidate is not None
        number, cells = self._candidate
        self._candidate = None
        names, self._over = (joined(self._over, cells) if self._over else cells), ()
        # Below the first block only figures under words make a header: else it is a gap.
        figures = any(is_figure(cell) for cell in following)
        if self._header and not figures and columns(cells) <= self._columns:
            self._add(number, cells, self._header)
            return
        self._names, self._columns = names, columns(names)
        # A column of labels need not have a name: the row below tells where the table begins.
        self._margin = min(self._columns | columns(following))
        self._header = cut_header(line_of(names[self._margin :]))
        self._add(number, cells, "")

    def _end_block(self) -> None:
        if self._candidate is not None:
            number, cells = self._candidate
            self._candidate = None
            self._over = ()
            self._add(number, cells, self._header)
        self._fresh = True

    def _add(self, number: int, cells: Sequence[str], header: str) -> None:
        place = Place(sheet=self._sheet, rows=(number, number) if number else None)
        shown_cells, first = cells[self._margin :], min(columns(cells))
        if first < self._margin and shown_cells[0].strip():
            # The table begins further left than its first rows said.
            self._margin, shown_cells = first, cells[first:]
            self._header = cut_header(line_of(self._names[first:])) if self._header else ""
            header = self._header if header else ""
        elif first < self._margin:  # a label further left: the others stay under their names
            shown_cells = [" ".join(cells[: self._margin]), *shown_cells[1:]]
        if self._out.add("row", line_of(shown_cells), header=header, place=place):
            self.rows += 1

    def _measure(self, cells: Sequence[str]) -> None:
        self._cells += len(cells)
        if len(cells) > MAX_COLUMNS:
            raise FileTooLarge(
                f"{self._name} has a row of {len(cells):,} columns; the limit is {MAX_COLUMNS:,}."
            )
        if self._cells > MAX_CELLS:
            raise FileTooLarge(f"{self._name} has more than {MAX_CELLS:,} cells.")


def _could_head(cells: Sequence[str], filled: list[str]) -> bool:
    """Words, all different, none of them prose; or two years or more beside a column of labels."""
    if len(set(filled)) != len(filled) or any(len(cell) > MAX_HEADER_CELL for cell in filled):
        return False
    figures = [cell for cell in filled if is_figure(cell)]
    if len(figures) < 2 or figures[0] is cells[0]:
        return not figures
    return all(is_year(cell) for cell in figures)
