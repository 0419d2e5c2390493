"""Joins ranked lists into one by weighted reciprocal rank.

Cormack, Clarke and Büttcher, "Reciprocal rank fusion outperforms Condorcet and individual rank
learning methods", SIGIR 2009. Pure: knows hits and weights, not where they came from.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from trivium.types import ChunkId, Hit, Signal, SignalPart


@dataclass(frozen=True, slots=True)
class Fused:
    """A chunk, its score and the parts that add up to it."""

    chunk_id: ChunkId
    score: float
    parts: Mapping[Signal, SignalPart]


def reciprocal_rank(
    lists: Mapping[Signal, Sequence[Hit]], weights: Mapping[Signal, float], k: float
) -> list[Fused]:
    """`Σ weight / (k + rank)`, best first, then by chunk id. Weightless signals are left out."""
    parts: dict[ChunkId, dict[Signal, SignalPart]] = {}
    for signal in Signal:  # always in this order, so that sums round the same way
        weight = weights.get(signal, 0.0)
        if not weight:
            continue
        for rank, hit in enumerate(lists.get(signal, ()), start=1):
            part = SignalPart(rank, hit.score, weight, weight / (k + rank))
            parts.setdefault(hit.chunk_id, {})[signal] = part
    fused = [
        Fused(chunk_id, sum(part.contribution for part in found.values()), found)
        for chunk_id, found in parts.items()
    ]
    return sorted(fused, key=lambda f: (-f.score, f.chunk_id))
