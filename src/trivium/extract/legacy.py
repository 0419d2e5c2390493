"""Reads the files of old Office programs: DOC here with its headings, XLS through xlrd.

PPT is `ppt`'s, MSG is `msg`'s business. DOC gives paragraphs, headings, tables and no pages: old
Word did not write down where they ended.
"""

from __future__ import annotations

import io
import re
import struct
from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from trivium.core.errors import FileDamaged
from trivium.core.types import Enclosed, Extraction, Kind, Metadata
from trivium.extract.composer import Composer, describe
from trivium.extract.embedded import embedded_in_compound
from trivium.extract.ole import has_stream, is_ole, locked, open_ole, stream
from trivium.extract.properties import iso, real_authors
from trivium.extract.text import MAX_TITLE_CHARS
from trivium.extract.word97 import Word97, WordLocked
from trivium.extract.xlsx import write_sheet
from trivium.ports import Blob, reads
from trivium.text.titles import names

if TYPE_CHECKING:
    from olefile import OleFileIO
    from xlrd.book import Book
    from xlrd.sheet import Sheet

# Excel 2 to 5 also wrote workbooks without a compound file around them: the record that begins one.
_BARE_WORKBOOK = tuple(
    bytes.fromhex(record) for record in ("09000400", "09020600", "09040600", "09080800", "09081000")
)
MAX_PROPERTIES = 100  # of a summary; Office writes some twenty

_FIELD_CODE = re.compile("\x13[^\x13\x14\x15]*\x14|\x13[^\x13\x14\x15]*\x15|[\x13-\x15]")
_INVISIBLE = str.maketrans({"\x1e": "‑", "\x1f": "", "\x0b": "\n", "\x0c": "\n", "\xa0": " "})
_OBJECTS = re.compile("[\x01-\x06\x08]")
_BULLET = re.compile(r"[•·▪●○◦–-]\s+")


@reads("doc/2", lambda blob: has_stream(blob, "WordDocument"))
def read_doc(blob: Blob) -> Extraction:
    """Takes compound files with a Word document in them."""
    with open_ole(blob) as ole:
        tables = {name: stream(ole, name) for name in ("0Table", "1Table")}
        main = stream(ole, "WordDocument")
        metadata = dict(summary(ole))
        enclosed = embedded_in_compound(ole)
    try:
        word = Word97(main, tables)
        paragraphs = list(word.paragraphs())
    except WordLocked as reason:
        raise locked(blob.name) from reason
    except (struct.error, IndexError, ValueError, OverflowError) as reason:
        raise FileDamaged(f"{blob.name} is a damaged Word document.") from reason
    out = Composer(blob.name)
    _write(out, paragraphs)
    # A title has a style of its own, which isn't read: it is the first line, if that names it.
    first = out.text[:MAX_TITLE_CHARS].partition("\n")[0]
    return out.finish(
        blob,
        titles=(str(metadata.pop("title", "")), first if names(first) else "", out.first_heading),
        media_type="application/msword",
        metadata=metadata,
        enclosed=enclosed,
    )


def _write(out: Composer, paragraphs: list[tuple[str, int]]) -> None:
    """Paragraphs with their heading levels; runs of cells become tables."""
    cells: list[str] = []
    for raw, level in paragraphs:
        text = plain(raw)
        if raw.endswith("\x07"):
            cells.append(text)
            continue
        if cells:
            out.table(rows_of(cells))
            cells = []
        if level:
            out.heading(level, text)
        elif _BULLET.match(text):
            out.add("list_item", _BULLET.sub("", text, count=1))
        else:
            out.add("paragraph", text)
    if cells:
        out.table(rows_of(cells))


def plain(raw: str) -> str:
    """Text without the codes of fields, pictures and marks."""
    text = raw
    for _ in range(10):  # fields inside fields
        shorter = _FIELD_CODE.sub("", text)
        if shorter == text:
            break
        text = shorter
    return _OBJECTS.sub("", text).translate(_INVISIBLE).strip("\r\x07 \n")


def rows_of(cells: list[str]) -> list[list[str]]:
    """Cells in order, an empty one after the last of each row. The first row tells the width."""
    width = next((at for at, cell in enumerate(cells) if not cell and at), len(cells))
    step = width + 1
    if all(not cells[at] for at in range(width, len(cells), step)):
        return [cells[at : at + width] for at in range(0, len(cells), step)]
    rows: list[list[str]] = [[]]
    for cell in cells:
        if cell:
            rows[-1].append(cell)
        elif rows[-1]:
            rows.append([])
    return rows


def summary(ole: OleFileIO) -> Metadata:
    """Title, author and dates from the summary that every compound file may have. Read here:
    olefile's own reader never ends on a damaged count."""
    try:
        properties = _properties(stream(ole, "\x05SummaryInformation"))
    except (struct.error, IndexError, LookupError, OverflowError):
        return {}
    return describe(
        {
            "title": properties.get(2, ""),
            "subject": properties.get(3, ""),
            "authors": real_authors(properties.get(4, "")),
            "date": iso(properties.get(12, "")),
            "modified": iso(properties.get(13, "")),
        }
    )


