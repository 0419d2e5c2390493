"""The nouns of Trivium, as frozen dataclasses over the standard library and numpy's array type.

All other code uses these words. Nothing here reads, writes, computes or knows of a store, a model
or a file format.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import partial
from typing import TYPE_CHECKING, ClassVar, Literal, NamedTuple, TypeAlias

from trivium.core.conditions import OWNER as OWNER
from trivium.core.conditions import AllOf as AllOf
from trivium.core.conditions import AnyOf as AnyOf
from trivium.core.conditions import Compare as Compare
from trivium.core.conditions import Condition as Condition
from trivium.core.conditions import Exists as Exists
from trivium.core.conditions import MetaScalar as MetaScalar
from trivium.core.conditions import Not as Not
from trivium.core.conditions import Operator as Operator
from trivium.core.conditions import Where as Where
from trivium.core.modes import Combine as Combine
from trivium.core.modes import Granularity as Granularity
from trivium.core.modes import Mode as Mode
from trivium.core.modes import Signal as Signal

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from trivium.core.work import SyncPoint, TaskEnd

# As text: numpy takes 50 ms to load, and `trivium --help` needs none of it.
Vector: TypeAlias = "NDArray[np.float32]"  # one unit row, shape (dimensions,)
Vectors: TypeAlias = "NDArray[np.float32]"  # unit rows, shape (n, dimensions)
ChunkId: TypeAlias = int
TokenVectors: TypeAlias = bytes  # of one text, packed by the model that made them
DocumentId: TypeAlias = int
MetaValue: TypeAlias = MetaScalar | tuple[MetaScalar, ...]
Metadata: TypeAlias = Mapping[str, MetaValue]

EVERYONE = "all"  # the audience label that every caller may see


class Told:
    """Base of the dataclasses that callers get as JSON, every field under its name: keep private
    fields out. OpenAPI and MCP make their schemas from them; pydantic reads the description in a
    field's metadata, and this configuration."""

    __slots__ = ()
    __pydantic_config__: ClassVar[Mapping[str, object]] = {
        "extra": "forbid",
        "json_schema_serialization_defaults_required": True,
    }


def says(description: str) -> Mapping[str, str]:
    """The metadata of a field, as schemas show it."""
    return {"description": description}


# --- reading -------------------------------------------------------------------------------------

