"""The nouns of work that outlives a process: jobs, the documents they are made of, watched folders
and sources that are kept in step.

A job is what a person asked for, a task is one document of it. Frozen dataclasses, standard library
only. Knows nothing of where they are kept or of who works them off.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum, StrEnum
from typing import Any, TypeAlias

JobId: TypeAlias = int
TaskId: TypeAlias = int


class Priority(IntEnum):
    """Who goes first: the smaller number. Equal ones go by age."""

    INTERACTIVE = 0  # a person waits for these few
    BULK = 10


class JobState(StrEnum):
    QUEUED = "queued"  # nobody is at it
    RUNNING = "running"  # a process is at it, unless that died
    DONE = "done"
    FAILED = "failed"  # at its end, with at least one task that failed
    CANCELLED = "cancelled"

    @property
    def has_ended(self) -> bool:
        return self in (JobState.DONE, JobState.FAILED, JobState.CANCELLED)


class TaskState(StrEnum):
    WAITING = "waiting"
    WORKING = "working"  # in the hands of a process, which may have died
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


class Step(StrEnum):
    """The way of a document, in order."""

    EXTRACT = "extract"
    CHUNK = "chunk"
    REGISTER = "register"
    ARCHIVE = "archive"
    INTERPRET = "interpret"
    EMBED = "embed"
    STORE = "store"


ADD = "add"  # the kind of a job that adds documents from where they are
UPLOAD = "upload"  # of one that adds a file which was sent in and is kept until it is done
# Ended jobs that are kept with their documents, for people: beyond that a folder that is added
# every hour would fill the database with its own diary. Those with failures stay until cleared.
# 1,000: files dropped on the page are a job each, and the page counts them together.
KEPT_JOBS = 1000
REEMBED = "reembed"  # the kind of a job that changes the embedding model: it counts passages
# What becomes of a document is for those who work on it to say (`ingest.outcomes`), but for this:
# a store finds out when it keeps it.
DUPLICATE = "duplicate"


@dataclass(frozen=True, slots=True)
class Offered:
    """A document that a job is to work on, as its source offers it."""

    uri: str
    name: str
    size: int = 0
    key: bytes = b""  # how its source finds it again in another process; empty: it cannot


@dataclass(frozen=True, slots=True)
class Task:
    """One document of a job."""

    id: TaskId
    job: JobId
    uri: str
    name: str
    size: int
    state: TaskState
    parent: TaskId = 0  # the task whose document holds this one within; 0: none
    step: str = ""  # where it is, or where it failed
    fate: str = ""  # what became of it
    attempts: int = 0
    anew: bool = False  # what it holds within is looked at, though its bytes are known
    code: str = ""  # of the error it failed with
    message: str = ""
    document: int | None = None
    seconds: Mapping[str, float] = field(default_factory=dict)  # by step
    key: bytes = b""
    lost: int = 0  # how often a worker ended, without saying why, while it had this
    worker: str = ""  # who has it, or had it last


@dataclass(frozen=True, slots=True)
class TaskEnd:
    """How a task ended. A store writes it in the instant in which the document is there."""

    task: TaskId
    state: TaskState
    fate: str = ""
    step: str = ""  # where it failed
    code: str = ""
    message: str = ""
    document: int | None = None  # a store fills in the one it keeps
    seconds: Mapping[str, float] = field(default_factory=dict)
    worker: str = ""  # who has it: what another has by now, only that one ends; empty: anybody


@dataclass(frozen=True, slots=True)
class Job:
    """What was asked for and how far it is, at one instant."""

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
    rate: float = 0.0  # tasks a second, since a process last took it up
    seconds_left: float | None = None  # None: nobody can say
    notes: tuple[str, ...] = ()
    lasting: bool = True  # another process can go on with it
    worker: str = ""  # who was last at it
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def waiting(self) -> int:
        """Tasks that have not ended."""
        return self.tasks - self.ended

    @property
    def unit(self) -> str:
        """What it counts, for people."""
        return "passages" if self.kind == REEMBED else "documents"


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
    """How far a source is synced. A store writes it in the instant in which the last document it
    covers is there."""

    source: str  # its name
    cursor: str  # as the source gave it


@dataclass(frozen=True, slots=True)
class SyncFailure:
    """An item of a source that isn't in the library, and why. The next run tries it again."""

    item: str
    code: str
    message: str
    at: str = ""  # ISO 8601, UTC


@dataclass(frozen=True, slots=True)
class SyncRun:
    """What a run of a source did, or has done so far."""

    started_at: str = ""  # ISO 8601, UTC; empty: it never ran
    ended_at: str = ""  # empty: it is running, or was killed
    full: bool = False  # it read everything, not only what changed
    counts: Mapping[str, int] = field(default_factory=dict)  # items by what became of them
    done: int = 0  # steps of the source, such as channels
    steps: int = 0  # of how many; 0: nobody can say
    seconds_left: float | None = None  # None: nobody can say
    code: str = ""  # of the error that ended it
    message: str = ""  # that error, or what it waits for
    not_before: str = ""  # the service asked to wait until then: ISO 8601, UTC
    listed_at: str = ""  # when all ids were last compared: ISO 8601, UTC


@dataclass(frozen=True, slots=True)
class KeptSource:
    """A source whose documents a library keeps in step."""

    name: str
    kind: str  # slack, notes, feed, ...
    options: Mapping[str, str] = field(default_factory=dict)
    # Where each secret is found: `env:NAME` or `file:PATH`. The secret itself is never kept.
    secrets: Mapping[str, str] = field(default_factory=dict)
    collection: str = "default"
    category: str | None = None
    audience: str | None = None  # of items whose readers the source doesn't know
    every: int = 0  # seconds between runs of a server; 0: only when asked
    added_at: str = ""  # ISO 8601, UTC
    paused: bool = False
    cursor: str = ""  # empty: nothing is synced yet
    run: SyncRun = SyncRun()  # the last one, or the one under way
