"""Small documents and a toy embedder, for tests that need a store but no model."""

import zlib
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, cast

import numpy as np

from trivium.core.types import (
    EVERYONE,
    OWNER,
    Chunk,
    Element,
    Extraction,
    Metadata,
    Place,
    Probe,
    Processed,
    Signal,
    Vector,
    Vectors,
    Where,
)
from trivium.ports import Backend, Writer
from trivium.text.normalise import words
from trivium.text.query import parse


class ToyEmbedder:
    """Words hashed into dimensions: texts that share words are near. No model, no weights."""

    fingerprint = "toy-64"
    dimensions = 64
    salt = ""

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        return np.stack([self.embed_query(text) for text in texts])

    def embed_query(self, text: str) -> Vector:
        vector = np.full(self.dimensions, 0.01, dtype=np.float32)
        for word in words(text):
            vector[zlib.crc32(f"{self.salt}{word}".encode()) % self.dimensions] += 1
        unit: Vector = vector / np.linalg.norm(vector)
        return unit.astype(np.float16).astype(np.float32)  # as a store keeps it


class OtherEmbedder(ToyEmbedder):
    """Hashes words to other places: its vectors and those of the first mean nothing together."""

    fingerprint = "other-48"
    dimensions = 48
    salt = "other "


TOY = ToyEmbedder()
OTHER = OtherEmbedder()


def sample(
    uri: str,
    *paragraphs: str,
    title: str = "",
    collection: str = "default",
    category: str = "",
    audience: str = EVERYONE,
    metadata: Metadata | None = None,
    language: str = "en",
    embedded: bool = True,
    embedder: ToyEmbedder = TOY,
    reader: str = "",
    fingerprint: str = "sample",
    original: str = "",
    sender: str = "",
    places: Sequence[Place] = (),
) -> Processed:
    """A processed document with one chunk for each paragraph. With a reader it counts as read from
    bytes, so that equal ones may be one document. `places`: of its paragraphs, in their order."""
    text = "\n\n".join(paragraphs)
    chunks, elements, start = [], [], 0
    headings = (title,) if title else ()
    for index, paragraph in enumerate(paragraphs):
        end = start + len(paragraph)
        number, place = index + 1, places[index] if places else Place()
        chunks.append(Chunk(index, start, end, paragraph, headings, paragraph=number, place=place))
        elements.append(Element("paragraph", start, end, headings, paragraph=number, place=place))
        start = end + 2
    texts = [chunk.embedded_text for chunk in chunks]
    return Processed(
        uri=uri,
        collection=collection,
        category=category,
        audience=audience,
        metadata=metadata or {},
        content_hash=f"{zlib.crc32(text.encode()):08x}",
        size=len(text),
        extraction=Extraction(
            text, tuple(elements), title or uri, "text/plain", language, reader=reader
        ),
        chunks=tuple(chunks),
        hashes=tuple(f"{zlib.crc32(t.encode()):08x}{len(t):x}" for t in texts),
        vectors=embedder.embed_documents(texts) if embedded and texts else None,
        fingerprint=fingerprint,
        original=original,
        sender=sender,
    )


def embedded_by(embedder: ToyEmbedder, document: Processed) -> Processed:
    """The same document with vectors of this embedder."""
    texts = [chunk.embedded_text for chunk in document.chunks]
    return replace(document, vectors=embedder.embed_documents(texts))


def embed_beside(store: Backend, embedder: ToyEmbedder, limit: int = 1000) -> int:
    """Compute a model's vectors while another's are in use; returns how many."""
    lacking = {
        row.hash: row.text for row in store.models.unembedded(embedder.fingerprint, 0, limit)
    }
    vectors = {hash_: embedder.embed_query(text) for hash_, text in lacking.items()}
    store.models.keep_beside(embedder.fingerprint, vectors, dict.fromkeys(lacking, b"\x01"))
    return len(lacking)


def probe(query: str, threshold: float = -1.0, embedder: ToyEmbedder = TOY) -> Probe:
    return Probe(parse(query), embedder.embed_query(query), threshold, embedder.fingerprint)


class _Writing:
    """A writer that takes its turn for each call."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer

    def __getattr__(self, name: str) -> Any:
        def act(*args: Any, **named: Any) -> Any:
            with self._writer.writing():
                return getattr(self._writer, name)(*args, **named)

        return act


def writer(backend: Backend) -> Writer:
    """For single changes."""
    return cast("Writer", _Writing(backend.writer))


ALL = 1000  # more than any suite puts


def put(backend: Backend, *batch: Processed) -> list[int]:
    return [document.id for document in writer(backend).put(batch, TOY.fingerprint)]


def found(
    backend: Backend, signal: Signal, query: str, where: Where = OWNER, k: int = ALL
) -> list[str]:
    """The texts of the chunks found, in order."""
    hits = backend.signals.search(signal, probe(query), where, k)
    return [c.chunk.text for c in backend.documents.chunks([hit.chunk_id for hit in hits], where)]


def copy(uri: str, text: str, audience: str = "all", fingerprint: str = "sample") -> Processed:
    """Bytes that were read: equal texts may be one document."""
    return sample(
        uri, text, title="Copy", audience=audience, reader="sample", fingerprint=fingerprint
    )