ElementKind: TypeAlias = Literal[
    "heading", "paragraph", "list_item", "quote", "table", "code", "row", "message"
]


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle on a page, in points from its top left corner: what to highlight."""

    page: int  # from 1
    left: float
    top: float
    right: float
    bottom: float


@dataclass(frozen=True, slots=True)
class Speaker:
    """Who wrote the message that begins at an offset of a passage, and when."""

    start: int
    author: str
    time: str = ""  # ISO 8601


@dataclass(frozen=True, slots=True)
class PageStart:
    """The offset in a passage or an element at which a page begins, and by how much it may be
    wrong. Pages may go back: a footnote follows the paragraph that ends overleaf."""

    start: int
    number: int
    spread: int = 0


@dataclass(frozen=True, slots=True)
class HeadingStart:
    """The offset in a passage at which a heading begins, and the path down to it."""

    start: int
    path: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Place:
    """Where something is in its document, beyond the text. Everything may be unknown."""

    pages: tuple[int, ...] = ()  # from 1, rising
    boxes: tuple[Box, ...] = ()
    sheet: str = ""
    rows: tuple[int, int] | None = None  # first and last, from 1, as the table's program counts
    authors: tuple[str, ...] = ()  # of a message
    time: str = ""  # of a message, the first of several; ISO 8601
    link: str = ""  # to a message, the first of several
    speakers: tuple[Speaker, ...] = ()  # of a passage: each message that begins in it
    page_starts: tuple[PageStart, ...] = ()  # of what is on several pages, as far as known
    heading_starts: tuple[HeadingStart, ...] = ()  # of a passage: those after its first text
    seconds: tuple[float, float] | None = None  # of a recording: where it begins and ends
    spoken: tuple[tuple[int, float], ...] = ()  # of a recording: offset and second of each word

    def second_at(self, offset: int) -> float | None:
        """When the word at an offset of the passage is said; None if it isn't a recording's."""
        before = [second for start, second in self.spoken if start <= offset]
        return before[-1] if before else self.seconds[0] if self.seconds else None


@dataclass(frozen=True, slots=True)
class Element:
    """One piece of a document's structure: a range of the extraction's text, and its place."""

    kind: ElementKind
    start: int  # offsets into Extraction.text, end exclusive
    end: int
    headings: tuple[str, ...] = ()  # the path above it, outermost first; a heading excludes itself
    level: int = 0  # of a heading, 1 is the top; 0 for everything else
    paragraph: int | None = None  # counted from 1 through the document
    header: str = ""  # a table's header row, to repeat in every chunk of the table
    place: Place = Place()


@dataclass(frozen=True, slots=True)
class Enclosed:
    """A file inside another: an attachment, a member of an archive, an entry of a library."""

    name: str
    data: bytes


class Kind(StrEnum):
    """What sort of thing a document is: decides how it is chunked."""

    TEXT = "text"
    PAPER = "paper"
    TABLE = "table"
    MESSAGES = "messages"


SECTION_LABELS = {
    "summary": "Abstract", "methods": "Methods", "findings": "Results", "content": "Content",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Chunk:
    """A passage: `text` is exactly `extraction.text[start:end]`."""

    index: int  # position in the document, from 0; of a synced message, in its conversation
    start: int
    end: int
    text: str
    headings: tuple[str, ...] = ()
    section: str = ""  # kind of section, if the chunker knows it: summary, methods, ...
    header: str = ""  # table header row that belongs in front of the text
    paragraph: int | None = None  # number of the first paragraph it touches
    tokens: int = 0
    place: Place = Place()

    @property
    def pages(self) -> tuple[int, ...]:
        return self.place.pages

    @property
    def section_label(self) -> str:
        """Name of the kind of section; empty if unknown."""
        return SECTION_LABELS.get(self.section, self.section)

    def headings_at(self, offset: int) -> tuple[str, ...]:
        """The path above a place in its text."""
        begun = [start.path for start in self.place.heading_starts if start.start <= offset]
        return begun[-1] if begun else self.headings

    def path_under(self, title: str) -> list[str]:
        """The kind of section and the headings below the document's title, for people."""
        path = [h for at, h in enumerate(self.headings) if at or h != title]
        label = self.section_label
        named = label.casefold() in (h.strip(" .:0123456789").casefold() for h in path)
        return path if named or not label else [label, *path]

    @property
    def context(self) -> str:
        """The headings above the passage and the header of its table: searched with it."""
        return "\n".join((*self.headings, self.header) if self.header else self.headings)

    @property
    def with_header(self) -> str:
        """The text, with the names of its columns if its table began earlier."""
        return f"{self.header}\n{self.text}" if self.header else self.text

    @property
    def embedded_text(self) -> str:
        """The text for the embedding model: context first, then the passage."""
        return f"{self.context}\n{self.text}" if self.context else self.text

    def embedded_under(self, summary: str) -> str:
        """The same after a summary of its document. People see only the passage."""
        return f"{summary}\n{self.embedded_text}" if summary else self.embedded_text


@dataclass(frozen=True, slots=True)
class Chunked:
    """Chunks of a file, made by the process that read it, so that its elements needn't be sent."""

    chunks: tuple[Chunk, ...]
    fingerprint: str  # of the chunker
    note: str = ""
    summary: str = ""  # in the document's own words
    elements: int = 0  # how many there were
    sketch: bytes = b""  # of the text, see text.nearness


