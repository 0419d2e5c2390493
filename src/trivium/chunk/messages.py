"""Cuts conversations and tables: consecutive messages, or rows of one sheet, together up to a size,
each passage with its authors or its header.

`GroupingChunker` is the part that both share: units kept whole and put together in order. Knows
nothing of where messages come from, and nothing of spreadsheets.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

from trivium.chunk.outline import MOST_HEADER, Outline
from trivium.chunk.recursive import MIN_SIZE, RecursiveChunker
from trivium.chunk.sections import chunk_part
from trivium.core.types import Chunk, Element, ElementKind, Extraction
from trivium.ports import Tokens


@dataclass(frozen=True, slots=True)
class Block:
    """A range of the text, from an element's start to the next one's."""

    start: int
    end: int
    tokens: int
    element: Element


@dataclass(slots=True)
class MessageGroup:
    """Neighbouring blocks for one chunk."""

    room: int  # tokens that its text may have
    header: str = ""  # of its table
    blocks: list[Block] = field(default_factory=list)
    tokens: int = 0  # the sum over its blocks: near the truth, which is counted for the chunk

    def append(self, block: Block) -> None:
        self.blocks.append(block)
        self.tokens += block.tokens


class GroupingChunker(ABC):
    """Groups whole elements of one kind while they fit and belong together.

    Headings go with what follows them. The recursive chunker, with its `overlap` and `minimum`,
    splits elements longer than `size` and those of other kinds. A header repeated in front of a
    chunk counts, up to half of the size.
    """

    kind: ElementKind

    def __init__(
        self, tokens: Tokens, size: int = 400, overlap: int = 80, minimum: int = 40
    ) -> None:
        self._recursive = RecursiveChunker(tokens, size, overlap, minimum)
        self._tokens = tokens
        self._size = size
        self._overlap = overlap
        self._minimum = minimum
        self.fingerprint = (
            f"{type(self).__name__}/2 size={size} overlap={overlap} minimum={minimum}"
            f" tokens={tokens.name}"
        )

    @abstractmethod
    def belongs(self, element: Element, run: MessageGroup) -> bool:
        """Whether it continues what the run's last element began."""

    @abstractmethod
    def header(self, run: MessageGroup, text: str) -> str:
        """The header repeated in front of a chunk of this run."""

    def name(self, text: str) -> str:
        """What the later parts of an element that is cut repeat of it."""
        return ""

    def note(self, extraction: Extraction, chunks: Sequence[Chunk]) -> str:
        """Nothing: every character is in a chunk."""
        return ""

    def chunk(self, extraction: Extraction) -> tuple[Chunk, ...]:
        if not extraction.elements:
            return self._recursive.chunk(extraction)
        outline = Outline(extraction)
        chunks: list[Chunk] = []
        for run in self._runs(extraction):
            chunks.extend(self._seal(extraction, outline, run, len(chunks)))
        return tuple(chunks)

    def _runs(self, extraction: Extraction) -> Iterator[MessageGroup]:
        run = MessageGroup(self._size)
        for block in _blocks(extraction, self._tokens):
            header = block.element.header if block.element.kind == self.kind else ""
            room = self._room(header) if header and header != run.header else run.room
            if run.blocks and not self._joins(block, run, room):
                yield run
                run = MessageGroup(self._room(header))
            elif header and not run.header:
                run.room = room
            run.header = run.header or header
            run.append(block)
        yield run

    def _joins(self, block: Block, run: MessageGroup, room: int) -> bool:
        last, element = run.blocks[-1].element, block.element
        if last.kind == "heading":  # it has waited for this, or for a heading below it
            return element.kind != "heading" or element.level > last.level
        if last.kind != self.kind:  # ordinary text: the recursive chunker sees it in one piece
            return element.kind not in (self.kind, "heading")
        fits = run.tokens + block.tokens <= min(room, run.room)
        return element.kind == self.kind and fits and self.belongs(element, run)

    def _room(self, header: str) -> int:
        taken = self._tokens.count(header) if header else 0
        return min(self._size, max(self._size - taken, self._size // 2, MIN_SIZE))

    def _seal(
        self, extraction: Extraction, outline: Outline, run: MessageGroup, index: int
    ) -> Iterator[Chunk]:
        begin, stop = run.blocks[0].start, run.blocks[-1].end
        content = extraction.text[begin:stop]
        start, end = begin + len(content) - len(content.lstrip()), begin + len(content.rstrip())
        if start >= end:
            return  # nothing but white space
        units = sum(block.element.kind == self.kind for block in run.blocks)
        tokens = self._tokens.count(extraction.text[start:end])
        if not units or (tokens > run.room and units == 1):
            elements = [block.element for block in run.blocks]
            splitter = self._splitter(run.room)
            parts = chunk_part(splitter, extraction, begin, stop, elements, index)
            name = self.name(extraction.text[start:end]) if units else ""
            for number, chunk in enumerate(parts):
                named = number and name and name not in chunk.text
                yield replace(chunk, headings=(*chunk.headings, name)) if named else chunk
        elif tokens > run.room:  # the sum said less: rare, and a token or two
            for half in _halves(run):
                for chunk in self._seal(extraction, outline, half, index):
                    yield chunk
                    index = chunk.index + 1
        else:
            yield Chunk(
                index=index,
                start=start,
                end=end,
                text=extraction.text[start:end],
                headings=outline.headings(start, end),
                header=self.header(run, extraction.text)[:MOST_HEADER],
                paragraph=outline.paragraph(start, end),
                tokens=tokens,
                place=outline.place(start, end),
            )

    def _splitter(self, room: int) -> RecursiveChunker:
        if room == self._size:
            return self._recursive
        overlap, minimum = (min(n, room // 4) for n in (self._overlap, self._minimum))
        return RecursiveChunker(self._tokens, room, overlap, minimum)


class MessagesChunker(GroupingChunker):
    """For chats, threads and mailboxes."""

    kind = "message"

    def belongs(self, element: Element, run: MessageGroup) -> bool:
        """One conversation has one path of headings."""
        return element.headings == run.blocks[-1].element.headings

    def header(self, run: MessageGroup, text: str) -> str:
        return ""


def _blocks(extraction: Extraction, tokens: Tokens) -> Iterator[Block]:
    """Together they cover the text."""
    text = extraction.text
    elements = sorted(extraction.elements, key=lambda element: element.start)
    edges: Sequence[int] = [0, *(element.start for element in elements[1:]), len(text)]
    for element, (start, end) in zip(elements, pairwise(edges), strict=True):
        if start < end:
            yield Block(start, end, tokens.count(text[start:end]), element)


def _halves(run: MessageGroup) -> Iterator[MessageGroup]:
    middle = len(run.blocks) // 2
    for blocks in (run.blocks[:middle], run.blocks[middle:]):
        yield MessageGroup(run.room, run.header, blocks, sum(block.tokens for block in blocks))


MOST_NAME = 120  # characters of a row's name


class RowsChunker(GroupingChunker):
    """For spreadsheets and CSV. Every chunk knows its sheet and its first and last row."""

    kind = "row"

    def belongs(self, element: Element, run: MessageGroup) -> bool:
        """The same sheet, and the same header: a row without one after rows that have one is the
        top of another table."""
        last = run.blocks[-1].element
        place = (element.place.sheet, element.headings) == (last.place.sheet, last.headings)
        return place and run.header in ("", element.header)

    def name(self, text: str) -> str:
        """The row's first filled cell."""
        cells = (cell.strip() for cell in text.split(" | "))
        return next((cell[:MOST_NAME] for cell in cells if cell.strip("–")), "")

    def header(self, run: MessageGroup, text: str) -> str:
        """The header row, unless it is printed at the top of the run."""
        for block in run.blocks:
            if block.element.header:
                break
            if run.header and text.startswith(run.header, block.element.start):
                return ""
        return run.header
