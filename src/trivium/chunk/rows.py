"""Splits tables: consecutive rows of one sheet together, up to a size, with their header repeated.
Knows nothing of spreadsheets: it sees rows with a header and a place."""

from __future__ import annotations

from trivium.chunk.messages import GroupingChunker, Run
from trivium.core.types import Element

MOST_NAME = 120  # characters of a row's name


class RowsChunker(GroupingChunker):
    """For spreadsheets and CSV. Every chunk knows its sheet and its first and last row."""

    kind = "row"

    def belongs(self, element: Element, run: Run) -> bool:
        """The same sheet, and the same header: a row without one after rows that have one is the
        top of another table."""
        last = run.blocks[-1].element
        place = (element.place.sheet, element.headings) == (last.place.sheet, last.headings)
        return place and run.header in ("", element.header)

    def name(self, text: str) -> str:
        """The row's first filled cell."""
        cells = (cell.strip() for cell in text.split(" | "))
        return next((cell[:MOST_NAME] for cell in cells if cell.strip("–")), "")

    def header(self, run: Run, text: str) -> str:
        """The header row, unless it is printed at the top of the run."""
        for block in run.blocks:
            if block.element.header:
                break
            if run.header and text.startswith(run.header, block.element.start):
                return ""
        return run.header
