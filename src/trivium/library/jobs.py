"""How jobs are made, worked off in this process or by another one, and steered by people."""

from __future__ import annotations

import os
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from secrets import token_hex
from threading import BoundedSemaphore, Event
from time import perf_counter

from trivium.core import errors
from trivium.core.counting import counted
from trivium.core.errors import JobNotFound, LibraryBusy, TriviumError
from trivium.core.types import Document, DocumentId, Labels
from trivium.core.work import (
    ADD,
    ATTENDING,
    REEMBED,
    UPLOAD,
    Job,
    JobId,
    JobState,
    Offered,
    Priority,
    QueueState,
    Task,
    TaskId,
    TaskState,
    worker_lease,
)
from trivium.extract.cleaning import DROPPED
from trivium.ingest.outcomes import Fate, Outcome
from trivium.ingest.preparing import CHUNKING
from trivium.ingest.tasks import clean_item
from trivium.library.assembly import embeds_by_processor
from trivium.library.documents import Documents, near_told
from trivium.library.model import CurrentModel, description
from trivium.library.worker import WorkerRun, check, options_for
from trivium.models.catalogue import pace_beside_others
from trivium.ports import Backend, LastingSource, Source, Waiting
from trivium.sources.spool import spool_name
from trivium.text.values import check_labels, check_scalar, clean_text

# Documents of a job that a person is taken to wait for, where nobody says: 100 notes of one chunk
# are embedded in 2 seconds on 2 cores, 100 papers in 5 minutes.
FEW = 100
LONG = 500  # documents: with so many a notice says how fast the model is
# 240 tokens, about those of a passage. What the words are doesn't change the time.
_SAMPLE, _SAMPLES = "the quick brown fox " * 60, 8
_SHOWN = 3  # folders that the line about a job names
_POLL = 0.2  # seconds between two looks at the work of another process
_RUNS = 2  # at once, of requests that wait for their jobs: each has processes that read
_BUSY = "Another process is writing; waiting for it to finish."
_NAMED = 5  # fields that a note lists
MOST_OUTCOMES = 10_000  # that a report lists: 15 MB, whatever is added


@dataclass(frozen=True, slots=True)
class Report:
    """What an `add` did, or the working off of the queue."""

    outcomes: tuple[Outcome, ...]  # the first ten thousand; `Library.tasks` has those of a job
    counts: Mapping[Fate, int]
    failed: tuple[Outcome, ...]  # all that failed, or are without vectors because a model failed
    chunks: int
    seconds: float
    embedding_seconds: float
    notes: tuple[str, ...] = ()
    job: Job | None = None  # as it was at the end; None if there were several

    def count(self, fate: Fate) -> int:
        return self.counts.get(fate, 0)


@dataclass(slots=True)
class Tally:
    """Counts what became of documents while they are worked on."""

    on_outcome: Callable[[Outcome], None] | None = None
    outcomes: list[Outcome] = field(default_factory=list)
    failed: list[Outcome] = field(default_factory=list)
    counts: Counter[Fate] = field(default_factory=Counter)
    # Those without passages, which are lists of references: their papers are what was added.
    unlisted: Counter[Fate] = field(default_factory=Counter)
    chunks: int = 0
    notes: list[str] = field(default_factory=list)

    def take(self, outcome: Outcome) -> None:
        self.counts[outcome.fate] += 1
        if outcome.document is not None and not outcome.document.chunks:
            self.unlisted[outcome.fate] += 1
        if len(self.outcomes) < MOST_OUTCOMES:
            self.outcomes.append(outcome)
        if outcome.error is not None:
            self.failed.append(outcome)
        if outcome.document is not None and outcome.fate in (Fate.ADDED, Fate.UPDATED):
            self.chunks += outcome.document.chunks
            self._mind(outcome.document)
        if self.on_outcome is not None:
            self.on_outcome(outcome)

    @property
    def fresh(self) -> list[DocumentId]:
        """The listed documents that have a new interpretation."""
        new = (Fate.ADDED, Fate.UPDATED)
        return [o.document.id for o in self.outcomes if o.document and o.fate in new]

    def _mind(self, document: Document) -> None:
        if len(self.notes) >= MOST_OUTCOMES:
            return
        if CHUNKING in document.metadata:
            self.notes.append(f"{document.title}: {document.metadata[CHUNKING]}")
        lost = document.metadata.get(DROPPED)
        if isinstance(lost, tuple):
            names = ", ".join(map(str, lost[:_NAMED])) + (", ..." if len(lost) > _NAMED else "")
            self.notes.append(f"{document.title}: couldn't store some metadata ({names}).")

    def report(self, seconds: float, embedding_seconds: float, job: Job | None) -> Report:
        return Report(
            tuple(self.outcomes), self.counts - self.unlisted, tuple(self.failed), self.chunks,
            seconds, embedding_seconds, tuple(self.notes), job,
        )  # fmt: skip


