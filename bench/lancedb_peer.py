"""LanceDB on the same rows: builds its table and indexes as its documentation shows, and asks it
the same queries. Runs in an environment of its own (`bench/peer.py` makes it), without Trivium.

Its vector index is IVF_HNSW_SQ with the defaults; its full-text index the default one (stemmed,
without stop words); its third leg an index of character trigrams over a copy of the text, since a
column takes one full-text index. Prewarmed, as its documentation advises.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path
from time import perf_counter
from typing import Any

import lancedb
import numpy as np
import pyarrow as pa
from lancedb.index import FTS, HnswSq
from lancedb.rerankers import RRFReranker

from bench.corpus import WARM_UP, load_corpus
from bench.rows import Digest, Prepared, make_rows
from bench.timing import folder_bytes, measure, memory

TABLE = "rows"
RRF_K = 60  # its reranker's default
SHOWN = ["id", "text"]  # what a result carries; ours fetches the text too
_SLOW_SECONDS = 40.0  # for legs of several hundred milliseconds a query
_INDEXES = {
    "vector": HnswSq(distance_type="cosine"),
    "text": FTS(),
    "letters": FTS(
        base_tokenizer="ngram",
        ngram_min_length=3,
        ngram_max_length=3,
        stem=False,
        remove_stop_words=False,
    ),
}


def build(folder: Path, prepared: Prepared, data: Path, chunks: int) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    digest, corpus, base = Digest(), load_corpus(data), prepared.base
    schema = pa.schema(
        [
            ("id", pa.int64()),
            ("text", pa.string()),
            ("letters", pa.string()),
            ("vector", pa.list_(pa.float32(), base.shape[1])),
        ]
    )

    def batches() -> Iterator[Any]:
        for rows in make_rows(corpus, base, chunks):
            digest.add(rows)
            ids = np.arange(rows.first, rows.first + len(rows.texts))
            flat = pa.array(rows.vectors.ravel())
            vectors = pa.FixedSizeListArray.from_arrays(flat, base.shape[1])
            columns = [pa.array(ids), pa.array(rows.texts), pa.array(rows.texts), vectors]
            yield pa.RecordBatch.from_arrays(columns, schema=schema)

    database = lancedb.connect(folder)
    seconds = {}
    started = perf_counter()
    table = database.create_table(TABLE, data=batches(), schema=schema)
    seconds["rows"] = round(perf_counter() - started, 1)
    for column, config in _INDEXES.items():
        started = perf_counter()
        table.create_index(column, config=config)
        seconds[column] = round(perf_counter() - started, 1)
        print(f"  LanceDB: {column} indexed in {seconds[column]} s", file=sys.stderr, flush=True)
    built = {"build_seconds": seconds, "rows": str(digest), "bytes": folder_bytes(folder)}
    (folder / "built.json").write_text(json.dumps(built), encoding="utf-8")


class Peer:
    def __init__(self, folder: Path) -> None:
        self.table = lancedb.connect(folder).open_table(TABLE)
        for index in self.table.list_indices():
            self.table.prewarm_index(index.name)
        self._threads = ThreadPoolExecutor(3)

    def vector(self, vector: Any, k: int) -> Any:
        asked = self.table.search(vector, vector_column_name="vector", query_type="vector")
        return asked.distance_type("cosine").limit(k).select(SHOWN).with_row_id(True).to_arrow()

    def words(self, column: str, query: str, k: int) -> Any:
        asked = self.table.search(query, query_type="fts", fts_columns=column)
        return asked.limit(k).select(SHOWN).with_row_id(True).to_arrow()

    def two_legs(self, query: str, vector: Any, k: int, depth: int) -> Any:
        """Its own hybrid search with its own reranker. `depth`: what each leg is asked for."""
        asked = self.table.search(
            query_type="hybrid", vector_column_name="vector", fts_columns="text"
        )
        asked = asked.vector(vector).text(query).distance_type("cosine")
        return asked.rerank(RRFReranker()).limit(depth).select(SHOWN).to_arrow().slice(0, k)

    def three_legs(self, query: str, vector: Any, k: int) -> list[Any]:
        """The same by hand, since its hybrid search takes no third leg."""
        legs = (
            self._threads.submit(self.vector, vector, k),
            self._threads.submit(self.words, "text", query, k),
            self._threads.submit(self.words, "letters", query, k),
        )
        scores: dict[int, float] = defaultdict(float)
        found: dict[int, Any] = {}
        for leg in legs:
            for rank, row in enumerate(leg.result().to_pylist(), start=1):
                scores[row["id"]] += 1 / (RRF_K + rank)
                found[row["id"]] = row
        return [found[i] for i in sorted(scores, key=lambda i: (-scores[i], i))[:k]]

    def recall(self, vectors: Any, k: int) -> float:
        """The share of the true nearest that its index finds."""
        hits = 0
        for vector in vectors:
            asked = self.table.search(vector, vector_column_name="vector", query_type="vector")
            exact = asked.distance_type("cosine").bypass_vector_index().limit(k).select(SHOWN)
            true = set(exact.to_arrow()["id"].to_pylist())
            hits += len(true & set(self.vector(vector, k)["id"].to_pylist()))
        return hits / (k * len(vectors))


def run(folder: Path, prepared: Prepared, k: int, depth: int, seconds: float) -> dict[str, Any]:
    peer = Peer(folder)
    asked = list(zip(prepared.queries, prepared.query_vectors, strict=True))
    warm, real = asked[:WARM_UP], asked[WARM_UP:]
    calls: dict[str, Callable[[Any], Any]] = {
        "vector": lambda q: peer.vector(q[1], k),
        "keyword": lambda q: peer.words("text", q[0], k),
        "two legs": lambda q: peer.two_legs(q[0], q[1], k, k),
        f"two legs, {depth} candidates": lambda q: peer.two_legs(q[0], q[1], k, depth),
    }
    timings = {}
    for name, call in calls.items():
        for query in warm:
            call(query)
        timings[name] = asdict(measure(call, real, seconds))
    slow: dict[str, Callable[[Any], Any]] = {
        "trigram": lambda q: peer.words("letters", q[0], k),
        "three legs": lambda q: peer.three_legs(q[0], q[1], k),
    }
    for name, call in slow.items():
        for query in warm[:5]:
            call(query)
        timings[name] = asdict(measure(call, real, min(seconds, _SLOW_SECONDS)))
    return {
        "version": lancedb.__version__,
        "timings_ms": timings,
        "memory_mb": asdict(memory()),
        "vector_recall": round(peer.recall(prepared.query_vectors[WARM_UP : WARM_UP + 50], k), 4),
        **json.loads((folder / "built.json").read_text(encoding="utf-8")),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--prepared", type=Path, required=True)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--chunks", type=int, required=True)
    parser.add_argument("--limit", type=int, required=True)
    parser.add_argument("--depth", type=int, required=True)
    parser.add_argument("--seconds", type=float, required=True)
    parser.add_argument("--build-only", action="store_true")
    asked = parser.parse_args()
    prepared = Prepared(asked.prepared)
    if not (asked.folder / "built.json").exists():
        build(asked.folder, prepared, asked.data, asked.chunks)
    if not asked.build_only:
        found = run(asked.folder, prepared, asked.limit, asked.depth, asked.seconds)
        print(json.dumps(found))


if __name__ == "__main__":
    main()
