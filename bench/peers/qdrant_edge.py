"""Qdrant Edge: dense vectors and its own BM25 vectors in one shard, joined by its own RRF.

As its documentation shows: a named dense vector (cosine) and a sparse one with the IDF modifier,
`Bm25` for documents and queries, an index on what is filtered, `optimize` after the upload (or
there is no graph), one request with two prefetches and `Fusion.Rrf`. It has no leg for spelling.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import qdrant_edge as edge

from bench.peers import VECTOR, WORDS, Asked, Built, Found, Way
from bench.peers.process import InProcess
from bench.rows import PASSING, Counted
from bench.timing import folder_bytes

SETTINGS = (
    "HNSW (cosine) and BM25 vectors with defaults (English), integer index on the filter, optimised"
    " once; two prefetches of 50, RRF with its k of 2"
)
DEPTH = 50
RRF_K = 2  # its default
_FILTER = edge.Filter(must=[edge.FieldCondition(key="shard", range=edge.RangeFloat(lt=PASSING))])


def build(folder: Path, blocks: Counted) -> Mapping[str, Built]:
    folder.mkdir(parents=True, exist_ok=True)
    shard, words = None, edge.Bm25(edge.Bm25Config(language="english"))
    for rows in blocks:
        if shard is None:
            dense = edge.EdgeVectorParams(rows.vectors.shape[1], edge.Distance.Cosine)
            sparse = edge.EdgeSparseVectorParams(modifier=edge.Modifier.Idf)
            config = edge.EdgeConfig({VECTOR: dense}, {WORDS: sparse})
            shard = edge.EdgeShard.create(str(folder), config)
            indexed = edge.UpdateOperation.create_field_index(
                "shard", edge.PayloadSchemaType.Integer
            )
            shard.update(indexed)
        points = [
            edge.Point(
                row,
                {VECTOR: vector.tolist(), WORDS: words.embed_document(text)},
                {"shard": number, "text": text},
            )
            for row, number, text, vector in zip(
                rows.ids, rows.shards, rows.texts, rows.vectors, strict=True
            )
        ]
        shard.update(edge.UpdateOperation.upsert_points(points))
    assert shard is not None
    shard.optimize()
    shard.flush()
    shard.close()
    return {"hybrid": Built(blocks.elapsed(), folder_bytes(folder))}


class Engine(InProcess):
    def __init__(self, folder: Path) -> None:
        self._shard = edge.EdgeShard.load(str(folder))
        self._words = edge.Bm25(edge.Bm25Config(language="english"))
        self.ways = {"hybrid": Way((VECTOR, WORDS), self.hybrid)}

    def hybrid(self, asked: Asked, k: int) -> Sequence[Found]:
        words = edge.Query.Nearest(self._words.embed_query(asked.text), using=WORDS)
        request = edge.QueryRequest(
            limit=k,
            query=edge.Fusion.Rrf(k=RRF_K),
            prefetches=[
                edge.Prefetch(limit=DEPTH, query=query, filter=_within(asked))
                for query in (_meaning(asked), words)
            ],
            with_payload=edge.PayloadSelector.Include(["text"]),
        )
        return [Found(point.id, point.payload["text"]) for point in self._shard.query(request)]

    def versions(self) -> Mapping[str, str]:
        return {"Qdrant Edge": version("qdrant-edge-py")}

    def near(self, asked: Asked, k: int) -> list[int]:
        request = edge.QueryRequest(limit=k, query=_meaning(asked), filter=_within(asked))
        return [point.id for point in self._shard.query(request)]

    def close(self) -> None:
        self._shard.close()


def _meaning(asked: Asked) -> Any:
    return edge.Query.Nearest(asked.vector.tolist(), using=VECTOR)


def _within(asked: Asked) -> Any:
    return _FILTER if asked.filtered else None


def open(folder: Path, known: Sequence[Asked]) -> Engine:  # noqa: A001
    return Engine(folder)
