"""Finds passages or documents that are similar in meaning to a given one, and leaves out the given
one. The vector of a document is the mean of its chunks' vectors. Knows stores only through their
port."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trivium.core.errors import LibraryBusy, ModelChanged, NotEmbedded
from trivium.core.results import SignalPart
from trivium.core.types import (
    Compare,
    Document,
    Granularity,
    Mode,
    Not,
    Probe,
    Query,
    Signal,
    StoredChunk,
    Where,
)
from trivium.ports import Backend
from trivium.search.fuse import Fused
from trivium.search.gather import gather
from trivium.search.match import Candidate
from trivium.search.progress import SearchProgress
from trivium.search.request import MOST_RESULTS, SearchRequest

if TYPE_CHECKING:
    from trivium.core.types import Vector

_FIRST_DEPTH = 50
_ATTEMPTS = 8  # with more candidates, or again because documents changed


def similar(
    backend: Backend, like: Document | StoredChunk, where: Where, limit: int, by: Granularity
) -> tuple[list[Candidate], SearchProgress]:
    """The most similar, best first. Raises NotEmbedded if `like` has no vector."""
    request = SearchRequest(queries=("",), where=where, limit=limit, mode=Mode.SEMANTIC, by=by)
    request.check()
    progress = SearchProgress()
    model = backend.models.manifest().model
    vector = _vector_of(backend, like, where.access)
    if backend.models.manifest().model != model:
        raise ModelChanged("The library's model changed during the comparison.")
    within = where
    if isinstance(like, Document):
        other = Not(Compare("source", "eq", f"#{like.id}"))
        within = where.narrowed(other)
    depth = max(_FIRST_DEPTH, 2 * limit)
    for _ in range(_ATTEMPTS):
        backend.signals.refresh()
        nearest = _nearest(backend, vector, model, within, depth, request)
        progress.clock.lap("vector")
        own = like.id if isinstance(like, StoredChunk) else None
        candidates = [c for c in nearest or () if c.found.id != own]
        if nearest is not None and (len(candidates) >= limit or depth >= MOST_RESULTS):
            return candidates[:limit], progress
        depth = min(MOST_RESULTS, depth * 4)
    raise LibraryBusy("Documents kept changing during the comparison.", fix="Try again.")


def _nearest(
    backend: Backend, vector: Vector, model: str, where: Where, depth: int, request: SearchRequest
) -> list[Candidate] | None:
    query = Query("")
    hits = backend.signals.search(Signal.VECTOR, Probe(query, vector, model=model), where, depth)
    fused = [
        Fused(hit.chunk_id, hit.score, {Signal.VECTOR: SignalPart(rank, hit.score, 1.0, hit.score)})
        for rank, hit in enumerate(hits, start=1)
    ]
    return gather(request, [query], [fused], lambda ids: backend.documents.chunks(ids, where))


def _vector_of(backend: Backend, like: Document | StoredChunk, where: Where) -> Vector:
    import numpy as np

    if isinstance(like, StoredChunk):
        ids, name = [like.id], f"Passage {like.chunk.index} of {like.document.title}"
    else:
        ids, name = [chunk.id for chunk in backend.documents.passages(like.id, where)], like.title
    vectors = list(backend.signals.vectors(ids, where).values())
    if not vectors:
        raise NotEmbedded(f"{name} has no vector yet.")
    mean = np.mean(np.stack(vectors), axis=0)
    unit: Vector = (mean / max(float(np.linalg.norm(mean)), 1e-12)).astype(np.float32)
    return unit
