"""The match: how likely a passage is to be relevant to a query, from 0 to 1.

Unlike fused scores, matches can be compared between queries. So they rank the results of several
queries, and show when nothing is relevant. For one query they never decide the order. They never
rise from one result to the next either, unless preferences reorder the results afterwards.

A logistic function of a few signs, fitted to judged sets; `docs/log.md` says how well it does on
each set when that one is left out of the fit. Below it is the rule of the preset `papers`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from math import exp, log2

from trivium.core.results import OrderPart, PreferencePart, QueryPart, RerankPart, SignalPart
from trivium.core.types import Document, Query, Signal, StoredChunk
from trivium.search.scale import BUILT_IN, Scale
from trivium.search.separation import Passages
from trivium.text.normalise import words

# Log odds (a match of .15) above which the library decides how much more evidence counts. Below, a
# match means the same in every library, so one floor works for all. Mean error on eight whole sets,
# each held out: .078, .069, .065, .066 and .070 at -2.5, -2, -1.75, -1.5 and -1.
KNEE = -1.75
# Evidence above the knee counts at least this much. At 0, a passage with the exact words of the
# query would match no better than one at the knee.
_LEAST = 0.2
# A passage with good evidence of its own is hardly less likely to be relevant because another is
# ahead of it; one with weak evidence is. Before, where many passages answer a query, all but the
# first were too low. Error of calibration, and reranked: cranfield .120 to .056 (.120 to .053),
# dbpedia_5k .155 to .123 (.152 to .092), 454 abstracts of nfcorpus .239 to .193 (.241 to .194);
# where one passage answers, xquad_en, .018 to .033. From -1.75 to -3.5 all are within .02 of that.
OWN, OWN_EVIDENCE = 2.0, -2.5
# In a library with few passages, a good passage has few rivals, so evidence counts more, and from
# lower on. On small libraries (10, 30 and 100 documents of ten judged sets, 604 queries) the first
# result is right in 79 % of the cases. Those that are right have a mean match of .76 with these
# values and .48 without; the error of calibration is .031 and .047. Queries of other sets stay as
# they were: 1.6 % are above the floor.
_FEW_KNEE, _FEW = -2.25, 1.25
# There, a passage that is much more similar than the usual one (the median of the 50 nearest) is
# likelier to be right. On six sets and libraries of 3, 10, 30 and 100 documents, right first
# results with .6 or more rose from 58, 72, 84, 90 % to 63, 87, 93, 96 %; the error of calibration
# fell from .076, .030, .027, .024 to .066, .021, .021, .026; no query of another set is above the
# floor, before or after.
_LEAD, _USUAL_LEAD = 8.0, 0.15

# Who types the number of an order means that one: another number, however near, is no good match.
# Below every usual floor (`search.floor`). Of 7,683 judged queries one has a code (rs647161).
LACKING = 0.08
# A passage about another year than the query's, or about winter instead of summer, is no good match
# either, but may be the one that is meant. Of 489 relevant documents for judged queries with a year
# 446 have it, and 27 have only others.
OF_OTHERS = 0.5


@dataclass(frozen=True, slots=True)
class Signs:
    """What we know about one passage and one query."""

    share: float  # of the query's words in the passage; rare words count more
    behind: float  # how far it is behind the best result, as a share of the best score
    similarity: float | None = None  # cosine; None if the fit doesn't know this model's cosines
    judged: float | None = None  # score of the built-in reranker
    passages: Passages = Passages()  # how long and how alike the library's passages are
    known: float = 0.0  # at least this likely, as a known item
    reason: str = ""  # why it is one, for people
    lacks: str = ""  # a code of the query that is neither in it nor known of its document
    of_others: str = ""  # that it is about another year or season than the query, for people
    lead: float | None = None  # how much more similar it is than the usual passage; None: unknown


@dataclass(frozen=True, slots=True)
class Candidate:
    """A result in the making."""

    found: StoredChunk
    score: float
    signals: Mapping[Signal, SignalPart]
    match: float = 0.0
    signs: Signs | None = None  # what the match was computed from
    queries: tuple[QueryPart, ...] = ()
    passages: int = 1
    rerank: RerankPart | None = None
    preferences: tuple[PreferencePart, ...] = ()
    in_order: OrderPart | None = None

    def matched(self, match: float, signs: Signs) -> Candidate:
        """A copy with its match. `replace` would take three times as long."""
        return Candidate(
            self.found,
            self.score,
            self.signals,
            match,
            signs,
            self.queries,
            self.passages,
            self.rerank,
            self.preferences,
            self.in_order,
        )


def explained(signs: Signs) -> str:
    """Where a match comes from, for people."""
    if signs.of_others:
        return signs.of_others
    if signs.reason:
        return signs.reason
    if signs.lacks:
        return f"It doesn't have {signs.lacks}."
    if 0 < signs.share < 1:
        sentence = f"The passage has {signs.share:.0%} of the query's words (rare ones count more)"
    else:
        sentence = f"The passage has {'all' if signs.share else 'none'} of the query's words"
    if signs.similarity is not None:
        sentence += f" and a similarity of {signs.similarity:.2f}"
    if signs.judged is not None:
        sentence += f"; the reranker says {signs.judged:.2f}"
    return f"{sentence}."


@dataclass(frozen=True, slots=True)
class Fit:
    """How much each sign adds to the log odds."""

    offset: float
    share: float
    behind: float
    similarity: float = 0.0
    judged: float = 0.0
    # For the library, times the evidence above the knee. Short texts have the words of many queries
    # and are similar to them. If passages are alike, many are about the topic and few are the one
    # that the caller means.
    length: float = 0.0
    alike: float = 0.0
    spread: float = 1.0  # of the model's cosines, beside the built-in one's

    def probability(self, signs: Signs) -> float:
        evidence = (
            self.offset
            + self.share * signs.share
            + self.similarity * (signs.similarity or 0.0)
            + self.judged * (signs.judged or 0.0)
        )
        few = signs.passages.few and self.similarity > 0
        above = evidence - (_FEW_KNEE if few else KNEE)
        logit = evidence + self.behind * signs.behind / (1 + exp(OWN * (evidence - OWN_EVIDENCE)))
        if above > 0:
            logit += (_FEW if few else self.library(signs.passages)) * above
        if few:
            logit += _LEAD * max(0.0, self.spread * (signs.lead or 0.0) - _USUAL_LEAD)
        return 1 / (1 + exp(-logit))

    def on(self, scale: Scale) -> Fit:
        """The same for a model with other cosines."""
        return replace(
            self,
            offset=self.offset + self.similarity * scale.offset,
            similarity=self.similarity * scale.slope,
            spread=scale.slope,
        )

    def library(self, passages: Passages) -> float:
        """What to add to each unit of evidence above the knee. It never cancels all of it, so more
        evidence never lowers a match."""
        return max(_LEAST - 1, self.length * passages.length + self.alike * passages.alike)


@dataclass(frozen=True, slots=True)
class Fits:
    """One fit for each combination of signs: words only, with a cosine, with a reranker's score."""

    words: Fit
    meaning: Fit | None = None
    judged: Fit | None = None

    def probability(self, signs: Signs) -> float:
        fit = self.words
        if self.meaning is not None and signs.similarity is not None:
            fit = self.meaning
            if self.judged is not None and signs.judged is not None:
                fit = self.judged
        if signs.lacks:
            return min(LACKING, fit.probability(signs))
        match = max(signs.known, fit.probability(signs))
        return min(OF_OTHERS, match) if signs.of_others else match


