"""Puts the parts of a library together as the settings say: model, chunker, readers.

The only place that knows both the settings and the parts. Nothing is loaded before it is used:
whoever only searches imports no reader of files.
"""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from trivium.config import Settings
from trivium.config.secrets import key
from trivium.core.errors import BadSetting, ModelUnavailable
from trivium.core.types import OWNER
from trivium.models import cuda
from trivium.models.catalogue import DEEP, SPEECH_WEIGHTS, named, named_for
from trivium.models.cross_encoder import CrossEncoder
from trivium.models.endpoint import Endpoint
from trivium.models.hub import carrier_folder, local_copy, model_folder, need
from trivium.models.kinds import Calls, kind_of
from trivium.models.late import LateReranker
from trivium.models.local import LocalEmbedder
from trivium.models.weights import NAME as BUILT_IN
from trivium.ports import (
    Backend,
    Chunker,
    CountingEmbedder,
    Embedder,
    Generator,
    Reader,
    Reranker,
    Summariser,
    TokenEmbedder,
    Tokens,
)
from trivium.search.deep import TOKENS as DEEP_TOKENS
from trivium.store.opening import BackendOptions
from trivium.text.tokens import Cl100kTokens, StricterTokens

if TYPE_CHECKING:
    from trivium.extract.sandbox import Sandbox
    from trivium.ingest.extractors import ChunkingPlan
    from trivium.models.docling import Docling
    from trivium.models.document_intelligence import DocumentIntelligence

T = TypeVar("T")
# Of the tokens that the model reads, what is kept free in front of a chunk: its headings and the
# summary of its document, at most 60. Two more open and close every text.
_CONTEXT_TOKENS = 80
_MARKS = 2
# All attempts of a remote call together, in times of one: a rate limit lasts up to a minute, which
# is one time at the default.
_PATIENCE = 3


def embedder_for(settings: Settings) -> Embedder:
    """The embedding model that the settings name. Neither its weights nor its endpoint are looked
    for yet; a folder that is named but is no model raises ModelUnavailable."""
    s = settings
    if not s.embed_url:
        return local_embedder_for(s)
    there = _endpoint(s, "embed")
    calls = Calls(
        dimensions=s.embed_dimensions,
        query_prefix=s.embed_query_prefix,
        document_prefix=s.embed_document_prefix,
        batch=s.embed_batch,
        parallel=s.embed_parallel,
        query_seconds=s.embed_query_seconds,
    )
    return _made(kind_of(there).embedder, there)(there, calls)


def local_embedder_for(settings: Settings) -> LocalEmbedder:
    return LocalEmbedder(
        settings.embed_folder or _folder_by_name(settings),
        settings.cache,
        settings.embed_threads,
        settings.embed_max_tokens,
        settings.embed_query_prefix,
        settings.embed_document_prefix,
        settings.embed_dimensions,
        device=settings.embed_device,
    )


def _folder_by_name(settings: Settings) -> Path | None:
    """Of the model that `embed.model` names; None: the built-in one."""
    if settings.embed_model in ("", BUILT_IN):
        return None
    return need(named_for(settings.embed_model, "embedding"), settings.cache)


def _endpoint(settings: Settings, role: str, patience: float = _PATIENCE) -> Endpoint:
    """Where the model for a role is, from the settings that begin with the role's name."""
    parts = ("url", "model", "key_file", "key_header", "seconds")
    url, model, key_file, header, seconds = (getattr(settings, f"{role}_{part}") for part in parts)
    return Endpoint(role, url, model, key(role, key_file), header, seconds, seconds * patience)


def _made(factory: T | None, there: Endpoint) -> T:
    if factory is None:
        raise BadSetting(
            f"`{there.role}.url` names a service that has no models for this.",
            fix="Set another address.",
        )
    return factory


def remote_reranker_for(settings: Settings) -> Reranker | None:
    """The reranker at `rerank.url`; None if there is none."""
    if not settings.rerank_url:
        return None
    there = _endpoint(settings, "rerank", 1)  # a person waits: retries happen within the same time
    return _made(kind_of(there).reranker, there)(there)


def reranker_for(settings: Settings, embedder: Embedder, store: Backend) -> Reranker | None:
    """Behind `rerank.url`, or in `rerank.folder`, or the embedding model's own token vectors; None
    where that model has none."""
    if settings.rerank_url:
        return remote_reranker_for(settings)
    model = settings.rerank_folder or (settings.rerank_model and Path(settings.rerank_model))
    if model and not is_deep(settings):
        folder = model_folder(model, settings.cache)
        from trivium.models.colbert import ColbertReranker, is_colbert

        if is_colbert(folder):
            return ColbertReranker(folder, settings.cache, settings.embed_threads)
        return CrossEncoder(folder, settings.embed_threads, cache=settings.cache)
    if isinstance(embedder, TokenEmbedder):
        # The chunks were found under the caller's own filter.
        return LateReranker(
            embedder,
            lambda ids: store.signals.token_vectors(ids, OWNER, embedder.fingerprint),
            store.signals.rarities,
        )
    return None


