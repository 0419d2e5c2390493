"""Everything that the reference keeps, for all of its parts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from trivium.core.answers import KeptTurn
from trivium.core.errors import ModelChanged
from trivium.core.history import Interpretation
from trivium.core.types import Chunk, ChunkId, Document, DocumentId, TokenVectors, Where
from trivium.core.work import KeptSource, SyncFailure, SyncPoint
from trivium.store.where import matches

if TYPE_CHECKING:
    from trivium.core.types import Vector


@dataclass(frozen=True, slots=True)
class Entry:
    """An active chunk with everything the signals look at."""

    document: DocumentId
    chunk: Chunk
    embedded: str
    vector: Vector | None
    stems: list[str]
    spellings: list[str]


@dataclass(frozen=True, slots=True)
class Kept:
    """An interpretation in full."""

    about: Interpretation
    text: str
    first_chunk: ChunkId
    chunks: tuple[tuple[Chunk, str], ...]  # with the hash of what is embedded
    summary: str


@dataclass
class Held:
    documents: dict[DocumentId, Document] = field(default_factory=dict)
    past: dict[DocumentId, list[Kept]] = field(default_factory=dict)
    entries: dict[ChunkId, Entry] = field(default_factory=dict)
    # By content, summariser and sender.
    summaries: dict[tuple[str, str, str], str] = field(default_factory=dict)
    chunkers: dict[str, str] = field(default_factory=dict)  # by collection
    originals: dict[str, bytes] = field(default_factory=dict)  # by address
    turns: list[tuple[str, KeptTurn]] = field(default_factory=list)  # with the conversation's name
    last_document: DocumentId = 0
    last_chunk: ChunkId = 0
    embeddings: dict[tuple[str, str], Vector] = field(default_factory=dict)  # by model and hash
    embedded_texts: dict[str, str] = field(default_factory=dict)  # by hash
    tokens: dict[tuple[str, str], TokenVectors] = field(default_factory=dict)
    model: str = ""
    dimensions: int = 0
    model_settings: tuple[str, Mapping[str, str]] = ("", {})  # how to load which
    grasp: str = ""  # how well the model tells the passages apart
    next: tuple[str, Mapping[str, str]] = ("", {})
    sources: dict[str, KeptSource] = field(default_factory=dict)  # kept in step, by name
    failures: dict[str, dict[str, SyncFailure]] = field(default_factory=dict)  # by source and item

    def passes(self, entry: Entry, where: Where) -> bool:
        """Whether a caller may see this passage and asks for it."""
        return matches(self.documents[entry.document], where, lambda: (entry.chunk.place,))

    def advance(self, point: SyncPoint) -> None:
        if point.source in self.sources:
            source = self.sources[point.source]
            self.sources[point.source] = replace(source, cursor=point.cursor)

    def refuse_other(self, model: str) -> None:
        if self.model and model != self.model:
            raise ModelChanged(f"The vectors come from {self.model}, not {model}.")
