"""PostgreSQL as people use it for hybrid search: pgvector, tsvector, reciprocal ranks in one query.

The query is the one of pgvector's own examples: 20 of each leg, k 60, `ts_rank_cd`, here with
websearch_to_tsquery and a stored tsvector. HNSW with defaults, iterative scan on, as pgvector
advises where filters are used. The third leg is pg_trgm's word similarity on a GIN index, at 0.3.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from time import process_time
from typing import Any

import psycopg

from bench.peers import LETTERS, VECTOR, WORDS, Asked, Built, Found, Way
from bench.peers.postgres_server import Server
from bench.rows import PASSING, Counted

SETTINGS = (
    "HNSW (cosine) with defaults, hnsw.iterative_scan strict_order; stored tsvector with GIN,"
    " websearch_to_tsquery, ts_rank_cd; 20 of each, RRF k 60 in one query; third leg: pg_trgm GIN,"
    " word similarity from 0.3; shared_buffers 1GB"
)
TWO, THREE = "hybrid", "hybrid and a leg for spelling"
_CONFIG = {"shared_buffers": "1GB", "maintenance_work_mem": "1GB", "effective_cache_size": "8GB"}
_LONGEST_SECONDS = 20
_SESSION = (
    "SET hnsw.iterative_scan = strict_order; SET pg_trgm.word_similarity_threshold = 0.3;"
    f" SET statement_timeout = '{_LONGEST_SECONDS}s'"
)
_DEPTH = 20
_RRF_K = 60
_VECTOR_LEG = """
    SELECT id, rank() OVER (ORDER BY vector <=> %(vector)s::vector) AS rank
    FROM rows {where} ORDER BY vector <=> %(vector)s::vector LIMIT {depth}"""
_WORDS_LEG = """
    SELECT id, rank() OVER (ORDER BY ts_rank_cd(words, asked) DESC) AS rank
    FROM rows, websearch_to_tsquery('english', %(text)s) asked
    WHERE words @@ asked {also} ORDER BY ts_rank_cd(words, asked) DESC LIMIT {depth}"""
_LETTERS_LEG = """
    SELECT id, rank() OVER (ORDER BY word_similarity(%(text)s, text) DESC) AS rank
    FROM rows WHERE %(text)s <%% text {also}
    ORDER BY word_similarity(%(text)s, text) DESC LIMIT {depth}"""


def build(folder: Path, blocks: Counted) -> Mapping[str, Built]:
    server = Server(folder, _CONFIG)
    try:
        with psycopg.connect(server.uri, autocommit=True) as database:
            database.execute("CREATE EXTENSION IF NOT EXISTS vector")
            database.execute("CREATE EXTENSION IF NOT EXISTS pg_trgm")
            database.execute("DROP TABLE IF EXISTS rows")
            columns = "id int PRIMARY KEY, shard int NOT NULL, text text NOT NULL"
            stored = "words tsvector GENERATED ALWAYS AS (to_tsvector('english', text)) STORED"
            for number, rows in enumerate(blocks):
                if number == 0:
                    size = rows.vectors.shape[1]
                    database.execute(
                        f"CREATE TABLE rows ({columns}, vector vector({size}), {stored})"
                    )
                with (
                    database.cursor() as cursor,
                    cursor.copy("COPY rows (id, shard, text, vector) FROM STDIN") as copy,
                ):
                    for row in zip(rows.ids, rows.shards, rows.texts, rows.vectors, strict=True):
                        copy.write_row((*row[:3], _literal(row[3])))
            database.execute("CREATE INDEX ON rows USING hnsw (vector vector_cosine_ops)")
            database.execute("CREATE INDEX ON rows USING gin (words)")
            database.execute("CREATE INDEX ON rows (shard)")
            database.execute("VACUUM ANALYZE rows")
            two = Built(blocks.elapsed(), _size(database))
            database.execute("CREATE INDEX ON rows USING gin (text gin_trgm_ops)")
            return {TWO: two, THREE: Built(blocks.elapsed(), _size(database))}
    finally:
        server.stop()


class Engine:
    def __init__(self, folder: Path) -> None:
        self._server = Server(folder, _CONFIG)
        self._local = threading.local()
        self.ways = {
            TWO: Way((VECTOR, WORDS), self.two_legs),
            THREE: Way((VECTOR, WORDS, LETTERS), self.three_legs),
        }

    def two_legs(self, asked: Asked, k: int) -> Sequence[Found]:
        return self._fused(asked, k, (_VECTOR_LEG, _WORDS_LEG))

    def three_legs(self, asked: Asked, k: int) -> Sequence[Found]:
        return self._fused(asked, k, (_VECTOR_LEG, _WORDS_LEG, _LETTERS_LEG))

    def versions(self) -> Mapping[str, str]:
        server = self._database.execute("SHOW server_version").fetchone()[0]
        asked = "SELECT extversion FROM pg_extension WHERE extname = 'vector'"
        pgvector = self._database.execute(asked).fetchone()[0]
        return {"PostgreSQL": str(server).split()[0], "pgvector": str(pgvector)}

    def near(self, asked: Asked, k: int) -> list[int]:
        statement = _leg(_VECTOR_LEG, asked, k)
        found = self._database.execute(statement, {"vector": _literal(asked.vector)})
        return [row for row, _ in found]

    def memory_mb(self) -> int:
        return self._server.memory_mb()

    def cpu_seconds(self) -> float:
        return process_time() + self._server.cpu_seconds()

    def close(self) -> None:
        self._server.stop()

    def _fused(self, asked: Asked, k: int, legs: Sequence[str]) -> Sequence[Found]:
        united = " UNION ALL ".join(f"({_leg(leg, asked, _DEPTH)})" for leg in legs)
        statement = f"""
            SELECT id, text FROM rows JOIN (
                SELECT id, sum(1.0 / ({_RRF_K} + rank)) AS score FROM ({united}) legs
                GROUP BY id ORDER BY score DESC, id LIMIT %(k)s
            ) best USING (id) ORDER BY score DESC, id"""
        values = {"vector": _literal(asked.vector), "text": asked.text, "k": k}
        try:
            return [Found(*row) for row in self._database.execute(statement, values)]
        except psycopg.errors.QueryCanceled as reason:
            raise TimeoutError(f"a query took longer than {_LONGEST_SECONDS} s") from reason

    @property
    def _database(self) -> Any:
        """A connection for each client."""
        if not hasattr(self._local, "database"):
            self._local.database = psycopg.connect(self._server.uri, autocommit=True)
            self._local.database.execute(_SESSION)
        return self._local.database


def _leg(leg: str, asked: Asked, depth: int) -> str:
    passing = f"shard < {PASSING}"
    where, also = (f"WHERE {passing}", f"AND {passing}") if asked.filtered else ("", "")
    return leg.format(where=where, also=also, depth=depth)


def _literal(vector: Any) -> str:
    return "[" + ",".join(map(str, vector.tolist())) + "]"


def _size(database: Any) -> int:
    found: int = database.execute("SELECT pg_total_relation_size('rows')").fetchone()[0]
    return found


def open(folder: Path, known: Sequence[Asked]) -> Engine:  # noqa: A001
    return Engine(folder)
