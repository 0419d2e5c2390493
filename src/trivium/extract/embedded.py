"""Finds the files inside an Office document, and the words in its drawings.

Passes files on unchanged, to be read as separate documents. Knows the folders of Office packages
and the wrappers of old programs, nothing of what the files say.
"""

from __future__ import annotations

import posixpath
import re
import struct
import zlib
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import PurePosixPath
from typing import TYPE_CHECKING
from xml.etree.ElementTree import Element

from trivium.core.errors import FileDamaged, ReadError
from trivium.core.types import Enclosed
from trivium.extract.composer import clean
from trivium.extract.ole import is_ole, open_ole, paths, stream
from trivium.extract.package import Package
from trivium.ports import Blob

if TYPE_CHECKING:
    from olefile import OleFileIO

MAX_FILES = 200
MAX_BYTES = 128 << 20  # of all together: they are in memory at once

_FOLDERS = ("word/embeddings/", "ppt/embeddings/", "xl/embeddings/")
_CHARTS = ("word/charts/_rels/", "ppt/charts/_rels/", "xl/charts/_rels/")
_HOLDERS = ("Package", "CONTENTS", "EmbeddedOdf")
_OBJECT_STORAGE = 0x1011
_RTF_OBJECT = re.compile(rb"\\objdata\b([0-9A-Fa-f\s]+)")
_PROGRAMS = (
    ("WordDocument", ".doc"),
    ("Workbook", ".xls"),
    ("Book", ".xls"),
    ("PowerPoint Document", ".ppt"),
    ("__properties_version1.0", ".msg"),
)


def embedded(package: Package, *, charted: bool) -> list[Enclosed]:
    """The files inside a document, by name. `charted`: the reader describes charts itself, so their
    workbooks would repeat them."""
    behind = _behind_charts(package) if charted else frozenset()

    def files() -> Iterator[Enclosed | None]:
        for member in sorted(package.names - behind):
            if member.startswith(_FOLDERS) and not member.endswith("/"):
                with suppress(ReadError):
                    data = package.read(member, MAX_BYTES)
                    yield _unwrapped(posixpath.basename(member), data or b"")

    return _limited(files())


def embedded_in_compound(ole: OleFileIO) -> list[Enclosed]:
    """The files inside an old Word document or workbook: objects in storages of their own. A whole
    document of an old program, spread over such a storage, is left out."""

    def files() -> Iterator[Enclosed | None]:
        for number, path in enumerate(paths(ole), start=1):
            base = f"object-{number}"
            if path[-1] == "\x01Ole10Native":
                yield _native(base, stream(ole, path))
            elif path[-1] in _HOLDERS:
                inside = stream(ole, path)
                yield Enclosed(f"{base}{_suffix(inside)}", inside) if inside else None

    return _limited(files())


def embedded_in_slides(data: bytes) -> list[Enclosed]:
    """The files inside an old presentation: packed compound files among its records ([MS-PPT])."""

    def files() -> Iterator[Enclosed | None]:
        at = 0
        while at + 8 <= len(data):
            version, kind, length = struct.unpack_from("<HHI", data, at)
            if kind == _OBJECT_STORAGE:
                body = data[at + 8 : at + 8 + length]
                if version >> 4:  # packed, behind its size
                    with suppress(zlib.error):
                        body = zlib.decompressobj().decompress(body[4:], MAX_BYTES)
                yield _unwrapped("object", body)
            at += 8 if version & 0xF == 0xF and kind != _OBJECT_STORAGE else 8 + length

    return _limited(files())


