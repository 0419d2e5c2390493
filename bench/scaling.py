"""How searching grows with cores: queries a second of 1, 2, 4, … threads, processes and workers.

    python -m bench.scaling --library DIR --workers 1,2,4,8,16
    python -m bench.scaling --library DIR --given          # without the embedding model
    python -m bench.scaling --only threads,processes       # the library of bench.search

Needs only a library, and no network: the queries are words of its own passages, and with `--given`
each comes with the vector of its passage. `--queries FILE` (a JSON list of texts, as
`bench.search` keeps it) asks those instead, `--vectors FILE.npy` gives their vectors.

`threads` share one process and so one interpreter; `processes` share nothing but the files;
`served` is `trivium serve --workers N`, asked over HTTP by 8 clients or more, who need cores too.
Everyone searches again as soon as they have an answer. `cores`: cores busy with this; `others`:
cores that other processes kept busy. Only figures of a quiet machine (near 0) count.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter, process_time
from typing import TYPE_CHECKING, Any

import numpy as np

from bench.build import place
from bench.corpus import load_corpus, warm_up
from bench.harness import Namespace, arguments, numbers, say
from bench.serving import measured, served
from bench.surroundings import surroundings
from bench.timing import percentile, processor_seconds
from trivium.config import load
from trivium.core.types import OWNER
from trivium.library import Library
from trivium.store.embedded.backend import open_embedded
from trivium.text.normalise import words
from trivium.text.query import parse

if TYPE_CHECKING:
    from trivium.core.types import Vector, Vectors

KINDS = ("threads", "processes", "served")
_QUERIES = 300
_WORDS = 6  # of a passage, side by side
_LEAST_CLIENTS = 8
_ROW = "{:<24}{:>10}{:>9}{:>9}{:>8}{:>10}{:>8}"


@dataclass(frozen=True, slots=True)
class Asked:
    """What is asked, and the vectors of it where they are given."""

    texts: list[str]
    vectors: Vectors | None


class Given:
    """Stands for the model: knows the vectors of the queries. One that was corrected gets the
    first."""

    def __init__(self, asked: Asked, model: str) -> None:
        assert asked.vectors is not None
        self.fingerprint, self.dimensions = model, asked.vectors.shape[1]
        named = zip(asked.texts, asked.vectors, strict=True)
        self._known: dict[str, Vector] = {parse(text).text: vector for text, vector in named}
        self._first: Vector = asked.vectors[0]

    def embed_query(self, text: str) -> Vector:
        return self._known.get(text, self._first)

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        raise NotImplementedError("only queries are known")


def main() -> None:
    asked = _arguments()
    if asked.threads:
        _work(asked)
        return
    library = asked.library or _library_of_search(asked)
    found: dict[str, Any] = {"library": str(library), "seconds": asked.seconds, **surroundings()}
    found["given"] = asked.given or asked.vectors is not None
    found["runs"] = []
    for kind in asked.only.split(","):
        for number in asked.workers:
            say(f"{number} {kind} …")
            run = _RUNS[kind](library, number, asked)
            found["runs"].append(run)
            say(f"  {run['per_second']} a second")  # kept where a later run is cut off
    print(json.dumps(found, indent=1) if asked.json else table(found))


def _threads(library: Path, number: int, asked: Namespace) -> dict[str, Any]:
    name = f"1 process, {number} thread{'s' if number > 1 else ''}"
    return _together(name, library, [number], asked)


def _processes(library: Path, number: int, asked: Namespace) -> dict[str, Any]:
    name = f"{number} process{'es' if number > 1 else ''}, 1 thread"
    return _together(name, library, [1] * number, asked)


def _served(library: Path, number: int, asked: Namespace) -> dict[str, Any]:
    clients = max(_LEAST_CLIENTS, 2 * number)
    name = f"served, {number} worker{'s' if number > 1 else ''}"
    with tempfile.TemporaryDirectory() as folder:
        queries = Path(folder) / "queries.json"
        texts = _asked_of(library, asked).texts
        queries.write_text(json.dumps(texts), encoding="utf-8")
        with served(library, ("--workers", str(number))) as server:
            run = measured(name, server, queries, clients, asked.seconds)
    ms = {"p50": run["ms"].get("p50", 0.0), "p95": run["ms"].get("p95", 0.0)}
    return {
        "name": name,
        "per_second": run["rps"],
        **ms,
        **{key: run[key] for key in ("cores", "cpu_ms", "others")},
        "failed": sum(n for status, n in run["statuses"].items() if status != "200"),
    }


_RUNS: dict[str, Callable[[Path, int, Namespace], dict[str, Any]]] = {
    "threads": _threads,
    "processes": _processes,
    "served": _served,
}


def _together(name: str, library: Path, threads: Sequence[int], asked: Namespace) -> dict[str, Any]:
    """Processes of so many threads each, that begin at the same moment."""
    command = [sys.executable, "-m", "bench.scaling", "--library", str(library)]
    command += ["--seconds", str(asked.seconds)] + (["--given"] if asked.given else [])
    for option in ("queries", "vectors"):
        given = getattr(asked, option)
        command += [] if given is None else [f"--{option}", str(given)]
    started = [
        subprocess.Popen(
            [*command, "--threads", str(number)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for number in threads
    ]
    try:
        for process in started:
            assert process.stdout is not None
            if process.stdout.readline().strip() != "ready":
                raise RuntimeError(f"{name}: a process ended before it began. See above.")
        before, began = processor_seconds(), perf_counter()
        for process in started:
            assert process.stdin is not None
            print("go", file=process.stdin, flush=True)
        told = [json.loads(process.communicate()[0]) for process in started]
        wall, busy = perf_counter() - began, processor_seconds() - before
    finally:
        for process in started:
            process.kill()
            process.wait()
    took = sorted(ms for one in told for ms in one["ms"])
    own = sum(one["cpu"] for one in told)
    return {
        "name": name,
        "per_second": round(sum(len(one["ms"]) / one["seconds"] for one in told), 1),
        "p50": round(percentile(took, 0.50), 2),
        "p95": round(percentile(took, 0.95), 2),
        "cores": round(sum(one["cpu"] / one["seconds"] for one in told), 2),
        "cpu_ms": round(1000 * own / len(took), 2),
        "others": round(max(0.0, (busy - own) / wall), 2),
        "failed": 0,
    }


def _work(asked: Namespace) -> None:
    """One process: opens the library, says that it is ready, and asks once it is told to."""
    wanted = _asked_of(asked.library, asked)
    with _opened(asked.library, wanted) as library:
        for text in wanted.texts[: warm_up(wanted.texts)]:
            library.search(text)
        print("ready", flush=True)
        sys.stdin.readline()
        used, began = process_time(), perf_counter()
        until = began + asked.seconds

        def client(number: int) -> list[float]:
            at = number * len(wanted.texts) // asked.threads
            took: list[float] = []
            while (begun := perf_counter()) < until or not took:
                library.search(wanted.texts[at % len(wanted.texts)])
                took.append(round(1000 * (perf_counter() - begun), 3))
                at += 1
            return took

        with ThreadPoolExecutor(asked.threads) as threads:
            took = [ms for of_one in threads.map(client, range(asked.threads)) for ms in of_one]
        seconds, cpu = perf_counter() - began, process_time() - used
    print(json.dumps({"ms": took, "seconds": seconds, "cpu": cpu}), flush=True)


def _opened(folder: Path, wanted: Asked) -> Library:
    if wanted.vectors is None:
        return Library.open(folder, create=False)
    backend = open_embedded(folder, create=False)
    model = backend.models.manifest().model
    return Library(backend, Given(wanted, model), load().settings)


def _asked_of(library: Path, asked: Namespace) -> Asked:
    if asked.queries is not None:
        texts = json.loads(asked.queries.read_text(encoding="utf-8"))
        return Asked(texts, None if asked.vectors is None else np.load(asked.vectors))
    backend = open_embedded(library, create=False)
    try:
        _, ids = backend.signals.sample(_QUERIES, OWNER)
        passages = backend.documents.chunks(ids, OWNER)
        kept = backend.signals.vectors(ids, OWNER) if asked.given else {}
    finally:
        backend.close()
    texts, vectors = [], []
    for passage in passages:
        read = words(passage.chunk.text)
        at = passage.id % max(1, len(read) - _WORDS)
        if read and (not asked.given or passage.id in kept):
            texts.append(" ".join(read[at : at + _WORDS]))
            vectors.append(kept.get(passage.id))
    if not texts:
        sys.exit(f"The library {library} has no passages to ask for.")
    return Asked(texts, np.stack(vectors) if asked.given else None)  # type: ignore[arg-type]


def _library_of_search(asked: Namespace) -> Path:
    """The library that `bench.search` measures; builds it if it is missing."""
    at = place(load().settings, load_corpus(asked.data), asked.chunks)
    if not at.built.exists():
        command = [sys.executable, "-m", "bench.build", "--chunks", str(at.chunks)]
        subprocess.run([*command, "--data", str(asked.data)], check=True)
    return at.library


def table(found: dict[str, Any]) -> str:
    machine = found["machine"]
    vectors = "vectors given" if found["given"] else "queries embedded"
    lines = [
        f"{found['library']}, {vectors}, {found['seconds']:g} s a run, {machine['cores']} cores"
        f" ({machine['processor']}), {found['date']}",
        _ROW.format("", "queries/s", "p50", "p95", "cores", "ms CPU", "others"),
    ]
    for one in found["runs"]:
        figures = [one[key] for key in ("per_second", "p50", "p95", "cores", "cpu_ms", "others")]
        failed = f"  {one['failed']} failed" if one["failed"] else ""
        lines.append(_ROW.format(one["name"], *figures) + failed)
    return "\n".join(lines)


def _arguments() -> Namespace:
    return arguments(
        __doc__,
        "chunks",
        "data",
        "json",
        library=(Path, "folder (default: that of bench.search)"),
        workers=({"type": numbers, "default": [1, 2, 4, 8, 16]}, "with commas"),
        only=(",".join(KINDS), "kinds, with commas"),
        seconds=(10.0, "of each run"),
        given=(False, "give vectors with the queries"),
        queries=(Path, "JSON file: a list of texts"),
        vectors=(Path, "numpy file: a row for each of them"),
        threads=(0, "internal"),
    )


if __name__ == "__main__":
    main()
