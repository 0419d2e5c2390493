"""Where a library is stored: a backend, which consists of small parts. This page lists everything
that callers need and a backend must do.

Each part is a Protocol with a suite in tests/contract. A backend stores documents and answers
*one signal at a time*; it never fuses. Everything that reads documents takes a `Where` without a
default, so nobody can forget access control.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Collection as Some
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Protocol, TypeAlias

from trivium.core.access import AccessToken
from trivium.core.answers import Conversation, KeptTurn
from trivium.core.history import Interpretation
from trivium.core.queries import Alert, AlertHit, Asked, LoggedQuery, LogPage
from trivium.core.types import (
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
    Vector,
    Where,
)
from trivium.core.upkeep import Backup, Compacted, Finding, Progress, Spread
from trivium.core.work import (
    Job,
    JobId,
    JobState,
    KeptSource,
    Offered,
    Priority,
    Retryable,
    SyncFailure,
    SyncPoint,
    SyncRun,
    Task,
    TaskEnd,
    TaskId,
    TaskProgress,
    TaskState,
    WatchedFolder,
)

Waiting: TypeAlias = Callable[[str], None]  # called with the reason for waiting
Hash: TypeAlias = Callable[[str], str]
Embed: TypeAlias = "Callable[[Mapping[str, str]], Mapping[str, Vector]]"


@dataclass(frozen=True, slots=True)
class Summarised:
    """The summary an interpretation's chunks were embedded with, and the hashes of the embedded
    texts."""

    summary: str
    hashes: frozenset[str]


@dataclass(frozen=True, slots=True)
class Unembedded:
    """An active chunk without a vector of some model."""

    id: ChunkId
    hash: str  # of the embedded text
    text: str  # the embedded text itself


@dataclass(frozen=True, slots=True)
class Usage:
    """What a sender has in a collection."""

    sender: str  # empty: the owner
    collection: str
    documents: int
    bytes: int


class Documents(Protocol):
    """The registry: documents, their names, their texts and their history."""

    def all(
        self, where: Where, *, after: DocumentId = 0, limit: int | None = None, listed: bool = False
    ) -> list[Document]:
        """Sorted by id, only ids above `after`. `listed`: without those that have no text of their
        own, such as a file of references; `collections` and `counts` never count these."""

    def changed(self, since: int, where: Where) -> tuple[int, list[tuple[int, Document]]]:
        """The number of the last change, and the documents changed after `since`, each with the
        number of its change. Numbers rise with what becomes visible, whatever clocks say."""

    def find(self, uri: str, collection: str) -> Document | None:
        """Find a document by any of its names."""

    def find_all(self, uris: Sequence[str], collection: str) -> Mapping[str, Document]:
        """Find documents by these names."""

    def alike(self, hashes: Sequence[str], collection: str) -> list[Document]:
        """Documents, sorted by id, whose source last had bytes with one of these hashes."""

    def below(
        self, prefix: str, collection: str, *, since: str = "", before: str = ""
    ) -> list[str]:
        """Every uri that begins with `prefix`, including other names of documents, sorted by bytes;
        if given, only those from `since` up to, but not including, `before`."""

    def within(self, uri: str, collection: str) -> list[Document]:
        """Documents inside this file, such as attachments, sorted by id."""

    def collections(self, where: Where) -> list[Collection]:
        """Collections, by name, with a document that passes `where`. The owner without a condition
        also gets those that have a chunker but no document yet."""

    def usage(self, *, sender: str | None = None, collection: str | None = None) -> list[Usage]:
        """What senders have in collections, or only this sender, or this collection."""

    def chunker(self, collection: str) -> str:
        """The chunker set for a collection; empty: none."""

    def counts(self, label: Label, where: Where) -> dict[str, int]:
        """How many of the documents that pass have each value of a label."""

    def field_names(self, where: Where) -> frozenset[str]:
        """Every metadata field that some document has."""

    def sketches(
        self, where: Where, like: Sequence[DocumentId] | None = None
    ) -> Mapping[DocumentId, bytes]:
        """`text.nearness.sketch` of the active texts. With `like`: only of these documents, and of
        those that share enough keys with one of them to be worth comparing (perhaps not all, if a
        key is very common)."""

    def summary(self, content_hash: str, summariser: str, sender: str = "") -> str | None:
        """What this summariser (a fingerprint) wrote about these bytes; if a sender is named, only
        in that sender's documents. None: nothing yet."""

    def summarised(self, document: DocumentId) -> Summarised | None:
        """What its active interpretation was embedded with. None: no such document."""

    def history(self, document: DocumentId, where: Where) -> list[Interpretation]:
        """Every interpretation still in the library, by number."""

    def text(
        self, document: DocumentId, where: Where, interpretation: int | None = None
    ) -> str | None:
        """The full text of the active interpretation, or of the one with this number."""

    def passages(
        self, document: DocumentId, where: Where, interpretation: int | None = None
    ) -> list[StoredChunk]:
        """Every chunk of that interpretation, in order."""

    def chunks(self, ids: Sequence[ChunkId], where: Where) -> list[StoredChunk]:
        """In the order of `ids`; skips missing, hidden and forbidden chunks."""

    def around(
        self, ids: Sequence[ChunkId], before: int, after: int, where: Where
    ) -> Mapping[ChunkId, Neighbours]:
        """Up to `before` and `after` chunks around each, in one round trip. Leaves out missing
        ids."""

    def beside(self, document: Document, prefix: str, most: int, where: Where) -> Neighbours:
        """Up to so many chunks of other documents before and after this one: of the same type and
        collection, whose uris begin with `prefix`, in the order of their uris."""


