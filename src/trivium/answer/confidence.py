"""How sure it is that a sentence answers a question: one number from what speaks for it. Pure.

The coefficients are those of logistic regressions over questions whose answers are known by
sentence, none of them held out: the judged ones (`python -m bench.confidence`) and XQuAD's.
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
    focus: float  # it says the first thing that was asked about, or a word like it
    near: float = 0.0  # to the question in meaning


# The mean of two fits: of 500 open questions (XQuAD, English, articles that aren't held out) and of
# the 94 judged ones. By limit, XQuAD right / wrong / refused without the paragraph: from .15 on 53,
# 11, 96 %, from .25 on 45, 9, 98, from .5 on 31, 4, 99; judged 72, 4, 90; 68, 4, 95; 55, 4, 98.
CONSTANT = -6.3
COEFFICIENTS = Evidence(own=2.6, said=1.5, gap=-1.3, focus=1.3, near=3.3)
LEAST_SURE = 0.25


def confidence(evidence: Evidence) -> float:
    """0 to 1."""
    pairs = zip(astuple(COEFFICIENTS), astuple(evidence), strict=True)
    return 1 / (1 + exp(-CONSTANT - sum(weight * value for weight, value in pairs)))
