"""Puts the parts of a library together as the settings say: model, chunker, readers.

The only place that knows both the settings and the parts. Nothing is loaded before it is used.
"""

from __future__ import annotations

from trivium.chunk.choose import AutoChunker
from trivium.chunk.recursive import MIN_SIZE
from trivium.config import Settings
from trivium.errors import BadSetting
from trivium.extract.sandbox import Sandbox
from trivium.ingest.reading import FACTORY
from trivium.models.local import LocalEmbedder
from trivium.ports import Chunker, Embedder, Summariser, Tokens
from trivium.text.summary import ExtractiveSummariser
from trivium.text.tokens import Cl100kTokens, StricterTokens

# Of the tokens that the model reads, what is kept free in front of a chunk: its headings and the
# summary of its document, at most 60. Two more open and close every text.
_CONTEXT_TOKENS = 80
_MARKS = 2


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


def chunker_for(settings: Settings, embedder: Embedder, strategy: str = "") -> Chunker:
    """Measures by cl100k, and by the model's own tokens where it runs here: what the model does
    not read it does not find. `strategy` takes the place of the one in the settings."""
    # Sections of 2,000 tokens, of which the model read 512: vector recall@5 63 %, of 400: 81 %.
    s = settings
    size, ceiling = s.chunk_size, s.chunk_ceiling
    tokens: Tokens = Cl100kTokens()
    if isinstance(embedder, LocalEmbedder):
        tokens = StricterTokens(tokens, embedder.tokens)
        room = max(MIN_SIZE, s.embed_max_tokens - _CONTEXT_TOKENS - _MARKS)
        size, ceiling = min(size, room), min(ceiling, room)
    return AutoChunker(
        tokens,
        size,
        min(s.chunk_overlap, size // 4),
        min(s.chunk_minimum, size // 4),
        ceiling=ceiling,
        most=s.chunk_most,
        strategy=strategy or s.chunk_strategy,
    )


def summariser_for(settings: Settings) -> Summariser | None:
    if settings.chunk_summary == "extractive":
        return ExtractiveSummariser()
    if settings.chunk_summary == "off":
        return None
    raise BadSetting(
        f"`chunk.summary` is {settings.chunk_summary!r}.", fix="It takes off or extractive."
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
