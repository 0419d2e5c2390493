"""Workers share a queue: each takes documents of any job, however long the queue is."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from sqlalchemy import event, text
from tests import postgres
from tests.serving.shelf import PATIENCE, client, until

from trivium.config import Settings
from trivium.core.places import DatabaseAddress
from trivium.core.types import Labels
from trivium.core.work import JobState, Offered, Priority, TaskEnd, TaskState, worker_lease
from trivium.library import Library
from trivium.sources.folder import FolderSource
from trivium.store.opening import BackendOptions, open_backend
from trivium.store.postgres.address import parse
from trivium.store.postgres.backend import CLAIMED
from trivium.store.postgres.database import open_database
from trivium.store.postgres.leases import RowLeases
from trivium.store.sql.queue import SqlQueue
from trivium.testing.samples import TOY


@pytest.fixture
def place() -> Iterator[DatabaseAddress]:
    with postgres.library() as address:
        yield address


def test_workers_take_documents_of_different_jobs(place: DatabaseAddress, tmp_path: Path) -> None:
    """One-document jobs, as uploads are: who finds the first one taken goes on with the next."""
    with Library(open_backend(place, BackendOptions()), TOY, Settings()) as library:
        jobs = []
        for number in range(3):
            file = tmp_path / f"{number}.md"
            file.write_text(f"Lantern {number} burns.")
            jobs.append(library.jobs.enqueue(FolderSource([file]), Labels()).id)
        other = library.backend
        with other.leases.hold(worker_lease("busy"), "working"):
            (task,) = other.queue.claim("busy", 1)
            assert task.job == jobs[0]
            assert library.jobs.work_next()
            states = [library.jobs.get(job).state for job in jobs]
            assert states == [JobState.RUNNING, JobState.DONE, JobState.DONE]
            assert not library.jobs.work_next(), "the rest is another worker's"
        assert library.jobs.work_next(), "which has died since"
        assert library.jobs.get(jobs[0]).state is JobState.DONE


@contextmanager
def queued(jobs: int) -> Iterator[tuple[SqlQueue, list[str]]]:
    """A queue of this many jobs of one document, and the statements sent from then on."""
    with postgres.library() as place:
        open_backend(place, BackendOptions()).close()
        engine = open_database(parse(place))
        leases = RowLeases(engine, 1.0)
        queue = SqlQueue(engine, leases, most=CLAIMED)
        asked: list[str] = []

        @event.listens_for(engine, "before_cursor_execute")
        def note(_connection: object, _cursor: object, statement: str, *_: object) -> None:
            asked.append(statement)

        for number in range(jobs):
            offered = [Offered(f"/{number}", str(number), 10, b"key")]
            queue.create("add", "add", {}, Priority.INTERACTIVE, offered)
        asked.clear()
        yield queue, asked
        leases.close()
        engine.dispose()


def statements(jobs: int) -> int:
    """To take over from a dead worker in a queue of this many jobs, and to claim."""
    with queued(jobs) as (queue, asked):
        assert len(queue.claim("dead", CLAIMED)) == CLAIMED
        asked.clear()
        queue.recover()
        assert len(queue.claim("next", CLAIMED)) == 1, "it was lost before, so it comes alone"
        return len(asked)


def test_idle_workers_count_until_they_stop_or_die(place: DatabaseAddress) -> None:
    """Two real ones without a job: both are alive; one is killed, the other asked to stop."""
    program = [sys.executable, "-m", "trivium.cli.main", "--library", place.url, "worker"]
    with Library(open_backend(place, BackendOptions()), TOY, Settings()) as library:

        def alive(count: int) -> bool:
            return library.jobs.queue_state().workers == count

        with subprocess.Popen(program) as killed, subprocess.Popen(program) as stopped:
            try:
                until(lambda: alive(2))
                with client(library) as owner:
                    assert "trivium_workers_alive 2.0" in owner.get("/metrics").text
                killed.kill()
                killed.wait(PATIENCE)
                with postgres.as_owner() as connection:  # as if it had been silent for 15 seconds
                    schema = parse(place).schema
                    connection.execute(text(f"UPDATE {schema}.leases SET until = now()"))
                until(lambda: alive(1))  # the living one says so again
                stopped.terminate()
                assert stopped.wait(PATIENCE) == 0
                assert alive(0)
            finally:
                for process in (killed, stopped):
                    process.kill()


def test_jobs_that_end_together_cost_what_one_does() -> None:
    """Uploads are jobs of one document."""

    def ending(jobs: int) -> int:
        with queued(jobs) as (queue, asked):
            taken = queue.claim("one", CLAIMED)
            asked.clear()
            queue.end([TaskEnd(task.id, TaskState.DONE, "added") for task in taken])
            return len(asked)

    assert ending(CLAIMED) == ending(1)


def test_a_long_queue_costs_no_more_for_each_document() -> None:
    assert statements(10 * CLAIMED) == statements(CLAIMED)
