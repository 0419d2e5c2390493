"""Where a library is kept: a backend, made of small parts. One page, so that what a caller needs
and what a backend must do is the same list.

Each part is a Protocol with a suite in `trivium.testing`. A backend keeps documents and answers
*one signal at a time*; it never fuses. Whatever reads documents takes a `Where` without a default,
so nobody can forget access control.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Collection as Some
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Protocol, TypeAlias

from trivium.access import AccessToken
from trivium.answers import Conversation, KeptTurn
from trivium.history import Interpretation
from trivium.queries import Alert, AlertHit, LoggedQuery
from trivium.types import (
    ChunkId,
    Collection,
    Document,
    DocumentId,
    Hit,
    Label,
    Manifest,
    Metadata,
    Neighbours,
    Probe,
    Processed,
    Signal,
    Spelled,
    StoredChunk,
    TokenVectors,
    Where,
)
from trivium.upkeep import Backup, Compacted, Finding, Progress, Spread
from trivium.work import (
    Job,
    JobId,
    JobState,
    KeptSource,
    Offered,
    Priority,
    SyncFailure,
    SyncPoint,
    SyncRun,
    Task,
    TaskEnd,
    TaskId,
    TaskState,
    WatchedFolder,
)

if TYPE_CHECKING:
    from trivium.types import Vector


Waiting: TypeAlias = Callable[[str], None]  # is told why nothing moves
Hash: TypeAlias = Callable[[str], str]
Embed: TypeAlias = "Callable[[Mapping[str, str]], Mapping[str, Vector]]"


@dataclass(frozen=True, slots=True)
class Summarised:
    """What an interpretation's chunks were embedded under, and the hashes of what was embedded."""

    summary: str
    hashes: frozenset[str]


@dataclass(frozen=True, slots=True)
class Unembedded:
    """An active chunk without a vector of some model."""

    id: ChunkId
    hash: str  # of what is embedded
    text: str  # that


class Documents(Protocol):
    """The registry: which documents there are, what they are called, what they say and said."""

    def all(
        self, where: Where, *, after: DocumentId = 0, limit: int | None = None
    ) -> list[Document]:
        """By id, those above `after`."""
        ...

    def find(self, uri: str, collection: str) -> Document | None:
        """By any of its names."""
        ...

    def find_all(self, uris: Sequence[str], collection: str) -> Mapping[str, Document]:
        """By these of their names."""
        ...

    def alike(self, hashes: Sequence[str], collection: str) -> list[Document]:
        """By id: those whose source was last seen with bytes of one of these hashes."""
        ...

    def below(
        self, prefix: str, collection: str, *, since: str = "", before: str = ""
    ) -> list[str]:
        """Every uri that begins so, other names of documents among them, sorted, by bytes. Of these
        the ones that sort at or after `since` and before `before`, where these are given."""
        ...

    def within(self, uri: str, collection: str) -> list[Document]:
        """By id: those that lie within this file, such as attachments."""
        ...

    def collections(self, where: Where) -> list[Collection]:
        """By name: those that hold a document which passes `where`, and for the owner without a
        condition also those that were given a chunker before their first document."""
        ...

    def chunker(self, collection: str) -> str:
        """The chunker that a collection was given; empty: none."""
        ...

    def counts(self, label: Label, where: Where) -> dict[str, int]:
        """How many documents that pass have each value of a label."""
        ...

    def field_names(self, where: Where) -> frozenset[str]:
        """Every metadata field that some document has."""
        ...

    def sketches(
        self, where: Where, like: Sequence[DocumentId] | None = None
    ) -> Mapping[DocumentId, bytes]:
        """`text.nearness.sketch` of the active texts; with `like`, only of these documents and of
        those that share enough keys with one of them to be worth comparing (of those that share
        a key with very many, perhaps not all)."""
        ...

    def summary(self, content_hash: str, summariser: str, sender: str = "") -> str | None:
        """What this summariser, by its fingerprint, said of these bytes, of documents of this
        sender where one is named; None: nothing yet."""
        ...

    def summarised(self, document: DocumentId) -> Summarised | None:
        """What its active interpretation was embedded under. None: it is not there."""
        ...

    def history(self, document: DocumentId, where: Where) -> list[Interpretation]:
        """Every interpretation that is kept, by number."""
        ...

    def text(
        self, document: DocumentId, where: Where, interpretation: int | None = None
    ) -> str | None:
        """The full text of the active interpretation, or of the one with this number."""
        ...

    def passages(
        self, document: DocumentId, where: Where, interpretation: int | None = None
    ) -> list[StoredChunk]:
        """Every chunk of the same, in order."""
        ...

    def chunks(self, ids: Sequence[ChunkId], where: Where) -> list[StoredChunk]:
        """In the order asked; what is missing, hidden or not allowed is skipped."""
        ...

    def around(
        self, ids: Sequence[ChunkId], before: int, after: int, where: Where
    ) -> Mapping[ChunkId, Neighbours]:
        """Up to so many chunks before and after each, in one round trip. Missing ids are left
        out."""
        ...

    def beside(self, document: Document, prefix: str, most: int, where: Where) -> Neighbours:
        """Up to so many chunks of other documents before and after this one: of the same type and
        collection, whose uris begin with `prefix`, in the order of their uris."""
        ...


