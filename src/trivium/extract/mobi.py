"""Reads MOBI and AZW books: unpacks the text and gives it to the reader of HTML.

Knows PalmDOC's compression; locked books and the rarer compression are refused with a sentence.
"""

from __future__ import annotations

import struct

from trivium.core.errors import FileDamaged, FileLocked, FormatUnknown
from trivium.core.types import Extraction
from trivium.extract.composer import Composer, describe
from trivium.extract.html_tree import TreeReader, parse_html
from trivium.ports import Blob, reads

_PLAIN, _PALM, _HUFF = 1, 2, 17480
_AUTHOR, _DATE, _TITLE = 100, 106, 503  # of the list of properties
MAX_TEXT = 100_000_000


@reads("mobi/2", lambda blob: blob.data[60:68] in (b"BOOKMOBI", b"TEXtREAd"))
def read_mobi(blob: Blob) -> Extraction:
    """Takes databases of Palm's type for books."""
    try:
        source, titles, metadata = _book(blob)
    except (struct.error, IndexError) as reason:
        raise FileDamaged(f"{blob.name} is a damaged MOBI book.") from reason
    out = Composer(blob.name)
    root = parse_html(source) if "<" in source else None
    if root is not None:
        TreeReader(out).read(root)
    else:
        for paragraph in source.split("\n"):
            out.add("paragraph", paragraph)
    return out.finish(
        blob,
        titles=(*titles, out.first_heading),
        media_type="application/x-mobipocket-ebook",
        metadata=describe(metadata),
    )


def _book(blob: Blob) -> tuple[str, list[str], dict[str, object]]:
    data = blob.data
    (count,) = struct.unpack_from(">H", data, 76)
    if not count:
        raise FileDamaged(f"{blob.name} is a MOBI book without text.")
    starts = [struct.unpack_from(">I", data, 78 + 8 * at)[0] for at in range(count)]
    records = [data[a:b] for a, b in zip(starts, [*starts[1:], len(data)], strict=True)]
    head = records[0]
    packing, texts, locked = struct.unpack_from(">HxxxxxxH2xH", head, 0)
    if locked:
        raise FileLocked(f"{blob.name} is a book with copy protection (DRM).")
    if packing not in (_PLAIN, _PALM):
        method = "HUFF/CDIC" if packing == _HUFF else f"unknown ({packing})"
        raise FormatUnknown(
            f"{blob.name} is a MOBI book whose compression ({method}) Trivium can't read.",
            fix="Convert it to EPUB, for example with Calibre.",
        )
    encoding, extra, titles, metadata = "cp1252", 0, [""], {}
    if head[16:20] == b"MOBI":
        length, _, code = struct.unpack_from(">III", head, 20)
        encoding = "utf-8" if code == 65001 else "cp1252"
        at, size_of_title = struct.unpack_from(">II", head, 84)
        titles = [head[at : at + size_of_title].decode(encoding, "replace")]
        if length >= 228 and len(head) > 244:
            (extra,) = struct.unpack_from(">H", head, 242)
        metadata = _properties(head[16 + length :], encoding, titles)
    parts = []
    for record in records[1 : texts + 1]:
        body = _trimmed(record, extra)
        parts.append(_unpacked(body) if packing == _PALM else body)
        if sum(map(len, parts[-1:])) > MAX_TEXT:
            raise FileDamaged(f"{blob.name} unpacks to more than its size allows.")
    return b"".join(parts)[:MAX_TEXT].decode(encoding, "replace"), titles, metadata


def _properties(block: bytes, encoding: str, titles: list[str]) -> dict[str, object]:
    """Author and date; a longer title goes before the one that is known."""
    if block[:4] != b"EXTH":
        return {}
    authors, date = [], ""
    (count,) = struct.unpack_from(">I", block, 8)
    at = 12
    for _ in range(min(count, 500)):
        kind, length = struct.unpack_from(">II", block, at)
        value = block[at + 8 : at + length].decode(encoding, "replace").strip()
        if kind == _AUTHOR:
            authors.append(value)
        elif kind == _DATE:
            date = value
        elif kind == _TITLE:
            titles.insert(0, value)
        at += max(length, 8)
    return {"authors": authors, "date": date}


def _trimmed(record: bytes, extra: int) -> bytes:
    """A record without the entries behind its text, one for each bit that is set."""
    for _ in range((extra >> 1).bit_count()):
        size = 0
        for byte in record[-4:]:
            size = 0 if byte & 0x80 else size
            size = size << 7 | byte & 0x7F
        record = record[:-size] if 0 < size <= len(record) else record
    if extra & 1 and record:
        record = record[: -(record[-1] & 3) - 1]
    return record


def _unpacked(data: bytes) -> bytes:
    """PalmDOC: bytes as they are, runs, a blank and a letter in one, or a repetition."""
    out = bytearray()
    at = 0
    while at < len(data):
        byte = data[at]
        at += 1
        if byte == 0 or 9 <= byte <= 0x7F:
            out.append(byte)
        elif byte <= 8:
            out += data[at : at + byte]
            at += byte
        elif byte >= 0xC0:
            out += bytes((0x20, byte ^ 0x80))
        elif at < len(data):
            pair = (byte << 8 | data[at]) & 0x3FFF
            at += 1
            distance, length = pair >> 3, (pair & 7) + 3
            for _ in range(length if 0 < distance <= len(out) else 0):
                out.append(out[-distance])
    return bytes(out)
