"""From the fused lists of one or more queries to candidates: fetched, matched, grouped, combined.

Knows the store only as a way to fetch chunks. Decides what is one result: a passage or a document.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from trivium.results import QueryPart, SignalPart
from trivium.search.excluded import holds_excluded
from trivium.search.fuse import Fused
from trivium.search.match import match_score
from trivium.search.multi import best_signals, combined
from trivium.search.request import SearchRequest
from trivium.types import ChunkId, Combine, Granularity, Query, Signal, StoredChunk

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


def gather(
    request: SearchRequest,
    queries: Sequence[Query],
    lists: Sequence[Sequence[Fused]],
    fetch: Callable[[Sequence[ChunkId]], Sequence[StoredChunk]],
) -> list[Candidate] | None:
    """The candidates, best first; None if documents changed since the lists were made."""
    wanted = list(dict.fromkeys(f.chunk_id for fused in lists for f in fused))
    chunks = {chunk.id: chunk for chunk in fetch(wanted)}
    if len(chunks) < len(wanted):
        return None
    by_document = request.by is Granularity.DOCUMENT
    found = [
        _of_one_query(query, fused, chunks, by_document)
        for query, fused in zip(queries, lists, strict=True)
    ]
    if len(found) == 1:
        return list(found[0].values())
    return _of_all(found, request.combine)


def _of_one_query(
    query: Query, fused: Sequence[Fused], chunks: Mapping[ChunkId, StoredChunk], by_document: bool
) -> dict[Key, Candidate]:
    """In the order of the list, which is by score: the first chunk of a document is its best."""
    found: dict[Key, Candidate] = {}
    for one in fused:
        chunk = chunks[one.chunk_id]
        if holds_excluded(chunk, query):
            continue
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
