"""Compares a library on the nodes of a Citus database with the same library on one server.

    python -m bench.citus --server postgresql://… --quality scifact,nfcorpus
    python -m bench.citus --server postgresql://… --chunks 100000 --shards 0,2,4,8
    python -m bench.citus --server postgresql://… --chunks 100000 --watch 60

Quality: whether the ranking of every query of a judged set is the same, ids and order, on one
server and on the nodes. Speed: each signal and hybrid search on one server (0 shards) and with each
number of shards; load the rows first (`python -m bench.large --server … --chunks …`). --program
names the servers' `postgres`, to count their processor time too, if they run on this machine.
Watch: searches one after the other and prints, for each second, how many were answered and what the
others said, while you stop and start a node or move shards.
Without --server `TRIVIUM_TEST_CITUS` names the coordinator; without that there is nothing to
measure, and it says so.
"""

from __future__ import annotations

import json
import os
import sys
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict
from functools import partial
from os import sysconf
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

from bench.build import place
from bench.corpus import load_corpus, warm_up
from bench.harness import Namespace, arguments, numbers
from bench.ours import Precomputed
from bench.postgres import RUNS, judged
from bench.surroundings import surroundings
from bench.timing import measure
from trivium.config import Settings, load
from trivium.core.errors import LibraryNotFound, TriviumError
from trivium.core.places import DatabaseAddress
from trivium.core.types import OWNER, Probe, Signal
from trivium.library.asking import request_for
from trivium.library.assembly import local_embedder_for
from trivium.operations.searching import SearchOptions
from trivium.ports import Backend, Nodes
from trivium.search.run import Searcher
from trivium.store.opening import BackendOptions, open_backend
from trivium.text.query import parse

LIMIT, CANDIDATES = 10, 50


def main() -> None:
    asked = _arguments()
    address = asked.server or os.environ.get("TRIVIUM_TEST_CITUS", "")
    if not address:
        print("No Citus: name a coordinator with --server or TRIVIUM_TEST_CITUS.")
        return
    settings = load().settings
    try:
        if asked.quality:
            sets = asked.quality.split(",")
            found = quality(settings, address, sets, asked.data, max(asked.shards))
        elif asked.watch:
            found = watched(settings, address, asked)
        else:
            found = speed(settings, address, asked)
    except LibraryNotFound:
        print(f"Citus holds no library of {asked.chunks:,} chunks: load it with bench.large.")
        return
    print(json.dumps({"on": "Citus", **found}, indent=1))


def _arguments() -> Namespace:
    return arguments(
        __doc__,
        "chunks",
        "data",
        server=("", "address of a database on the coordinator"),
        shards=({"default": [0, 2, 4, 8], "type": numbers}, "0: one server"),
        quality=({"default": "", "metavar": "SETS"}, "judged sets, by commas"),
        watch={"type": float, "default": 0.0, "metavar": "SECONDS"},
        seconds=(30.0, "the most a measurement takes"),
        program=(Path, "the servers' program, on this machine"),
    )


def nodes_of(library: Backend) -> Nodes:
    assert library.nodes is not None
    return library.nodes


# --- quality --------------------------------------------------------------------------------------


def quality(
    settings: Settings, address: str, sets: list[str], data: Path, shards: int
) -> dict[str, Any]:
    from trivium.evaluate.run import evaluate

    found: dict[str, Any] = {}
    for name in sets:
        files = data / "retrieval" / name
        with judged(settings, address, files) as library:
            one = evaluate(files, settings, library=library, only=RUNS)
            nodes_of(library.backend).distribute(shards)
            many = evaluate(files, settings, library=library, only=RUNS)
        found[name] = {
            run: {
                "queries": len(one.runs[run].ranking),
                "same": sum(
                    list(ranks.items()) == list(many.runs[run].ranking[query].items())
                    for query, ranks in one.runs[run].ranking.items()
                ),
                "ndcg@10": [of.runs[run].means["ndcg@10"] for of in (one, many)],
            }
            for run in RUNS
        }
        print(name, found[name], file=sys.stderr, flush=True)
    return found


