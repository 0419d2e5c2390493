"""Many clients search a library in PostgreSQL: alone, beside SQL by hand, and beside upkeep.

    python -m bench.team --server postgresql://… --chunks 100000
    python -m bench.team --server postgresql://… --chunks 100000 --upkeep compact,reembed
    python -m bench.team --server postgresql://… --chunks 100000 --upkeep distribute
    python -m bench.team --server postgresql://… --chunks 300000 --holds

The first prints milliseconds with one client, searches a second with eight threads in one process
and with four in each of two, and the processor time of a search in our processes and in the
server's: without a filter, with one that lets 1 % pass, and of SQL written by hand (one statement,
meaning and words, without spelling).

The second runs upkeep in a process of its own while clients search, and prints the longest search
beside it, and of the same clients for ten seconds before. `compact` has words of a removed document
to leave out, so it rebuilds the indexes; `reembed` gives every passage another vector (its own,
turned) and switches, twice: there and back. `distribute` wants the coordinator of a Citus with two
nodes or more: it spreads the library over them, takes twice as many shards, empties one node, lets
it have its share again, and brings everything back.

The third prints what grows with the library in every process of Trivium, as docs/scale.md has it.
All find a library of that size that is there, also one of `bench.large`.
"""

from __future__ import annotations

import hashlib
import json
import multiprocessing
import os
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from time import perf_counter, process_time, sleep
from typing import Any

import numpy as np
from sqlalchemy import text

from bench.build import Place, build, place, prepare
from bench.corpus import load_corpus
from bench.harness import Namespace, arguments
from bench.ours import Precomputed
from bench.postgres import (
    BY_HAND,
    LIMIT,
    by_hand,
    copied,
    drop,
    engine_of,
    is_there,
    make_by_hand,
    opened,
    server_seconds,
)
from bench.rows import SHARDS
from bench.surroundings import surroundings
from bench.timing import measure, memory, percentile, throughput
from trivium.config import Settings, load
from trivium.core.errors import ModelChanged, TriviumError
from trivium.core.places import DatabaseAddress
from trivium.core.results import Results
from trivium.core.types import OWNER, Compare, Probe, Signal, Where
from trivium.ingest.reembed import Reembedder
from trivium.library.asking import request_for
from trivium.library.assembly import local_embedder_for
from trivium.operations.searching import SearchOptions
from trivium.ports import Backend, Nodes
from trivium.search.run import Searcher
from trivium.testing.samples import sample
from trivium.text.query import parse

# Processes that begin with most modules imported, which would take each 2 s.
_PROCESSES = multiprocessing.get_context("forkserver")
_PROCESSES.set_forkserver_preload(["bench.postgres"])
_FEW_SHARDS = 4  # of each table at first
FEW = Where(None, Compare("metadata.shard", "lt", 0.01 * SHARDS))
_TURNED = "turned"  # the other model: the same vectors, turned by one place


def main() -> None:
    asked = arguments(
        __doc__,
        "chunks",
        "data",
        server=("", "address of a database that may be written to"),
        seconds=(30.0, "for each measurement"),
        upkeep=("", "compact, reembed, distribute"),
        holds=(False, "what grows in every process"),
        drop=(False, "remove what was made, at the end"),
    )
    address = asked.server or os.environ.get("TRIVIUM_TEST_POSTGRES", "")
    if not address:
        from tests import postgres

        address = postgres.address()
    settings, corpus = load().settings, load_corpus(asked.data)
    at = place(settings, corpus, asked.chunks)
    prepare(at, corpus, settings)
    there = f"{address}?schema=bench_{asked.chunks}"
    if not is_there(at, DatabaseAddress(there)):
        if not at.built.exists():
            build(at, corpus, settings)
        copied(at, DatabaseAddress(there))
    print(json.dumps(surroundings()))
    wanted = [holds(there, at)] if asked.holds else []
    upkeep = filter(None, asked.upkeep.split(","))
    wanted += [beside(name, there, at, settings, asked.seconds) for name in upkeep]
    for line in chain.from_iterable(wanted or [clients(address, there, at, settings, asked)]):
        print(line, flush=True)
    if asked.drop:
        drop(address, asked.chunks)


# --- many clients ---------------------------------------------------------------------------------


def clients(
    address: str, there: str, at: Place, settings: Settings, asked: Namespace
) -> Iterator[str]:
    engine = engine_of(address)
    make_by_hand(engine, at.chunks, asked.data)
    yield "| 100 % / 1 % pass | p50 / p95, 1 client | a second, 8 | 2 x 4 | own ms | server ms |"
    yield "|---|---|---|---|---|---|"
    with opened(DatabaseAddress(there)) as library:
        runs = {
            "Trivium, all": _searches(library, at, settings, OWNER),
            "Trivium, 1 %": _searches(library, at, settings, FEW),
            "by hand, all": by_hand(engine, at, BY_HAND["two legs"], 1.0),
            "by hand, 1 %": by_hand(engine, at, BY_HAND["two legs"], 0.01),
        }
        all_ = list(range(len(at.prepared.queries)))
        for name, run in runs.items():
            for number in all_:
                run(number)
            alone = measure(run, all_, asked.seconds)
            used, served = process_time(), server_seconds(engine)
            eight = throughput(run, all_, 8, asked.seconds)
            own = (process_time() - used) / eight.calls * 1e3
            server = (server_seconds(engine) - served) / eight.calls * 1e3
            two = "-"
            if name.startswith("Trivium"):
                two = f"{_two_processes(there, at, name, asked.seconds):.0f}"
            yield (
                f"| {name} | {alone.p50} / {alone.p95} | {eight.per_second:.0f} | {two}"
                f" | {own:.1f} | {server:.1f} |"
            )
    yield f"cores busy with other work: {alone.others}"
    engine.dispose()