def is_deep(settings: Settings) -> bool:
    """Whether the settings name the cross-encoder whose share is fitted: then it always reads what
    the built-in reranker ordered."""
    named_so = settings.rerank_model.lower() == DEEP
    return named_so and not settings.rerank_url and settings.rerank_folder is None


def deep_reranker_for(settings: Settings) -> CrossEncoder | None:
    """The cross-encoder for deep reranking; None if it isn't on this machine."""
    model = named(DEEP)
    folder = local_copy(model, settings.cache)
    if folder is None and (is_deep(settings) or carrier_folder(model)):
        # A copy of the package's files, which stays if the package goes; else how to get it.
        folder = model_folder(Path(DEEP), settings.cache)
    if folder is None:
        return None
    return CrossEncoder(folder, settings.embed_threads, DEEP_TOKENS, settings.cache)


def token_embedder_for(settings: Settings, embedder: Embedder) -> TokenEmbedder | None:
    """The embedder, if its token vectors are to be stored for reranking."""
    return embedder if settings.rerank_store and isinstance(embedder, TokenEmbedder) else None


def generator_for(settings: Settings) -> Generator | None:
    """The language model at `generate.url`; None if there is none."""
    s = settings
    if not s.generate_url:
        return None
    there = _endpoint(s, "generate")
    make = _made(kind_of(there).generator, there)
    return make(there, s.generate_window, s.generate_temperature)


def chunker_for(settings: Settings, embedder: Embedder, strategy: str = "") -> Chunker:
    """Counts tokens by cl100k, and by a local model's own tokens: text that the model doesn't read
    can't be found by it. `strategy` replaces the one in the settings."""
    tokens: Tokens = Cl100kTokens()
    if isinstance(embedder, CountingEmbedder):
        tokens = StricterTokens(Cl100kTokens(), embedder.tokens)
    return _plan(settings, embedder, strategy).chunker(tokens)


