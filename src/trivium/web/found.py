"""Passages as the templates show them: snippets with marked pieces, and their places.

Pure; templates escape whatever comes from documents.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from trivium.core.results import Result, Results, SignalPart
from trivium.core.types import Signal, StoredChunk
from trivium.search.multi import shown
from trivium.search.prefer import day_of
from trivium.text.query import parse
from trivium.text.snippet import marks, said_in, snip, without_headings
from trivium.text.times import place_parts
from trivium.text.titles import file_of
from trivium.web.pages import query

SNIPPET = 320  # characters: three lines of 75 on a wide screen, with room to breathe
_PLACES = 4  # of further passages that are named before they are opened
_MOST_NAMED = 2  # authors in a byline
CODE = "text/x-source"
Piece = tuple[str, bool]  # some text, and whether it is marked


@dataclass(frozen=True, slots=True)
class Card:
    """One result, ready to be shown."""

    result: Result
    heading: list[Piece]  # the title
    pieces: list[Piece]
    path: list[Piece]  # headings above the passage, without the title
    place: str  # page, paragraph, rows
    byline: str  # who wrote it, and when
    labels: str
    match: str
    parts: str  # of several queries: each one's match
    address: str  # of the passage in its document

    @property
    def title(self) -> str:
        return self.result.found.document.title

    @property
    def file(self) -> str:
        """The file's name with its nearest two folders."""
        return file_of(self.result.found.document.uri)

    @property
    def is_code(self) -> bool:
        return self.result.found.document.media_type == CODE

    @property
    def link(self) -> str:
        """Where its source shows it; other schemes than the web's are left out: what a document
        names may be a script."""
        link = self.result.found.link
        return link if link.startswith(("https://", "http://")) else ""

    @property
    def signals(self) -> list[tuple[str, str, int]]:
        return named(self.result.signals)


@dataclass(frozen=True, slots=True)
class Group:
    """The results of one document: the best one, and the others below it."""

    best: Card
    more: list[Card]

    def day(self) -> date:
        """When the best passage was written, as far as we know."""
        return day_of(self.best.result.found)

    @property
    def places(self) -> str:
        """Where the others are, the best first; they open below."""
        where = [*dict.fromkeys(card.place.replace(" · ", " ") for card in self.more if card.place)]
        return ", ".join(where[:_PLACES]) + (", …" if len(where) > _PLACES else "")

    def holds(self, rank: int | None) -> bool:
        return any(card.result.rank == rank for card in self.more)


def grouped(cards: Iterable[Card]) -> list[Group]:
    """Group results by document, in the order of each document's best."""
    groups: dict[int, Group] = {}
    for card in cards:
        group = groups.setdefault(card.result.found.document.id, Group(card, []))
        if group.best is not card:
            group.more.append(card)
    return list(groups.values())


def named(signals: Mapping[Signal, SignalPart]) -> list[tuple[str, str, int]]:
    """Which signals found a result: signal, display name and rank."""
    return [(s.value, s.told, signals[s].rank) for s in Signal if s in signals]


def asked_words(results: Results) -> tuple[str, ...]:
    """The words to mark: those of every query, spelling corrected."""
    meant = [a.suggestion or q for q, a in zip(results.queries, results.analyses, strict=True)]
    return words_of(meant)


def words_of(queries: Iterable[str]) -> tuple[str, ...]:
    return tuple(word for text in queries for word in parse(text).words)


def cards(results: Results, queries: Sequence[str], origin: str = "") -> list[Card]:
    """Cards for results. Their links carry `queries`, to mark hits in the document, and `origin`,
    to get back to the search."""
    words = asked_words(results)
    texts = [(r.found.chunk.text, r.found.document.language) for r in results]
    spoken = said_in(texts, words)
    return [card_of(r, words, spoken, address_of(r.found, queries, origin)) for r in results]


def card_of(result: Result, words: tuple[str, ...], stressed: frozenset[str], address: str) -> Card:
    hit = result.found
    body = without_headings(hit.chunk.text, hit.chunk.headings)
    cut = snip(body, words, hit.document.language, SNIPPET, stressed)
    path = " › ".join(hit.chunk.path_under(hit.document.title))
    match, _, parts = shown(result.match, [part.match for part in result.queries]).partition(" ")
    return Card(
        result,
        marked(hit.document.title, words, hit.document.language, stressed),
        pieces(cut.text, cut.marks),
        marked(path, words, hit.document.language, stressed),
        place_of(hit),
        byline_of(hit),
        " / ".join(part for part in (hit.document.collection, hit.document.category) if part),
        match,
        parts if result.queries else "",
        address,
    )


def address_of(passage: StoredChunk, queries: Sequence[str] = (), origin: str = "") -> str:
    pairs = [("passage", str(passage.chunk.index)), *(("q", text) for text in queries)]
    if origin:
        pairs.append(("from", origin))
    return f"/documents/{passage.document.id}?{query(pairs)}#here"


def place_of(passage: StoredChunk) -> str:
    """Where a passage is in its document, in short."""
    chunk = passage.chunk
    parts = [re.sub(r"^(pp?\.) ", "\\1\u00a0", part) for part in place_parts(chunk.place)]
    if chunk.paragraph is not None:
        parts.append(f"¶\u00a0{chunk.paragraph}")  # never at the end of a line without its number
    return " · ".join(parts)


def byline_of(passage: StoredChunk) -> str:
    """Authors and year as in a citation; empty if the document has neither, and for a message: its
    place says who wrote it and when."""
    if passage.chunk.place.authors:
        return ""
    metadata = passage.document.metadata
    authors = metadata.get("authors")
    names = [
        str(author)
        for author in (authors if isinstance(authors, list | tuple) else [authors])
        if author
    ]
    text = f"{names[0]} et al." if len(names) > _MOST_NAMED else " and ".join(names)
    return ", ".join(str(part) for part in (text, metadata.get("year")) if part)


def pieces(text: str, ranges: Iterable[tuple[int, int]]) -> list[Piece]:
    """A text split into marked and unmarked pieces."""
    cut: list[Piece] = []
    at = 0
    for start, end in ranges:
        if start < at:
            continue
        cut += [(text[at:start], False), (text[start:end], True)]
        at = end
    cut.append((text[at:], False))
    return [piece for piece in cut if piece[0]]


def marked(
    text: str, words: tuple[str, ...], language: str, said: frozenset[str] = frozenset()
) -> list[Piece]:
    """A whole text, with the words marked."""
    return pieces(text, marks(text, words, language, said) if words else ())
