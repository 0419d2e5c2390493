"""Jobs as people see and control them: list, cancel, retry, clear.

Works from any process at any time; the worker notices at its next document. Every public method is
one transaction. Knows nothing of how a task runs.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    Engine,
    Integer,
    Row,
    cast,
    delete,
    func,
    select,
    update,
)

from trivium.store.clock import now
from trivium.store.sql.job_tables import jobs, tasks
from trivium.store.sql.statements import one_state, slices
from trivium.store.sql.tables import documents
from trivium.work import (
    KEPT_JOBS,
    REEMBED,
    Job,
    JobId,
    JobState,
    Priority,
    Step,
    Task,
    TaskId,
    TaskState,
)

UNFINISHED = (JobState.QUEUED, JobState.RUNNING)
_OVER = (TaskState.DONE, TaskState.FAILED, TaskState.CANCELLED)
_ENDED = (JobState.DONE, JobState.FAILED, JobState.CANCELLED)
_DEEPEST = 4  # tasks from an offered file down to the files inside it


class SqlJobs:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    # --- looking

    def all(self, *, ended: bool = True, limit: int | None = None) -> list[Job]:
        """The newest first."""
        query = select(jobs).order_by(jobs.c.id.desc()).limit(limit)
        if not ended:
            query = query.where(jobs.c.state.in_(UNFINISHED))
        with self._engine.connect() as connection:
            return [job_of(row) for row in connection.execute(query)]

    def get(self, job: JobId) -> Job | None:
        with self._engine.connect() as connection:
            row = connection.execute(select(jobs).where(jobs.c.id == job)).first()
        return job_of(row) if row else None

    def tasks(
        self,
        job: JobId,
        *,
        states: Sequence[TaskState] | None = None,
        offset: int = 0,
        limit: int | None = None,
    ) -> list[Task]:
        """In the order offered. Documents that were found unchanged are counted on the job, and
        no longer listed once it has ended."""
        query = select(tasks).where(tasks.c.job == job).order_by(tasks.c.id)
        if states is not None:
            query = query.where(tasks.c.state.in_(states))
        query = query.offset(offset).limit(limit)
        with self._engine.connect() as connection:
            return [task_of(row) for row in connection.execute(query)]

    def keys(self, kind: str) -> list[bytes]:
        """Keys of everything that unfinished or failed jobs of this kind were offered: it may be
        tried again."""
        query = select(tasks.c.key).join(jobs, tasks.c.job == jobs.c.id)
        open_ = (jobs.c.kind == kind) & (jobs.c.state != JobState.DONE) & (tasks.c.parent == 0)
        with self._engine.connect() as connection:
            return [key for key in connection.scalars(query.where(open_)) if key]

    def fates(self, job: JobId) -> dict[str, int]:
        """How many of its documents were added, updated, unchanged, ..."""
        listed = select(tasks.c.fate, func.count()).where(tasks.c.job == job, tasks.c.fate != "")
        unlisted = select(jobs.c.unchanged).where(jobs.c.id == job)
        with one_state(self._engine) as connection:
            found = {row[0]: row[1] for row in connection.execute(listed.group_by(tasks.c.fate))}
            unchanged = connection.scalar(unlisted) or 0
        if unchanged:
            found["unchanged"] = found.get("unchanged", 0) + unchanged
        return found

    def chunks_of(self, job: JobId) -> int:
        """How many passages its added and updated documents have."""
        query = (
            select(func.sum(documents.c.chunks))
            .join(tasks, tasks.c.document == documents.c.id)
            .where(tasks.c.job == job, tasks.c.fate.in_(("added", "updated")))
        )
        with self._engine.connect() as connection:
            return connection.scalar(query) or 0

    # --- steering

    def cancel(self, job: JobId) -> bool:
        """What waits is not begun any more. False: it has ended already, or is not there."""
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
            found = connection.execute(select(*columns).where(wanted)).all()
            again = {t.id for t in found if _is_embedding(t) or (t.key and not t.parent)}
            roots = {_root(connection, t.parent) for t in found if t.parent and t.id not in again}
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
        """Forget every job that has ended; how many comes back."""
        with self._engine.begin() as connection:
            return connection.execute(delete(jobs).where(jobs.c.state.in_(_ENDED))).rowcount


def trim(connection: Connection) -> None:
    """Forget old jobs that went well."""
    well = jobs.c.state.in_((JobState.DONE, JobState.CANCELLED))
    newest = select(jobs.c.id).where(well).order_by(jobs.c.id.desc()).limit(KEPT_JOBS)
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
    rate, left = _pace(row)
    return Job(
        id=row.id,
        kind=row.kind,
        what=row.what,
        state=JobState(row.state),
        priority=Priority(row.priority),
        created_at=row.created_at,
        started_at=row.started_at,
        ended_at=row.ended_at,
        tasks=row.tasks,
        size=row.size,
        ended=row.ended,
        ended_size=row.ended_size,
        failed=row.failed,
        rate=rate,
        seconds_left=left,
        notes=tuple(row.notes),
        lasting=row.lasting,
        worker=row.worker,
        options=row.options,
    )


def task_of(row: Row[Any]) -> Task:
    values = dict(row._mapping)
    return Task(**values | {"state": TaskState(row.state)})


def _pace(row: Row[Any]) -> tuple[float, float | None]:
    """Tasks a second since its process took it up, or over all if it has ended; seconds left."""
    if not row.run_at:
        return 0.0, None
    until = datetime.fromisoformat(row.ended_at) if row.ended_at else datetime.now(UTC)
    elapsed = max(0.001, (until - datetime.fromisoformat(row.run_at)).total_seconds())
    rate = (row.ended - row.run_ended) / elapsed
    if row.state != JobState.RUNNING:
        return rate, None
    # By bytes where they are known: the time left of one long book and ninety notes is the book's.
    done, left = row.ended_size - row.run_size, row.size - row.ended_size
    if done <= 0 or left <= 0:
        done, left = row.ended - row.run_ended, row.tasks - row.ended
    return rate, left * elapsed / done if done > 0 else None


def _requeue(connection: Connection, job: JobId) -> int:
    """Let a job without tasks be gone on with; 1, unless it is under way or went well."""
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
    over = tasks.c.state.in_(_OVER)
    failed = tasks.c.state == TaskState.FAILED
    for row in connection.execute(_sums(which, over, failed)).all():
        connection.execute(
            update(jobs)
            .where(jobs.c.id == row.job)
            .values(
                tasks=jobs.c.tasks - row.count,
                size=jobs.c.size - row.size,
                ended=jobs.c.ended - row.ended,
                ended_size=jobs.c.ended_size - row.ended_size,
                failed=jobs.c.failed - row.failed,
            )
        )
    connection.execute(delete(tasks).where(which))


def _sums(which: Any, over: Any, failed: Any) -> Any:
    ended, lost = cast(over, Integer), cast(failed, Integer)
    return (
        select(
            tasks.c.job,
            func.count().label("count"),
            func.sum(tasks.c.size).label("size"),
            func.sum(ended).label("ended"),
            func.sum(ended * tasks.c.size).label("ended_size"),
            func.sum(lost).label("failed"),
        )
        .where(which)
        .group_by(tasks.c.job)
    )


def _close_tasks(
    connection: Connection, job: JobId, which: ColumnElement[bool], state: TaskState
) -> None:
    count, size = connection.execute(
        select(func.count(), func.sum(tasks.c.size)).where(which)
    ).one()
    connection.execute(update(tasks).where(which).values(state=state))
    counted = {"ended": jobs.c.ended + count, "ended_size": jobs.c.ended_size + (size or 0)}
    connection.execute(update(jobs).where(jobs.c.id == job).values(**counted))


def reopen(connection: Connection, which: ColumnElement[bool]) -> None:
    """Ended tasks wait again, and so do their jobs."""
    over = tasks.c.state.in_(_OVER)
    for row in connection.execute(_sums(which, over, tasks.c.state == TaskState.FAILED)).all():
        connection.execute(
            update(jobs)
            .where(jobs.c.id == row.job)
            .values(
                state=JobState.QUEUED,
                ended_at="",
                ended=jobs.c.ended - row.ended,
                ended_size=jobs.c.ended_size - row.ended_size,
                failed=jobs.c.failed - row.failed,
            )
        )
    waits = {"state": TaskState.WAITING, "code": "", "message": "", "lost": 0}
    connection.execute(update(tasks).where(which).values(**waits))
