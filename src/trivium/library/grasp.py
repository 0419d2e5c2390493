"""Measures how well the model tells a library's passages apart, how long and how alike they are,
again as the library grows, and keeps that with the library."""

from __future__ import annotations

import json
from collections.abc import Collection
from contextlib import suppress
from dataclasses import asdict, dataclass
from threading import Lock
from time import monotonic
from typing import TYPE_CHECKING

from trivium.core.errors import ModelChanged, ModelError
from trivium.core.types import (
    EVERYONE,
    OWNER,
    ChunkId,
    DocumentId,
    Hit,
    Probe,
    Query,
    Signal,
    Where,
)
from trivium.ports import Backend, Embedder
from trivium.search.grasp import (
    LEAST,
    NEIGHBOURS,
    PASSAGES,
    Passages,
    alike,
    measure,
    usual_length,
    usual_likeness,
)
from trivium.search.scale import scale_of

if TYPE_CHECKING:
    from trivium.core.types import Vector

GROWN = 1.5  # times as many passages as were there: time to look again
_SECONDS = 60.0  # that a search goes by what it last read or measured
_MOST_KNOWN = 1_000  # sets of collections
# Only public documents: no caller's ranking may reveal documents they can't see.
_PUBLIC = OWNER.held_by(frozenset({EVERYONE}))


@dataclass(frozen=True, slots=True)
class Grasp:
    """The measurement, its model, and the number of passages at the time."""

    grasp: float
    model: str
    passages: int
    length: float | None = None  # of passages (`usual_length`)
    alike: float | None = None  # of passages; None: measured before that was, as of the length

    @property
    def shape(self) -> Passages:
        scale = scale_of(self.model)
        near = scale.similarity(self.alike) if scale and self.alike is not None else None
        return Passages(self.length or 0.0, usual_likeness(near))


def kept(backend: Backend, model: str) -> Grasp | None:
    """None if nothing was measured yet with this model, or the stored value can't be read."""
    with suppress(ValueError, TypeError):
        found = Grasp(**json.loads(backend.models.grasp()))
        figures = (found.grasp, found.length or 0, found.alike or 0)
        if found.model == model and all(-1 <= figure <= 1 for figure in figures):
            return found
    return None


class Grasps:
    """What was measured, by what a caller may see. Threads may share it."""

    def __init__(self, backend: Backend, embedder: Embedder) -> None:
        self._backend = backend
        self._embedder = embedder
        self._fitted = scale_of(embedder.fingerprint) is not None  # else its cosines are unknown
        self._known: dict[frozenset[str] | None, tuple[Grasp | None, float]] = {}
        self._lock = Lock()

    def renew(self) -> None:
        """Measure if the library is new or has grown much. A search works without it."""
        before = kept(self._backend, self._embedder.fingerprint)
        found = self._measured(_PUBLIC, before) if self._fitted else None
        if found is not None and found != before:
            self._backend.models.keep_grasp(json.dumps(asdict(found)))
        with self._lock:
            self._known.pop(None, None)

    def of(self, where: Where) -> Grasp | None:
        """Of the public passages in the caller's collections, so that passages elsewhere change
        nothing. For a caller limited to some, it is measured by the first search: .6 s of a
        processor, once in a process and whenever they have grown much."""
        collections = where.collections
        with self._lock:
            found, stale = self._known.get(collections, (None, 0.0))
            if monotonic() < stale or not self._fitted:
                return found
            if collections is None:  # another process may have measured it
                found = kept(self._backend, self._embedder.fingerprint)
            else:
                found = self._measured(where.access.held_by(_PUBLIC.audiences), found)
            if len(self._known) >= _MOST_KNOWN:
                self._known.clear()
            self._known[collections] = (found, monotonic() + _SECONDS)
            return found

    def _measured(self, public: Where, before: Grasp | None) -> Grasp | None:
        """A new measurement if there are many more passages than before, else that one."""
        backend, embedder = self._backend, self._embedder
        count, ids = backend.signals.sample(PASSAGES, public)
        if count < LEAST:
            return before
        if before is not None and before.alike is not None and count < GROWN * before.passages:
            return before

        def nearest(vector: Vector) -> list[Hit]:
            probe = Probe(Query(""), vector, model=embedder.fingerprint)
            return backend.signals.search(Signal.VECTOR, probe, public, NEIGHBOURS + 1)

        def documents(found: Collection[ChunkId]) -> dict[ChunkId, DocumentId]:
            return {c.id: c.document.id for c in backend.documents.chunks(sorted(found), public)}

        with suppress(ModelError, ModelChanged):
            passages = backend.documents.chunks(ids, public)
            vectors = backend.signals.vectors(ids, public)
            found = measure(passages, vectors, embedder.embed_query)
            if found is not None:
                near = alike(passages, vectors, nearest, documents)
                length = usual_length(passages)
                return Grasp(found, embedder.fingerprint, count, length, near)
        return before