@dataclass(eq=False)
class Jobs:
    _backend: Backend
    _model: CurrentModel
    _documents: Documents
    _turns: BoundedSemaphore = field(default_factory=lambda: BoundedSemaphore(_RUNS))
    _halt: Event = field(default_factory=Event)  # set: no further document is started

    def notice(self, documents: int, least: int = LONG) -> str:
        """Before so many documents are added, if they are many and these processors embed: how
        many passages a second, and what other models would give. Else empty."""
        if documents < least or not embeds_by_processor(self._model.settings):
            return ""
        return self._pace

    @cached_property
    def _pace(self) -> str:
        """Embeds a few texts to see, once in a process: a page asks again and again."""
        settings, embedder = self._model.settings, self._model.embedder
        embedder.embed_documents([_SAMPLE])  # loads the model
        started = perf_counter()
        embedder.embed_documents([_SAMPLE] * _SAMPLES)
        rate = _SAMPLES / (perf_counter() - started)
        processors = settings.embed_threads or os.cpu_count() or 1
        return pace_beside_others(embedder.fingerprint, rate, processors)

    # --- making

    def enqueue(
        self,
        source: LastingSource,
        labels: Labels,
        *,
        what: str = "",
        priority: Priority | None = None,
        kind: str = ADD,
        by: str = "",
    ) -> Job:
        """Create a job that adds a source's documents, for `work` in this process or another.
        Without a priority, small jobs go first. `by`: the id of the token that asks for it."""
        check(self._model.settings, self._model.embedder)
        labels = check_labels(labels)
        items = map(clean_item, source.items())
        offered = [Offered(i.uri, i.name, i.size, i.key) for i in items]
        if priority is None:
            priority = Priority.INTERACTIVE if len(offered) <= FEW else Priority.BULK
        options = options_for(labels, self._model.settings, source, by)
        what = clean_text(what) or f"add {counted(len(offered), 'document')}"
        return self.get(self._backend.queue.create(kind, what, options, priority, offered))

    def add_from(
        self,
        source: Source,
        labels: Labels,
        *,
        on_outcome: Callable[[Outcome], None] | None = None,
        on_wait: Waiting | None = None,
    ) -> Report:
        """Add everything a source offers. Items that only this process can offer wait until no
        other process writes, and are not resumed if it dies."""
        if isinstance(source, LastingSource):
            job = self.enqueue(source, labels)
            return self.work(job.id, on_outcome=on_outcome, on_wait=on_wait)
        check(self._model.settings, self._model.embedder)
        labels = check_labels(labels)
        started, tally = perf_counter(), Tally(on_outcome)
        queue, purpose = self._backend.queue, f"add {_name(source)}"
        with self._backend.writer.writing(on_wait), self._worker() as worker:
            queue.recover()
            options, bulk = options_for(labels, self._model.settings, None), Priority.BULK
            number = queue.create(ADD, purpose, options, bulk, None, worker)
            spent = self._work_on(worker, self.get(number), source, tally)
        return self._report(number, tally, perf_counter() - started, spent)

    # --- looking and steering: from any process

    def all(self, *, ended: bool = True, limit: int | None = None) -> list[Job]:
        """The newest first. `ended` off: only those with work left."""
        jobs = self._backend.jobs.all(ended=ended, limit=limit)
        alive = self._alive(jobs)
        return [_unless_dead(job, alive) for job in jobs]

    def queue_state(self) -> QueueState:
        """How long the queue is; a change of the model counts as a job without documents."""
        left = self._backend.jobs.all(ended=False)
        alive = self._alive(left)
        states = Counter(
            JobState.RUNNING if job.worker in alive else JobState.QUEUED for job in left
        )
        oldest = min((job.created_at for job in left), default="")
        by_state = self._backend.jobs.task_states()
        since = datetime.fromisoformat(oldest) if oldest else datetime.now(UTC)
        return QueueState(
            jobs={str(state): states[state] for state in (JobState.QUEUED, JobState.RUNNING)},
            tasks={str(s): by_state.get(s, 0) for s in TaskState if s is not TaskState.CANCELLED},
            documents_left=sum(job.tasks - job.ended for job in left if job.kind != REEMBED),
            age_seconds=max(0.0, (datetime.now(UTC) - since).total_seconds()),
            workers=self._backend.leases.count_held(ATTENDING),
        )

    def get(self, job: JobId) -> Job:
        check_scalar("job", job)
        stored = self._backend.jobs.get(job)
        if stored is None:
            raise JobNotFound(f"There is no job {job}.")
        return _unless_dead(stored, self._alive([stored]))

    def _alive(self, jobs: Sequence[Job]) -> set[str]:
        """The workers of these jobs that hold their lease: asked once for each, since dropped files
        are many jobs of one worker."""
        workers = {job.worker for job in jobs if job.worker and job.state is JobState.RUNNING}
        return {worker for worker in workers if self._backend.leases.is_held(worker_lease(worker))}

    def tasks(
        self,
        job: JobId,
        *,
        states: Sequence[TaskState] | None = None,
        offset: int = 0,
        limit: int | None = None,
    ) -> list[Task]:
        """The documents of a job, in the order offered. Unchanged ones are no longer listed once it
        has ended."""
        check_scalar("job", job)
        check_scalar("offset", offset)
        check_scalar("limit", limit or 0)
        tasks = self._backend.jobs.tasks(job, states=states, offset=offset, limit=limit)
        if not tasks:
            self.get(job)  # raises if there is no such job
        return tasks

    def fates(self, job: JobId) -> Mapping[str, int]:
        """How many of its documents were added, updated, unchanged, ..."""
        self.get(job)
        return self._backend.jobs.fates(job)

    def passages(self, job: JobId) -> int:
        """Of its documents that are done."""
        return self._backend.jobs.chunks_of(job)

    def worked(self, job: Job) -> int:
        """Documents that were worked on: of a cancelled job, not those it never came to."""
        if job.state is not JobState.CANCELLED:
            return job.ended
        return sum(self._backend.jobs.fates(job.id).values())

    def cancel(self, job: JobId) -> Job:
        """Finished documents stay. The worker stops at the next document."""
        stored = self.get(job)
        self._backend.jobs.cancel(job)
        if stored.kind == REEMBED and not stored.state.has_ended:
            self._backend.models.abandon()  # its worker notices at the next batch
        return self.get(job)

    def retry(self, job: JobId, task: TaskId | None = None) -> int:
        """Queue the failed tasks of a job again, or one of them; returns how many."""
        self.get(job)
        check_scalar("task", task or 0)
        return self._backend.jobs.retry(job, task)

    def clear(self) -> int:
        """Forget every job that has ended; how many."""
        return self._backend.jobs.clear()

    def follow(self, job: JobId, seconds: float = _POLL) -> Iterator[Job]:
        """The job now, and again whenever it has changed, until it ends, whichever process runs it.
        Checks every `seconds`."""
        before: Job | None = None
        while before is None or not before.state.has_ended:
            now = self.get(job)
            if before is None or _seen(now) != _seen(before):
                yield now
            before = now
            if not now.state.has_ended:
                time.sleep(seconds)

    # --- working

    def work(
        self,
        job: JobId | None = None,
        *,
        on_outcome: Callable[[Outcome], None] | None = None,
        on_wait: Waiting | None = None,
        stop: Event | None = None,
    ) -> Report:
        """Run the queue until this job has ended; None: until nothing is left. If another process
        runs it, wait for that one, and take over if it dies. `stop`: once set, waiting for others
        ends; raises LibraryBusy."""
        started, spent = perf_counter(), 0.0
        tally = Tally(on_outcome)
        tell = _once(on_wait)
        while self._is_open(job) and not self._halt.is_set():
            if stop is not None and stop.is_set():
                raise LibraryBusy("Nobody waits for it any more.", fix="The job stays queued.")
            with ExitStack() as locks:
                try:
                    locks.enter_context(self._turn())
                    locks.enter_context(self._backend.writer.writing(patience=0))
                except LibraryBusy:
                    tell(_BUSY)
                    time.sleep(_POLL)
                    continue
                done = tally.counts.total()
                spent += self._take_over(job, tally, tell)
            if tally.counts.total() == done and self._is_open(job):
                time.sleep(_POLL)  # other workers have the rest
        if self._halt.is_set() and self._is_open(job):
            raise LibraryBusy("The library is closing.", fix="Unfinished jobs stay queued.")
        return self._report(job, tally, perf_counter() - started, spent)

    def work_next(self) -> bool:
        """Run the queue for a while, beside other workers, and delete the uploads that are done
        with. False: there is nothing to do now, or another thread or process does it."""
        sent = self._upload_keys()

        def drop_done() -> None:
            nonlocal sent
            left = self._upload_keys()
            for key in sent - left:
                self._backend.spool.drop(spool_name(key))  # a removed document leaves nothing
            sent = left

        worked = self._work_next(drop_done)
        if worked:
            drop_done()
        return worked

    def _upload_keys(self) -> set[bytes]:
        return {upload.key for upload in self._backend.jobs.retryable(UPLOAD)}

    def _work_next(self, on_look: Callable[[], None]) -> bool:
        open_ = self._backend.jobs.all(ended=False, limit=2)  # one may be a change of the model
        if self._halt.is_set() or all(job.kind == REEMBED for job in open_):
            return False
        tallies: dict[JobId, Tally] = defaultdict(Tally)
        notes: list[str] = []
        try:
            with self._backend.writer.writing(patience=0):
                self._backend.queue.recover()
                if not self._backend.queue.is_waiting():
                    return False  # other workers have it, and the caller pauses
                with self._worker() as worker:
                    run = self._run(
                        worker, lambda offer: tallies[offer.job].take(offer), notes.append, on_look
                    )
                    run.work_off(None)
        except LibraryBusy:
            return False
        near = self._documents.near([id_ for tally in tallies.values() for id_ in tally.fresh])
        for job, tally in tallies.items():
            copies = {id_: near[id_] for id_ in tally.fresh if id_ in near}
            notes_of_job = [*tally.notes, *notes, *near_told(copies)]
            if notes_of_job:
                self._backend.queue.note(job, notes_of_job)
        self._model.renew_separation()
        return bool(tallies)

    def stop(self) -> None:
        """Stop for good: workers here end after the documents they have started. The rest waits for
        another process."""
        self._halt.set()

    def _take_over(self, job: JobId | None, tally: Tally, tell: Waiting) -> float:
        """Become a worker; the seconds that the model took come back."""
        self._backend.queue.recover()
        last = None if job is None else self.get(job)
        for other in sorted(self._backend.jobs.all(ended=False), key=lambda queued: queued.id):
            ahead = last is None or (other.priority, other.id) < (last.priority, last.id)
            if other.started_at and ahead and other.kind != REEMBED:
                tell(f"Resuming unfinished job {other.id}: {other.what}.")
        with self._worker() as worker:
            run = self._run(worker, _only(job, tally), tally.notes.append)
            run.work_off(last)
        return run.embedding_seconds

    @contextmanager
    def _turn(self) -> Iterator[None]:
        """One of the runs that this process may have. Raises LibraryBusy."""
        if not self._turns.acquire(blocking=False):
            raise LibraryBusy("Other threads run the queue.")
        try:
            yield
        finally:
            self._turns.release()

    @contextmanager
    def _worker(self) -> Iterator[str]:
        """A name for a worker, with its lease."""
        worker = token_hex(8)
        with self._backend.leases.hold(worker_lease(worker), "working"):
            yield worker

    def _run(
        self,
        worker: str,
        on_outcome: Callable[[Outcome], None],
        on_note: Callable[[str], None],
        on_look: Callable[[], None] = lambda: None,
    ) -> WorkerRun:
        self._model.follow()  # the model may be another than when the library was opened
        embedder, settings = self._model.embedder, self._model.settings
        self._backend.models.describe(embedder.fingerprint, description(settings))
        return WorkerRun(
            self._backend, worker, embedder, settings, on_outcome, on_note, self._halt, on_look
        )

    def _work_on(self, worker: str, job: Job, source: Source, tally: Tally) -> float:
        """What only this process can offer."""
        run = self._run(worker, _only(job.id, tally), tally.notes.append)
        try:
            run.work_on(job, source)
        except BaseException:
            self._backend.queue.abandon(job.id)
            raise
        return run.embedding_seconds

    def _is_open(self, job: JobId | None) -> bool:
        if job is not None:
            return not self.get(job).state.has_ended
        return any(left.kind != REEMBED for left in self._backend.jobs.all(ended=False))

    def _report(self, job: JobId | None, tally: Tally, seconds: float, spent: float) -> Report:
        tally.notes += self._documents.near_notes(tally.fresh)
        self._model.renew_separation()
        if job is None:
            return tally.report(seconds, spent, None)
        if tally.notes:
            self._backend.queue.note(job, tally.notes)
        ended = self.get(job)
        if tally.counts.total() < ended.ended:  # another process did part of it
            tally = self._tally_of(ended)
        return tally.report(seconds, spent, ended)

    def _tally_of(self, job: Job) -> Tally:
        """The queue's record of a job that another process ran."""
        jobs = self._backend.jobs
        tally = Tally(notes=list(job.notes), chunks=jobs.chunks_of(job.id))
        tally.counts.update({Fate(fate): count for fate, count in jobs.fates(job.id).items()})
        ended = (TaskState.DONE, TaskState.FAILED)
        ended_tasks = [_outcome(t) for t in jobs.tasks(job.id, states=ended, limit=MOST_OUTCOMES)]
        tally.outcomes = ended_tasks
        tally.failed = [_outcome(t) for t in jobs.tasks(job.id, states=(TaskState.FAILED,))]
        return tally


