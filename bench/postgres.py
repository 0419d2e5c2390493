"""Compares a library in PostgreSQL with the same library in a folder, and with SQL written by hand.

    python -m bench.postgres --server postgresql://… --chunks 100000
    python -m bench.postgres --server postgresql://… --quality scifact,nfcorpus

Speed: the rows of `bench.rows` in a folder, copied into PostgreSQL as `trivium copy` does, and put
into one table as a person would write it: halfvec with HNSW, tsvector with GIN and
websearch_to_tsquery, pg_trgm with GIN and word similarity, joined by reciprocal ranks. Every query
runs on all three, one after the other, without a filter and with filters that let 1 % and .1 % of
the documents pass. `recall`: the share of the true ten nearest. Without --server one is started.

Quality: nDCG@10 of judged sets by each signal and fused, in the folder and in PostgreSQL.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from itertools import product
from pathlib import Path
from time import perf_counter
from typing import Any, cast
from uuid import uuid4

import numpy as np
from sqlalchemy import Connection, Engine, TextClause, create_engine, make_url, text
from sqlalchemy.exc import OperationalError

from bench.build import Place, build, place, prepare
from bench.corpus import load_corpus, warm_up
from bench.harness import Namespace, arguments
from bench.ours import Precomputed
from bench.rows import SHARDS, make_rows
from bench.surroundings import surroundings
from bench.timing import Timing, measure, processor_seconds_of
from trivium.config import Settings, load
from trivium.core.places import DatabaseAddress
from trivium.core.types import OWNER, Compare, Probe, Signal, Where
from trivium.library import Library
from trivium.library.asking import request_for
from trivium.library.assembly import local_embedder_for
from trivium.operations.searching import SearchOptions
from trivium.ports import Backend
from trivium.search.run import Searcher
from trivium.store.copying import copy_library
from trivium.store.opening import BackendOptions, open_backend
from trivium.text.query import parse

LIMIT = 10
SHARES = (1.0, 0.01, 0.001)
RUNS = ("vector", "keyword", "trigram", "hybrid")
_MEANING = """
  SELECT id, row_number() OVER (ORDER BY vector <#> CAST(:vector AS halfvec(384))) AS place
  FROM {table} WHERE shard < :shards ORDER BY vector <#> CAST(:vector AS halfvec(384)) LIMIT 50"""
_WORDS = """
  SELECT id, row_number() OVER (ORDER BY ts_rank_cd(words, q) DESC) AS place
  FROM {table}, websearch_to_tsquery('english', :query) q
  WHERE words @@ q AND shard < :shards ORDER BY ts_rank_cd(words, q) DESC LIMIT 50"""
_SPELLING = """
  SELECT id, row_number() OVER (ORDER BY word_similarity(:query, text) DESC) AS place
  FROM {table} WHERE :query <% text AND shard < :shards
  ORDER BY word_similarity(:query, text) DESC LIMIT 50"""
BY_HAND = {"two legs": (_MEANING, _WORDS), "three legs": (_MEANING, _WORDS, _SPELLING)}
_BY_HAND_INDEXES = (
    "hnsw (vector halfvec_ip_ops) WITH (m = 16, ef_construction = 100)",
    "gin (words)",
    "btree (shard)",
)
_SPELLING_INDEX = "gin (text gin_trgm_ops)"
_PATIENCE = 30  # seconds; a query by hand that takes longer counts as this


@dataclass(frozen=True, slots=True)
class Asked:
    """The same queries for all three."""

    queries: list[str]
    probes: list[Probe]
    seconds: float  # the most that one measurement may take


def main() -> None:
    asked = _arguments()
    address = asked.server or os.environ.get("TRIVIUM_TEST_POSTGRES", "")
    if not address:
        from tests import postgres

        address = postgres.address()
    settings = load().settings
    if asked.quality:
        found = quality(settings, address, asked.quality.split(","), asked.data)
    else:
        found = speed(settings, address, asked)
    print(json.dumps(found, indent=1) if asked.json else _table(found))


def _arguments() -> Namespace:
    return arguments(
        __doc__,
        "chunks",
        "data",
        "json",
        server=("", "address of a database that may be written to"),
        quality=({"default": "", "metavar": "SETS"}, "judged sets, by commas"),
        seconds=(60.0, "the most a measurement takes"),
        no_folder=False,
        two_legs=(False, "by hand only meaning and words"),
        drop=(False, "remove what was made, at the end"),
    )


# --- speed ----------------------------------------------------------------------------------------


def speed(settings: Settings, address: str, asked: Namespace) -> dict[str, Any]:
    corpus = load_corpus(asked.data)
    at = place(settings, corpus, asked.chunks)
    prepare(at, corpus, settings)
    there = DatabaseAddress(f"{address}?schema=bench_{asked.chunks}")
    needed = not asked.no_folder or not is_there(at, there)
    if needed and not at.built.exists():
        build(at, corpus, settings)
    queries, vectors = at.prepared.queries, at.prepared.query_vectors
    model = local_embedder_for(settings).fingerprint
    pairs = zip(queries, vectors, strict=True)
    probes = [Probe(parse(query), vector, model=model) for query, vector in pairs]
    ask = Asked(queries, probes, asked.seconds)
    found: dict[str, Any] = {"chunks": asked.chunks, **surroundings()}
    found["copy_seconds"] = copied(at, there)
    if not asked.no_folder:
        with opened(at.library) as folder:
            found["folder"] = _measured(folder, settings, at, ask)
    with opened(there) as library:
        found["postgres"] = _measured(library, settings, at, ask)
    engine = engine_of(address)
    legs = dict(list(BY_HAND.items())[:1]) if asked.two_legs else BY_HAND
    found["by_hand"] = _by_hand(engine, at, asked.data, ask, legs)
    found["megabytes"] = sizes(engine, f"bench_{asked.chunks}")
    engine.dispose()
    if asked.drop:
        drop(address, asked.chunks)
    return found


def drop(address: str, chunks: int) -> None:
    """Remove the library and the table by hand."""
    engine = engine_of(address)
    with engine.begin() as connection:
        connection.execute(text(f"DROP SCHEMA IF EXISTS bench_{chunks} CASCADE"))
        connection.execute(text(f"DROP TABLE IF EXISTS by_hand_{chunks}"))
    engine.dispose()


def engine_of(address: str) -> Engine:
    """A thread of `by_hand` keeps its connection."""
    url = make_url(address).set(drivername="postgresql+psycopg")
    return create_engine(url, pool_size=50)


def copied(at: Place, there: DatabaseAddress) -> float:
    """Seconds to copy the folder with its indexes; 0 if an earlier run did it."""
    started = perf_counter()
    if is_there(at, there):
        return 0.0
    copy_library(at.library, there, BackendOptions(create=False), BackendOptions())
    return round(perf_counter() - started, 1)


def is_there(at: Place, there: DatabaseAddress) -> bool:
    with opened(there) as library:
        return bool(library.upkeep.health()["chunks"] == at.chunks)


@contextmanager
def opened(where: Path | DatabaseAddress) -> Iterator[Backend]:
    backend = open_backend(where, BackendOptions())
    try:
        yield backend
    finally:
        backend.close()


def _measured(library: Backend, settings: Settings, at: Place, ask: Asked) -> dict[str, Any]:
    library.signals.refresh()
    model = local_embedder_for(settings)
    given = Searcher(library, Precomputed(model, ask.queries, at.prepared.query_vectors))
    found: dict[str, Any] = {}
    for share in SHARES:
        where = OWNER
        if share < 1:
            where = Where(None, Compare("metadata.shard", "lt", share * SHARDS))
        runs = {signal.value: _one_signal(library, signal, ask, where) for signal in Signal}
        runs["hybrid"] = _hybrid(given, settings, model.fingerprint, ask, where)
        timed: dict[str, Any] = {}
        for name, run in runs.items():
            timed[name] = asdict(_timed(run, ask))
            _say(type(library).__name__, share, name, timed[name])
        found[f"{share:.1%}"] = {**timed, "recall": _recall(library, ask, where)}
    return found


def _say(where: str, share: float, run: str, took: dict[str, Any]) -> None:
    print(f"{where} {share:.1%} {run}: {took['p50']} {took['p95']}", file=sys.stderr, flush=True)


def _one_signal(
    library: Backend, signal: Signal, ask: Asked, where: Where
) -> Callable[[int], object]:
    return lambda i: library.signals.search(signal, ask.probes[i], where, 50)


def _hybrid(
    searcher: Searcher, settings: Settings, model: str, ask: Asked, where: Where
) -> Callable[[int], object]:
    options = SearchOptions(limit=LIMIT)
    return lambda i: searcher.search(
        request_for(settings, model, (ask.queries[i],), where, options)
    )


def _timed(run: Callable[[int], object], ask: Asked) -> Timing:
    warm = warm_up(ask.queries)
    for i in range(warm):
        run(i)
    return measure(run, list(range(warm, len(ask.queries))), ask.seconds)


def _recall(library: Backend, ask: Asked, where: Where, checked: int = 50) -> float:
    """Against the vectors of everything that passes, read once."""
    _, ids = library.signals.sample(10**9, where)
    held: list[tuple[int, Any]] = []
    for first in range(0, len(ids), 5_000):
        held += library.signals.vectors(ids[first : first + 5_000], where).items()
    numbers = np.array([i for i, _ in held])
    matrix = np.stack([vector for _, vector in held]).astype(np.float16)
    hits = 0
    for probe in ask.probes[(warm := warm_up(ask.probes)) : warm + checked]:
        assert probe.vector is not None
        scores = _dot(matrix, probe.vector)
        true = set(numbers[np.argsort(-scores)[:LIMIT]].tolist())
        found = library.signals.search(Signal.VECTOR, probe, where, 50)[:LIMIT]
        hits += len({hit.chunk_id for hit in found} & true)
    return round(hits / (checked * min(LIMIT, len(held))), 4)


def _dot(matrix: Any, vector: Any) -> Any:
    """In slices: a million rows as 32 bits would take 1.5 GB."""
    parts = (matrix[i : i + 50_000].astype(np.float32) for i in range(0, len(matrix), 50_000))
    return np.concatenate([part @ vector for part in parts])


# --- by hand --------------------------------------------------------------------------------------


def _by_hand(
    engine: Engine, at: Place, data: Path, ask: Asked, ways: dict[str, tuple[str, ...]]
) -> dict[str, Any]:
    table = f"by_hand_{at.chunks}"
    spelling = any(_SPELLING in legs for legs in ways.values())
    made = make_by_hand(engine, at.chunks, data, spelling=spelling)
    found: dict[str, Any] = {"build_seconds": made}
    for share, (name, legs) in product(SHARES, ways.items()):
        run = by_hand(engine, at, legs, share)
        run(0)
        rest = list(range(warm_up(ask.queries), len(ask.queries)))
        took = asdict(measure(run, rest, ask.seconds))
        _say("by hand", share, name, took)
        found.setdefault(f"{share:.1%}", {})[name] = took
    found["megabytes"] = _megabytes(engine, table)
    return found


def by_hand(
    engine: Engine, at: Place, legs: tuple[str, ...], share: float
) -> Callable[[int], object]:
    """A search by hand, for any thread: each has its own connection."""
    statement, mine = _joined(f"by_hand_{at.chunks}", legs), threading.local()
    queries, vectors = at.prepared.queries, at.prepared.query_vectors

    def connection() -> Connection:
        if not hasattr(mine, "connection"):
            opened = engine.connect().execution_options(isolation_level="AUTOCOMMIT")
            for told in (
                "hnsw.iterative_scan = relaxed_order",
                "hnsw.ef_search = 400",
                f"statement_timeout = '{_PATIENCE}s'",
            ):
                opened.execute(text(f"SET {told}"))
            mine.connection = opened
        return cast(Connection, mine.connection)

    def run(i: int) -> None:
        told = "[" + ",".join(map(str, vectors[i].tolist())) + "]"
        values = {"query": queries[i], "shards": share * SHARDS, "vector": told}
        with suppress(OperationalError):  # out of patience
            connection().execute(statement, values).all()

    return run


def _joined(table: str, legs: tuple[str, ...]) -> TextClause:
    """The best of each leg, by the sum of reciprocal ranks."""
    found = " UNION ALL ".join(f"SELECT * FROM ({leg.format(table=table)}) AS leg" for leg in legs)
    return text(
        f"SELECT id, sum(1.0 / (60 + place)) AS score FROM ({found}) AS found"
        " GROUP BY id ORDER BY score DESC LIMIT 10"
    )


def make_by_hand(
    engine: Engine, chunks: int, data: Path, *, spelling: bool = False, processes: int = 1
) -> float:
    """Seconds that took; 0 where the table is there already."""
    table, started = f"by_hand_{chunks}", perf_counter()
    with engine.begin() as connection:
        connection.execute(text("CREATE EXTENSION IF NOT EXISTS pg_trgm"))
        if connection.scalar(text(f"SELECT to_regclass('{table}')")) is not None:
            return 0.0
        connection.execute(
            text(
                f"CREATE TABLE {table} (id bigint PRIMARY KEY, shard integer, text text,"
                " vector halfvec(384), words tsvector GENERATED ALWAYS AS"
                " (to_tsvector('english', text)) STORED)"
            )
        )
    url = engine.url.render_as_string(hide_password=False)
    shares = [(url, table, chunks, data, processes, number) for number in range(processes)]
    with multiprocessing.get_context("spawn").Pool(processes) as pool:
        pool.starmap(_fill_by_hand, shares)
    with engine.begin() as connection:
        connection.execute(text("SET LOCAL maintenance_work_mem = '2GB'"))
        for using in (*_BY_HAND_INDEXES, *([_SPELLING_INDEX] if spelling else [])):
            connection.execute(text(f"CREATE INDEX ON {table} USING {using}"))
    return round(perf_counter() - started, 1)


def _fill_by_hand(
    url: str, table: str, chunks: int, data: Path, processes: int, number: int
) -> None:
    """The share of one process. Each makes all texts, since each depends on those before."""
    settings, corpus = load().settings, load_corpus(data)
    base = place(settings, corpus, chunks).prepared.base
    engine = create_engine(url)
    with engine.begin() as connection:
        driver: Any = connection.connection.driver_connection
        columns = "(id, shard, text, vector)"
        with driver.cursor() as cursor, cursor.copy(f"COPY {table} {columns} FROM STDIN") as copy:
            for block, rows in enumerate(make_rows(corpus, base, chunks)):
                if block % processes != number:
                    continue
                for i, shard_, line, vector in zip(
                    rows.ids, rows.shards, rows.texts, rows.vectors, strict=True
                ):
                    told = "[" + ",".join(map(str, vector.astype(np.float16).tolist())) + "]"
                    copy.write_row((i, shard_, line, told))
    engine.dispose()


def sizes(engine: Engine, schema: str) -> dict[str, float]:
    query = text(
        "SELECT relname, pg_total_relation_size(oid) / 1e6 AS size FROM pg_class"
        " WHERE relkind = 'r' AND relnamespace = CAST(:schema AS regnamespace) ORDER BY 2 DESC"
    )
    with engine.connect() as connection:
        rows = connection.execute(query, {"schema": schema}).all()
    return {row.relname: round(float(row.size), 1) for row in rows if row.size > 1}


def server_seconds(engine: Engine) -> float:
    """Processor seconds of the server with all its processes, if it runs here."""
    with engine.connect() as connection:
        backend = connection.scalar(text("SELECT pg_backend_pid()"))
    stat = Path(f"/proc/{backend}/stat")
    if make_url(engine.url).host not in ("127.0.0.1", "localhost") or not stat.exists():
        return 0.0
    return processor_seconds_of(int(stat.read_text().rpartition(")")[2].split()[1]))


def _megabytes(engine: Engine, table: str) -> float:
    with engine.connect() as connection:
        size = connection.scalar(text(f"SELECT pg_total_relation_size('{table}')")) or 0
    return round(size / 1e6, 1)


# --- quality --------------------------------------------------------------------------------------


def quality(settings: Settings, address: str, sets: list[str], data: Path) -> dict[str, Any]:
    from trivium.evaluate.run import evaluate

    found: dict[str, Any] = {}
    for name in sets:
        files = data / "retrieval" / name
        in_folder = evaluate(files, settings, only=RUNS)
        with judged(settings, address, files) as library:
            in_database = evaluate(files, settings, library=library, only=RUNS)
        found[name] = {
            run: {
                "folder": in_folder.runs[run].means["ndcg@10"],
                "postgres": in_database.runs[run].means["ndcg@10"],
            }
            for run in RUNS
        }
        print(name, found[name], file=sys.stderr, flush=True)
    return found


@contextmanager
def judged(settings: Settings, address: str, files: Path) -> Iterator[Library]:
    """The library of a judged set, copied into a schema that is dropped afterwards."""
    from trivium.evaluate.dataset import load_dataset
    from trivium.evaluate.subject import opened

    with opened(load_dataset(files), settings, lambda *_: None) as subject:
        folder = subject.library.backend.folder
    assert folder is not None
    schema = f"judged_{uuid4().hex[:8]}"
    there = DatabaseAddress(f"{address}?schema={schema}")
    try:
        copy_library(folder, there, BackendOptions(create=False), BackendOptions())
        backend = open_backend(there, BackendOptions())
        with Library(backend, local_embedder_for(settings), settings) as library:
            yield library
    finally:
        engine = engine_of(address)
        with engine.begin() as connection:
            connection.execute(text(f"DROP SCHEMA IF EXISTS {schema} CASCADE"))
        engine.dispose()


def _table(found: dict[str, Any]) -> str:
    return "\n".join(_lines(found))


def _lines(found: dict[str, Any]) -> Iterator[str]:
    if "chunks" not in found:
        yield f"{'set':<14}{'run':<10}{'folder':>8}{'postgres':>10}"
        for name, runs in found.items():
            for run, of in runs.items():
                yield f"{name:<14}{run:<10}{of['folder']:>8.4f}{of['postgres']:>10.4f}"
        return
    yield f"{found['chunks']:,} chunks; copied into PostgreSQL in {found['copy_seconds']} s"
    yield f"{'where':<10}{'passing':>8}  {'run':<11}{'p50':>7}{'p95':>8}  recall"
    for where in ("folder", "postgres", "by_hand"):
        for share in (f"{share:.1%}" for share in SHARES):
            runs = found.get(where, {}).get(share, {})
            for run in (name for name in (*RUNS, *BY_HAND) if name in runs):
                took, recall = runs[run], runs.get("recall", "") if run == "vector" else ""
                yield (
                    f"{where:<10}{share:>8}  {run:<11}{took['p50']:>7.1f}{took['p95']:>8.1f}"
                    f"  {recall}"
                )
    yield f"megabytes: {found['megabytes']}, by hand {found['by_hand']['megabytes']}"


if __name__ == "__main__":
    main()