class Writer(Protocol):
    """Everything that changes documents. Each change is whole: searches see all of it, or none."""

    def writing(
        self, waiting: Waiting | None = None, patience: float | None = None
    ) -> AbstractContextManager[None]:
        """Whoever changes documents does it inside. Where one process writes at a time and another
        does just now, `waiting` is told why nothing moves, and after `patience` seconds (None: as
        the backend was told) LibraryBusy is raised. On leaving, everything written can be found.
        Nested use is free."""
        ...

    def put(self, batch: Sequence[Processed], model: str) -> list[Document]:
        """Keep every document of the batch; each becomes a new active interpretation, and the one
        before it is hidden in the same instant. `model` names the embedder of the vectors: raises
        ModelChanged where that is not the library's. One that only repeats another under a new uri
        becomes a name of it (`store.identity`). Where one of them fails after others are kept,
        fewer come back: put the rest again. Where none is kept, the error is raised."""
        ...

    def relabel(
        self, document: DocumentId, *, category: str, audience: str, metadata: Metadata
    ) -> None:
        """Change what is said about a document without touching its text."""
        ...

    def remove(self, documents: Iterable[DocumentId]) -> int:
        """All of them: text, past and names. Unknown ids are no error; the count of those removed
        comes back."""
        ...

    def add_name(self, document: DocumentId, uri: str) -> Document:
        """The same bytes lie there too. Raises DocumentNotFound."""
        ...

    def rename(self, document: DocumentId, old: str, new: str) -> Document:
        """What was called `old` is called `new`, and what lies within it moves along; a title that
        came from the file's name follows. An `old` that is no name of it (any more) leaves a name
        added. Raises DocumentNotFound."""
        ...

    def forget(self, uri: str, collection: str) -> list[Document]:
        """A source is gone, with what lies within it: its name goes, and the document too where
        it had no other. Those removed come back."""
        ...

    def restore(self, document: DocumentId, number: int) -> Document:
        """A new active interpretation with the text and chunks of an old one, which are neither
        read nor embedded again. Labels stay as they are. Raises DocumentNotFound."""
        ...

    def prune(self, where: Where, *, keep: int = 1, before: str = "") -> int:
        """Drop interpretations for good: of each document all but the newest `keep`, and with
        `before` only what was retired earlier. Active ones stay. How many went comes back."""
        ...

    def set_chunker(self, collection: str, chunker: str) -> None:
        """How the documents of a collection are cut from now on."""
        ...


class Signals(Protocol):
    """Meaning, words and spelling, one at a time, over the active chunks."""

    def search(self, signal: Signal, probe: Probe, where: Where, k: int) -> list[Hit]:
        """The k best active chunks that pass `where`, score descending, then chunk id. Raises
        ModelChanged for a vector of another model than the library's."""
        ...

    def spellings(self, words: Sequence[str], where: Where) -> Mapping[str, tuple[Spelled, ...]]:
        """For each folded word: itself, if a chunk that passes `where` holds it; else what it may
        be a misspelling of among the words of those chunks. See `text.misspelling.spell`."""
        ...

    def completions(self, beginning: str, where: Where, most: int) -> tuple[Spelled, ...]:
        """Words of chunks that pass `where` which begin so. See `text.completing.complete`."""
        ...

    def rarities(self, words: Sequence[str], where: Where) -> Sequence[float]:
        """BM25's idf of each folded word among all chunks that the caller may see, filtered or
        not."""
        ...

    def vectors(self, ids: Sequence[ChunkId], where: Where) -> Mapping[ChunkId, Vector]:
        """The vectors of chunks; those without one are left out."""
        ...

    def token_vectors(
        self, ids: Sequence[ChunkId], where: Where, model: str
    ) -> Mapping[ChunkId, TokenVectors]:
        """What was kept of this model for late interaction; unknown ones are left out."""
        ...

    def sample(self, most: int, where: Where) -> tuple[int, list[ChunkId]]:
        """How many active chunks pass, and up to `most` of them, spread evenly."""
        ...

    def refresh(self) -> None:
        """Afterwards reads see all earlier writes, of any process."""
        ...


