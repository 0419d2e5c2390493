"""Turns the fused lists of one or more queries into candidates: fetches, matches, groups, combines.

Decides whether a result is a passage or a document. Knows the store only as a way to fetch chunks.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TypeAlias

from trivium.core.results import QueryPart
from trivium.core.types import ChunkId, Combine, Granularity, Query, StoredChunk
from trivium.search.fuse import Fused
from trivium.search.match import Candidate, match_score
from trivium.search.multi import best_signals, combined
from trivium.search.prefer import Preference
from trivium.search.request import LEAST_CANDIDATES, SearchRequest

Fetch: TypeAlias = Callable[[Sequence[ChunkId]], Sequence[StoredChunk]]
# Takes the number of a query and its candidates, best first; returns them with their match.
Matcher: TypeAlias = "Callable[[int, Sequence[Candidate]], list[Candidate]]"
Key: TypeAlias = int | str  # of a chunk, a document or a thread, depending on what a result is


def gather(
    request: SearchRequest,
    queries: Sequence[Query],
    lists: Sequence[Sequence[Fused]],
    fetch: Fetch,
    matcher: Matcher | None = None,
) -> list[Candidate] | None:
    """The candidates, best first; None if documents have changed since the signals answered.
    Without a matcher, the rule for papers gives the match."""
    matcher = matcher or by_rule(queries)
    if len(queries) > 1:
        lists = _worth_fetching(request, lists)
    by_query = []
    for at, fused in enumerate(lists):
        of_one = _of_one_query(request, fused, fetch)
        if of_one is None:
            return None
        # With one query nobody sees more. Several queries need the match of everything they found.
        most = request.pool if len(queries) == 1 else len(of_one)
        keys, candidates = list(of_one), list(of_one.values())
        if request.prefer is not None and len(queries) == 1:
            return _preferred(request.prefer, candidates, most, partial(matcher, at))
        candidates[:most] = matcher(at, candidates[:most])
        by_query.append(dict(zip(keys, candidates, strict=True)))
    if len(by_query) == 1:
        return list(by_query[0].values())
    combined = _of_all(by_query, request)
    return combined if request.prefer is None else request.prefer.ordered(combined)


def _preferred(
    preference: Preference,
    candidates: Sequence[Candidate],
    most: int,
    matched: Callable[[Sequence[Candidate]], list[Candidate]],
) -> list[Candidate]:
    """The `most` best, in the preferred order. Their matches follow the order by relevance."""
    chosen = {c.found.id for c in preference.ordered(candidates)[:most]}
    return preference.ordered(matched([c for c in candidates if c.found.id in chosen]))


def by_rule(queries: Sequence[Query]) -> Matcher:
    """The rule of the preset `papers`, which looks at each result alone."""

    def matched(at: int, candidates: Sequence[Candidate]) -> list[Candidate]:
        return [
            replace(c, match=match_score(queries[at], c.found.document, c.signals))
            for c in candidates
        ]

    return matched


def _worth_fetching(
    request: SearchRequest, lists: Sequence[Sequence[Fused]]
) -> list[Sequence[Fused]]:
    """For several queries. With OR: the best of each. With AND, by passage: what all have."""
    if request.combine is Combine.MAXIMUM:
        most = max(LEAST_CANDIDATES, 2 * request.limit)
        return [fused[:most] for fused in lists]
    if request.by is not Granularity.PASSAGE:
        return list(lists)
    shared = set.intersection(*({f.chunk_id for f in fused} for fused in lists))
    return [[f for f in fused if f.chunk_id in shared] for fused in lists]


def _of_one_query(
    request: SearchRequest, fused: Sequence[Fused], fetch: Fetch
) -> dict[Key, Candidate] | None:
    """In the order of the list, by score. So the first chunk of a document is its best."""
    candidates: dict[Key, Candidate] = {}
    chunks = {chunk.id: chunk for chunk in fetch([result.chunk_id for result in fused])}
    if len(chunks) < len(fused):
        return None
    for result in fused:
        chunk = chunks[result.chunk_id]
        key = _key(chunk, request.by)
        if key in candidates:
            candidates[key] = replace(candidates[key], passages=candidates[key].passages + 1)
        else:
            candidates[key] = Candidate(chunk, result.score, result.parts, in_order=result.in_order)
    return candidates


def _key(chunk: StoredChunk, by: Granularity) -> Key:
    """Results with one key are one result. The messages of a thread share channel and thread."""
    document = chunk.document
    if by is Granularity.THREAD and (thread := document.metadata.get("thread")):
        return f"{document.collection}/{document.metadata.get('channel', '')}/{thread}"
    return chunk.id if by is Granularity.PASSAGE else document.id


def _of_all(by_query: Sequence[Mapping[Key, Candidate]], request: SearchRequest) -> list[Candidate]:
    combine = request.combine
    keys = list(dict.fromkeys(key for by_key in by_query for key in by_key))
    if combine is not Combine.MAXIMUM:
        keys = [key for key in keys if all(key in by_key for by_key in by_query)]
        keys = [
            key for key in keys if all(by_key[key].match >= request.floor for by_key in by_query)
        ]
    candidates = [_combined(key, by_query, combine) for key in keys]
    fused = {id(c): sum(part.score for part in c.queries) for c in candidates}
    return sorted(candidates, key=lambda c: (-c.score, -fused[id(c)], c.found.id))


_NOTHING = QueryPart(0.0, 0.0, {})


def _combined(key: Key, by_query: Sequence[Mapping[Key, Candidate]], combine: Combine) -> Candidate:
    candidates = [by_key[key] for by_key in by_query if key in by_key]
    parts = tuple(
        QueryPart(by_key[key].match, by_key[key].score, by_key[key].signals)
        if key in by_key
        else _NOTHING
        for by_key in by_query
    )
    score = combined([part.match for part in parts], combine)
    best = max(candidates, key=lambda c: (c.match, c.score, -c.found.id))
    passages = max(c.passages for c in candidates)
    return Candidate(
        best.found, score, best_signals(parts), score, queries=parts, passages=passages
    )
