"""Collects the signs from which `match` computes the match of each candidate. Knows stores and
models only through their ports."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from trivium.core.errors import ModelUnavailable
from trivium.core.types import ChunkId, Signal
from trivium.ports import Backend, Embedder
from trivium.search.coverage import coverage, lacking_codes, of_others
from trivium.search.fuse import Fusion
from trivium.search.known import UNKNOWN, known_items
from trivium.search.match import Candidate, Fits, Signs, behind, falling
from trivium.search.progress import SearchProgress
from trivium.search.request import SearchRequest
from trivium.search.separation import Passages
from trivium.search.signals import ReadyQuery

if TYPE_CHECKING:
    from trivium.core.types import Vector


@dataclass(frozen=True, slots=True)
class Matching:
    """The `Matcher` of one search."""

    _backend: Backend
    _embedder: Embedder
    _request: SearchRequest
    _fits: Fits
    _queries: Sequence[ReadyQuery]
    _progress: SearchProgress
    _passages: Passages
    _usual: Sequence[float | None]  # for each query: the similarity of the usual passage

    def __call__(self, at: int, candidates: Sequence[Candidate]) -> list[Candidate]:
        if not candidates:
            return []
        ready = self._queries[at]
        chunks = [c.found for c in candidates]
        rarities = partial(self._backend.signals.rarities, where=self._request.where)
        shares = coverage(ready.words, chunks, rarities, ready.missing, self._request.fields)
        where = self._request.where
        lacking = lacking_codes(ready.words, chunks, self._request.fields)
        other = of_others(ready.words, chunks, self._request.fields)
        items = known_items(self._backend, ready.words, chunks, shares, where, self._request.fields)
        similar = self._similar(ready, candidates)
        by_ranks = self._request.fusion is Fusion.RANKS
        lag = behind([c.score for c in candidates], by_ranks=by_ranks)
        usual = self._usual[at] if ready.meaning == ready.words.meaning else None
        signs = []
        for share, late, id_ in zip(shares, lag, (c.found.id for c in candidates), strict=True):
            item = items.get(id_, UNKNOWN)
            signs.append(
                Signs(
                    share,
                    late,
                    similar.get(id_),
                    lead=None if usual is None else similar.get(id_, usual) - usual,
                    passages=self._passages,
                    known=item.probability,
                    reason=item.reason,
                    lacks=lacking.get(id_, ""),
                    of_others=other.get(id_, ""),
                )
            )
        matches = falling(map(self._fits.probability, signs))
        return [c.matched(m, s) for c, m, s in zip(candidates, matches, signs, strict=True)]

    def _similar(
        self, ready: ReadyQuery, candidates: Sequence[Candidate]
    ) -> Mapping[ChunkId, float]:
        """How similar each one is to the query itself; empty without the vector signal."""
        if self._fits.meaning is None or Signal.VECTOR not in self._request.signal_weights():
            return {}
        similarities: dict[ChunkId, float] = {}
        if ready.meaning == ready.words.meaning:  # otherwise HyDE searched with a generated answer
            similarities = {
                c.found.id: c.signals[Signal.VECTOR].score
                for c in candidates
                if Signal.VECTOR in c.signals
            }
        missing = [c.found.id for c in candidates if c.found.id not in similarities]
        vector = self._vector(ready) if missing else None
        if vector is not None:
            vectors = self._backend.signals.vectors(missing, self._request.where)
            fitting = {i: v for i, v in vectors.items() if len(v) == len(vector)}
            if fitting:
                near = np.vecdot(np.stack([*fitting.values()]), vector)
                similarities |= zip(fitting, near.tolist(), strict=True)
        return similarities

    def _vector(self, ready: ReadyQuery) -> Vector | None:
        vectors = self._progress.vectors
        meaning = ready.words.meaning
        if meaning not in vectors and ready.meaning in vectors:
            with suppress(ModelUnavailable):
                vectors[meaning] = self._embedder.embed_query(meaning)
        return vectors.get(meaning)
