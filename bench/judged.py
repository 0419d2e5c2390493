"""Judged sets as rows: whole documents with the same vectors for every engine, and their queries.

The vectors are made once, by Trivium's default model, of title and text together, and kept; reading
them needs numpy and nothing of Trivium.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from bench.rows import BLOCK, Rows

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from trivium.ports import Embedder

SETS = ("scifact", "nfcorpus")
_EMBEDDED = 256  # texts at a time, so that one sees it move and a stop loses little


@dataclass(frozen=True, slots=True)
class Judged:
    """The folder of one set, below the prepared data."""

    folder: Path

    @property
    def documents(self) -> list[str]:
        """Names, in the order of the rows."""
        return self._names("documents")

    @property
    def query_names(self) -> list[str]:
        return self._names("queries")

    @property
    def queries(self) -> list[str]:
        return self._texts("queries")

    @property
    def query_vectors(self) -> NDArray[np.float32]:
        found: NDArray[np.float32] = np.load(self.folder / "queries.npy")
        return found

    def rows(self) -> Iterator[Rows]:
        texts, vectors = self._texts("documents"), np.load(self.folder / "documents.npy")
        for first in range(0, len(texts), BLOCK):
            block = slice(first, first + BLOCK)
            yield Rows(first, texts[block], vectors[block])

    def _names(self, kind: str) -> list[str]:
        return list(self._read(kind))

    def _texts(self, kind: str) -> list[str]:
        return list(self._read(kind).values())

    def _read(self, kind: str) -> dict[str, str]:
        path = self.folder / f"{kind}.json"
        found: dict[str, str] = json.loads(path.read_text(encoding="utf-8"))
        return found


def judged(prepared: Path, name: str) -> Judged:
    return Judged(prepared / "judged" / name)


def prepare_judged(prepared: Path, data: Path, name: str, embedder: Embedder) -> Judged:
    """Embed a set, once for this model."""
    from trivium.evaluate.dataset import load_dataset

    made = judged(prepared, name)
    if (made.folder / "queries.npy").exists():
        return made
    made.folder.mkdir(parents=True, exist_ok=True)
    source = load_dataset(data / "retrieval" / name)
    texts = _documents(data / "retrieval" / name / "corpus.jsonl")
    print(f"Embedding {len(texts):,} documents of {name}, once …", file=sys.stderr, flush=True)
    (made.folder / "documents.json").write_text(json.dumps(texts), encoding="utf-8")
    np.save(made.folder / "documents.npy", _embed(list(texts.values()), embedder, made.folder))
    (made.folder / "queries.json").write_text(json.dumps(source.queries), encoding="utf-8")
    vectors = np.stack([embedder.embed_query(text) for text in source.queries.values()])
    np.save(made.folder / "queries.npy", vectors)
    return made


def _documents(corpus: Path) -> dict[str, str]:
    """Title and text of each, by name."""
    found = {}
    for line in corpus.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        found[str(row["_id"])] = f"{row.get('title') or ''}\n\n{row['text']}".strip()
    return {name: text for name, text in found.items() if text}


def _embed(texts: list[str], embedder: Embedder, folder: Path) -> NDArray[np.float32]:
    """Saved part by part: a stop loses little of half an hour's work."""
    parts = []
    for first in range(0, len(texts), _EMBEDDED):
        part = folder / f"part-{first}.npy"
        if not part.exists():
            vectors = embedder.embed_documents(texts[first : first + _EMBEDDED])
            np.save(part.with_suffix(".new.npy"), vectors)
            part.with_suffix(".new.npy").replace(part)
            print(f"  {first + len(vectors):,}", file=sys.stderr, flush=True)
        parts.append(part)
    whole: NDArray[np.float32] = np.concatenate([np.load(part) for part in parts])
    for part in parts:
        part.unlink()
    return whole
