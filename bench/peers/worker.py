"""Builds, asks and times one system. Runs in that system's environment, as a process of its own.

    python -m bench.peers.worker lancedb build --folder … --prepared … --chunks 10000 --data …
    python -m bench.peers.worker lancedb search …
    python -m bench.peers.worker lancedb judge … --set scifact
    python -m bench.peers.worker trivium clients … --clients 4 --at 1790000000

Prints JSON. An index is kept and used again as long as the code that builds it stays the same.
"""

from __future__ import annotations

import hashlib
import importlib
import inspect
import json
import shutil
import signal
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any, cast

from bench.corpus import load_corpus, warm_up
from bench.environments import OURS, pins
from bench.harness import Namespace, arguments, say
from bench.judged import judged
from bench.peers import Asked, Engine, Peer, Way
from bench.rows import Counted, Digest, Prepared, make_rows
from bench.timing import measure, throughput
from bench.truth import load_truth, recall

CLIENTS = (1, 2, 8)
_SLOW_MS = 500.0  # beyond this a few seconds hold too few queries to count
_SLOW_WARM_UP = 3  # queries, where the first one took longer than that
_RECALLED = 50  # queries whose true neighbours are known


def main() -> None:
    asked = _arguments()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("stopped"))  # servers are stopped too
    started = time.perf_counter()
    peer = cast(Peer, importlib.import_module(f"bench.peers.{asked.system}"))
    doing: dict[str, Callable[[Peer, Namespace], dict[str, Any]]] = {
        "build": _build,
        "search": partial(_search, started=started),
        "judge": _judge,
        "clients": _clients,
    }
    json.dump(doing[asked.what](peer, asked), sys.stdout)


def _build(peer: Peer, asked: Namespace) -> dict[str, Any]:
    corpus, base = load_corpus(asked.data), Prepared(asked.prepared).base
    digest = Digest()
    blocks = Counted(make_rows(corpus, base, asked.chunks), digest)
    return _built(peer, asked.folder, blocks, digest)


def _built(peer: Peer, folder: Path, blocks: Counted, digest: Digest) -> dict[str, Any]:
    """The index in the folder; builds it unless this code has done so."""
    note, code = folder.with_name(f"{folder.name}.json"), _code(peer, folder.name)
    if note.exists():
        found: dict[str, Any] = json.loads(note.read_text(encoding="utf-8"))
        if found["code"] == code:
            return found | {"reused": True}
        note.unlink()
    shutil.rmtree(folder, ignore_errors=True)
    ways = {name: asdict(built) for name, built in peer.build(folder, blocks).items()}
    found = {"ways": ways, "rows": str(digest), "code": code}
    note.write_text(json.dumps(found), encoding="utf-8")
    return found


def _code(peer: Peer, system: str) -> str:
    """Names the system's version and the code that builds it."""
    made_by = inspect.getsource(peer.build) + " ".join(pins().get(system, ()))
    if system == OURS:
        from bench.build import code_digest

        made_by += code_digest()
    return hashlib.blake2b(made_by.encode(), digest_size=6).hexdigest()


def _search(peer: Peer, asked: Namespace, started: float) -> dict[str, Any]:
    prepared = Prepared(asked.prepared)
    queries = [Asked(*q) for q in zip(prepared.queries, prepared.query_vectors, strict=True)]
    engine = peer.open(asked.folder, queries)
    try:
        listed = list(engine.ways.items())[: 1 if asked.first_only else None]
        listed[0][1].ask(queries[0], asked.limit)
        first_answer = time.perf_counter() - started  # with the system's own imports
        ways = {name: _tried(engine, way, queries, asked) for name, way in listed}
        return {
            "settings": peer.SETTINGS,
            "versions": dict(engine.versions()),
            "ways": ways,
            "first_answer_s": round(first_answer, 2),
            "memory_mb": engine.memory_mb(),
            "recall": _recalled(engine, queries, asked),
        }
    finally:
        engine.close()