@dataclass(frozen=True, slots=True)
class Extraction:
    """What reading a file yields: the text a person would read, and its structure."""

    text: str
    elements: tuple[Element, ...]
    title: str
    media_type: str
    language: str = ""  # ISO 639-1; empty when nobody could tell
    metadata: Metadata = field(default_factory=dict)
    kind: Kind = Kind.TEXT
    enclosed: tuple[Enclosed, ...] = ()  # become documents of their own, linked to this one
    reader: str = ""  # which extractor made it, with its version
    chunked: Chunked | None = None  # by the process that read it, instead of elements

    @property
    def element_count(self) -> int:
        return len(self.elements) if self.chunked is None else self.chunked.elements


# --- the registry --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Labels:
    """Labels that a person gives when adding documents. None: from the document itself, else as
    before, else the default."""

    collection: str = "default"
    category: str | None = None
    audience: str | None = None
    metadata: Metadata = field(default_factory=dict)
    sender: str = ""  # id of the token that sends them; empty: the owner


@dataclass(frozen=True, slots=True)
class Processed:
    """One document, ready for a store to keep: read, labelled, chunked and (perhaps) embedded."""

    uri: str  # where it came from; with the collection, its key in the registry
    collection: str
    category: str
    audience: str
    metadata: Metadata
    content_hash: str
    size: int
    extraction: Extraction
    chunks: tuple[Chunk, ...]
    hashes: tuple[str, ...]  # of the embedded text of each chunk
    vectors: Vectors | None  # None when no embedding model is at hand
    fingerprint: str  # of the pipeline that made it: extractor, chunker and their settings
    summary: str = ""  # in front of every chunk when it is embedded; kept, but never shown
    summarised_by: str = ""  # fingerprint of the summariser; empty: none was asked
    # By the hash of the embedded text; without those that the store already has.
    tokens: Mapping[str, TokenVectors] = field(default_factory=dict)
    original: str = ""  # address of its bytes in the archive
    timings: Mapping[str, float] = field(default_factory=dict)  # seconds of each step
    task: TaskEnd | None = None  # the task that ends with it, if the store keeps jobs
    point: SyncPoint | None = None  # how far its source is synced once it is stored
    sender: str = ""  # id of the token that sends it; empty: the owner
    # Labels (category, audience) that nobody gave: a store takes those that its document has by
    # then, for another process may have changed them since it was read.
    inherits: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Document:
    """A document as the registry knows it, seen through its active interpretation."""

    id: DocumentId
    uri: str
    title: str
    collection: str
    category: str
    audience: str
    media_type: str
    language: str
    content_hash: str
    size: int
    interpretation: int  # number of the active one, from 1
    fingerprint: str
    chunks: int
    added_at: str  # ISO 8601, UTC
    updated_at: str
    metadata: Metadata = field(default_factory=dict)
    names: tuple[str, ...] = ()  # the other uris under which the same bytes were met
    original: str = ""  # address of its bytes in the archive; empty: not kept
    seen_hash: str = ""  # of the bytes last met at its source, whatever was restored since
    seen_fingerprint: str = ""  # of the pipeline that read those
    sender: str = ""  # id of the token that sent it; empty: the owner


# What documents can be counted by. A type is its short name, as in a filter: pdf, markdown.
Label: TypeAlias = Literal["collection", "category", "type", "language"]


@dataclass(frozen=True, slots=True)
class Collection(Told):
    """A named part of a library, as far as a caller may see it."""

    name: str
    documents: int
    chunks: int
    chunker: str  # how its documents are cut; empty: as the settings say


@dataclass(frozen=True, slots=True)
class StoredChunk:
    """A chunk of an active interpretation, with the identity its store gave it."""

    id: ChunkId
    document: Document
    chunk: Chunk
    # Compares its row with the row's checksum; None: the store has none.
    verify: Callable[[], bool] | None = field(default=None, compare=False, repr=False)

    @property
    def is_intact(self) -> bool:
        """False if its row has changed on disk since it was written."""
        return self.verify is None or self.verify()

    @property
    def link(self) -> str:
        """Where people open it: the message's own, else what its document names; perhaps none."""
        named = self.document.metadata.get("link")
        return self.chunk.place.link or (named if isinstance(named, str) else "")


