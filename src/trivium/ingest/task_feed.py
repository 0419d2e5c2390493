"""Which document is next: the queue's tasks as offers to the pipeline, by priority and by age.

A worker asks; a new job that a person waits for goes before the
rest of a large one. Knows neither sources nor settings: who turns a task into an offer is given.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from threading import Event
from time import monotonic

from trivium.errors import TriviumError
from trivium.ingest.faults import failure, is_of_one_document
from trivium.ingest.in_flight import Offer, clean_item
from trivium.ingest.ledger import OFTEN, Ledger
from trivium.ingest.outcomes import Fate
from trivium.ports import Backend, SourceItem
from trivium.text.values import clean_text
from trivium.work import Job, JobId, Offered, Step, Task, TaskEnd, TaskId, TaskState

CLAIM = 256  # tasks claimed at once: a commit for five seconds of embedding


class TaskFeed:
    """The offers of a queue. A task whose document only lacks vectors is no offer: it is left in
    `unembedded`, to be worked on when all is read."""

    def __init__(
        self,
        backend: Backend,
        worker: str,
        offer: Callable[[Job, Task], Offer],
        halt: Event,
    ) -> None:
        """`halt`: once set, tasks that haven't started wait for another time."""
        self._queue, self._known_jobs = backend.queue, backend.jobs
        self._worker = worker
        self._offer = offer
        self._halt = halt
        self._jobs: dict[JobId, Job] = {}
        self._looked = monotonic()
        self.unembedded: list[Task] = []
        self._unoffered: set[TaskId] = set()  # claimed, and not begun

    @property
    def left(self) -> list[TaskId]:
        """Claimed tasks that nobody works on."""
        return [*self._unoffered, *(task.id for task in self.unembedded)]

    def until(self, last: Job | None) -> Iterator[Offer]:
        """Everything that comes before the end of this job; None: everything."""
        while not self._halt.is_set() and (
            tasks := self._queue.claim(self._worker, CLAIM, _after(last))
        ):
            yield from self._offers(tasks)

    def ahead_of(self, job: Job) -> Iterator[Offer]:
        """Everything that goes before this job."""
        self._looked = monotonic()
        ahead = (job.priority, job.id)
        while not self._halt.is_set() and (tasks := self._queue.claim(self._worker, CLAIM, ahead)):
            yield from self._offers(tasks)

    def stream(
        self, job: Job, ledger: Ledger, items: Iterator[SourceItem], offer: Callable[..., Offer]
    ) -> Iterator[Offer]:
        """A source's offers, after anything more urgent."""
        for item in map(clean_item, items):
            yield from self._urgent(job)
            task = ledger.meet(job.id, 0, Offered(item.uri, item.name, item.size))
            yield offer(item, task)

    def _offers(self, tasks: list[Task]) -> Iterator[Offer]:
        self._unoffered |= {task.id for task in tasks}
        for at, task in enumerate(tasks):
            if self._halt.is_set():
                self._queue.release([left.id for left in tasks[at:]])
                return
            job = self._job(task.job)
            if job is None:  # cancelled and cleared away this instant
                continue
            yield from self._urgent(job)
            if task.step == Step.EMBED and task.document is not None:
                self.unembedded.append(task)
                continue
            offer = self._offered(job, task)
            if offer is not None:
                self._unoffered.discard(task.id)
                yield offer

    def _offered(self, job: Job, task: Task) -> Offer | None:
        """None: it has failed already, for example because it needs something this process
        lacks."""
        try:
            return replace(self._offer(job, task), alone=task.lost > 0)
        except TriviumError as error:
            why = error
        except BaseException as error:
            if not is_of_one_document(error):
                raise
            why = failure(task.name, task.step, error)
        said = (why.code, clean_text(str(why)))
        self._queue.end([TaskEnd(task.id, TaskState.FAILED, Fate.FAILED, "", *said)])
        return None

    def _urgent(self, job: Job) -> Iterator[Offer]:
        """New tasks that go before this job, if it is time to look."""
        if monotonic() - self._looked >= OFTEN:
            yield from self.ahead_of(job)

    def _job(self, number: JobId) -> Job | None:
        if number not in self._jobs and (found := self._known_jobs.get(number)):
            self._jobs = {number: found}  # tasks come job by job
        return self._jobs.get(number)


def _after(last: Job | None) -> tuple[int, JobId] | None:
    return None if last is None else (last.priority, last.id + 1)
