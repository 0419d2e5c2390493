"""Trivium's side: every signal alone, hybrid search, recall, and the start of a new process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from bench.build import Place
from bench.corpus import warm_up
from bench.timing import Timing, drop_from_page_cache, measure
from trivium.config import Settings
from trivium.core.types import OWNER, Probe, Signal, Where
from trivium.library.asking import request_for
from trivium.library.assembly import local_embedder_for
from trivium.models.local import LocalEmbedder
from trivium.operations.searching import SearchOptions
from trivium.ports import Backend
from trivium.search.request import SearchRequest
from trivium.search.run import Searcher
from trivium.store.embedded.backend import open_embedded
from trivium.store.embedded.database import open_database
from trivium.store.sql.feed import Feed
from trivium.text.query import parse

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from trivium.core.types import Vector, Vectors


class Precomputed:
    """An embedder that remembers, so that every engine is given the same vectors. A query that was
    corrected is another one: the model embeds it, once, and that counts as time."""

    def __init__(self, model: LocalEmbedder, queries: Sequence[str], vectors: Vectors) -> None:
        self._model = model
        self.fingerprint, self.dimensions = model.fingerprint, model.dimensions
        self._known: dict[str, Vector] = {
            parse(q).text: v for q, v in zip(queries, vectors, strict=True)
        }

    def embed_query(self, text: str) -> Vector:
        if text not in self._known:
            self._known[text] = self._model.embed_query(text)
        return self._known[text]

    def knows(self, word: str) -> bool:
        return self._model.knows(word)

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        raise NotImplementedError("only queries are known")


@dataclass(frozen=True, slots=True)
class Ours:
    """An open library, and what to ask it."""

    store: Backend
    settings: Settings
    model: str  # its fingerprint
    embedding: Searcher  # embeds the query, as in real use
    given: Searcher  # is given the query's vector
    queries: list[str]
    probes: list[Probe]  # the same, with vectors
    limit: int
    seconds: float  # the most that one measurement may take

    @classmethod
    def open(cls, at: Place, settings: Settings, limit: int, seconds: float) -> Ours:
        store = open_embedded(at.library, create=False)
        model, queries = local_embedder_for(settings), at.prepared.queries
        vectors = at.prepared.query_vectors
        given = Precomputed(model, queries, vectors)
        name = store.models.manifest().model
        probes = [Probe(parse(q), v, model=name) for q, v in zip(queries, vectors, strict=True)]
        searchers = Searcher(store, model), Searcher(store, given)
        name = model.fingerprint
        return cls(store, settings, name, *searchers, queries, probes, limit, seconds)

    @property
    def warm(self) -> int:
        """So many of the queries come before the clock runs."""
        return warm_up(self.queries)

    @property
    def candidates(self) -> int:
        """How many hits hybrid search asks each signal for."""
        return self.request("").depth

    def request(self, query: str, where: Where = OWNER) -> SearchRequest:
        """As `Library.search` makes it by default: corrected, analysed, weighed by evidence."""
        options = SearchOptions(limit=self.limit)
        return request_for(self.settings, self.model, (query,), where, options)

    def hybrid(self, searcher: Searcher, where: Where = OWNER) -> Timing:
        def ask(query: str) -> None:
            searcher.search(self.request(query, where))

        for query in self.queries[: self.warm]:
            ask(query)
        return measure(ask, self.queries[self.warm :], self.seconds)

    def stages(self, searcher: Searcher) -> dict[str, float]:
        """The mean of each stage's milliseconds. Signals run beside each other."""
        sums: dict[str, float] = {}
        asked = self.queries[self.warm :]
        for query in asked:
            for stage, took in searcher.search(self.request(query)).timings_ms.items():
                sums[stage] = sums.get(stage, 0.0) + took
        return {stage: round(total / len(asked), 2) for stage, total in sums.items()}

    def signals(self) -> dict[str, Timing]:
        """Each signal alone, asked for as many hits as hybrid search asks."""
        found = {}
        for signal in Signal:

            def ask(probe: Probe, signal: Signal = signal) -> None:
                self.store.signals.search(signal, probe, OWNER, self.candidates)

            for probe in self.probes[: self.warm]:
                ask(probe)
            found[signal.value] = measure(ask, self.probes[self.warm :], self.seconds)
        return found

    def recall(self, asked: int = 50) -> float:
        """The share of the true ten nearest that the vector signal finds."""
        probes = self.probes[self.warm : self.warm + asked]
        exact = exact_nearest(self.store, probes, self.limit)
        hits = 0
        for probe, true in zip(probes, exact, strict=True):
            found = self.store.signals.search(Signal.VECTOR, probe, OWNER, self.limit)
            hits += len({h.chunk_id for h in found} & {i for i, _ in true})
        return round(hits / (self.limit * len(probes)), 4)


def exact_nearest(
    store: Backend, probes: Sequence[Probe], k: int, passing: NDArray[np.bool_] | None = None
) -> list[list[tuple[int, float]]]:
    """Ids and cosines of the k nearest rows, by comparing every one that passes. Reads the vectors
    from the database: the index under test, and where its files lie, play no part."""
    best: list[list[tuple[int, float]]] = [[] for _ in probes]
    assert store.folder is not None
    feed = Feed(open_database(store.folder / "library.db"))
    for ids, near in feed.vector_rows(store.models.manifest().model, 0):
        if passing is not None:
            ids, near = ids[passing[ids]], near[passing[ids]]  # noqa: PLW2901
        for number, probe in enumerate(probes):
            assert probe.vector is not None
            scores = np.vecdot(near, probe.vector)
            top = np.argsort(-scores, kind="stable")[:k]
            merged = best[number] + [(int(ids[t]), float(scores[t])) for t in top]
            best[number] = sorted(merged, key=lambda pair: (-pair[1], pair[0]))[:k]
    return best


def cold_start(at: Place, query: str, *, dropped: bool) -> dict[str, Any]:
    """Seconds from starting an interpreter to the first result of a hybrid search."""
    if dropped:
        drop_from_page_cache(at.library)
    started = perf_counter()
    command = [sys.executable, "-m", "bench.cold", str(at.library), query]
    # With it, every start compiles all modules: a quarter more processor time than users wait for.
    env = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=env) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        took = perf_counter() - started
    if process.returncode:
        raise RuntimeError(f"`{' '.join(command)}` failed: see above.")
    return {"total": round(took, 3), **json.loads(line)}


def timings(found: dict[str, Timing]) -> dict[str, dict[str, float]]:
    return {name: asdict(timing) for name, timing in found.items()}


def on_disk(folder: Path) -> dict[str, int]:
    """Megabytes of each part of a library."""
    parts: dict[str, int] = {}
    for path in folder.rglob("*"):
        if path.is_file():
            part = path.relative_to(folder).parts[0]
            parts[part] = parts.get(part, 0) + path.stat().st_size
    return {part: round(size / 1e6) for part, size in sorted(parts.items())}
