"""Splits text at the largest boundaries that keep every passage within a number of tokens.

Takes whole paragraphs while they fit. Splits a longer one at lines, then sentences, clauses, words,
then anywhere between two characters. Knows nothing of formats: it sees text and elements.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from itertools import pairwise

from trivium.chunk.outline import Outline
from trivium.core.errors import BadSetting
from trivium.core.types import Chunk, Extraction
from trivium.ports import Tokens
from trivium.text import boundaries

MIN_SIZE = 16  # one character is up to four tokens, and a chunk should hold a few
# Longer pieces are cut before anyone counts them: prose has 4 characters a token, and whatever was
# cut too small is put together again. So no text is counted once per level.
CHARS_PER_TOKEN = 4
MAX_CHARS_PER_TOKEN = 16
OVERLAP_CHARS_PER_TOKEN = 6  # how far back a start of the overlap is looked for
WINDOW = 100_000  # characters that are searched for boundaries at once: 15 to 29 ms
# An overlap smaller than this share of the requested one is only a few words without meaning.
LEAST_OVERLAP = 0.25


class _Level(IntEnum):
    BLOCK = 0
    PARAGRAPH = 1
    LINE = 2
    SENTENCE = 3
    CLAUSE = 4
    WORD = 5
    CHARACTERS = 6


@dataclass(slots=True)
class _Piece:
    start: int
    end: int
    level: _Level
    heading: bool
    tokens: int = 0  # 0 until somebody counts them


@dataclass(slots=True)
class _Draft:
    """A chunk's own text, before the overlap."""

    pieces: list[_Piece] = field(default_factory=list)
    tokens: int = 0  # the sum over the pieces: near the truth, which is counted for the chunk
    text_tokens: int = 0  # without headings

    def append(self, piece: _Piece) -> None:
        self.pieces.append(piece)
        self.tokens += piece.tokens
        self.text_tokens += 0 if piece.heading else piece.tokens

    def pop_beginning(self, minimum: int) -> list[_Piece]:
        """Takes out what belongs to the text that follows: headings at the end, with less than the
        minimum below them. Something with text stays, or nothing would ever move on."""
        first = at = len(self.pieces)
        below = 0
        while at and (self.pieces[at - 1].heading or below < minimum):
            at -= 1
            if self.pieces[at].heading:
                first = at
            else:
                below += self.pieces[at].tokens
                if below >= minimum:
                    break
        while first and self.pieces[first - 1].heading:
            first -= 1
        popped = (
            self.pieces[first:] if any(not piece.heading for piece in self.pieces[:first]) else []
        )
        del self.pieces[len(self.pieces) - len(popped) :]
        self.tokens -= sum(piece.tokens for piece in popped)
        self.text_tokens -= sum(piece.tokens for piece in popped if not piece.heading)
        return popped


