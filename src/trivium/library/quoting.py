"""Finds the document, page and paragraph that a pasted sentence or paragraph comes from.

The rarest words of the quotation propose passages; an alignment word by word decides. Knows nothing
of language models: it needs none, and no embedding model either.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from trivium.answer.quotation import Alignment, Word, align, quoted_words
from trivium.core.answers import Quotation, QuotedPlace
from trivium.core.errors import BadValue
from trivium.core.types import OWNER, ChunkId, Probe, Signal, StoredChunk, Where
from trivium.library.asking import Scope
from trivium.operations.quoting import LONGEST_QUOTE
from trivium.operations.searching import Filters
from trivium.ports import Backend
from trivium.text.normalise import words as folded
from trivium.text.query import parse

CANDIDATES = 40  # passages whose words are counted
COMPARED = 10  # of these, passages that are compared word by word
RAREST = 24  # words that are looked up
NEAREST = 5  # passages that are compared again with the text around them
FEWEST_WORDS = 4  # fewer stand in many documents by chance
# The share of words that must be kept, up to so many words: in a short sentence chance has more
# room. `python -m bench.quote` measured it (docs/log.md).
LEAST_KEPT = ((7, 0.75), (15, 0.62))
LEAST_OF_LONG = 0.6


class Quoting:
    def __init__(self, backend: Backend, scope: Scope) -> None:
        self._backend = backend
        self._scope = scope

    def find(
        self, text: str, limit: int = 3, *, filters: Filters = Filters(), within: Where = OWNER
    ) -> Quotation:
        """Find the document, page and paragraph that a pasted sentence or paragraph comes from, and
        the words that were changed; the nearest first. No places: it isn't in the documents, but
        nearly the same words with other figures or dates may be."""
        words, whole = quoted_words(text[:LONGEST_QUOTE])
        if len(words) < FEWEST_WORDS:
            raise BadValue(
                f"{len(words)} words are too few to find where they come from.",
                fix=f"Paste a sentence of {FEWEST_WORDS} words or more.",
            )
        visible = self._scope.within(within, filters)
        near = [
            (alignment, chunk)
            for alignment, chunk in self._nearest(words, whole, visible)
            if alignment.kept >= _least(len(words))
        ]
        same = [pair for pair in near if not pair[0].has_other_figures]
        places = self._best(same or near, max(1, limit), visible)
        return Quotation(places) if same else Quotation((), places)

    def _best(
        self, near: Sequence[tuple[Alignment, StoredChunk]], limit: int, within: Where
    ) -> tuple[QuotedPlace, ...]:
        """The nearest place of each document."""
        places: dict[int, QuotedPlace] = {}
        for alignment, chunk in near:
            document = chunk.document.id
            if document not in places or alignment.kept > places[document].kept:
                places[document] = self._place(alignment, chunk, within)
        best = sorted(places.values(), key=lambda place: (-place.kept, place.document))
        # Another document that has clearly less of it is about the same, not the source.
        return tuple(place for place in best if place.kept >= best[0].kept - 0.1)[:limit]

    def _nearest(
        self, words: Sequence[Word], whole: str, within: Where
    ) -> list[tuple[Alignment, StoredChunk]]:
        """Compares the candidates, and the best of them again with the text around them: a sentence
        may begin in one passage and end in the next."""
        chunks, wanted = self._candidates(words, within), set(folded(whole))
        shared = {chunk.id: len(wanted.intersection(folded(chunk.chunk.text))) for chunk in chunks}
        chunks = sorted(chunks, key=lambda chunk: (-shared[chunk.id], chunk.id))[:COMPARED]
        first = [(a, c) for c in chunks if (a := align(words, whole, c.chunk.text)) is not None]
        first.sort(key=lambda pair: (-pair[0].kept, pair[1].id))
        nearest, texts = [], dict[int, str]()
        for near, passage in first[:NEAREST]:
            if near.kept == 1:
                nearest.append((_moved(near, passage.chunk.start), passage))
                continue
            document = passage.document.id
            if document not in texts:
                texts[document] = self._backend.documents.text(document, within) or ""
            room = len(whole) + 200
            begin = max(0, passage.chunk.start - room)
            around = align(words, whole, texts[document][begin : passage.chunk.end + room])
            best = near if around is None or around.kept <= near.kept else around
            nearest.append((_moved(best, passage.chunk.start if best is near else begin), passage))
        return nearest

    def _candidates(self, words: Sequence[Word], within: Where) -> list[StoredChunk]:
        distinct = list(dict.fromkeys(word.text for word in words))
        rare = dict(zip(distinct, self._backend.signals.rarities(distinct, within), strict=True))
        chosen = sorted(distinct, key=lambda word: (-rare[word], word))[: 2 * RAREST]
        # A word that no document has may be an edit; it finds nothing, and costs nothing.
        ids: dict[ChunkId, None] = {}
        for some in (chosen[:RAREST], chosen[RAREST:]):
            query = parse(" ".join(some))
            if some and (len(ids) < CANDIDATES):
                hits = self._backend.signals.search(
                    Signal.KEYWORD, Probe(query), within, CANDIDATES
                )
                ids |= dict.fromkeys(hit.chunk_id for hit in hits)
        return self._backend.documents.chunks(list(ids)[:CANDIDATES], within)

    def _place(self, near: Alignment, chunk: StoredChunk, within: Where) -> QuotedPlace:
        """The passage in which it begins, which may be a neighbour of the one that was found."""
        passages = self._backend.documents.passages(chunk.document.id, within)
        holding = [p for p in passages if p.chunk.start <= near.start < p.chunk.end]
        start = max(holding, key=lambda p: p.chunk.start, default=chunk)
        ending = [p for p in passages if p.chunk.start < near.end <= p.chunk.end]
        end = min(ending, key=lambda p: p.chunk.start, default=start)
        text = self._backend.documents.text(chunk.document.id, within) or ""
        pages = _pages(start, near.start), _pages(end, near.end - 1)
        document = chunk.document
        return QuotedPlace(
            document=document.id,
            title=document.title,
            uri=document.uri,
            collection=document.collection,
            index=start.chunk.index,
            headings=start.chunk.headings,
            pages=tuple(dict.fromkeys((*pages[0], *pages[1]))),
            paragraph=_paragraph(start, near.start),
            link=start.link,
            text=text[near.start : near.end],
            kept=round(near.kept, 3),
            changes=near.changes,
            seconds=_seconds(start, near.start, end, near.end - 1),
        )


def _least(words: int) -> float:
    return next((least for most, least in LEAST_KEPT if words <= most), LEAST_OF_LONG)


def _moved(near: Alignment, by: int) -> Alignment:
    return Alignment(near.start + by, near.end + by, near.kept, near.changes)


def _pages(passage: StoredChunk, at: int) -> tuple[int, ...]:
    """The page of an offset; all pages of its passage if nobody noted where they begin."""
    place, offset = passage.chunk.place, at - passage.chunk.start
    begun = [page.number for page in place.page_starts if page.start <= offset]
    near = [p.number for p in place.page_starts if abs(p.start - offset) < p.spread]
    beside = {page for number in near for page in (number - 1, number)} & set(place.pages)
    return tuple(sorted({begun[-1], *beside})) if begun else place.pages


def _seconds(
    first: StoredChunk, start: int, last: StoredChunk, end: int
) -> tuple[float, float] | None:
    """When the first and the last word are said."""
    begins = first.chunk.place.second_at(start - first.chunk.start)
    ends = last.chunk.place.second_at(end - last.chunk.start)
    return None if begins is None or ends is None else (begins, ends)


def _paragraph(passage: StoredChunk, at: int) -> int | None:
    """Counted from the first one of the passage: an empty line parts paragraphs. Headings, which
    have no number, are left out as far as the passage names them."""
    if passage.chunk.paragraph is None:
        return None
    before = passage.chunk.text[: max(0, at - passage.chunk.start)]
    parts = [part.strip() for part in re.split(r"\n\s*\n", before)[:-1]]
    return passage.chunk.paragraph + sum(
        bool(part) and part not in passage.chunk.headings for part in parts
    )
