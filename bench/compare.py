"""Trivium and its peers side by side, in one run, on the same rows and queries.

    make bench                                        # 10,000 and 100,000 chunks, every system
    make bench CHUNKS=1000000                         # one more size
    python -m bench.compare --chunks 10000 --systems trivium,lancedb

Writes a table, charts and JSON to build/bench. Indexes stay in the cache folder and are used again;
searches are measured every time. If a system fails, it is left out with the reason, and the others
go on. Read `others` in the output: cores that other processes kept busy. Only figures of a
quiet machine (near 0) count.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from time import time
from typing import Any, ParamSpec, TypeVar

from bench import environments, ingest
from bench.build import Place, place, prepare
from bench.corpus import Corpus, load_corpus, warm_up
from bench.environments import OURS, PeerFailed
from bench.harness import Namespace, arguments, say
from bench.judged import SETS, prepare_judged
from bench.report import RESULTS, write_report
from bench.rows import make_rows
from bench.surroundings import surroundings
from bench.truth import has_truth, nearest, save_truth
from trivium.config import Settings, load
from trivium.evaluate.dataset import load_dataset
from trivium.evaluate.metrics import measure
from trivium.library import embedder_for

LIMIT = 10
SIZES = "10000,100000"
_TRUE_QUERIES = 50
_BUILD_SECONDS = 3_600.0
_SEARCH_SECONDS = 1_200.0
_CLIENTS = 8  # of all processes together
_OPENED_AFTER = 15.0  # seconds until every process has opened its library and asked some queries
_Given = ParamSpec("_Given")
_Got = TypeVar("_Got")


class Run:
    """One comparison. Saved after every step, so that a stop loses only one."""

    def __init__(self, asked: Namespace, settings: Settings, corpus: Corpus) -> None:
        self.asked, self.settings, self.corpus = asked, settings, corpus
        self.pythons: dict[str, Path] = {}  # of the systems that could be installed
        self.found: dict[str, Any] = {
            **surroundings(),
            "limit": LIMIT,
            "rows": {},
            "judged": {},
            "failed": {},
        }

    def compare(self) -> None:
        for system in self.asked.systems.split(","):
            python = self._try(system, environments.interpreter, system, self.settings.cache)
            if python is not None:
                self.pythons[system] = python
        sizes = [int(size) for size in self.asked.chunks.split(",") if size]
        for chunks in sizes:
            self._rows(chunks)
        for name in filter(None, self.asked.sets.split(",")):
            self._judged(name)
        if not self.asked.no_ingest:
            self.found["ingest"] = ingest.rates(self.asked.data, self.settings)
        self.found["load_average_after"] = os.getloadavg()
        self._keep()

    def _rows(self, chunks: int) -> None:
        at = place(self.settings, self.corpus, chunks)
        prepare(at, self.corpus, self.settings)
        _learn_truth(at, self.corpus)
        here: dict[str, Any] = {}
        self.found["rows"][str(chunks)] = here
        for system in self.pythons:
            say(f"{system}, {chunks:,} chunks: building, unless it is there …")
            built = self._try(system, self._work, system, "build", at)
            if built is not None:
                here[system] = {"built": built}
        for system in list(here):
            say(f"{system}, {chunks:,} chunks: searching …")
            searched = self._try(system, self._work, system, "search", at)
            if searched is None:
                del here[system]
            else:
                here[system] |= searched
        if OURS in here and self.asked.client_seconds:
            here[OURS]["processes"] = self._try(OURS, self._processes, at)
        if OURS in here and len(here) > 1:
            say("Trivium once more, to see whether the machine changed meanwhile …")
            again = self._try(OURS, self._work, OURS, "search", at, "--first-only")
            here[OURS]["again"] = again

    def _processes(self, at: Place) -> dict[str, Any]:
        """Trivium's clients in as many processes as there are cores: one process has one lock."""
        count = max(2, os.cpu_count() or 2)
        each = ["--clients", str(max(1, _CLIENTS // count)), "--at", str(time() + _OPENED_AFTER)]
        with ThreadPoolExecutor(count) as threads:
            started = [threads.submit(self._work, OURS, "clients", at, *each) for _ in range(count)]
            found = [process.result() for process in started]
        return {
            "processes": count,
            "clients": sum(one["clients"] for one in found),
            "per_second": round(sum(one["per_second"] for one in found), 1),
        }

    def _judged(self, name: str) -> None:
        prepared = place(self.settings, self.corpus, 0).folder
        prepare_judged(prepared, self.asked.data, name, embedder_for(self.settings))
        judgments = load_dataset(self.asked.data / "retrieval" / name).judgments
        here: dict[str, Any] = {}
        self.found["judged"][name] = here
        for system in self.pythons:
            say(f"{system}, {name}: ranking …")
            ranked = self._try(system, self._rank, system, name, prepared)
            if ranked is not None:
                ranking = {
                    query: {document: 1.0 / rank for rank, document in enumerate(found, start=1)}
                    for query, found in ranked["rankings"].items()
                }
                here[system] = {
                    "ndcg@10": measure(judgments, ranking)["ndcg@10"],
                    "legs": ranked["legs"],
                }

    def _work(self, system: str, what: str, at: Place, *more: str) -> dict[str, Any]:
        options = ["--folder", str(at.folder / str(at.chunks) / system)]
        options += ["--prepared", str(at.folder), "--data", str(self.asked.data)]
        options += ["--chunks", str(at.chunks), "--limit", str(LIMIT), *more]
        options += ["--seconds", str(self.asked.seconds)]
        options += ["--client-seconds", str(self.asked.client_seconds)]
        seconds = _BUILD_SECONDS if what == "build" else _SEARCH_SECONDS
        return environments.work(self.pythons[system], system, what, seconds, *options)

    def _rank(self, system: str, name: str, prepared: Path) -> dict[str, Any]:
        options = ["--folder", str(prepared / "judged" / name / system), "--set", name]
        options += ["--prepared", str(prepared), "--limit", str(LIMIT)]
        python = self.pythons[system]
        return environments.work(python, system, "judge", _SEARCH_SECONDS, *options)

    def _try(
        self, system: str, do: Callable[_Given, _Got], *given: _Given.args, **named: _Given.kwargs
    ) -> _Got | None:
        """None if it failed; keeps the reason and goes on."""
        try:
            return do(*given, **named)
        except PeerFailed as reason:
            say(f"{system} failed: {reason}")
            self.found["failed"][system] = str(reason)
            return None
        finally:
            self._keep()

    def _keep(self) -> None:
        self.asked.to.mkdir(parents=True, exist_ok=True)
        kept = self.asked.to / RESULTS.name
        kept.write_text(json.dumps(self.found, indent=1), encoding="utf-8")


def main() -> None:
    asked = _arguments()
    run = Run(asked, load().settings, load_corpus(asked.data))
    run.compare()
    for path in write_report(run.found, asked.to):
        say(f"Written: {path}")


def _learn_truth(at: Place, corpus: Corpus) -> None:
    if not has_truth(at.folder, at.chunks):
        say(f"The true neighbours among {at.chunks:,} chunks, once …")
        asked = at.prepared.query_vectors
        asked = asked[(warm := warm_up(asked)) : warm + _TRUE_QUERIES]
        blocks = make_rows(corpus, at.prepared.base, at.chunks)
        save_truth(at.folder, at.chunks, nearest(blocks, asked, LIMIT))


def _arguments() -> Namespace:
    every = ",".join(environments.systems())
    judged = ",".join(SETS)
    return arguments(
        __doc__,
        "data",
        chunks=(SIZES, f"sizes, with commas (default: {SIZES})"),
        systems=(every, f"with commas (default: {every})"),
        sets=(judged, f"judged sets (default: {judged})"),
        to=(RESULTS.parent, "folder of the report"),
        no_ingest=(False, "leave ingestion out"),
        seconds=(15.0, "the most of one measurement"),
        client_seconds=(3.0, "of so many clients"),
    )


if __name__ == "__main__":
    main()
