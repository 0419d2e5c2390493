"""The queue in SQL: order, counts, what a dead worker leaves, what is kept."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from trivium.store.embedded.store import EmbeddedStore
from trivium.store.sql.queue import JobQueue
from trivium.work import JobState, Offered, Priority, Step, TaskEnd, TaskState


@pytest.fixture
def queue(tmp_path: Path) -> Iterator[JobQueue]:
    store = EmbeddedStore(tmp_path / "library")
    yield store.queue
    store.close()


def offered(*names: str) -> list[Offered]:
    return [Offered(f"/{name}", name, 10, name.encode()) for name in names]


def create(queue: JobQueue, *names: str, priority: Priority = Priority.BULK) -> int:
    return queue.create("add", "add some", {}, priority, offered(*names))


def done(task: int, fate: str = "added") -> TaskEnd:
    return TaskEnd(task, TaskState.DONE, fate)


def failed(task: int, step: str = "", document: int | None = None) -> TaskEnd:
    return TaskEnd(task, TaskState.FAILED, "failed", step, "x.y", "Why.", document)


def test_the_urgent_first_then_the_oldest(queue: JobQueue) -> None:
    old = create(queue, "a", "b", "c")
    create(queue, "d")
    urgent = create(queue, "e", priority=Priority.INTERACTIVE)
    assert [t.name for t in queue.claim(10)] == ["e"]
    assert [t.name for t in queue.claim(2)] == ["a", "b"]
    assert queue.claim(10, (Priority.BULK, old)) == [], "nothing goes before it"
    assert [t.name for t in queue.claim(10, (Priority.BULK, old + 1))] == ["c"]
    assert [t.name for t in queue.claim(10)] == ["d"]
    assert queue.claim(10) == []
    job = queue.job(urgent)
    assert job is not None
    assert (job.state, job.started_at > "") == (JobState.RUNNING, True)


def test_counts_go_with_the_tasks(queue: JobQueue) -> None:
    number = create(queue, "a", "b", "c")
    first, second, third = (task.id for task in queue.claim(10))
    queue.end([done(first), failed(second)])
    job = queue.job(number)
    assert job is not None
    assert (job.tasks, job.ended, job.failed, job.ended_size) == (3, 2, 1, 20)
    assert job.waiting == 1
    assert job.rate > 0
    assert job.seconds_left is not None
    queue.end([done(third, "unchanged")])
    job = queue.job(number)
    assert job is not None
    assert (job.state, job.ended, job.ended_at > "") == (JobState.FAILED, 3, True)
    assert queue.fates(number) == {"added": 1, "failed": 1, "unchanged": 1}
    assert [task.id for task in queue.tasks(number)] == [first, second]


def test_a_dead_worker_and_one_that_stops(queue: JobQueue) -> None:
    number = create(queue, "a", "b")
    first, second = (task.id for task in queue.claim(10))
    inner = queue.reserve(1).start
    queue.extend([(inner, number, first, Offered("/a!/x", "x", 5))])
    assert [job.id for job in queue.recover()] == [number]
    assert [(t.id, t.state) for t in queue.tasks(number)] == [
        (first, TaskState.WAITING),
        (second, TaskState.WAITING),
    ]
    job = queue.job(number)
    assert job is not None
    assert (job.tasks, job.size, job.state) == (2, 20, JobState.QUEUED)
    again = [*queue.claim(10), *queue.claim(10)]  # each alone: one of them may be why
    assert [(task.id, task.attempts, task.lost) for task in again] == [
        (first, 2, 1),
        (second, 2, 1),
    ]
    queue.release([first])
    assert [(task.id, task.lost) for task in queue.claim(10)] == [(first, 1)]


def test_a_task_that_two_workers_die_with_is_set_aside(queue: JobQueue) -> None:
    number = create(queue, "a", "b", "c")
    first, second, third = (task.id for task in queue.claim(10))
    queue.end([done(third)])
    queue.recover()
    assert [task.id for task in queue.claim(10)] == [first]
    queue.release([first], lost=True)  # as a worker does that cannot say what went wrong
    task = queue.tasks(number)[0]
    assert (task.state, task.code) == (TaskState.FAILED, "document.set_aside")
    assert "a" in task.message
    assert [task.id for task in queue.claim(10)] == [second]
    queue.end([done(second)])
    job = queue.job(number)
    assert job is not None
    assert (job.state, job.failed, job.ended) == (JobState.FAILED, 1, 3)
    assert queue.retry(number) == 1
    assert [(task.id, task.lost) for task in queue.claim(10)] == [(first, 0)]


def test_what_only_a_dead_process_had(queue: JobQueue) -> None:
    number = queue.create("add", "add texts", {}, Priority.BULK, None)
    queue.start(number)
    task = queue.reserve(1).start
    queue.extend([(task, number, 0, Offered("text:a", "a"))])
    assert queue.recover() == []
    (lost,) = queue.tasks(number)
    assert (lost.state, lost.code) == (TaskState.FAILED, "job.interrupted")
    job = queue.job(number)
    assert job is not None
    assert (job.state, job.failed) == (JobState.FAILED, 1)
    assert queue.retry(number) == 0


def test_retry_of_a_member_opens_what_holds_it(queue: JobQueue) -> None:
    number = create(queue, "box")
    (box,) = queue.claim(10)
    good, bad = queue.reserve(2)
    queue.extend([(id_, number, box.id, Offered(f"/box!/{id_}", "m")) for id_ in (good, bad)])
    queue.end([done(good), failed(bad), done(box.id)])
    assert queue.retry(number, bad) == 1
    (again,) = queue.claim(10)
    assert (again.id, again.anew) == (box.id, True)
    job = queue.job(number)
    assert job is not None
    assert (job.tasks, job.ended, job.failed) == (1, 0, 0)


def test_retry_of_vectors_alone_keeps_the_step(queue: JobQueue) -> None:
    number = create(queue, "a", "b")
    first, second = (task.id for task in queue.claim(10))
    queue.end([failed(first, Step.EMBED, document=7), done(second)])
    assert [task.id for task in queue.unembedded()] == [first]
    assert queue.retry(number) == 1
    (again,) = queue.claim(10)
    assert (again.step, again.document) == (Step.EMBED, 7)
    queue.end_again([done(first)])
    job = queue.job(number)
    assert job is not None
    assert (job.state, job.ended, job.failed) == (JobState.DONE, 2, 0)


def test_what_failed_may_end_well_after_all(queue: JobQueue) -> None:
    number = create(queue, "a")
    (task,) = queue.claim(10)
    queue.end([failed(task.id, Step.EMBED, document=7)])
    queue.end_again([done(task.id)])
    job = queue.job(number)
    assert job is not None
    assert (job.state, job.ended, job.failed) == (JobState.DONE, 1, 0)


def test_cancelling(queue: JobQueue) -> None:
    number = create(queue, "a", "b", "c")
    (task,) = queue.claim(1)
    assert queue.cancel(number)
    assert not queue.cancel(number), "only once"
    assert queue.cancelled([number]) == {number}
    assert queue.claim(10) == []
    queue.recover()  # the worker died with it in its hands
    job = queue.job(number)
    assert job is not None
    assert (job.state, job.ended) == (JobState.CANCELLED, 3)
    assert {t.state for t in queue.tasks(number)} == {TaskState.CANCELLED}
    assert queue.retry(number) == 3
    assert task.id in {t.id for t in queue.claim(10)}


def test_only_the_last_jobs_without_a_failure_are_kept(queue: JobQueue) -> None:
    bad = create(queue, "bad")
    queue.end([failed(task.id) for task in queue.claim(10)])
    for _ in range(30):
        create(queue, "a")
        queue.end([done(task.id) for task in queue.claim(10)])
    kept = [job.id for job in queue.jobs()]
    assert bad in kept
    assert len(kept) == 22  # twenty that had ended when the last was made, that one, the failed one
    assert queue.clear() == 22


def test_a_job_without_documents_has_ended(queue: JobQueue) -> None:
    job = queue.job(create(queue))
    assert job is not None
    assert job.state is JobState.DONE


def test_what_only_a_dead_process_had_is_lost_even_where_all_of_it_was_offered(
    queue: JobQueue,
) -> None:
    job = queue.create("add", "from here", {}, Priority.BULK, None)
    (task,) = queue.reserve(1)
    queue.start(job)
    queue.extend([(task, job, 0, Offered("a.md", "a.md", 1))])
    queue.complete(job)
    assert queue.recover() == []
    assert queue.claim(10) == []
    (lost,) = queue.tasks(job)
    assert (lost.state, lost.code) == (TaskState.FAILED, "job.interrupted")
