"""The queue that workers process: tasks are offered, claimed, and end with their document.

It is in the registry's own database, so that ending a task and activating its document are one
transaction (which calls `end_tasks`). A running task belongs to a worker, and comes back when that
worker's lease ends. Knows nothing of what a task asks for.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence, Set
from contextlib import AbstractContextManager, nullcontext
from dataclasses import KW_ONLY, dataclass
from functools import lru_cache, partial
from itertools import takewhile
from typing import Any

from sqlalchemy import (
    ColumnElement,
    CompoundSelect,
    Connection,
    Engine,
    Row,
    bindparam,
    delete,
    func,
    select,
    true,
    union,
    union_all,
    update,
)

from trivium.core.errors import DocumentSetAside, JobInterrupted
from trivium.core.work import (
    REEMBED,
    Job,
    JobId,
    JobState,
    Offered,
    Priority,
    Step,
    Task,
    TaskEnd,
    TaskId,
    TaskProgress,
    TaskState,
    now,
    worker_lease,
)
from trivium.ports import Leases
from trivium.store.sql.jobs import (
    UNFINISHED,
    counted,
    drop_tasks,
    job_of,
    let_wait,
    reopen,
    task_of,
    trim,
)
from trivium.store.sql.statements import alone, insert_all, slices, take, these
from trivium.store.sql.tables import jobs, tasks

_SENDERS = 16  # asked at once
_OF_AN_END = (
    *("state", "fate", "step", "code", "message", "document", "seconds", "passages", "tokens"),
)
_new = {name: bindparam(f"_{name}", type_=tasks.c[name].type) for name in _OF_AN_END}
_passages = func.coalesce(_new["passages"], tasks.c.passages, 0)
_ENDED = (
    update(tasks)
    .where(tasks.c.id == bindparam("_id"))
    .values(
        _new
        | {"passages": _passages, "embedded": _passages}
        | {"tokens": func.coalesce(_new["tokens"], tasks.c.tokens)}
    )
)
_mine = these(tasks.c.id)
_by = bindparam("by", type_=tasks.c.worker.type)
_TAKEN = (
    update(tasks)
    .where(_mine, tasks.c.state == TaskState.WAITING)
    .values(state=TaskState.WORKING, attempts=tasks.c.attempts + 1, worker=_by)
)
_working = _mine & (tasks.c.state == TaskState.WORKING)
_THEIRS = select(tasks).where(_working, tasks.c.worker == _by)
_HOLDERS = select(tasks.c.id, tasks.c.worker).where(_working).order_by(tasks.c.id).with_for_update()
_of_these = update(jobs).where(these(jobs.c.id))
_at = bindparam("at", type_=jobs.c.run_at.type)
_GIVEN = _of_these.values(worker=_by)
_RUN = _of_these.where(jobs.c.state == JobState.QUEUED).values(
    state=JobState.RUNNING, run_at=_at, run_ended=jobs.c.ended, run_tokens=jobs.c.tokens_done
)
_STARTED = _of_these.where(jobs.c.started_at == "").values(started_at=_at)
_SENDING = select(jobs.c.sender).where(jobs.c.state.in_(UNFINISHED)).distinct()
_RUNNING = select(jobs.c.id).where(these(jobs.c.id), jobs.c.state.in_(UNFINISHED))
_OVER = select(jobs.c.id, jobs.c.failed).where(
    these(jobs.c.id), jobs.c.state.in_(UNFINISHED), jobs.c.ended >= jobs.c.tasks, jobs.c.complete
)
MOST_LOST = 2  # workers that ended while they had a task, after which it is not tried again


@dataclass(eq=False)
class SqlQueue:
    _engine: Engine
    _leases: Leases
    _: KW_ONLY
    most: int | None = None  # tasks that a worker may claim at once if others want some too
    losses: int = MOST_LOST  # workers that may die with a task before it is set aside
    listening: Callable[[Callable[[], None]], AbstractContextManager[None]] = lambda wake: (
        nullcontext()
    )

    def __post_init__(self) -> None:
        self._turn = 0  # which sender is first

    # --- offering: by any process

    def create(
        self,
        kind: str,
        what: str,
        options: Mapping[str, Any],
        priority: Priority,
        offered: Sequence[Offered] | None,
        worker: str = "",
    ) -> JobId:
        with self._engine.begin() as connection:
            whole = offered is not None
            job = _new_job(
                connection, kind=kind, what=what, options=dict(options), priority=int(priority),
                lasting=whole, complete=whole, worker=worker, sender=str(options.get("by", "")),
            )  # fmt: skip
            ids = take(connection, "task", len(offered or ()))
            rows = zip(ids, offered or (), strict=True)
            _insert(connection, [(id_, job, 0, item) for id_, item in rows], TaskState.WAITING)
            trim(connection)
            _close_ended(connection, [job])
        return job

    # --- working: each worker under a lease of its own (`worker_lease`)

    def recover(self) -> None:
        """Take over what dead workers left: their documents wait again, or fail where only that
        process could have had them or where another died with them before. What living ones have
        stays theirs."""
        with self._engine.begin() as connection:
            dead = self._dead(connection)
            if dead:
                alone(connection, "recover")
                self._take_over(connection, dead)

    def _take_over(self, connection: Connection, dead: Set[str]) -> None:
        """Looks only at jobs that they worked on, however long the queue is."""
        left = (tasks.c.state == TaskState.WORKING) & tasks.c.worker.in_(dead)
        begun = jobs.c.id.in_(select(tasks.c.job).where(left))
        theirs = begun | (~jobs.c.lasting & jobs.c.worker.in_(dead))
        ours = jobs.c.state.in_(UNFINISHED) & (jobs.c.kind != REEMBED)
        rows = connection.execute(select(jobs).where(ours, theirs).order_by(jobs.c.id)).all()
        for row in rows:
            if row.worker not in dead and not row.lasting:
                continue  # its worker alone knows its documents
            if row.lasting:
                _lose(connection, row.id, (tasks.c.job == row.id) & left, losses=self.losses)
            elif row.complete:  # it had offered all; what lacks only vectors needs no source
                _fail_unread(connection, row.id)
                _lose(connection, row.id, (tasks.c.job == row.id) & left, losses=self.losses)
            else:
                _interrupt(connection, row.id)
        _drop_cancelled(connection, dead)
        _close_ended(connection, [row.id for row in rows])

    def _dead(self, connection: Connection) -> set[str]:
        """Workers with a task or job that are no longer running. A new worker is never among them:
        it takes a lease before a task."""
        of_tasks = select(tasks.c.worker).where(tasks.c.state == TaskState.WORKING)
        of_jobs = select(jobs.c.worker).where(jobs.c.state.in_(UNFINISHED), ~jobs.c.lasting)
        workers = set(connection.scalars(union(of_tasks, of_jobs)))
        return {w for w in workers if not w or not self._leases.is_held(worker_lease(w))}

    def claim(self, worker: str, limit: int, before: tuple[int, JobId] | None = None) -> list[Task]:
        """The next tasks, of one job or several: by priority, then in turn by sender, and of each
        sender by age. `before`: only of jobs ahead of this priority and number. A task that was
        lost before comes alone: if the worker dies again, we know which one it had."""
        limit = min(limit, self.most or limit)
        with self._engine.begin() as connection:
            alone(connection, "claim")  # 5 ms: others then get different tasks, and a full share
            self._turn += 1
            for some in slices(_senders(connection, self._turn), _SENDERS):
                waiting = _waiting(connection, some, limit, before)
                if waiting:
                    fresh = [task.id for task in takewhile(lambda task: not task.lost, waiting)]
                    return _take_up(connection, worker, fresh or [waiting[0].id])
        return []

    def is_waiting(self) -> bool:
        waiting = select(tasks.c.id).where(tasks.c.job == jobs.c.id)
        waiting = waiting.where(tasks.c.state == TaskState.WAITING)
        query = select(jobs.c.id).where(jobs.c.state.in_(UNFINISHED), waiting.exists()).limit(1)
        with self._engine.connect() as connection:
            return connection.scalar(query) is not None

    def start(self, worker: str, job: JobId) -> None:
        with self._engine.begin() as connection:
            _start(connection, worker, [job])

    def reserve(self, count: int) -> range:
        """Numbers for tasks that are about to be kept with `extend`."""
        with self._engine.begin() as connection:
            return take(connection, "task", count)

    def extend(self, worker: str, met: Sequence[tuple[TaskId, JobId, TaskId, Offered]]) -> None:
        if met:
            with self._engine.begin() as connection:
                _insert(connection, met, TaskState.WORKING, worker)

    def complete(self, job: JobId) -> None:
        with self._engine.begin() as connection:
            connection.execute(update(jobs).where(jobs.c.id == job).values(complete=True))
            _close_ended(connection, [job])

    def abandon(self, job: JobId) -> None:
        with self._engine.begin() as connection:
            open_ = (jobs.c.id == job) & jobs.c.state.in_(UNFINISHED)
            if connection.execute(select(jobs.c.id).where(open_)).first():
                _interrupt(connection, job)

    def note(self, job: JobId, notes: Sequence[str]) -> None:
        with self._engine.begin() as connection:
            connection.execute(update(jobs).where(jobs.c.id == job).values(notes=list(notes)))

    def end(self, ends: Sequence[TaskEnd]) -> None:
        if ends:
            with self._engine.begin() as connection:
                end_tasks(connection, ends)

    def end_again(self, ends: Sequence[TaskEnd]) -> None:
        with self._engine.begin() as connection:
            for some in slices([end.task for end in ends]):
                reopen(connection, tasks.c.id.in_(some) & (tasks.c.state == TaskState.FAILED))
            end_tasks(connection, ends)

    def release(self, ids: Sequence[TaskId], *, lost: bool = False) -> None:
        """Tasks that this process does not finish wait for another."""
        put_back = partial(_lose, losses=self.losses) if lost else _put_back
        with self._engine.begin() as connection:
            for some in slices(ids):
                mine = tasks.c.id.in_(some) & (tasks.c.state == TaskState.WORKING)
                of = connection.scalars(select(tasks.c.job).where(mine).distinct()).all()
                for job in of:
                    put_back(connection, job, mine & (tasks.c.job == job))

    def note_progress(self, noted: Mapping[TaskId, TaskProgress]) -> None:
        if not noted:
            return
        names = ("step", "passages", "embedded", "tokens", "heard")
        rows = [
            {f"_{name}": getattr(task_progress, name) for name in names} | {"_id": task}
            for task, task_progress in noted.items()
        ]
        working = (tasks.c.id == bindparam("_id")) & (tasks.c.state == TaskState.WORKING)
        values = {name: bindparam(f"_{name}", type_=tasks.c[name].type) for name in names}
        with self._engine.begin() as connection, counted(connection, list(noted)):
            connection.execute(update(tasks).where(working).values(**values), rows)

    def cancelled(self, some: Sequence[JobId]) -> set[JobId]:
        """Those of the jobs that someone has cancelled, or cleared away."""
        with self._engine.connect() as connection:
            return set(some) - set(connection.scalars(_RUNNING, {"ids": some}))

    def unembedded(self) -> list[Task]:
        over = tasks.c.state.in_((TaskState.FAILED, TaskState.WORKING))
        theirs = (tasks.c.step == Step.EMBED) & tasks.c.document.is_not(None) & over
        with self._engine.connect() as connection:
            return [task_of(row) for row in connection.execute(select(tasks).where(theirs))]

    # --- a change of the model: it has no tasks, what it is made of are passages

    def begin_reembed(self, model: str, model_settings: Mapping[str, str]) -> Job:
        """The job that changes to this model: the unfinished one, or a new one. A change to another
        model has been cancelled. `model_settings`: how to load the model."""
        mine = (jobs.c.kind == REEMBED) & jobs.c.state.in_(UNFINISHED)
        purpose = f"embed again with {model}"
        with self._engine.begin() as connection:
            others = update(jobs).where(mine, jobs.c.what != purpose)
            connection.execute(others.values(state=JobState.CANCELLED, ended_at=now()))
            row = connection.execute(select(jobs).where(mine)).first()
            if row is not None:
                return job_of(row)
            settings = {"settings": dict(model_settings)}
            number = _new_job(
                connection, kind=REEMBED, what=purpose, options=settings,
                priority=int(Priority.BULK), lasting=True, complete=False, worker="", sender="",
            )  # fmt: skip
            trim(connection)
            return job_of(connection.execute(select(jobs).where(jobs.c.id == number)).one())

    def take_up(self, worker: str, job: JobId) -> None:
        """This worker is at it from now on: what its rate is measured from."""
        running = {"state": JobState.RUNNING, "run_at": now(), "run_ended": jobs.c.ended}
        running["worker"] = worker
        with self._engine.begin() as connection:
            mine = (jobs.c.id == job) & jobs.c.state.in_(UNFINISHED)
            connection.execute(update(jobs).where(mine).values(**running))
            first = update(jobs).where(jobs.c.id == job, jobs.c.started_at == "")
            connection.execute(first.values(started_at=now()))

    def advance(self, job: JobId, ended: int, of: int) -> None:
        with self._engine.begin() as connection:
            counts = {"ended": ended, "tasks": of}
            connection.execute(update(jobs).where(jobs.c.id == job).values(**counts))

    def leave(self, job: JobId, state: JobState, note: str = "") -> None:
        """This process is done with the job; `queued`: another one continues. Not if someone ended
        it."""
        ended = {"ended_at": now(), "complete": True} if state.has_ended else {}
        values = {"state": state, "notes": [note] if note else [], **ended}
        with self._engine.begin() as connection:
            mine = (jobs.c.id == job) & jobs.c.state.in_(UNFINISHED)
            connection.execute(update(jobs).where(mine).values(**values))


def _new_job(connection: Connection, **values: Any) -> JobId:
    counts = ("tasks", "size", "ended", "ended_size", "failed", "unchanged", "run_ended")
    unset = dict.fromkeys((*counts, "run_tokens"), 0)
    times = dict.fromkeys(("started_at", "ended_at", "run_at"), "")
    job = take(connection, "job", 1).start
    made = {"id": job, "state": JobState.QUEUED, "created_at": now(), "notes": []}
    insert_all(connection, jobs, [{**made, **unset, **times, **values}])
    return job


def _senders(connection: Connection, turn: int) -> list[str]:
    """Those with work left, beginning with another one each time."""
    senders = sorted(connection.scalars(_SENDING))
    first = turn % len(senders) if senders else 0
    return senders[first:] + senders[:first]


def _waiting(
    connection: Connection, senders: list[str], limit: int, before: tuple[int, JobId] | None
) -> list[Row[Any]]:
    """The first tasks of each sender, in turn."""
    values: dict[str, Any] = {f"sender{n}": sender for n, sender in enumerate(senders)}
    values |= {"limit": limit}
    if before is not None:
        values |= {"priority": before[0], "number": before[1]}
    query = _first_of_each(len(senders), before is not None)
    rows = connection.execute(query, values).all()
    taken: Counter[tuple[int, str]] = Counter()
    ranked: list[tuple[int, int, int, Row[Any]]] = []
    for row in sorted(rows, key=lambda row: (row.priority, row.job, row.id)):
        ranked.append((row.priority, taken[row.priority, row.sender], len(ranked), row))
        taken[row.priority, row.sender] += 1
    return [row[-1] for row in sorted(ranked, key=lambda row: row[:3])[:limit]]


@lru_cache
def _first_of_each(senders: int, bounded: bool) -> CompoundSelect[Any]:
    mine = jobs.c.state.in_(UNFINISHED) & (tasks.c.state == TaskState.WAITING)
    if bounded:
        priority = bindparam("priority", type_=jobs.c.priority.type)
        earlier = (jobs.c.priority == priority) & (jobs.c.id < bindparam("number"))
        mine &= (jobs.c.priority < priority) | earlier
    columns = (tasks.c.id, tasks.c.lost, tasks.c.job, jobs.c.priority, jobs.c.sender)
    query = select(*columns).join(jobs, tasks.c.job == jobs.c.id).where(mine)
    query = query.order_by(jobs.c.priority, jobs.c.id, tasks.c.id).limit(bindparam("limit"))
    each = (query.where(jobs.c.sender == bindparam(f"sender{n}")) for n in range(senders))
    return union_all(*(select(one.subquery()) for one in each))


def _take_up(connection: Connection, worker: str, ids: list[TaskId]) -> list[Task]:
    by_id: dict[TaskId, Task] = {}
    for some in slices(ids):
        mine = {"ids": some, "by": worker}
        connection.execute(_TAKEN, mine)
        # Not those that someone cancelled between the two.
        by_id |= {row.id: task_of(row) for row in connection.execute(_THEIRS, mine)}
    _start(connection, worker, sorted({task.job for task in by_id.values()}))
    return [by_id[id_] for id_ in ids if id_ in by_id]


def not_theirs(connection: Connection, ends: Sequence[TaskEnd]) -> set[TaskId]:
    """Tasks whose worker has lost them: its lease ended, and another one has them or had them. The
    others stay as they are until the transaction ends."""
    owners = {end.task: end.worker for end in ends if end.worker}
    holders: dict[TaskId, str] = {}
    for some in slices(sorted(owners)):
        holders |= {row.id: row.worker for row in connection.execute(_HOLDERS, {"ids": some})}
    return {task for task, worker in owners.items() if holders.get(task) != worker}


def end_tasks(connection: Connection, ends: Sequence[TaskEnd]) -> None:
    """Part of the transaction that does what the tasks asked for."""
    lost = not_theirs(connection, ends)
    ends = [end for end in ends if end.task not in lost]
    if not ends:
        return
    rows = [{f"_{n}": getattr(end, n) for n in _OF_AN_END} | {"_id": end.task} for end in ends]
    with counted(connection, [end.task for end in ends]) as touched:
        connection.execute(_ENDED, rows)
    _close_ended(connection, touched)


def _start(connection: Connection, worker: str, some: list[JobId]) -> None:
    connection.execute(_GIVEN, {"ids": some, "by": worker})
    connection.execute(_RUN, {"ids": some, "at": now()})
    connection.execute(_STARTED, {"ids": some, "at": now()})


def _close_ended(connection: Connection, some: Sequence[JobId]) -> None:
    """Jobs whose last task has ended are done."""
    closed = connection.execute(_OVER, {"ids": some}).all()
    if not closed:
        return
    unlisted = tasks.c.job.in_([row.id for row in closed]) & (tasks.c.fate == "unchanged")
    unlisted &= (tasks.c.state == TaskState.DONE) & (tasks.c.parent == 0)
    count = select(tasks.c.job, func.count()).where(unlisted).group_by(tasks.c.job)
    unchanged = {row[0]: row[1] for row in connection.execute(count)}
    if unchanged:
        connection.execute(delete(tasks).where(unlisted))
    rows = [
        {
            "_id": row.id,
            "_state": JobState.FAILED if row.failed else JobState.DONE,
            "_unchanged": unchanged.get(row.id, 0),
        }
        for row in closed
    ]
    ended = {"state": bindparam("_state", type_=jobs.c.state.type), "ended_at": now()}
    more = jobs.c.unchanged + bindparam("_unchanged", type_=jobs.c.unchanged.type)
    mine = update(jobs).where(jobs.c.id == bindparam("_id"))
    connection.execute(mine.values(unchanged=more, **ended), rows)


def _insert(
    connection: Connection,
    met: Sequence[tuple[TaskId, JobId, TaskId, Offered]],
    state: TaskState,
    worker: str = "",
) -> None:
    rows: list[dict[str, Any]] = [
        {
            "id": id_, "job": job, "parent": parent, "uri": item.uri, "name": item.name,
            "size": item.size, "key": item.key, "state": state, "step": "", "fate": "",
            "attempts": int(state is TaskState.WORKING), "anew": False, "code": "", "message": "",
            "document": None, "seconds": {}, "worker": worker,
        }
        for id_, job, parent, item in met
    ]  # fmt: skip
    insert_all(connection, tasks, rows)
    for job in {row["job"] for row in rows}:
        sizes = [row["size"] for row in rows if row["job"] == job]
        grown = {"tasks": jobs.c.tasks + len(sizes), "size": jobs.c.size + sum(sizes)}
        connection.execute(update(jobs).where(jobs.c.id == job).values(**grown))


def _put_back(connection: Connection, job: JobId, which: ColumnElement[bool]) -> None:
    """Let tasks wait again; those within others come again with what holds them."""
    drop_tasks(connection, which & (tasks.c.parent > 0))
    let_wait(connection, which)
    others = select(tasks.c.id).where(tasks.c.job == job, tasks.c.state == TaskState.WORKING)
    idle = update(jobs).where(jobs.c.id == job, jobs.c.state == JobState.RUNNING)
    connection.execute(idle.where(~others.exists()).values(state=JobState.QUEUED))


def _lose(connection: Connection, job: JobId, which: ColumnElement[bool], *, losses: int) -> None:
    """A worker ended while it had these: let them wait again, but not for ever."""
    # One that only lacks vectors is worked on together with all others like it.
    stored = (tasks.c.step == Step.EMBED) & tasks.c.document.is_not(None)
    mine = which & (tasks.c.parent == 0) & ~stored
    # The second time we know which task had started: the others only waited behind it.
    begun = (tasks.c.lost == 0) | (tasks.c.step != "")
    connection.execute(update(tasks).where(mine & begun).values(lost=tasks.c.lost + 1))
    guilty = connection.execute(
        select(tasks.c.id, tasks.c.name, tasks.c.step).where(mine, tasks.c.lost >= losses)
    ).all()
    ends = []
    for task in guilty:
        times = "twice" if losses == 2 else f"{losses} times"
        why = DocumentSetAside(
            f"Couldn't add {task.name}: the program ended {times} while doing so."
        )
        failure = (why.code, str(why))
        ends.append(TaskEnd(task.id, TaskState.FAILED, "failed", task.step, *failure))
    end_tasks(connection, ends)
    left = which & (tasks.c.state == TaskState.WORKING)
    connection.execute(update(tasks).where(left & ~stored).values(step=""))
    _put_back(connection, job, left)


_NEEDS_SOURCE = ~((tasks.c.step == Step.EMBED) & tasks.c.document.is_not(None))


def _fail_unread(
    connection: Connection, job: JobId, which: ColumnElement[bool] = _NEEDS_SOURCE
) -> JobInterrupted:
    """Documents that only a process could offer that is gone have failed."""
    open_ = tasks.c.state.in_((TaskState.WAITING, TaskState.WORKING))
    mine = (tasks.c.job == job) & open_ & which
    why = JobInterrupted("The process that added it ended first.")
    lost = [
        TaskEnd(task, TaskState.FAILED, "failed", "", why.code, str(why))
        for task in connection.scalars(select(tasks.c.id).where(mine))
    ]
    end_tasks(connection, lost)
    return why


def _interrupt(connection: Connection, job: JobId) -> None:
    """A job whose documents only a process knew that is gone: nobody knows what else it had."""
    why = _fail_unread(connection, job, true())
    ended = {"complete": True, "state": JobState.FAILED, "ended_at": now(), "notes": [str(why)]}
    connection.execute(update(jobs).where(jobs.c.id == job).values(**ended))


def _drop_cancelled(connection: Connection, dead: Set[str]) -> None:
    """Tasks that a worker had when its job was cancelled and it died."""
    query = (
        select(tasks.c.id)
        .join(jobs, tasks.c.job == jobs.c.id)
        .where(jobs.c.state == JobState.CANCELLED, tasks.c.state == TaskState.WORKING)
        .where(tasks.c.worker.in_(dead))
    )
    end_tasks(
        connection, [TaskEnd(task, TaskState.CANCELLED) for task in connection.scalars(query)]
    )