class Models(Protocol):
    """Which model's vectors serve, what is embedded already, and how a library comes to another
    model: the vectors of the new one are made beside those that serve, then all of them serve at
    once."""

    def manifest(self) -> Manifest: ...

    def describe(self, model: str, settings: Mapping[str, str]) -> None:
        """How to load the model of the vectors, for the manifest. No secrets."""
        ...

    def grasp(self) -> str:
        """What `keep_grasp` kept last; empty: nothing yet."""
        ...

    def keep_grasp(self, found: str) -> None:
        """What was measured of how well the model tells the passages apart. Any process may."""
        ...

    def known(self, model: str, hashes: Sequence[str], sender: str = "") -> Mapping[str, Vector]:
        """Vectors already made, by the hash of what was embedded; for a sender only those that a
        document of the same sender uses."""
        ...

    def keep(self, model: str, vectors: Mapping[str, Vector]) -> None:
        """Vectors by the hash of what was embedded, for documents that lack others still: they are
        found by `known`, and by no search. Only inside `writing()`."""
        ...

    def embed_missing(self, model: str, embed: Embed) -> int:
        """Give vectors to chunks that were added while the model gave none. `embed` gets texts by
        hash and returns what vectors it can; how many there were comes back. They are kept batch
        by batch, whatever happens later. Only inside `writing()`."""
        ...

    def lacking(self, model: str, documents: Sequence[DocumentId]) -> set[DocumentId]:
        """Those of the documents that have an active chunk without a vector."""
        ...

    def unembedded(self, model: str, after: ChunkId, limit: int) -> list[Unembedded]:
        """Active chunks above this id that `model` has no vector of, by id."""
        ...

    def count_unembedded(self, model: str) -> int:
        """How many different texts that are in all."""
        ...

    def begin(self, model: str, settings: Mapping[str, str]) -> None:
        """Name the model whose vectors are to come. Those made for a third are dropped."""
        ...

    def keep_beside(
        self, model: str, vectors: Mapping[str, Vector], tokens: Mapping[str, TokenVectors]
    ) -> None:
        """By the hash of what was embedded; what no chunk needs any more is not kept. Needs no
        `writing`. Raises ReembedStopped where this model is not the one to come."""
        ...

    def prepare(self, model: str) -> None:
        """Make ready what can be before the switch. Needs no `writing`."""
        ...

    def switch(self, model: str) -> None:
        """From one instant to the next all searches use the vectors of this model. Raises
        NotEmbedded where a chunk has none. Only inside `writing()`."""
        ...

    def abandon(self) -> None:
        """No other model is to come; what was made for it is dropped."""
        ...

    def drop_others(self) -> None:
        """Delete the vectors of models that neither serve nor are to."""
        ...


class Jobs(Protocol):
    """Jobs as people see and steer them: by any process, at any time."""

    def all(self, *, ended: bool = True, limit: int | None = None) -> list[Job]:
        """The newest first."""
        ...

    def get(self, job: JobId) -> Job | None: ...

    def tasks(
        self,
        job: JobId,
        *,
        states: Sequence[TaskState] | None = None,
        offset: int = 0,
        limit: int | None = None,
    ) -> list[Task]:
        """In the order offered. Documents that were found unchanged are counted on the job, and
        no longer listed once it has ended."""
        ...

    def keys(self, kind: str) -> list[bytes]:
        """Of what such jobs were offered, unless all of it is done: it may be tried again."""
        ...

    def fates(self, job: JobId) -> dict[str, int]:
        """How many of its documents were added, updated, unchanged, ..."""
        ...

    def chunks_of(self, job: JobId) -> int:
        """How many passages its added and updated documents have."""
        ...

    def cancel(self, job: JobId) -> bool:
        """What waits is not begun any more. False: it has ended already, or is not there."""
        ...

    def retry(self, job: JobId, task: TaskId | None = None) -> int:
        """Let the failed tasks of a job, or one of them, wait again; how many."""
        ...

    def clear(self) -> int:
        """Forget every job that has ended; how many."""
        ...


