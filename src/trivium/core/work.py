"""Nouns for work that outlives a process: jobs, their documents, watched folders and synced
sources.

A job is what a person asked for, a task is one document of it. Frozen dataclasses, standard library
only. Knows nothing of where they are stored or which process runs them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from enum import IntEnum, StrEnum
from typing import Any, TypeAlias

JobId: TypeAlias = int
TaskId: TypeAlias = int


class Priority(IntEnum):
    """Smaller numbers run first; equal ones by age."""

    INTERACTIVE = 0  # a person is waiting for these few
    BULK = 10


class JobState(StrEnum):
    QUEUED = "queued"  # no process works on it
    RUNNING = "running"  # a process works on it, unless it died
    DONE = "done"
    FAILED = "failed"  # ended, with at least one failed task
    CANCELLED = "cancelled"

    @property
    def has_ended(self) -> bool:
        return self in (JobState.DONE, JobState.FAILED, JobState.CANCELLED)


class TaskState(StrEnum):
    WAITING = "waiting"
    WORKING = "working"  # a process has it, and may have died
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


class Step(StrEnum):
    """The steps of a document, in order."""

    EXTRACT = "extract"
    CHUNK = "chunk"
    REGISTER = "register"
    ARCHIVE = "archive"
    INTERPRET = "interpret"
    EMBED = "embed"
    STORE = "store"


ADD = "add"  # kind of a job that adds documents from their source
UPLOAD = "upload"  # kind of a job that adds an upload, which is kept until it is done
# Ended jobs that stay listed with their documents: without a limit, a folder that you add every
# hour would fill the database. Those with failures stay until cleared. 1,000: files dropped on the
# page are a job each, and the page counts them together.
KEPT_JOBS = 1000
REEMBED = "reembed"  # kind of a job that changes the embedding model: it counts passages
# `ingest.outcomes` has the other outcomes of a document. This one is here because only the store
# finds it out.
DUPLICATE = "duplicate"


@dataclass(frozen=True, slots=True)
class Offered:
    """A document for a job to add, as its source offers it."""

    uri: str
    name: str
    size: int = 0
    key: bytes = b""  # how its source finds it again in another process; empty: it can't


@dataclass(frozen=True, slots=True)
class Retryable:
    """Something a job was offered, and may be again."""

    key: bytes
    by: str  # the token that sent it; empty: the owner at the local machine
    ended: bool  # nobody works on it unless someone asks


@dataclass(frozen=True, slots=True)
class TaskProgress:
    """How far a document is."""

    step: str = ""
    passages: int | None = None  # None: it isn't read yet
    embedded: int = 0  # of its passages
    tokens: int = 0  # of all its passages
    heard: str = ""  # of a recording: seconds done, in all, and left, with blanks between


@dataclass(frozen=True, slots=True)
class Task:
    """One document of a job."""

    id: TaskId
    job: JobId
    uri: str
    name: str
    size: int
    state: TaskState
    parent: TaskId = 0  # the task of the document that contains this one; 0: none
    step: str = ""  # where it is, or where it failed
    fate: str = ""  # its outcome
    attempts: int = 0
    anew: bool = False  # look at the files inside it, though its bytes are known
    code: str = ""  # of the error it failed with
    message: str = ""
    document: int | None = None
    seconds: Mapping[str, float] = field(default_factory=dict)  # by step
    key: bytes = b""
    lost: int = 0  # how often a worker died while it had this task
    worker: str = ""  # the worker that has it, or had it last
    passages: int | None = None  # None: it isn't read yet
    embedded: int = 0  # of its passages; all of them once it has ended
    tokens: int = 0  # of all its passages
    heard: str = ""  # of a recording: seconds done, in all, and left, with blanks between

    @property
    def passages_done(self) -> str:
        """How far its passages are, for people; empty unless some are embedded and some aren't. Of
        a recording that is being transcribed: how many minutes of it."""
        if self.heard and self.passages is None:
            done, total, *left = map(float, self.heard.split())
            text = f"{done / 60:.0f} of {total / 60:.0f} min"
            if total < 120:
                text = f"{done:.0f} of {total:.0f} s"
            return f"{text} · about {max(1, left[0] / 60):.0f} min left" if left else text
        if not self.passages or not 0 < self.embedded < self.passages:
            return ""
        return f"{self.embedded:,} of {self.passages:,} passages"


@dataclass(frozen=True, slots=True)
class TaskEnd:
    """How a task ended. The store writes it in the transaction that shows the document."""

    task: TaskId
    state: TaskState
    fate: str = ""
    step: str = ""  # where it failed
    code: str = ""
    message: str = ""
    document: int | None = None  # the store fills in the stored one
    seconds: Mapping[str, float] = field(default_factory=dict)
    worker: str = ""  # the worker that has it: only that one can end it; empty: any
    passages: int | None = None  # None: as many as were noted
    tokens: int | None = None


@dataclass(frozen=True, slots=True)
class Job:
    """A job and its progress, at one moment."""

    id: JobId
    kind: str  # add, upload, reembed
    what: str  # a line for people
    state: JobState
    priority: Priority
    created_at: str  # ISO 8601, UTC
    started_at: str = ""
    ended_at: str = ""
    tasks: int = 0
    size: int = 0  # bytes of all tasks
    ended: int = 0  # tasks that are done, failed or cancelled
    ended_size: int = 0
    failed: int = 0
    read: int = 0  # tasks whose tokens are known: all that have ended, and some others
    read_size: int = 0
    tokens: int = 0  # of these
    tokens_done: int = 0  # of passages that are embedded
    rate: float = 0.0  # tasks per second, since a process last took it
    seconds_left: float | None = None  # None: nobody can say
    notes: tuple[str, ...] = ()
    lasting: bool = True  # another process can resume it
    worker: str = ""  # the last worker that had it
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def waiting(self) -> int:
        """Tasks that have not ended."""
        return self.tasks - self.ended

    @property
    def unit(self) -> str:
        """What it counts, for people."""
        return "passages" if self.kind == REEMBED else "documents"


def at_work(claimed: Iterable[Task]) -> list[Task]:
    """The tasks that a worker has begun, those it works on right now first. Archiving ends reading:
    a task in that step waits for its turn to be embedded, or for the files inside it."""
    return sorted((task for task in claimed if task.step), key=lambda t: t.step == Step.ARCHIVE)


# Reading and storing a document takes as long as embedding so many tokens. In a mixed folder of 682
# documents a token took 2.2 ms, the same in every kind of file, and a passage 0.1 to 0.8 s.
_DOCUMENT = 20


@dataclass(frozen=True, slots=True)
class Work:
    """How much is done and how much is left, in tokens."""

    done: float
    left: float

    @property
    def share(self) -> float:
        return self.done / (self.done + self.left) if self.done else 0.0


def work_of(jobs: Iterable[Job]) -> Work:
    """The work of jobs together. Documents that aren't read yet are expected to have as many tokens
    as the others: half by their number and half by their bytes, since neither alone says how long a
    document is."""
    jobs = list(jobs)
    tasks, read = sum(job.tasks for job in jobs), sum(job.read for job in jobs)
    ended, size = sum(job.ended for job in jobs), sum(job.size for job in jobs)
    tokens, done = sum(job.tokens for job in jobs), sum(job.tokens_done for job in jobs)
    read_size = sum(job.read_size for job in jobs)
    expected = tokens * (tasks - read) / read if read else 0.0
    if read_size:
        expected = (expected + tokens * (size - read_size) / read_size) / 2
    left = tokens - done + expected
    handled = _DOCUMENT * (ended + max(read, ended)) / 2  # half for reading, half for storing
    return Work(done + handled, left + _DOCUMENT * tasks - handled)


@dataclass(frozen=True, slots=True)
class WatchedFolder:
    """A folder whose files a server adds, updates and removes as they change."""

    id: str
    path: str  # absolute
    collection: str
    category: str | None = None
    audience: str | None = None  # None: as each document says
    ignore: tuple[str, ...] = ()  # rules as in a .gitignore file
    added_at: str = ""  # ISO 8601, UTC


@dataclass(frozen=True, slots=True)
class SyncPoint:
    """How far a source is synced. The store writes it in the transaction that shows the last
    document it covers."""

    source: str  # its name
    cursor: str  # as the source gave it


@dataclass(frozen=True, slots=True)
class SyncFailure:
    """An item that couldn't be synced, and why: the library lacks it or has an older version. Later
    runs try it again, with growing pauses."""

    item: str
    code: str
    message: str
    at: str = ""  # ISO 8601, UTC
    tries: int = 1
    not_before: str = ""  # a server tries it again then: ISO 8601, UTC; empty: with the next run


@dataclass(frozen=True, slots=True)
class SyncRun:
    """What a run of a source did, or has done so far."""

    started_at: str = ""  # ISO 8601, UTC; empty: it never ran
    ended_at: str = ""  # empty: it is running, or was killed
    full: bool = False  # it read everything, not only what changed
    counts: Mapping[str, int] = field(default_factory=dict)  # items by outcome
    done: int = 0  # steps of the source, such as channels
    steps: int = 0  # total; 0: unknown
    seconds_left: float | None = None  # None: nobody can say
    code: str = ""  # of the error that ended it
    message: str = ""  # that error, or what it waits for
    not_before: str = ""  # the service asked to wait until then: ISO 8601, UTC
    listed_at: str = ""  # when all ids were last compared: ISO 8601, UTC


@dataclass(frozen=True, slots=True)
class KeptSource:
    """A source that a library keeps in step with."""

    name: str
    kind: str  # slack, notes, feed, ...
    options: Mapping[str, str] = field(default_factory=dict)
    # Where each secret is found: `env:NAME`, `file:PATH`, or `name:NAME` of `sync.secrets`. One
    # that was sent over HTTP is itself kept, as `value:TEXT`.
    secrets: Mapping[str, str] = field(default_factory=dict, repr=False)
    collection: str = "default"
    category: str | None = None
    audience: str | None = None  # for items if the source doesn't say who may read them
    every: int = 0  # seconds between runs of a server; 0: only when asked
    added_at: str = ""  # ISO 8601, UTC
    paused: bool = False
    cursor: str = ""  # empty: nothing is synced yet
    run: SyncRun = SyncRun()  # the last run, or the current one

    @property
    def uri_prefix(self) -> str:
        return f"{self.kind}:{self.name}/"


@dataclass(frozen=True, slots=True)
class QueueState:
    """How long the queue is, over all processes."""

    jobs: Mapping[str, int]  # by state, of those with work left
    tasks: Mapping[str, int]  # by state, of the documents of these jobs
    documents_left: int
    age_seconds: float  # of the oldest of these jobs
    workers: int  # processes that take jobs, idle or not


def worker_lease(worker: str) -> str:
    """The lease that a worker holds as long as it lives."""
    return f"worker-{worker}"


ATTENDING = "attending-"  # begins the lease of each process that takes jobs, idle or not


def now(later: float = 0.0) -> str:
    """The one clock of the registry: the time now, or this many seconds later, as ISO 8601 in UTC,
    to the millisecond. Sorts as text."""
    at = datetime.now(UTC) + timedelta(seconds=later)
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")
