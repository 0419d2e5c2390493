"""Measures how well the model tells a library's passages apart, again as the library grows, and
stores the result in the library."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import asdict, dataclass

from trivium.errors import ModelError
from trivium.models.weights import NAME
from trivium.ports import Backend, Embedder
from trivium.search.grasp import LEAST, PASSAGES, measure, usual_length
from trivium.types import EVERYONE, OWNER

GROWN = 1.5  # times as many passages as were there: time to look again
# Only public documents: no caller's ranking may reveal documents they can't see.
_PUBLIC = OWNER.held_by(frozenset({EVERYONE}))


@dataclass(frozen=True, slots=True)
class Grasp:
    """The measurement, its model, and the number of passages at the time."""

    grasp: float
    model: str
    passages: int
    length: float | None = None  # of passages (`usual_length`); None: measured before that was


def kept(backend: Backend, model: str) -> Grasp | None:
    """None if nothing was measured yet with this model, or the stored value can't be read."""
    with suppress(ValueError, TypeError):
        found = Grasp(**json.loads(backend.models.grasp()))
        if found.model == model and -1 <= found.grasp <= 1 and -1 <= (found.length or 0) <= 1:
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
    if before is not None and before.length is not None and count < GROWN * before.passages:
        return
    with suppress(ModelError):
        passages = backend.documents.chunks(ids, _PUBLIC)
        vectors = backend.signals.vectors(ids, _PUBLIC)
        found = measure(passages, vectors, embedder.embed_query)
        if found is not None:
            told = asdict(Grasp(found, embedder.fingerprint, count, usual_length(passages)))
            backend.models.keep_grasp(json.dumps(told))