def worker_lease(worker: str) -> str:
    """The lease that a worker holds as long as it lives."""
    return f"worker-{worker}"


class Queue(Protocol):
    """The durable queue that workers work off. Each has a name of its own and holds a lease of that
    name (`worker_lease`); what a dead one had comes back."""

    def create(
        self,
        kind: str,
        what: str,
        options: Mapping[str, Any],
        priority: Priority,
        offered: Sequence[Offered] | None,
        worker: str = "",
    ) -> JobId:
        """A job with all its tasks at once; or, where these are None, one whose tasks come as they
        are met by this worker and by no other (`extend`, `complete`)."""
        ...

    def recover(self) -> list[Job]:
        """Take over from workers that died. The unfinished jobs, first to be worked on first."""
        ...

    def claim(self, worker: str, limit: int, before: tuple[int, JobId] | None = None) -> list[Task]:
        """The next tasks of the job that comes first; `before`: of those ahead of this one."""
        ...

    def start(self, worker: str, job: JobId) -> None:
        """This worker is at it from now on: what its rate is measured from."""
        ...

    def reserve(self, count: int) -> range:
        """Numbers for new tasks."""
        ...

    def extend(self, worker: str, met: Sequence[tuple[TaskId, JobId, TaskId, Offered]]) -> None:
        """Tasks, with job and parent, that this worker has met and works on."""
        ...

    def complete(self, job: JobId) -> None:
        """No more tasks will come."""
        ...

    def abandon(self, job: JobId) -> None:
        """The process that alone knew its documents does not go on with it."""
        ...

    def end(self, ends: Sequence[TaskEnd]) -> None:
        """Tasks that ended without a document being put: that takes its own with it."""
        ...

    def end_again(self, ends: Sequence[TaskEnd]) -> None:
        """Tasks that failed, or are worked on, have come to a good end after all."""
        ...

    def release(self, ids: Sequence[TaskId], *, lost: bool = False) -> None:
        """What this worker does not finish waits for another. `lost`: it cannot go on, and one of
        these may be why. A task that is lost twice has failed."""
        ...

    def note(self, job: JobId, notes: Sequence[str]) -> None:
        """What people should know about it."""
        ...

    def note_steps(self, steps: Mapping[TaskId, str]) -> None:
        """Where tasks are, for people who watch."""
        ...

    def cancelled(self, some: Sequence[JobId]) -> set[JobId]: ...

    def unembedded(self) -> list[Task]:
        """Tasks whose documents are there without all of their vectors, or were so."""
        ...

    def listening(self, wake: Callable[[], None]) -> AbstractContextManager[None]:
        """Within it `wake` is called when another process may have offered something, where a
        backend hears of that. Whoever works looks now and then all the same."""
        ...

    # a change of the model, which has no tasks
    def begin_reembed(self, model: str, told: Mapping[str, str]) -> Job:
        """The job that is to come to this model: the one that was begun, or a new one."""
        ...

    def take_up(self, worker: str, job: JobId) -> None:
        """This worker is at it from now on."""
        ...

    def advance(self, job: JobId, ended: int, of: int) -> None:
        """How many passages are embedded."""
        ...

    def leave(self, job: JobId, state: JobState, note: str = "") -> None:
        """This process is done with it; queued: another goes on."""
        ...


class Leases(Protocol):
    """Who does what alone: a name has one owner at a time, until that one lets go, dies, or lets
    its lease expire. Files that are locked expire with the process that locked them."""

    def hold(
        self,
        name: str,
        doing: str,
        *,
        waiting: Waiting | None = None,
        patience: float | None = None,
    ) -> AbstractContextManager[None]:
        """Wait for the name, and hold it. `doing` is what its holder does, for whoever waits.
        Raises LibraryBusy after `patience` seconds (None: as the backend was told)."""
        ...

    def is_held(self, name: str) -> bool:
        """Whether some process has it just now, this one included."""
        ...


