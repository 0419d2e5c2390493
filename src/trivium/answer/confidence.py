"""How sure it is that a sentence answers a question: one number from what speaks for it. Pure.

The coefficients are those of logistic regressions over questions whose answers are known by
sentence, none of them held out. A sentence that a reader read has its own, which
`bench.confidence` fits: the reader tells more than words do.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, log


@dataclass(frozen=True, slots=True)
class Evidence:
    """What speaks for a sentence; each 0 to 1."""

    own: float  # the share of the question's terms, by weight, that it says itself
    said: float  # the same, with its headings, its neighbours, and words that mean the same
    gap: float  # the share of the heaviest term that it doesn't say itself
    focus: float  # it says the first thing that was asked about, or a word like it
    near: float = 0.0  # to the question in meaning
    read: float | None = None  # the chance that it answers, by a reader; None: it wasn't read
    kind: float = 1.0  # how well it holds what is asked for: a date, a name, an amount
    rank: float = 1.0  # of its passage: 1 for the first, 1/2 for the second


UNREAD, WEIGHTS = -6.3, (2.6, 1.5, -1.3, 1.3, 3.3)
READ_SIGNS = ("own", "near", "read", "kind", "rank")
# `python -m bench.confidence --parts home,work,lore,public --every 4`: 246 questions of documents
# that the reader wasn't trained on. Held out by document, from .4 on: 50 % right, 9 wrong, 85 of
# the near misses refused.
READ, WEIGHTS_READ = -5.62, (0.79, 2.01, 0.31, 1.04, 2.6)
LEAST = 1e-4  # chance: what is less is as good as none
LEAST_SURE, LEAST_SURE_READ = 0.25, 0.4


def confidence(evidence: Evidence) -> float:
    """0 to 1."""
    if evidence.read is None:
        return evidence.kind * _chance(UNREAD, WEIGHTS, signs(evidence))
    return _chance(READ, WEIGHTS_READ, signs(evidence))


def _chance(constant: float, weights: tuple[float, ...], values: tuple[float, ...]) -> float:
    pairs = zip(weights, values, strict=True)
    return 1 / (1 + exp(-constant - sum(weight * value for weight, value in pairs)))


def signs(evidence: Evidence) -> tuple[float, ...]:
    """Of a sentence that was read, and of others."""
    own, near = evidence.own, evidence.near
    if evidence.read is None:
        return own, evidence.said, evidence.gap, evidence.focus, near
    return own, near, log_odds(evidence.read), float(evidence.kind > 0), evidence.rank


def is_sure(confidence: float, evidence: Evidence) -> bool:
    """Whether it is enough to answer."""
    return confidence >= (LEAST_SURE if evidence.read is None else LEAST_SURE_READ)


def log_odds(chance: float) -> float:
    within = min(max(chance, LEAST), 1 - LEAST)
    return log(within / (1 - within))
