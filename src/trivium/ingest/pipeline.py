"""The way of a document into a store: read, compare, extract, label, chunk, embed, put.

Documents travel in batches of about one embedding call, so memory stays bounded however many a
source offers, and each batch is acknowledged when its store has it. One that cannot be read is
reported and the rest goes on. Knows sources, models and stores only through their ports.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING

from trivium.errors import FileDamaged, FileEmpty, ModelUnavailable, ReadError
from trivium.extract.detect import reader_name, too_many_bytes
from trivium.ingest.attached import attached, described, is_library
from trivium.ports import (
    Blob,
    Chunker,
    Embedder,
    Extractor,
    Source,
    SourceItem,
    Store,
    Summariser,
    TokenEmbedder,
)
from trivium.types import EVERYONE, Chunk, Document, Extraction, Kind, Labels, Metadata, Processed

if TYPE_CHECKING:
    from trivium.types import TokenVectors, Vector, Vectors

# Tokens in a batch: 64 full chunks, 4 seconds of embedding on 2 cores. A commit costs 30 ms, so
# less than 1 % of the time; and no one waits longer for a first document to be searchable.
BATCH_TOKENS = 16_384


CHUNKING = "chunking"  # metadata: what a person must know about how a document was cut
DEEPEST = 3  # a file in an archive in a message in a mailbox; deeper ones are counted as its bytes


class Fate(StrEnum):
    """What became of an item."""

    ADDED = "added"
    UPDATED = "updated"
    RELABELLED = "relabelled"
    UNCHANGED = "unchanged"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Outcome:
    uri: str
    fate: Fate
    document: Document | None = None
    error: ReadError | None = None
    size: int = 0
    enclosed: bool = False  # it lies within another item


@dataclass(frozen=True, slots=True)
class _Prepared:
    """A document on its way, still without vectors."""

    processed: Processed
    texts: tuple[str, ...]  # to embed, one for each chunk
    before: Document | None
    enclosed: bool


class Pipeline:
    def __init__(
        self,
        store: Store,
        embedder: Embedder | None,
        chunker: Chunker,
        read: Callable[[Blob], Extraction],
        extractors: Sequence[Extractor],
        *,
        max_bytes: int,
        summariser: Summariser | None = None,
        token_embedder: TokenEmbedder | None = None,
        on_note: Callable[[str], None] = lambda note: None,
    ) -> None:
        self._store = store
        self._embedder = embedder
        self._chunker = chunker
        self._read = read
        # Asked only for their versions: even to look which one takes a file is `read`'s work, done
        # where a hostile file does no harm.
        self._readers = _readers(extractors)
        self._max_bytes = max_bytes
        self._summariser = summariser
        self._token_embedder = token_embedder  # the embedder, where token vectors are to be kept
        self._on_note = on_note
        self.embedding_seconds = 0.0

    def run(self, source: Source, labels: Labels) -> Iterator[Outcome]:
        """Yields an outcome for every item, once its store has it. Stop asking to stop early."""
        batch: dict[str, _Prepared] = {}
        for offered in source.items():
            waiting = [(offered, 0)]
            while waiting:
                item, depth = waiting.pop()
                if item.uri in batch:  # a source that offers one thing twice
                    yield from self._flush(batch)
                prepared = self._prepare(item, labels)
                if isinstance(prepared, Outcome):
                    yield prepared
                    continue
                batch[item.uri] = prepared
                if depth < DEEPEST:
                    extraction = prepared.processed.extraction
                    within = [*_enclosed(item, extraction), *attached(item, extraction)]
                    waiting += [(one, depth + 1) for one in reversed(within)]
                if _tokens(batch) >= BATCH_TOKENS:
                    yield from self._flush(batch)
        yield from self._flush(batch)

    def _prepare(self, item: SourceItem, labels: Labels) -> _Prepared | Outcome:
        try:
            content = self._content(item)
            digest = _digest(content)
            before = self._store.find(item.uri, labels.collection)
            # The model has no part in this: vectors are kept by model and text, and change
            # without a new interpretation.
            if before and before.content_hash == digest and self._is_current(before.fingerprint):
                return self._relabel(item, before, labels)
            extraction = described(item, self._extract(content))
            fingerprint = self._fingerprint(extraction.reader)
            chunks = self._chunker.chunk(extraction)
            if not chunks and not extraction.enclosed:
                raise FileEmpty(f"{item.name} holds no text.")
        except ReadError as error:
            size, enclosed = item.size, item.enclosed
            return Outcome(item.uri, Fate.FAILED, error=error, size=size, enclosed=enclosed)
        category, audience, metadata = _labelled(labels, extraction.metadata, before)
        note = self._chunker.note(extraction, chunks)
        metadata = {name: value for name, value in metadata.items() if name != CHUNKING}
        if note:
            metadata[CHUNKING] = note
        summary = self._summary(extraction, chunks)
        texts = tuple(chunk.embedded_under(summary) for chunk in chunks)
        processed = Processed(
            uri=item.uri,
            collection=labels.collection,
            category=category,
            audience=audience,
            metadata=metadata,
            content_hash=digest,
            size=item.size,
            extraction=extraction,
            chunks=chunks,
            hashes=tuple(_hash(text) for text in texts),
            vectors=None,
            fingerprint=fingerprint,
            summary=summary,
        )
        return _Prepared(processed, texts, before, item.enclosed)

    def _content(self, item: SourceItem) -> Blob | Extraction:
        if isinstance(item.content, Extraction):
            return item.content
        if item.size > self._max_bytes:  # before it is in memory
            raise too_many_bytes(item.name, item.size, self._max_bytes)
        return Blob(item.name, item.content())

    def _extract(self, content: Blob | Extraction) -> Extraction:
        if isinstance(content, Extraction):
            return content
        try:
            return self._read(content)
        except ReadError:
            raise
        except Exception as reason:  # a parser's bug must not stop the other documents
            what = f"{type(reason).__name__}: {reason}"
            raise FileDamaged(f"{content.name} could not be read ({what}).") from reason

    def _summary(self, extraction: Extraction, chunks: Sequence[Chunk]) -> str:
        """Of one chunk it would be a repetition, and a conversation is about many things."""
        if self._summariser is None or len(chunks) < 2 or extraction.kind is Kind.MESSAGES:
            return ""
        return self._summariser.summarise(extraction)

    def _fingerprint(self, reader: str) -> str:
        parts = [self._readers.get(reader, reader), self._chunker.fingerprint]
        if self._summariser:
            parts.append(self._summariser.fingerprint)
        return "/".join(parts)

    def _is_current(self, fingerprint: str) -> bool:
        """Whether what read a document then would read it in the same way now."""
        return any(fingerprint == self._fingerprint(reader) for reader in self._readers)

    def _relabel(self, item: SourceItem, before: Document, labels: Labels) -> Outcome:
        own = {**before.metadata, **item.metadata} if item.metadata else {}
        category, audience, metadata = _labelled(labels, own, before)
        wanted = (category, audience, dict(metadata))
        if wanted == (before.category, before.audience, dict(before.metadata)):
            return Outcome(item.uri, Fate.UNCHANGED, before, None, item.size, item.enclosed)
        self._store.relabel(before.id, category=category, audience=audience, metadata=metadata)
        after = replace(before, category=category, audience=audience, metadata=metadata)
        return Outcome(item.uri, Fate.RELABELLED, after, None, item.size, item.enclosed)

    def _flush(self, batch: dict[str, _Prepared]) -> Iterator[Outcome]:
        prepared = list(batch.values())
        batch.clear()
        if not prepared:
            return
        model = self._embedder.fingerprint if self._embedder else ""
        documents = self._store.put(self._embed(prepared), model)
        for one, document in zip(prepared, documents, strict=True):
            fate = Fate.UPDATED if one.before else Fate.ADDED
            yield Outcome(document.uri, fate, document, None, one.processed.size, one.enclosed)

    def _embed(self, prepared: list[_Prepared]) -> list[Processed]:
        """With vectors: those the store knows, and the rest from the model in one call."""
        if self._embedder is None:
            return [p.processed for p in prepared]
        texts = {
            hash_: text
            for p in prepared
            for hash_, text in zip(p.processed.hashes, p.texts, strict=True)
        }
        tokens: dict[str, TokenVectors] = {}
        known = dict(self._store.embeddings(self._embedder.fingerprint, list(texts)))
        missing = [hash_ for hash_ in texts if hash_ not in known]
        if missing:
            started = perf_counter()
            try:
                vectors, packed = self._run_model(self._embedder, [texts[h] for h in missing])
            except ModelUnavailable as reason:
                self._embedder = None
                self._on_note(f"Added for search by words and spelling only. {reason}")
                return [p.processed for p in prepared]
            self.embedding_seconds += perf_counter() - started
            known |= dict(zip(missing, vectors, strict=True))
            tokens = {hash_: one for hash_, one in zip(missing, packed, strict=True) if one}
        return [_with_vectors(p.processed, known, tokens) for p in prepared]

    def _run_model(
        self, embedder: Embedder, texts: list[str]
    ) -> tuple[Vectors, Sequence[TokenVectors]]:
        if self._token_embedder is not None:
            return self._token_embedder.embed_with_tokens(texts)
        return embedder.embed_documents(texts), [b""] * len(texts)


def _tokens(batch: Mapping[str, _Prepared]) -> int:
    return sum(chunk.tokens for one in batch.values() for chunk in one.processed.chunks)


def _enclosed(item: SourceItem, extraction: Extraction) -> list[SourceItem]:
    """What a file holds within: documents of their own, known by where they lie in it."""
    return [
        SourceItem(
            f"{item.uri}!/{inner.name}",
            inner.name.rpartition("/")[2],
            partial(bytes, inner.data),
            len(inner.data),
            enclosed=True,
            beside=item.beside if is_library(extraction) else None,
        )
        for inner in extraction.enclosed
    ]


def _readers(extractors: Sequence[Extractor]) -> Mapping[str, str]:
    """What stands in a fingerprint for each reader: its name and version, and which others there
    were to choose from. A new format means reading again what another took until then."""
    formats = _hash(" ".join(type(extractor).__name__ for extractor in extractors))[:8]
    names = ["", *map(reader_name, extractors)]  # without a name: text that needed no reading
    return {name: f"{name}@{formats}" if name else "text" for name in names}


def _with_vectors(
    processed: Processed, known: Mapping[str, Vector], tokens: Mapping[str, TokenVectors]
) -> Processed:
    import numpy as np

    vectors: Vectors = np.stack([known[hash_] for hash_ in processed.hashes])
    new = {hash_: tokens[hash_] for hash_ in processed.hashes if hash_ in tokens}
    return replace(processed, vectors=vectors, tokens=new)


def _labelled(labels: Labels, own: Metadata, before: Document | None) -> tuple[str, str, Metadata]:
    """Category, audience and metadata: what the caller says, else the document itself, else what
    it had. So adding a private file again without a label never makes it public."""
    category = labels.category if labels.category is not None else _own(own, "category")
    audience = labels.audience if labels.audience is not None else _own(own, "audience")
    kept = before.metadata if before else {}
    return (
        category if category is not None else (before.category if before else ""),
        audience if audience is not None else (before.audience if before else EVERYONE),
        {**(own or kept), **labels.metadata},
    )


def _own(own: Metadata, name: str) -> str | None:
    value = own.get(name)
    return value if isinstance(value, str) and value else None


def _hash(text: str) -> str:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def _digest(content: Blob | Extraction) -> str:
    if isinstance(content, Extraction):
        return _hash(f"{content.title}\n{content.text}")
    return hashlib.sha256(content.data).hexdigest()
