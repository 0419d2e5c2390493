"""What every queue of jobs must do: order, counts, tasks of dead workers, what it keeps."""

from __future__ import annotations

import pytest
from tests.contract.part import PartContract

from trivium.core import work
from trivium.core.work import (
    Job,
    JobState,
    Offered,
    Priority,
    Step,
    TaskEnd,
    TaskProgress,
    TaskState,
    worker_lease,
)
from trivium.ports import Backend

WORKER = "one"  # without its lease: its tasks count as a dead worker's
FEW = 5  # workers that die with a task before it is set aside, at most


def offered(*names: str) -> list[Offered]:
    return [Offered(f"/{name}", name, 10, name.encode()) for name in names]


def create(backend: Backend, *names: str, priority: Priority = Priority.BULK) -> int:
    return backend.queue.create("add", "add some", {}, priority, offered(*names))


def done(task: int, fate: str = "added") -> TaskEnd:
    return TaskEnd(task, TaskState.DONE, fate)


def failed(task: int, step: str = "", document: int | None = None) -> TaskEnd:
    return TaskEnd(task, TaskState.FAILED, "failed", step, "x.y", "Why.", document)


def job_of(backend: Backend, number: int) -> Job:
    job = backend.jobs.get(number)
    assert job is not None
    return job


def counts(backend: Backend, job: int) -> tuple[int, int, int, int]:
    """Tasks that are read, their bytes, their tokens, and those of embedded passages."""
    stored = job_of(backend, job)
    return stored.read, stored.read_size, stored.tokens, stored.tokens_done