def _plan(settings: Settings, embedder: Embedder, strategy: str) -> ChunkingPlan:
    from trivium.chunk.recursive import MIN_SIZE
    from trivium.ingest.extractors import ChunkingPlan

    # Sections of 2,000 tokens, of which the model read 512: vector recall@5 63 %, of 400: 81 %.
    s = settings
    size, ceiling = s.chunk_size, s.chunk_ceiling
    if isinstance(embedder, CountingEmbedder):
        room = max(MIN_SIZE, embedder.max_tokens - _CONTEXT_TOKENS - _MARKS)
        size, ceiling = min(size, room), min(ceiling, room)
    return ChunkingPlan(
        size,
        min(s.chunk_overlap, size // 4),
        min(s.chunk_minimum, size // 4),
        ceiling,
        s.chunk_most,
        strategy or s.chunk_strategy,
        s.chunk_limit,
        # Nobody asked for the ceiling where papers are met by chance.
        wanted=0 if (strategy or s.chunk_strategy) == "auto" else s.chunk_ceiling,
    )


def file_chunking(settings: Settings, embedder: Embedder, strategy: str = "") -> ChunkingPlan:
    """How the processes that read files chunk them: the same as `chunker_for`."""
    plan = _plan(settings, embedder, strategy)
    if isinstance(embedder, CountingEmbedder):
        with suppress(ModelUnavailable):
            file = str(embedder.tokenizer_file())
            return replace(plan, tokenizer=file, lower=embedder.lowers)
    return plan


def summariser_for(settings: Settings, generator: Generator | None) -> Summariser | None:
    if settings.chunk_summary == "extractive":
        from trivium.text.summary import ExtractiveSummariser

        return ExtractiveSummariser()
    if settings.chunk_summary == "off":
        return None
    if settings.chunk_summary != "model":
        raise BadSetting(
            f"`chunk.summary` can't be {settings.chunk_summary!r}.",
            fix="Give off, extractive or model.",
        )
    if generator is None:
        raise BadSetting(
            "`chunk.summary` is `model`, but no language model is set up.",
            fix="Set `generate.url`.",
        )
    from trivium.ingest.summarising import ModelSummariser

    return ModelSummariser(generator)


def reader_for(settings: Settings, generator: Generator | None, read: Reader) -> Reader:
    """With a service that reads, it is asked first; with a model that sees, pictures are described
    too."""
    from trivium.extract.detect import reader_name
    from trivium.extract.images import ImageExtractor
    from trivium.ingest.describing import Describing
    from trivium.ingest.extractors import extractors
    from trivium.ingest.remote_reading import RemoteReading

    if settings.read_url:
        read = RemoteReading(read, remote_reader_for(settings))
    if not settings.generate_vision:
        return read
    if generator is None:
        raise BadSetting(
            "`generate.vision` is on, but no language model is set up.", fix="Set `generate.url`."
        )
    images = next(e for e in extractors(reading(settings)) if isinstance(e, ImageExtractor))
    return Describing(read, generator, reader_name(images))


def remote_reader_for(settings: Settings) -> DocumentIntelligence | Docling:
    from trivium.models import docling
    from trivium.models.document_intelligence import DocumentIntelligence
    from trivium.models.http import Client

    client = Client(_endpoint(settings, "read"), max_bytes=settings.read_memory)
    is_docling = settings.read_model == docling.NAME
    return docling.Docling(client) if is_docling else DocumentIntelligence(client)


def readers_for(settings: Settings) -> int:
    """How many files are read at once: where the processors embed, one in four reads, else one in
    two. On two of them, two readers add 320 passages a second and one adds 270."""
    least, share, most = (1, 4, 4) if embeds_by_processor(settings) else (2, 2, 8)
    return settings.read_workers or min(most, max(least, (os.cpu_count() or 2) // share))


def embeds_by_processor(settings: Settings) -> bool:
    """Not a GPU or a service elsewhere."""
    return not settings.embed_url and not cuda.is_for_documents(settings.embed_device)


def recordings_for(settings: Settings, read: Reader, hear: Reader) -> Reader:
    """Recordings are read by `hear`, which has a process of its own."""
    from trivium.ingest.recordings import RecordingReading

    service = None
    if settings.audio_url:
        from trivium.models.http import Client
        from trivium.models.transcriptions import Transcriptions

        service = Transcriptions(Client(_endpoint(settings, "audio")), settings.audio_language)
    model = f"{settings.audio_model}:{settings.audio_language}"
    return RecordingReading(read, hear, model, settings.cache / "transcripts", service)


def sandbox_for(settings: Settings, workers: int = 0) -> Sandbox:
    from trivium.extract.sandbox import Sandbox
    from trivium.ingest.extractors import CHUNKER, FACTORY

    options, models = reading(settings), [os.fspath(settings.cache)]
    if speech := options.get("audio_folder"):  # may be anybody's, or links to where the hub's are
        models += [speech, os.fspath((Path(speech) / SPEECH_WEIGHTS).resolve().parent)]
    return Sandbox(
        workers or readers_for(settings),
        settings.read_seconds,
        settings.read_memory,
        max_bytes=settings.read_max_bytes,
        extractors=FACTORY,
        chunker=CHUNKER,
        chunks_all=not embeds_by_processor(settings),
        settings=options,
        isolated=settings.read_isolate,
        readable=models,
    )


def backend_options(settings: Settings, *, create: bool = True) -> BackendOptions:
    """The settings that a backend needs besides its address."""
    return BackendOptions(
        create=create,
        archive=settings.archive_folder,
        fields=settings.known_fields if settings.index_fields else None,
        incoming=settings.serve_incoming_bytes,
        incoming_folder=settings.serve_incoming_folder,
    )


def reading(settings: Settings) -> dict[str, str]:
    """The settings that readers of files need."""
    vision = settings.generate_model if settings.generate_vision else ""
    return {
        "ocr": settings.read_ocr,
        "languages": settings.read_languages,
        "vision": vision,
        "remote": settings.read_model if settings.read_url else "",
        **_hearing(settings),
    }


def _hearing(settings: Settings) -> dict[str, str]:
    """The settings of readers of recordings: which model hears, and where it is."""
    name = settings.audio_model
    options = {
        "audio": name,
        "audio_language": settings.audio_language,
        "audio_device": settings.audio_device,
    }
    if settings.audio_url:
        return options | {"audio_remote": name}
    folder: Path | None = Path(name).expanduser().resolve()  # readers start in another folder
    if not (folder and (folder / SPEECH_WEIGHTS).is_file()):
        model = named_for(name, "speech")
        folder = local_copy(model, settings.cache) or carrier_folder(model)
        if folder is None:
            try:
                need(model, settings.cache)
            except ModelUnavailable as error:
                from trivium.extract.recordings import INSTALL

                return options | {"audio_missing": f"{INSTALL} {error.message} {error.fix}"}
    return options | {"audio_folder": os.fspath(folder or "")}
