"""A change of the model as a job: people see how far it is and cancel it like any other.

It has no tasks: what it is made of are passages, and those are counted. One process works on it
under a lock of its own, beside the queue, whose worker leaves it alone. Every public method is one
transaction.
"""

from __future__ import annotations

from collections.abc import Mapping

from sqlalchemy import insert, select, update

from trivium.store.clock import now
from trivium.store.sql.job_tables import jobs
from trivium.store.sql.jobs import UNFINISHED, JobBook, job_of
from trivium.store.sql.statements import take
from trivium.work import REEMBED, Job, JobId, JobState, Priority


class ModelJobs(JobBook):
    def begin_reembed(self, model: str, told: Mapping[str, str]) -> Job:
        """The job that is to come to this model: the one that was begun, or a new one. Whatever
        was begun for another has been given up. `told`: how to load the model."""
        mine = (jobs.c.kind == REEMBED) & jobs.c.state.in_(UNFINISHED)
        what = f"embed anew with {model}"
        with self._engine.begin() as connection:
            others = update(jobs).where(mine, jobs.c.what != what)
            connection.execute(others.values(state=JobState.CANCELLED, ended_at=now()))
            found = connection.execute(select(jobs).where(mine)).first()
            if found is not None:
                return job_of(found)
            row = {
                "id": take(connection, "job", 1).start, "kind": REEMBED, "what": what,
                "options": {"settings": dict(told)}, "priority": int(Priority.BULK),
                "state": JobState.QUEUED, "created_at": now(), "started_at": "", "ended_at": "",
                "tasks": 0, "size": 0, "ended": 0, "ended_size": 0, "failed": 0, "unchanged": 0,
                "notes": [], "lasting": True, "complete": False, "run_at": "", "run_ended": 0,
                "run_size": 0,
            }  # fmt: skip
            connection.execute(insert(jobs).values(**row))
            self.trim(connection)
            return job_of(connection.execute(select(jobs).where(jobs.c.id == row["id"])).one())

    def take_up(self, job: JobId) -> None:
        """This process works on it from now on: what its rate is measured from."""
        running = {"state": JobState.RUNNING, "run_at": now(), "run_ended": jobs.c.ended}
        with self._engine.begin() as connection:
            mine = (jobs.c.id == job) & jobs.c.state.in_(UNFINISHED)
            connection.execute(update(jobs).where(mine).values(**running))
            first = update(jobs).where(jobs.c.id == job, jobs.c.started_at == "")
            connection.execute(first.values(started_at=now()))

    def advance(self, job: JobId, ended: int, of: int) -> None:
        """How many passages are embedded."""
        with self._engine.begin() as connection:
            counts = {"ended": ended, "tasks": of}
            connection.execute(update(jobs).where(jobs.c.id == job).values(**counts))

    def leave(self, job: JobId, state: JobState, note: str = "") -> None:
        """This process is done with it; queued: another goes on. Not where someone ended it."""
        ended = {"ended_at": now(), "complete": True} if state.has_ended else {}
        values = {"state": state, "notes": [note] if note else [], **ended}
        with self._engine.begin() as connection:
            mine = (jobs.c.id == job) & jobs.c.state.in_(UNFINISHED)
            connection.execute(update(jobs).where(mine).values(**values))
