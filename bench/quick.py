"""The regression guard: compares figures with bench/stored.json, in under three minutes.

    make bench-quick
    python -m bench.quick --store        # store the figures of this run
    python -m bench.quick --rows 400 --rounds 1    # only checks that it runs

Needs nothing outside the clone: rows, vectors and the model are made up. Two kinds of figures:
processor time of Trivium as a ratio to a yardstick that runs the same queries in turn (SQLite FTS5
and faiss by hand, a scan by numpy), and counts of instructions. Exit code 1 if one is worse than
stored by more than its limit (`guard.py`).
"""

from __future__ import annotations

import json
import os
import platform
import sys
import tempfile
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path
from time import process_time
from typing import TYPE_CHECKING, Any

import numpy as np

from bench.build import fill
from bench.counting import PERF, best_counter, bytecodes, instructions
from bench.generated import DIMENSIONS, generated_corpus, generated_vectors
from bench.guard import moves, table
from bench.harness import REPOSITORY, arguments
from bench.interpreter import native_time
from bench.peers import Asked, fts5_faiss
from bench.rows import PASSING, Counted, Rows, make_rows
from trivium.config import Settings
from trivium.core.types import OWNER, Probe, Signal
from trivium.library import Library
from trivium.models.weights import NAME
from trivium.operations.searching import Filters, SearchOptions
from trivium.ports import Backend
from trivium.store.embedded.backend import open_embedded
from trivium.text.query import parse

if TYPE_CHECKING:
    from trivium.core.types import Vector, Vectors

STORED = REPOSITORY / "bench" / "stored.json"
ROWS = 4_000
QUERIES = 40
ROUNDS = 5  # each query's fastest counts
LIMIT = 10
_COUNTED = (2, 12)  # queries of two runs: their difference leaves out starting a process
_MODEL = f"{NAME}-bench"  # its name decides that evidence is weighed, as in the product


class Known:
    """Stands for the model: knows the vectors of the queries. One that was corrected, which only
    happens with few rows, gets the first."""

    fingerprint, dimensions = _MODEL, DIMENSIONS

    def __init__(self, asked: list[Asked]) -> None:
        self._vectors = {parse(one.text).text: one.vector for one in asked}

    def embed_query(self, text: str) -> Vector:
        return self._vectors.get(text, next(iter(self._vectors.values())))

    def embed_documents(self, texts: Any) -> Vectors:
        raise NotImplementedError("only queries are known")


def measured(folder: Path, rows: int, rounds: int) -> dict[str, Any]:
    blocks = list(make_rows(generated_corpus(), generated_vectors(1_000), rows))
    building = _built(folder, blocks)
    with closing(open_embedded(folder / "ours", create=False)) as store:
        found = {"ratios": {**building, **_searching(store, folder, blocks, rounds)}}
        counter = best_counter()
        counts = _instructions(folder) if counter == PERF else _bytecodes(store)
    named = {f"{name}, {counter} a query": count for name, count in counts.items()}
    return found | {"counts": named}


def _built(folder: Path, blocks: list[Rows]) -> dict[str, float]:
    ours = _seconds(lambda: fill(folder / "ours", blocks, _MODEL))
    yardstick = _seconds(lambda: fts5_faiss.build(folder / "by-hand", Counted(iter(blocks))))
    return {"build / FTS5 + faiss": round(ours / yardstick, 3)}


def _searching(store: Backend, folder: Path, blocks: list[Rows], rounds: int) -> dict[str, float]:
    """All take turns query by query, so that other work slows all of them equally."""
    asked = _queries()
    library = Library(store, Known(asked), Settings())
    everything = np.concatenate([rows.vectors for rows in blocks])
    with (
        closing(fts5_faiss.Engine(folder / "by-hand")) as by_hand,
        native_time() as native,
        closing(open_embedded(folder / "ours", create=False)) as counted,
    ):
        watched = Library(counted, Known(asked), Settings())
        clocks = {"interpreter": lambda: process_time() - native.seconds}
        calls: Mapping[str, Callable[[Asked], object]] = {
            "hybrid": lambda q: library.search(q.text, LIMIT),
            "interpreter": lambda q: watched.search(q.text, LIMIT),
            "filtered": lambda q: library.search(
                q.text, LIMIT, filters=Filters(where=f"shard<{PASSING}")
            ),
            "by document": lambda q: library.search(
                q.text, LIMIT, options=SearchOptions(by="document")
            ),
            **{signal.value: _alone(store, signal) for signal in Signal},
            "FTS5 + faiss": lambda q: by_hand.hybrid(q, LIMIT),
            "FTS5": lambda q: by_hand.words(q, LIMIT),
            # Not `@`: the threads of a BLAS wait actively, and the ratio went from .68 to 1.06.
            "numpy scan": lambda q: np.argpartition(np.vecdot(everything, q.vector), -LIMIT),
        }
        took = dict.fromkeys(calls, 0.0)
        for query in asked:
            fastest = dict.fromkeys(calls, float("inf"))
            for _ in range(rounds):
                for name, call in calls.items():
                    clock = clocks.get(name, process_time)
                    spent = _seconds(lambda call=call, query=query: call(query), clock)  # type: ignore[misc]
                    fastest[name] = min(fastest[name], spent)
            for name in took:
                took[name] += fastest[name]
    against = {
        "hybrid": "FTS5 + faiss",
        "interpreter": "FTS5 + faiss",  # of hybrid, what holds the interpreter's lock
        "filtered": "FTS5 + faiss",
        "by document": "FTS5 + faiss",
        "vector": "numpy scan",
        "keyword": "FTS5",
        "trigram": "FTS5",
    }
    return {
        f"{name} / {yardstick}": round(took[name] / took[yardstick], 3)
        for name, yardstick in against.items()
    }