def _searches(
    library: Backend, at: Place, settings: Settings, where: Where
) -> Callable[[int], object]:
    library.signals.refresh()
    model, queries = local_embedder_for(settings), at.prepared.queries
    searcher = Searcher(library, Precomputed(model, queries, at.prepared.query_vectors))
    options = SearchOptions(limit=LIMIT)
    return lambda i: searcher.search(
        request_for(settings, model.fingerprint, (queries[i],), where, options)
    )


def _two_processes(there: str, at: Place, name: str, seconds: float) -> float:
    """Searches a second of four threads in each."""
    with _PROCESSES.Manager() as manager, _PROCESSES.Pool(2) as pool:
        ready = manager.Barrier(2)
        return sum(pool.starmap(_share, [(there, at, name, seconds, ready)] * 2))


def _share(there: str, at: Place, name: str, seconds: float, ready: Any) -> float:
    with opened(DatabaseAddress(there)) as library:
        where = OWNER if name.endswith("all") else FEW
        run, all_ = _searches(library, at, load().settings, where), at.prepared.queries
        for number in range(len(all_)):
            run(number)
        ready.wait()
        return throughput(run, range(len(all_)), 4, seconds).per_second


# --- what grows in every process ------------------------------------------------------------------


def holds(there: str, at: Place) -> Iterator[str]:
    """Processor time of this process, and its memory."""
    before = memory().private
    with opened(DatabaseAddress(there)) as library:
        snapshots: Any = library.signals
        snapshots = snapshots._snapshots

        def asks(signal: Signal, query: str) -> float:
            return _used(lambda: library.signals.search(signal, Probe(parse(query)), OWNER, 50))

        yield f"opening: documents and words: {_used(library.signals.refresh):,.0f} ms"
        yield f"distinct words: {len(snapshots._vocabulary):,}"
        first = asks(Signal.TRIGRAM, "lanternn")
        yield f"the first misspelt word: {first:,.0f} ms"
        yield f"memory for that: {memory().private - before} MB"
        for signal in (Signal.KEYWORD, Signal.TRIGRAM):
            for query in at.prepared.queries:
                asks(signal, query)
            took = sorted(asks(signal, query) for query in at.prepared.queries)
            yield f"{signal.value}: {percentile(took, 0.5):.1f} / {percentile(took, 0.95):.1f} ms"
        yield f"memory with the lists of these queries: {memory().private - before} MB"
        snapshots._generation, snapshots._last = -2, None  # as if another process had rebuilt it
        again = _used(library.signals.refresh) + asks(Signal.TRIGRAM, "lanternn")
        yield f"after a rebuild by another process: {again:,.0f} ms"


def _used(call: Callable[[], object]) -> float:
    begun = process_time()
    call()
    return (process_time() - begun) * 1e3


# --- beside upkeep --------------------------------------------------------------------------------


class _Clients:
    """Two threads that search on and on, and say how long each search took."""

    def __init__(self, library: Backend, at: Place, settings: Settings) -> None:
        self._library, self._at, self._settings = library, at, settings
        self._model = library.models.manifest().model
        self._taken: list[tuple[float, float, str]] = []  # when it began, seconds, longest stage
        self.failed: Counter[str] = Counter()
        self._over = threading.Event()

    @contextmanager
    def searching(self) -> Iterator[None]:
        threads = [threading.Thread(target=self._search, args=(n,)) for n in range(2)]
        for thread in threads:
            thread.start()
        try:
            yield
        finally:
            self._over.set()
            for thread in threads:
                thread.join()

    def _search(self, at: int) -> None:
        run, model = self._run(), self._model
        while not self._over.is_set():
            begun, stage = perf_counter(), ""
            try:
                if model != self._model:
                    run, model = self._run(), self._model
                stages = run(at % len(self._at.prepared.queries)).timings_ms
                stage = max(stages, key=lambda name: stages[name])
            except ModelChanged:  # a server loads the other model then
                self._model = self._library.models.manifest().model
                continue
            except TriviumError as error:
                self.failed[error.code] += 1
            self._taken.append((begun, perf_counter() - begun, stage))
            at += 2

    def _run(self) -> Callable[[int], Results]:
        model, prepared = local_embedder_for(self._settings), self._at.prepared
        vectors, name = prepared.query_vectors, model.fingerprint
        if self._model == _TURNED:
            vectors, name = np.roll(vectors, 1, axis=1), _TURNED
        embedder = Precomputed(model, prepared.queries, vectors)
        embedder.fingerprint = name
        searcher, options = Searcher(self._library, embedder), SearchOptions(limit=LIMIT)
        return lambda i: searcher.search(
            request_for(self._settings, name, (prepared.queries[i],), OWNER, options)
        )

    def between(self, first: float, last: float) -> str:
        ended = [taken for taken in list(self._taken) if first <= taken[0] + taken[1] <= last]
        if not ended:
            return f"no search ended in {last - first:.0f} s"
        took = sorted(seconds * 1e3 for _, seconds, _ in ended)
        _, longest, stage = max(ended, key=lambda taken: taken[1])
        return (
            f"{len(took)} | {percentile(took, 0.5):.0f} | {longest * 1e3:,.0f}, most of it {stage}"
        )