class RecursiveChunker:
    """The default chunker. Sizes are in tokens; `overlap` is inside `size`."""

    def __init__(
        self,
        tokens: Tokens,
        size: int = 400,
        overlap: int = 80,
        minimum: int = 40,
        *,
        apart: bool = False,
    ) -> None:
        """`apart`: a paragraph that must be split starts in a new chunk."""
        if size < MIN_SIZE:
            raise BadSetting(
                f"A chunk size of {size} is too small.", fix=f"Use {MIN_SIZE} or more."
            )
        for name, value in (("overlap", overlap), ("minimum", minimum)):
            if not 0 <= value <= size // 2:
                raise BadSetting(
                    f"A chunk {name} of {value} doesn't work with a size of {size}.",
                    fix=f"Use 0 to {size // 2}.",
                )
        self._tokens = tokens
        self._size = size
        self._overlap = overlap
        self._minimum = minimum
        self._apart = apart
        self.fingerprint = (
            f"RecursiveChunker/6 size={size} overlap={overlap} minimum={minimum}"
            f" tokens={tokens.name}"
        )

    def chunk(self, extraction: Extraction) -> tuple[Chunk, ...]:
        outline = Outline(extraction)
        chunks: list[Chunk] = []
        for start, end in outline.sections():
            blocks = (
                _Piece(begin, stop, _Level.BLOCK, heading)
                for begin, stop, heading in outline.blocks(start, end)
            )
            drafts = deque(self._drafts(extraction.text, deque(blocks)))
            chunks.extend(self._seal(extraction.text, drafts, outline, len(chunks)))
        return tuple(chunks)

    # --- what each chunk holds of its own ---

    def _drafts(self, text: str, queue: deque[_Piece]) -> list[_Draft]:
        """Pieces of one section put together while they fit. Room for the overlap is kept free,
        but given up to a piece that would otherwise be cut or leave a chunk below the minimum."""
        drafts: list[_Draft] = []
        draft = _Draft()
        while queue:
            piece = queue.popleft()
            if not self._fits(text, piece):
                cut = self._cut(text, piece)
                if self._apart and cut[0].level > _Level.PARAGRAPH and draft.text_tokens:
                    beginning = draft.pop_beginning(0)
                    drafts.append(draft)
                    draft = _Draft()
                    cut = [*beginning, *cut]
                queue.extendleft(reversed(cut))
                continue
            small = not draft.text_tokens or draft.text_tokens < self._minimum
            room = self._size if small or not drafts else self._size - self._overlap
            if draft.tokens + piece.tokens <= room:
                draft.append(piece)
            elif small and piece.level < _Level.WORD:
                queue.extendleft(reversed(self._cut(text, piece)))
            else:
                queue.appendleft(piece)
                queue.extendleft(reversed(draft.pop_beginning(self._minimum)))
                drafts.append(draft)
                draft = _Draft()
        return self._with_tail(drafts, draft)

    def _with_tail(self, drafts: list[_Draft], tail: _Draft) -> list[_Draft]:
        """A last draft below the minimum joins the one before it, at the cost of that one's
        overlap."""
        if not tail.pieces:
            return drafts
        fits = bool(drafts) and drafts[-1].tokens + tail.tokens <= self._size
        if not fits or tail.tokens >= self._minimum:
            return [*drafts, tail]
        for piece in tail.pieces:
            drafts[-1].append(piece)
        return drafts

    def _fits(self, text: str, piece: _Piece) -> bool:
        """Counts the piece, unless its length or its words alone say that it must be cut: no token
        is part of two words."""
        length = piece.end - piece.start
        if length > self._size * MAX_CHARS_PER_TOKEN:
            return False
        if not piece.tokens:
            content = text[piece.start : piece.end]
            if length > self._size * 2 and len(content.split()) > self._size:
                return False
            piece.tokens = self._tokens.count(content)
        return piece.tokens <= self._size or length == 1

    def _cut(self, text: str, piece: _Piece) -> list[_Piece]:
        """The parts of a piece at the next level that has more than one."""
        if piece.end - piece.start > WINDOW:
            return self._cut_roughly(text, piece)
        content = text[piece.start : piece.end]
        for level in _Level:
            if level <= piece.level and level is not _Level.CHARACTERS:
                continue
            if level is _Level.PARAGRAPH:
                starts = boundaries.paragraphs(content)
            elif level is _Level.LINE:
                starts = boundaries.lines(content)
            elif level is _Level.SENTENCE:
                starts = boundaries.sentences(content)
            elif level is _Level.CLAUSE:
                starts = boundaries.clauses(content)
            elif level is _Level.WORD:
                starts = boundaries.words(content)
            else:
                length = min(self._size * CHARS_PER_TOKEN, (len(content) + 1) // 2)
                starts = boundaries.slices(content, length)
            if starts:
                break
        edges = [piece.start, *(piece.start + start for start in starts), piece.end]
        # A line of a table that has one cell names the rows below it.
        has_labels = level is _Level.LINE and " | " in content
        return [
            _Piece(
                start, end, level, piece.heading or (has_labels and " | " not in text[start:end])
            )
            for start, end in pairwise(edges)
        ]

    def _cut_roughly(self, text: str, piece: _Piece) -> list[_Piece]:
        """Windows of a huge piece, at a paragraph, a line or a word if there is one near: looking
        for every boundary in 100 MB at once would keep all other threads waiting."""
        edges = [piece.start]
        while piece.end - edges[-1] > WINDOW:
            begin, stop = edges[-1] + WINDOW // 2, edges[-1] + WINDOW
            breaks = (text.rfind(mark, begin, stop) for mark in ("\n\n", "\n", " "))
            cut = next((at + 1 for at in breaks if at >= 0), None)
            if cut is None:
                cut = edges[-1] + boundaries.slices(text[edges[-1] : stop + 1], WINDOW)[0]
            edges.append(cut)
        edges.append(piece.end)
        return [_Piece(start, end, piece.level, piece.heading) for start, end in pairwise(edges)]

    # --- chunks of them ---

    def _seal(
        self, text: str, drafts: deque[_Draft], outline: Outline, index: int
    ) -> Iterator[Chunk]:
        """Chunks of one section's drafts, each with the overlap that it has room for."""
        before: tuple[int, int] | None = None  # range of the previous chunk
        while drafts:
            draft = drafts.popleft()
            own, end = _trim(text, draft.pieces[0].start, draft.pieces[-1].end)
            if own == end:
                continue  # nothing but white space
            start = own
            if before is not None:  # the end of another section would stand under a wrong heading
                above = max(before[0], outline.last_heading(own)), before[1]
                inside = draft.pieces[0].level >= _Level.WORD
                start = self._start(text, above, own, draft.tokens, inside=inside)
            whole = draft.pieces[0]  # most small documents are one piece: counted already
            is_counted = (start, end) == (whole.start, whole.end)
            tokens = whole.tokens if is_counted else self._tokens.count(text[start:end])
            if tokens > self._size and start < own:
                start, tokens = own, self._tokens.count(text[own:end])
            if tokens > self._size:  # the sum said less: rare, and a token or two
                drafts.extendleft(reversed(self._halve(text, draft)))
                continue
            yield Chunk(
                index=index,
                start=start,
                end=end,
                text=text[start:end],
                headings=outline.headings(own, end),
                header=outline.header(start, end),
                paragraph=outline.paragraph(start, end),
                tokens=tokens,
                place=outline.place(start, end),
            )
            index += 1
            before = (start, end)

    def note(self, extraction: Extraction, chunks: Sequence[Chunk]) -> str:
        """Nothing: every character is in a chunk."""
        return ""

    def _halve(self, text: str, draft: _Draft) -> list[_Draft]:
        pieces = draft.pieces if len(draft.pieces) > 1 else self._cut(text, draft.pieces[0])
        middle = (len(pieces) + 1) // 2
        halves = []
        for part in (pieces[:middle], pieces[middle:]):
            tokens = self._tokens.count(text[part[0].start : part[-1].end])
            halves.append(_Draft(part, tokens))
        return halves

    def _start(
        self, text: str, before: tuple[int, int], own: int, own_tokens: int, *, inside: bool
    ) -> int:
        """Where a chunk starts if it includes the end of the text before it: at a line, else at a
        sentence, else at a word if `inside` a sentence. Never includes all of that; `own` if
        nothing is included."""
        start, end = before
        room = min(self._overlap, self._size - own_tokens)
        least = max(1.0, self._overlap * LEAST_OVERLAP)
        if room < least:
            return own
        window = max(start, end - room * OVERLAP_CHARS_PER_TOKEN)
        content = text[window:end]
        is_row = " | " in content.rstrip().rpartition("\n")[2]  # half of one says nothing
        finders = (boundaries.lines, boundaries.sentences, boundaries.words)
        for find in finders[: 1 if is_row else 2 + inside]:
            used = 0
            chosen = last = len(content)
            for position in reversed(find(content)):
                used += self._tokens.count(content[position:last])
                if used > room:
                    break
                last = position
                if not _is_below_label(content, position):
                    chosen = position
            chosen = _trim(content, chosen, len(content))[0]
            if least <= self._tokens.count(content[chosen:]) <= room:
                return window + chosen
        return own


def _is_below_label(text: str, position: int) -> bool:
    """Whether the row of a table that begins here stands under a line that names it."""
    above = text[:position].removesuffix("\n").rpartition("\n")[2]
    return bool(above.strip()) and " | " not in above and " | " in text[position:].split("\n", 1)[0]


def _trim(text: str, start: int, end: int) -> tuple[int, int]:
    content = text[start:end].rstrip()
    return start + len(content) - len(content.lstrip()), start + len(content)
