"""Writes to a folder: one process at a time, and it cleans up after one that died.

The order makes it safe. A write stages rows in SQLite, updates the derived indexes, and only then
switches in SQLite; so everything active in SQLite is in the indexes. The picture of active chunks
masks anything else in the indexes (`leftovers`), and it is removed later.

`Writing` is a turn at writing, `FolderChanges` is a change of documents in one, and
`FolderVectors` keeps the files of vectors in step with the models in the database.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Condition
from time import sleep
from typing import TypeVar

import numpy as np

from trivium.core.errors import DiskFull, IndexDamaged, LibraryBusy, LibraryReadOnly
from trivium.core.types import ChunkId, Document, DocumentId, Processed
from trivium.ports import Leases, Waiting
from trivium.store.embedded.asof import discard
from trivium.store.embedded.database import translated
from trivium.store.embedded.indexes import Indexes
from trivium.store.embedded.snapshots import Snapshots
from trivium.store.sql.feed import Feed
from trivium.store.sql.models import drop_unneeded
from trivium.store.sql.staging import Staging
from trivium.store.sql.writer import Removed

T = TypeVar("T")
WRITER = "writer"  # the lease
DOING = "writing to this library"
_DEAD = 0.3  # share of vectors without an active chunk at which they are rewritten


@dataclass(eq=False)
class Writing:
    """Threads of one process take turns too."""

    _folder: Path
    _leases: Leases
    _feed: Feed
    _staging: Staging
    _indexes: Indexes
    _snapshots: Snapshots

    def __post_init__(self) -> None:
        self._writers = threading.RLock()
        self._mending = threading.RLock()
        self._depth = 0
        self._lease = ExitStack()

    @contextmanager
    def writing(
        self, waiting: Waiting | None = None, patience: float | None = None
    ) -> Iterator[None]:
        with self._turn(patience), translated(self._folder):
            if self._depth:
                yield
                return
            with ExitStack() as self._lease:
                self._lease.enter_context(
                    self._leases.hold(WRITER, DOING, waiting=waiting, patience=patience)
                )
                self._depth = 1
                try:
                    self._recover()
                    yield
                    self._settle()
                except BaseException:
                    self._indexes.abandon()
                    raise
                finally:
                    self._depth = 0
                    self._snapshots.forget()

    def rest(self, seconds: float) -> None:
        if not self._depth:
            sleep(seconds)
            return
        self._settle()
        lease = self._lease
        lease.close()
        self._depth = 0
        Condition(self._writers).wait(seconds)  # which releases it, however often it is held
        while not self._depth:
            with suppress(LibraryBusy):
                lease.enter_context(self._leases.hold(WRITER, DOING))
                self._lease, self._depth = lease, 1
        self._recover()

    @contextmanager
    def _turn(self, patience: float | None) -> Iterator[None]:
        if not self._writers.acquire(timeout=-1 if patience is None else patience):
            raise LibraryBusy("Another thread is writing to this library.")
        try:
            yield
        finally:
            self._writers.release()

    def undo(self) -> None:
        """After a failure, within `writing`: remove what was staged."""
        self._indexes.abandon()
        self._recover()
        self._snapshots.forget()

    def _recover(self) -> None:
        """Undo what a dead writer left half done, and index what the indexes lack."""
        self._indexes.start_writing()
        self._staging.discard()
        drop_unneeded(self._feed.engine)
        self._drop_leftovers()
        if self._snapshots.is_behind():
            self._indexes.catch_up()
            self._snapshots.forget()

    def _settle(self) -> None:
        """Leave the indexes tidy for readers."""
        self._drop_leftovers()
        vectors = self._indexes.vectors
        if vectors is not None and vectors.count:
            active = self._snapshots.active_vectors(self._snapshots.current())
            if 1 - active / vectors.count > _DEAD:
                self._indexes.rebuild_vectors()
        self._indexes.shed(len(self._snapshots.active_chunks()))
        self._indexes.stop_writing()

    def _drop_leftovers(self) -> None:
        ranges = self._feed.leftovers()
        if ranges:
            self._indexes.drop(ranges)
            self._feed.clear_leftovers(ranges)

    # --- damaged indexes

    def catch_up(self) -> None:
        """On opening: index what the indexes lack, and rebuild damaged ones if that is possible
        now. On a read-only disk, you can search what is there."""
        if self._snapshots.is_behind():
            with suppress(LibraryReadOnly, DiskFull), self.writing():
                pass  # entering does it
        for damage in [*self._indexes.damaged.values()]:
            with suppress(IndexDamaged):  # the other signals still work
                self._mend(damage, self._indexes.rebuilt[damage.part])

    def _mend(self, damage: IndexDamaged, rebuilt: int) -> None:
        """Rebuild a damaged index right now, unless a thread that met the same damage has: how
        often it had been `rebuilt` when this one began to read. Raises the damage if another
        process is writing, or nobody can."""
        with self._mending:  # the signals of one search meet it at the same time
            if self._indexes.rebuilt[damage.part] != rebuilt:
                return
            self._indexes.distrust(damage)
            self._snapshots.forget()
            try:
                with self.writing(patience=0):
                    pass  # entering rebuilds it
            except (LibraryBusy, LibraryReadOnly, DiskFull) as reason:
                raise damage from reason

    def mended(self, look: Callable[[], T], *, incomplete: bool = True) -> T:
        """The result of reading the indexes, rebuilt if they turn out to be damaged. If they can't
        be rebuilt now: with an empty one in their place, or, if `incomplete` is False, the damage
        is raised."""
        rebuilt = self._indexes.rebuilt.copy()
        try:
            return look()
        except IndexDamaged as damage:
            with suppress(IndexDamaged) if incomplete else nullcontext():
                self._mend(damage, rebuilt[damage.part])
            return look()


@dataclass(frozen=True, slots=True)
class FolderChanges:
    """Each change has its turn at writing."""

    folder: Path
    turns: Writing
    staging: Staging
    indexes: Indexes

    def writing(
        self, waiting: Waiting | None = None, patience: float | None = None
    ) -> AbstractContextManager[None]:
        return self.turns.writing(waiting, patience)

    def rest(self, seconds: float) -> None:
        self.turns.rest(seconds)

    def together(self) -> AbstractContextManager[None]:
        return self.turns.writing()

    def change(self, act: Callable[[], T]) -> T:
        with self.turns.writing():
            return act()

    def remove(self, act: Callable[[], Removed]) -> Removed:
        return self.change(act)

    def put_first(self, batch: Sequence[Processed], model: str) -> list[Document]:
        stage = self.staging.stage(batch, model)
        self.indexes.add([chunk for staged in stage.staged for chunk in staged.indexed])
        return self.staging.activate(stage.staged, stage.documents, stage.ends, stage.points)

    def restore(self, document: DocumentId, number: int) -> Document:
        with self.turns.writing():
            staged = self.staging.stage_restored(document, number)
            self.indexes.add(staged.indexed)
            return self.staging.activate([staged], [document])[0]

    def undo(self) -> None:
        self.turns.undo()

    def tidy_removed(self) -> None:
        discard(self.folder)


@dataclass(eq=False)
class FolderVectors:
    _folder: Path
    _indexes: Indexes
    _snapshots: Snapshots
    _writing: Writing

    def holds_all(self) -> bool:
        return self.held() == len(self._snapshots.active_chunks())

    def held(self) -> int:
        return self._snapshots.active_vectors(self._snapshots.current())

    def catch_up(self) -> None:
        self._indexes.rebuild_vectors()
        self._snapshots.forget()

    def prepare(self, model: str, dimensions: int) -> None:
        with translated(self._folder):
            self._indexes.build_beside(model, dimensions)

    def finish(self, model: str, dimensions: int) -> ChunkId:
        indexed = self._indexes.build_beside(model, dimensions)
        # Rows rise by id, so it can't add a chunk below its last one. If one is missing, build
        # everything again.
        if not np.isin(self._snapshots.active_chunks(), indexed).all():
            indexed = self._indexes.build_beside(model, dimensions, anew=True)
        return int(indexed[-1]) if len(indexed) else 0

    def switched(self) -> None:
        self._snapshots.current()

    def drop_others(self) -> None:
        with self._writing.writing():
            pass  # entering removes the files of other models
