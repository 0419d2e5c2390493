"""Reads Excel workbooks (XLSX, XLSM, XLSB) row by row: values as Excel shows them, dates in ISO
form. Formulas give the value they had when saved. Sheets are streamed, so memory holds one row and
the shared strings. Knows nothing of old XLS files.

Binary workbooks (XLSB) go through calamine. Only these: of XLSX files it knows no percentages and
keeps a sheet in memory as a whole, so a single cell in the last row costs gigabytes. The sandbox
bounds that here.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from contextlib import suppress
from datetime import date, datetime, time, timedelta
from typing import IO
from xml.etree.ElementTree import Element

from trivium.core.errors import FileDamaged, FileTooLarge, FormatUnknown
from trivium.core.types import Extraction, Kind, Place
from trivium.extract.composer import Composer, describe
from trivium.extract.embedded import drawn_texts, embedded
from trivium.extract.ole import locked
from trivium.extract.package import ZIP_ERRORS, Package, member_names, stream_elements
from trivium.extract.properties import office_properties
from trivium.extract.sheets import MAX_COLUMNS, SheetWriter
from trivium.ports import Blob, reads

_MAIN = "xl/workbook.xml"
_REFERENCE = re.compile(r"([A-Z]{1,3})([0-9]{1,7})")
_LITERAL = re.compile(r'"[^"]*"|\\.|\[[^\]]*\]|_.|\*.')  # of a number format
_DATE_FORMATS = frozenset({*range(14, 18), 22, *range(27, 37), *range(50, 59)})
_TIME_FORMATS = frozenset({*range(18, 22), *range(45, 48)})
_PERCENT_FORMATS = frozenset({9, 10})
_MERGED = re.compile(rb'mergeCell\s+ref="([A-Z]{1,3})([0-9]{1,7}):([A-Z]{1,3})([0-9]{1,7})"')
# "Sheet1", "Tabelle1", "Лист1", "工作表1"; letters and a number, as programs call them.
_UNNAMED = re.compile(r"[^\W\d_]*[ _]?\d*")
LONGEST_MERGED = 60  # bytes of such an element
MAX_MERGED = 1000  # rows that one cell fills; more are a layout
MANY_MERGED = 100_000
MAX_STRINGS = 5_000_000


@reads("xlsx/5", lambda blob: _MAIN in member_names(blob))
def read_xlsx(blob: Blob) -> Extraction:
    """Takes zip archives with a workbook inside."""
    package = Package(blob)
    root = package.xml(_MAIN)
    if root is None:
        raise FileDamaged(f"{blob.name} is a workbook without a list of its sheets.")
    relations = package.relations(_MAIN)
    targets = [
        (sheet.get("name", ""), relations.get(sheet.get("r:id", ""), ("", "")))
        for sheet in root.findall("sheets/sheet")
    ]
    sheets = [(name, target) for name, (kind, target) in targets if kind == "worksheet"]
    properties = root.find("workbookPr")
    reader = _Cells(package, properties is not None and properties.get("date1904") in ("1", "true"))
    out = Composer(blob.name)
    for name, target in sheets:
        rows = reader.rows(target, f"{blob.name}, sheet {name}")
        write_sheet(out, blob.name, name, rows, alone=len(sheets) == 1)
        _add_beside(out, package, name, target)
    for name, (kind, target) in targets:
        if kind == "chartsheet":
            out.heading(1, name)
            _add_beside(out, package, name, target)
    return _finished(out, blob, package, len(sheets), charted=True)


@reads("xlsb/3", lambda blob: "xl/workbook.bin" in member_names(blob))
def read_xlsb(blob: Blob) -> Extraction:
    """Takes zip archives with a binary workbook inside."""
    from python_calamine import CalamineError, CalamineWorkbook, PasswordError, SheetTypeEnum

    package = Package(blob)  # checks sizes before anything is unpacked
    out = Composer(blob.name)
    try:
        book = CalamineWorkbook.from_filelike(io.BytesIO(blob.data))
        names = [m.name for m in book.sheets_metadata if m.typ == SheetTypeEnum.WorkSheet]
        for name in names:
            rows = book.get_sheet_by_name(name).iter_rows()
            numbered_rows = ((at, [_shown(cell) for cell in row]) for at, row in enumerate(rows, 1))
            write_sheet(out, blob.name, name, numbered_rows, alone=len(names) == 1)
    except PasswordError as reason:
        raise locked(blob.name) from reason
    except (CalamineError, OSError, ValueError) as reason:
        raise FileDamaged(f"{blob.name} is a damaged Excel workbook.") from reason
    except BaseException as reason:
        if type(reason).__name__ != "PanicException":  # as calamine stops; nothing exports it
            raise
        raise FormatUnknown(
            f"{blob.name} is a binary Excel workbook that the library calamine can't read.",
            fix="Save it as XLSX.",
        ) from reason
    return _finished(out, blob, package, len(names), charted=False)


def _finished(
    out: Composer, blob: Blob, package: Package, sheets: int, *, charted: bool
) -> Extraction:
    metadata = dict(office_properties(package))
    for unused in ("pages", "language"):
        metadata.pop(unused, None)
    form = "sheet" if charted else "sheet.binary.macroenabled.12"
    maker = "openxmlformats-officedocument.spreadsheetml" if charted else "ms-excel"
    return out.finish(
        blob,
        titles=(str(metadata.pop("title", "")),),
        media_type=f"application/vnd.{maker}.{form}",
        metadata=describe({**metadata, "sheets": sheets}),
        kind=Kind.TABLE,
        enclosed=embedded(package, charted=charted),
    )


def _add_beside(out: Composer, package: Package, sheet: str, target: str) -> None:
    for kind, part in package.relations(target).values():
        for text in _beside(package, kind, part):
            out.add("paragraph", text, place=Place(sheet=sheet))


def _beside(package: Package, kind: str, part: str) -> Iterator[str]:
    """What a sheet says outside its cells: in drawings and charts, and in comments."""
    if kind == "drawing":
        yield from drawn_texts(package, part)
    root = package.xml(part) if kind in ("comments", "threadedComment") else None
    if root is None:
        return
    authors = [author.text or "" for author in root.iter("author")]
    for comment in (*root.iter("comment"), *root.iter("threadedComment")):
        number = comment.get("authorId", "")
        has_author = number.isdecimal() and int(number) < len(authors) and kind == "comments"
        author = authors[int(number)] if has_author else ""
        words = "".join(t.text or "" for t in (*comment.iter("t"), *comment.findall("text")))
        words = words.strip().removeprefix(f"{author}:").strip()
        # Excel repeats a discussion as a note for older versions of itself.
        if words and not words.startswith("[Threaded comment]"):
            by = f" by {author}" if author and not author.startswith("tc=") else ""
            yield f"Comment on {comment.get('ref', '')}{by}: {words}"


def _merged(stream: IO[bytes] | None) -> dict[int, list[tuple[int, int]]]:
    """By first row: column and last row of cells that fill several rows. Each of those says what
    the cell says, as in tables of HTML. They stand behind all rows of the sheet, which are read
    one by one, so this looks through it first: a tenth of the time."""
    merged: dict[int, list[tuple[int, int]]] = {}
    if stream is None:
        return merged
    rest, count = b"", 0
    with stream, suppress(RuntimeError, *ZIP_ERRORS):  # whoever reads the rows says what is wrong
        while block := stream.read(1 << 20):
            for match in _MERGED.finditer(rest + block):
                first, last = int(match[2]), int(match[4])
                if first < last < first + MAX_MERGED and match[1] == match[3]:
                    merged.setdefault(first, []).append((_column(match[1].decode()), last))
                    count += 1
            rest = block[-LONGEST_MERGED:]
            if count > MANY_MERGED:
                return {}
    return merged


def write_sheet(
    out: Composer, name: str, sheet: str, rows: Iterator[tuple[int, list[str]]], *, alone: bool
) -> None:
    """A sheet under its name; the only one of a file needs no heading if nobody named it."""
    writer = SheetWriter(out, name, sheet)
    first = next(((n, cells) for n, cells in rows if any(cells)), None)
    if first is None:
        return
    if not alone or not _UNNAMED.fullmatch(sheet):
        out.heading(1, sheet)

    def all_rows() -> Iterator[tuple[int, list[str]]]:
        yield first
        yield from rows

    writer.write(all_rows())


class _Cells:
    """Turns cells into the text that a person sees in them."""

    def __init__(self, package: Package, since_1904: bool) -> None:
        self._package = package
        self._epoch = datetime(1904, 1, 1) if since_1904 else datetime(1899, 12, 30)
        self._strings = self._shared_strings()
        self._formats = self._number_formats()

    def rows(self, target: str, name: str) -> Iterator[tuple[int, list[str]]]:
        stream = self._package.stream(target)
        if stream is None:
            return
        number = 0
        merged = _merged(self._package.stream(target))
        filling: dict[
            int, tuple[int, str]
        ] = {}  # by column: the last row of a merged cell, its text
        for row in stream_elements(stream, name, wanted=frozenset({"row"})):
            row_number = row.get("r", "")
            number = (
                int(row_number)
                if row_number.isdecimal() and int(row_number) > number
                else number + 1
            )
            cells = self._row(row, name)
            for column, (last, text) in filling.items():
                if number <= last:
                    cells += [""] * (column + 1 - len(cells))
                    cells[column] = cells[column] or text
            for column, last in merged.get(number, ()):
                if column < len(cells) and cells[column]:
                    filling[column] = (last, cells[column])
            yield number, cells

    def _row(self, row: Element, name: str) -> list[str]:
        cells: list[str] = []
        for cell in row:
            match = _REFERENCE.fullmatch(cell.get("r", ""))
            column = _column(match[1]) if match else len(cells)
            if column >= MAX_COLUMNS:
                raise FileTooLarge(f"{name} has more than {MAX_COLUMNS:,} columns.")
            text = self._text(cell)
            if text and column >= len(cells):
                cells.extend([""] * (column - len(cells)))
                cells.append(text)
            elif text:
                cells[column] = text
        return cells

    def _text(self, cell: Element) -> str:
        kind = cell.get("t", "n")
        if kind == "inlineStr":
            return _string(cell)
        raw = next((part.text or "" for part in cell if _local(part) == "v"), "")
        if kind == "s":
            return (
                self._strings[int(raw)] if raw.isdecimal() and int(raw) < len(self._strings) else ""
            )
        if kind == "b":
            return "TRUE" if raw == "1" else "FALSE"
        if kind != "n" or not raw:
            return raw  # text of a formula, an error, a date in ISO form
        style = cell.get("s", "")
        return self._number(raw, self._formats.get(int(style) if style.isdecimal() else 0, ""))

    def _number(self, raw: str, look: str) -> str:
        try:
            number = float(raw)
            if look == "percent":
                return f"{number * 100:.10g}%"
            if look in ("date", "time") and 0 <= number < 2_958_466:
                return self._date(number, look)
        except (ValueError, OverflowError):
            return raw
        return f"{number:.15g}" if abs(number) < 1e15 else raw

    def _date(self, number: float, look: str) -> str:
        moment = self._epoch + timedelta(seconds=round(number * 86400))
        if look == "time" and number < 1:
            return f"{moment:%H:%M:%S}"
        return moment.date().isoformat() if number == int(number) else moment.isoformat(" ")

    def _shared_strings(self) -> list[str]:
        stream = self._package.stream("xl/sharedStrings.xml")
        strings: list[str] = []
        if stream is not None:
            for item in stream_elements(stream, "the shared strings", wanted=frozenset({"si"})):
                strings.append(_string(item))
                if len(strings) > MAX_STRINGS:
                    raise FileTooLarge(f"The workbook has more than {MAX_STRINGS:,} strings.")
        return strings

    def _number_formats(self) -> dict[int, str]:
        root = self._package.xml("xl/styles.xml")
        if root is None:
            return {}
        own = {f.get("numFmtId"): f.get("formatCode", "") for f in root.iter("numFmt")}
        used = [xf.get("numFmtId", "0") for xf in root.findall("cellXfs/xf")]
        looks = (look_of(int(i) if i.isdecimal() else 0, own.get(i, "")) for i in used)
        return {at: look for at, look in enumerate(looks) if look}


def look_of(format_id: int, code: str) -> str:
    """Whether a number format shows a date, a time, a percentage, or (empty) the number."""
    if format_id in _DATE_FORMATS:
        return "date"
    if format_id in _TIME_FORMATS:
        return "time"
    bare = _LITERAL.sub("", code).lower().split(";")[0]
    if format_id in _PERCENT_FORMATS or "%" in bare:
        return "percent"
    if "y" in bare or "d" in bare:
        return "date"
    return "time" if "h" in bare or "ss" in bare else ""


def _string(item: Element) -> str:
    """A string in pieces of different looks; the readings of Japanese words left out."""
    parts: list[str] = []

    def collect(element: Element) -> None:
        for child in element:
            name = _local(child)
            if name == "t":
                parts.append(child.text or "")
            elif name in ("r", "is"):
                collect(child)

    collect(item)
    return "".join(parts)


def _local(element: Element) -> str:
    return element.tag.rsplit("}", 1)[-1]


def _column(letters: str) -> int:
    number = 0
    for letter in letters:
        number = number * 26 + ord(letter) - ord("A") + 1
    return number - 1


def _shown(cell: object) -> str:
    """A cell of a binary workbook, as those of the others are shown."""
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