class Writer(Protocol):
    """Everything that changes documents. Searches see a whole change or none of it."""

    def writing(
        self, waiting: Waiting | None = None, patience: float | None = None
    ) -> AbstractContextManager[None]:
        """Hold this while you change documents. If only one process can write and another does,
        calls `waiting` with the reason, and raises LibraryBusy after `patience` seconds (None: the
        backend's own). On leaving, everything written can be found. You can nest it."""

    def rest(self, seconds: float) -> None:
        """Wait, within `writing`, for what takes long: other threads and processes may write
        meanwhile. What was written before can be found."""

    def put(self, batch: Sequence[Processed], model: str) -> list[Document]:
        """Store every document of the batch. Each becomes a new active interpretation and hides the
        one before it at the same moment. `model` names the embedder of the vectors; raises
        ModelChanged if the library uses another. A document that only repeats another under a new
        uri becomes a name of that one (`store.identity`). If one fails after others are stored,
        returns fewer: put the rest again. If none is stored, raises the error."""

    def relabel(
        self, document: DocumentId, *, category: str, audience: str, metadata: Metadata
    ) -> None:
        """Change a document's labels and metadata, not its text."""

    def remove(self, documents: Iterable[DocumentId]) -> int:
        """Remove documents with text, history and names. Ignores unknown ids. Returns how many it
        removed."""

    def add_name(self, document: DocumentId, uri: str) -> Document:
        """The same bytes are at this uri too. Raises DocumentNotFound."""

    def rename(self, document: DocumentId, old: str, new: str) -> Document:
        """Rename `old` to `new`, with the files inside it; a title made from the file's name
        changes too. If the document has no name `old`, only adds `new`. Raises DocumentNotFound."""

    def forget(self, uri: str, collection: str) -> list[Document]:
        """A source is gone, with the files inside it: remove its name, and the document if it has
        no other. Returns the removed documents."""

    def restore(self, document: DocumentId, number: int) -> Document:
        """Make a new active interpretation with the text and chunks of an old one, without reading
        or embedding them again. Labels stay as they are. Raises DocumentNotFound."""

    def prune(self, where: Where, *, keep: int = 1, before: str = "") -> int:
        """Delete interpretations for good: all but the newest `keep` of each document, and with
        `before` only those replaced earlier. Active ones stay. Returns how many it deleted."""

    def set_chunker(self, collection: str, chunker: str) -> None:
        """Set how documents of a collection are chunked from now on."""


