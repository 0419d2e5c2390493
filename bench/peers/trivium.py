"""Trivium's embedded store through `Library.search`, as anyone calls it: corrected, analysed, three
signals, weighed by evidence, fused and explained.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np

from bench.build import fill
from bench.ours import Precomputed
from bench.peers import LETTERS, VECTOR, WORDS, Asked, Built, Found, Way
from bench.peers.process import InProcess
from bench.rows import PASSING, Counted
from bench.timing import folder_bytes
from trivium import __version__
from trivium.config import load
from trivium.core.types import OWNER, Compare, Probe, Signal, Where
from trivium.library import Library
from trivium.library.assembly import local_embedder_for
from trivium.operations.searching import Filters
from trivium.store.embedded.backend import open_embedded
from trivium.text.query import parse

SETTINGS = "all defaults"
GIVEN, EMBEDDING = "hybrid", "hybrid, query embedded"
_FILTER = f"shard<{PASSING}"


def build(folder: Path, blocks: Counted) -> Mapping[str, Built]:
    fill(folder / "library", blocks, local_embedder_for(load().settings).fingerprint)
    made = Built(blocks.elapsed(), folder_bytes(folder))
    return {GIVEN: made, EMBEDDING: made}


class Engine(InProcess):
    def __init__(self, folder: Path, known: Sequence[Asked]) -> None:
        settings = load().settings
        model = local_embedder_for(settings)
        self._model = model.fingerprint
        vectors = np.stack([asked.vector for asked in known])
        given = Precomputed(model, [asked.text for asked in known], vectors)
        self._store = open_embedded(folder / "library", create=False)
        legs = (VECTOR, WORDS, LETTERS)
        self.ways = {
            GIVEN: Way(legs, _searching(Library(self._store, given, settings))),
            EMBEDDING: Way(legs, _searching(Library(self._store, model, settings))),
        }

    def versions(self) -> Mapping[str, str]:
        return {"Trivium": __version__}

    def near(self, asked: Asked, k: int) -> list[int]:
        where = OWNER
        if asked.filtered:
            where = Where(None, Compare("metadata.shard", "lt", PASSING))
        probe = Probe(parse(asked.text), asked.vector, model=self._model)
        return [
            _row(hit.chunk_id) for hit in self._store.signals.search(Signal.VECTOR, probe, where, k)
        ]

    def close(self) -> None:
        self._store.close()


def _searching(library: Library) -> Callable[[Asked, int], Sequence[Found]]:
    def ask(asked: Asked, k: int) -> Sequence[Found]:
        results = library.search(
            asked.text, k, filters=Filters(where=_FILTER if asked.filtered else "")
        )
        return [Found(_row(result.found.id), result.found.chunk.text) for result in results]

    return ask


def _row(chunk_id: int) -> int:
    """The store gives ids out from 1 in the order of the rows."""
    return chunk_id - 1


def open(folder: Path, known: Sequence[Asked]) -> Engine:  # noqa: A001
    return Engine(folder, known)