# --- speed ----------------------------------------------------------------------------------------


def speed(settings: Settings, address: str, asked: Namespace) -> dict[str, Any]:
    library, runs = _prepared(settings, address, asked)
    found: dict[str, Any] = {"chunks": asked.chunks, **surroundings()}
    nodes = nodes_of(library)
    for run, count in (runs[signal.value] for signal in (Signal.KEYWORD, Signal.TRIGRAM)):
        for i in range(count):  # lists of words stay in memory: the first setting must have them
            run(i)
    for shards in asked.shards:
        started = perf_counter()
        _ = nodes.distribute(shards) if shards else nodes.gather()
        moved = perf_counter() - started
        told: dict[str, Any] = {"move_seconds": round(moved, 1)}
        for name, (run, count) in runs.items():
            warm = warm_up(range(count))
            for i in range(warm):
                run(i)
            spent = partial(processor_seconds_with, asked.program)
            told[name] = asdict(measure(run, list(range(warm, count)), asked.seconds, spent))
        found[f"{shards} shards" if shards else "one server"] = told
        print(shards, json.dumps(told), file=sys.stderr, flush=True)
    library.close()
    return found


def processor_seconds_with(program: Path | None) -> float:
    """Of this process and of all that run this program, including ended ones."""
    seconds = process_time()
    for stat in Path("/proc").glob("[0-9]*/stat") if program else ():
        with suppress(OSError):  # it ended, or belongs to somebody else
            if (stat.parent / "exe").resolve() == program:
                # From the state on: user, system, and the same of children that ended.
                told = stat.read_text().rpartition(")")[2].split()
                seconds += sum(map(int, told[11:15])) / sysconf("SC_CLK_TCK")
    return seconds


def watched(settings: Settings, address: str, asked: Namespace) -> dict[str, Any]:
    library, runs = _prepared(settings, address, asked)
    run, count = runs["hybrid"]
    told: list[dict[str, int]] = []
    started, i = perf_counter(), 0
    while perf_counter() - started < asked.watch:
        second = int(perf_counter() - started)
        said: Counter[str] = Counter()
        while int(perf_counter() - started) == second:
            i = (i + 1) % count
            try:
                library.signals.refresh()
                run(i)
                said["answered"] += 1
            except TriviumError as reason:
                said[reason.code] += 1
        told.append(dict(said))
        print(second, dict(said), file=sys.stderr, flush=True)
    library.close()
    return {"seconds": told}


def _prepared(
    settings: Settings, address: str, asked: Namespace
) -> tuple[Backend, dict[str, tuple[Callable[[int], object], int]]]:
    prepared = place(settings, load_corpus(asked.data), asked.chunks).prepared
    queries, vectors = prepared.queries, prepared.query_vectors
    embedder = local_embedder_for(settings)
    model = embedder.fingerprint
    pairs = zip(queries, vectors, strict=True)
    probes = [Probe(parse(query), vector, model=model) for query, vector in pairs]
    there = DatabaseAddress(f"{address}?schema=bench_{asked.chunks}")
    library = open_backend(there, BackendOptions(create=False))
    searcher = Searcher(library, Precomputed(embedder, queries, vectors))

    def one(signal: Signal) -> Callable[[int], object]:
        return lambda i: library.signals.search(signal, probes[i], OWNER, CANDIDATES)

    def hybrid(i: int) -> object:
        request = request_for(settings, model, (queries[i],), OWNER, SearchOptions(limit=LIMIT))
        return searcher.search(request)

    library.signals.refresh()
    runs: dict[str, Callable[[int], object]] = {signal.value: one(signal) for signal in Signal}
    runs["hybrid"] = hybrid
    return library, {name: (run, len(queries)) for name, run in runs.items()}


if __name__ == "__main__":
    main()