@dataclass(frozen=True, slots=True)
class Neighbours:
    """The chunks around one in its document or its conversation, in order."""

    before: tuple[StoredChunk, ...] = ()
    after: tuple[StoredChunk, ...] = ()


@dataclass(frozen=True, slots=True)
class Manifest:
    """The model and format of a library."""

    schema: int
    model: str  # fingerprint of the embedding model, empty before the first vector
    dimensions: int  # 0 before the first vector
    settings: Mapping[str, str] = field(default_factory=dict)  # how to load it; no secrets
    next_model: str = ""  # model that the library is changing to
    next_settings: Mapping[str, str] = field(default_factory=dict)


# --- asking --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Term:
    """One word of a query, as typed, case and accents folded."""

    text: str


@dataclass(frozen=True, slots=True)
class Phrase:
    """Words that must be next to each other, in this order."""

    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Figure:
    """A number, a date or a code: one thing, in whatever way a text writes it."""

    words: tuple[str, ...]  # as typed
    forms: tuple[tuple[str, ...], ...] = ()  # of a number or a code: the ways to write it
    days: tuple[tuple[int, int, int], ...] = ()  # of a date: year, month and day, 0 if not said
    digits: str = ""  # of a number, without separators
    decimals: str = ""

    @property
    def is_code(self) -> bool:
        """Letters and digits: an order, a ticket, an account."""
        return not self.days and not self.digits


Part: TypeAlias = "Term | Phrase | Figure"


@dataclass(frozen=True, slots=True)
class Query:
    """A parsed query: each clause is a tuple of alternatives (`a OR b` is one clause)."""

    text: str  # as typed, cleaned of control characters
    clauses: tuple[tuple[Part, ...], ...] = ()
    excluded: tuple[Term | Phrase, ...] = ()
    required: tuple[tuple[Part, ...], ...] = ()  # clauses with a `+`: every signal obeys
    every_word: bool = False  # the keyword signal finds only chunks that hold all clauses

    @property
    def meaning(self) -> str:
        """The text to embed: as typed, but without excluded words and signs."""
        return " ".join(self.words) if self.excluded or self.required else self.text

    @property
    def words(self) -> tuple[str, ...]:
        """Every word asked for, in order, phrases taken apart."""
        words: list[str] = []
        for clause in self.clauses:
            for part in clause:
                if isinstance(part, Term):
                    words.append(part.text)
                else:
                    words += part.words
        return tuple(words)

    @property
    def figures(self) -> tuple[Figure, ...]:
        return tuple(p for clause in self.clauses for p in clause if isinstance(p, Figure))


@dataclass(frozen=True, slots=True)
class Spelled:
    """A word in chunks that a caller may see, or two words next to each other."""

    words: tuple[str, ...]
    chunks: int  # that hold it, counted up to a bound
    inflected: bool = False  # it is the word asked about with another ending


@dataclass(frozen=True, slots=True)
class Probe:
    """Everything a store needs to answer a signal."""

    query: Query
    vector: Vector | None = None
    threshold: float = -1.0  # least similarity for a vector hit
    model: str = ""  # fingerprint of what made the vector: a store refuses those of another


class Hit(NamedTuple):
    """One answer of one signal. Lists of them are ordered by score descending, then chunk id. A
    tuple: a search makes 150 of them, in a third of the time that a frozen dataclass takes."""

    chunk_id: ChunkId
    score: float


def hits_of(ids: NDArray[np.int64], scores: NDArray[np.floating]) -> list[Hit]:
    """The answer of a signal that has it as arrays."""
    return hits_in(zip(ids.tolist(), scores.tolist(), strict=True))


def hits_in(pairs: Iterable[tuple[ChunkId, float]]) -> list[Hit]:
    """The same of pairs: `Hit(…)` for each takes three times as long."""
    return [*map(_new_hit, pairs)]


_new_hit = partial(tuple.__new__, Hit)  # `Hit._make` without the call of a Python function
