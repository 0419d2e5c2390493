"""Builds the library to measure, once, and keeps it in the cache folder.

Runs in its own process (`python -m bench.build`), so that memory for building doesn't count as
memory for searching.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

import numpy as np

import trivium
from bench.corpus import Corpus, load_corpus
from bench.harness import arguments
from bench.rows import BLOCK, DOCUMENT_CHUNKS, Counted, Digest, Prepared, Rows, make_rows, shard
from bench.timing import folder_bytes
from trivium.config import Settings, load
from trivium.core.types import EVERYONE, Chunk, Extraction, Processed, TokenVectors
from trivium.library import embedder_for
from trivium.store.embedded.backend import open_embedded

EMBEDDED = 3_000  # real texts whose vectors all others are made of; fewer of a small corpus


@dataclass(frozen=True, slots=True)
class Place:
    """The folders of a library with this many chunks and of its data."""

    folder: Path
    chunks: int

    @property
    def library(self) -> Path:
        return self.folder / f"{self.chunks}" / "library"

    @property
    def built(self) -> Path:
        """Written last: the library is complete, and how it was built."""
        return self.folder / f"{self.chunks}" / "built.json"

    @property
    def prepared(self) -> Prepared:
        return Prepared(self.folder)


def place(settings: Settings, corpus: Corpus, chunks: int) -> Place:
    model = hashlib.sha256(embedder_for(settings).fingerprint.encode()).hexdigest()[:6]
    return Place(settings.cache / "bench" / f"{corpus.digest}-{model}", chunks)


def code_digest() -> str:
    """A hash of the code that decides what is in a library's files."""
    root = Path(trivium.__file__).parent
    files = sorted([*root.glob("store/**/*.py"), *root.glob("text/*.py")])
    return hashlib.blake2b(b"".join(f.read_bytes() for f in files), digest_size=6).hexdigest()


def prepare(at: Place, corpus: Corpus, settings: Settings) -> None:
    """Embed the real texts and the queries, once for this data and model."""
    if (at.folder / "queries.npy").exists():
        return
    at.folder.mkdir(parents=True, exist_ok=True)
    embedder = embedder_for(settings)
    texts = corpus.runs(min(EMBEDDED, len(corpus.sentences)))
    print(f"Embedding {len(texts):,} real texts, once …", file=sys.stderr, flush=True)
    np.save(at.folder / "base.npy", embedder.embed_documents(texts))
    queries = corpus.queries()
    (at.folder / "queries.json").write_text(json.dumps(queries), encoding="utf-8")
    np.save(at.folder / "queries.npy", np.stack([embedder.embed_query(q) for q in queries]))


def build(at: Place, corpus: Corpus, settings: Settings) -> None:
    """Add every row through the store's writer."""
    shutil.rmtree(at.library, ignore_errors=True)
    at.built.unlink(missing_ok=True)
    model, digest, code = embedder_for(settings).fingerprint, Digest(), code_digest()
    blocks = Counted(make_rows(corpus, at.prepared.base, at.chunks), digest)
    fill(at.library, blocks, model)
    report = {
        "seconds": blocks.elapsed(),
        "rows_seconds": round(blocks.seconds, 1),
        "rows": str(digest),
        "code": code,
        "bytes": folder_bytes(at.library),
    }
    at.built.write_text(json.dumps(report), encoding="utf-8")


def fill(
    library: Path,
    blocks: Iterable[Rows],
    model: str,
    tokens: Callable[[str], TokenVectors] | None = None,
) -> None:
    """`model`: fingerprint of the model; `tokens`: token vectors of a passage."""
    store = open_embedded(library)
    started = perf_counter()
    with store.writer.writing():
        for rows in blocks:
            store.writer.put(list(documents_of(rows, tokens)), model)
            if (rows.first // BLOCK) % 10 == 9:
                done = rows.first + len(rows.texts)
                rate = done / (perf_counter() - started)
                print(f"  {done:,} chunks, {rate:,.0f}/s", file=sys.stderr, flush=True)
    store.close()


def documents_of(
    rows: Rows, tokens: Callable[[str], TokenVectors] | None = None
) -> Iterator[Processed]:
    for offset in range(0, len(rows.texts), DOCUMENT_CHUNKS):
        texts = rows.texts[offset : offset + DOCUMENT_CHUNKS]
        number = (rows.first + offset) // DOCUMENT_CHUNKS
        chunks, start = [], 0
        for index, text in enumerate(texts):
            chunks.append(Chunk(index, start, start + len(text), text, tokens=len(text) // 4))
            start += len(text) + 2
        whole = "\n\n".join(texts)
        hashes = [hashlib.blake2b(text.encode(), digest_size=16).hexdigest() for text in texts]
        yield Processed(
            uri=f"bench/{number}.txt",
            collection="default",
            category="",
            audience=EVERYONE,
            metadata={"shard": shard(number)},
            content_hash=hashlib.blake2b(whole.encode(), digest_size=16).hexdigest(),
            size=len(whole),
            extraction=Extraction(whole, (), f"Document {number}", "text/plain", "en"),
            chunks=tuple(chunks),
            hashes=tuple(hashes),
            vectors=rows.vectors[offset : offset + DOCUMENT_CHUNKS],
            fingerprint="bench",
            tokens={h: tokens(t) for h, t in zip(hashes, texts, strict=True)} if tokens else {},
        )


def main() -> None:
    asked = arguments(__doc__, "data", chunks={"type": int, "required": True})
    corpus, settings = load_corpus(asked.data), load().settings
    at = place(settings, corpus, asked.chunks)
    prepare(at, corpus, settings)
    if not at.built.exists():
        build(at, corpus, settings)


if __name__ == "__main__":
    main()
