"""Finds the text and heading levels inside a Word 97 document: its piece table and styles.

Offsets follow Microsoft's [MS-DOC]. Knows nothing of compound files or elements.
"""

from __future__ import annotations

import re
import struct
from bisect import bisect_right
from collections.abc import Iterator, Mapping

WORD_97 = 0x00C1  # first version with a piece table of Unicode
MAX_PIECES = 500_000

_PARAGRAPH = re.compile("[^\r\x07]*[\r\x07]|[^\r\x07]+\\Z")


class WordLocked(Exception):
    """The document is encrypted."""


class Word97:
    def __init__(self, main: bytes, tables: Mapping[str, bytes]) -> None:
        magic, version = struct.unpack_from("<HH", main, 0)
        if magic not in (0xA5EC, 0xA5DC):
            raise ValueError("not a Word document")
        flags = struct.unpack_from("<H", main, 0x0A)[0]
        if flags & 0x0100:
            raise WordLocked
        self._main = main
        self._table = tables["1Table" if flags & 0x0200 else "0Table"]
        self._modern = version >= WORD_97
        # Character positions where pieces begin, and where they lie: offset, bytes a character.
        self._starts: list[int] = []
        self._pieces: list[tuple[int, int]] = []
        self._text = self._read_pieces() if self._modern else self._read_old()
        self._levels = self._read_levels() if self._modern else ([], [])

    def paragraphs(self) -> Iterator[tuple[str, int]]:
        """Each paragraph with its mark, and its heading level (0 for text)."""
        for match in _PARAGRAPH.finditer(self._text):
            yield match[0], self._level_at(match.end() - 1)

    def _read_old(self) -> str:
        """Word 6 and 95 keep the text in one run, in the code page of Windows."""
        start, end = struct.unpack_from("<II", self._main, 0x18)
        return self._main[start:end].decode("cp1252", "replace")

    def _read_pieces(self) -> str:
        length = struct.unpack_from("<i", self._main, 0x4C)[0]
        start, size = struct.unpack_from("<II", self._main, 0x01A2)
        table = self._table[start : start + size]
        position = 0
        while table[position] == 1:  # properties, not text
            position += 3 + struct.unpack_from("<H", table, position + 1)[0]
        if table[position] != 2:
            raise ValueError("no piece table")
        size = struct.unpack_from("<I", table, position + 1)[0]
        count = min((size - 4) // 12, MAX_PIECES)
        base = position + 5
        bounds = struct.unpack_from(f"<{count + 1}I", table, base)
        parts = []
        total = 0
        for number in range(count):
            field = struct.unpack_from("<I", table, base + 4 * (count + 1) + 8 * number + 2)[0]
            first, last = bounds[number], min(bounds[number + 1], length)
            if first >= last:
                continue
            narrow = bool(field & 0x40000000)
            offset = (field & 0x3FFFFFFF) // (2 if narrow else 1)
            width = 1 if narrow else 2
            raw = self._main[offset : offset + (last - first) * width]
            text = raw.decode("cp1252" if narrow else "utf-16-le", "replace")
            self._starts.append(total)
            total += len(text)
            self._pieces.append((offset, width))
            parts.append(text)
        return "".join(parts)

    def _read_levels(self) -> tuple[list[int], list[int]]:
        """File offsets where paragraphs begin, and the heading level of each."""
        start, size = struct.unpack_from("<II", self._main, 0x0102)
        table = self._table[start : start + size]
        count = max((size - 4) // 8, 0)
        levels: list[tuple[int, int]] = []
        for number in range(count):
            page = struct.unpack_from("<I", table, 4 * (count + 1) + 4 * number)[0] & 0x3FFFFF
            levels.extend(_page_levels(self._main[page * 512 : page * 512 + 512]))
        levels.sort()
        return [offset for offset, _ in levels], [level for _, level in levels]

    def _level_at(self, position: int) -> int:
        at = bisect_right(self._starts, position) - 1
        if at < 0:
            return 0
        offset, width = self._pieces[at]
        place = offset + (position - self._starts[at]) * width
        offsets, levels = self._levels
        paragraph = bisect_right(offsets, place) - 1
        return levels[paragraph] if paragraph >= 0 else 0


def _page_levels(page: bytes) -> Iterator[tuple[int, int]]:
    """One page of paragraph properties: styles 1 to 9 are the built-in headings."""
    if len(page) < 512:
        return
    runs = page[511]
    if runs > 29:
        return
    offsets = struct.unpack_from(f"<{runs + 1}I", page, 0)
    for number in range(runs):
        at = page[4 * (runs + 1) + 13 * number] * 2
        style = 0
        if 0 < at < 508:
            begin = at + 1 if page[at] else at + 2
            style = struct.unpack_from("<H", page, min(begin, 510))[0]
        yield offsets[number], style if 1 <= style <= 9 else 0
