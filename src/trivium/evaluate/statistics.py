"""How far chance explains a figure: confidence intervals and paired tests over queries.

The queries of a judged set are a sample of those that people ask. The bootstrap draws queries with
replacement, the same ones for every measure; the randomisation test asks how often a difference as
great would come about if each query's two values had changed places by the toss of a coin. Both as
in Smucker, Allan and Carterette, "A comparison of statistical significance tests for information
retrieval evaluation", CIKM 2007. Seeded: the same values give the same answer. Pure.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

LEVEL = 0.95
SIGNIFICANT = 0.05  # a p-value below is called real
# 10,000 draws hold the ends of an interval to about .0005 on 300 queries, and a p-value near .05
# to .002; they take .1 s.
DRAWS = 10_000
_AT_ONCE = 1_000  # draws in memory
_ENUMERATED = 13  # queries that differ, up to which all 2^n changes of places are counted
EQUAL = 1e-6  # values nearer than that are a tie: sums may round otherwise in another file


@dataclass(frozen=True, slots=True)
class Interval:
    """The 95% confidence interval of the mean."""

    low: float
    high: float


@dataclass(frozen=True, slots=True)
class RunDifference:
    """How one run compares with another on the same queries."""

    gain: float  # mean of the differences, above 0 if the first run is better
    interval: Interval
    p: float  # two-sided
    wins: int
    losses: int
    ties: int

    @property
    def real(self) -> bool:
        return self.p < SIGNIFICANT

    def __str__(self) -> str:
        """The verdict as a sentence."""
        if not self.wins and not self.losses:
            return "No difference on any query."
        side = "better" if self.gain > 0 else "worse"
        text = f"p = {self.p:.3f}" if self.p >= 0.001 else "p < 0.001"
        if self.real:
            return f"The difference is real: {side} by {abs(self.gain):.4f} ({text})."
        return f"The difference of {self.gain:+.4f} may be chance ({text})."


def intervals(values: Mapping[str, Sequence[float]], seed: int = 0) -> dict[str, Interval]:
    """Of each measure's mean; all measures have a value for each query, in the same order."""
    import numpy as np

    columns = np.array(list(values.values()), dtype=np.float64).T
    if not len(columns):
        return {}
    queries = len(columns)
    chance = np.random.default_rng(seed)
    means = np.concatenate(
        [
            chance.multinomial(queries, np.full(queries, 1 / queries), _AT_ONCE) @ columns / queries
            for _ in range(DRAWS // _AT_ONCE)
        ]
    )
    outside = (1 - LEVEL) / 2
    low, high = np.quantile(means, (outside, 1 - outside), axis=0)
    return {
        name: Interval(round(float(a), 5), round(float(b), 5))
        for name, a, b in zip(values, low, high, strict=True)
    }


def compare(ours: Sequence[float], theirs: Sequence[float], seed: int = 0) -> RunDifference:
    """Two runs by one measure; the values of a query are at the same index in both."""
    import numpy as np

    gains = np.subtract(ours, theirs, dtype=np.float64)
    if not len(gains):
        return RunDifference(0.0, Interval(0.0, 0.0), 1.0, 0, 0, 0)
    gains[np.abs(gains) < EQUAL] = 0.0
    interval = intervals({"": gains.tolist()}, seed)[""]
    wins, losses = int((gains > 0).sum()), int((gains < 0).sum())
    ties = len(gains) - wins - losses
    gain = round(float(gains.mean()), 5)
    return RunDifference(gain, interval, _chance(gains, seed), wins, losses, ties)


def _chance(gains: NDArray[np.float64], seed: int) -> float:
    """The share of all changes of places that give a difference at least as great."""
    import numpy as np

    moved = gains[gains != 0]
    if not len(moved):
        return 1.0
    reached = abs(moved.sum()) - EQUAL
    if len(moved) <= _ENUMERATED:
        signs = 1.0 - 2.0 * (np.arange(2 ** len(moved))[:, None] >> np.arange(len(moved)) & 1)
        return float((np.abs(signs @ moved) >= reached).mean())
    chance = np.random.default_rng(seed)
    reaching = 0
    for _ in range(DRAWS // _AT_ONCE):
        signs = chance.integers(0, 2, (_AT_ONCE, len(moved))) * 2.0 - 1.0
        reaching += int((np.abs(signs @ moved) >= reached).sum())
    return (reaching + 1) / (DRAWS + 1)  # what was observed is one of the possible outcomes
