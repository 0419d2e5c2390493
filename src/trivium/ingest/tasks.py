"""The documents being added, and the queue that they come from.

What each document carries, how much room they take, which waits for which:

    next      to start: files inside others, files that had to wait
    here      being read, embedded or written
    parked    read, and stored after the files inside them
    waiting   offered while the same document was being added

Only the thread that writes uses `InFlightDocuments`; `run` moves documents along. `TaskFeed` turns
the queue's tasks into offers, by priority and by age: a new job that a person waits for goes before
the rest of a large one. `TaskRecords` writes progress, several tasks at a time: a thousand
unchanged files end within seconds, and one by one they would take a thousand commits of several
milliseconds. Knows neither sources nor settings: who turns a task into an offer is given.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from itertools import count
from threading import Event
from time import monotonic

from trivium.core.errors import TriviumError, UrlFailed
from trivium.core.types import Document, DocumentId, Labels
from trivium.core.work import (
    Job,
    JobId,
    Offered,
    Priority,
    Step,
    Task,
    TaskEnd,
    TaskId,
    TaskProgress,
    TaskState,
)
from trivium.extract.archives import ARCHIVES
from trivium.extract.recordings import has_ending
from trivium.ingest.attached import is_library
from trivium.ingest.outcomes import Fate, Steps, failure, is_of_one_document
from trivium.ingest.preparing import Prepared, Preparer
from trivium.ports import Backend, Queue, SourceItem
from trivium.store.identity import is_within
from trivium.text.values import clean_text, is_clean


@dataclass(frozen=True, slots=True)
class Offer:
    """An item, who prepares it, and the task it belongs to, if to any."""

    item: SourceItem
    labels: Labels
    preparer: Preparer
    job: JobId = 0
    task: TaskId = 0
    priority: int = Priority.BULK
    anew: bool = False  # look at the files inside it, though its bytes are known
    alone: bool = False  # nothing else is worked on meanwhile: a process ended while it had this


def clean_item(item: SourceItem) -> SourceItem:
    """A source's offer, under a name that every store can keep."""
    if is_clean(item.uri) and is_clean(item.name):
        return item
    return replace(item, uri=clean_text(item.uri), name=clean_text(item.name))


@dataclass(slots=True, eq=False)
class InFlight:
    """A document between being offered and being done."""

    offer: Offer
    parent: InFlight | None = None
    depth: int = 0
    steps: Steps = field(default_factory=Steps)
    prepared: Prepared | None = None
    number: int = 0  # in the order offered
    opened: bool = False  # the files inside it are being added, or done
    within: int = 0  # documents inside it that aren't done
    gone: Sequence[DocumentId] = ()  # entries of a reference library that are papers' no longer
    unread: list[str] = field(default_factory=list)  # files inside it that can't be read, and why
    unfetched: UrlFailed | None = None  # one of its parts
    embedded: Set[str] = frozenset()  # hashes that the model is done with; its thread adds to it

    @property
    def is_part(self) -> bool:
        """It is inside a document, as an attachment is. Members of an archive are files that
        somebody added, and so are files that a reference names."""
        if self.parent is None or not is_within(self.offer.item.uri, self.parent.offer.item.uri):
            return False
        holder = self.parent.ready.processed.extraction
        return holder.media_type not in ARCHIVES and not is_library(holder)

    @property
    def is_recording(self) -> bool:
        """By its name: hours of work for a thread of its own, beside which others go on."""
        return has_ending(self.offer.item.name)

    @property
    def key(self) -> tuple[str, str]:
        """Of these only one may be under way at a time."""
        return self.offer.labels.collection, self.offer.item.uri

    @property
    def ready(self) -> Prepared:
        assert self.prepared is not None
        return self.prepared

    @property
    def hashes(self) -> tuple[str, ...]:
        return self.ready.processed.hashes

    @property
    def progress(self) -> TaskProgress:
        if self.prepared is None:
            return TaskProgress(self.steps.now, heard=self.steps.heard)
        done = sum(hash_ in self.embedded for hash_ in self.hashes)
        return TaskProgress(self.steps.now, len(self.hashes), done, self.tokens)

    @property
    def fate(self) -> Fate:
        """Its outcome once the store has it."""
        return Fate.UPDATED if self.ready.before else Fate.ADDED

    @property
    def tokens(self) -> int:
        return sum(chunk.tokens for chunk in self.ready.processed.chunks)

    def ending(
        self, fate: Fate, error: TriviumError | None, document: Document | None = None
    ) -> TaskEnd:
        is_failed = error is not None and fate is not Fate.UNREAD
        state = TaskState.FAILED if is_failed else TaskState.DONE
        cancelled = fate is Fate.CANCELLED
        return TaskEnd(
            task=self.offer.task,
            state=TaskState.CANCELLED if cancelled else state,
            fate="" if cancelled else fate.value,
            step=self.steps.now if error else "",
            code=error.code if error else "",
            message=clean_text(str(error)) if error else "",
            document=document.id if document else None,
            seconds=dict(self.steps.seconds),
            passages=None if self.prepared is None else len(self.hashes),
            tokens=None if self.prepared is None else self.tokens,
        )


# Each put takes some 50 statements, four commits and two files of words, whatever its size.
BATCH_DOCUMENTS = 1024
# At once: one batch being written, one being embedded, one waiting, one being read.
MOST_DOCUMENTS = 4 * BATCH_DOCUMENTS
MOST_BYTES = 32 << 20  # of files; a larger one is added alone
# Given to each reader before the writer looks again: it may be busy for .3 s.
READ_AHEAD = 64