class Blobs(Protocol):
    """Keeps bytes, each once, under an address that a document remembers."""

    def address(self, data: bytes) -> str:
        """Where these bytes would be, or are. The same bytes have the same address."""
        ...

    def put(self, data: bytes) -> str:
        """Durably, before their address comes back."""
        ...

    def get(self, address: str) -> bytes:
        """As they were put, which is checked. Raises OriginalMissing, OriginalDamaged."""
        ...

    def size(self, address: str) -> int | None:
        """In bytes, as far as it is there; None: nothing is."""
        ...

    def link(self, address: str, seconds: int) -> str | None:
        """A URL at which anyone can read the bytes for so long; None: there is no such thing."""
        ...

    def delete(self, address: str) -> None:
        """What is not there is no error."""
        ...

    def addresses(self) -> Iterator[tuple[str, float]]:
        """Of everything that is kept, each with the seconds since it was last put."""
        ...


class Originals(Protocol):
    """The bytes of documents. Any thread may call it at any time."""

    def keep(self, data: bytes) -> str:
        """The bytes of a document that is about to be put: its `original` comes back. They go with
        the last interpretation that refers to them."""
        ...

    def put_back(self, address: str, data: bytes) -> None:
        """A document's original, where it is missing or cut short, from the same bytes."""
        ...

    def get(self, address: str) -> bytes:
        """The bytes at a document's `original`. Raises OriginalMissing, OriginalDamaged."""
        ...

    def link(self, address: str, seconds: int) -> str | None:
        """A URL at which anyone can read them for so long; None: only `get` reads them."""
        ...


class Spool(Protocol):
    """The bytes of files that were sent in and wait to be read."""

    def keep(self, file: BinaryIO) -> str:
        """Durably, before the name comes back by which any process finds it. Raises ServerBusy
        where all of them together would take too much room."""
        ...

    def size(self, name: str) -> int:
        """In bytes; 0 where it no longer exists."""
        ...

    def read(self, name: str) -> bytes:
        """Raises FileUnreadable where it no longer exists."""
        ...

    def drop(self, name: str) -> None:
        """What is not there is no error."""
        ...

    def sweep(self, needed: Some[str], older: float) -> int:
        """Drop all others that were not touched for so many seconds; how many."""
        ...

    def names(self) -> list[str]:
        """Of all that are kept."""
        ...

    def put_back(self, name: str, data: bytes) -> None:
        """What another library kept under this name. Where it is there already, nothing changes."""
        ...


class Shelf(Protocol):
    """Judged sets and their saved evaluations: a few files for each, by its name."""

    def names(self) -> list[str]: ...

    def reading(self, name: str) -> AbstractContextManager[Path]:
        """A folder with the files of a set, to be read within; nothing is in it where there is no
        such set."""
        ...

    def writing(self, name: str) -> AbstractContextManager[Path]:
        """The same to be changed within, while nobody else does. Raises LibraryBusy."""
        ...


class Upkeep(Protocol):
    """Whether everything is whole, and what makes it so again."""

    def health(self) -> Mapping[str, int]:
        """How many active chunks the truth and each derived index hold: equal when all is well."""
        ...

    def check_there(self) -> None:
        """Raises LibraryNotFound where the library was moved or deleted since it was opened."""
        ...

    def examine(self, hash_of: Hash | None = None) -> list[Finding]:
        """Everything that can be wrong, looked at; nothing is changed. With the function that
        hashes what is embedded, every byte of indexes and passages is checked as well."""
        ...

    def repair(self, waiting: Waiting | None = None, hash_of: Hash | None = None) -> list[str]:
        """Mend what can be mended without a model; what was done comes back."""
        ...

    def rebuild(self) -> None:
        """Make everything that is derived again. Only inside `writing()`."""
        ...

    def compact(self, waiting: Waiting | None = None) -> Compacted:
        """Write everything again that may still hold bytes of what was removed."""
        ...

    def backup(self, target: Path, on_progress: Progress = lambda *_: None) -> Backup:
        """Everything that cannot be made again, in one file; searching and adding go on."""
        ...


class Views(Protocol):
    """Documents as they were."""

    def as_of(self, when: int | str, where: Where) -> tuple[str, Callable[[], Backend]]:
        """The documents that pass `where` as they were: in the interpretation of this number (or
        the last before it), or at an instant. What tells this view from others comes back, and
        what opens it."""
        ...


class Nodes(Protocol):
    """Several servers that keep a library's rows together."""

    def spread(self) -> Spread: ...

    def distribute(self, shards: int | None = None) -> Spread:
        """Lay what takes room on all nodes, in so many parts (None: as many as now, or by the
        number of nodes). Goes on where it was broken off. Searches go on; changes of documents
        wait. Raises DatabaseUnsuitable and LibraryBusy."""
        ...

    def gather(self) -> Spread:
        """Bring everything back to one server."""
        ...


