"""Reads documents of Pages, Keynote and Numbers: unpacks their parts, which are Snappy streams.

What is in the parts is `iwork_objects`' business, what is before 2013 `iwork_xml`'s. Tables of
Numbers go to numbers-parser, which knows how numbers are shown; what it can't read is read here.
"""

from __future__ import annotations

import re
import tempfile
import warnings
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element

from trivium.core.errors import FileDamaged, FileTooLarge, FormatUnknown
from trivium.core.types import Extraction, Kind, Place
from trivium.extract.composer import Composer, describe
from trivium.extract.iwork_objects import Objects, objects_of, varint
from trivium.extract.iwork_xml import OLD_PARTS, OldDocument
from trivium.extract.ole import locked
from trivium.extract.package import MAX_XML, Package, member_names
from trivium.extract.xlsx import write_sheet
from trivium.ports import Blob, reads

_DOCUMENT = frozenset({"Index/Document.iwa"})
# What its maker drew, and what the program keeps for itself.
_SILENT = (
    "Index/MasterSlide",
    "Index/TemplateSlide",
    "Index/ViewState",
    "Index/DocumentStylesheet",
)
_UNLOCK = "Save a copy without a password in its own program."
_FOLDER = re.compile(r"([^/]+\.(?:pages|key|numbers))/Index\.zip", re.IGNORECASE)
_OF_MACS = ("__MACOSX/", ".DS_Store")


def _is_iwork(blob: Blob) -> bool:
    names = member_names(blob)
    is_named = blob.suffix in (".pages", ".key", ".numbers")
    is_old = is_named and bool(names.intersection(OLD_PARTS))
    return "Index/Document.iwa" in names or is_old or _folder(names) is not None


def _folder(names: Collection[str]) -> re.Match[str] | None:
    """The packed parts of a document that is a folder, if the archive holds nothing else."""
    folder = next(filter(None, map(_FOLDER.fullmatch, names)), None)
    inside = ("" if folder is None else f"{folder[1]}/", *_OF_MACS)
    return folder if folder and all(name.startswith(inside) for name in names) else None


@reads("iwork/6", _is_iwork)
def read_iwork(blob: Blob) -> Extraction:
    """Takes zip archives with the parts of an iWork document: packed since 2013, XML before, or the
    folder that a Mac shows as a document."""
    package = Package(blob)
    folder = _folder(package.names)
    if folder is None:
        return _read(blob, package)
    name = blob.name if blob.suffix in (".pages", ".key", ".numbers") else folder[1]
    inner = replace(blob, name=name, data=package.read(folder[0]) or b"")
    return _read(inner, Package(inner))


def _read(blob: Blob, package: Package) -> Extraction:
    for name in OLD_PARTS:
        root = package.xml(name) if name in package.names else None
        if root is not None:
            return _old(blob, root, name)
    objects = _objects(package, blob.name)
    if blob.suffix == ".numbers":
        return _spreadsheet(blob, objects)
    out = Composer(blob.name)
    slides = objects.slides()
    for number, slide in enumerate(slides, start=1):
        objects.slide(out, slide, Place(pages=(number,)))
    if not slides:
        objects.pages(out, _DOCUMENT)
    program = "keynote" if slides else "pages"
    return out.finish(blob, media_type=f"application/vnd.apple.{program}")


def _objects(package: Package, name: str) -> Objects:
    objects: dict[int, tuple[int, bytes, str]] = {}
    size = 0
    for part in sorted(package.names):
        if part.endswith(".iwa") and not part.startswith(_SILENT):
            try:
                data = _unpacked(package.read(part) or b"")
                objects.update(objects_of(data, part))
            except (IndexError, ValueError) as reason:
                raise FileDamaged(f"{name} is damaged: {part} can't be unpacked.") from reason
            size += len(data)
            if size > MAX_XML:
                raise FileTooLarge(f"{name} unpacks to more than {MAX_XML:,} bytes.")
    return Objects(objects)


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


def _spreadsheet(blob: Blob, objects: Objects) -> Extraction:
    """Every table of a Numbers document as a sheet."""
    try:
        from numbers_parser import Document
    except ImportError:
        raise FormatUnknown(
            f"{blob.name} is a Numbers spreadsheet, and Trivium needs numbers-parser to read it.",
            fix="Run `pip install numbers-parser`, or export it in Numbers as Excel or CSV.",
            on_page="Export it in Numbers as Excel or CSV.",
        ) from None
    tables: list[tuple[str, list[list[str]]]]
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings(action="ignore"):
        path = Path(folder, "document.numbers")
        path.write_bytes(blob.data)
        try:
            tables = [
                (
                    sheet.name if len(sheet.tables) == 1 else f"{sheet.name}: {table.name}",
                    [[_shown(cell) for cell in row] for row in table.iter_rows()],
                )
                for sheet in Document(path).sheets
                for table in sheet.tables
            ]
        except Exception as reason:  # it meets damage with whatever its arithmetic raises
            if "password" in str(reason).lower() or "encrypt" in str(reason).lower():
                raise locked(blob.name, _UNLOCK) from reason
            tables = list(objects.sheets())  # of Numbers before 2014, say
            if not tables:
                raise FormatUnknown(
                    f"{blob.name} is a Numbers spreadsheet that can't be read: it is damaged.",
                    fix="Open it in Numbers and save it, or export it as Excel or CSV.",
                ) from reason
    out = Composer(blob.name)
    for name, rows in tables:
        write_sheet(out, blob.name, name, enumerate(rows, 1), alone=len(tables) == 1)
    return out.finish(
        blob,
        media_type="application/vnd.apple.numbers",
        metadata={"sheets": len(tables)},
        kind=Kind.TABLE,
    )


def _shown(cell: Any) -> str:
    return "" if cell.value is None else str(cell.formatted_value)


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
    size, at = varint(block, 0)
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