def embedded_in_rtf(data: bytes) -> list[Enclosed]:
    """The files inside an RTF document, written as hexadecimal digits ([MS-OLEDS])."""

    def files() -> Iterator[Enclosed | None]:
        for match in _RTF_OBJECT.finditer(data):
            digits = re.sub(rb"[^0-9A-Fa-f]", b"", match[1])
            packed = bytes.fromhex(digits[: len(digits) // 2 * 2].decode())
            try:
                name_size = struct.unpack_from("<I", packed, 8)[0]
                program = packed[12 : 12 + name_size].rstrip(b"\x00")
                at = 12 + name_size
                for _ in range(2):  # topic and item
                    at += 4 + struct.unpack_from("<I", packed, at)[0]
                size = struct.unpack_from("<I", packed, at)[0]
            except struct.error:
                continue
            body = packed[at + 4 : at + 4 + size]
            if program == b"Package":
                yield _native("object", bytes(4) + body)
            else:
                yield _unwrapped("object", body)

    return _limited(files())


def _limited(files: Iterable[Enclosed | None]) -> list[Enclosed]:
    limited: list[Enclosed] = []
    size = 0
    for inner in files:
        if inner is None:
            continue
        size += len(inner.data)
        if size > MAX_BYTES or len(limited) == MAX_FILES:
            break
        limited.append(_distinct(inner, limited))
    return limited


def diagram(root: Element | None) -> list[str]:
    """The words in the boxes of a SmartArt drawing, a line for each."""
    lines = []
    for point in root.iter("pt") if root is not None else ():
        for paragraph in point.iter("p"):
            text = "".join(part.text or "" for part in paragraph.iter("t")).strip()
            if text:
                lines.append(text)
    return lines


def _behind_charts(package: Package) -> frozenset[str]:
    """The workbooks that charts were drawn from."""
    workbooks: set[str] = set()
    for member in package.names:
        if member.startswith(_CHARTS):
            folder, name = posixpath.split(member)
            part = posixpath.join(posixpath.dirname(folder), name.removesuffix(".rels"))
            try:
                workbooks.update(target for _, target in package.relations(part).values())
            except FileDamaged:
                continue
    return frozenset(workbooks)


def _unwrapped(name: str, data: bytes) -> Enclosed | None:
    """The file itself: old programs wrap it in a compound file, as they do with equations and other
    objects that aren't files."""
    if not is_ole(data):
        return Enclosed(name, data) if data.strip() else None
    try:
        with open_ole(Blob(name, data)) as ole:
            return _from_compound(name, data, ole)
    except FileDamaged:
        return None


def _from_compound(name: str, data: bytes, ole: OleFileIO) -> Enclosed | None:
    base = PurePosixPath(name).stem
    if packed := stream(ole, "\x01Ole10Native"):
        return _native(base, packed)
    for program, suffix in _PROGRAMS:
        if ole.exists(program):
            return Enclosed(f"{base}{suffix}", data)
    for holder in _HOLDERS:
        if inside := stream(ole, holder):
            return Enclosed(f"{base}{_suffix(inside)}", inside)
    return None


def _native(base: str, packed: bytes) -> Enclosed | None:
    """What Windows' packager wrapped: label, path, another path, then the bytes ([MS-OLEDS])."""
    try:
        end = packed.index(b"\x00", 6)
        label = packed[6:end]
        end = packed.index(b"\x00", end + 1)  # behind the path
        length = struct.unpack_from("<I", packed, end + 5)[0]
        at = end + 9 + length
        size = struct.unpack_from("<I", packed, at)[0]
    except (ValueError, struct.error):
        return None
    data = packed[at + 4 : at + 4 + size]
    try:
        label_text = label.decode("utf-8")
    except UnicodeDecodeError:
        label_text = label.decode("cp1252", "replace")
    name = clean(label_text).replace("\\", "/").rsplit("/", 1)[-1].strip()[:200]
    return Enclosed(name or f"{base}{_suffix(data)}", data) if data.strip() else None


def _suffix(data: bytes) -> str:
    if data.startswith(b"%PDF-"):
        return ".pdf"
    if not data.startswith(b"PK\x03\x04"):
        return ".bin"
    marks = ((b"word/", ".docx"), (b"xl/", ".xlsx"), (b"ppt/", ".pptx"))
    inside = (suffix for mark, suffix in marks if mark in data[-8192:] or mark in data[:8192])
    return next(inside, ".zip")


def _distinct(inner: Enclosed, others: list[Enclosed]) -> Enclosed:
    """Two files of one name must stay two documents."""
    names = {other.name for other in others}
    path, number = PurePosixPath(inner.name), 1
    name = inner.name
    while name in names:
        number += 1
        name = f"{path.stem}-{number}{path.suffix}"
    return Enclosed(name, inner.data)


def drawn_texts(package: Package, drawing: str) -> Iterator[str]:
    """The words of text boxes, shapes, diagrams and charts on a sheet."""
    root = package.xml(drawing)
    if root is None:
        return
    relations = package.relations(drawing)
    for part in root.iter():
        if part.tag == "txBody":
            paragraphs = ("".join(t.text or "" for t in p.iter("t")) for p in part.iter("p"))
            yield "\n".join(line.strip() for line in paragraphs if line.strip())
        elif part.tag == "relIds":
            target = relations.get(part.get("r:dm", ""), ("", ""))[1]
            yield from diagram(package.xml(target))
        elif part.tag == "chart" and part.get("r:id"):
            target = relations.get(part.get("r:id", ""), ("", ""))[1]
            yield _chart_words(package.xml(target))


def chart(root: Element | None) -> tuple[str, list[list[str]]]:
    """A chart's title, and the figures it was drawn from: a table with a column for each series."""
    if root is None:
        return "", []
    title = root.find("chart/title")
    series = root.findall(".//ser")
    labels = _points(series[0].find("cat")) if series else {}
    columns = [_points(s.find("val")) or _points(s.find("yVal")) for s in series]
    names = [" ".join(v.text or "" for v in s.findall("tx//v")) for s in series]
    places = sorted(set(labels).union(*columns))
    rows = [[labels.get(at, ""), *(column.get(at, "") for column in columns)] for at in places]
    title_text = "" if title is None else " ".join(t.text or "" for t in title.iter("t"))
    return title_text, [["", *names], *rows] if any(names) else rows


def _points(axis: Element | None) -> dict[int, str]:
    if axis is None:
        return {}
    return {
        int(point.get("idx", "0")): point.findtext("v") or ""
        for point in axis.iter("pt")
        if point.get("idx", "0").isdecimal()
    }


def _chart_words(root: Element | None) -> str:
    """The titles of a chart and its axes, and the names of its series: the figures are in cells."""
    if root is None:
        return ""
    titles = [" ".join(t.text or "" for t in title.iter("t")) for title in root.iter("title")]
    names = [" ".join(v.text or "" for v in s.findall("tx//v")) for s in root.iter("ser")]
    lines = [" · ".join(filter(str.strip, titles)), ", ".join(filter(str.strip, names))]
    return "\n".join(
        f"{kind}: {line}" for kind, line in zip(("Chart", "Series"), lines, strict=True) if line
    )