def beside(name: str, there: str, at: Place, settings: Settings, seconds: float) -> Iterator[str]:
    """The searches before upkeep and beside it."""
    yield f"| {name} | seconds | searches | p50 ms | longest ms |"
    yield "|---|---|---|---|---|"
    with opened(DatabaseAddress(there)) as library:
        asking = _Clients(library, at, settings)
        library.signals.refresh()
        with asking.searching():
            sleep(min(10.0, seconds))
            begun = perf_counter()
            yield f"| before | {min(10.0, seconds):.0f} | {asking.between(0, begun)} |"
            for step in _STEPS[name]:
                begun = perf_counter()
                working = _PROCESSES.Process(target=step, args=(there,))
                working.start()
                working.join()
                assert working.exitcode == 0, step.__name__
                sleep(min(3.0, seconds))  # every process reads again what changed
                took = perf_counter() - begun
                yield f"| {step.__name__} | {took:.0f} | {asking.between(begun, begun + took)} |"
    yield f"failed: {dict(asking.failed) or 'none'}"


def compact(there: str) -> None:
    """With words of a removed document to leave out."""
    with opened(DatabaseAddress(there)) as library:
        made = sample("bench/removed.md", "A lantern that goes away again.", embedded=False)
        with library.writer.writing():
            (document,) = library.writer.put([made], library.models.manifest().model)
            library.writer.remove([document.id])
        library.upkeep.compact()


def reembed(there: str) -> None:
    _reembedded(there, _TURNED, 1)


def reembed_back(there: str) -> None:
    _reembedded(there, local_embedder_for(load().settings).fingerprint, -1)


def distribute(there: str) -> None:
    _spread(there, lambda nodes: nodes.distribute(_FEW_SHARDS))


def split(there: str) -> None:
    _spread(there, lambda nodes: nodes.distribute(2 * _FEW_SHARDS))


def empty_node(there: str) -> None:
    _moved(there, has_shards=False)


def rebalance(there: str) -> None:
    _moved(there, has_shards=True)


def gather(there: str) -> None:
    _spread(there, lambda nodes: nodes.gather())


_STEPS: dict[str, tuple[Callable[[str], None], ...]] = {
    "compact": (compact,),
    "reembed": (reembed, reembed_back),
    "distribute": (distribute, split, empty_node, rebalance, gather),
}


def _spread(there: str, change: Callable[[Nodes], object]) -> None:
    with opened(DatabaseAddress(there)) as library:
        assert library.nodes is not None
        change(library.nodes)


def _moved(there: str, *, has_shards: bool) -> None:
    """As docs/postgresql.md says: whether the last node may have shards, then the database moves
    them."""
    engine = engine_of(there.partition("?")[0])
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        last = "SELECT nodename, nodeport FROM pg_dist_node ORDER BY nodeid DESC LIMIT 1"
        host, port = connection.execute(text(last)).one()
        may = "SELECT citus_set_node_property(:host, :port, 'shouldhaveshards', :has)"
        connection.execute(text(may), {"host": host, "port": port, "has": has_shards})
        connection.execute(text("SELECT citus_rebalance_start()"))
        connection.execute(text("SELECT citus_rebalance_wait()"))
        job = "SELECT state FROM pg_dist_background_job ORDER BY job_id DESC LIMIT 1"
        assert connection.scalar(text(job)) == "finished"
    engine.dispose()


def _reembedded(there: str, model: str, by: int) -> None:
    with opened(DatabaseAddress(there)) as library:
        manifest = library.models.manifest()
        turning = _Turning(library, manifest.model, model, manifest.dimensions, by)
        Reembedder(library, turning, {}).run()


class _Turning:
    """Embeds a text as the vector that another model has for it, turned."""

    def __init__(self, library: Backend, old: str, new: str, dimensions: int, by: int) -> None:
        self._library, self._old, self._by = library, old, by
        self.fingerprint, self.dimensions = new, dimensions

    def embed_documents(self, texts: Sequence[str]) -> Any:
        hashes = [hashlib.blake2b(one.encode(), digest_size=16).hexdigest() for one in texts]
        known = self._library.models.known(self._old, hashes)
        return np.stack([np.roll(known[one], self._by) for one in hashes])

    def embed_query(self, _text: str) -> Any:
        raise NotImplementedError("only passages are embedded")


if __name__ == "__main__":
    main()
