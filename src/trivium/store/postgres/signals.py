"""The three signals of a library in PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np

from trivium.core.errors import LibraryNotFound, ModelChanged
from trivium.core.types import ChunkId, Hit, Probe, TokenVectors, Where
from trivium.store.postgres.snapshots import Snapshot, Snapshots
from trivium.store.postgres.vectors import VectorTables
from trivium.store.signals import PlannedSignals, spread
from trivium.store.sql.models import SqlVectors
from trivium.store.visible import VisiblePostings
from trivium.text.keywords import KeywordPlan
from trivium.text.spelling import PlannedWord

if TYPE_CHECKING:
    from trivium.core.types import Vector


class PostgresSignals(PlannedSignals):
    def __init__(self, snapshots: Snapshots, tables: VectorTables, vectors: SqlVectors) -> None:
        super().__init__(self._postings)
        self._snapshots = snapshots
        self._tables = tables
        self._vectors = vectors

    def vectors(self, ids: Sequence[ChunkId], where: Where) -> Mapping[ChunkId, Vector]:
        snapshot = self._snapshots.latest()
        chunks = self._snapshots.allowed(snapshot, where).chunks
        visible = [i for i in ids if i < len(chunks) and chunks[i]]
        with _of_the_same_model():
            return self._tables.of_chunks(snapshot.served, visible)

    def token_vectors(
        self, ids: Sequence[ChunkId], where: Where, model: str
    ) -> Mapping[ChunkId, TokenVectors]:
        return self._vectors.tokens_of_chunks(ids, where, model)

    def changed_vectors(self, ids: Sequence[ChunkId]) -> list[ChunkId]:
        """The server verifies its own pages (data checksums), and there is no file of ours."""
        return []

    def sample(self, most: int, where: Where) -> tuple[int, list[ChunkId]]:
        snapshot = self._snapshots.current()
        return spread(np.flatnonzero(self._snapshots.allowed(snapshot, where).chunks), most)

    def refresh(self) -> None:
        self._snapshots.current()

    def _postings(self, where: Where) -> RowPostings:
        return RowPostings(self._snapshots, where, self._tables)


class RowPostings(VisiblePostings[Snapshot]):
    def __init__(self, snapshots: Snapshots, where: Where, tables: VectorTables) -> None:
        super().__init__(snapshots, where)
        self._tables = tables

    def expect(self, words: Sequence[str]) -> None:
        self._snapshot.occurrences.expect("spellings", words)
        self._snapshot.known.expect("spellings", words)

    def keyword(self, plan: KeywordPlan, k: int) -> list[Hit]:
        runs = [run for clause in plan.clauses for run in clause.runs]
        self._snapshot.occurrences.expect("stems", [word for run in runs for word in run])
        return super().keyword(plan, k)

    def trigram(self, plan: Sequence[PlannedWord], words: KeywordPlan, k: int) -> list[Hit]:
        runs = [spelling.words for planned in plan for spelling in planned.spellings]
        self.expect([word for run in runs for word in run])
        return super().trigram(plan, words, k)

    def nearest(self, probe: Probe, words: KeywordPlan, k: int) -> list[Hit]:
        serving = self._snapshot.serving
        if probe.vector is None or not serving.dimensions:
            return []
        if probe.model != serving.model:
            raise ModelChanged(
                f"This library's vectors come from {serving.model}, but the query's"
                f" from {probe.model or 'an unnamed model'}."
            )
        passing = self._visible.fitting(self._allowed, words.required, words.excluded).mask
        with _of_the_same_model():
            hits = self._tables.nearest(
                self._snapshot.served, probe.vector, k, passing, self._allowed.total
            )
        return [hit for hit in hits if hit.score >= probe.threshold]

    def held(self, words: Sequence[str]) -> Mapping[str, int]:
        return self._snapshot.occurrences.remembered.held(words)


@contextmanager
def _of_the_same_model() -> Iterator[None]:
    """The table of a model is dropped once another model's vectors are in use."""
    try:
        yield
    except LibraryNotFound as reason:
        raise ModelChanged("This library now uses another model.") from reason
