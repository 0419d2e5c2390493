"""txtai: hybrid search with content, as its documentation shows (`hybrid=True, content=True`).

Vectors come from outside through a transform function, which looks them up by text. Its hybrid is
the mean of cosine and normalised BM25 over ten candidates a result. A filter is an SQL clause that
holds after the search, among ten candidates a result, so few may be left; `returned` says how many.
Its database wants locking from outside: clients take turns.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

os.environ["ALLOW_RESOLVE_TRANSFORM"] = "True"  # or a saved index does not find the function again
import txtai

from bench.peers import VECTOR, WORDS, Asked, Built, Found, Way
from bench.peers.process import InProcess
from bench.rows import PASSING, Counted
from bench.timing import folder_bytes

SETTINGS = (
    "hybrid=True, content=True, all else default (faiss chosen by size, BM25, weights .5/.5);"
    " filters hold after the search"
)
_PLAIN = "select id, text, score from txtai where similar(:query)"
_FILTERED = f"{_PLAIN} and shard < {PASSING}"
_NEAR = _FILTERED.replace(":query", ":query, 1.0")
_vectors: dict[int, Any] = {}  # by hash of the text


def transform(texts: Sequence[str]) -> Any:
    """What txtai calls to embed; not a model here."""
    return np.stack([_vectors[hash(text)] for text in texts])


def build(folder: Path, blocks: Counted) -> Mapping[str, Built]:
    def documents() -> Any:
        for rows in blocks:
            for row, shard, text, vector in zip(
                rows.ids, rows.shards, rows.texts, rows.vectors, strict=True
            ):
                _vectors[hash(text)] = vector
                yield row, {"text": text, "shard": shard}, None

    embeddings = txtai.Embeddings(
        method="external", transform="bench.peers.txtai.transform", hybrid=True, content=True
    )
    embeddings.index(documents())
    embeddings.save(str(folder))
    return {"hybrid": Built(blocks.elapsed(), folder_bytes(folder))}


class Engine(InProcess):
    def __init__(self, folder: Path, known: Sequence[Asked]) -> None:
        _vectors.update({hash(asked.text): asked.vector for asked in known})
        self._embeddings = txtai.Embeddings()
        self._embeddings.load(str(folder))
        self._turn = threading.Lock()
        self.ways = {"hybrid": Way((VECTOR, WORDS), self.hybrid)}

    def hybrid(self, asked: Asked, k: int) -> Sequence[Found]:
        found = self._sql(_FILTERED if asked.filtered else _PLAIN, asked, k)
        return [Found(int(row["id"]), row["text"]) for row in found]

    def versions(self) -> Mapping[str, str]:
        return {"txtai": version("txtai")}

    def near(self, asked: Asked, k: int) -> list[int]:
        if not asked.filtered:
            [found] = self._embeddings.ann.search(asked.vector[None], k)
            return [int(row) for row, _ in found]
        return [int(row["id"]) for row in self._sql(_NEAR, asked, k)]

    def _sql(self, statement: str, asked: Asked, k: int) -> list[dict[str, Any]]:
        with self._turn:
            found: list[dict[str, Any]] = self._embeddings.search(
                statement, k, parameters={"query": asked.text}
            )
        return found

    def close(self) -> None:
        self._embeddings.close()


def open(folder: Path, known: Sequence[Asked]) -> Engine:  # noqa: A001
    return Engine(folder, known)