class Signals(Protocol):
    """Meaning, words and spelling, one at a time, over the active chunks."""

    def search(self, signal: Signal, probe: Probe, where: Where, k: int) -> list[Hit]:
        """The k best active chunks that pass `where`, score descending, then chunk id. Raises
        ModelChanged for a vector of another model than the library's."""

    def spellings(self, words: Sequence[str], where: Where) -> Mapping[str, tuple[Spelled, ...]]:
        """For each folded word: the word itself, if a chunk that passes `where` has it; otherwise
        the words of those chunks that it may be a misspelling of. See `text.misspelling.spell`."""

    def completions(self, beginning: str, where: Where, most: int) -> tuple[Spelled, ...]:
        """Words with this beginning, in chunks that pass `where`. See
        `text.completing.complete`."""

    def rarities(self, words: Sequence[str], where: Where) -> Sequence[float]:
        """BM25's idf of each folded word among all chunks that the caller may see, filtered or
        not."""

    def vectors(self, ids: Sequence[ChunkId], where: Where) -> Mapping[ChunkId, Vector]:
        """The vectors of chunks; leaves out chunks without one."""

    def token_vectors(
        self, ids: Sequence[ChunkId], where: Where, model: str
    ) -> Mapping[ChunkId, TokenVectors]:
        """Token vectors of this model, for late interaction; leaves out unknown chunks."""

    def changed_vectors(self, ids: Sequence[ChunkId]) -> list[ChunkId]:
        """Those of these chunks whose indexed vector is no longer the one that was stored."""

    def sample(self, most: int, where: Where) -> tuple[int, list[ChunkId]]:
        """How many active chunks pass, and up to `most` of them, spread evenly."""

    def refresh(self) -> None:
        """Afterwards reads see all earlier writes, of any process."""


class Models(Protocol):
    """Which model's vectors answer searches, what is embedded already, and the change to another
    model: its vectors are computed while the old ones answer, then all of them take over at
    once."""

    def manifest(self) -> Manifest: ...

    def describe(self, model: str, settings: Mapping[str, str]) -> None:
        """Record how to load the vectors' model, for the manifest. No secrets."""

    def separation(self) -> str:
        """What `keep_separation` stored last; empty: nothing yet."""

    def keep_separation(self, text: str) -> None:
        """Store how well the model tells the passages apart. Any process may."""

    def known(self, model: str, hashes: Sequence[str], sender: str = "") -> Mapping[str, Vector]:
        """Known vectors, by the hash of the embedded text; for a sender, only those that the
        sender's own documents use."""

    def keep(self, model: str, vectors: Mapping[str, Vector]) -> None:
        """Store vectors, by the hash of the embedded text, for documents that aren't complete yet:
        `known` finds them, searches don't. Only inside `writing()`."""

    def embed_missing(self, model: str, embed: Embed) -> int:
        """Embed chunks that were added while the model was unavailable. `embed` gets texts by hash
        and returns the vectors it can. Returns how many texts there were. Stores each batch at
        once. Only inside `writing()`."""

    def lacking(self, model: str, documents: Sequence[DocumentId]) -> set[DocumentId]:
        """The documents among these that have an active chunk without a vector."""

    def unembedded(self, model: str, after: ChunkId, limit: int) -> list[Unembedded]:
        """Active chunks above this id without a vector of `model`, by id."""

    def count_unembedded(self, model: str) -> int:
        """How many different texts `model` has no vector of."""

    def begin(self, model: str, settings: Mapping[str, str]) -> None:
        """Start the change to this model. Drops vectors computed for any other change."""

    def keep_beside(
        self, model: str, vectors: Mapping[str, Vector], tokens: Mapping[str, TokenVectors]
    ) -> None:
        """Store vectors of the new model, by the hash of the embedded text; drops those no chunk
        needs. Doesn't need `writing`. Raises ReembedStopped if the change is to another model."""

    def prepare(self, model: str) -> None:
        """Prepare what can be prepared before the switch. Doesn't need `writing`."""

    def switch(self, model: str) -> None:
        """Let all searches use this model's vectors from now on. Raises NotEmbedded if a chunk has
        none. Only inside `writing()`."""

    def abandon(self) -> None:
        """Stop the change of the model, and drop what was computed for it."""

    def drop_others(self) -> None:
        """Delete the vectors of all models that are neither in use nor being changed to."""


