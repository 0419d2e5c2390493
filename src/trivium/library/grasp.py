"""Measures how well the model tells a library's passages apart, how long and how alike they are,
again as the library grows, and keeps that with the library."""

from __future__ import annotations

import json
from collections.abc import Collection
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from trivium.errors import ModelChanged, ModelError
from trivium.models.weights import NAME
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
from trivium.types import EVERYONE, OWNER, ChunkId, DocumentId, Hit, Probe, Query, Signal

if TYPE_CHECKING:
    from trivium.types import Vector

GROWN = 1.5  # times as many passages as were there: time to look again
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
        return Passages(self.length or 0.0, usual_likeness(self.alike))


def kept(backend: Backend, model: str) -> Grasp | None:
    """None if nothing was measured yet with this model, or the stored value can't be read."""
    with suppress(ValueError, TypeError):
        found = Grasp(**json.loads(backend.models.grasp()))
        figures = (found.grasp, found.length or 0, found.alike or 0)
        if found.model == model and all(-1 <= figure <= 1 for figure in figures):
            return found
    return None


def renew(backend: Backend, embedder: Embedder) -> None:
    """Measure if the library is new or has grown much. Only the model whose cosines were fitted
    uses it, and a search works without it."""
    if not embedder.fingerprint.startswith(NAME):
        return
    count, ids = backend.signals.sample(PASSAGES, _PUBLIC)
    before = kept(backend, embedder.fingerprint)
    if count < LEAST:
        return
    if before is not None and before.alike is not None and count < GROWN * before.passages:
        return

    def nearest(vector: Vector) -> list[Hit]:
        probe = Probe(Query(""), vector, model=embedder.fingerprint)
        return backend.signals.search(Signal.VECTOR, probe, _PUBLIC, NEIGHBOURS + 1)

    def documents(found: Collection[ChunkId]) -> dict[ChunkId, DocumentId]:
        return {c.id: c.document.id for c in backend.documents.chunks(sorted(found), _PUBLIC)}

    with suppress(ModelError, ModelChanged):
        passages = backend.documents.chunks(ids, _PUBLIC)
        vectors = backend.signals.vectors(ids, _PUBLIC)
        found = measure(passages, vectors, embedder.embed_query)
        if found is not None:
            near = alike(passages, vectors, nearest, documents)
            length = usual_length(passages)
            told = asdict(Grasp(found, embedder.fingerprint, count, length, near))
            backend.models.keep_grasp(json.dumps(told))
