"""The match: how likely a passage is to be relevant to a query, from 0 to 1.

Unlike the fused score you can compare it between queries, so it orders several queries, and says
when nothing fits. It falls with the rank and never decides the order of one query's results.

A logistic function of few signs, fitted to judged sets; `docs/log.md` says how each set did when
it had no part in the fit. The rule of the reference for papers stands below it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from math import exp, log2

from trivium.results import SignalPart
from trivium.search.grasp import Passages
from trivium.text.normalise import words
from trivium.types import Document, Query, Signal

# Log odds from which on further evidence counts for less, or more, by the library: a match of .15.
# Below, a match means the same in every library, so that one floor serves all. Mean error of eight
# whole sets, each held out: .078, .069, .065, .066 and .070 at -2.5, -2, -1.75, -1.5 and -1.
KNEE = -1.75
# The least that it counts for: at 0, the very words asked for would match no better than that.
_LEAST = 0.2


@dataclass(frozen=True, slots=True)
class Signs:
    """What is known about one passage and one query."""

    share: float  # of the query's words that the passage holds, rare ones counting more
    behind: float  # the best of its list, as a share of that one's score
    similarity: float | None = None  # cosine; None without a model whose cosines were fitted
    judged: float | None = None  # by the built-in reranker
    passages: Passages = Passages()  # of the library: how long, how alike


@dataclass(frozen=True, slots=True)
class Fit:
    """What each sign adds to the logarithm of the odds."""

    offset: float
    share: float
    behind: float
    similarity: float = 0.0
    judged: float = 0.0
    # Of the library, times what evidence is beyond the knee: short texts hold the words of many
    # queries and are similar to them; where passages are alike, many are about the topic and few
    # are the one that was meant.
    length: float = 0.0
    alike: float = 0.0

    def probability(self, signs: Signs) -> float:
        evidence = (
            self.offset
            + self.share * signs.share
            + self.similarity * (signs.similarity or 0.0)
            + self.judged * (signs.judged or 0.0)
        )
        logit = evidence + self.behind * signs.behind
        if evidence > KNEE:
            logit += self.library(signs.passages) * (evidence - KNEE)
        return 1 / (1 + exp(-logit))

    def library(self, passages: Passages) -> float:
        """What is added to each unit of evidence beyond the knee. Never takes all of it away: more
        evidence never lowers a match."""
        return max(_LEAST - 1, self.length * passages.length + self.alike * passages.alike)


@dataclass(frozen=True, slots=True)
class Fits:
    """One for each set of signs that there may be."""

    words: Fit
    meaning: Fit | None = None
    judged: Fit | None = None

    def probability(self, signs: Signs) -> float:
        fit = self.words
        if self.meaning is not None and signs.similarity is not None:
            fit = self.meaning
            if self.judged is not None and signs.judged is not None:
                fit = self.judged
        return fit.probability(signs)


# Fitted to eleven judged sets, whole (bench.calibration).
WORDS = Fit(offset=-3.22, share=3.96, behind=-2.7)
MINILM = Fits(
    WORDS,
    meaning=Fit(offset=-4.9, share=3.3, behind=-2.57, similarity=4.98, length=0.65, alike=-4.26),
    judged=Fit(
        offset=-5.2,
        share=2.33,
        behind=-4.69,
        similarity=4.13,
        judged=2.0,
        length=0.62,
        alike=-4.06,
    ),
)
OTHER = Fits(WORDS)  # for models whose cosines mean something else


# How far behind the rank twice as great is on average, where scores are fused. Reciprocal ranks lie
# close together whatever was found, so there the rank stands for it.
_BEHIND_BY_RANK = 0.19


def behind(scores: Sequence[float], *, by_ranks: bool = False) -> list[float]:
    """How far each of a list, best first, is behind the first: 0 as good, 1 hopelessly."""
    if by_ranks or not scores or scores[0] <= 0:
        ranks = range(1, len(scores) + 1)
        return [min(1.0, _BEHIND_BY_RANK * log2(rank)) for rank in ranks]
    return [1 - score / scores[0] for score in scores]


def falling(matches: Iterable[float]) -> list[float]:
    """None higher than one before it: a list that is ordered by more than the match must not look
    as if it were in the wrong order."""
    return list(accumulate(matches, min))


# --- the rule of the preset `papers` -------------------------------------------------------------

BASE = 0.50
TITLE_SHARE = 0.30  # times the share of the query's words that the title holds
WHOLE_TITLE = 0.15
YEAR = 0.15
AUTHOR = 0.10
_SHORTEST_NAME = 3


def match_score(query: Query, document: Document, parts: Mapping[Signal, SignalPart]) -> float:
    """The similarity where meaning found it; else by how the words lie in title, year, authors."""
    found = parts.get(Signal.VECTOR)
    if found is not None:
        return min(1.0, max(0.0, found.score))
    asked = set(query.words)
    title = set(words(document.title))
    share = len(asked & title) / len(asked) if asked else 0.0
    score = BASE + TITLE_SHARE * share
    score += WHOLE_TITLE if share == 1.0 else 0.0
    score += YEAR if str(document.metadata.get("year", "")) in asked else 0.0
    score += AUTHOR if asked & _names(document) else 0.0
    return min(1.0, score)


def _names(document: Document) -> set[str]:
    """Last names."""
    authors = document.metadata.get("authors", ())
    listed = authors if isinstance(authors, tuple) else (authors,)
    last = (_last_name(str(author)) for author in listed)
    return {w for name in last for w in words(name) if len(w) >= _SHORTEST_NAME}


def _last_name(author: str) -> str:
    """`Jo van Smith` and `Smith, Jo van` are both Smith."""
    last, comma, _ = author.partition(",")
    return last if comma else (author.split() or [""])[-1]
