"""Combines the scores of several queries into one. Pure.

These scores are matches, which can be compared between queries; fused scores can't.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from trivium.core.results import QueryPart, SignalPart
from trivium.core.types import Combine, Signal

LEAST, MOST = 2, 4  # queries


def combined(scores: Sequence[float], combine: Combine) -> float:
    match combine:
        case Combine.MINIMUM:
            return min(scores)
        case Combine.PRODUCT:
            return float(prod(max(0.0, score) for score in scores) ** (1 / len(scores)))
        case Combine.AVERAGE:
            return sum(scores) / len(scores)
        case Combine.MAXIMUM:
            return max(scores)


def shown(score: float, parts: Sequence[float]) -> str:
    """For people: 73% (85|72|68)."""
    return f"{score:.0%} ({'|'.join(f'{part * 100:.0f}' for part in parts)})"


def best_signals(parts: Sequence[QueryPart]) -> dict[Signal, SignalPart]:
    """For each signal that found the result, its best part over all queries."""
    signal_parts: dict[Signal, SignalPart] = {}
    for signal in Signal:
        ranked = [part.signals[signal] for part in parts if signal in part.signals]
        if ranked:
            signal_parts[signal] = min(ranked, key=lambda part: part.rank)
    return signal_parts