class Jobs(Protocol):
    """Jobs as people see and control them: from any process, at any time."""

    def all(self, *, ended: bool = True, limit: int | None = None) -> list[Job]:
        """The newest first."""

    def get(self, job: JobId) -> Job | None: ...

    def tasks(
        self,
        job: JobId,
        *,
        states: Sequence[TaskState] | None = None,
        offset: int = 0,
        limit: int | None = None,
    ) -> list[Task]:
        """In the order offered. Unchanged documents are only counted on the job, and no longer
        listed once it has ended."""

    def retryable(self, kind: str) -> list[Retryable]:
        """Everything that unfinished or failed jobs of this kind were offered, by age: it may be
        tried again."""

    def task_states(self) -> dict[str, int]:
        """How many documents of jobs with work left are in each state."""

    def fates(self, job: JobId) -> dict[str, int]:
        """How many of its documents were added, updated, unchanged, ..."""

    def chunks_of(self, job: JobId) -> int:
        """How many passages its added and updated documents have."""

    def cancel(self, job: JobId) -> bool:
        """Start no more of its waiting tasks. False: it has ended already, or doesn't exist."""

    def retry(self, job: JobId, task: TaskId | None = None) -> int:
        """Queue the failed tasks of a job again, or one of them; returns how many."""

    def clear(self) -> int:
        """Delete every job that has ended; returns how many."""


class Queue(Protocol):
    """The durable queue that workers process. Each worker has its own name and holds a lease with
    that name (`worker_lease`); the tasks of a dead worker come back."""

    def create(
        self,
        kind: str,
        what: str,
        options: Mapping[str, Any],
        priority: Priority,
        offered: Sequence[Offered] | None,
        worker: str = "",
    ) -> JobId:
        """Create a job with all its tasks; or, if these are None, a job whose tasks this worker
        alone adds as it meets them (`extend`, `complete`)."""

    def recover(self) -> None:
        """Take over from workers that died."""

    def claim(self, worker: str, limit: int, before: tuple[int, JobId] | None = None) -> list[Task]:
        """The next tasks: by priority, then in turn by sender, and of each sender the oldest jobs
        first. `before`: only of jobs ahead of this one."""

    def is_waiting(self) -> bool:
        """Whether a worker would find something to do."""

    def start(self, worker: str, job: JobId) -> None:
        """This worker starts on the job: its rate is measured from now."""

    def reserve(self, count: int) -> range:
        """Numbers for new tasks."""

    def extend(self, worker: str, met: Sequence[tuple[TaskId, JobId, TaskId, Offered]]) -> None:
        """Add tasks, with job and parent, that this worker has found and is working on."""

    def complete(self, job: JobId) -> None:
        """No more tasks will come."""

    def abandon(self, job: JobId) -> None:
        """The only process that knew its documents has stopped."""

    def end(self, ends: Sequence[TaskEnd]) -> None:
        """End tasks without storing a document (storing one ends its task too)."""

    def end_again(self, ends: Sequence[TaskEnd]) -> None:
        """Mark tasks that failed, or are in progress, as done after all."""

    def release(self, ids: Sequence[TaskId], *, lost: bool = False) -> None:
        """Give up tasks for other workers. `lost`: the worker can't continue, and one of these may
        be the reason. A task that is lost twice has failed."""

    def note(self, job: JobId, notes: Sequence[str]) -> None:
        """What people should know about it."""

    def note_progress(self, noted: Mapping[TaskId, TaskProgress]) -> None:
        """How far tasks are, for people who watch. Tasks that nobody works on stay as they are."""

    def cancelled(self, some: Sequence[JobId]) -> set[JobId]: ...

    def unembedded(self) -> list[Task]:
        """Tasks whose documents lack vectors, or lacked some."""

    def listening(self, wake: Callable[[], None]) -> AbstractContextManager[None]:
        """While it is open, calls `wake` if another process may have queued something and the
        backend can notice that. Workers check now and then anyway."""

    # a change of the model, which has no tasks
    def begin_reembed(self, model: str, told: Mapping[str, str]) -> Job:
        """The job that changes to this model: the unfinished one, or a new one."""

    def take_up(self, worker: str, job: JobId) -> None:
        """This worker takes the job from now on."""

    def advance(self, job: JobId, ended: int, of: int) -> None:
        """How many passages are embedded."""

    def leave(self, job: JobId, state: JobState, note: str = "") -> None:
        """This process is done with the job; `queued`: another one continues."""


