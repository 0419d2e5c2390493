"""DuckDB with its extensions fts and vss, joined by reciprocal ranks by hand.

As its documentation shows: an HNSW index (cosine, kept on disk by the experimental setting), the
full-text index with its defaults (porter stems, English stop words), `match_bm25`. With a
filter it compares the vectors that pass, without the graph. 50 of each, 1 / (60 + rank).
"""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
from duckdb_extensions import import_extension

from bench.peers import VECTOR, WORDS, Asked, Built, Found, Way
from bench.peers.process import InProcess
from bench.rows import PASSING, Counted
from bench.timing import folder_bytes

SETTINGS = (
    "HNSW (cosine, experimental persistence) and fts with defaults, a WHERE clause for the filter;"
    " 50 of each, RRF k 60"
)
DEPTH = 50
RRF_K = 60
_FILTER = f"WHERE shard < {PASSING}"
# Or it filters what the graph has found, which leaves few.
_PASSING = f"WITH passing AS MATERIALIZED (SELECT * FROM rows {_FILTER}) "
_NEAR = (
    "{passing}SELECT id, text FROM {rows}"
    " ORDER BY array_cosine_distance(vector, {vector}::FLOAT[{size}]) LIMIT {k}"
)
_WORDS = (
    "SELECT id, text FROM (SELECT id, text, fts_main_rows.match_bm25(id, ?) AS score FROM rows"
    " {within}) WHERE score IS NOT NULL ORDER BY score DESC, id LIMIT {k}"
)


def _connected(folder: Path) -> Any:
    database = duckdb.connect(folder / "rows.duckdb")
    for extension in ("vss", "fts"):
        import_extension(extension, con=database)
        database.execute(f"LOAD {extension}")
    database.execute("SET hnsw_enable_experimental_persistence = true")
    return database


def build(folder: Path, blocks: Counted) -> Mapping[str, Built]:
    folder.mkdir(parents=True, exist_ok=True)
    database, made = _connected(folder), False
    for rows in blocks:
        size = rows.vectors.shape[1]
        if not made:
            database.execute(
                "CREATE TABLE rows"
                f"(id INTEGER PRIMARY KEY, shard INTEGER, text VARCHAR, vector FLOAT[{size}])"
            )
            made = True
        flat = pa.array(rows.vectors.ravel())
        given = pa.table(
            {
                "id": pa.array(rows.ids),
                "shard": pa.array(rows.shards),
                "text": pa.array(rows.texts),
                "vector": pa.FixedSizeListArray.from_arrays(flat, size),
            }
        )
        database.register("given", given)
        database.execute("INSERT INTO rows SELECT * FROM given")
    database.execute("CREATE INDEX near ON rows USING HNSW (vector) WITH (metric = 'cosine')")
    database.execute("PRAGMA create_fts_index('rows', 'id', 'text')")
    database.close()
    return {"hybrid": Built(blocks.elapsed(), folder_bytes(folder))}


class Engine(InProcess):
    def __init__(self, folder: Path) -> None:
        self._database = _connected(folder)
        self._local = threading.local()
        self.ways = {"hybrid": Way((VECTOR, WORDS), self.hybrid)}

    def hybrid(self, asked: Asked, k: int) -> Sequence[Found]:
        scores: dict[int, float] = defaultdict(float)
        texts: dict[int, str] = {}
        for leg in (self._by_vector(asked, DEPTH), self._by_words(asked, DEPTH)):
            for rank, (row, text) in enumerate(leg, start=1):
                scores[row] += 1 / (RRF_K + rank)
                texts[row] = text
        best = sorted(scores, key=lambda row: (-scores[row], row))[:k]
        return [Found(row, texts[row]) for row in best]

    def versions(self) -> Mapping[str, str]:
        return {"DuckDB": duckdb.__version__}

    def near(self, asked: Asked, k: int) -> list[int]:
        return [row for row, _ in self._by_vector(asked, k)]

    def _by_vector(self, asked: Asked, k: int) -> list[tuple[int, str]]:
        # As text: a list of numbers as a parameter took longer.
        vector = asked.vector.tolist()
        passing, rows = (_PASSING, "passing") if asked.filtered else ("", "rows")
        statement = _NEAR.format(passing=passing, rows=rows, vector=vector, size=len(vector), k=k)
        found: list[tuple[int, str]] = self._cursor.execute(statement).fetchall()
        return found

    def _by_words(self, asked: Asked, k: int) -> list[tuple[int, str]]:
        statement = _WORDS.format(within=_FILTER if asked.filtered else "", k=k)
        found: list[tuple[int, str]] = self._cursor.execute(statement, [asked.text]).fetchall()
        return found

    @property
    def _cursor(self) -> Any:
        """One for each thread."""
        if not hasattr(self._local, "cursor"):
            self._local.cursor = self._database.cursor()
        return self._local.cursor

    def close(self) -> None:
        self._database.close()


def open(folder: Path, known: Sequence[Asked]) -> Engine:  # noqa: A001
    return Engine(folder)
