"""The reference's jobs: tasks in a dictionary, counted on request. Has no rates: nobody waits for
it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, dataclass, field, replace
from itertools import takewhile
from typing import Any

from trivium.core.errors import DocumentSetAside, JobInterrupted
from trivium.core.work import (
    KEPT_JOBS,
    REEMBED,
    Job,
    JobId,
    JobState,
    Offered,
    Priority,
    Retryable,
    Step,
    Task,
    TaskEnd,
    TaskId,
    TaskProgress,
    TaskState,
)
from trivium.ports import Leases, worker_lease
from trivium.store.clock import now
from trivium.store.memory.held import Held

MOST_LOST = 2  # workers that ended while they had a task, after which it is not tried again
_OPEN = (TaskState.WAITING, TaskState.WORKING)


@dataclass
class Books:
    """What jobs and queue have in common."""

    jobs: dict[JobId, Job] = field(default_factory=dict)
    tasks: dict[TaskId, Task] = field(default_factory=dict)
    complete: set[JobId] = field(default_factory=set)  # all of their tasks are known
    unlisted: Counter[JobId] = field(default_factory=Counter)  # unchanged ones of ended jobs
    last_job: JobId = 0
    last_task: TaskId = 0

    def of(self, job: JobId) -> list[Task]:
        return [task for _, task in sorted(self.tasks.items()) if task.job == job]

    def counted(self, job: Job) -> Job:
        if job.kind == REEMBED:
            return job
        listed, gone = self.of(job.id), self.unlisted[job.id]
        ended = [task for task in listed if task.state not in _OPEN]
        read = [task for task in listed if task.passages is not None]
        return replace(
            job,
            tasks=len(listed) + gone,
            size=sum(task.size for task in listed),
            ended=len(ended) + gone,
            ended_size=sum(task.size for task in ended),
            failed=sum(task.state is TaskState.FAILED for task in ended),
            read=len(read) + gone,
            read_size=sum(task.size for task in read),
            tokens=sum(task.tokens for task in read),
            tokens_done=sum(t.tokens * t.embedded // t.passages for t in read if t.passages),
        )

    def set(self, job: JobId, **values: Any) -> None:
        self.jobs[job] = replace(self.jobs[job], **values)

    def set_tasks(self, some: Iterable[Task], **values: Any) -> None:
        for task in some:
            self.tasks[task.id] = replace(self.tasks[task.id], **values)

    def let_wait(self, some: Iterable[Task], **values: Any) -> None:
        """Tasks wait again, and what was found out about them is forgotten."""
        waits = {"state": TaskState.WAITING, "passages": None, "embedded": 0, "tokens": 0}
        self.set_tasks(some, **waits, **values)

    def drop(self, some: Iterable[Task]) -> None:
        for task in some:
            self.tasks.pop(task.id, None)

    def trim(self) -> None:
        """Forget old jobs that went well."""
        well = [j for j in self.jobs.values() if j.state in (JobState.DONE, JobState.CANCELLED)]
        for job in sorted(well, key=lambda job: -job.id)[KEPT_JOBS:]:
            self.forget(job.id)

    def forget(self, job: JobId) -> None:
        self.drop(self.of(job))
        del self.jobs[job]

    def close_ended(self) -> None:
        """Jobs whose last task has ended are done."""
        for job in [j for j in self.jobs.values() if not j.state.has_ended]:
            tasks = self.of(job.id)
            if job.id not in self.complete or any(task.state in _OPEN for task in tasks):
                continue
            failed = any(task.state is TaskState.FAILED for task in tasks)
            same = [t for t in tasks if t.fate == "unchanged" and not t.parent]
            same = [task for task in same if task.state is TaskState.DONE]
            self.unlisted[job.id] += len(same)
            self.drop(same)
            self.set(job.id, state=JobState.FAILED if failed else JobState.DONE, ended_at=now())

    def forget_documents(self, gone: Set[int], uris: Set[str]) -> None:
        """No job names removed documents. Deletes jobs that named nothing else."""
        theirs = [t for t in self.tasks.values() if t.document in gone or t.uri in uris]
        over = [task for task in theirs if task.state not in _OPEN]
        self.drop(over)
        for job in {task.job for task in over}:
            if self.jobs[job].state.has_ended and not self.of(job):
                self.forget(job)


class MemoryJobs:
    def __init__(self, books: Books, held: Held) -> None:
        self._books = books
        self._held = held

    def all(self, *, ended: bool = True, limit: int | None = None) -> list[Job]:
        found = [job for _, job in sorted(self._books.jobs.items(), reverse=True)]
        return [self._books.counted(j) for j in found if ended or not j.state.has_ended][:limit]

    def get(self, job: JobId) -> Job | None:
        found = self._books.jobs.get(job)
        return self._books.counted(found) if found else None

    def tasks(
        self,
        job: JobId,
        *,
        states: Sequence[TaskState] | None = None,
        offset: int = 0,
        limit: int | None = None,
    ) -> list[Task]:
        found = [t for t in self._books.of(job) if states is None or t.state in states]
        return found[offset:][:limit]

    def retryable(self, kind: str) -> list[Retryable]:
        jobs = [job for job in self._books.jobs.values() if job.kind == kind]
        return [
            Retryable(task.key, job.options.get("by", ""), job.state.has_ended)
            for job in sorted(jobs, key=lambda job: job.id)
            if job.state is not JobState.DONE
            for task in self._books.of(job.id)
            if task.key and not task.parent
        ]

    def fates(self, job: JobId) -> dict[str, int]:
        found = Counter(task.fate for task in self._books.of(job) if task.fate)
        if self._books.unlisted[job]:
            found["unchanged"] += self._books.unlisted[job]
        return found

    def chunks_of(self, job: JobId) -> int:
        theirs = [t for t in self._books.of(job) if t.fate in ("added", "updated")]
        known = [self._held.documents.get(t.document or 0) for t in theirs]
        return sum(document.chunks for document in known if document)

    def cancel(self, job: JobId) -> bool:
        found = self._books.jobs.get(job)
        if found is None or found.state.has_ended:
            return False
        waiting = [t for t in self._books.of(job) if t.state is TaskState.WAITING]
        self._books.set_tasks(waiting, state=TaskState.CANCELLED, passages=0)
        self._books.set(job, state=JobState.CANCELLED, ended_at=now())
        return True

    def retry(self, job: JobId, task: TaskId | None = None) -> int:
        books = self._books
        found = books.jobs.get(job)
        if found is None:
            return 0
        if found.kind == REEMBED:
            again = found.state in (JobState.FAILED, JobState.CANCELLED)
            if again:
                books.set(job, state=JobState.QUEUED, ended_at="")
                books.complete.discard(job)
            return int(again)
        over = {TaskState.FAILED}
        if found.state is JobState.CANCELLED:
            over.add(TaskState.CANCELLED)
        wanted = [t for t in books.of(job) if t.state in over and task in (None, t.id)]
        opened = {t.id for t in wanted if _is_embedding(t) or (t.key and not t.parent)}
        for one in [t for t in wanted if t.parent and t.id not in opened]:
            root = self._root(one)
            books.drop(self._below(root.id))
            if root.key:
                books.set_tasks([root], anew=True)
                opened.add(root.id)
        fresh = {"code": "", "message": "", "lost": 0}
        books.let_wait([books.tasks[id_] for id_ in opened], **fresh)
        if opened:
            books.set(job, state=JobState.QUEUED, ended_at="")
        return len(opened)

    def clear(self) -> int:
        gone = [job.id for job in self._books.jobs.values() if job.state.has_ended]
        for job in gone:
            self._books.forget(job)
        return len(gone)

    def _root(self, task: Task) -> Task:
        while task.parent:
            task = self._books.tasks[task.parent]
        return task

    def _below(self, task: TaskId) -> list[Task]:
        inner = [one for one in self._books.tasks.values() if one.parent == task]
        return [*inner, *(deeper for one in inner for deeper in self._below(one.id))]


class MemoryQueue:
    def __init__(self, books: Books, leases: Leases) -> None:
        self._books = books
        self._leases = leases

    def listening(self, wake: Callable[[], None]) -> AbstractContextManager[None]:
        return nullcontext()

    def create(
        self,
        kind: str,
        what: str,
        options: Mapping[str, Any],
        priority: Priority,
        offered: Sequence[Offered] | None,
        worker: str = "",
    ) -> JobId:
        books, lasting = self._books, offered is not None
        books.last_job += 1
        job = Job(
            books.last_job, kind, what, JobState.QUEUED, priority, now(),
            lasting=lasting, options=dict(options), worker=worker,
        )  # fmt: skip
        books.jobs[job.id] = job
        if lasting:
            books.complete.add(job.id)
        ids = self.reserve(len(offered or ()))
        met = zip(ids, offered or (), strict=True)
        self._insert([(id_, job.id, 0, one) for id_, one in met], TaskState.WAITING)
        books.trim()
        books.close_ended()
        return job.id

    def recover(self) -> None:
        books = self._books
        known = {task.worker for task in books.tasks.values()}
        known |= {job.worker for job in books.jobs.values()}
        alive = {one for one in known if one and self._leases.is_held(worker_lease(one))}
        for job in self._unfinished():
            if job.worker in alive and not job.lasting:
                continue
            if not job.lasting and job.id not in books.complete:
                self._interrupt(job.id)
                continue
            if not job.lasting:  # it had offered all; what lacks only vectors needs no source
                open_ = [t for t in books.of(job.id) if t.state in _OPEN]
                self._fail(task for task in open_ if not _is_embedding(task))
            held = [t for t in books.of(job.id) if t.state is TaskState.WORKING]
            self._lose(job.id, [task for task in held if task.worker not in alive])
        cancelled = {j.id for j in books.jobs.values() if j.state is JobState.CANCELLED}
        left = [t for t in books.tasks.values() if t.job in cancelled and t.worker not in alive]
        left = [task for task in left if task.state is TaskState.WORKING]
        self.end([TaskEnd(task.id, TaskState.CANCELLED) for task in left])
        books.close_ended()

    def claim(self, worker: str, limit: int, before: tuple[int, JobId] | None = None) -> list[Task]:
        waiting: list[tuple[int, int, int, Task]] = []
        taken: Counter[tuple[int, str]] = Counter()
        for job in self._unfinished():
            if before is not None and (job.priority, job.id) >= before:
                continue
            sender = (job.priority, str(job.options.get("by", "")))
            for task in self._books.of(job.id):
                if task.state is TaskState.WAITING:
                    waiting.append((job.priority, taken[sender], len(waiting), task))
                    taken[sender] += 1
        found = [one[-1] for one in sorted(waiting, key=lambda one: one[:3])[:limit]]
        fresh = list(takewhile(lambda task: not task.lost, found)) or found[:1]
        for task in fresh:
            held = {"state": TaskState.WORKING, "attempts": task.attempts + 1, "worker": worker}
            self._books.set_tasks([task], **held)
            self.start(worker, task.job)
        return [self._books.tasks[task.id] for task in fresh]

    def is_waiting(self) -> bool:
        return any(
            task.state is TaskState.WAITING
            for job in self._unfinished()
            for task in self._books.of(job.id)
        )

    def start(self, worker: str, job: JobId) -> None:
        found = self._books.jobs[job]
        begun = found.started_at or now()
        self._books.set(job, state=JobState.RUNNING, worker=worker, started_at=begun)

    def reserve(self, count: int) -> range:
        first = self._books.last_task + 1
        self._books.last_task += count
        return range(first, first + count)

    def extend(self, worker: str, met: Sequence[tuple[TaskId, JobId, TaskId, Offered]]) -> None:
        self._insert(met, TaskState.WORKING, worker)

    def complete(self, job: JobId) -> None:
        self._books.complete.add(job)
        self._books.close_ended()

    def abandon(self, job: JobId) -> None:
        if job in self._books.jobs and not self._books.jobs[job].state.has_ended:
            self._interrupt(job)

    def note(self, job: JobId, notes: Sequence[str]) -> None:
        if job in self._books.jobs:
            self._books.set(job, notes=tuple(notes))

    def end(self, ends: Sequence[TaskEnd]) -> None:
        for end in ends:
            if end.task in self._books.tasks:
                names = ("state", "fate", "step", "code", "message", "document", "seconds")
                values = {name: getattr(end, name) for name in names}
                task = self._books.tasks[end.task]
                count = task.passages or 0 if end.passages is None else end.passages
                tokens = task.tokens if end.tokens is None else end.tokens
                values |= {"passages": count, "embedded": count, "tokens": tokens}
                self._books.set_tasks([task], **values)
        self._books.close_ended()

    def end_again(self, ends: Sequence[TaskEnd]) -> None:
        for end in ends:
            task = self._books.tasks.get(end.task)
            if task is not None and task.state is TaskState.FAILED:
                self._books.set(task.job, state=JobState.QUEUED, ended_at="")
        self.end(ends)

    def release(self, ids: Sequence[TaskId], *, lost: bool = False) -> None:
        mine = [self._books.tasks[i] for i in ids if i in self._books.tasks]
        working = [task for task in mine if task.state is TaskState.WORKING]
        for job in {task.job for task in working}:
            theirs = [task for task in working if task.job == job]
            (self._lose if lost else self._put_back)(job, theirs)

    def note_progress(self, noted: Mapping[TaskId, TaskProgress]) -> None:
        for number, now_ in noted.items():
            task = self._books.tasks.get(number)
            if task is not None and task.state is TaskState.WORKING:
                self._books.set_tasks([task], **asdict(now_))

    def cancelled(self, some: Sequence[JobId]) -> set[JobId]:
        return set(some) - {job.id for job in self._books.jobs.values() if not job.state.has_ended}

    def unembedded(self) -> list[Task]:
        over = (TaskState.FAILED, TaskState.WORKING)
        return [t for _, t in sorted(self._books.tasks.items()) if _is_embedding(t, over)]

    # --- a change of the model

    def begin_reembed(self, model: str, told: Mapping[str, str]) -> Job:
        books, what = self._books, f"embed again with {model}"
        begun = [j for j in books.jobs.values() if j.kind == REEMBED and not j.state.has_ended]
        for job in begun:
            if job.what == what:
                return job
            books.set(job.id, state=JobState.CANCELLED, ended_at=now())
        job_id = self.create(REEMBED, what, {"settings": dict(told)}, Priority.BULK, None)
        books.set(job_id, lasting=True)
        return books.jobs[job_id]

    def take_up(self, worker: str, job: JobId) -> None:
        if not self._books.jobs[job].state.has_ended:
            self.start(worker, job)

    def advance(self, job: JobId, ended: int, of: int) -> None:
        self._books.set(job, ended=ended, tasks=of)

    def leave(self, job: JobId, state: JobState, note: str = "") -> None:
        if not self._books.jobs[job].state.has_ended:
            ended = now() if state.has_ended else ""
            self._books.set(job, state=state, notes=(note,) if note else (), ended_at=ended)

    # --- shared

    def _unfinished(self) -> list[Job]:
        found = [j for j in self._books.jobs.values() if not j.state.has_ended]
        return sorted((j for j in found if j.kind != REEMBED), key=lambda j: (j.priority, j.id))

    def _insert(
        self,
        met: Iterable[tuple[TaskId, JobId, TaskId, Offered]],
        state: TaskState,
        worker: str = "",
    ) -> None:
        for id_, job, parent, one in met:
            self._books.tasks[id_] = Task(
                id_, job, one.uri, one.name, one.size, state, parent,
                attempts=int(state is TaskState.WORKING), key=one.key, worker=worker,
            )  # fmt: skip

    def _put_back(self, job: JobId, some: Sequence[Task]) -> None:
        """Let tasks wait again; those within others come again with what holds them."""
        self._books.drop(task for task in some if task.parent)
        self._books.let_wait(t for t in some if not t.parent)
        others = any(task.state is TaskState.WORKING for task in self._books.of(job))
        if not others and self._books.jobs[job].state is JobState.RUNNING:
            self._books.set(job, state=JobState.QUEUED)

    def _lose(self, job: JobId, some: Sequence[Task]) -> None:
        """A worker ended while it had these: let them wait again, but not for ever."""
        for task in some:
            begun = not task.lost or bool(task.step)  # others only waited behind it
            if not task.parent and not _is_embedding(task):
                self._books.set_tasks([task], lost=task.lost + begun, step="")
        guilty = [t for t in some if self._books.tasks[t.id].lost >= MOST_LOST]
        for task in guilty:
            told = f"Couldn't add {task.name}: the program ended twice on it."
            why = DocumentSetAside(told)
            failed = (TaskState.FAILED, "failed", task.step, why.code, str(why))
            self.end([TaskEnd(task.id, *failed)])
        self._put_back(job, [task for task in some if task not in guilty])

    def _fail(self, some: Iterable[Task]) -> JobInterrupted:
        why = JobInterrupted("The process that added it ended first.")
        failed = (TaskState.FAILED, "failed", "", why.code, str(why))
        self.end([TaskEnd(task.id, *failed) for task in list(some)])
        return why

    def _interrupt(self, job: JobId) -> None:
        """A job whose documents only a process knew that is gone."""
        why = self._fail(t for t in self._books.of(job) if t.state in _OPEN)
        self._books.complete.add(job)
        ended = {"state": JobState.FAILED, "ended_at": now(), "notes": (str(why),)}
        self._books.set(job, **ended)


def _is_embedding(task: Task, states: Sequence[TaskState] = tuple(TaskState)) -> bool:
    """Its document is stored and lacks vectors: that needs no source."""
    return task.step == Step.EMBED and task.document is not None and task.state in states
