"""The recipe of a search, top to bottom: parse, weigh, ask each signal, fuse, fetch, explain.

Knows stores and models only through their ports.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from time import perf_counter
from typing import TYPE_CHECKING

from trivium.errors import EmptyQuery, ModelUnavailable, QueryTooLong
from trivium.ports import Embedder, Store
from trivium.search.excluded import without_excluded
from trivium.search.fuse import Fused, fuse
from trivium.search.match import match_score
from trivium.search.request import SearchRequest
from trivium.search.weigh import weigh
from trivium.text.query import parse
from trivium.types import (
    Analysis,
    Hit,
    Probe,
    Query,
    Result,
    Results,
    Signal,
    StoredChunk,
)

if TYPE_CHECKING:
    from trivium.types import Vector

LONGEST_QUERY = 10_000  # characters: some four pages
_ATTEMPTS = 4  # a search begins anew when documents changed under it


class Searcher:
    """Searches one store. Threads may share it."""

    def __init__(self, store: Store, embedder: Embedder) -> None:
        self._store = store
        self._embedder = embedder
        # Keyword and trigram run beside the vector signal: tantivy and faiss release the GIL.
        self._threads = ThreadPoolExecutor(8, thread_name_prefix="trivium-signal")

    def search(self, request: SearchRequest) -> Results:
        request.check()
        if len(request.query) > LONGEST_QUERY:
            raise QueryTooLong(
                f"The query has {len(request.query):,} characters; {LONGEST_QUERY:,} are the most."
            )
        clock = _Clock()
        query = parse(request.query)
        if not query.clauses:
            raise EmptyQuery("The query holds no word to look for.")
        base = request.signal_weights()
        notes: list[str] = []
        for attempt in range(_ATTEMPTS):
            lists = self._ask(request, query, base, clock, notes)
            weights, why = base, ""
            if request.evidence is not None:
                weights, why = weigh(base, lists, request.evidence)
            most = sum(map(len, lists.values())) if query.excluded else request.limit
            fused = fuse(lists, weights, request.fusion, request.k, most)
            clock.lap("fuse")
            kept = self._fetch(request, query, fused)
            clock.lap("fetch")
            if kept is not None or attempt == _ATTEMPTS - 1:
                break
        items = tuple(
            Result(rank, f.score, match_score(query, chunk.document, f.parts), chunk, f.parts)
            for rank, (f, chunk) in enumerate(kept or (), start=1)
        )
        return Results(
            query=request.query,
            analysis=Analysis(weights=weights, notes=(why,) if why else ()),
            items=items,
            timings_ms=clock.laps,
            took_ms=clock.total(),
            notes=tuple(dict.fromkeys(notes)),
        )

    def _ask(
        self,
        request: SearchRequest,
        query: Query,
        weights: Mapping[Signal, float],
        clock: _Clock,
        notes: list[str],
    ) -> dict[Signal, list[Hit]]:
        self._store.refresh()
        clock.lap("refresh")
        wanted = [signal for signal in Signal if weights.get(signal)]
        worded = Probe(query)

        def ask(signal: Signal, probe: Probe) -> list[Hit]:
            started = perf_counter()
            hits = self._store.search(signal, probe, request.where, request.candidates)
            clock.note(signal.value, perf_counter() - started)
            return hits

        running = {
            signal: self._threads.submit(ask, signal, worded)
            for signal in wanted
            if signal is not Signal.VECTOR
        }
        lists: dict[Signal, list[Hit]] = {}
        if Signal.VECTOR in wanted:
            vector = self._embed(query, clock, notes, alone=not running)
            if vector is not None:
                probe = Probe(query, vector, request.threshold)
                lists[Signal.VECTOR] = ask(Signal.VECTOR, probe)
        lists |= {signal: future.result() for signal, future in running.items()}
        clock.skip()
        return lists

    def _embed(
        self, query: Query, clock: _Clock, notes: list[str], *, alone: bool
    ) -> Vector | None:
        """None, and a note, without a model; an error where no other signal could answer."""
        started = perf_counter()
        try:
            return self._embedder.embed_query(query.meaning)
        except ModelUnavailable as reason:
            if alone:
                raise
            notes.append(f"Searched by words and spelling only. {reason}")
            return None
        finally:
            clock.note("embed", perf_counter() - started)

    def _fetch(
        self, request: SearchRequest, query: Query, fused: list[Fused]
    ) -> list[tuple[Fused, StoredChunk]] | None:
        """The best results with their chunks; None if documents changed since they were found."""
        ids = [f.chunk_id for f in fused]
        chunks = {c.id: c for c in self._store.chunks(ids, request.where)}
        if len(chunks) < len(fused):
            return None
        kept = [(f, chunks[f.chunk_id]) for f in fused]
        return without_excluded(kept, query, lambda pair: pair[1])[: request.limit]


class _Clock:
    """Milliseconds of each stage, in the order in which they ended."""

    def __init__(self, now: Callable[[], float] = perf_counter) -> None:
        self._now = now
        self._started = self._last = now()
        self.laps: dict[str, float] = {}

    def lap(self, stage: str) -> None:
        self.note(stage, self._now() - self._last)
        self.skip()

    def skip(self) -> None:
        self._last = self._now()

    def note(self, stage: str, seconds: float) -> None:
        self.laps[stage] = round(self.laps.get(stage, 0.0) + seconds * 1000, 3)

    def total(self) -> float:
        return round((self._now() - self._started) * 1000, 3)