def _tried(engine: Engine, way: Way, queries: Sequence[Asked], asked: Namespace) -> dict[str, Any]:
    """Without and with the filter. If one fails, for instance because a statement takes too long,
    the others go on."""
    found: dict[str, Any] = {"legs": way.legs}
    for name, filtered in (("plain", False), ("filtered", True)):
        given = [replace(query, filtered=filtered) for query in queries]
        try:
            found[name] = _timed(engine, way, given, asked)
            ms = found[name]["ms"]
            say(f"  {asked.system}, {name}: p50 {ms['p50']} ms, p95 {ms['p95']} ms")
        except Exception as reason:
            found["failed"] = str(reason).strip().splitlines()[0]
            say(f"  {asked.system}, {name}: {found['failed']}")
    return found


def _timed(engine: Engine, way: Way, queries: Sequence[Asked], asked: Namespace) -> dict[str, Any]:
    warm, real = queries[: warm_up(queries)], queries[warm_up(queries) :]
    returned: list[int] = []

    def ask(query: Asked) -> None:
        returned.append(len(way.ask(query, asked.limit)))

    first = measure(ask, warm[:_SLOW_WARM_UP], asked.seconds)
    if first.p50 < _SLOW_MS:
        for query in warm[_SLOW_WARM_UP:]:
            ask(query)
    returned.clear()
    timing = measure(ask, real, asked.seconds, engine.cpu_seconds)
    found: dict[str, Any] = {
        "ms": asdict(timing),
        "returned": round(sum(returned) / len(returned), 2),
    }
    if timing.p50 < _SLOW_MS and asked.client_seconds:
        found["clients"] = [
            asdict(throughput(ask, real, n, asked.client_seconds, engine.cpu_seconds))
            for n in CLIENTS
        ]
    return found


def _clients(peer: Peer, asked: Namespace) -> dict[str, Any]:
    """The recommended way alone, from a moment at which other processes begin too."""
    prepared = Prepared(asked.prepared)
    queries = [Asked(*q) for q in zip(prepared.queries, prepared.query_vectors, strict=True)]
    engine = peer.open(asked.folder, queries)
    try:
        way, first = next(iter(engine.ways.values())), warm_up(queries)

        def ask(query: Asked) -> None:
            way.ask(query, asked.limit)

        for query in queries[:first]:
            ask(query)
        time.sleep(max(0.0, asked.at - time.time()))
        real, seconds = queries[first:], asked.client_seconds
        return asdict(throughput(ask, real, asked.clients, seconds, engine.cpu_seconds))
    finally:
        engine.close()


def _recalled(engine: Engine, queries: Sequence[Asked], asked: Namespace) -> dict[str, float]:
    truth = load_truth(asked.prepared, asked.chunks)
    checked = queries[(first := warm_up(queries)) : first + _RECALLED]
    return {
        name: recall(
            [engine.near(replace(q, filtered=filtered), asked.limit) for q in checked],
            truth[name],
            asked.limit,
        )
        for name, filtered in (("plain", False), ("filtered", True))
    }


def _judge(peer: Peer, asked: Namespace) -> dict[str, Any]:
    """Rankings of a judged set: names of documents, best first, by query."""
    given = judged(asked.prepared, asked.set)
    blocks = Counted(given.rows())
    _built(peer, asked.folder, blocks, Digest())
    queries = [Asked(*q) for q in zip(given.queries, given.query_vectors, strict=True)]
    engine = peer.open(asked.folder, queries)
    try:
        way = next(iter(engine.ways.values()))
        names = given.documents
        rankings = {
            query: [names[found.row] for found in way.ask(one, asked.limit)]
            for query, one in zip(given.query_names, queries, strict=True)
        }
        return {"legs": way.legs, "rankings": rankings}
    finally:
        engine.close()


def _arguments() -> Namespace:
    return arguments(
        __doc__,
        system={"positional": True},
        what={"positional": True, "choices": ("build", "search", "judge", "clients")},
        folder=({"type": Path, "required": True}, "of the system's own files"),
        prepared={"type": Path, "required": True},
        data=Path,
        chunks=0,
        set="",
        limit=10,
        seconds=(15.0, "of one measurement"),
        client_seconds=(3.0, "0: leave clients out"),
        clients=(8, "threads that ask"),
        at=(0.0, "begin then, beside other processes"),
        first_only=(False, "the recommended way alone"),
    )


if __name__ == "__main__":
    main()
