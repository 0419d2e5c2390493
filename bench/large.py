"""A large library in PostgreSQL, loaded by several processes.

    python -m bench.large --server postgresql://… --chunks 1000000 --processes 10
    python -m bench.large --server postgresql://… --processes 8 --by-hand 4 --folder

Every process adds its share of the blocks of `bench.rows` through the store's writer. The graph of
the vectors is dropped before and built at the end. `bench.postgres` with the same number of
chunks finds the library there and measures searches in it; to measure on two cores, pin that
process and the server to the same two (`taskset -acp`). With --by-hand that many processes fill its
table of SQL by hand meanwhile (two legs), and with --folder one more builds its folder, so that
`bench.postgres --two-legs` measures all three in one run. --drop removes the library at the end;
--no-graph leaves the graph out, for a library that `bench.citus` moves to nodes before it searches.
Without --server it uses the server of the tests.
"""

from __future__ import annotations

import json
import multiprocessing
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from time import perf_counter
from typing import Any

from sqlalchemy import Engine, create_engine, make_url, text

from bench.build import documents_of, place, prepare
from bench.corpus import load_corpus
from bench.harness import Namespace, arguments
from bench.postgres import drop, make_by_hand, sizes
from bench.rows import BLOCK, make_rows
from bench.surroundings import surroundings
from trivium.config import load
from trivium.core.places import DatabaseAddress
from trivium.library.assembly import local_embedder_for
from trivium.store.opening import BackendOptions, open_backend
from trivium.store.postgres.vectors import GRAPH


def main() -> None:
    asked = _arguments()
    if not asked.server:
        from tests import postgres

        asked.server = postgres.address()
    schema = f"bench_{asked.chunks}"  # as in bench.postgres
    there = DatabaseAddress(f"{asked.server}?schema={schema}")
    url = make_url(asked.server).set(drivername="postgresql+psycopg")
    engine = create_engine(url, connect_args={"options": f"-c search_path={schema},public"})
    found: dict[str, Any] = {"chunks": asked.chunks, **surroundings()}
    corpus, settings = load_corpus(asked.data), load().settings
    prepare(place(settings, corpus, asked.chunks), corpus, settings)
    try:
        with ThreadPoolExecutor(2) as beside:
            by_hand = beside.submit(_by_hand, asked) if asked.by_hand else None
            folder = beside.submit(_folder, asked) if asked.folder else None
            found["load"] = load_rows(engine, there, asked)
            found["by_hand_seconds"] = by_hand.result() if by_hand else None
            found["folder_seconds"] = folder.result() if folder else None
        found["megabytes"] = sizes(engine, schema)
        print(json.dumps(found, indent=1))
    finally:
        engine.dispose()
        if asked.drop:
            drop(asked.server, asked.chunks)


def _arguments() -> Namespace:
    return arguments(
        __doc__,
        "data",
        server=("", "address of a database you may write to"),
        chunks=1_000_000,
        processes=10,
        by_hand={"type": int, "default": 0, "metavar": "PROCESSES"},
        folder=(False, "build the folder too"),
        no_graph=(False, "`bench.citus` builds others"),
        drop=(False, "remove the schema at the end"),
    )


def load_rows(engine: Engine, there: DatabaseAddress, asked: Namespace) -> dict[str, Any]:
    settings, corpus = load().settings, load_corpus(asked.data)
    at = place(settings, corpus, asked.chunks)
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
    if not asked.no_graph:
        with engine.begin() as connection:
            connection.execute(text(f"CREATE INDEX {table}_graph ON {table} {GRAPH}"))
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


def _by_hand(asked: Namespace) -> float:
    engine = create_engine(make_url(asked.server).set(drivername="postgresql+psycopg"))
    try:
        return make_by_hand(engine, asked.chunks, asked.data, processes=asked.by_hand)
    finally:
        engine.dispose()


def _folder(asked: Namespace) -> float:
    started = perf_counter()
    command = [sys.executable, "-m", "bench.build", "--chunks", str(asked.chunks)]
    subprocess.run([*command, "--data", str(asked.data)], check=True)
    return round(perf_counter() - started, 1)


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


def _vector_table(engine: Engine, model: str) -> str:
    query = text("SELECT number FROM vector_tables WHERE model = :model")
    with engine.connect() as connection:
        return f"vectors_{connection.scalar(query, {'model': model})}"


if __name__ == "__main__":
    main()
