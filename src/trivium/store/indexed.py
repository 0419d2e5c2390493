"""What search indexes need to know of a chunk, whichever store they belong to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from trivium.core.types import Chunk, ChunkId, DocumentId

if TYPE_CHECKING:
    from trivium.core.types import Vector


@dataclass(frozen=True, slots=True)
class IndexedChunk:
    """A chunk as an index takes it up."""

    id: ChunkId
    document: DocumentId
    language: str
    text: str  # context and passage
    vector: Vector | None


def searched_text(chunk: Chunk) -> str:
    """The text for the keyword and trigram signals: the headings above a passage count too."""
    return f"{chunk.context}\n{chunk.text}"
