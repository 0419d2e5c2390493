"""Where documents, originals and jobs are kept, and found again."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeAlias

from trivium.history import Interpretation
from trivium.ports.beside import AccessTokens, ConversationStore, WatchedFolders
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
from trivium.work import Job, JobId, Offered, Task, TaskEnd, TaskId

if TYPE_CHECKING:
    from trivium.types import Vector


Waiting: TypeAlias = Callable[[str], None]


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

    def delete(self, address: str) -> None:
        """What is not there is no error."""
        ...

    def addresses(self) -> Iterator[tuple[str, float]]:
        """Of everything that is kept, each with the seconds since it was last put."""
        ...


class Queue(Protocol):
    """The jobs of a library as a worker sees them; the one process that writes works them off."""

    def job(self, job: JobId) -> Job | None: ...

    def recover(self) -> list[Job]:
        """Take over from a worker that died. The unfinished jobs, first to be worked on first."""
        ...

    def claim(self, limit: int, before: tuple[int, JobId] | None = None) -> list[Task]:
        """The next tasks of the job that comes first; `before`: of those ahead of this one."""
        ...

    def reserve(self, count: int) -> range:
        """Numbers for new tasks."""
        ...

    def extend(self, met: Sequence[tuple[TaskId, JobId, TaskId, Offered]]) -> None:
        """Tasks, with job and parent, that this process has met and works on."""
        ...

    def end(self, ends: Sequence[TaskEnd]) -> None:
        """Tasks that ended without a document being put: that takes its own with it."""
        ...

    def release(self, ids: Sequence[TaskId], *, lost: bool = False) -> None:
        """What this process does not finish waits for another. `lost`: it cannot go on, and one of
        these may be why. A task that is lost twice has failed."""
        ...

    def note_steps(self, steps: Mapping[TaskId, str]) -> None: ...

    def cancelled(self, some: Sequence[JobId]) -> set[JobId]: ...


class ModelStore(Protocol):
    """How a library comes to another embedding model: the vectors of the new one are made beside
    those that serve, and then all of them serve at once."""

    def describe_model(self, model: str, settings: Mapping[str, str]) -> None:
        """How to load the model of the vectors, for the manifest. No secrets."""
        ...

    def changing_model(self, waiting: Waiting | None = None) -> AbstractContextManager[None]:
        """One process at a time makes vectors of another model; the others wait, and are told."""
        ...

    def begin_model(self, model: str, settings: Mapping[str, str]) -> None:
        """Name the model whose vectors are to come. Those made for a third are dropped."""
        ...

    def unembedded(self, model: str, after: ChunkId, limit: int) -> list[Unembedded]:
        """Active chunks above this id that `model` has no vector of, by id."""
        ...

    def count_unembedded(self, model: str) -> int:
        """How many different texts that are in all."""
        ...

    def keep_beside(
        self, model: str, vectors: Mapping[str, Vector], tokens: Mapping[str, TokenVectors]
    ) -> None:
        """By the hash of what was embedded; what no chunk needs any more is not kept. Needs no
        `writing`. Raises ReembedStopped where this model is not the one to come."""
        ...

    def prepare_model(self, model: str) -> None:
        """Make ready what can be before the switch. Needs no `writing`."""
        ...

    def switch_model(self, model: str) -> None:
        """From one instant to the next all searches use the vectors of this model. Raises
        NotEmbedded where a chunk has none. Only inside `writing()`."""
        ...

    def abandon_model(self) -> None:
        """No other model is to come; what was made for it is dropped."""
        ...

    def drop_other_models(self) -> None:
        """Delete the vectors of models that neither serve nor are to."""
        ...


class Store(AccessTokens, ModelStore, ConversationStore, WatchedFolders, Protocol):
    """Keeps documents and answers one signal at a time. Fusion is not its business."""

    def manifest(self) -> Manifest: ...

    # writing: only inside `writing()`
    def writing(
        self, waiting: Waiting | None = None, patience: float | None = None
    ) -> AbstractContextManager[None]:
        """One process writes at a time. While another does, `waiting` is told why nothing moves,
        and after `patience` seconds (None: as the store was told) LibraryBusy is raised. On
        leaving, everything written can be found. Nested use is free."""
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
        read nor embedded again. Its category stays, and so does its audience, unless the old text
        had a narrower one (`store.identity.restored_label`). Raises DocumentNotFound."""
        ...

    def prune(self, where: Where, *, keep: int = 1, before: str = "") -> int:
        """Drop interpretations for good: of each document all but the newest `keep`, and with
        `before` only what was retired earlier. Active ones stay, and so do those that `where` does
        not let pass. How many went comes back."""
        ...

    def embeddings(
        self, model: str, hashes: Sequence[str], sender: str = ""
    ) -> Mapping[str, Vector]:
        """Vectors already known by the hash of what was embedded; with a sender, only those of
        passages in that token's own documents."""
        ...

    def keep_vectors(self, model: str, vectors: Mapping[str, Vector]) -> None:
        """Vectors by the hash of what was embedded, for documents that lack others still: they are
        found by `embeddings`, and by no search."""
        ...

    def summary(self, content_hash: str, summariser: str, sender: str = "") -> str | None:
        """What this summariser, by its fingerprint, said of these bytes; None: nothing yet. With a
        sender, only of that token's own documents."""
        ...

    def set_chunker(self, collection: str, chunker: str) -> None:
        """How the documents of a collection are cut from now on."""
        ...

    def archive(self, data: bytes) -> str:
        """Keep the bytes of a document that is about to be put: its `original` comes back. They go
        with the last interpretation that refers to them. Any thread may call it at any time."""
        ...

    def rearchive(self, address: str, data: bytes) -> None:
        """Put back a document's original where it is missing or cut short, from the same bytes.
        Any thread may call it at any time."""
        ...

    # the registry
    def original(self, address: str) -> bytes:
        """The bytes at a document's `original`. Raises OriginalMissing, OriginalDamaged."""
        ...

    def chunker(self, collection: str) -> str:
        """The chunker that a collection was given; empty: none."""
        ...

    def collections(self, where: Where) -> list[Collection]:
        """By name: those that hold a document which passes `where`, and for the owner without a
        condition also those that were given a chunker before their first document."""
        ...

    def counts(self, label: Label, where: Where) -> dict[str, int]:
        """How many documents that pass have each value of a label."""
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

    def summarised(self, document: DocumentId) -> Summarised | None:
        """What its active interpretation was embedded under. None: it is not there."""
        ...

    def below(self, prefix: str, collection: str) -> list[str]:
        """Every uri that begins so, other names of documents among them, sorted."""
        ...

    def within(self, uri: str, collection: str) -> list[Document]:
        """By id: those that lie within this file, such as attachments."""
        ...

    def documents(
        self, where: Where, *, after: DocumentId = 0, limit: int | None = None
    ) -> list[Document]:
        """By id, those above `after`."""
        ...

    def sketches(
        self, where: Where, like: Sequence[DocumentId] | None = None
    ) -> Mapping[DocumentId, bytes]:
        """`text.nearness.sketch` of the active texts; with `like`, only of these documents and of
        those that share enough keys with one of them to be worth comparing (of those that share
        a key with very many, perhaps not all)."""
        ...

    def history(self, document: DocumentId, where: Where) -> list[Interpretation]:
        """Every interpretation that is kept, by number. An old one is there for who holds both its
        document's label and the one that it had itself, here and in `text` and `passages`."""
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

    # searching
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

    def chunks(self, ids: Sequence[ChunkId], where: Where) -> list[StoredChunk]:
        """In the order asked; what is missing, hidden or not allowed is skipped."""
        ...

    def around(
        self, ids: Sequence[ChunkId], before: int, after: int, where: Where
    ) -> Mapping[ChunkId, Neighbours]:
        """Up to so many chunks before and after each, in one round trip. Missing ids are left
        out."""
        ...

    def vectors(self, ids: Sequence[ChunkId], where: Where) -> Mapping[ChunkId, Vector]:
        """The vectors of chunks; those without one are left out."""
        ...

    def rarities(self, words: Sequence[str], where: Where) -> Sequence[float]:
        """BM25's idf of each folded word among all chunks that the caller may see (`where.access`):
        a filter makes no word rarer, a hidden document no word more common."""
        ...

    def token_vectors(
        self, ids: Sequence[ChunkId], where: Where, model: str
    ) -> Mapping[ChunkId, TokenVectors]:
        """What was kept of this model for late interaction; unknown ones are left out."""
        ...

    def field_names(self, where: Where) -> frozenset[str]:
        """Every metadata field that some document has."""
        ...

    def refresh(self) -> None:
        """Afterwards reads see all earlier writes, of any process."""
        ...

    def close(self) -> None: ...
