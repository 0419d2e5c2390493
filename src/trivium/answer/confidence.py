"""How sure it is that a sentence answers a question: one number from what speaks for it. Pure.

The coefficients are those of logistic regressions over questions whose answers are known by
sentence, none of them held out: the judged ones (`python -m bench.confidence`) and XQuAD's. A
sentence that a reader read has its own: the reader tells more than words do.
"""

from __future__ import annotations

from dataclasses import astuple, dataclass
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


# Each the mean of two fits: of 300 to 500 open questions (XQuAD, English) and of the judged ones.
# With the reader, XQuAD right / wrong / refused without the paragraph: from .25 on 62, 10, 96 %,
# from .35 on 58, 7, 98, from .5 on 52, 6, 99; without it 60, 13, 96; 55, 11, 96; 45, 5, 99.
UNREAD, WEIGHTS = -6.3, (2.6, 1.5, -1.3, 1.3, 3.3)
READ, WEIGHTS_READ = -4.1, (2.2, 1.1, -0.1, 1.6, 2.4, 0.43)
LEAST = 1e-4  # chance: what is less is as good as none
LEAST_SURE, LEAST_SURE_READ = 0.25, 0.35
SURELY_READ, NEAR_ENOUGH = 0.5, 0.25  # the chance by the reader alone, and the nearness for it


def likelihood(evidence: Evidence) -> float:
    """0 to 1, by all signs together: of two sentences that are sure, the likelier one answers."""
    constant, weights = (UNREAD, WEIGHTS) if evidence.read is None else (READ, WEIGHTS_READ)
    pairs = zip(weights, signs(evidence), strict=True)
    return 1 / (1 + exp(-constant - sum(weight * value for weight, value in pairs)))


def confidence(evidence: Evidence) -> float:
    """0 to 1. What the reader is sure of is at least as sure as that."""
    by_signs = likelihood(evidence)
    return max(by_signs, evidence.read or 0.0) if is_read(evidence) else by_signs


def is_read(evidence: Evidence) -> bool:
    """Whether the reader is sure, of a sentence that is about what was asked, and says part
    of it."""
    is_about = evidence.near >= NEAR_ENOUGH and evidence.own > 0
    return is_about and (evidence.read or 0.0) >= SURELY_READ


def signs(evidence: Evidence) -> tuple[float, ...]:
    """Five; of a sentence that was read six."""
    *others, chance = astuple(evidence)
    return (*others, *(() if chance is None else (log_odds(chance),)))


def is_sure(confidence: float, evidence: Evidence) -> bool:
    """Whether it is enough to answer."""
    return confidence >= (LEAST_SURE if evidence.read is None else LEAST_SURE_READ)


def log_odds(chance: float) -> float:
    within = min(max(chance, LEAST), 1 - LEAST)
    return log(within / (1 - within))