class AccessTokens(Protocol):
    """Access tokens."""

    def keep(self, token: AccessToken) -> None: ...

    def get(self, id_: str) -> AccessToken | None: ...

    def all(self) -> list[AccessToken]:
        """In the order they were made."""
        ...

    def forget(self, id_: str) -> bool:
        """Whether there was one."""
        ...


class Conversations(Protocol):
    """What was asked and answered, where that was to be kept."""

    def keep(self, conversation: str, kept: KeptTurn) -> None:
        """Add a turn; a conversation begins with its first. It goes when a document goes that it
        was made from."""
        ...

    def turns(self, conversation: str, where: Where) -> list[KeptTurn]:
        """In order: those all of whose audiences the caller holds, and all of whose documents pass
        `where`."""
        ...

    def all(self, where: Where) -> list[Conversation]:
        """By name: those with a turn that may be seen."""
        ...

    def forget(self, conversation: str, where: Where) -> int:
        """Remove the turns that may be seen; how many comes back."""
        ...


class WatchedFolders(Protocol):
    """The folders that a server follows."""

    def keep(self, folder: WatchedFolder) -> None: ...

    def all(self) -> list[WatchedFolder]:
        """In the order they were added."""
        ...

    def forget(self, id_: str) -> bool:
        """Whether there was one. What came from it stays."""
        ...


class KeptSources(Protocol):
    """The sources that a library keeps in step, how far each is, and what failed."""

    def keep(self, source: KeptSource) -> None:
        """Add a source, or replace the one of this name with all that is known of it."""
        ...

    def get(self, name: str) -> KeptSource | None: ...

    def all(self) -> list[KeptSource]:
        """In the order they were added."""
        ...

    def forget(self, name: str) -> bool:
        """Whether there was one. Its failures go too; its documents stay."""
        ...

    def advance(self, point: SyncPoint) -> None:
        """Save a cursor where no document is put. `Writer.put` saves the one that a document
        carries (`Processed.point`) in the same transaction."""
        ...

    def record(self, name: str, run: SyncRun) -> None:
        """What its last run did, or has done so far."""
        ...

    def pause(self, name: str, paused: bool) -> None: ...

    def failures(self, name: str) -> list[SyncFailure]:
        """By item."""
        ...

    def settle(self, name: str, failed: Sequence[SyncFailure], done: Sequence[str] | None) -> None:
        """Write down what failed; these items are fine by now (None: all others)."""
        ...


class QueryLog(Protocol):
    """What people asked. For the owner alone."""

    def note(self, query: LoggedQuery) -> None:
        """One more entry."""
        ...

    def count(self, query: LoggedQuery) -> None:
        """Add it to the entry of the same day, text and caller, if there is one."""
        ...

    def all(self, since: str = "") -> list[LoggedQuery]:
        """The newest first."""
        ...

    def forget(self, before: str) -> int:
        """Delete entries from before this time; how many."""
        ...


class Alerts(Protocol):
    """Saved searches, and what matched them."""

    def keep(self, alert: Alert) -> None:
        """A new one, or one that changed."""
        ...

    def all(self) -> list[Alert]:
        """In the order they were made."""
        ...

    def forget(self, id_: str) -> bool:
        """Whether there was one. Its hits go with it."""
        ...

    def note(self, hits: Sequence[AlertHit]) -> None:
        """Of one document an alert keeps the last hit."""
        ...

    def hits(self, limit: int | None = None) -> list[AlertHit]:
        """The newest first."""
        ...


@dataclass(frozen=True)
class Backend:
    """The parts of one library's keeping. `trivium.store.open_backend` makes one of an address."""

    documents: Documents
    writer: Writer
    signals: Signals
    models: Models
    jobs: Jobs
    queue: Queue
    leases: Leases
    originals: Originals
    spool: Spool
    shelf: Shelf
    upkeep: Upkeep
    tokens: AccessTokens
    conversations: Conversations
    folders: WatchedFolders
    sources: KeptSources
    queries: QueryLog
    alerts: Alerts
    views: Views | None  # None: it cannot show an earlier day
    folder: Path | None  # on this machine, which sources leave out; None: it is elsewhere
    close: Callable[[], None]
    nodes: Nodes | None = None  # None: it stays on one machine
