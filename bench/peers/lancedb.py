"""LanceDB: its own hybrid search with its own reranker, and a third leg added by hand.

As its documentation shows: an IVF_HNSW_SQ vector index with the defaults, the default full-text
index (stemmed, without stop words), a scalar index on what is filtered, filters before the search,
RRFReranker; prewarmed. The third leg is an index of character trigrams over a copy of the text,
since a column takes one full-text index and its hybrid search takes no third leg.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import lancedb
import numpy as np
import pyarrow as pa
from lancedb.index import FTS, BTree, HnswSq
from lancedb.rerankers import RRFReranker

from bench.peers import LETTERS, VECTOR, WORDS, Asked, Built, Found, Way
from bench.peers.process import InProcess
from bench.rows import PASSING, Counted
from bench.timing import folder_bytes

SETTINGS = (
    "IVF_HNSW_SQ (cosine) and FTS with defaults, BTREE on the filter, prefilter, RRFReranker;"
    " third leg: FTS of trigrams over a copy of the text, joined by hand"
)
TWO, THREE = "hybrid", "hybrid and a leg for spelling"
TABLE = "rows"
RRF_K = 60  # its reranker's default
SHOWN = ["id", "text"]
_FILTER = f"shard < {PASSING}"


def build(folder: Path, blocks: Counted) -> Mapping[str, Built]:
    def batches() -> Iterator[Any]:
        for rows in blocks:
            flat = pa.array(rows.vectors.ravel())
            yield pa.RecordBatch.from_pydict(
                {
                    "id": pa.array(np.asarray(rows.ids, np.int64)),
                    "shard": pa.array(np.asarray(rows.shards, np.int32)),
                    "text": pa.array(rows.texts),
                    "vector": pa.FixedSizeListArray.from_arrays(flat, rows.vectors.shape[1]),
                }
            )

    arriving = batches()
    first = next(arriving)

    def all_batches() -> Iterator[Any]:
        yield first
        yield from arriving

    table = lancedb.connect(folder).create_table(TABLE, data=all_batches(), schema=first.schema)
    table.create_index("vector", config=HnswSq(distance_type="cosine"))
    table.create_index("text", config=FTS())
    table.create_index("shard", config=BTree())
    two = Built(blocks.elapsed(), folder_bytes(folder))
    table.add_columns({"letters": "text"})
    letters = FTS(
        base_tokenizer="ngram",
        ngram_min_length=3,
        ngram_max_length=3,
        stem=False,
        remove_stop_words=False,
    )
    table.create_index("letters", config=letters)
    return {TWO: two, THREE: Built(blocks.elapsed(), folder_bytes(folder))}


class Engine(InProcess):
    def __init__(self, folder: Path) -> None:
        self._table = lancedb.connect(folder).open_table(TABLE)
        for index in self._table.list_indices():
            self._table.prewarm_index(index.name)
        self._threads = ThreadPoolExecutor(24)  # three legs for each of eight clients
        self.ways = {
            TWO: Way((VECTOR, WORDS), self.two_legs),
            THREE: Way((VECTOR, WORDS, LETTERS), self.three_legs),
        }

    def two_legs(self, asked: Asked, k: int) -> Sequence[Found]:
        query = self._table.search(
            query_type="hybrid", vector_column_name="vector", fts_columns="text"
        )
        query = query.vector(asked.vector).text(asked.text).distance_type("cosine")
        query = query.rerank(RRFReranker()).limit(k).select(SHOWN)
        found = _within(query, asked).to_arrow().slice(0, k).to_pylist()
        return [Found(row["id"], row["text"]) for row in found]

    def three_legs(self, asked: Asked, k: int) -> Sequence[Found]:
        legs = (
            self._threads.submit(self._by_vector, asked, k),
            self._threads.submit(self._by_words, "text", asked, k),
            self._threads.submit(self._by_words, "letters", asked, k),
        )
        scores: dict[int, float] = defaultdict(float)
        texts: dict[int, str] = {}
        for leg in legs:
            for rank, row in enumerate(leg.result().to_pylist(), start=1):
                scores[row["id"]] += 1 / (RRF_K + rank)
                texts[row["id"]] = row["text"]
        best = sorted(scores, key=lambda row: (-scores[row], row))[:k]
        return [Found(row, texts[row]) for row in best]

    def versions(self) -> Mapping[str, str]:
        return {"LanceDB": lancedb.__version__}

    def near(self, asked: Asked, k: int) -> list[int]:
        found: list[int] = self._by_vector(asked, k)["id"].to_pylist()
        return found

    def _by_vector(self, asked: Asked, k: int) -> Any:
        query = self._table.search(asked.vector, vector_column_name="vector", query_type="vector")
        return _within(query.distance_type("cosine").limit(k).select(SHOWN), asked).to_arrow()

    def _by_words(self, column: str, asked: Asked, k: int) -> Any:
        query = self._table.search(asked.text, query_type="fts", fts_columns=column)
        return _within(query.limit(k).select(SHOWN), asked).to_arrow()

    def close(self) -> None:
        self._threads.shutdown()


def _within(query: Any, asked: Asked) -> Any:
    return query.where(_FILTER, prefilter=True) if asked.filtered else query


def open(folder: Path, known: Sequence[Asked]) -> Engine:  # noqa: A001
    return Engine(folder)
