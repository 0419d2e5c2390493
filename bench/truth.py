"""The true nearest rows of each query, found by comparing all rows, and how many a search found.

Needs numpy and nothing of Trivium.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from bench.rows import PASSING, Rows

if TYPE_CHECKING:
    from numpy.typing import NDArray

_Truth = dict[str, list[list[int]]]  # without and with the filter: rows by query, nearest first


def nearest(blocks: Iterable[Rows], queries: NDArray[np.float32], k: int) -> _Truth:
    best: dict[str, tuple[NDArray[np.float32], NDArray[np.int64]]] = {}
    for rows in blocks:
        scores = queries @ rows.vectors.T
        ids = np.asarray(rows.ids, np.int64)
        passing = np.asarray(rows.shards) < PASSING
        for name, kept in (("plain", slice(None)), ("filtered", passing)):
            old = best.get(name, (scores[:, :0], np.zeros((len(queries), 0), np.int64)))
            new = np.broadcast_to(ids[kept], (len(queries), len(ids[kept])))
            merged = np.hstack([old[0], scores[:, kept]]), np.hstack([old[1], new])
            first = np.argsort(-merged[0], axis=1, kind="stable")[:, :k]
            best[name] = tuple(np.take_along_axis(part, first, 1) for part in merged)  # type: ignore[assignment]
    return {name: found.tolist() for name, (_, found) in best.items()}


def save_truth(prepared: Path, chunks: int, truth: _Truth) -> None:
    _path(prepared, chunks).parent.mkdir(parents=True, exist_ok=True)
    _path(prepared, chunks).write_text(json.dumps(truth), encoding="utf-8")


def has_truth(prepared: Path, chunks: int) -> bool:
    return _path(prepared, chunks).exists()


def load_truth(prepared: Path, chunks: int) -> _Truth:
    found: _Truth = json.loads(_path(prepared, chunks).read_text(encoding="utf-8"))
    return found


def recall(found: Sequence[Sequence[int]], true: Sequence[Sequence[int]], k: int) -> float:
    """The share of the true k nearest that was found; where fewer exist, of those."""
    hits = sum(len(set(f[:k]) & set(t[:k])) for f, t in zip(found, true, strict=True))
    return round(hits / sum(min(k, len(t)) for t in true), 4)


def _path(prepared: Path, chunks: int) -> Path:
    return prepared / f"{chunks}" / "truth.json"