def _alone(store: Backend, signal: Signal) -> Callable[[Asked], object]:
    return lambda q: store.signals.search(
        signal, Probe(parse(q.text), q.vector, model=_MODEL), OWNER, 50
    )


def _bytecodes(store: Backend) -> dict[str, float]:
    asked = _queries()
    library = Library(store, Known(asked), Settings())
    few, many = _COUNTED

    def ask(where: str) -> None:
        for query in asked[few:many]:
            library.search(query.text, LIMIT, filters=Filters(where=where))

    ask("")  # warms what is built on first use
    ask(f"shard<{PASSING}")
    return {
        "hybrid": bytecodes(lambda: ask("")) / (many - few),
        "filtered": bytecodes(lambda: ask(f"shard<{PASSING}")) / (many - few),
    }


def _instructions(folder: Path) -> dict[str, float]:
    def whole(queries: int, where: str) -> int:
        command = [sys.executable, "-m", "bench.quick", "--ask", str(folder), str(queries), where]
        return instructions(command)

    few, many = _COUNTED
    return {
        name: (whole(many, where) - whole(few, where)) / (many - few)
        for name, where in (("hybrid", ""), ("filtered", f"shard<{PASSING}"))
    }


def _ask(folder: Path, queries: int, where: str) -> None:
    """What a counted process does."""
    asked = _queries()
    with closing(open_embedded(folder / "ours", create=False)) as store:
        library = Library(store, Known(asked), Settings())
        for query in asked[:queries]:
            library.search(query.text, LIMIT, filters=Filters(where=where))


def _queries() -> list[Asked]:
    texts = generated_corpus().queries(QUERIES)
    vectors = generated_vectors(QUERIES, seed=7)
    return [Asked(text, vector) for text, vector in zip(texts, vectors, strict=True)]


def _seconds(do: Callable[[], object], clock: Callable[[], float] = process_time) -> float:
    """Processor time of all threads, so that other processes don't count."""
    started = clock()
    do()
    return clock() - started


def main() -> None:
    asked = arguments(
        __doc__,
        store=(False, "keep today's figures"),
        rows=(ROWS, "fewer: only to see that it runs"),
        rounds=(ROUNDS, "of which the fastest counts"),
        ask=({"nargs": 3, "metavar": ("FOLDER", "QUERIES", "WHERE")}, "internal"),
    )
    if asked.ask:
        folder, queries, where = asked.ask
        _ask(Path(folder), int(queries), where)
        return
    with tempfile.TemporaryDirectory() as folder:
        now = measured(Path(folder), asked.rows, asked.rounds)
    here = f"{platform.machine()}, Python {sys.version_info.major}.{sys.version_info.minor}"
    stored: dict[str, Any] = json.loads(STORED.read_text(encoding="utf-8"))
    if (asked.rows, asked.rounds) != (ROWS, ROUNDS):
        print(f"{asked.rows:,} rows, {asked.rounds} rounds, compared with nothing")
        print(table(moves({}, now)))
        return
    if asked.store:
        STORED.write_text(json.dumps(stored | {here: now}, indent=1, sort_keys=True) + "\n")
    found = moves({} if asked.store else stored.get(here, {}), now)
    print(f"{here}, load {os.getloadavg()[0]:.1f}\n{table(found)}")
    if here not in stored and not asked.store:
        print(f"Nothing is stored for {here}: `python -m bench.quick --store` does it.")
    if any(move.regressed for move in found):
        sys.exit(1)


if __name__ == "__main__":
    main()