class Leases(Protocol):
    """Names with one owner at a time: until the owner releases it, dies, or its lease expires.
    Files are unlocked when the process that locked them ends."""

    def hold(
        self,
        name: str,
        doing: str,
        *,
        waiting: Waiting | None = None,
        patience: float | None = None,
    ) -> AbstractContextManager[None]:
        """Wait for the name, then hold it. `doing` says what its holder does, for those who wait.
        Raises LibraryBusy after `patience` seconds (None: the backend's own)."""

    def is_held(self, name: str) -> bool:
        """Whether a process holds it now, including this one."""

    def count_held(self, beginning: str) -> int:
        """How many names with this beginning are held now."""


class Blobs(Protocol):
    """Stores bytes, each once, under an address that a document refers to."""

    def address(self, data: bytes) -> str:
        """The address of these bytes, stored or not. The same bytes have the same address."""

    def put(self, data: bytes) -> str:
        """Store them durably, then return their address."""

    def get(self, address: str) -> bytes:
        """The bytes, checked. Raises OriginalMissing, OriginalDamaged."""

    def part(self, address: str, start: int, end: int) -> bytes:
        """The bytes from `start` up to `end`, unchecked: for players, which ask for a few seconds
        of a recording. Raises OriginalMissing."""

    def size(self, address: str) -> int | None:
        """How many bytes are stored; None: nothing."""

    def link(self, address: str, seconds: int) -> str | None:
        """A URL that lets anyone read the bytes for this long; None: not supported."""

    def place(self, address: str) -> str:
        """Where the operator finds them: a path, or an address in an object store."""

    def delete(self, address: str) -> None:
        """What is not there is no error."""

    def addresses(self) -> Iterator[tuple[str, float]]:
        """All addresses, each with the seconds since it was last put."""


class Originals(Protocol):
    """The files of documents. Any thread may call it at any time."""

    def keep(self, data: bytes) -> str:
        """Store the file of a document that is about to be put; returns its `original`. It is
        deleted with the last interpretation that refers to it."""

    def put_back(self, address: str, data: bytes) -> None:
        """Replace a missing or damaged original with the same bytes."""

    def get(self, address: str) -> bytes:
        """The bytes at a document's `original`. Raises OriginalMissing, OriginalDamaged."""

    def part(self, address: str, start: int, end: int) -> bytes:
        """The bytes from `start` up to `end`, unchecked. Raises OriginalMissing."""

    def link(self, address: str, seconds: int) -> str | None:
        """A URL that lets anyone read them for this long; None: use `get`."""

    def place(self, address: str) -> str:
        """Where the operator finds them: a path, or an address in an object store."""


