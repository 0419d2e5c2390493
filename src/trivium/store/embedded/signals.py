"""The three signals of a library in a folder.

A damaged index is rebuilt on the spot, where nobody else is writing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING
from zlib import crc32

import numpy as np
from sqlalchemy import Engine

from trivium.core.errors import ModelChanged
from trivium.core.types import ChunkId, Hit, Probe, Signal, Spelled, TokenVectors, Where, hits_of
from trivium.store.embedded.database import guarded, rows_of, translated
from trivium.store.embedded.indexes import VECTORS, WORDS, Indexes
from trivium.store.embedded.snapshots import Snapshot, Snapshots
from trivium.store.embedded.writing import Writing
from trivium.store.signals import PlannedSignals, spread
from trivium.store.sql.models import SqlVectors
from trivium.store.sql.statements import vector_bytes
from trivium.store.visible import VisiblePostings
from trivium.text.keywords import KeywordPlan

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from trivium.core.types import Vector

# CROSS: the passages first. From ten ids on SQLite began with the vectors, and read every one of
# the model: .6 s at 100,000 passages instead of .2 ms.
CHECKSUMS = (
    "SELECT c.id, e.checksum FROM chunks c CROSS JOIN embeddings e ON e.hash = c.embedding"
    " WHERE e.model = ? AND e.checksum IS NOT NULL AND c.id IN ({})"
)


@dataclass(eq=False)
class EmbeddedSignals:
    _folder: Path
    _engine: Engine
    _indexes: Indexes
    _snapshots: Snapshots
    _writing: Writing

    def __post_init__(self) -> None:
        self._vectors = SqlVectors(self._engine)
        self._planned = PlannedSignals(self._postings)

    def search(self, signal: Signal, probe: Probe, where: Where, k: int) -> list[Hit]:
        """Raises IndexDamaged if this signal's index is damaged and can't be rebuilt now."""
        part = VECTORS if signal is Signal.VECTOR else WORDS

        def look() -> list[Hit]:
            damage = self._snapshots.latest().indexes.damaged.get(part)
            if damage is not None:
                raise damage
            return self._planned.search(signal, probe, where, k)

        with translated(self._folder):
            return self._writing.mended(look, incomplete=False)

    def rarities(self, words: Sequence[str], where: Where) -> list[float]:
        with translated(self._folder):
            return self._writing.mended(lambda: self._planned.rarities(words, where))

    def spellings(self, words: Sequence[str], where: Where) -> Mapping[str, tuple[Spelled, ...]]:
        with translated(self._folder):
            return self._writing.mended(lambda: self._planned.spellings(words, where))

    def completions(self, beginning: str, where: Where, most: int) -> tuple[Spelled, ...]:
        with translated(self._folder):
            return self._writing.mended(lambda: self._planned.completions(beginning, where, most))

    def vectors(self, ids: Sequence[ChunkId], where: Where) -> Mapping[ChunkId, Vector]:
        """From the index, which has the same 16 bits as the registry: .04 ms for ten, not 1.8."""
        with translated(self._folder):
            snapshot = self._snapshots.latest()
            index = snapshot.indexes.vectors
            if index is None or not index.count or VECTORS in self._indexes.damaged:
                return self._vectors.of_chunks(ids, where)
            allowed = self._snapshots.allowed(snapshot, where).chunks
            wanted = np.array([i for i in ids if 0 <= i < len(allowed) and allowed[i]], np.int64)
            places = np.searchsorted(index.ids, wanted)
            others, rows = index.rows_at(np.minimum(places, index.count - 1))
            triples = zip(wanted, others, rows.astype(np.float32), strict=True)
            return {int(i): row for i, other, row in triples if i == other}

    def token_vectors(
        self, ids: Sequence[ChunkId], where: Where, model: str
    ) -> Mapping[ChunkId, TokenVectors]:
        return self._vectors.tokens_of_chunks(ids, where, model)

    def changed_vectors(self, ids: Sequence[ChunkId]) -> list[ChunkId]:
        snapshot = self._snapshots.latest()
        index, model = snapshot.indexes.vectors, snapshot.indexes.model
        if index is None or not index.count or not ids:
            return []
        wanted = np.array(sorted(ids), np.int64)
        places = np.minimum(np.searchsorted(index.ids, wanted), index.count - 1)
        others, rows = index.rows_at(places)
        indexed = {int(i): row for i, row in zip(others, rows, strict=True)}
        there = sorted(indexed.keys() & set(ids))
        statement = CHECKSUMS.format(", ".join("?" * len(there)))
        with translated(self._folder):
            stored = rows_of(self._engine, statement, [model, *there])
        return [i for i, sum_ in stored if sum_ != crc32(vector_bytes(indexed[i]))]

    def sample(self, most: int, where: Where) -> tuple[int, list[ChunkId]]:
        with translated(self._folder):
            snapshot = self._snapshots.current()
            return spread(np.flatnonzero(self._snapshots.allowed(snapshot, where).chunks), most)

    def refresh(self) -> None:
        with translated(self._folder):
            self._snapshots.current()

    def _postings(self, where: Where) -> _FolderPostings:
        return _FolderPostings(self._snapshots, where)


class _FolderPostings(VisiblePostings[Snapshot]):
    """The work is the same whether or not anything is hidden from the caller, so that the time
    reveals nothing."""

    rarity = guarded("words")(VisiblePostings.rarity)
    keyword = guarded("words")(VisiblePostings.keyword)
    trigram = guarded("words")(VisiblePostings.trigram)
    holding = guarded("words")(VisiblePostings.holding)

    def __init__(self, snapshots: Snapshots, where: Where) -> None:
        super().__init__(snapshots, where)
        self._positions = partial(snapshots.positions, self._snapshot, where)

    def nearest(self, probe: Probe, words: KeywordPlan, k: int) -> list[Hit]:
        vectors, model = self._snapshot.indexes.vectors, self._snapshot.indexes.model
        if vectors is None or probe.vector is None:
            return []
        if probe.model != model:
            raise ModelChanged(
                f"This library's vectors come from {model}, but the query's"
                f" from {probe.model or 'an unnamed model'}."
            )
        passing = self._positions()
        if words.required or words.excluded:
            mask = self._with_words(words).take(vectors.ids, mode="clip")
            # Rows may have been added since the other mask was made.
            passing = mask if passing is None else passing & mask[: len(passing)]
        ids, scores = vectors.search(probe.vector, k, passing)
        enough = int(np.count_nonzero(scores >= probe.threshold))  # scores are in descending order
        return hits_of(ids[:enough], scores[:enough])

    @guarded("words")
    def _with_words(self, words: KeywordPlan) -> NDArray[np.bool_]:
        """By chunk id: whether it may be found, and holds what is required and nothing excluded.
        One more at the end for chunks that are newer."""
        fitting = self._visible.fitting(self._allowed, words.required, words.excluded)
        return np.append(fitting.mask, False)

    @guarded("words")
    def held(self, words: Sequence[str]) -> dict[str, int]:
        return {word: self._snapshot.words.frequency(word) for word in words}

    def expect(self, words: Sequence[str]) -> None:
        """The index of the text is in this process."""
        self._snapshot.known.expect("spellings", words)
