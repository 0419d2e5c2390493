"""The queue as the pipeline sees it: which document is next, and what became of each.

`TaskFeed` turns the queue's tasks into offers, by priority and by age: a new job that a person
waits for goes before the rest of a large one. `TaskRecords` writes progress, several tasks at a
time: a thousand unchanged files end within seconds, and one by one they would take a thousand
commits of several milliseconds. Knows neither sources nor settings: who turns a task into an offer
is given.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from threading import Event
from time import monotonic

from trivium.core.errors import TriviumError
from trivium.core.work import (
    Job,
    JobId,
    Offered,
    Step,
    Task,
    TaskEnd,
    TaskId,
    TaskProgress,
    TaskState,
)
from trivium.ingest.in_flight import Offer, clean_item
from trivium.ingest.progress import Fate, failure, is_of_one_document
from trivium.ports import Backend, Queue, SourceItem
from trivium.text.values import clean_text

# Seconds between two looks at what others want, and two entries on progress. A look is 10 ms of
# processor time: four a second would be 4 % of what embedding has.
OFTEN = 1.0
MOST = 256  # ended tasks that wait to be written: after a kill, a worker looks at these again
_NUMBERS = 64  # task numbers taken at a time


class TaskRecords:
    """For the thread that writes to the store. Without a queue it keeps nothing."""

    def __init__(self, queue: Queue | None, worker: str = "") -> None:
        self._queue = queue
        self._worker = worker
        self._met: list[tuple[TaskId, JobId, TaskId, Offered]] = []
        self._ends: list[TaskEnd] = []
        self._numbers = range(0)
        self._written = self._looked = monotonic()
        self._noted: dict[TaskId, TaskProgress] = {}

    def meet(self, job: JobId, parent: TaskId, offered: Offered) -> TaskId:
        """A document that nobody knew of when the job was made; its number comes back."""
        if self._queue is None or not job:
            return 0
        if not self._numbers:
            self._numbers = self._queue.reserve(_NUMBERS)
        task, self._numbers = self._numbers[0], self._numbers[1:]
        self._met.append((task, job, parent, offered))
        return task

    def begin(self, offer: Offer) -> None:
        """If a process ended while it had this one, say now that it is being read: if another ends,
        it was this one, and not what waits behind it."""
        if self._queue is not None and offer.task and offer.alone:
            self._queue.note_progress({offer.task: TaskProgress(Step.EXTRACT)})

    def signed(self, end: TaskEnd) -> TaskEnd:
        """With the name of the worker, so that it ends nothing that another has by now."""
        return replace(end, worker=self._worker)

    def end(self, end: TaskEnd) -> None:
        if end.task:
            self._ends.append(self.signed(end))

    def settle(self, *, now: bool = False) -> None:
        """Write what is waiting, if it is enough or has waited long enough."""
        due = now or len(self._ends) >= MOST or monotonic() - self._written > OFTEN
        if self._queue is not None and due:
            met, self._met = self._met, []
            ends, self._ends = self._ends, []
            self._queue.extend(self._worker, met)
            self._queue.end(ends)
            self._written = monotonic()

    def is_due(self) -> bool:
        """Whether it is time to `look`."""
        return self._queue is not None and monotonic() - self._looked >= OFTEN

    def look(self, progress: Mapping[TaskId, TaskProgress], jobs: Iterable[JobId]) -> set[JobId]:
        """Tell those who watch how far the documents are; which of the jobs were cancelled comes
        back."""
        if self._queue is None:
            return set()
        self._looked = monotonic()
        self.settle(now=True)
        changed = {t: now for t, now in progress.items() if t and self._noted.get(t) != now}
        self._queue.note_progress(changed)
        self._noted = dict(progress)
        asked = sorted({job for job in jobs if job})
        return self._queue.cancelled(asked) if asked else set()

    def release(self, tasks: Iterable[TaskId], *, lost: bool = False) -> None:
        """Give up tasks that were started and won't be finished here. `lost`: nobody knows why."""
        if self._queue is not None:
            self.settle(now=True)
            self._queue.release([task for task in tasks if task], lost=lost)


RECOVER_SECONDS = 5.0  # between two looks for what dead workers left: two statements
RUN_SECONDS = 60.0  # of one run over all jobs: then its uploads are deleted, and another one begins
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
        self._looked = self._began = self._recovered = monotonic()
        self.unembedded: list[Task] = []
        self._unoffered: set[TaskId] = set()  # claimed, and not begun

    @property
    def left(self) -> list[TaskId]:
        """Claimed tasks that nobody works on."""
        return [*self._unoffered, *(task.id for task in self.unembedded)]

    def until(self, last: Job | None) -> Iterator[Offer]:
        """Everything that comes before the end of this job; None: everything, for a minute."""
        while not self._halt.is_set():
            if last is None and monotonic() - self._began > RUN_SECONDS:
                return
            if monotonic() - self._recovered >= RECOVER_SECONDS:
                self._queue.recover()
                self._recovered = monotonic()
            tasks = self._queue.claim(self._worker, CLAIM, _after(last))
            if not tasks:
                return
            yield from self._offers(tasks)

    def beside(self) -> Iterator[Offer]:
        """What anybody waits for while a recording is heard, which may take hours."""
        yield from self._offers(self._queue.claim(self._worker, CLAIM))

    def ahead_of(self, job: Job) -> Iterator[Offer]:
        """Everything that goes before this job."""
        self._looked = monotonic()
        ahead = (job.priority, job.id)
        while not self._halt.is_set() and (tasks := self._queue.claim(self._worker, CLAIM, ahead)):
            yield from self._offers(tasks)

    def stream(
        self,
        job: Job,
        records: TaskRecords,
        items: Iterator[SourceItem],
        offer: Callable[..., Offer],
    ) -> Iterator[Offer]:
        """A source's offers, after anything more urgent."""
        for item in map(clean_item, items):
            yield from self._urgent(job)
            task = records.meet(job.id, 0, Offered(item.uri, item.name, item.size))
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
            self._jobs = {number: found}  # tasks mostly come job by job
        return self._jobs.get(number)


def _after(last: Job | None) -> tuple[int, JobId] | None:
    return None if last is None else (last.priority, last.id + 1)
