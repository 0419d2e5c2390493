"""Reads binary Excel workbooks (XLSB) through calamine, as XLSX files are read.

Only these: of XLSX files calamine knows no percentages and keeps a sheet in memory as a whole, so a
single cell in the last row costs gigabytes. The sandbox bounds that here.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from datetime import date, datetime, time, timedelta
from typing import TYPE_CHECKING

from trivium.core.errors import FileDamaged
from trivium.core.types import Extraction, Kind
from trivium.extract.composer import Composer, describe
from trivium.extract.embedded import embedded
from trivium.extract.ole import locked
from trivium.extract.package import Package, member_names
from trivium.extract.properties import office_properties
from trivium.extract.xlsx import write_sheet
from trivium.ports import Blob

if TYPE_CHECKING:
    from python_calamine import CalamineWorkbook


class XlsbExtractor:
    """Takes zip archives with a binary workbook inside."""

    version = "xlsb/2"

    def accepts(self, blob: Blob) -> bool:
        return "xl/workbook.bin" in member_names(blob)

    def extract(self, blob: Blob) -> Extraction:
        from python_calamine import CalamineError, CalamineWorkbook, PasswordError, SheetTypeEnum

        package = Package(blob)  # checks sizes before anything is unpacked
        try:
            book = CalamineWorkbook.from_filelike(io.BytesIO(blob.data))
        except PasswordError as reason:
            raise locked(blob.name) from reason
        except (CalamineError, OSError, ValueError) as reason:
            raise FileDamaged(f"{blob.name} is a damaged Excel workbook.") from reason
        names = [m.name for m in book.sheets_metadata if m.typ == SheetTypeEnum.WorkSheet]
        out = Composer(blob.name)
        for name in names:
            write_sheet(out, blob.name, name, _rows(book, name, blob), alone=len(names) == 1)
        metadata = dict(office_properties(package))
        for unused in ("pages", "language"):
            metadata.pop(unused, None)
        return out.finish(
            blob,
            titles=(str(metadata.pop("title", "")),),
            media_type="application/vnd.ms-excel.sheet.binary.macroenabled.12",
            metadata=describe({**metadata, "sheets": len(names)}),
            kind=Kind.TABLE,
            enclosed=embedded(package, charted=False),
        )


def _rows(book: CalamineWorkbook, name: str, blob: Blob) -> Iterator[tuple[int, list[str]]]:
    from python_calamine import CalamineError

    try:
        rows = book.get_sheet_by_name(name).iter_rows()
    except (CalamineError, OSError, ValueError) as reason:
        raise FileDamaged(f"{blob.name} is a damaged Excel workbook.") from reason
    for number, cells in enumerate(rows, start=1):
        yield number, [_shown(cell) for cell in cells]


def _shown(cell: object) -> str:
    """As `xlsx` shows it."""
    if isinstance(cell, bool):
        return "TRUE" if cell else "FALSE"
    if isinstance(cell, float):
        return f"{cell:.15g}"
    if isinstance(cell, datetime):
        return cell.isoformat(" ")
    if isinstance(cell, timedelta):
        seconds = round(cell.total_seconds())
        return f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"
    return cell.isoformat() if isinstance(cell, date | time) else str(cell)