# Fitted to eleven whole judged sets (bench.calibration).
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


def fits_for(scale: Scale | None) -> Fits:
    """By a model's scale; None if it has none. The reranker's scores are those of the built-in
    model only."""
    if scale is None or MINILM.meaning is None:
        return OTHER
    return MINILM if scale == BUILT_IN else Fits(WORDS, MINILM.meaning.on(scale))


# With fused scores, each doubling of the rank falls this far behind on average. Reciprocal ranks
# are close together whatever the signals found, so with them the distance comes from the rank.
_BEHIND_BY_RANK = 0.19


def behind(scores: Sequence[float], *, by_ranks: bool = False) -> list[float]:
    """How far each score is behind the first: 0 is as good, 1 is worthless. Best first."""
    if by_ranks or not scores or scores[0] <= 0:
        ranks = range(1, len(scores) + 1)
        return [min(1.0, _BEHIND_BY_RANK * log2(rank)) for rank in ranks]
    return [1 - score / scores[0] for score in scores]


def falling(matches: Iterable[float]) -> list[float]:
    """Lowers each match to the one before it. The order depends on more than the match, and a list
    whose matches rise again would look wrongly sorted."""
    return list(accumulate(matches, min))


# --- the rule of the preset `papers` -------------------------------------------------------------

BASE = 0.50
TITLE_SHARE = 0.30  # times the share of the query's words in the title
WHOLE_TITLE = 0.15
YEAR = 0.15
AUTHOR = 0.10
_SHORTEST_NAME = 3


def match_score(query: Query, document: Document, parts: Mapping[Signal, SignalPart]) -> float:
    """The similarity, if the vector signal found it; otherwise points for words in title, year and
    authors."""
    vector = parts.get(Signal.VECTOR)
    if vector is not None:
        return min(1.0, max(0.0, vector.score))
    query_words = set(query.words)
    title = set(words(document.title))
    share = len(query_words & title) / len(query_words) if query_words else 0.0
    score = BASE + TITLE_SHARE * share
    score += WHOLE_TITLE if share == 1.0 else 0.0
    score += YEAR if str(document.metadata.get("year", "")) in query_words else 0.0
    score += AUTHOR if query_words & _names(document) else 0.0
    return min(1.0, score)


def _names(document: Document) -> set[str]:
    """The authors' last names."""
    authors = document.metadata.get("authors", ())
    listed = authors if isinstance(authors, tuple) else (authors,)
    last = (_last_name(str(author)) for author in listed)
    return {w for name in last for w in words(name) if len(w) >= _SHORTEST_NAME}


def _last_name(author: str) -> str:
    """`Jo van Smith` and `Smith, Jo van` are both Smith."""
    last, comma, _ = author.partition(",")
    return last if comma else (author.split() or [""])[-1]
