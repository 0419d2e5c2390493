"""The documents of a library: reading and changing them, finding their passages, embedding them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeAlias

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

if TYPE_CHECKING:
    from trivium.core.history import Interpretation

Waiting: TypeAlias = Callable[[str], None]  # called with the reason for waiting
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
class SenderUsage:
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

    def usage(
        self, *, sender: str | None = None, collection: str | None = None
    ) -> list[SenderUsage]:
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
