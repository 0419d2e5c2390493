"""Every seam of Trivium on one page: what a part must do to take another's place.

Protocols only. `trivium.testing` holds the suites that an implementation must pass.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Generator as Pieces
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias, runtime_checkable

from trivium.answers import Conversation, KeptTurn
from trivium.history import Interpretation
from trivium.types import (
    Chunk,
    ChunkId,
    Collection,
    Document,
    DocumentId,
    Extraction,
    Hit,
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

if TYPE_CHECKING:
    from trivium.types import Vector, Vectors


@dataclass(frozen=True, slots=True)
class Blob:
    """The bytes of one document, and the name they came under."""

    name: str
    data: bytes


class Extractor(Protocol):
    """Turns bytes into text with structure. Pure: the same bytes give the same extraction."""

    version: str  # part of the pipeline's fingerprint: bump it when the output changes

    def accepts(self, blob: Blob) -> bool: ...

    def extract(self, blob: Blob) -> Extraction:
        """Raises ReadError when the bytes cannot be read."""
        ...


class Tokens(Protocol):
    """Counts tokens the way some model does."""

    name: str

    def count(self, text: str) -> int: ...


class Chunker(Protocol):
    """Cuts an extraction into passages that cover its text in order."""

    fingerprint: str

    def chunk(self, extraction: Extraction) -> tuple[Chunk, ...]: ...

    def note(self, extraction: Extraction, chunks: Sequence[Chunk]) -> str:
        """What a person must know about this chunking, such as what was left out; else nothing."""
        ...


class Summariser(Protocol):
    """Says in a line or two what a document is about, for the model that embeds its chunks."""

    fingerprint: str

    def summarise(self, extraction: Extraction) -> str:
        """One paragraph, or nothing where there is nothing to say. May raise ModelError."""
        ...


class Embedder(Protocol):
    """Turns texts into unit vectors."""

    fingerprint: str  # names model, weights and arithmetic: equal means interchangeable vectors
    dimensions: int

    def embed_documents(self, texts: Sequence[str]) -> Vectors: ...

    def embed_query(self, text: str) -> Vector: ...


@runtime_checkable
class Lexicon(Protocol):
    """An embedder that can say which words it was taught as a whole."""

    def knows(self, word: str) -> bool: ...


class TokenEmbedder(Embedder, Protocol):
    """An embedder that can give its vector of every token too, out of the same pass."""

    def embed_with_tokens(self, texts: Sequence[str]) -> tuple[Vectors, Sequence[TokenVectors]]:
        """What `embed_documents` gives, and each text's token vectors, packed; empty bytes where
        the model gives none."""
        ...

    def embed_query_tokens(self, text: str) -> tuple[Vectors, Sequence[str]]:
        """A unit vector for each token of a query, and the text of the word it belongs to; empty
        for marks. Raises ModelUnavailable where the model gives vectors of whole texts only."""
        ...


LONGEST_PASSAGE = 4_000  # characters of a passage that a reranker reads


class Reranker(Protocol):
    """Judges how well passages answer a query, by reading both."""

    fingerprint: str

    def scores(self, query: str, passages: Sequence[StoredChunk]) -> Sequence[float]:
        """One for each passage, in order, higher is better, 0..1. Raises ModelError."""
        ...


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a conversation with a language model."""

    role: Literal["system", "user", "assistant"]
    text: str
    images: tuple[tuple[str, bytes], ...] = ()  # media type and file, for a model that sees


@dataclass(frozen=True, slots=True)
class Generated:
    """What a language model wrote, and the tokens it took; 0 where nobody counted them."""

    text: str
    prompt_tokens: int
    completion_tokens: int


class Generator(Protocol):
    """Writes text from messages."""

    name: str
    window: int  # tokens that prompt and answer may have together

    def generate(self, messages: Sequence[Message], most_tokens: int) -> Generated:
        """Raises ModelError."""
        ...

    def stream(self, messages: Sequence[Message], most_tokens: int) -> Pieces[str, None, Generated]:
        """Piece by piece; the return value is the whole, with its tokens. Raises ModelError,
        perhaps in the middle; close it to stop early."""
        ...


@dataclass(frozen=True, slots=True)
class SourceItem:
    """Something a source offers: bytes to extract, or a text that needs no extraction."""

    uri: str
    name: str
    content: Callable[[], bytes] | Extraction  # called once; raises ReadError
    size: int = 0  # bytes, for progress; 0 when unknown
    enclosed: bool = False  # it lies within another item that was offered before
    title: str = ""  # where the source knows it better than the file
    metadata: Metadata = field(default_factory=dict)  # the same
    # A file that this one names, where the source finds it and may read it; else None.
    beside: Callable[[str], SourceItem | None] | None = None
    # Whether another uri of this source is still there; without it, or in doubt: it is.
    exists: Callable[[str], bool] | None = None


