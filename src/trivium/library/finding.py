"""How a library is searched and its documents are looked at."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from trivium.errors import DocumentNotFound
from trivium.library.asking import one_of, refuse_unknown_fields, request_for
from trivium.library.asking import where as filtered
from trivium.library.asof import AsOf
from trivium.library.report import Shown
from trivium.options import Filters, SearchOptions
from trivium.ports import Store
from trivium.results import Results, Suggestion
from trivium.search.decide import Heard
from trivium.search.request import MODES
from trivium.text.values import check_scalar
from trivium.types import (
    OWNER,
    ChunkId,
    Collection,
    Condition,
    Document,
    DocumentId,
    Granularity,
    Label,
    Neighbours,
    Signal,
    StoredChunk,
    Where,
)


class Finding(AsOf):
    _met: set[tuple[Where, str]]  # fields that documents have, and who may know

    def search(
        self,
        query: str | Sequence[str],
        limit: int | None = None,
        *,
        options: SearchOptions = SearchOptions(),
        filters: Filters = Filters(),
        within: Where = OWNER,
    ) -> Results:
        """The best passages or documents for a query, or for two to four that are combined, with
        the reason for every rank.

        `limit` is short for that of the options. `within`: what the caller may see at all; no
        filter widens it. The first search `as_of` some day builds indexes for that day.
        """
        queries = tuple(query) if isinstance(query, list | tuple) else (query,)
        if limit is not None:
            options = replace(options, limit=limit)

        def search() -> Results:
            store, searcher, note = self._store, self._searcher, ""
            if options.as_of is not None:
                # With a source, only that: the view of one document is made in no time.
                asked = filtered(Filters(audiences=filters.audiences, source=filters.source))
                seen_then = within.held_by(asked.audiences).access.narrowed(asked.condition)
                store, searcher, note = self._as_of(options.as_of, seen_then)
            seen = self._within(within, filters, store)
            request = request_for(self._settings, searcher.model, queries, seen, options)
            found = searcher.search(request)
            if note and Signal.VECTOR in MODES[request.mode]:
                return replace(found, notes=(*found.notes, note))
            return found

        return self._following(search)

    def similar(
        self,
        document: DocumentId | str,
        limit: int | None = None,
        *,
        passage: int | None = None,
        by: Granularity | str | None = None,
        filters: Filters = Filters(),
        within: Where = OWNER,
    ) -> Results:
        """Documents like this one; with the number of one of its passages, passages like that."""
        within = self._within(within, filters)
        seen = within.access
        found = self._one(document, seen)
        like: Document | StoredChunk = found
        if passage is not None:
            like = self._passage(found, passage, seen)
        default = Granularity.DOCUMENT if passage is None else Granularity.PASSAGE
        most = self._settings.search_limit if limit is None else limit
        by = one_of(Granularity, "by", by or default)
        return self._following(lambda: self._searcher.similar(like, within, most, by))

    def documents(
        self,
        within: Where = OWNER,
        *,
        where: Condition | str = "",
        after: DocumentId = 0,
        limit: int | None = None,
    ) -> list[Document]:
        """By id, those above `after`: a page begins where the one before ended, whatever was
        added or removed meanwhile."""
        if where:
            within = self._within(within, Filters(where=where))
        check_scalar("after", after)
        check_scalar("limit", limit or 0)
        return self._store.documents(within, after=after, limit=limit)

    def hear(self, query: str, depth: int) -> Heard:
        """What every signal answers the owner, before anything is weighed: for tuning."""
        model = self._embedder.fingerprint
        options = SearchOptions(limit=1, rerank=False)
        request = request_for(self._settings, model, (query,), OWNER, options)
        return self._searcher.hear(replace(request, candidates=depth))

    def judge(self, query: str, chunks: Sequence[ChunkId]) -> Mapping[ChunkId, float]:
        """How well passages answer a query, by the reranker; the owner asks, and waits."""
        return self._searcher.judge(query, chunks, OWNER)

    def document(self, name: DocumentId | str, within: Where = OWNER) -> Document:
        """One document by id, by `#id`, by path or by file name."""
        return self._one(name, within)

    def text(
        self, document: DocumentId, within: Where = OWNER, interpretation: int | None = None
    ) -> str:
        """The full text alone, as it is now or as it was."""
        found = self._one(document, within)
        text = self._store.text(found.id, within, interpretation)
        if text is None:
            raise DocumentNotFound(
                f"{found.title} has no interpretation {interpretation}.",
                fix="Its history lists those it has.",
            )
        return text

    def passages(self, document: DocumentId, within: Where = OWNER) -> list[StoredChunk]:
        """What a document was cut into, in order."""
        return self._store.passages(self._one(document, within).id, within)

    def passage(
        self,
        document: DocumentId,
        index: int,
        *,
        before: int = 0,
        after: int = 0,
        within: Where = OWNER,
    ) -> tuple[StoredChunk, Neighbours]:
        """One passage, counted from 0, and those that stand around it."""
        found = self._passage(self._one(document, within), index, within)
        around = self._store.around([found.id], before, after, within)
        return found, around.get(found.id, Neighbours())

    def suggest(self, typed: str, limit: int = 8, within: Where = OWNER) -> tuple[Suggestion, ...]:
        """How what someone types may go on, in words of documents they may see."""
        return self._searcher.suggest(typed, limit, within)

    def collections(self, within: Where = OWNER) -> list[Collection]:
        """By name, with what of them may be seen."""
        return self._store.collections(within)

    def counts(self, label: Label, within: Where = OWNER) -> dict[str, int]:
        """How many documents that may be seen have each value of a label, most first. Those
        without one are counted as empty."""
        found = self._store.counts(label, within)
        return dict(sorted(found.items(), key=lambda one: (-one[1], one[0])))

    def show(
        self,
        document: DocumentId | str,
        within: Where = OWNER,
        *,
        interpretation: int | None = None,
    ) -> Shown:
        """A document in full, named as for `document`: as it is now, or as it was in the
        interpretation of this number."""
        found = self._one(document, within)
        number = found.interpretation if interpretation is None else interpretation
        past = {one.number: one for one in self._store.history(found.id, within)}
        text = self._store.text(found.id, within, number)
        if number not in past or text is None:
            raise DocumentNotFound(
                f"{found.title} has no interpretation {number}.",
                fix=f"`trivium history {found.id}` lists those it has.",
                on_page="Its history lists those it has.",
            )
        passages = self._store.passages(found.id, within, number)
        return Shown(found, text, tuple(passages), past[number])

    def _within(self, allowed: Where, filters: Filters, store: Store | None = None) -> Where:
        asked = filtered(filters)
        within = allowed.held_by(asked.audiences).narrowed(asked.condition)
        store = store or self._store
        met = self._met if store is self._store else set()  # a view of the past has its own fields
        refuse_unknown_fields(within, store, met)
        return within

    def _passage(self, document: Document, index: int, within: Where) -> StoredChunk:
        for chunk in self._store.passages(document.id, within):
            if chunk.chunk.index == index:
                return chunk
        raise DocumentNotFound(
            f"{document.title} has no passage {index}.", fix="They are counted from 0."
        )
