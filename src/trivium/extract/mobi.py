"""Reads MOBI and AZW books: unpacks the text and gives it to the reader of HTML.

Knows both compressions, PalmDOC's and Huffman's, and the newer form (KF8), where styles follow the
text. Books with copy protection are refused with a sentence.
"""

from __future__ import annotations

import re
import struct

from trivium.core.errors import FileDamaged, FileLocked, FormatUnknown
from trivium.core.types import Extraction
from trivium.extract.composer import Composer, describe
from trivium.extract.html_tree import TreeReader, parse_html
from trivium.ports import Blob, reads

_PLAIN, _PALM, _HUFF = 1, 2, 17480
_AUTHOR, _DATE, _TITLE = 100, 106, 503  # of the list of properties
MAX_TEXT = 100_000_000
MAX_NESTED = 32  # of words packed within words
_KF8 = 8
# KF8 is a row of documents, each followed by the parts that belong into it: one page of all.
_FRAME = re.compile(
    r"<\?xml[^>]*>|<!DOCTYPE[^>]*>|<head\b.*?</head>|<head\b[^>]*/>|</?(?:html|body)\b[^>]*>",
    re.DOTALL,
)


@reads("mobi/3", lambda blob: blob.data[60:68] in (b"BOOKMOBI", b"TEXtREAd"))
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
        raise FileLocked(
            f"{blob.name} is a book with copy protection (DRM).",
            fix="Only its shop's own reader opens it: add a copy without protection.",
        )
    if packing not in (_PLAIN, _PALM, _HUFF):
        raise FormatUnknown(
            f"{blob.name} is a MOBI book whose compression ({packing}) Trivium can't read.",
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
    words = _Words(records, *struct.unpack_from(">II", head, 112)) if packing == _HUFF else None
    text = bytearray()
    for record in records[1 : texts + 1]:
        body = _trimmed(record, extra)
        if words is not None:
            text += words.unpacked(body)
        else:
            text += _unpacked(body) if packing == _PALM else body
        if len(text) > MAX_TEXT:
            raise FileDamaged(f"{blob.name} unpacks to more than its size allows.")
    if head[16:20] == b"MOBI" and struct.unpack_from(">I", head, 36)[0] == _KF8:
        source = bytes(text[: _end_of_text(records, head)]).decode(encoding, "replace")
        return f"<html><body>{_FRAME.sub('', source)}</body></html>", titles, metadata
    return bytes(text).decode(encoding, "replace"), titles, metadata


def _end_of_text(records: list[bytes], head: bytes) -> int | None:
    """Where styles and drawings begin, as the list of parts has it."""
    at = struct.unpack_from(">I", head, 192)[0] if len(head) >= 196 else 0
    parts = records[at] if at < len(records) else b""
    return struct.unpack_from(">I", parts, 16)[0] if parts[:4] == b"FDST" else None


class _Words:
    """Huffman's codes, each of which is a word; a word may be packed itself."""

    def __init__(self, records: list[bytes], first: int, count: int) -> None:
        codes, *lists = records[first : first + count] or [b""]
        if codes[:4] != b"HUFF":
            raise IndexError("no table of codes")
        short, long = struct.unpack_from(">II", codes, 8)
        # By the first eight bits: length, whether that is all, and the largest code.
        self._short = [
            (entry & 0x1F, bool(entry & 0x80), ((entry >> 8) + 1 << 32 - (entry & 0x1F)) - 1)
            for entry in struct.unpack_from(">256I", codes, short)
        ]
        limits = struct.unpack_from(">64I", codes, long)
        self._least = [0, *(limits[2 * bits] << 31 - bits for bits in range(32))]
        self._most = [0, *((limits[2 * bits + 1] + 1 << 31 - bits) - 1 for bits in range(32))]
        self._packed: list[tuple[bytes, bool]] = []  # every word, and whether it is as it is read
        for record in lists:
            total, bits = struct.unpack_from(">II", record, 8)
            for at in range(min(1 << min(bits, 16), total - len(self._packed))):
                (start,) = struct.unpack_from(">H", record, 16 + 2 * at)
                (length,) = struct.unpack_from(">H", record, 16 + start)
                word = record[18 + start : 18 + start + (length & 0x7FFF)]
                self._packed.append((word, bool(length & 0x8000)))
        self._known: dict[int, bytes] = {}

    def unpacked(self, data: bytes, depth: int = 0) -> bytes:
        if depth > MAX_NESTED:
            raise IndexError("words within words")
        out = bytearray()
        # Of a record's 32,000 bits 32 are looked at: a number of all would be shifted each time.
        padded = data + bytes(8)
        at, last = 0, 8 * len(data)
        while at < last and len(out) <= MAX_TEXT:
            window = int.from_bytes(padded[at // 8 : at // 8 + 8], "big")
            code = window >> 32 - at % 8 & 0xFFFFFFFF
            length, is_all, most = self._short[code >> 24]
            if not is_all:
                while code < self._least[length]:
                    length += 1
                most = self._most[length]
            at += length
            if at > last or not length:
                break
            out += self._word(most - code >> 32 - length, depth)
        return bytes(out)

    def _word(self, number: int, depth: int) -> bytes:
        if number not in self._known:
            word, is_read = self._packed[number]
            self._known[number] = word if is_read else self.unpacked(word, depth + 1)
        return self._known[number]


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
    # Calibre writes these two where it knows nothing.
    authors = [author for author in authors if author != "Unknown"]
    return {"authors": authors, "date": "" if date.startswith("0101-01-01") else date}


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
