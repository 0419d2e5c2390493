"""How jobs are worked off, in this process or by another one, and how people steer them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from time import perf_counter

from trivium import errors
from trivium.errors import JobNotFound, LibraryBusy, TriviumError
from trivium.ingest.outcomes import Fate, Outcome
from trivium.library.model import description
from trivium.library.nearness import Nearness
from trivium.library.report import MOST_OUTCOMES, Report, Tally
from trivium.library.shift import Shift
from trivium.ports import Source, Waiting
from trivium.text.values import check_scalar
from trivium.work import REEMBED, Job, JobId, JobState, Task, TaskId, TaskState

_POLL = 0.2  # seconds between two looks at the work of another process
_BUSY = (
    "Another process is writing to this library: it works on this too,"
    " or this one goes on when it ends; waiting."
)


class Working(Nearness):
    # --- looking and steering: from any process

    def jobs(self, *, ended: bool = True, limit: int | None = None) -> list[Job]:
        """The newest first. `ended` off: only those with work left."""
        return [self._as_it_is(job) for job in self._store.queue.jobs(ended=ended, limit=limit)]

    def job(self, job: JobId) -> Job:
        check_scalar("job", job)
        found = self._store.queue.job(job)
        if found is None:
            raise JobNotFound(f"There is no job {job}.")
        return self._as_it_is(found)

    def _as_it_is(self, job: Job) -> Job:
        """A worker that was killed could not write down that it stopped: nobody is at its job."""
        store = self._store
        if job.state is not JobState.RUNNING:
            return job
        if store.is_changing_model() if job.kind == REEMBED else store.is_being_written():
            return job
        return replace(job, state=JobState.QUEUED, rate=0.0, seconds_left=None)

    def tasks(
        self,
        job: JobId,
        *,
        states: Sequence[TaskState] | None = None,
        offset: int = 0,
        limit: int | None = None,
    ) -> list[Task]:
        """The documents of a job, in the order offered. Those that were found unchanged are no
        longer listed once it has ended."""
        self.job(job)
        check_scalar("offset", offset)
        check_scalar("limit", limit or 0)
        return self._store.queue.tasks(job, states=states, offset=offset, limit=limit)

    def fates(self, job: JobId) -> Mapping[str, int]:
        """How many of its documents were added, updated, unchanged, ..."""
        self.job(job)
        return self._store.queue.fates(job)

    def cancel(self, job: JobId) -> Job:
        """What it has done stays. Whoever works on it stops at the next document."""
        found = self.job(job)
        self._store.queue.cancel(job)
        if found.kind == REEMBED and not found.state.has_ended:
            self._store.abandon_model()  # whoever works on it meets that at its next batch
        return self.job(job)

    def retry(self, job: JobId, task: TaskId | None = None) -> int:
        """Let what failed in a job, or one task of it, wait to be worked on again; how many."""
        self.job(job)
        check_scalar("task", task or 0)
        return self._store.queue.retry(job, task)

    def clear_jobs(self) -> int:
        """Forget every job that has ended; how many."""
        return self._store.queue.clear()

    def follow(self, job: JobId, seconds: float = _POLL) -> Iterator[Job]:
        """The job as it is now, and again whenever it has moved, until it has ended, whoever works
        on it. Looks every so many seconds."""
        before: Job | None = None
        while before is None or not before.state.has_ended:
            now = self.job(job)
            if before is None or (now.state, now.ended, now.tasks) != (
                before.state,
                before.ended,
                before.tasks,
            ):
                yield now
            before = now
            if not now.state.has_ended:
                time.sleep(seconds)

    # --- working

    def work(
        self,
        job: JobId | None = None,
        *,
        on_outcome: Callable[[Outcome], None] | None = None,
        on_wait: Waiting | None = None,
    ) -> Report:
        """Work off the queue until this job has ended; None: until nothing is left. Where another
        process works it off, wait for that, and go on if it dies."""
        started, spent = perf_counter(), 0.0
        tally = Tally(on_outcome)
        tell = _once(on_wait)
        while self._is_open(job) and not self._halt.is_set():
            with ExitStack() as held:
                try:
                    held.enter_context(self._store.writing(patience=0))
                except LibraryBusy:
                    tell(_BUSY)
                    time.sleep(_POLL)
                    continue
                spent += self._take_over(job, tally, tell)
        if self._halt.is_set() and self._is_open(job):
            raise LibraryBusy("The library is being closed.", fix="What is left waits.")
        return self._report(job, tally, perf_counter() - started, spent)

    def work_next(self) -> bool:
        """Work off the queue up to the end of the job that comes first. False: there is nothing to
        do now, or another thread or process is at it."""
        left = [job for job in self._store.queue.jobs(ended=False) if job.kind != REEMBED]
        if not left or self._halt.is_set():
            return False
        first = min(left, key=lambda job: (job.priority, job.id))
        started, tally = perf_counter(), Tally()
        try:
            with self._store.writing(patience=0):
                spent = self._take_over(first.id, tally, lambda text: None)
        except LibraryBusy:
            return False
        try:
            self._report(first.id, tally, perf_counter() - started, spent)
            return self.job(first.id).state.has_ended  # or whoever calls again would never pause
        except JobNotFound:  # done, and one of so many that it is forgotten already
            return True

    def stop_working(self) -> None:
        """For good: whoever works on jobs here ends after the documents that were begun. What is
        left waits for another process."""
        self._halt.set()

    def _take_over(self, job: JobId | None, tally: Tally, tell: Waiting) -> float:
        """Become the worker; the seconds that the model took come back."""
        unfinished = self._store.queue.recover()
        last = None if job is None else self.job(job)
        for other in unfinished:
            ahead = last is None or (other.priority, other.id) < (last.priority, last.id)
            if other.started_at and ahead:
                tell(f"Job {other.id} is unfinished; going on with it: {other.what}.")
        shift = self._shift(job, tally)
        shift.work_off(last)
        return shift.embedding_seconds

    def _shift(self, job: JobId | None, tally: Tally) -> Shift:
        def mine(outcome: Outcome) -> None:
            if job is None or outcome.job == job:
                tally.take(outcome)

        self._follow()  # the model may be another than when the library was opened
        self._store.describe_model(self._embedder.fingerprint, description(self._settings))
        return Shift(
            self._store, self._embedder, self._settings, mine, tally.notes.append, self._halt
        )

    def _work_on(self, job: Job, source: Source, tally: Tally) -> float:
        """What only this process can offer. The caller holds the writer's lock."""
        shift = self._shift(job.id, tally)
        try:
            shift.work_on(job, source)
        except BaseException:
            self._store.queue.abandon(job.id)
            raise
        return shift.embedding_seconds

    def _is_open(self, job: JobId | None) -> bool:
        if job is not None:
            return not self.job(job).state.has_ended
        return any(left.kind != REEMBED for left in self._store.queue.jobs(ended=False))

    def _report(self, job: JobId | None, tally: Tally, seconds: float, spent: float) -> Report:
        tally.notes += self._near_notes(tally.fresh)
        if job is None:
            return tally.report(seconds, spent, None)
        if tally.notes:
            self._store.queue.note(job, tally.notes)
        ended = self.job(job)
        if tally.counts.total() < ended.ended:  # another process did a part of it
            tally = self._tally_of(ended)
        return tally.report(seconds, spent, ended)

    def _tally_of(self, job: Job) -> Tally:
        """What the queue knows of a job that was worked off elsewhere."""
        queue = self._store.queue
        tally = Tally(notes=list(job.notes), chunks=queue.chunks_of(job.id))
        tally.counts.update({Fate(fate): count for fate, count in queue.fates(job.id).items()})
        ended = (TaskState.DONE, TaskState.FAILED)
        found = [_outcome(t) for t in queue.tasks(job.id, states=ended, limit=MOST_OUTCOMES)]
        tally.outcomes = found
        tally.failed = [_outcome(t) for t in queue.tasks(job.id, states=(TaskState.FAILED,))]
        return tally


def _once(on_wait: Waiting | None) -> Waiting:
    """Says the same thing once."""
    said: set[str] = set()

    def tell(text: str) -> None:
        if on_wait is not None and text not in said:
            said.add(text)
            on_wait(text)

    return tell


def _outcome(task: Task) -> Outcome:
    error = _error(task.code, task.message) if task.state is TaskState.FAILED else None
    return Outcome(task.uri, Fate(task.fate), None, error, task.size, task.parent > 0, task.job)


def _error(code: str, message: str) -> TriviumError:
    """An error that a task was written down with."""
    kinds = (kind for kind in vars(errors).values() if isinstance(kind, type))
    found = (k for k in kinds if issubclass(k, TriviumError) and k.code == code)
    return next(found, TriviumError)(message, fix="")