class Spool(Protocol):
    """Uploads that wait to be read."""

    def keep(self, file: BinaryIO, *, limited: bool = True) -> str:
        """Store it durably, then return a name that any process can read it by. Raises ServerBusy
        if all uploads together would take too much space, unless it isn't `limited`."""

    def size(self, name: str) -> int:
        """In bytes; 0 if it no longer exists."""

    def read(self, name: str) -> bytes:
        """Raises FileUnreadable if it no longer exists."""

    def drop(self, name: str) -> None:
        """What is not there is no error."""

    def sweep(self, needed: Some[str], older: float) -> int:
        """Delete all others not touched for `older` seconds; returns how many."""

    def sizes(self) -> dict[str, int]:
        """Bytes of all uploads, by name."""

    def put_back(self, name: str, data: bytes) -> None:
        """Store what another library had under this name. Does nothing if it exists already."""


class Shelf(Protocol):
    """Judged sets and their saved evaluations: a few files for each, by its name."""

    def names(self) -> list[str]: ...

    def reading(self, name: str) -> AbstractContextManager[Path]:
        """A folder with the files of a set, for reading inside the block; empty if there is no such
        set."""

    def writing(self, name: str) -> AbstractContextManager[Path]:
        """The same for writing, while nobody else writes. Raises LibraryBusy."""


@dataclass(frozen=True, slots=True)
class Meters:
    """How this process uses its store."""

    connections_open: int = 0
    connections_used: int = 0
    cache_hits: int = 0  # words whose passages were in memory, since the process began
    cache_misses: int = 0


class Upkeep(Protocol):
    """Checks, repairs and backups."""

    def meters(self) -> Meters: ...

    def health(self) -> Mapping[str, int]:
        """How many active chunks the database and each derived index have: equal if all is well."""

    def check_there(self) -> None:
        """Raises LibraryNotFound if the library was moved or deleted after it was opened."""

    def examine(self, hash_of: Hash | None = None) -> list[Finding]:
        """Check everything and change nothing. With the function that hashes embedded texts, also
        check every byte of indexes and passages."""

    def repair(self, waiting: Waiting | None = None, hash_of: Hash | None = None) -> list[str]:
        """Repair what can be repaired without a model; returns what was done."""

    def distrust(self, document: DocumentId, digest: str) -> None:
        """Take a damaged document's labels as they are, and forget how it was read: adding the
        bytes with this hash reads them again."""

    def rebuild(self) -> None:
        """Rebuild everything that is derived. Only inside `writing()`."""

    def compact(self, waiting: Waiting | None = None) -> Compacted:
        """Rewrite everything that may still hold bytes of removed documents."""

    def backup(self, target: Path, on_progress: Progress = lambda *_: None) -> Backup:
        """Write everything that can't be rebuilt to one file, while searches and changes
        continue."""


class Views(Protocol):
    """Documents as they were on an earlier day."""

    def as_of(self, when: int | str, where: Where) -> tuple[str, Callable[[], Backend]]:
        """The documents that pass `where`, in the interpretation with this number (or the last one
        before it), or at a point in time. Returns a name for this view, and a function that opens
        it."""


class Nodes(Protocol):
    """Several servers that share a library's rows."""

    def spread(self) -> Spread: ...

    def distribute(self, shards: int | None = None) -> Spread:
        """Spread large tables over all nodes, in this many parts (None: as many as now, or by the
        number of nodes). Continues where an earlier call stopped. Searches continue meanwhile;
        changes of documents wait. Raises DatabaseUnsuitable and LibraryBusy."""

    def gather(self) -> Spread:
        """Bring everything back to one server."""