def _properties(data: bytes) -> dict[int, str]:
    """Strings and times of a property set, by number ([MS-OLEPS])."""
    if len(data) < 48:
        return {}
    base = struct.unpack_from("<I", data, 44)[0]
    count = min(struct.unpack_from("<I", data, base + 4)[0], MAX_PROPERTIES)
    entries = dict(struct.unpack_from("<II", data, base + 8 + 8 * n) for n in range(count))
    page = struct.unpack_from("<H", data, base + entries[1] + 4)[0] if 1 in entries else 1252
    encoding = "utf-8" if page == 65001 else f"cp{page}"
    properties = {}
    for number, offset in entries.items():
        kind, size = struct.unpack_from("<II", data, base + offset)
        raw = data[base + offset + 8 : base + offset + 8 + size]
        if kind == 30:
            properties[number] = raw.decode(encoding, "replace").strip("\x00 ")
        elif kind == 64:
            ticks = struct.unpack_from("<Q", data, base + offset + 4)[0]
            moment = datetime(1601, 1, 1) + timedelta(seconds=ticks // 10**7)
            properties[number] = moment.isoformat()
    return properties


def _is_xls(blob: Blob) -> bool:
    if blob.data.startswith(_BARE_WORKBOOK):
        return True
    return has_stream(blob, "Workbook", "Book") or _is_damaged_workbook(blob.data)


@reads("xls/4", _is_xls)
def read_xls(blob: Blob) -> Extraction:
    """Takes compound files with a workbook in them."""
    import xlrd

    try:
        book = _book(blob)
    except xlrd.XLRDError as reason:
        if "encrypted" in str(reason).lower() or "password" in str(reason).lower():
            raise locked(blob.name) from reason
        raise FileDamaged(f"{blob.name} is a damaged Excel workbook.") from reason
    except Exception as reason:  # xlrd meets damage with whatever its arithmetic raises
        raise FileDamaged(f"{blob.name} is a damaged Excel workbook.") from reason
    out = Composer(blob.name)
    sheets = book.sheet_names()
    for index, name in enumerate(sheets):
        write_sheet(out, blob.name, name, _rows(blob, book, index), alone=len(sheets) == 1)
    metadata = {}
    enclosed: list[Enclosed] = []
    # xlrd reads what olefile does not; then there is no summary.
    with suppress(FileDamaged), open_ole(blob) as ole:
        metadata = dict(summary(ole))
        enclosed = embedded_in_compound(ole)
    return out.finish(
        blob,
        titles=(str(metadata.pop("title", "")),),
        media_type="application/vnd.ms-excel",
        metadata={**metadata, "sheets": len(sheets)},
        kind=Kind.TABLE,
        enclosed=enclosed,
    )


def _book(blob: Blob) -> Book:
    import xlrd

    try:
        return xlrd.open_workbook(file_contents=blob.data, on_demand=True, logfile=io.StringIO())
    except xlrd.compdoc.CompDocError:  # two streams claim one sector: Excel opens such files
        return xlrd.open_workbook(
            file_contents=blob.data,
            on_demand=True,
            logfile=io.StringIO(),
            ignore_workbook_corruption=True,
        )


def _is_damaged_workbook(data: bytes) -> bool:
    """A compound file that olefile does not open, with a workbook in its directory. xlrd has a
    reader of its own, which takes more."""
    if not is_ole(data) or "Workbook".encode("utf-16-le") not in data:
        return False
    try:
        with open_ole(Blob("", data)):
            return False
    except FileDamaged:
        return True


def _rows(blob: Blob, book: Book, index: int) -> Iterator[tuple[int, list[str]]]:
    try:
        sheet = book.sheet_by_index(index)
    except Exception as reason:  # as above
        raise FileDamaged(f"{blob.name} is a damaged Excel workbook.") from reason
    for number in range(sheet.nrows):
        columns = range(sheet.row_len(number))
        yield number + 1, [_cell(sheet, number, column, book.datemode) for column in columns]
    book.unload_sheet(index)


def _cell(sheet: Sheet, row: int, column: int, datemode: int) -> str:
    import xlrd

    cell = sheet.cell(row, column)
    if cell.ctype == xlrd.XL_CELL_DATE:
        try:
            moment = xlrd.xldate_as_datetime(cell.value, datemode)
        except (ValueError, OverflowError, xlrd.XLDateError):
            return f"{cell.value:.15g}"
        if cell.value < 1:
            return f"{moment:%H:%M:%S}"
        whole = cell.value == int(cell.value)
        return str(moment.date().isoformat() if whole else moment.isoformat(" ", "seconds"))
    if cell.ctype == xlrd.XL_CELL_NUMBER:
        return f"{cell.value:.15g}"
    if cell.ctype == xlrd.XL_CELL_BOOLEAN:
        return "TRUE" if cell.value else "FALSE"
    if cell.ctype == xlrd.XL_CELL_ERROR:
        return str(xlrd.error_text_from_code.get(cell.value, "#ERROR"))
    return str(cell.value)
