"""Jobs as people see and control them: list, cancel, retry, clear.

Works from any process at any time; the worker notices at its next document. Every public method is
one transaction. Knows nothing of how a task runs.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    Engine,
    Integer,
    Row,
    bindparam,
    case,
    cast,
    delete,
    func,
    select,
    update,
)

from trivium.core import work
from trivium.core.work import (
    REEMBED,
    Job,
    JobId,
    JobState,
    Priority,
    Retryable,
    Step,
    Task,
    TaskId,
    TaskState,
    now,
    work_of,
)
from trivium.store.sql.rows import noun_of
from trivium.store.sql.statements import one_state, slices, these
from trivium.store.sql.tables import documents, jobs, tasks

UNFINISHED = (JobState.QUEUED, JobState.RUNNING)
_OVER = (TaskState.DONE, TaskState.FAILED, TaskState.CANCELLED)
_ENDED = (JobState.DONE, JobState.FAILED, JobState.CANCELLED)
_JOB = select(jobs).where(jobs.c.id == bindparam("job"))
_DEEPEST = 4  # tasks from an offered file down to the files inside it


class SqlJobs:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    # --- looking

    def all(self, *, ended: bool = True, limit: int | None = None) -> list[Job]:
        query = select(jobs).order_by(jobs.c.id.desc()).limit(limit)
        if not ended:
            query = query.where(jobs.c.state.in_(UNFINISHED))
        with self._engine.connect() as connection:
            return [job_of(row) for row in connection.execute(query)]

    def get(self, job: JobId) -> Job | None:
        with self._engine.connect() as connection:
            row = connection.execute(_JOB, {"job": job}).first()
        return job_of(row) if row else None

    def tasks(
        self,
        job: JobId,
        *,
        states: Sequence[TaskState] | None = None,
        offset: int = 0,
        limit: int | None = None,
    ) -> list[Task]:
        query = select(tasks).where(tasks.c.job == job).order_by(tasks.c.id)
        if states is not None:
            query = query.where(tasks.c.state.in_(states))
        query = query.offset(offset).limit(limit)
        with self._engine.connect() as connection:
            return [task_of(row) for row in connection.execute(query)]

    def retryable(self, kind: str) -> list[Retryable]:
        query = select(tasks.c.key, jobs.c.options, jobs.c.state).join(
            jobs, tasks.c.job == jobs.c.id
        )
        open_ = (jobs.c.kind == kind) & (jobs.c.state != JobState.DONE) & (tasks.c.parent == 0)
        with self._engine.connect() as connection:
            return [
                Retryable(row.key, row.options.get("by", ""), JobState(row.state).has_ended)
                for row in connection.execute(query.where(open_).order_by(tasks.c.id))
                if row.key
            ]

    def task_states(self) -> dict[str, int]:
        query = select(tasks.c.state, func.count()).join(jobs, tasks.c.job == jobs.c.id)
        query = query.where(jobs.c.state.in_(UNFINISHED)).group_by(tasks.c.state)
        with self._engine.connect() as connection:
            return {row[0]: row[1] for row in connection.execute(query)}

    def fates(self, job: JobId) -> dict[str, int]:
        listed = select(tasks.c.fate, func.count()).where(tasks.c.job == job, tasks.c.fate != "")
        unlisted = select(jobs.c.unchanged).where(jobs.c.id == job)
        with one_state(self._engine) as connection:
            counts = {row[0]: row[1] for row in connection.execute(listed.group_by(tasks.c.fate))}
            unchanged = connection.scalar(unlisted) or 0
        if unchanged:
            counts["unchanged"] = counts.get("unchanged", 0) + unchanged
        return counts

    def chunks_of(self, job: JobId) -> int:
        query = (
            select(func.sum(documents.c.chunks))
            .join(tasks, tasks.c.document == documents.c.id)
            .where(tasks.c.job == job, tasks.c.fate.in_(("added", "updated")))
        )
        with self._engine.connect() as connection:
            return connection.scalar(query) or 0

    # --- steering

    def cancel(self, job: JobId) -> bool:
        mine = (jobs.c.id == job) & jobs.c.state.in_(UNFINISHED)
        with self._engine.begin() as connection:
            changed = connection.execute(
                update(jobs).where(mine).values(state=JobState.CANCELLED, ended_at=now())
            )
            if not changed.rowcount:
                return False
            waiting = (tasks.c.job == job) & (tasks.c.state == TaskState.WAITING)
            _close_tasks(connection, job, waiting, TaskState.CANCELLED)
        return True

    def retry(self, job: JobId, task: TaskId | None = None) -> int:
        """Queue the failed tasks of a job again, or one of them, and the cancelled ones of a
        cancelled job; returns how many. Skips tasks whose source was another process."""
        with self._engine.begin() as connection:
            row = connection.execute(select(jobs).where(jobs.c.id == job)).first()
            if row is None:
                return 0
            if row.kind == REEMBED:
                return _requeue(connection, job)
            over = [TaskState.FAILED]
            if row.state == JobState.CANCELLED:
                over.append(TaskState.CANCELLED)
            wanted = (tasks.c.job == job) & tasks.c.state.in_(over)
            if task is not None:
                wanted &= tasks.c.id == task
            columns = (tasks.c.id, tasks.c.parent, tasks.c.step, tasks.c.document, tasks.c.key)
            rows = connection.execute(select(*columns).where(wanted)).all()
            again = {t.id for t in rows if _is_embedding(t) or (t.key and not t.parent)}
            roots = {_root(connection, t.parent) for t in rows if t.parent and t.id not in again}
            for some in slices(sorted(roots)):
                _forget_within(connection, some)
                lasting = tasks.c.id.in_(some) & (func.length(tasks.c.key) > 0)
                opened = connection.execute(update(tasks).where(lasting).values(anew=True))
                if opened.rowcount:
                    again |= set(connection.scalars(select(tasks.c.id).where(lasting)))
            for some in slices(sorted(again)):
                reopen(connection, tasks.c.id.in_(some))
        return len(again)

    def clear(self) -> int:
        with self._engine.begin() as connection:
            return connection.execute(delete(jobs).where(jobs.c.state.in_(_ENDED))).rowcount


def trim(connection: Connection) -> None:
    """Forget old jobs that went well."""
    well = jobs.c.state.in_((JobState.DONE, JobState.CANCELLED))
    newest = select(jobs.c.id).where(well).order_by(jobs.c.id.desc()).limit(work.KEPT_JOBS)
    connection.execute(delete(jobs).where(well, jobs.c.id.not_in(newest)))


def forget_documents(connection: Connection, gone: Sequence[int], uris: Sequence[str]) -> None:
    """Part of removing documents: no job names them any more. Deletes jobs that named nothing
    else."""
    touched: set[JobId] = set()
    for column, values in ((tasks.c.document, gone), (tasks.c.uri, uris)):
        for some in slices(values):
            theirs = column.in_(some) & tasks.c.state.in_(_OVER)
            touched |= set(connection.scalars(select(tasks.c.job).where(theirs).distinct()))
            connection.execute(delete(tasks).where(theirs))
    if touched:
        left = select(tasks.c.job).where(tasks.c.job.in_(touched))
        empty = jobs.c.id.in_(touched) & jobs.c.id.not_in(left) & jobs.c.state.in_(_ENDED)
        connection.execute(delete(jobs).where(empty))


def job_of(row: Row[Any]) -> Job:
    state, priority = JobState(row.state), Priority(row.priority)
    job = noun_of(Job, row._mapping, state=state, priority=priority, notes=tuple(row.notes))
    return _with_pace(job, row) if row.run_at else job


def task_of(row: Row[Any]) -> Task:
    return noun_of(Task, row._mapping, state=TaskState(row.state))


def _with_pace(job: Job, row: Row[Any]) -> Job:
    """Tasks a second since its process took it up, or over all if it has ended; seconds left."""
    until = datetime.fromisoformat(job.ended_at) if job.ended_at else datetime.now(UTC)
    elapsed = max(0.001, (until - datetime.fromisoformat(row.run_at)).total_seconds())
    rate = (job.ended - row.run_ended) / elapsed
    work = work_of([job])
    done = work.done - work_of([replace(job, ended=row.run_ended, tokens_done=row.run_tokens)]).done
    is_known = job.state is JobState.RUNNING and done > 0
    left = work.left * elapsed / done if is_known else None
    return replace(job, rate=rate, seconds_left=left)


def _requeue(connection: Connection, job: JobId) -> int:
    """Put a job without tasks back into the queue; 1, unless it is under way or succeeded."""
    over = (jobs.c.id == job) & jobs.c.state.in_((JobState.FAILED, JobState.CANCELLED))
    again = {"state": JobState.QUEUED, "ended_at": "", "complete": False}
    return connection.execute(update(jobs).where(over).values(**again)).rowcount


def _is_embedding(row: Any) -> bool:
    """Its document is stored and lacks vectors: that needs no source."""
    return bool(row.step == Step.EMBED and row.document is not None)


def _root(connection: Connection, task: TaskId) -> TaskId:
    for _ in range(_DEEPEST):
        parent = connection.scalar(select(tasks.c.parent).where(tasks.c.id == task))
        if not parent:
            break
        task = parent
    return task


def _forget_within(connection: Connection, roots: Iterable[TaskId]) -> None:
    """Delete the tasks of files inside these: they are offered again with their container."""
    level = list(roots)
    while level:
        below: list[TaskId] = []
        for some in slices(level):
            below += connection.scalars(select(tasks.c.id).where(tasks.c.parent.in_(some)))
        for some in slices(below):
            drop_tasks(connection, tasks.c.id.in_(some))
        level = below


def drop_tasks(connection: Connection, which: ColumnElement[bool]) -> None:
    """Delete tasks as if they had never been offered."""
    with counted(connection, _ids(connection, which)):
        connection.execute(delete(tasks).where(which))


_ended = cast(tasks.c.state.in_(_OVER), Integer)
_read = cast(tasks.c.passages.is_not(None), Integer)
_COUNTS = {
    "tasks": func.count(),
    "size": func.sum(tasks.c.size),
    "ended": func.sum(_ended),
    "ended_size": func.sum(_ended * tasks.c.size),
    "failed": func.sum(cast(tasks.c.state == TaskState.FAILED, Integer)),
    "read": func.sum(_read),
    "read_size": func.sum(_read * tasks.c.size),
    "tokens": func.sum(tasks.c.tokens),
    # Of a document, in proportion to its passages.
    "tokens_done": func.sum(
        case((tasks.c.passages > 0, tasks.c.tokens * tasks.c.embedded / tasks.c.passages), else_=0)
    ),
}

_COUNTED = select(tasks.c.job, *_COUNTS.values()).where(these(tasks.c.id)).group_by(tasks.c.job)
_GROWN = (
    update(jobs)
    .where(jobs.c.id == bindparam("_id"))
    .values({c: c + bindparam(f"_{c.name}", type_=c.type) for c in (jobs.c[n] for n in _COUNTS)})
)
_LOCKED = select(tasks.c.id).where(these(tasks.c.id)).order_by(tasks.c.id).with_for_update()


@contextmanager
def counted(connection: Connection, ids: Sequence[TaskId]) -> Iterator[list[JobId]]:
    """These tasks may change inside the block, or go; afterwards their jobs, which are given, count
    them as they are then. Nobody else changes them meanwhile."""
    for some in slices(ids):
        connection.execute(_LOCKED, {"ids": some})
    before = _count(connection, ids)
    yield sorted(before)
    after = _count(connection, ids)
    rows: list[dict[str, int]] = []
    for job, counts in before.items():
        changes = {f"_{name}": after[job][name] - counts[name] for name in _COUNTS}
        if any(changes.values()):
            rows.append({"_id": job, **changes})
    if rows:
        connection.execute(_GROWN, rows)


def _ids(connection: Connection, which: ColumnElement[bool]) -> list[TaskId]:
    """Those of the tasks; nobody else changes them until the transaction ends."""
    query = select(tasks.c.id).where(which).order_by(tasks.c.id)
    return list(connection.scalars(query.with_for_update()))


def _count(connection: Connection, ids: Sequence[TaskId]) -> dict[JobId, Counter[str]]:
    by_job: dict[JobId, Counter[str]] = defaultdict(Counter)
    for some in slices(ids):
        for job, *counts in connection.execute(_COUNTED, {"ids": some}):
            by_job[job].update(dict(zip(_COUNTS, map(int, counts), strict=True)))
    return by_job


def _close_tasks(
    connection: Connection, job: JobId, which: ColumnElement[bool], state: TaskState
) -> None:
    count, size = connection.execute(
        select(func.count(), func.sum(tasks.c.size)).where(which)
    ).one()
    # As all that has ended, they count as read.
    connection.execute(update(tasks).where(which).values(state=state, passages=0))
    by = {"ended": count, "ended_size": size or 0, "read": count, "read_size": size or 0}
    added = {name: jobs.c[name] + more for name, more in by.items()}
    connection.execute(update(jobs).where(jobs.c.id == job).values(**added))


def reopen(connection: Connection, which: ColumnElement[bool]) -> None:
    """Ended tasks wait again, and so do their jobs."""
    opened = let_wait(connection, which, code="", message="", lost=0)
    again = {"state": JobState.QUEUED, "ended_at": ""}
    connection.execute(update(jobs).where(jobs.c.id.in_(opened)).values(**again))


def let_wait(connection: Connection, which: ColumnElement[bool], **values: Any) -> list[JobId]:
    """Let tasks wait again and forget their outcomes; returns their jobs."""
    ids = _ids(connection, which)
    waits = {"state": TaskState.WAITING, "passages": None, "embedded": 0, "tokens": 0, **values}
    with counted(connection, ids) as theirs:
        for some in slices(ids):
            connection.execute(update(tasks).where(tasks.c.id.in_(some)).values(**waits))
    return theirs
