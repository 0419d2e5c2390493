"""A large library in PostgreSQL: loaded by several processes, then searched.

    python -m bench.large --server postgresql://… --chunks 1000000 --processes 10

Every process puts its share of the blocks of `bench.rows` through the store's own writer. The graph
of the vectors is dropped before that and made at the end. Then: each signal and hybrid search, the
first time and again, without a filter and with filters that pass 1 % and .1 % of the documents;
recall@10 of the vector signal at several values of hnsw.ef_search; memory; sizes of the tables.
To measure on two cores, pin this process and the server to the same two (`taskset -acp`) and pass
--measure-only. The schema is `size_CHUNKS`; --drop removes it at the end. Without --server it uses
the server of the tests.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import sys
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np
from sqlalchemy import Engine, create_engine, make_url, text

from bench.build import documents_of, place, prepare
from bench.corpus import DATA, WARM_UP, load_corpus
from bench.ours import Precomputed
from bench.rows import BLOCK, SHARDS, make_rows
from bench.surroundings import surroundings
from bench.timing import as_json, measure, memory
from trivium.config import load
from trivium.library.asking import request_for
from trivium.library.assembly import local_embedder_for
from trivium.options import SearchOptions
from trivium.places import DatabaseAddress
from trivium.ports import Backend
from trivium.search.run import Searcher
from trivium.store.opening import BackendOptions, open_backend
from trivium.text.query import parse
from trivium.types import OWNER, Compare, Probe, Signal, Where

if TYPE_CHECKING:
    from numpy.typing import NDArray

SHARES = (1.0, 0.01, 0.001)
EF_SEARCH = (200, 400, 800)
LIMIT, CANDIDATES = 10, 50
_GRAPH = "USING hnsw (vector halfvec_ip_ops) WITH (m = 16, ef_construction = 100)"


def main() -> None:
    asked = _arguments()
    if not asked.server:
        from tests import postgres

        asked.server = postgres.address()
    schema = f"size_{asked.chunks}"
    there = DatabaseAddress(f"{asked.server}?schema={schema}")
    url = make_url(asked.server).set(drivername="postgresql+psycopg")
    engine = create_engine(url, connect_args={"options": f"-c search_path={schema},public"})
    found: dict[str, Any] = {"chunks": asked.chunks, **surroundings()}
    try:
        if not asked.measure_only:
            found["load"] = load_rows(engine, there, asked)
        if not asked.load_only:
            found["search"] = searched(engine, there, asked)
            found["client_megabytes"] = as_json(memory())
        found["megabytes"] = _sizes(engine, schema)
        print(json.dumps(found, indent=1))
    finally:
        if asked.drop:
            with engine.begin() as connection:
                connection.execute(text(f"DROP SCHEMA IF EXISTS {schema} CASCADE"))
        engine.dispose()


def _arguments() -> argparse.Namespace:
    asked = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    asked.add_argument("--server", default="", help="address of a database you may write to")
    asked.add_argument("--chunks", type=int, default=1_000_000)
    asked.add_argument("--processes", type=int, default=10)
    asked.add_argument("--seconds", type=float, default=30.0, help="the most a measurement takes")
    asked.add_argument("--data", type=Path, default=DATA)
    asked.add_argument("--load-only", action="store_true")
    asked.add_argument("--measure-only", action="store_true", help="the rows are there already")
    asked.add_argument("--drop", action="store_true", help="remove the schema at the end")
    return asked.parse_args()


# --- loading --------------------------------------------------------------------------------------


def load_rows(engine: Engine, there: DatabaseAddress, asked: argparse.Namespace) -> dict[str, Any]:
    settings, corpus = load().settings, load_corpus(asked.data)
    at = place(settings, corpus, asked.chunks)
    prepare(at, corpus, settings)
    model = local_embedder_for(settings).fingerprint
    first = next(make_rows(corpus, at.prepared.base, min(BLOCK, asked.chunks)))
    library = open_backend(there, BackendOptions())
    library.writer.put(list(documents_of(first)), model)  # makes the table of the vectors
    table = _vector_table(engine, model)
    with engine.begin() as connection:
        connection.execute(text(f"DROP INDEX {table}_graph"))
    started = perf_counter()
    share = (there.url, asked.data, asked.chunks, model, asked.processes)
    with multiprocessing.get_context("spawn").Pool(asked.processes) as pool:
        pool.starmap(_put_share, [(*share, number) for number in range(asked.processes)])
    put = perf_counter() - started
    started = perf_counter()
    with library.writer.writing():
        pass  # on leaving, rows of words are joined
    merged = perf_counter() - started
    started = perf_counter()
    with engine.begin() as connection:
        connection.execute(text(f"CREATE INDEX {table}_graph ON {table} {_GRAPH}"))
    graph = perf_counter() - started
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(text("ANALYZE"))
    health = library.upkeep.health()
    library.close()
    rest = max(0, asked.chunks - BLOCK)
    return {
        "put_seconds": round(put, 1),
        "chunks_a_second": round(rest / put),
        "merge_seconds": round(merged, 1),
        "graph_seconds": round(graph, 1),
        "health": health,
    }


def _put_share(url: str, data: Path, chunks: int, model: str, processes: int, number: int) -> None:
    """Every process makes all texts, since each depends on those before, and puts its own."""
    settings, corpus = load().settings, load_corpus(data)
    base = place(settings, corpus, chunks).prepared.base
    library = open_backend(DatabaseAddress(url), BackendOptions())
    started, done = perf_counter(), 0
    for block, rows in enumerate(make_rows(corpus, base, chunks)):
        if block and block % processes == number:
            with library.writer.writing():
                library.writer.put(list(documents_of(rows)), model)
            done += len(rows.texts)
    library.close()
    rate = done / (perf_counter() - started)
    print(f"process {number}: {done:,} chunks, {rate:,.0f}/s", file=sys.stderr, flush=True)


# --- searching ------------------------------------------------------------------------------------


def searched(engine: Engine, there: DatabaseAddress, asked: argparse.Namespace) -> dict[str, Any]:
    settings, corpus = load().settings, load_corpus(asked.data)
    prepared = place(settings, corpus, asked.chunks).prepared
    queries, vectors = prepared.queries, prepared.query_vectors
    embedder = local_embedder_for(settings)
    model = embedder.fingerprint
    pairs = zip(queries, vectors, strict=True)
    probes = [Probe(parse(query), vector, model=model) for query, vector in pairs]
    started = perf_counter()
    library = open_backend(there, BackendOptions(create=False))
    opened = perf_counter() - started
    searcher = Searcher(library, Precomputed(embedder, queries, vectors))

    def hybrid(i: int, where: Where) -> object:
        options = SearchOptions(limit=LIMIT)
        return searcher.search(request_for(settings, model, (queries[i],), where, options))

    started = perf_counter()
    hybrid(0, OWNER)
    found: dict[str, Any] = {
        "open_seconds": round(opened, 2),
        "first_search_seconds": round(perf_counter() - started, 2),
    }
    runs: dict[str, Callable[[int, Where], object]] = {
        signal.value: _one_signal(library, signal, probes) for signal in Signal
    }
    runs["hybrid"] = hybrid
    asked_for = list(range(WARM_UP, len(queries)))
    for share in SHARES:
        where = _where(share)
        told: dict[str, Any] = {}
        for name, run in runs.items():
            for when in ("cold", "warm"):

                def ask(i: int, run: Callable[..., object] = run, where: Where = where) -> None:
                    run(i, where)

                told[f"{name} {when}"] = asdict(measure(ask, asked_for, asked.seconds))
        found[f"{share:.1%}"] = told
    found["recall"] = _recall(engine, library, model, probes[WARM_UP:])
    library.close()
    return found


def _one_signal(
    library: Backend, signal: Signal, probes: list[Probe]
) -> Callable[[int, Where], object]:
    return lambda i, where: library.signals.search(signal, probes[i], where, CANDIDATES)


def _where(share: float) -> Where:
    return OWNER if share == 1 else Where(None, Compare("metadata.shard", "lt", share * SHARDS))


def _recall(
    engine: Engine, library: Backend, model: str, probes: list[Probe]
) -> dict[str, dict[str, float]]:
    """The share of the true ten nearest: of the store's own search with its ef_search, and of the
    graph alone with others."""
    ids, matrix = _vectors(engine, _vector_table(engine, model))
    asked = [probe.vector for probe in probes if probe.vector is not None]
    found: dict[str, dict[str, float]] = {}
    truths: dict[float, list[set[int]]] = {}
    for share in SHARES:
        _, passing = library.signals.sample(10**9, _where(share))
        rows = np.flatnonzero(np.isin(ids, np.array(passing)))
        truths[share] = [_nearest(ids[rows], matrix[rows], vector) for vector in asked]
        hits = [
            {h.chunk_id for h in library.signals.search(Signal.VECTOR, p, _where(share), 50)[:10]}
            for p in probes
        ]
        found[f"{share:.1%}"] = {"store": _met(hits, truths[share])}
    table = _vector_table(engine, model)
    query = text(
        f"SELECT chunk FROM {table} ORDER BY vector <#> CAST(:q AS halfvec({matrix.shape[1]}))"
        " LIMIT 66"
    )
    for ef in EF_SEARCH:
        with engine.connect() as connection:
            connection.execute(text(f"SET hnsw.ef_search = {ef}"))
            hits = []
            for vector in asked:
                told = "[" + ",".join(map(repr, vector.astype(np.float64).tolist())) + "]"
                near = np.array(connection.scalars(query, {"q": told}).all())
                rows = np.searchsorted(ids, near)
                hits.append(_nearest(near, matrix[rows], vector))
        found[f"{1:.1%}"][f"graph, ef_search {ef}"] = _met(hits, truths[1.0])
    return found


def _nearest(ids: NDArray[Any], matrix: NDArray[Any], vector: NDArray[Any]) -> set[int]:
    """In slices: a million rows as 32 bits would take 1.5 GB."""
    parts = [matrix[i : i + 50_000].astype(np.float32) @ vector for i in range(0, len(ids), 50_000)]
    order = np.argsort(-np.concatenate(parts), kind="stable")[:LIMIT]
    return set(ids[order].tolist())


def _met(found: list[set[int]], true: list[set[int]]) -> float:
    met = sum(len(some & all_) for some, all_ in zip(found, true, strict=True))
    return round(met / max(1, sum(map(len, true))), 4)


def _vectors(engine: Engine, table: str) -> tuple[NDArray[Any], NDArray[Any]]:
    """Every row, by rising id, read as PostgreSQL's own bytes."""
    with engine.connect() as connection:
        driver: Any = connection.connection.driver_connection
        copying = f"COPY (SELECT * FROM {table} ORDER BY chunk) TO STDOUT (FORMAT BINARY)"
        with driver.cursor() as cursor, cursor.copy(copying) as copy:
            data = b"".join(bytes(part) for part in copy)
    dimensions = int.from_bytes(data[37:39], "big")
    row = np.dtype(
        [("before", "V6"), ("chunk", ">i8"), ("size", "V8"), ("vector", ">f2", dimensions)]
    )
    rows = np.frombuffer(data[19:-2], dtype=row)
    return rows["chunk"].astype(np.int64), rows["vector"].astype(np.float16)


def _vector_table(engine: Engine, model: str) -> str:
    query = text("SELECT number FROM vector_tables WHERE model = :model")
    with engine.connect() as connection:
        return f"vectors_{connection.scalar(query, {'model': model})}"


def _sizes(engine: Engine, schema: str) -> dict[str, float]:
    query = text(
        "SELECT relname, pg_total_relation_size(oid) / 1e6 AS size FROM pg_class"
        " WHERE relkind = 'r' AND relnamespace = CAST(:schema AS regnamespace) ORDER BY 2 DESC"
    )
    with engine.connect() as connection:
        rows = connection.execute(query, {"schema": schema}).all()
    return {row.relname: round(float(row.size), 1) for row in rows if row.size > 1}


if __name__ == "__main__":
    main()
