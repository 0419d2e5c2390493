"""Looks after a served library: runs its queue, resumes a change of the model, follows watched
folders, and syncs sources when they are due.

Has its own threads. Several processes may do this for one library: leases make sure that only one
does each at a time. Knows nothing of the server.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from secrets import token_hex
from threading import Event, Thread
from time import monotonic
from typing import TYPE_CHECKING

from trivium.core.errors import LibraryBusy, TriviumError
from trivium.core.types import Labels
from trivium.core.work import ATTENDING, REEMBED, JobState, WatchedFolder
from trivium.ingest.reembed import ReembedProgress
from trivium.library.folders import Followed
from trivium.library.sync import SyncOptions

if TYPE_CHECKING:
    from trivium.library.library import Library

log = logging.getLogger("trivium.tend")

FOLLOWING = "following"  # the lease
ALERTING = "alerting"  # the lease of who checks alerts
_TELL_SECONDS = 4.0  # between two looks for alerts: a person who added a file still remembers it
_DOING = "following the folders of this library"
LOOK_SECONDS = 1.0  # between two looks at what others may have asked for: a query of .1 ms each
_ATTEND_SECONDS = 5.0  # between two looks whether a database still counts this process
_AGAIN_SECONDS = 10.0  # until what went wrong is tried again
_SWEEP_SECONDS = 600.0
_WAIT_SECONDS = 5.0  # that a source may wait for its service while others are due


class Background:
    """Use it as a context manager; leaving it waits for the documents under way."""

    def __init__(self, library: Library) -> None:
        self._library = library
        self._stop = Event()
        self._woken = Event()
        self._hearing = ExitStack()
        self._followers: dict[str, _Following] = {}
        self._swept = monotonic() - _SWEEP_SECONDS
        duties: dict[str, Callable[[], bool]] = {
            "Running jobs": self._work,
            "Changing the model": self._change_model,
            "Following folders": self._follow,
            "Syncing sources": self._sync,
            "Checking alerts": self._tell,
            "Counting this process": self._attend,
        }
        self._threads = [
            Thread(target=self._keep_at, args=(title, duty), name=f"trivium-tend{duty.__name__}")
            for title, duty in duties.items()
        ]

    def __enter__(self) -> Background:
        self._hearing.enter_context(self._library.backend.queue.listening(self.wake))
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._woken.set()
        self._library.jobs.stop()
        for thread in self._threads:
            thread.join()
        self._hearing.close()

    @property
    def is_alive(self) -> bool:
        """Whether all of its threads run, and the library can be reached."""
        with suppress(TriviumError):
            self._library.upkeep.check_there()
            return all(thread.is_alive() for thread in self._threads)
        return False

    def wake(self) -> None:
        """There is something to do: check now instead of in a second."""
        self._woken.set()

    def state_of(self, folder: str) -> tuple[str, str]:
        """The last event of a watched folder, if this process follows it: a kind and a line, as in
        `Followed`."""
        follower = self._followers.get(folder)
        return (follower.state, follower.message) if follower else ("", "")

    def _keep_at(self, title: str, duty: Callable[[], bool]) -> None:
        """Whatever goes wrong is said, and tried again later."""
        while not self._stop.is_set():
            pause = LOOK_SECONDS
            try:
                if duty():
                    continue
            except TriviumError as error:
                log.warning("%s failed; trying again in %.0f s. %s", title, _AGAIN_SECONDS, error)
                pause = _AGAIN_SECONDS
            except Exception:
                log.exception("%s failed", title)
                pause = _AGAIN_SECONDS
            if duty == self._work:
                self._woken.wait(pause)
                self._woken.clear()
            else:
                self._stop.wait(pause)

    # --- jobs

    def _work(self) -> bool:
        if monotonic() - self._swept > _SWEEP_SECONDS:
            self._swept = monotonic()
            self._library.uploads.sweep()
        return self._library.jobs.work_next()

    def _attend(self) -> bool:
        """Be counted among the processes that take jobs."""
        leases, name = self._library.backend.leases, f"{ATTENDING}{token_hex(8)}"
        with leases.hold(name, "taking jobs", patience=0):
            while not self._stop.wait(_ATTEND_SECONDS) and leases.is_held(name):
                pass
        return False

    def _change_model(self) -> bool:
        waiting = [
            job
            for job in self._library.jobs.all(ended=False)
            if job.kind == REEMBED and job.state is JobState.QUEUED
        ]
        if waiting:
            with suppress(_Stopping):
                self._library.models.reembed(on_progress=self._go_on)
        return False

    def _go_on(self, _progress: ReembedProgress) -> None:
        if self._stop.is_set():
            raise _Stopping  # the job is left to another process

    # --- what people ask

    def _tell(self) -> bool:
        """Write the log of queries, and look whether something new matches an alert."""
        self._library.queries.flush()
        backend = self._library.backend
        if self._library.alerts.all() and not self._library.jobs.all(ended=False, limit=1):
            with (
                suppress(LibraryBusy),
                backend.leases.hold(ALERTING, "checking alerts", patience=0),
            ):
                self._library.alerts.check()
        self._stop.wait(_TELL_SECONDS)
        return False

    # --- watched folders

    def _follow(self) -> bool:
        """For as long as this is the process that follows them."""
        self._library.upkeep.check_there()  # taking the lock would make the folder again
        with ExitStack() as stack:
            try:
                stack.enter_context(
                    self._library.backend.leases.hold(FOLLOWING, _DOING, patience=0)
                )
            except LibraryBusy:
                return False
            try:
                while not self._stop.is_set():
                    self._compare()
                    self._stop.wait(LOOK_SECONDS)
            finally:
                for id_ in list(self._followers):
                    self._followers.pop(id_).end()
        return False

    def _compare(self) -> None:
        """Follow exactly the watched folders."""
        wanted = {folder.id: folder for folder in self._library.folders.all()}
        for id_ in self._followers.keys() - wanted.keys():
            self._followers.pop(id_).end()
        for id_ in wanted.keys() - self._followers.keys():
            self._followers[id_] = _Following(self._library, wanted[id_]).begin()

    # --- sources

    def _sync(self) -> bool:
        """Sync the sources that are due, one at a time. One that must wait for its service is left
        for later, so that the others get their turn."""
        for source in self._library.sync.due():
            if self._stop.is_set():
                return False
            self._library.upkeep.check_there()
            try:
                options = SyncOptions(longest_wait=_WAIT_SECONDS, patient=True)
                run = self._library.sync.run(source.name, options, stop=self._stop)
                log.info("synced %s: %s %s", source.name, dict(run.counts), run.message)
            except LibraryBusy:
                continue  # another process does it
            except TriviumError as error:
                log.warning("syncing %s: %s", source.name, error)
            except Exception:
                log.exception("syncing %s failed", source.name)
        return False


class _Stopping(Exception):
    """The server stops during a change of the model."""


@dataclass
class _Following:
    """One folder, and the thread that follows it."""

    library: Library
    folder: WatchedFolder
    state: str = ""
    message: str = ""
    _stop: Event = field(default_factory=Event)
    _thread: Thread | None = None

    def begin(self) -> _Following:
        self._thread = Thread(target=self._run, name=f"trivium-follow-{self.folder.id}")
        self._thread.start()
        return self

    def end(self) -> None:
        self._stop.set()
        if self._thread is not None:
            self._thread.join()

    def _run(self) -> None:
        f = self.folder
        labels = Labels(f.collection, f.category, f.audience, {})
        while not self._stop.is_set():
            try:
                self.library.folders.watch(
                    [f.path], labels, ignore=f.ignore, stop=self._stop, on_event=self._hear
                )
            except TriviumError as error:  # it is not there, or not yet
                self._hear(Followed("problem", f.path, str(error)))
            except Exception:
                log.exception("following %s failed", f.path)
                self._hear(Followed("problem", f.path, "Something went wrong inside Trivium."))
            self._stop.wait(_AGAIN_SECONDS)

    def _hear(self, event: Followed) -> None:
        log.info("%s %s %s", event.kind, event.uri, event.message)
        if event.kind in ("watching", "vanished", "empty", "problem"):
            self.state, self.message = event.kind, event.message