class InFlightDocuments:
    def __init__(self, readers: int = 1) -> None:
        self._ahead = readers * READ_AHEAD
        self._next: list[InFlight] = []
        self._here: dict[tuple[str, str], InFlight] = {}
        self._parked: dict[tuple[str, str], InFlight] = {}
        self._waiting: dict[tuple[str, str], list[InFlight]] = {}
        self._numbers = count(1)
        self._bytes = 0
        self._alone = 0  # documents that must be added alone
        self.reading = 0

    @property
    def is_empty(self) -> bool:
        """Nothing is being worked on just now."""
        return not self._here

    @property
    def are_recordings(self) -> bool:
        """Nothing else is being worked on."""
        return all(flight.is_recording for flight in self.all())

    @property
    def is_tied(self) -> bool:
        """Some wait for others, and nothing is being worked on."""
        return bool(self._waiting) and not self._here

    @property
    def is_done(self) -> bool:
        return not self._here and not self._next and not self._waiting

    @property
    def has_room(self) -> bool:
        if not self._here:
            return True
        if self._alone:
            return False
        few = self.reading < self._ahead and len(self._here) < MOST_DOCUMENTS
        return few and self._bytes < MOST_BYTES

    def all(self) -> Iterator[InFlight]:
        """Documents that were started."""
        yield from self._here.values()
        yield from self._parked.values()

    def unfinished(self) -> Iterator[InFlight]:
        """Everything that was offered and has not ended."""
        yield from self.all()
        yield from self._next
        for flights in self._waiting.values():
            yield from flights

    # --- beginning

    def put_first(self, flights: Iterable[InFlight]) -> None:
        """The first of these is started next."""
        self._next += reversed(list(flights))

    def take_first(self) -> InFlight | None:
        return self._next.pop() if self._next else None

    def begin(self, flight: InFlight) -> bool:
        """False: the same document is being added, and this one waits for it."""
        if flight.key in self._here or flight.key in self._parked:
            self._waiting.setdefault(flight.key, []).append(flight)
            return False
        flight.number = next(self._numbers)
        self._enter(flight)
        return True

    def park(self, flight: InFlight, inner: list[InFlight]) -> None:
        """It is stored after the files inside it."""
        flight.opened, flight.within = True, len(inner)
        self._leave(flight)
        self._parked[flight.key] = flight
        self.put_first(inner)

    # --- ending

    def end(self, flight: InFlight) -> InFlight | None:
        """It takes no more room. Documents that waited for it are next. Returns its container if
        this was the last file inside it."""
        self._leave(flight)
        waiting = self._waiting.get(flight.key)
        if waiting:
            self.put_first([waiting.pop(0)])
            if not waiting:
                del self._waiting[flight.key]
        holder = flight.parent
        if holder is None:
            return None
        holder.within -= 1
        if holder.within:
            return None
        del self._parked[holder.key]
        self._enter(holder)
        return holder

    def untie(self) -> InFlight:
        """One of two that name each other: the other has been looked at already."""
        key = next(iter(self._waiting))
        flight = self._waiting[key].pop()
        if not self._waiting[key]:
            del self._waiting[key]
        return flight

    def _enter(self, flight: InFlight) -> None:
        self._here[flight.key] = flight
        self._bytes += 0 if flight.is_recording else flight.offer.item.size
        self._alone += flight.offer.alone
        self.reading += not flight.is_recording

    def _leave(self, flight: InFlight) -> None:
        if self._here.get(flight.key) is flight:
            del self._here[flight.key]
            self._bytes -= 0 if flight.is_recording else flight.offer.item.size
            self._alone -= flight.offer.alone


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
        watched = sorted({job for job in jobs if job})
        return self._queue.cancelled(watched) if watched else set()

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
        self, backend: Backend, worker: str, offer: Callable[[Job, Task], Offer], halt: Event
    ) -> None:
        """`halt`: once set, tasks that haven't started wait for another time."""
        self._queue, self._known_jobs = backend.queue, backend.jobs
        self._worker = worker
        self._offer = offer
        self._halt = halt
        self._jobs: dict[JobId, Job] = {}
        self._looked = self._began = self._recovered = monotonic()
        self.unembedded: list[Task] = []
        self._unoffered: set[TaskId] = set()  # claimed, but not started

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
            offer = self._offer(job, task)
            return replace(offer, alone=True) if task.lost else offer
        except TriviumError as error:
            why = error
        except BaseException as error:
            if not is_of_one_document(error):
                raise
            why = failure(task.name, task.step, error)
        problem = (why.code, clean_text(str(why)))
        self._queue.end([TaskEnd(task.id, TaskState.FAILED, Fate.FAILED, "", *problem)])
        return None

    def _urgent(self, job: Job) -> Iterator[Offer]:
        """New tasks that go before this job, if it is time to look."""
        if monotonic() - self._looked >= OFTEN:
            yield from self.ahead_of(job)

    def _job(self, number: JobId) -> Job | None:
        if number not in self._jobs and (job := self._known_jobs.get(number)):
            self._jobs = {number: job}  # tasks mostly come job by job
        return self._jobs.get(number)


def _after(last: Job | None) -> tuple[int, JobId] | None:
    return None if last is None else (last.priority, last.id + 1)
