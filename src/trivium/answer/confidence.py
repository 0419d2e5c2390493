"""How sure it is that a sentence answers a question: one number from what speaks for it. Pure.

The coefficients are those of a logistic regression, fitted by `python -m bench.confidence` over
open questions whose answers are known by sentence, none of them of the judged set.
"""

from __future__ import annotations

from dataclasses import astuple, dataclass
from math import exp


@dataclass(frozen=True, slots=True)
class Evidence:
    """What speaks for a sentence; each 0 to 1."""

    own: float  # the share of the question's terms, by weight, that it says itself
    said: float  # the same, with its headings, its neighbours, and words that mean the same
    gap: float  # the share of the heaviest term that it doesn't say itself
    near: float  # to the question in meaning
    kind: float  # it contains what was asked for: a date, a name, an amount
    rank: float  # 1 / the number of its passage


CONSTANT = -6.0
COEFFICIENTS = Evidence(own=2.0, said=3.0, gap=-1.0, near=3.0, kind=1.0, rank=0.5)


def confidence(evidence: Evidence) -> float:
    """0 to 1."""
    pairs = zip(astuple(COEFFICIENTS), astuple(evidence), strict=True)
    return 1 / (1 + exp(-CONSTANT - sum(weight * value for weight, value in pairs)))
