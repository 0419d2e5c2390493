"""The work on a library: jobs as people see them, the queue of workers, and who does what alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, Protocol

from trivium.ports.documents import Waiting

if TYPE_CHECKING:
    from trivium.core.work import (
        Job,
        JobId,
        JobState,
        Offered,
        Priority,
        Retryable,
        Task,
        TaskEnd,
        TaskId,
        TaskProgress,
        TaskState,
    )


class Jobs(Protocol):
    """Jobs as people see and control them: from any process, at any time."""

    def all(self, *, ended: bool = True, limit: int | None = None) -> list[Job]:
        """The newest first."""

    def get(self, job: JobId) -> Job | None: ...

    def tasks(
        self,
        job: JobId,
        *,
        states: Sequence[TaskState] | None = None,
        offset: int = 0,
        limit: int | None = None,
    ) -> list[Task]:
        """In the order offered. Unchanged documents are only counted on the job, and no longer
        listed once it has ended."""

    def retryable(self, kind: str) -> list[Retryable]:
        """Everything that unfinished or failed jobs of this kind were offered, by age: it may be
        tried again."""

    def task_states(self) -> dict[str, int]:
        """How many documents of jobs with work left are in each state."""

    def fates(self, job: JobId) -> dict[str, int]:
        """How many of its documents were added, updated, unchanged, ..."""

    def chunks_of(self, job: JobId) -> int:
        """How many passages its added and updated documents have."""

    def cancel(self, job: JobId) -> bool:
        """Start no more of its waiting tasks. False: it has ended already, or doesn't exist."""

    def retry(self, job: JobId, task: TaskId | None = None) -> int:
        """Queue the failed tasks of a job again, or one of them; returns how many."""

    def clear(self) -> int:
        """Delete every job that has ended; returns how many."""


class Queue(Protocol):
    """The durable queue that workers process. Each worker has its own name and holds a lease with
    that name (`worker_lease`); the tasks of a dead worker come back."""

    def create(
        self,
        kind: str,
        what: str,
        options: Mapping[str, Any],
        priority: Priority,
        offered: Sequence[Offered] | None,
        worker: str = "",
    ) -> JobId:
        """Create a job with all its tasks; or, if these are None, a job whose tasks this worker
        alone adds as it meets them (`extend`, `complete`)."""

    def recover(self) -> None:
        """Take over from workers that died."""

    def claim(self, worker: str, limit: int, before: tuple[int, JobId] | None = None) -> list[Task]:
        """The next tasks: by priority, then in turn by sender, and of each sender the oldest jobs
        first. `before`: only of jobs ahead of this one."""

    def is_waiting(self) -> bool:
        """Whether a worker would find something to do."""

    def start(self, worker: str, job: JobId) -> None:
        """This worker starts on the job: its rate is measured from now."""

    def reserve(self, count: int) -> range:
        """Numbers for new tasks."""

    def extend(self, worker: str, met: Sequence[tuple[TaskId, JobId, TaskId, Offered]]) -> None:
        """Add tasks, with job and parent, that this worker has found and is working on."""

    def complete(self, job: JobId) -> None:
        """No more tasks will come."""

    def abandon(self, job: JobId) -> None:
        """The only process that knew its documents has stopped."""

    def end(self, ends: Sequence[TaskEnd]) -> None:
        """End tasks without storing a document (storing one ends its task too)."""

    def end_again(self, ends: Sequence[TaskEnd]) -> None:
        """Mark tasks that failed, or are in progress, as done after all."""

    def release(self, ids: Sequence[TaskId], *, lost: bool = False) -> None:
        """Give up tasks for other workers. `lost`: the worker can't continue, and one of these may
        be the reason. A task that is lost twice has failed."""

    def note(self, job: JobId, notes: Sequence[str]) -> None:
        """What people should know about it."""

    def note_progress(self, noted: Mapping[TaskId, TaskProgress]) -> None:
        """How far tasks are, for people who watch. Tasks that nobody works on stay as they are."""

    def cancelled(self, some: Sequence[JobId]) -> set[JobId]: ...

    def unembedded(self) -> list[Task]:
        """Tasks whose documents lack vectors, or lacked some."""

    def listening(self, wake: Callable[[], None]) -> AbstractContextManager[None]:
        """While it is open, calls `wake` if another process may have queued something and the
        backend can notice that. Workers check now and then anyway."""

    # a change of the model, which has no tasks
    def begin_reembed(self, model: str, model_settings: Mapping[str, str]) -> Job:
        """The job that changes to this model: the unfinished one, or a new one."""

    def take_up(self, worker: str, job: JobId) -> None:
        """This worker takes the job from now on."""

    def advance(self, job: JobId, ended: int, of: int) -> None:
        """How many passages are embedded."""

    def leave(self, job: JobId, state: JobState, note: str = "") -> None:
        """This process is done with the job; `queued`: another one continues."""


class Leases(Protocol):
    """Names with one owner at a time: until the owner releases it, dies, or its lease expires.
    Files are unlocked when the process that locked them ends."""

    def hold(
        self,
        name: str,
        doing: str,
        *,
        waiting: Waiting | None = None,
        patience: float | None = None,
    ) -> AbstractContextManager[None]:
        """Wait for the name, then hold it. `doing` says what its holder does, for those who wait.
        Raises LibraryBusy after `patience` seconds (None: the backend's own)."""

    def is_held(self, name: str) -> bool:
        """Whether a process holds it now, including this one."""

    def count_held(self, beginning: str) -> int:
        """How many names with this beginning are held now."""