class Source(Protocol):
    """Where documents come from."""

    def items(self) -> Iterator[SourceItem]: ...


class Blobs(Protocol):
    """Keeps bytes, each once, under an address that a document remembers."""

    def put(self, data: bytes) -> str:
        """Durably, before its address comes back. The same bytes have the same address."""
        ...

    def get(self, address: str) -> bytes:
        """As they were put, which is checked. Raises OriginalMissing, OriginalDamaged."""
        ...

    def has(self, address: str) -> bool: ...

    def delete(self, address: str) -> None:
        """What is not there is no error."""
        ...

    def addresses(self) -> Iterator[tuple[str, float]]:
        """Of everything that is kept, each with the seconds since it was last put."""
        ...


Waiting: TypeAlias = Callable[[str], None]


class Store(Protocol):
    """Keeps documents and answers one signal at a time. Fusion is not its business."""

    def manifest(self) -> Manifest: ...

    # writing: only inside `writing()`
    def writing(self, waiting: Waiting | None = None) -> AbstractContextManager[None]:
        """One process writes at a time. While another does, `waiting` is told why nothing moves.
        On leaving, everything written can be found. Nested use is free."""
        ...

    def put(self, batch: Sequence[Processed], model: str) -> list[Document]:
        """Keep every document of the batch; each becomes a new active interpretation, and the one
        before it is hidden in the same instant. `model` names the embedder of the vectors. One
        that only repeats another under a new uri becomes a name of it (`store.identity`)."""
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

    def embeddings(self, model: str, hashes: Sequence[str]) -> Mapping[str, Vector]:
        """Vectors already known by the hash of what was embedded."""
        ...

    def summary(self, content_hash: str, summariser: str) -> str | None:
        """What this summariser, by its fingerprint, said of these bytes; None: nothing yet."""
        ...

    def set_chunker(self, collection: str, chunker: str) -> None:
        """How the documents of a collection are cut from now on."""
        ...

    def archive(self, data: bytes) -> str:
        """Keep the bytes of a document that is about to be put: its `original` comes back. They go
        with the last interpretation that refers to them. Any thread may call it at any time."""
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

    def find(self, uri: str, collection: str) -> Document | None:
        """By any of its names."""
        ...

    def alike(self, content_hash: str, collection: str) -> list[Document]:
        """By id: those whose source was last seen with these bytes."""
        ...

    def within(self, uri: str, collection: str) -> list[Document]:
        """By id: those that lie within this file, such as attachments."""
        ...

    def documents(
        self, where: Where, *, offset: int = 0, limit: int | None = None
    ) -> list[Document]:
        """By id."""
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

    # searching
    def search(self, signal: Signal, probe: Probe, where: Where, k: int) -> list[Hit]:
        """The k best active chunks that pass `where`, score descending, then chunk id."""
        ...

    def spellings(self, words: Sequence[str], where: Where) -> Mapping[str, tuple[Spelled, ...]]:
        """For each folded word: itself, if a chunk that passes `where` holds it; else what it may
        be a misspelling of among the words of those chunks. See `text.misspelling.spell`."""
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

    def rarities(self, words: Sequence[str]) -> Sequence[float]:
        """BM25's idf of each folded word among all chunks. It weighs words and is never shown, so
        it takes no `where`."""
        ...

    def token_vectors(self, ids: Sequence[ChunkId], where: Where) -> Mapping[ChunkId, TokenVectors]:
        """What was kept for late interaction, of the library's model; unknown ones are left out."""
        ...

    def field_names(self, where: Where) -> frozenset[str]:
        """Every metadata field that some document has."""
        ...

    # conversations: outside `writing()` too, since no index knows of them
    def keep_turn(self, conversation: str, kept: KeptTurn) -> None:
        """Add a turn; a conversation begins with its first. It goes when a document goes that it
        was made from."""
        ...

    def turns(self, conversation: str, where: Where) -> list[KeptTurn]:
        """In order: those all of whose audiences the caller holds, and all of whose documents pass
        `where`."""
        ...

    def conversations(self, where: Where) -> list[Conversation]:
        """By name: those with a turn that may be seen."""
        ...

    def forget_conversation(self, conversation: str, where: Where) -> int:
        """Remove the turns that may be seen; how many comes back."""
        ...

    def refresh(self) -> None:
        """Afterwards reads see all earlier writes, of any process."""
        ...

    def close(self) -> None: ...
