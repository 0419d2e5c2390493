"""Searches replicas of the database, which follow the primary some milliseconds later.

Replicas take turns. If one is away, or doesn't have yet what this process has seen or changed, the
primary answers instead, so nobody searches an older state than a moment ago. Only signals are asked
there: the primary decides which documents a caller may read.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from time import monotonic
from typing import TYPE_CHECKING, TypeVar

from sqlalchemy import Engine
from sqlalchemy.exc import DBAPIError

from trivium.core.errors import LibraryBusy, ModelChanged, StoreError
from trivium.core.types import ChunkId, Hit, Probe, Signal, Spelled, TokenVectors, Where
from trivium.store.postgres.signals import PostgresSignals
from trivium.store.postgres.snapshots import Snapshots
from trivium.store.postgres.vectors import VectorTables
from trivium.store.sql.feed import Feed
from trivium.store.sql.models import SqlVectors

if TYPE_CHECKING:
    from trivium.core.types import Vector

T = TypeVar("T")
log = logging.getLogger("trivium.postgres")
_FAILED = (StoreError, DBAPIError)
CONNECT_SECONDS = 2  # a search waits this long for a replica before it asks the primary
AWAY_SECONDS = 30.0  # before a replica that didn't answer is asked again


@dataclass
class SearchServer:
    """A server that can be searched."""

    name: str
    feed: Feed
    snapshots: Snapshots
    tables: VectorTables
    signals: PostgresSignals
    away_until: float = 0.0

    @classmethod
    def on(cls, engine: Engine, name: str) -> SearchServer:
        feed = Feed(engine)
        snapshots = Snapshots(engine, feed)
        tables = VectorTables(engine, feed, snapshots.forget)
        signals = PostgresSignals(snapshots, tables, SqlVectors(engine))
        return cls(name, feed, snapshots, tables, signals)


class ReplicatedSignals:
    """Threads may share it. A search uses the place that `refresh` chose last; another search may
    choose another one meanwhile, but never an older state."""

    def __init__(self, primary: SearchServer, replicas: Sequence[SearchServer]) -> None:
        self._primary = primary
        self._replicas = replicas
        self._next = 0
        self._seen = 0  # the highest sequence number that a search has seen, or a change had
        self._forgotten = 0  # changes by this process that `seen` includes
        self._chosen = primary
        self._turn = threading.Lock()

    def refresh(self) -> None:
        forgotten = self._primary.snapshots.forgotten
        if forgotten != self._forgotten:  # this process has changed something
            self._note(self._primary.feed.sequence())
            self._forgotten = forgotten
        for place in self._in_turn():
            try:
                sequence = place.snapshots.current().active_chunks.sequence
            except _FAILED as reason:
                self._pass_over(place, reason)
                continue
            if self._note(sequence):
                self._chosen = place
                return
        self._ask_primary()

    def search(self, signal: Signal, probe: Probe, where: Where, k: int) -> list[Hit]:
        return self._from_replica(lambda signals: signals.search(signal, probe, where, k))

    def spellings(self, words: Sequence[str], where: Where) -> Mapping[str, tuple[Spelled, ...]]:
        return self._from_replica(lambda signals: signals.spellings(words, where))

    def completions(self, beginning: str, where: Where, most: int) -> tuple[Spelled, ...]:
        return self._from_replica(lambda signals: signals.completions(beginning, where, most))

    def rarities(self, words: Sequence[str], where: Where) -> Sequence[float]:
        return self._from_replica(lambda signals: signals.rarities(words, where))

    def vectors(self, ids: Sequence[ChunkId], where: Where) -> Mapping[ChunkId, Vector]:
        return self._from_replica(lambda signals: signals.vectors(ids, where))

    def token_vectors(
        self, ids: Sequence[ChunkId], where: Where, model: str
    ) -> Mapping[ChunkId, TokenVectors]:
        return self._from_replica(lambda signals: signals.token_vectors(ids, where, model))

    def changed_vectors(self, ids: Sequence[ChunkId]) -> list[ChunkId]:
        return self._primary.signals.changed_vectors(ids)

    def sample(self, most: int, where: Where) -> tuple[int, list[ChunkId]]:
        return self._from_replica(lambda signals: signals.sample(most, where))

    def _from_replica(self, call: Callable[[PostgresSignals], T]) -> T:
        place = self._chosen
        if place is self._primary:
            return call(place.signals)
        try:
            return call(place.signals)
        except _FAILED as reason:  # of any kind: the primary will say whether it is real
            self._pass_over(place, reason)
            self._ask_primary()
            return call(self._primary.signals)

    def _ask_primary(self) -> None:
        self._note(self._primary.snapshots.current().active_chunks.sequence)
        self._chosen = self._primary

    def _in_turn(self) -> list[SearchServer]:
        """The replicas that answer, starting with another one each time."""
        with self._turn:
            self._next = (self._next + 1) % len(self._replicas)
            order = [*self._replicas[self._next :], *self._replicas[: self._next]]
        return [place for place in order if place.away_until <= monotonic()]

    def _note(self, sequence: int) -> bool:
        """Whether a server at this number has everything that was seen before."""
        with self._turn:
            is_current = sequence >= self._seen
            self._seen = max(self._seen, sequence)
        return is_current

    def _pass_over(self, place: SearchServer, reason: Exception) -> None:
        if isinstance(reason, ModelChanged | LibraryBusy):
            return  # it lags behind, or replays something that conflicts with a search
        place.away_until = monotonic() + AWAY_SECONDS
        log.warning("Not searching on the replica %s: %s", place.name, reason)
