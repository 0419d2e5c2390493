"""Reads documents of Pages and Keynote: the texts in their packed parts, in the file's order.

The parts are Snappy streams of protocol buffers; texts are in one kind of message. The cells of
Numbers are spread over several: numbers-parser reads those. Knows nothing of styles.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element

from trivium.core.errors import FileDamaged, FormatUnknown
from trivium.core.types import Extraction, Kind, Place
from trivium.extract.composer import Composer, describe
from trivium.extract.iwork_xml import OLD_PARTS, OldDocument
from trivium.extract.ole import locked
from trivium.extract.package import MAX_XML, Package, member_names
from trivium.extract.xlsx import write_sheet
from trivium.ports import Blob, reads

_STORAGE = frozenset({2001, 2005})  # a text with its styles
_TEXT = 3  # the field of it
_SLIDE = re.compile(r"Index/Slide-?(\d*)(?:-\d+)?\.iwa")
# A line's end, a column's, a page's and a section's; an anchor of something inside.
_BREAKS = re.compile(r"[\n\r\x04\x05\x06\x0b\x0c\u2028\u2029]+")
_UNLOCK = "Save a copy without a password in its own program."
_ANCHOR = "\ufffc"


def _is_iwork(blob: Blob) -> bool:
    names = member_names(blob)
    is_named = blob.suffix in (".pages", ".key", ".numbers")
    is_old = is_named and bool(names.intersection(OLD_PARTS))
    return "Index/Document.iwa" in names or is_old


@reads("iwork/4", _is_iwork)
def read_iwork(blob: Blob) -> Extraction:
    """Takes zip archives with the parts of an iWork document: packed since 2013, XML before."""
    package = Package(blob)
    for name in OLD_PARTS:
        root = package.xml(name) if name in package.names else None
        if root is not None:
            return _old(blob, root, name)
    if blob.suffix == ".numbers":
        return _spreadsheet(blob)
    slides = sorted((_number(name), name) for name in package.names if _SLIDE.match(name))
    out = Composer(blob.name)
    for number, (_, name) in enumerate(slides, start=1):
        _add(out, package, blob, name, Place(pages=(number,)))
    if not slides:
        _add(out, package, blob, "Index/Document.iwa", Place())
    program = "keynote" if slides else "pages"
    return out.finish(blob, media_type=f"application/vnd.apple.{program}")


def _old(blob: Blob, root: Element, name: str) -> Extraction:
    out = Composer(blob.name)
    document = OldDocument(out, root, blob.name)
    document.read()
    program = "keynote" if name.endswith(".apxl") else "numbers" if document.sheets else "pages"
    return out.finish(
        blob,
        titles=(document.title,),
        media_type=f"application/vnd.apple.{program}",
        metadata=describe({**document.known, "sheets": document.sheets or ""}),
        kind=Kind.TABLE if document.sheets else Kind.TEXT,
    )


def _add(out: Composer, package: Package, blob: Blob, name: str, place: Place) -> None:
    data = package.read(name) or b""
    try:
        texts = list(_texts(_unpacked(data)))
    except (IndexError, ValueError) as reason:
        raise FileDamaged(f"{blob.name} is damaged: {name} can't be unpacked.") from reason
    is_first = bool(place.pages)
    for text in texts:
        for paragraph in _BREAKS.split(text.replace(_ANCHOR, " ")):
            words = paragraph.strip()
            if words and is_first:
                out.heading(2, words, place)
                is_first = False
            elif words:
                out.add("paragraph", words, place=place)


def _spreadsheet(blob: Blob) -> Extraction:
    """Every table of a Numbers document as a sheet."""
    try:
        from numbers_parser import Document
    except ImportError:
        raise FormatUnknown(
            f"{blob.name} is a Numbers spreadsheet, and Trivium needs numbers-parser to read it.",
            fix="Run `pip install numbers-parser`, or export it in Numbers as Excel or CSV.",
            on_page="Export it in Numbers as Excel or CSV.",
        ) from None
    out = Composer(blob.name)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "document.numbers")
        path.write_bytes(blob.data)
        try:
            named_tables: list[tuple[str, Any]] = [
                (sheet.name if len(sheet.tables) == 1 else f"{sheet.name}: {table.name}", table)
                for sheet in Document(path).sheets
                for table in sheet.tables
            ]
        except Exception as reason:  # it meets damage with whatever its arithmetic raises
            if "password" in str(reason).lower() or "encrypt" in str(reason).lower():
                raise locked(blob.name, _UNLOCK) from reason
            raise FormatUnknown(
                f"{blob.name} is a Numbers spreadsheet that numbers-parser can't read: it is"
                " damaged, or of a Numbers before 2014.",
                fix="Open it in Numbers and save it, or export it as Excel or CSV.",
            ) from reason
    for name, table in named_tables:
        rows = ([_shown(cell) for cell in row] for row in table.iter_rows())
        write_sheet(out, blob.name, name, enumerate(rows, 1), alone=len(named_tables) == 1)
    return out.finish(
        blob,
        media_type="application/vnd.apple.numbers",
        metadata={"sheets": len(named_tables)},
        kind=Kind.TABLE,
    )


def _shown(cell: Any) -> str:
    return "" if cell.value is None else str(cell.formatted_value)


def _number(name: str) -> int:
    match = _SLIDE.match(name)
    return int(match[1] or 0) if match else 0


def _unpacked(data: bytes) -> bytes:
    """The chunks of a part, each a Snappy block behind a zero and three bytes of length."""
    out = bytearray()
    at = 0
    while at + 4 <= len(data):
        length = int.from_bytes(data[at + 1 : at + 4], "little")
        _snappy(data[at + 4 : at + 4 + length], out)
        at += 4 + length
    return bytes(out)


def _snappy(block: bytes, out: bytearray) -> None:
    size, at = _varint(block, 0)
    if len(out) + size > MAX_XML:
        raise ValueError("too large")
    start = len(out)
    while at < len(block):
        tag = block[at]
        at += 1
        if tag & 3 == 0:
            length = tag >> 2
            if length >= 60:
                wide = length - 59
                length = int.from_bytes(block[at : at + wide], "little")
                at += wide
            out += block[at : at + length + 1]
            at += length + 1
            continue
        if tag & 3 == 1:
            length, distance = (tag >> 2 & 7) + 4, (tag & 0xE0) << 3 | block[at]
            at += 1
        else:
            wide = 2 if tag & 3 == 2 else 4
            length, distance = (tag >> 2) + 1, int.from_bytes(block[at : at + wide], "little")
            at += wide
        if not 0 < distance <= len(out) - start or len(out) - start > size:
            raise ValueError("a reference out of range")
        for _ in range(length):
            out.append(out[-distance])


def _texts(part: bytes) -> Iterator[str]:
    """The texts of every message that holds one."""
    at = 0
    while at < len(part):
        length, at = _varint(part, at)
        head = part[at : at + length]
        at += length
        for field, value in _fields(head):
            if field != 2 or not isinstance(value, bytes):
                continue
            described = {
                number: number_value
                for number, number_value in _fields(value)
                if isinstance(number_value, int)
            }
            size = described.get(3, 0)
            if described.get(1) in _STORAGE:
                for number, text in _fields(part[at : at + size]):
                    if number == _TEXT and isinstance(text, bytes):
                        yield text.decode("utf-8", "replace")
            at += size


def _fields(message: bytes) -> Iterator[tuple[int, int | bytes]]:
    at = 0
    while at < len(message):
        key, at = _varint(message, at)
        kind = key & 7
        if kind == 0:
            value, at = _varint(message, at)
            yield key >> 3, value
        elif kind == 2:
            length, at = _varint(message, at)
            yield key >> 3, message[at : at + length]
            at += length
        elif kind in (1, 5):
            at += 8 if kind == 1 else 4
        else:
            raise ValueError("no protocol buffer")


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7
        if shift > 63:
            raise ValueError("a number without end")
