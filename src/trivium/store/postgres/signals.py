"""The three signals of a library in PostgreSQL."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING

import numpy as np

from trivium.core.errors import LibraryNotFound, ModelChanged
from trivium.core.types import ChunkId, Hit, Probe, TokenVectors, Where
from trivium.store.postgres.snapshots import Snapshot, Snapshots
from trivium.store.postgres.vectors import ServedModel, VectorTables
from trivium.store.signals import PlannedSignals, spread
from trivium.store.sql.feed import Allowed
from trivium.store.sql.models import SqlVectors
from trivium.store.visible import Visible
from trivium.text.keywords import KeywordPlan, Run
from trivium.text.spelling import PlannedWord
from trivium.text.trigrams import WordList

if TYPE_CHECKING:
    from numpy.typing import NDArray

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
        seen = [i for i in ids if i < len(chunks) and chunks[i]]
        with _of_the_same_model():
            return self._tables.of_chunks(snapshot.served, seen)

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
        snapshot = self._snapshots.latest()
        visible = self._snapshots.visible(snapshot, where.access)
        allowed = partial(self._snapshots.allowed, snapshot, where)
        return RowPostings(snapshot, visible, allowed, self._tables.nearest)


@dataclass(frozen=True)
class RowPostings:
    """What one caller finds with one filter in one snapshot."""

    snapshot: Snapshot
    _visible: Visible
    allowed: Callable[[], Allowed]
    look: Callable[
        [ServedModel, Vector, int, NDArray[np.bool_], int], list[Hit]
    ]  # VectorTables.nearest

    @cached_property
    def _allowed(self) -> Allowed:
        return self.allowed()

    @property
    def vocabulary(self) -> WordList:
        return self._visible.words

    @property
    def languages(self) -> tuple[str, ...]:
        return self._visible.languages

    def expect(self, words: Sequence[str]) -> None:
        self.snapshot.occurrences.expect("spellings", words)
        self.snapshot.known.expect("spellings", words)

    @property
    def plans(self) -> dict[str, PlannedWord]:
        return self._visible.plans

    def rarity(self, run: Run) -> float:
        return self._visible.rarity(run)

    def rarity_of(self, holding: int) -> float:
        return self._visible.rarity_of(holding)

    def keyword(self, plan: KeywordPlan, k: int) -> list[Hit]:
        runs = [run for clause in plan.clauses for run in clause.runs]
        self.snapshot.occurrences.expect("stems", [word for run in runs for word in run])
        return self._visible.keyword(plan, self._allowed, k)

    def trigram(self, plan: Sequence[PlannedWord], words: KeywordPlan, k: int) -> list[Hit]:
        runs = [spelling.words for planned in plan for spelling in planned.spellings]
        self.expect([word for run in runs for word in run])
        return self._visible.trigram(plan, words, self._allowed, k)

    def nearest(self, probe: Probe, words: KeywordPlan, k: int) -> list[Hit]:
        serving = self.snapshot.serving
        if probe.vector is None or not serving.dimensions:
            return []
        if probe.model != serving.model:
            raise ModelChanged(
                f"This library's vectors come from {serving.model}, but the query's"
                f" from {probe.model or 'an unnamed model'}."
            )
        passing = self._visible.fitting(self._allowed, words.required, words.excluded)
        with _of_the_same_model():
            hits = self.look(self.snapshot.served, probe.vector, k, passing, self._allowed.total)
        return [hit for hit in hits if hit.score >= probe.threshold]

    def holding(self, run: Run, most: int) -> int:
        return self._visible.count(run, self._allowed, most)

    def held(self, words: Sequence[str]) -> Mapping[str, int]:
        return self.snapshot.occurrences.remembered.held(words)


@contextmanager
def _of_the_same_model() -> Iterator[None]:
    """The table of a model is dropped once another model's vectors are in use."""
    try:
        yield
    except LibraryNotFound as reason:
        raise ModelChanged("This library now uses another model.") from reason
