"""Chroma: nearest vectors, as its documentation starts: a persistent client, cosine, defaults.

It ranks by vector alone; `where_document` only filters, so there is no leg for words or spelling.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import chromadb

from bench.peers import VECTOR, Asked, Built, Found, Way
from bench.peers.process import InProcess
from bench.rows import PASSING, Counted
from bench.timing import folder_bytes

SETTINGS = "persistent client, HNSW with defaults, cosine; ranks by vector alone"
NAME = "rows"


def build(folder: Path, blocks: Counted) -> Mapping[str, Built]:
    client = chromadb.PersistentClient(str(folder))
    collection = client.create_collection(
        NAME, configuration={"hnsw": {"space": "cosine"}}, embedding_function=None
    )
    for rows in blocks:
        collection.add(
            ids=[str(row) for row in rows.ids],
            embeddings=rows.vectors,
            documents=rows.texts,
            metadatas=[{"shard": shard} for shard in rows.shards],
        )
    return {"vector alone": Built(blocks.elapsed(), folder_bytes(folder))}


class Engine(InProcess):
    def __init__(self, folder: Path) -> None:
        client = chromadb.PersistentClient(str(folder))
        self._rows = client.get_collection(NAME, embedding_function=None)
        self.ways = {"vector alone": Way((VECTOR,), self.search)}

    def search(self, asked: Asked, k: int) -> Sequence[Found]:
        found = self._query(asked, k, ["documents"])
        pairs = zip(found["ids"][0], found["documents"][0], strict=True)
        return [Found(int(row), text) for row, text in pairs]

    def versions(self) -> Mapping[str, str]:
        return {"Chroma": chromadb.__version__}

    def near(self, asked: Asked, k: int) -> list[int]:
        return [int(row) for row in self._query(asked, k, [])["ids"][0]]

    def _query(self, asked: Asked, k: int, include: list[str]) -> Any:
        where = {"shard": {"$lt": PASSING}} if asked.filtered else None
        return self._rows.query(
            query_embeddings=asked.vector[None], n_results=k, where=where, include=include
        )

    def close(self) -> None:
        """It has nothing to close."""


def open(folder: Path, known: Sequence[Asked]) -> Engine:  # noqa: A001
    return Engine(folder)