def _only(job: JobId | None, tally: Tally) -> Callable[[Outcome], None]:
    """Counts the documents of one job; None: of all."""

    def take(outcome: Outcome) -> None:
        if job is None or outcome.job == job:
            tally.take(outcome)

    return take


def _unless_dead(job: Job, alive: set[str]) -> Job:
    """A worker that was killed could not write down that it stopped: nobody is at its job."""
    if job.state is not JobState.RUNNING or job.worker in alive:
        return job
    return replace(job, state=JobState.QUEUED, rate=0.0, seconds_left=None)


def _seen(job: Job) -> tuple[JobState, int, int, int]:
    """What people see change."""
    return job.state, job.ended, job.tasks, job.tokens_done


def _once(on_wait: Waiting | None) -> Waiting:
    """Says the same thing once."""
    shown: set[str] = set()

    def tell(text: str) -> None:
        if on_wait is not None and text not in shown:
            shown.add(text)
            on_wait(text)

    return tell


def _outcome(task: Task) -> Outcome:
    error = _error(task.code, task.message) if task.state is TaskState.FAILED else None
    return Outcome(task.uri, Fate(task.fate), None, error, task.size, task.parent > 0, task.job)


def _error(code: str, message: str) -> TriviumError:
    """An error that a task was written down with."""
    kinds = (kind for kind in vars(errors).values() if isinstance(kind, type))
    matching = (k for k in kinds if issubclass(k, TriviumError) and k.code == code)
    return next(matching, TriviumError)(message, fix="")


def told_of(paths: Sequence[str | os.PathLike[str]]) -> str:
    """What is being added, for people. For several files only their folder: a document that is
    removed later must not be named here."""
    files = [Path(path) for path in paths if Path(path).expanduser().is_file()]
    if len(files) == len(paths) == 1:
        return f"add {files[0]}"
    places = [os.fspath(path) for path in paths if Path(path) not in files]
    if files:
        places.append(counted(len(files), "file"))
    more = f" and {len(places) - _SHOWN:,} more" if len(places) > _SHOWN else ""
    return f"add {', '.join(places[:_SHOWN])}{more}"


def _name(source: Source) -> str:
    return f"from {type(source).__name__}"
