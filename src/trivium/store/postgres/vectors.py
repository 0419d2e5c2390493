"""The vectors of active chunks in PostgreSQL: one table per model, with an HNSW graph to search it.

If few chunks pass a filter, all of them are compared. Otherwise the graph proposes chunks, and
those that don't pass are dropped; if too few are left, all that pass are compared after all. Scores
always come from the vectors themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar
from weakref import WeakKeyDictionary

import numpy as np
from sqlalchemy import Connection, Engine, text

from trivium.core.errors import LibraryNotFound, StoreError
from trivium.core.types import ChunkId, Hit
from trivium.store.postgres.database import Sent, direct, ids_sent, one_read, vector_sent
from trivium.store.postgres.shards import shards_of, spread_table
from trivium.store.sql.feed import Feed
from trivium.store.sql.models import embedded_texts, stored
from trivium.store.sql.rows import IndexedChunk
from trivium.store.sql.statements import NEXT_MODEL, STORED, setting
from trivium.store.sql.tables import embeddings

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from trivium.core.types import Vector, Vectors

T = TypeVar("T")
# Up to this many chunks are all compared, at 1.5 µs each: 15 ms. The graph takes 3 to 12 ms.
EXACT = 10_000
_DEEPER = 4  # look this many times deeper if the graph proposed too few
# A row from the graph costs as much as comparing 6 rows: 50 and 8 µs, see the log.
_DEARER = 6
# Recall@10 falls as a graph grows. At 1M chunks, m 16, ef_construction 100 and ef_search 400 have
# .774; m 24, ef_construction 200 and ef_search 1000 have .964. At 100,000 the first have .996 with
# 66 rows proposed. More rows help, and time grows with them in steps of 1,000: at 1M one in 500
# is two steps, 42 ms and .975; one in 334 is three, 46 ms and .983; one in 333 begins a fourth.
GRAPH = "USING hnsw (vector halfvec_ip_ops) WITH (m = 24, ef_construction = 200)"
_PROPOSED = 334
_LARGE, _LARGE_EF_SEARCH = 200_000, 1_000  # chunks; the most that pgvector accepts
# Smaller graphs: the first step is enough, and may be shorter. At 100,000 chunks recall@10 is .999
# with ef_search 400 and .992 with 200, for 10.4 and 5.7 ms of the server's processor time; at
# 20,000 it is .996 with 128.
_LEAST_EF_SEARCH, _STEP = 128, 500  # chunks of the graph for each one looked at
_MEMORY = 2 << 30  # bytes for building a graph: 1.2 million vectors of 384 dimensions, 1,736 each
_ROWS = 10_000  # vectors read at a time: 8 MB of 384 dimensions
_MAKE = 7_411_003  # advisory lock for creating a table
_HEADER = b"PGCOPY\n\xff\r\n\0" + bytes(8)
_END = b"\xff\xff"
_BEFORE_VECTOR = 4  # bytes before a vector, with its dimensions
_LAST_TABLE = (
    "SELECT max(CAST(substring(relname FROM 9) AS integer)) FROM pg_class"
    " WHERE relname ~ '^vectors_[0-9]+$' AND relnamespace = CAST(current_schema() AS regnamespace)"
)
# Sent to the nodes too, which don't know the options of this connection. Without the last one,
# PostgreSQL reads a shard of 12,500 rows from end to end: 13.7 ms of processor time instead of 6.2.
_FOR_GRAPHS = (
    "SET LOCAL hnsw.ef_search = {ef}; SET LOCAL hnsw.iterative_scan = relaxed_order;"
    " SET LOCAL hnsw.max_scan_tuples = 100000; SET LOCAL enable_seqscan = off"
)
_LONGEST = 4_000  # dimensions that a graph of 16-bit vectors can have


class ServedModel(NamedTuple):
    """The model whose vectors are searched, as of a change of the library."""

    model: str
    sequence: int


class VectorTables:
    """Rows and graphs, for `store.sql.models` and for searches."""

    def __init__(self, engine: Engine, feed: Feed, switched: Callable[[], None]) -> None:
        """`switched`: called when searches change to another model's vectors."""
        self._engine = engine
        self._feed = feed
        self.switched = switched
        self._places: dict[ServedModel, tuple[str, int]] = {}  # the last one: table, shards or 0
        self._ef: WeakKeyDictionary[Any, int] = WeakKeyDictionary()  # what connections search with

    # --- changing

    def add(self, connection: Connection, model: str, chunks: Sequence[IndexedChunk]) -> None:
        """Part of the change that makes the chunks active."""
        indexed_chunks = [chunk for chunk in chunks if chunk.vector is not None]
        if indexed_chunks:
            vectors = np.stack(
                [chunk.vector for chunk in indexed_chunks if chunk.vector is not None]
            )
            table = self._made(connection, model, vectors.shape[1])
            _copy(connection, table, np.array([chunk.id for chunk in indexed_chunks]), vectors)

    def drop(self, connection: Connection, ranges: Iterable[tuple[ChunkId, int]]) -> None:
        gone = list(ranges)
        for table in self._tables(connection):
            connection.execute(
                text(
                    f"DELETE FROM {table} v USING unnest(CAST(:firsts AS bigint[]),"
                    " CAST(:counts AS integer[])) AS r(first, count)"
                    " WHERE v.chunk >= r.first AND v.chunk < r.first + r.count"
                ),
                {"firsts": [first for first, _ in gone], "counts": [count for _, count in gone]},
            )

    # --- what models ask of their index

    def holds_all(self) -> bool:
        active = "SELECT coalesce(sum(chunks), 0) FROM documents WHERE interpretation > 0"
        with self._engine.connect() as connection:
            return self.held() == int(connection.scalar(text(active)) or 0)

    def held(self) -> int:
        with self._engine.connect() as connection:
            table = self._table(connection, setting(connection, "model") or "")
            return int(
                connection.scalar(text(f"SELECT count(*) FROM {table}")) or 0 if table else 0
            )

    def rebuild(self) -> None:
        serving = self._feed.serving()
        if serving.dimensions:
            self._fill(serving.model, serving.dimensions, anew=True)

    def follow_passages(self) -> None:
        """If passages moved to nodes, or came back, copy the vectors into a new table there.
        Searches use the old one until it is complete."""
        with self._engine.connect() as connection:
            table = self._table(connection, setting(connection, "model") or "")
            lies = table is None or shards_of(connection, table) == shards_of(connection)
        serving = self._feed.serving()
        if not lies and serving.dimensions:
            self._fill(serving.model, serving.dimensions, anew=True, copied=True)

    def catch_up(self) -> None:
        serving = self._feed.serving()
        if serving.dimensions:
            self._fill(serving.model, serving.dimensions)

    def prepare(self, model: str, dimensions: int) -> None:
        self._fill(model, dimensions)

    def finish(self, model: str, dimensions: int) -> ChunkId:
        return self._fill(model, dimensions)

    def drop_others(self) -> None:
        with self._engine.begin() as connection:
            _alone(connection)
            needed = [setting(connection, "model") or "", setting(connection, NEXT_MODEL) or ""]
            query = text("DELETE FROM vector_tables WHERE NOT model = ANY(:kept) RETURNING number")
            for (number,) in connection.execute(query, {"kept": needed}).all():
                connection.execute(text(f"DROP TABLE IF EXISTS vectors_{number}"))

    # --- searching

    def nearest(
        self, serving: ServedModel, vector: Vector, k: int, passing: NDArray[np.bool_], total: int
    ) -> list[Hit]:
        """The k nearest of the chunks that pass. `passing`: by chunk id. `total`: number of active
        chunks."""
        count = int(np.count_nonzero(passing))
        if not count or k < 1:
            return []
        query = vector_sent(vector)

        def look(cursor: Any, table: str, shards: int) -> list[Hit]:
            graph = total // (shards or 1)  # chunks in each
            large = graph > _LARGE
            ef = _LARGE_EF_SEARCH if large else max(_LEAST_EF_SEARCH, graph // _STEP)
            of = _proposals_of_shards if shards else self._proposals
            propose = of(cursor, table, query, len(vector), ef)
            proposals = int(k * total / count) + 16
            depth = max(proposals, graph // _PROPOSED if large else 0)
            # If all chunks that pass are far from the query, the graph proposes only others. Then
            # comparing all that pass costs less than looking deeper.
            while count > max(EXACT, _DEARER * depth):
                hits = sorted(
                    (-score, chunk)
                    for chunk, score in propose(depth, proposals)
                    if chunk < len(passing) and passing[chunk]
                )
                if len(hits) >= k:
                    return [Hit(chunk, -score) for score, chunk in hits[:k]]
                proposals, depth = proposals * _DEEPER, depth * _DEEPER
            compared = (
                f"SELECT chunk, {_score(len(vector))} FROM {table}"
                " WHERE chunk = ANY(CAST(%(ids)s AS bigint[]))"
                " ORDER BY score DESC, chunk LIMIT %(k)s"
            )
            ids = ids_sent(np.flatnonzero(passing))
            cursor.execute(compared, {"q": query, "ids": ids, "k": k})
            return [Hit(chunk, score) for chunk, score in cursor.fetchall()]

        return self._searched(serving, look) or []

    def _proposals(
        self, cursor: Any, table: str, query: Sent, dimensions: int, ef: int
    ) -> Callable[[int, int], list[Any]]:
        """A function that returns the chunks and scores that the graph proposes. It takes how deep
        to look and how many to send."""
        near = f"vector <#> {_halved(dimensions)}"
        # The graph's order is rough. Without the `+ 0`, PostgreSQL trusts it and doesn't sort.
        proposed = (
            f"SELECT chunk, {_score(dimensions)} FROM (SELECT chunk, vector FROM {table}"
            f" ORDER BY {near} LIMIT %(depth)s) AS proposed ORDER BY ({near}) + 0 LIMIT %(kept)s"
        )
        # Set once for a connection: in a transaction of its own it takes three more messages.
        if self._ef.get(cursor.connection) != ef:
            cursor.execute(f"SET hnsw.ef_search = {ef}")
            self._ef[cursor.connection] = ef

        def propose(depth: int, proposals: int) -> list[Any]:
            parameters = {"q": query, "depth": depth, "kept": proposals}
            return list(cursor.execute(proposed, parameters).fetchall())

        return propose

    def of_chunks(self, serving: ServedModel, ids: Sequence[ChunkId]) -> dict[ChunkId, Vector]:
        """The vectors of chunks. Read in PostgreSQL's binary format: the registry's copy takes two
        more statements and three times as long."""
        if not len(ids):
            return {}

        def look(cursor: Any, table: str, _: int) -> list[Any]:
            query = f"SELECT chunk, vector FROM {table} WHERE chunk = ANY(CAST(%s AS bigint[]))"
            return list(cursor.execute(query, (ids_sent(np.array(ids)),)).fetchall())

        return {
            chunk: np.frombuffer(sent, ">f2", offset=_BEFORE_VECTOR).astype(np.float32)
            for chunk, sent in self._searched(serving, look) or ()
        }

    def _searched(self, serving: ServedModel, look: Callable[[Any, str, int], T]) -> T | None:
        """`look` with a cursor, the model's table and its number of shards; None: it has no table.
        Which table that is, is asked once for every change of the library; a rebuild replaces it
        without one, and then we ask again."""
        remembered = self._places.get(serving)
        if remembered is not None:
            with suppress(LibraryNotFound), one_read(self._engine) as cursor:
                return look(cursor, *remembered)
        place = self._place(serving.model)
        if place is None:
            return None
        self._places = {serving: place}
        with one_read(self._engine) as cursor:
            return look(cursor, *place)

    def _place(self, model: str) -> tuple[str, int] | None:
        with self._engine.connect() as connection:
            table = self._table(connection, model)
            return None if table is None else (table, shards_of(connection, table))

    # --- tables

    def _fill(
        self, model: str, dimensions: int, *, anew: bool = False, copied: bool = False
    ) -> ChunkId:
        """Add all embedded chunks that a model's table lacks; returns the highest id in it. `anew`:
        build a new table; searches use the old one until it is complete. `copied`: with the rows of
        the old one; the database copies them itself, in a sixth of the processor time."""
        with self._engine.begin() as connection:
            connection.execute(text("SET LOCAL statement_timeout = 0"))
            old = self._table(connection, model) if anew else None
            if old is not None:
                gone = text("DELETE FROM vector_tables WHERE model = :model")
                connection.execute(gone, {"model": model})
            table = self._made(connection, model, dimensions, graph=False)
            if old is not None and copied:
                self._add_rows(connection, table, old)
            else:
                self._add_missing(connection, table, model)
            self._add_graph(connection, table)
            highest = int(connection.scalar(text(f"SELECT max(chunk) FROM {table}")) or 0)
            if old is not None:  # last: searches wait from here to the end of the transaction
                connection.execute(text(f"DROP TABLE {old}"))
            return highest

    @staticmethod
    def _add_missing(connection: Connection, table: str, model: str) -> None:
        """Add the vectors of active chunks that the table lacks, in batches."""
        there = text(f"SELECT chunk FROM {table} WHERE chunk BETWEEN :first AND :last")
        for some in embedded_texts(connection, 0, _ROWS):
            ends = {"first": some[0][0], "last": some[-1][0]}
            have = set(connection.scalars(there, ends))
            lacking = [(id_, hash_) for id_, hash_ in some if id_ not in have]
            by_hash = stored(connection, embeddings, model, {hash_ for _, hash_ in lacking})
            pairs = [(id_, by_hash[hash_]) for id_, hash_ in lacking if hash_ in by_hash]
            if pairs:
                rows = np.frombuffer(b"".join(vector for _, vector in pairs), dtype=STORED)
                vectors = rows.reshape(len(pairs), -1).astype(np.float32)
                _copy(connection, table, np.array([id_ for id_, _ in pairs]), vectors)

    @staticmethod
    def _add_rows(connection: Connection, table: str, old: str) -> None:
        connection.execute(text(f"INSERT INTO {table} SELECT chunk, vector FROM {old}"))

    def _made(
        self, connection: Connection, model: str, dimensions: int, *, graph: bool = True
    ) -> str:
        """The table of a model; creates it if it doesn't exist."""
        table = self._table(connection, model)
        if table is not None:
            return table
        if dimensions > _LONGEST:
            raise StoreError(
                f"PostgreSQL can't index vectors of {dimensions:,} dimensions.",
                fix=f"Choose a model with at most {_LONGEST:,}, or set `embed.dimensions`.",
            )
        _alone(connection)
        table = self._table(connection, model)
        if table is None:
            last = connection.scalar(text(_LAST_TABLE)) or 0
            table = f"vectors_{last + 1}"
            connection.execute(
                text(
                    f"CREATE TABLE {table} (chunk bigint PRIMARY KEY,"
                    f" vector halfvec({dimensions}) NOT NULL)"
                )
            )
            connection.execute(text(f"ALTER TABLE {table} ALTER vector SET STORAGE PLAIN"))
            connection.execute(
                text("INSERT INTO vector_tables VALUES (:model, :number, :dimensions)"),
                {"model": model, "number": last + 1, "dimensions": dimensions},
            )
            shards = shards_of(connection)
            if shards:
                spread_table(connection, table, "chunk", shards)
        if graph:
            self._add_graph(connection, table)
        return table

    @staticmethod
    def _add_graph(connection: Connection, table: str) -> None:
        connection.execute(text("SET LOCAL statement_timeout = 0"))
        # Not less than the server allows anyway. Said in any case: the nodes' own setting may be
        # lower. A graph that outgrows this memory is finished row by row, many times slower.
        own = text("SELECT pg_size_bytes(current_setting('maintenance_work_mem'))")
        memory = max(int(connection.scalar(own) or 0), _MEMORY) // 1024
        connection.execute(text(f"SET LOCAL maintenance_work_mem = '{memory}kB'"))
        connection.execute(text(f"CREATE INDEX IF NOT EXISTS {table}_graph ON {table} {GRAPH}"))

    @staticmethod
    def _table(connection: Connection, model: str) -> str | None:
        query = text("SELECT number FROM vector_tables WHERE model = :model")
        number = connection.scalar(query, {"model": model})
        return None if number is None else f"vectors_{number}"

    @staticmethod
    def _tables(connection: Connection) -> list[str]:
        numbers = connection.scalars(text("SELECT number FROM vector_tables ORDER BY number"))
        return [f"vectors_{number}" for number in numbers]


def _halved(dimensions: int) -> str:
    """The query for a graph of 16-bit vectors. It is sent as a `vector`."""
    return f"CAST(CAST(%(q)s AS vector) AS halfvec({dimensions}))"


def _score(dimensions: int) -> str:
    return f"-(vector::vector({dimensions}) <#> CAST(%(q)s AS vector)) AS score"


def _proposals_of_shards(
    cursor: Any, table: str, query: Sent, dimensions: int, ef: int
) -> Callable[[int, int], list[Any]]:
    """The same over all shards. One level of SELECT, so that each shard sends only its best."""
    proposed = (
        f"SELECT chunk, {_score(dimensions)} FROM {table}"
        f" ORDER BY vector <#> {_halved(dimensions)} LIMIT %(depth)s"
    )

    def propose(depth: int, _: int) -> list[Any]:
        with cursor.connection.transaction():
            # several statements, so as plain text
            cursor.execute(_FOR_GRAPHS.format(ef=ef), prepare=False, binary=False)
            return list(cursor.execute(proposed, {"q": query, "depth": depth}).fetchall())

    return propose


def _alone(connection: Connection) -> None:
    connection.execute(text(f"SELECT pg_advisory_xact_lock({_MAKE})"))


def _copy(connection: Connection, table: str, ids: NDArray[Any], vectors: Vectors) -> None:
    """In PostgreSQL's binary format: text would take ten times as long."""
    dimensions = vectors.shape[1]
    row = np.dtype(
        [
            ("fields", ">i2"), ("a", ">i4"), ("chunk", ">i8"), ("b", ">i4"), ("dimensions", ">i2"),
            ("unused", ">i2"), ("vector", ">f2", dimensions),
        ]
    )  # fmt: skip
    rows = np.zeros(len(ids), dtype=row)
    rows["fields"], rows["a"], rows["chunk"] = 2, 8, ids
    rows["b"], rows["dimensions"] = 4 + 2 * dimensions, dimensions
    rows["vector"] = vectors.astype(np.float16)
    copying = f"COPY {table} (chunk, vector) FROM STDIN (FORMAT BINARY)"
    with direct(connection) as cursor, cursor.copy(copying) as copy:
        copy.write(_HEADER + rows.tobytes() + _END)
