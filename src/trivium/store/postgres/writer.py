"""Makes every change to documents in PostgreSQL: each in one transaction, many at the same time.

Changes read, prepare and write their rows side by side; only the last part, from taking the
sequence number to the commit, is one at a time, so that readers see changes in the order of their
numbers. Two changes of the same source or the same bytes wait for each other.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from itertools import takewhile
from time import sleep
from zlib import crc32

import numpy as np
from sqlalchemy import Connection, Engine, select, text

from trivium.core.errors import JobInterrupted
from trivium.core.types import Document, DocumentId, Processed
from trivium.core.work import SyncPoint, TaskEnd
from trivium.ports import Waiting
from trivium.store.identity import is_shareable
from trivium.store.postgres.database import retried
from trivium.store.postgres.snapshots import Snapshots
from trivium.store.postgres.vectors import VectorTables
from trivium.store.postgres.words import WordRows, gather
from trivium.store.sql.feed import Feed
from trivium.store.sql.queue import not_theirs
from trivium.store.sql.staging import Staged, activate, stage, stage_restored
from trivium.store.sql.statements import setting, take
from trivium.store.sql.tables import counters
from trivium.store.sql.writer import Removed, T

MODEL = 7_411_004  # lock: shared by changes, exclusive for a switch of the model
_SOURCE = 7_411_005  # first half of the locks of sources and bytes


@dataclass(frozen=True)
class PostgresChanges:
    engine: Engine
    feed: Feed
    words: WordRows
    vectors: VectorTables
    snapshots: Snapshots
    alone: Callable[[], AbstractContextManager[None]]  # while no document is put
    _inside: threading.local = field(default_factory=threading.local)

    @contextmanager
    def writing(
        self, waiting: Waiting | None = None, patience: float | None = None
    ) -> Iterator[None]:
        """Nobody waits: each change is a transaction. On leaving, merges the rows of words."""
        depth = getattr(self._inside, "depth", 0)
        self._inside.depth = depth + 1
        try:
            yield
        finally:
            self._inside.depth = depth
            self.snapshots.forget()
        if not depth:
            self.tidy()

    def rest(self, seconds: float) -> None:
        sleep(seconds)

    def tidy(self) -> None:
        """Delete the vectors of removed chunks, and merge rows of words if there are many."""
        ranges = self.feed.leftovers()
        if ranges:
            with self.engine.begin() as connection:
                self.vectors.drop(connection, ranges)
            self.feed.clear_leftovers(ranges)
        self.words.merge()

    def put_first(self, batch: Sequence[Processed], model: str) -> list[Document]:
        def put() -> list[Document]:
            with self.engine.begin() as connection:
                _share_model(connection)
                _lock_sources(connection, batch)
                mine = _still_wanted(connection, batch)
                staged = stage(connection, mine, model, self._take)
                return self._show(
                    connection, model, staged.staged, staged.documents, staged.ends, staged.points
                )

        return retried(put)

    def _show(
        self,
        connection: Connection,
        model: str,
        staged: Sequence[Staged],
        wanted: Sequence[DocumentId],
        ends: Sequence[TaskEnd] = (),
        points: Sequence[SyncPoint] = (),
    ) -> list[Document]:
        indexed = [chunk for each in staged for chunk in each.indexed]
        gathered = gather([(chunk.text, chunk.language) for chunk in indexed])
        self.vectors.add(connection, model, indexed)
        # Takes the sequence number.
        documents = activate(connection, staged, wanted, ends, points)
        if indexed:
            query = select(counters.c.value).where(counters.c.name == "sequence")
            sequence = int(connection.scalar(query) or 0)
            ids = np.array([chunk.id for chunk in indexed], dtype=np.int64)
            self.words.add(connection, gathered, ids, sequence)
        return documents

    def _take(self, name: str, count: int) -> range:
        """In a separate transaction: others who need numbers don't wait for the change."""
        with self.engine.begin() as connection:
            return take(connection, name, count)

    def together(self) -> AbstractContextManager[None]:
        return nullcontext()  # each change is a transaction

    def change(self, act: Callable[[], T]) -> T:
        return retried(act)

    def remove(self, act: Callable[[], Removed]) -> Removed:
        """Alone: this deletes what only a removed document used, and a put under way may need the
        same vectors."""
        with self.alone():
            return retried(act)

    def tidy_removed(self) -> None:
        if not getattr(self._inside, "depth", 0):
            self.tidy()

    def undo(self) -> None:
        """Its transaction was rolled back."""

    def restore(self, document: DocumentId, number: int) -> Document:
        def restore() -> Document:
            with self.engine.begin() as connection:
                _share_model(connection)
                staged = stage_restored(connection, document, number, self._take)
                model = setting(connection, "model") or ""
                return self._show(connection, model, [staged], [document])[0]

        return retried(restore)


def _share_model(connection: Connection) -> None:
    """Blocks a switch of the model until this change is done. Rebuilding all indexes may take
    longer than the limit for a statement."""
    connection.execute(text("SET LOCAL statement_timeout = 0"))
    connection.execute(text(f"SELECT pg_advisory_xact_lock_shared({MODEL})"))
    connection.execute(text("SET LOCAL statement_timeout = DEFAULT"))


def _still_wanted(connection: Connection, batch: Sequence[Processed]) -> Sequence[Processed]:
    """The first ones, up to one whose task another worker has by now: that worker will put it."""
    lost = not_theirs(connection, [p.task for p in batch if p.task])
    mine = list(takewhile(lambda p: p.task is None or p.task.task not in lost, batch))
    if not mine:
        raise JobInterrupted(
            "Another worker has taken over this document.", fix="You don't need to do anything."
        )
    return mine


def _lock_sources(connection: Connection, batch: Sequence[Processed]) -> None:
    """In the same order for everyone, so that there is no deadlock."""
    keys = {f"{p.collection}\0{p.uri}" for p in batch}
    keys |= {f"{p.collection}\0{p.content_hash}" for p in batch if is_shareable(p)}
    numbers = sorted({crc32(key.encode()) - 2**31 for key in keys})
    connection.execute(
        text(
            f"SELECT pg_advisory_xact_lock({_SOURCE}, k) FROM"
            " (SELECT unnest(CAST(:keys AS integer[])) AS k ORDER BY 1) AS ordered"
        ),
        {"keys": numbers},
    )
