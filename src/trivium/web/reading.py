"""Lays out a document's text for reading: headings, paragraphs, tables, with the words marked.

The library keeps a document as one text with passages; its structure shows in the lines (blank
lines between blocks, cells divided by bars). Pure; knows nothing of templates.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from trivium.core.types import StoredChunk
from trivium.text.snippet import marks
from trivium.web.found import CODE, Piece, pieces

REACH = 6_000  # characters shown before and after the passage: some four screens
_CELLS = " | "
_BLANK = re.compile(r"\n[ \t]*(?:\n[ \t]*)+")
_CELL = re.compile(r"(?:^|(?<= ))\|(?= |$)")


@dataclass(frozen=True, slots=True)
class TextBlock:
    """A heading, a paragraph (lines are kept), a table (rows of cells) or code (as it is)."""

    kind: str
    lines: list[list[Piece]] = field(default_factory=list)
    rows: list[list[list[Piece]]] = field(default_factory=list)
    head: list[str] = field(default_factory=list)  # of a table that began before


@dataclass(frozen=True, slots=True)
class Section:
    """A run of blocks: the passage itself, or the text around it."""

    index: int | None  # of the passage; None: around it
    blocks: list[TextBlock]


@dataclass(frozen=True, slots=True)
class ShownText:
    sections: list[Section]
    earlier: int | None  # passage to go to for what comes before; None: it is all here
    later: int | None
    start: int = 0  # of what is shown, in the document's text
    text: str = ""  # what is shown, in one string


def read(
    text: str,
    passages: Sequence[StoredChunk],
    index: int | None,
    words: tuple[str, ...],
    cited: tuple[int, int] | None = None,
) -> ShownText:
    """The text around a passage, with the passage as a section of its own; without one, the
    beginning. Marks the words, or instead the range of the passage that an answer cites."""
    chosen = next((p for p in passages if p.chunk.index == index), None)
    centre = (chosen.chunk.start, chosen.chunk.end) if chosen else (0, 0)
    shown = [p for p in passages if _near(p, centre)]
    start = min([p.chunk.start for p in shown], default=0)
    end = max([p.chunk.end for p in shown], default=len(text))
    if shown and shown[0] is passages[0]:
        start = 0
    if shown and shown[-1] is passages[-1]:
        end = len(text)
    language = passages[0].document.language if passages else ""
    marked = [(a + start, b + start) for a, b in marks(text[start:end], words, language)]
    if cited is not None and chosen:
        marked = [(chosen.chunk.start + cited[0], min(chosen.chunk.start + cited[1], centre[1]))]
    is_code = bool(passages) and passages[0].document.media_type == CODE
    page = _Page(text, marked, {h for p in shown for h in p.chunk.headings}, is_code)
    parts: list[tuple[int | None, int, int, str]] = [(None, start, end, "")]
    if chosen:
        c = chosen.chunk
        parts = [
            (None, start, c.start, ""),
            (c.index, c.start, c.end, c.header),
            (None, c.end, end, _header_after(passages, c.end)),
        ]
    sections = [Section(at, page.blocks(a, b, header)) for at, a, b, header in parts if a < b]
    return ShownText(
        [section for section in sections if section.blocks],
        shown[0].chunk.index - 1 if start > 0 else None,
        shown[-1].chunk.index + 1 if end < len(text) and shown else None,
        start,
        text[start:end],
    )


def _near(passage: StoredChunk, centre: tuple[int, int]) -> bool:
    c = passage.chunk
    return c.end > centre[0] - REACH and c.start < centre[1] + REACH


def _header_after(passages: Sequence[StoredChunk], at: int) -> str:
    """The header of a table that continues here, if one does."""
    return next((p.chunk.header for p in passages if p.chunk.start <= at < p.chunk.end), "")


class _Page:
    """Splits ranges of a text into blocks, with the same marks throughout."""

    def __init__(
        self, text: str, marked: Sequence[tuple[int, int]], headings: Collection[str], is_code: bool
    ) -> None:
        self._is_code = is_code
        self._text = text
        self._marked = marked
        self._headings = headings

    def blocks(self, start: int, end: int, header: str) -> list[TextBlock]:
        if self._is_code:
            return (
                [TextBlock("code", [self._cut(start, end)])]
                if self._text[start:end].strip()
                else []
            )
        blocks: list[TextBlock] = []
        at = start
        for gap in [*_BLANK.finditer(self._text, start, end), None]:
            upto = gap.start() if gap else end
            if self._text[at:upto].strip():
                blocks += self._block(at, upto, header)
                header = ""  # a table's header goes with the first block alone
            at = gap.end() if gap else end
        return blocks

    def _block(self, start: int, end: int, header: str) -> list[TextBlock]:
        if self._text[start:end].strip() in self._headings:
            return [TextBlock("heading", [self._cut(start, end)])]
        blocks: list[TextBlock] = []
        for a, b in self._lines(start, end):
            is_row = _CELLS in f" {self._text[a:b]} "
            kind = "table" if is_row or (header and not blocks) else "paragraph"
            if not blocks or blocks[-1].kind != kind:
                head = [c.strip() for c in header.split(_CELLS)] if header and not blocks else []
                blocks.append(TextBlock(kind, head=head if kind == "table" else []))
            if kind == "table":
                blocks[-1].rows.append(self._cells(a, b))
            else:
                blocks[-1].lines.append(self._cut(a, b))
        return blocks

    def _lines(self, start: int, end: int) -> list[tuple[int, int]]:
        ranges, at = [], start
        for line in self._text[start:end].splitlines(keepends=True):
            bare = line.rstrip()
            if bare:
                ranges.append((at, at + len(bare)))
            at += len(line)
        return ranges

    def _cells(self, start: int, end: int) -> list[list[Piece]]:
        bars = [m.start() for m in _CELL.finditer(self._text, start, end)]
        edges = [start, *(edge for bar in bars for edge in (bar, bar + 1)), end]
        ranges = zip(edges[::2], edges[1::2], strict=True)
        return [self._cut(*self._stripped(a, b)) for a, b in ranges]

    def _stripped(self, start: int, end: int) -> tuple[int, int]:
        cell = self._text[start:end]
        return start + len(cell) - len(cell.lstrip()), end - (len(cell) - len(cell.rstrip()))

    def _cut(self, start: int, end: int) -> list[Piece]:
        if end <= start:
            return []
        # Cut to this line: a sentence may run over several.
        met = ((max(a, start) - start, min(b, end) - start) for a, b in self._marked)
        inside = [(a, b) for a, b in met if a < b]
        return pieces(self._text[start:end], inside)
