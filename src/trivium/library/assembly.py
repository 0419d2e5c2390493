"""Puts the parts of a library together as the settings say: model, chunker, readers.

The only place that knows both the settings and the parts. Nothing is loaded before it is used.
"""

from __future__ import annotations

from contextlib import suppress

from trivium.chunk.choose import AutoChunker
from trivium.config import Settings
from trivium.errors import ModelUnavailable
from trivium.extract.sandbox import Sandbox
from trivium.ingest.reading import FACTORY
from trivium.models.local import LocalEmbedder
from trivium.ports import Chunker, Embedder, Tokens
from trivium.text.tokens import Cl100kTokens

# What the headings in front of a chunk may take of the tokens that the model reads.
_CONTEXT_TOKENS = 48


def embedder_for(settings: Settings) -> LocalEmbedder:
    """The embedding model that the settings name. Its weights are not looked for yet; a folder
    that is named but is no model raises ModelUnavailable."""
    return LocalEmbedder(
        settings.embed_folder,
        settings.cache,
        settings.embed_threads,
        settings.embed_max_tokens,
        settings.embed_query_prefix,
        settings.embed_document_prefix,
    )


def chunker_for(settings: Settings, embedder: Embedder) -> Chunker:
    """Measures by cl100k, or by the model itself where that one cannot read a whole chunk."""
    s = settings
    size = s.chunk_size
    tokens: Tokens = Cl100kTokens()
    room = s.embed_max_tokens - _CONTEXT_TOKENS
    if size > room and isinstance(embedder, LocalEmbedder):
        size = room
        with suppress(ModelUnavailable):
            tokens = embedder.tokens()
    return AutoChunker(
        tokens,
        size,
        min(s.chunk_overlap, size // 4),
        min(s.chunk_minimum, size // 4),
        # What the model does not read it does not find: no ceiling beyond its room.
        ceiling=max(16, min(s.chunk_ceiling, room)),
        most=s.chunk_most,
        strategy=s.chunk_strategy,
    )


def sandbox_for(settings: Settings) -> Sandbox:
    return Sandbox(
        1,
        settings.read_seconds,
        settings.read_memory,
        max_bytes=settings.read_max_bytes,
        extractors=FACTORY,
        settings=reading(settings),
    )


def reading(settings: Settings) -> dict[str, str]:
    """What the readers of files are told."""
    return {"ocr": settings.read_ocr, "languages": settings.read_languages}
