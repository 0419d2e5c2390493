"""From the fused lists of one or more queries to candidates: fetched, matched, grouped, combined.

Knows the store only as a way to fetch chunks. Decides what is one result: a passage or a document.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from trivium.results import QueryPart, RerankPart, SignalPart
from trivium.search.fuse import Fused
from trivium.search.match import match_score
from trivium.search.multi import best_signals, combined
from trivium.search.request import LEAST_CANDIDATES, SearchRequest
from trivium.types import ChunkId, Combine, Granularity, Query, Signal, StoredChunk

Fetch: TypeAlias = Callable[[Sequence[ChunkId]], Sequence[StoredChunk]]
Key: TypeAlias = int  # of a chunk or of a document, whichever is one result


@dataclass(frozen=True, slots=True)
class Candidate:
    """A result in the making."""

    found: StoredChunk
    score: float
    match: float
    signals: Mapping[Signal, SignalPart]
    queries: tuple[QueryPart, ...] = ()
    passages: int = 1
    rerank: RerankPart | None = None


def gather(
    request: SearchRequest,
    queries: Sequence[Query],
    lists: Sequence[Sequence[Fused]],
    fetch: Fetch,
) -> list[Candidate] | None:
    """The candidates, best first; None if documents changed since the lists were made."""
    if len(queries) > 1:
        lists = _worth_fetching(request, lists)
    found = []
    for query, fused in zip(queries, lists, strict=True):
        of_one = _of_one_query(request, query, fused, fetch)
        if of_one is None:
            return None
        found.append(of_one)
    return list(found[0].values()) if len(found) == 1 else _of_all(found, request.combine)


def _worth_fetching(
    request: SearchRequest, lists: Sequence[Sequence[Fused]]
) -> list[Sequence[Fused]]:
    """Of several queries: with OR the best of each; with AND, by passage, what all of them hold."""
    if request.combine is Combine.MAXIMUM:
        most = max(LEAST_CANDIDATES, 2 * request.limit)
        return [fused[:most] for fused in lists]
    if request.by is Granularity.DOCUMENT:
        return list(lists)
    shared = set.intersection(*({f.chunk_id for f in fused} for fused in lists))
    return [[f for f in fused if f.chunk_id in shared] for fused in lists]


def _of_one_query(
    request: SearchRequest, query: Query, fused: Sequence[Fused], fetch: Fetch
) -> dict[Key, Candidate] | None:
    """In the order of the list, which is by score: the first chunk of a document is its best."""
    by_document = request.by is Granularity.DOCUMENT
    found: dict[Key, Candidate] = {}
    chunks = {chunk.id: chunk for chunk in fetch([one.chunk_id for one in fused])}
    if len(chunks) < len(fused):
        return None
    for one in fused:
        chunk = chunks[one.chunk_id]
        key = chunk.document.id if by_document else chunk.id
        if key in found:
            found[key] = replace(found[key], passages=found[key].passages + 1)
        else:
            match = match_score(query, chunk.document, one.parts)
            found[key] = Candidate(chunk, one.score, match, one.parts)
    return found


def _of_all(found: Sequence[Mapping[Key, Candidate]], combine: Combine) -> list[Candidate]:
    keys = list(dict.fromkeys(key for one in found for key in one))
    if combine is not Combine.MAXIMUM:
        keys = [key for key in keys if all(key in one for one in found)]
    candidates = [_combined(key, found, combine) for key in keys]
    fused = {id(c): sum(part.score for part in c.queries) for c in candidates}
    return sorted(candidates, key=lambda c: (-c.score, -fused[id(c)], c.found.id))


_NOTHING = QueryPart(0.0, 0.0, {})


def _combined(key: Key, found: Sequence[Mapping[Key, Candidate]], combine: Combine) -> Candidate:
    held = [one[key] for one in found if key in one]
    parts = tuple(
        QueryPart(one[key].match, one[key].score, one[key].signals) if key in one else _NOTHING
        for one in found
    )
    score = combined([part.match for part in parts], combine)
    best = max(held, key=lambda c: (c.match, c.score, -c.found.id))
    passages = max(c.passages for c in held)
    return Candidate(best.found, score, score, best_signals(parts), parts, passages)
