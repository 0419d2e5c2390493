"""How the vector signal of a folder scales: time, recall under filters, memory, adding and opening.

    python -m bench.vectors --rows 10000000
    python -m bench.vectors --vectors FILE.npy --listed 20000    # vectors of your own

Vectors alone, no text. Rows are made as in `bench.search` (`rows.py`): each lies between the
vectors of two real texts, with some noise. Queries are real. Processor time counts, since other
processes may share the machine; `others` says how many cores they kept busy. A row takes 880 bytes
of disk, `--place` says where.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from time import perf_counter, process_time
from typing import TYPE_CHECKING, Any

import numpy as np

from bench.build import place, prepare
from bench.corpus import load_corpus, warm_up
from bench.harness import Namespace, arguments, say
from bench.rows import BLOCK, vectors_of
from bench.surroundings import surroundings
from bench.timing import folder_bytes, memory, percentile, processor_seconds
from trivium.config import load
from trivium.store.embedded import generation as generations
from trivium.store.embedded.vectors import VectorIndex

if TYPE_CHECKING:
    from numpy.typing import NDArray

APPENDED = 100_000  # rows at a time
COMPARED = 50_000  # rows at a time, to find which are truly nearest
DEPTHS = (10, 100)  # recall among so many
ADDED = 1_000
_KINDS = ("all", "50 %", "10 %", "1 %", ".1 %", "one cluster (2 %)", "farthest 40 %")


def main() -> None:
    asked = _arguments()
    generations.LISTED_ROWS = asked.listed
    base, queries = _prepared(asked.data)
    folder = asked.place or Path(tempfile.mkdtemp(prefix="trivium-vectors-"))
    try:
        found = run(asked, base, queries, folder)
        print(json.dumps(found, indent=1))
    finally:
        if not asked.keep:
            shutil.rmtree(folder, ignore_errors=True)


def run(
    asked: Namespace, base: NDArray[np.float32], queries: NDArray[np.float32], folder: Path
) -> dict[str, Any]:
    if asked.vectors is not None:
        real = np.load(asked.vectors)
        shuffled = np.random.default_rng(1).permutation(len(real))[: asked.rows]
        blocks: Iterator[NDArray[Any]] = iter([real[shuffled]])
    else:
        numbers = range(-(-asked.rows // BLOCK))
        blocks = (vectors_of(base, number) for number in numbers)
    found: dict[str, Any] = {"rows": asked.rows, **surroundings()}
    if not any(folder.iterdir()):
        say("Adding …")
        found["adding"] = _fill(folder, _pieces(blocks, asked.rows))
    started, used = perf_counter(), process_time()
    index = VectorIndex.open(folder, base.shape[1], writable=False)
    found["opening"] = _since(started, used)
    found |= {"rows": index.count, "disk_mb": round(folder_bytes(folder) / 1e6)}
    say("Comparing every row …")
    masks = _masks(index, base[5], queries)
    truth = _truth(index, queries[warm_up(queries) :], masks)
    found["memory_before_mb"] = asdict(memory())
    for kind, mask in masks.items():
        say(f"Searching: {kind} …")
        found[kind] = _search(index, queries, None if kind == "all" else mask, truth[kind])
    found["memory_mb"] = asdict(memory())
    index.close()
    started, used = perf_counter(), process_time()
    index = VectorIndex.open(folder, base.shape[1], writable=True)
    found["opening to write"] = _since(started, used)
    more = vectors_of(base, 10**6)[:ADDED]
    started, used = perf_counter(), process_time()
    index.append(np.arange(ADDED) + int(index.ids[-1]) + 1, more)
    found[f"adding {ADDED:,} more"] = _since(started, used)
    index.close()
    return found


def _fill(folder: Path, pieces: Iterator[NDArray[Any]]) -> dict[str, Any]:
    """Through the same writer as a library's. Making the rows doesn't count."""
    index, took, used, longest = None, 0.0, 0.0, 0.0
    for piece in pieces:
        if index is None:
            index = VectorIndex.open(folder, piece.shape[1], writable=True)
        begun, spent = perf_counter(), process_time()
        index.append(np.arange(index.count, index.count + len(piece)), piece)
        seconds = perf_counter() - begun
        took, used, longest = took + seconds, used + process_time() - spent, max(longest, seconds)
        if index.count // 1_000_000 > (index.count - len(piece)) // 1_000_000:
            say(f"  {index.count:,} rows, {index.count / took:,.0f}/s, processor {used:,.0f} s")
    assert index is not None
    rows = index.count
    index.close()
    return {
        "rows_a_second": round(rows / took),
        "microseconds_of_processor_a_row": round(used / rows * 1e6, 1),
        "longest_s": round(longest, 1),
        "peak_mb": memory().peak,
    }


def _pieces(blocks: Iterator[NDArray[Any]], rows: int) -> Iterator[NDArray[Any]]:
    held: list[NDArray[Any]] = []
    left = rows
    for block in blocks:
        for start in range(0, len(block), APPENDED):
            held.append(block[start : start + APPENDED][: left - sum(map(len, held))])
            if sum(map(len, held)) >= min(APPENDED, left):
                left -= sum(map(len, held))
                yield np.concatenate(held)
                held = []
            if not left:
                return
    if held:
        yield np.concatenate(held)


def _masks(
    index: VectorIndex, one: NDArray[np.float32], queries: NDArray[np.float32]
) -> dict[str, NDArray[np.bool_]]:
    """Which rows pass: some by chance, those around one text, those farthest from the queries."""
    chance = np.random.default_rng(7).random(index.count, dtype=np.float32)
    away = queries.mean(axis=0)
    near = np.empty((2, index.count), np.float32)
    for start, rows in _blocks(index):
        near[:, start : start + len(rows)] = np.stack([one, away]) @ rows.T
    shares = (2.0, 0.5, 0.1, 0.01, 0.001)
    made = [chance < share for share in shares]
    made += [near[0] >= np.quantile(near[0], 0.98), near[1] <= np.quantile(near[1], 0.4)]
    return dict(zip(_KINDS, made, strict=True))


def _truth(
    index: VectorIndex, queries: NDArray[np.float32], masks: dict[str, NDArray[np.bool_]]
) -> dict[str, list[NDArray[np.int64]]]:
    """The positions of the rows that are truly nearest to each query, best first."""
    k = max(DEPTHS)
    best = {
        kind: (np.full((len(queries), k), -9, np.float32), np.zeros((len(queries), k), np.int64))
        for kind in masks
    }
    for start, rows in _blocks(index):
        scores = queries @ rows.T
        for kind, (held, places) in best.items():
            passing = masks[kind][start : start + len(rows)]
            over = (scores > held[:, -1:]) & passing
            for number in np.flatnonzero(over.any(axis=1)):
                fresh = np.flatnonzero(over[number])
                joined = np.append(held[number], scores[number, fresh])
                order = np.argsort(-joined, kind="stable")[:k]
                places[number] = np.append(places[number], fresh + start)[order]
                held[number] = joined[order]
    return {kind: [*places] for kind, (_, places) in best.items()}


def _blocks(index: VectorIndex) -> Iterator[tuple[int, NDArray[np.float32]]]:
    for start in range(0, index.count, COMPARED):
        places = np.arange(start, min(start + COMPARED, index.count))
        yield start, index.generation.rows_at(places)[1].astype(np.float32)


def _search(
    index: VectorIndex,
    queries: NDArray[np.float32],
    mask: NDArray[np.bool_] | None,
    truth: list[NDArray[np.int64]],
) -> dict[str, Any]:
    first, warm = index.count, warm_up(queries)
    for query in queries[:warm]:
        index.search(query, 10, mask)
    walls, cpus, found = [], [], dict.fromkeys(DEPTHS, 0)
    before, own, started = processor_seconds(), process_time(), perf_counter()
    for query, true in zip(queries[warm:], truth, strict=True):
        begun, used = perf_counter(), process_time()
        ids, _ = index.search(query, 10, mask)
        cpus.append((process_time() - used) * 1000)
        walls.append((perf_counter() - begun) * 1000)
        found[10] += len(np.intersect1d(ids, index.ids[true[:10]]))
    spent = perf_counter() - started
    others = (processor_seconds() - before - (process_time() - own)) / spent
    for query, true in zip(queries[warm:], truth, strict=True):
        ids, _ = index.search(query, 100, mask)
        found[100] += len(np.intersect1d(ids, index.ids[true]))
    passing = first if mask is None else int(np.count_nonzero(mask))
    walls.sort()
    cpus.sort()
    return {
        "passing": passing,
        "cpu_ms": {f"p{int(100 * p)}": round(percentile(cpus, p), 2) for p in (0.5, 0.95)},
        "wall_ms": {f"p{int(100 * p)}": round(percentile(walls, p), 2) for p in (0.5, 0.95)},
        "others": round(max(0.0, others), 2),
        **{f"recall@{k}": _share(found[k], k, len(truth), passing) for k in DEPTHS},
    }


def _share(found: int, k: int, queries: int, passing: int) -> float:
    return round(found / max(1, min(k, passing) * queries), 4)


def _since(wall: float, cpu: float) -> dict[str, float]:
    return {
        "wall_ms": round((perf_counter() - wall) * 1000, 1),
        "cpu_ms": round((process_time() - cpu) * 1000, 1),
    }


def _prepared(data: Path) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Vectors of real texts and of real queries."""
    settings = load().settings
    corpus = load_corpus(data)
    at = place(settings, corpus, 0)
    prepare(at, corpus, settings)
    return at.prepared.base, at.prepared.query_vectors


def _arguments() -> Namespace:
    return arguments(
        __doc__,
        "data",
        rows=(1_000_000, "how many"),
        vectors=(Path, "use these (.npy), as far as they go"),
        listed=(generations.LISTED_ROWS, "put rows into lists from here"),
        place=(Path, "folder of the rows; used again if it has some"),
        keep=(False, "leave the folder"),
    )


if __name__ == "__main__":
    main()
