"""Searches a library, as it is or as it was."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from threading import Lock

from trivium.core.errors import BadFilter
from trivium.core.results import Results, Suggestion
from trivium.core.types import (
    OWNER,
    ChunkId,
    Document,
    DocumentId,
    Granularity,
    Signal,
    StoredChunk,
    Where,
)
from trivium.library.asking import Scope, one_of, request_for
from trivium.library.asking import where as filtered
from trivium.library.asof import PastViews
from trivium.library.documents import Documents
from trivium.library.model import CurrentModel
from trivium.operations.searching import Filters, SearchOptions
from trivium.ports import Backend
from trivium.search.decide import Heard
from trivium.search.request import MODES
from trivium.text.filters import typed_filters


@dataclass(eq=False)
class Searching:
    _backend: Backend
    _model: CurrentModel
    _scope: Scope
    _documents: Documents

    def __post_init__(self) -> None:
        self._views = PastViews(self._backend, self._model)
        self._past = Lock()  # a view that one thread searches must not be closed by another

    def search(
        self,
        query: str | Sequence[str],
        limit: int | None = None,
        *,
        options: SearchOptions = SearchOptions(),
        filters: Filters = Filters(),
        within: Where = OWNER,
    ) -> Results:
        """The best passages or documents for a query, or for two to four combined queries, with
        the reason for every rank.

        `limit` overrides that of the options. `within`: what the caller may see; no filter widens
        it. The first search `as_of` a day builds indexes for that day.
        """
        queries = tuple(query) if isinstance(query, list | tuple) else (query,)
        if limit is not None:
            options = replace(options, limit=limit)

        def search() -> Results:
            view, searcher, note = None, self._model.searcher, ""
            if options.as_of is not None:
                # With a source, only that one: the view of a single document takes no time.
                visible = filtered(Filters(audiences=filters.audiences, source=filters.source))
                seen_then = within.held_by(visible.audiences).access.narrowed(visible.condition)
                view, searcher, note = self._views.open(options.as_of, seen_then)
            seen = self._scope.within(within, filters, view)
            asked_for, seen, typed = self._typed(queries, seen, view)
            settings, scale = self._model.settings, self._model.scale(seen)
            request = request_for(settings, searcher.model, asked_for, seen, options, scale)
            results = searcher.search(request)
            if typed:
                results = replace(results, notes=(*results.notes, f"Only documents with {typed}."))
            self._model.observe(results.timings_ms)
            if request.prefer is not None:
                idle = self._scope.idle(seen, request.prefer.boosts, view)
                results = replace(results, notes=(*results.notes, *idle))
            if not results:
                slips = self._scope.slips(seen, view)
                results = replace(results, notes=(*results.notes, *slips), mistyped=bool(slips))
            if note and Signal.VECTOR in MODES[request.mode]:
                return replace(results, notes=(*results.notes, note))
            return results

        if options.as_of is None:
            return self._model.following(search)
        with self._past:
            return self._model.following(search)

    def _typed(
        self, queries: tuple[str, ...], seen: Where, view: Backend | None
    ) -> tuple[tuple[str, ...], Where, str]:
        """Words and filters of a query such as `author:Smith errors`. If no document has such a
        field, all of it is words."""
        if len(queries) == 1 and isinstance(queries[0], str):
            words, typed = typed_filters(queries[0])
            if typed:
                with suppress(BadFilter):
                    return (words,), self._scope.within(seen, Filters(where=typed), view), typed
        return queries, seen, ""

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
        """Similar documents; with the number of a passage, similar passages."""
        within = self._scope.within(within, filters)
        visible = within.access
        stored = self._documents.get(document, visible)
        like: Document | StoredChunk = stored
        if passage is not None:
            like = self._documents.numbered_passage(stored, passage, visible)
        default = Granularity.DOCUMENT if passage is None else Granularity.PASSAGE
        most = self._model.settings.search_limit if limit is None else limit
        by = one_of(Granularity, "by", by or default)
        return self._model.following(lambda: self._model.searcher.similar(like, within, most, by))

    def hear(self, query: str, depth: int) -> Heard:
        """The raw results of every signal, as the owner, before weighting: for tuning."""
        model = self._model.embedder.fingerprint
        options = SearchOptions(limit=1, rerank=False)
        request = request_for(
            self._model.settings, model, (query,), OWNER, options, self._model.scale(OWNER)
        )
        return self._model.searcher.hear(replace(request, candidates=depth))

    def judge(self, query: str, chunks: Sequence[ChunkId]) -> Mapping[ChunkId, float]:
        """How well passages answer a query, by the reranker, as the owner; waits for it."""
        return self._model.searcher.judge(query, chunks, OWNER)

    def suggest(self, typed: str, limit: int = 8, within: Where = OWNER) -> tuple[Suggestion, ...]:
        """Suggest completions, in words of documents the caller may see."""
        return self._model.searcher.suggest(typed, limit, within)

    def close(self) -> None:
        self._views.close()