class AccessTokens(Protocol):
    """Access tokens."""

    def keep(self, token: AccessToken) -> None: ...

    def get(self, id_: str) -> AccessToken | None: ...

    def all(self) -> list[AccessToken]:
        """In the order they were made."""

    def forget(self, id_: str) -> bool:
        """Whether there was one."""


class Conversations(Protocol):
    """Saved questions and answers."""

    def keep(self, conversation: str, kept: KeptTurn) -> None:
        """Add a turn; the first one starts the conversation. A turn is deleted with any document it
        was made from."""

    def turns(self, conversation: str, where: Where) -> list[KeptTurn]:
        """In order: turns whose audiences the caller has and whose documents all pass `where`."""

    def all(self, where: Where) -> list[Conversation]:
        """By name: conversations with a turn that the caller may see."""

    def forget(self, conversation: str, where: Where) -> int:
        """Delete the turns that the caller may see; returns how many."""


class WatchedFolders(Protocol):
    """The folders that a server follows."""

    def keep(self, folder: WatchedFolder) -> None: ...

    def all(self) -> list[WatchedFolder]:
        """In the order they were added."""

    def forget(self, id_: str) -> bool:
        """Whether there was one. Its documents stay."""


class KeptSources(Protocol):
    """Synced sources: how far each got, and what failed."""

    def keep(self, source: KeptSource) -> None:
        """Add a source, or replace the one with this name and everything known about it."""

    def get(self, name: str) -> KeptSource | None: ...

    def all(self) -> list[KeptSource]:
        """In the order they were added."""

    def forget(self, name: str) -> bool:
        """Whether there was one. Its failures go too; its documents stay."""

    def advance(self, point: SyncPoint) -> None:
        """Save a cursor without a document. `Writer.put` saves the one that a document carries
        (`Processed.point`) in the same transaction."""

    def record(self, name: str, run: SyncRun) -> None:
        """What its last run did, or has done so far."""

    def pause(self, name: str, paused: bool) -> None: ...

    def failures(self, name: str) -> list[SyncFailure]:
        """By item."""

    def settle(self, name: str, failed: Sequence[SyncFailure], done: Sequence[str] | None) -> None:
        """Record failures, and clear those of `done` (None: of all other items)."""


class QueryLog(Protocol):
    """What people asked. Only for the owner."""

    def note(self, queries: Sequence[LoggedQuery]) -> None:
        """One more entry for each, in one transaction."""

    def count(self, queries: Sequence[LoggedQuery]) -> None:
        """Add each to the entry of the same day, text and caller, if there is one; in one
        transaction."""

    def all(self, since: str = "") -> list[LoggedQuery]:
        """The newest first."""

    def totals(self, since: str = "", page: LogPage = LogPage()) -> list[Asked]:
        """Each text once, over all its entries since then: the most asked first, then by text."""

    def forget(self, before: str) -> int:
        """Delete entries from before this time; how many."""

    def trim(self, most: int) -> int:
        """Delete the oldest entries beyond so many; how many."""


class Alerts(Protocol):
    """Saved searches, and what matched them."""

    def keep(self, alert: Alert) -> None:
        """Save a new alert, or a changed one."""

    def all(self) -> list[Alert]:
        """In the order they were made."""

    def forget(self, id_: str) -> bool:
        """Whether there was one. Its hits go with it."""

    def note(self, hits: Sequence[AlertHit]) -> None:
        """Record hits; an alert keeps the last one for each document."""

    def hits(self, limit: int | None = None) -> list[AlertHit]:
        """The newest first."""


@dataclass(frozen=True)
class Backend:
    """The parts of one library's backend. `trivium.store.open_backend` opens the one at an
    address."""

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
    views: Views | None  # None: it can't show an earlier day
    folder: Path | None  # on this machine, so sources skip it; None: elsewhere
    close: Callable[[], None]
    nodes: Nodes | None = None  # None: it stays on one machine
    is_elsewhere: bool = False  # a server computes the signals, not this process