class JobsContract(PartContract):
    """Override `backend`; see tests/contract for an example."""

    def test_the_urgent_first_then_the_oldest(self, backend: Backend) -> None:
        old = create(backend, "a", "b", "c")
        create(backend, "d")
        urgent = create(backend, "e", priority=Priority.INTERACTIVE)
        assert backend.queue.is_waiting()
        assert [t.name for t in backend.queue.claim(WORKER, 3)] == ["e", "a", "b"]
        assert backend.queue.claim(WORKER, 10, (Priority.BULK, old)) == [], "nothing goes before it"
        assert [t.name for t in backend.queue.claim(WORKER, 10, (Priority.BULK, old + 1))] == ["c"]
        assert [t.name for t in backend.queue.claim(WORKER, 10)] == ["d"]
        assert backend.queue.claim(WORKER, 10) == []
        assert not backend.queue.is_waiting()
        job = job_of(backend, urgent)
        assert (job.state, job.started_at > "") == (JobState.RUNNING, True)

    def test_senders_take_turns_and_a_claim_takes_tasks_of_many_jobs(
        self, backend: Backend
    ) -> None:
        def send(by: str, *names: str) -> None:
            offered = [Offered(f"/{name}", name, 10, name.encode()) for name in names]
            options = {"by": by}
            backend.queue.create("add", "add", options, Priority.INTERACTIVE, offered)

        for number in range(40):
            send("greedy", f"g{number:02}")
        send("", "x", "y")
        send("modest", "m")
        first = [task.name for task in backend.queue.claim(WORKER, 6)]
        assert sorted(first) == ["g00", "g01", "g02", "m", "x", "y"]
        others = [t.name for _ in range(20) for t in backend.queue.claim(WORKER, 2)]
        assert sorted(others) == [f"g{number:02}" for number in range(3, 40)]

    def test_counts_go_with_the_tasks(self, backend: Backend) -> None:
        number = create(backend, "a", "b", "c")
        first, second, third = (task.id for task in backend.queue.claim(WORKER, 10))
        backend.queue.end([done(first), failed(second)])
        job = job_of(backend, number)
        assert (job.tasks, job.ended, job.failed, job.ended_size) == (3, 2, 1, 20)
        assert job.waiting == 1
        backend.queue.end([done(third, "unchanged")])
        job = job_of(backend, number)
        assert (job.state, job.ended, job.ended_at > "") == (JobState.FAILED, 3, True)
        assert backend.jobs.fates(number) == {"added": 1, "failed": 1, "unchanged": 1}
        assert [task.id for task in backend.jobs.tasks(number)] == [first, second]

    def test_tokens_are_counted_as_passages_are_embedded(self, backend: Backend) -> None:
        number = create(backend, "a", "b", "c", "d")
        first, second, third, _ = (task.id for task in backend.queue.claim(WORKER, 10))
        assert counts(backend, number) == (0, 0, 0, 0)
        backend.queue.note_progress(
            {first: TaskProgress(Step.EMBED, 9, 0, 2000), second: TaskProgress(Step.EXTRACT)}
        )
        assert counts(backend, number) == (1, 10, 2000, 0)
        backend.queue.note_progress({first: TaskProgress(Step.EMBED, 9, 4, 2000)})
        assert counts(backend, number) == (1, 10, 2000, 888), "in proportion"
        noted = [(t.step, t.passages, t.embedded, t.tokens) for t in backend.jobs.tasks(number)]
        assert noted[:2] == [(Step.EMBED, 9, 4, 2000), (Step.EXTRACT, None, 0, 0)]
        backend.queue.end([TaskEnd(second, TaskState.DONE, "added", passages=2, tokens=50)])
        assert counts(backend, number) == (2, 20, 2050, 938), "it ended between two looks"
        backend.queue.end([done(first), failed(third)])
        assert counts(backend, number) == (3, 30, 2050, 2050), "as many as were noted, or none"
        backend.queue.note_progress({first: TaskProgress(Step.EMBED, 9, 4, 2000)})
        assert counts(backend, number) == (3, 30, 2050, 2050), "nobody works on it"
        assert backend.jobs.retry(number) == 1
        assert counts(backend, number) == (2, 20, 2050, 2050)
        backend.jobs.cancel(number)
        assert counts(backend, number) == (3, 30, 2050, 2050), "its worker still has d"

    def test_a_document_longer_than_any_counter_of_32_bits(self, backend: Backend) -> None:
        number = create(backend, "a")
        (task,) = backend.queue.claim(WORKER, 1)
        half = TaskProgress(Step.EMBED, 1_000_000, 500_000, 400_000_000)
        backend.queue.note_progress({task.id: half})
        assert counts(backend, number) == (1, 10, 400_000_000, 200_000_000)

    def test_what_comes_back_is_read_again(self, backend: Backend) -> None:
        number = create(backend, "a", "b")
        first, second = (task.id for task in backend.queue.claim(WORKER, 10))
        inner = backend.queue.reserve(1).start
        backend.queue.extend(WORKER, [(inner, number, first, Offered("/a!/x", "x", 5))])
        half = TaskProgress(Step.EMBED, 10, 5, 100)
        backend.queue.note_progress({first: half, second: half, inner: half})
        assert counts(backend, number) == (3, 25, 300, 150)
        backend.queue.release([second])
        assert counts(backend, number) == (2, 15, 200, 100)
        backend.queue.recover()  # the worker died
        assert counts(backend, number) == (0, 0, 0, 0)
        assert [(t.passages, t.embedded) for t in backend.jobs.tasks(number)] == [(None, 0)] * 2

    def test_a_dead_worker_and_one_that_stops(self, backend: Backend) -> None:
        number = create(backend, "a", "b")
        first, second = (task.id for task in backend.queue.claim(WORKER, 10))
        inner = backend.queue.reserve(1).start
        backend.queue.extend(WORKER, [(inner, number, first, Offered("/a!/x", "x", 5))])
        backend.queue.recover()
        assert [(t.id, t.state) for t in backend.jobs.tasks(number)] == [
            (first, TaskState.WAITING),
            (second, TaskState.WAITING),
        ]
        job = job_of(backend, number)
        assert (job.tasks, job.size, job.state) == (2, 20, JobState.QUEUED)
        again = [
            *backend.queue.claim(WORKER, 10),
            *backend.queue.claim(WORKER, 10),
        ]  # each alone: one of them may be why
        assert [(task.id, task.attempts, task.lost) for task in again] == [
            (first, 2, 1),
            (second, 2, 1),
        ]
        backend.queue.release([first])
        assert [(task.id, task.lost) for task in backend.queue.claim(WORKER, 10)] == [(first, 1)]

    def test_a_task_that_workers_die_with_is_set_aside(self, backend: Backend) -> None:
        """After how many of them is the backend's to say."""
        number = create(backend, "a", "b", "c")
        first, second, third = (task.id for task in backend.queue.claim(WORKER, 10))
        backend.queue.end([done(third)])
        backend.queue.recover()
        for _ in range(FEW):
            assert [task.id for task in backend.queue.claim(WORKER, 10)] == [first]
            backend.queue.note_progress({first: TaskProgress(Step.EXTRACT)})
            # As a worker does that cannot say what went wrong.
            backend.queue.release([first], lost=True)
            task = backend.jobs.tasks(number)[0]
            if task.state is TaskState.FAILED:
                break
        assert (task.state, task.code) == (TaskState.FAILED, "document.set_aside")
        assert "a" in task.message
        assert [task.id for task in backend.queue.claim(WORKER, 10)] == [second]
        backend.queue.end([done(second)])
        job = job_of(backend, number)
        assert (job.state, job.failed, job.ended) == (JobState.FAILED, 1, 3)
        assert backend.jobs.retry(number) == 1
        assert [(task.id, task.lost) for task in backend.queue.claim(WORKER, 10)] == [(first, 0)]

    def test_what_only_waited_behind_another_is_not_set_aside(self, backend: Backend) -> None:
        """Workers that die also lose tasks that they had claimed but not started."""
        slow, innocent = create(backend, "slow"), create(backend, "innocent")
        for _ in range(2 * FEW):
            for job in (slow, innocent):
                for task in backend.queue.claim(WORKER, 10, (int(Priority.BULK), job + 1)):
                    if task.job == slow:
                        backend.queue.note_progress({task.id: TaskProgress(Step.EXTRACT)})
            backend.queue.recover()
        (first,), (second,) = backend.jobs.tasks(slow), backend.jobs.tasks(innocent)
        assert (first.state, first.code) == (TaskState.FAILED, "document.set_aside")
        assert second.state is TaskState.WAITING

    def test_what_only_a_dead_process_had(self, backend: Backend) -> None:
        number = backend.queue.create("add", "add texts", {}, Priority.BULK, None)
        backend.queue.start(WORKER, number)
        task = backend.queue.reserve(1).start
        backend.queue.extend(WORKER, [(task, number, 0, Offered("text:a", "a"))])
        backend.queue.recover()
        (lost,) = backend.jobs.tasks(number)
        assert (lost.state, lost.code) == (TaskState.FAILED, "job.interrupted")
        job = job_of(backend, number)
        assert (job.state, job.failed) == (JobState.FAILED, 1)
        assert backend.jobs.retry(number) == 0

    def test_retry_of_a_member_opens_what_holds_it(self, backend: Backend) -> None:
        number = create(backend, "box")
        (box,) = backend.queue.claim(WORKER, 10)
        good, bad = backend.queue.reserve(2)
        backend.queue.extend(
            WORKER, [(id_, number, box.id, Offered(f"/box!/{id_}", "m")) for id_ in (good, bad)]
        )
        backend.queue.end([done(good), failed(bad), done(box.id)])
        assert backend.jobs.retry(number, bad) == 1
        (again,) = backend.queue.claim(WORKER, 10)
        assert (again.id, again.anew) == (box.id, True)
        job = job_of(backend, number)
        assert (job.tasks, job.ended, job.failed) == (1, 0, 0)

    def test_retry_of_vectors_alone_keeps_the_step(self, backend: Backend) -> None:
        number = create(backend, "a", "b")
        first, second = (task.id for task in backend.queue.claim(WORKER, 10))
        backend.queue.end([failed(first, Step.EMBED, document=7), done(second)])
        assert [task.id for task in backend.queue.unembedded()] == [first]
        assert backend.jobs.retry(number) == 1
        (again,) = backend.queue.claim(WORKER, 10)
        assert (again.step, again.document) == (Step.EMBED, 7)
        backend.queue.end_again([done(first)])
        job = job_of(backend, number)
        assert (job.state, job.ended, job.failed) == (JobState.DONE, 2, 0)

    def test_what_failed_may_end_well_after_all(self, backend: Backend) -> None:
        number = create(backend, "a")
        (task,) = backend.queue.claim(WORKER, 10)
        backend.queue.end([failed(task.id, Step.EMBED, document=7)])
        backend.queue.end_again([done(task.id)])
        job = job_of(backend, number)
        assert (job.state, job.ended, job.failed) == (JobState.DONE, 1, 0)

    def test_cancelling(self, backend: Backend) -> None:
        number = create(backend, "a", "b", "c")
        (task,) = backend.queue.claim(WORKER, 1)
        assert backend.jobs.cancel(number)
        assert not backend.jobs.cancel(number), "only once"
        assert backend.queue.cancelled([number]) == {number}
        assert backend.queue.claim(WORKER, 10) == []
        backend.queue.recover()  # the worker died with it in its hands
        job = job_of(backend, number)
        assert (job.state, job.ended) == (JobState.CANCELLED, 3)
        assert {t.state for t in backend.jobs.tasks(number)} == {TaskState.CANCELLED}
        assert backend.jobs.retry(number) == 3
        assert task.id in {t.id for t in backend.queue.claim(WORKER, 10)}

    def test_only_the_last_jobs_without_a_failure_are_kept(
        self, backend: Backend, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(work, "KEPT_JOBS", 5)  # a thousand take 20 s in PostgreSQL
        bad = create(backend, "bad")
        backend.queue.end([failed(task.id) for task in backend.queue.claim(WORKER, 10)])
        for _ in range(work.KEPT_JOBS + 3):  # without a document a job has ended at once
            backend.queue.create("add", "nothing", {}, Priority.BULK, [])
        left = [job.id for job in backend.jobs.all()]
        assert bad in left
        assert len(left) == work.KEPT_JOBS + 2  # those that had ended, the last one, the failed one
        assert backend.jobs.clear() == work.KEPT_JOBS + 2

    def test_a_job_without_documents_has_ended(self, backend: Backend) -> None:
        job = job_of(backend, create(backend))
        assert job.state is JobState.DONE

    def test_what_only_a_dead_process_had_is_lost_even_where_all_of_it_was_offered(
        self, backend: Backend
    ) -> None:
        job = backend.queue.create("add", "from here", {}, Priority.BULK, None)
        (task,) = backend.queue.reserve(1)
        backend.queue.start(WORKER, job)
        backend.queue.extend(WORKER, [(task, job, 0, Offered("a.md", "a.md", 1))])
        backend.queue.complete(job)
        backend.queue.recover()
        assert backend.queue.claim(WORKER, 10) == []
        (lost,) = backend.jobs.tasks(job)
        assert (lost.state, lost.code) == (TaskState.FAILED, "job.interrupted")

    def test_what_a_living_worker_has_stays_with_it(self, backend: Backend) -> None:
        number = create(backend, "a", "b")
        with backend.leases.hold(worker_lease("living"), "working"):
            (mine,) = backend.queue.claim("living", 1)
            (other,) = backend.queue.claim(WORKER, 1)
            backend.queue.recover()
            states = {task.id: task.state for task in backend.jobs.tasks(number)}
            assert states == {mine.id: TaskState.WORKING, other.id: TaskState.WAITING}
            job = job_of(backend, number)
            assert job.state is JobState.RUNNING
        backend.queue.recover()
        assert backend.jobs.tasks(number)[0].state is TaskState.WAITING

    def test_what_a_living_worker_streams_is_its_own(self, backend: Backend) -> None:
        with backend.leases.hold(worker_lease("living"), "working"):
            number = backend.queue.create("add", "texts", {}, Priority.BULK, None, "living")
            backend.queue.recover()
            streamed = backend.jobs.get(number)
            assert streamed is not None
            assert not streamed.state.has_ended
        backend.queue.recover()
        job = job_of(backend, number)
        assert job.state is JobState.FAILED

    def test_a_change_of_the_model_is_one_job(self, backend: Backend) -> None:
        begun = backend.queue.begin_reembed("next", {"embed.model": "next"})
        assert backend.queue.begin_reembed("next", {}).id == begun.id
        backend.queue.take_up(WORKER, begun.id)
        backend.queue.advance(begun.id, 3, 10)
        backend.queue.recover()
        assert not backend.queue.is_waiting(), "no worker of the queue takes it up"
        job = job_of(backend, begun.id)
        assert (job.state, job.ended, job.tasks) == (JobState.RUNNING, 3, 10)
        other = backend.queue.begin_reembed("third", {})
        backend.queue.leave(other.id, JobState.DONE)
        states = {job.id: job.state for job in backend.jobs.all()}
        assert states == {begun.id: JobState.CANCELLED, other.id: JobState.DONE}
