"""What one search is asked to do, and whether that makes sense."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import isfinite

from trivium.errors import BadSetting
from trivium.search import multi
from trivium.search.fuse import DEPTH, Fusion
from trivium.search.match import Fits
from trivium.search.prefer import Preference
from trivium.search.rerank import SECONDS, Shares
from trivium.search.weigh import Evidence
from trivium.types import Combine, Granularity, Mode, Signal, Where

# .5/.3/.2 as in the best of the prototypes; see docs/log.md for what was tried beside it.
WEIGHTS: Mapping[Signal, float] = {
    Signal.VECTOR: 0.5,
    Signal.KEYWORD: 0.3,
    Signal.TRIGRAM: 0.2,
}
K = 10.0  # small candidate lists need sharp ranks; 60 cost .007 nDCG@10 as a mean over 13 sets
MOST_RESULTS = 1000
# Mean nDCG@10 over six sets with 20, 50, 100 and 200 of each list: .6949 .6960 .6967 .6970. With
# fewer than the scale of scores is deep the first result would depend on how many were asked for.
LEAST_CANDIDATES = DEPTH
# With AND a result must be in the list of every query: short lists rarely meet.
LEAST_SHARED = 100
OVERFETCHED = 3  # candidates for each result, where a reranker chooses among them
MOST_RERANKED = 100  # 50 took 24 / 134 ms (p50 / p95) beside other work
MODES: Mapping[Mode, tuple[Signal, ...]] = {
    Mode.HYBRID: tuple(Signal),
    Mode.SEMANTIC: (Signal.VECTOR,),
    Mode.KEYWORD: (Signal.KEYWORD,),
    Mode.FUZZY: (Signal.TRIGRAM,),
}


@dataclass(frozen=True, slots=True)
class Rerank:
    """How the best candidates are judged anew."""

    shares: Shares = field(default_factory=Shares)
    seconds: float = SECONDS
    candidates: int | None = None  # None: three for each result


@dataclass(frozen=True, slots=True)
class SearchRequest:
    queries: tuple[str, ...]  # one, or two to four that are combined
    where: Where
    limit: int = 10
    mode: Mode = Mode.HYBRID
    by: Granularity = Granularity.PASSAGE
    combine: Combine = Combine.MINIMUM
    weights: Mapping[Signal, float] = field(default_factory=lambda: dict(WEIGHTS))
    fusion: Fusion = Fusion.SCORES
    k: float = K  # of the fusion by ranks
    threshold: float = -1.0  # least similarity of a vector hit
    analysis: float = 0.0  # how far the query's own words move the weights: 1 fully, 0 not
    correct: bool = False  # look for what misspelled words were meant to be
    every_word: bool = False  # the keyword signal finds what holds all words, if anything does
    evidence: Evidence | None = None  # moves the weights by what the signals answer
    match: Fits | None = None  # how the match is computed; None: by the rule for papers
    floor: float = 0.0  # results that match less are called weak
    candidates: int | None = None  # asked of each signal; None: as many as serve best
    fuse_documents: bool = False  # by document: rank documents by each signal, then fuse those
    prefer: Preference | None = None  # what counts beside relevance
    rerank: Rerank | None = None  # let a reranker read the best of them
    expand: bool = False  # with the text around each passage
    hyde: bool = False  # with a hypothetical answer, for the vector signal
    partial: bool = False  # while a node of the database is away, accept what the others have

    @property
    def pool(self) -> int:
        """How many results are made before the page is cut: a reranker sees more of them."""
        if self.rerank is None:
            return self.limit
        wanted = self.rerank.candidates or OVERFETCHED * self.limit
        return max(self.limit, min(wanted, MOST_RERANKED))

    @property
    def depth(self) -> int:
        """How many chunks each signal is asked for at first."""
        if self.candidates is not None:
            return max(self.candidates, self.pool)
        least = LEAST_SHARED if len(self.queries) > 1 else LEAST_CANDIDATES
        return max(2 * self.limit, self.pool, least)

    @property
    def of_documents(self) -> bool:
        """Whether documents are fused, not passages."""
        return self.fuse_documents and self.by is Granularity.DOCUMENT

    def signal_weights(self) -> dict[Signal, float]:
        """The weight of each signal that takes part; a signal alone counts 1."""
        signals = MODES[self.mode]
        if len(signals) == 1:
            return {signals[0]: 1.0}
        return {s: self.weights.get(s, 0.0) for s in signals if self.weights.get(s, 0.0) > 0}

    def check(self) -> None:
        """Raises BadSetting naming the field that makes no sense."""
        _demand(
            1 <= len(self.queries) <= multi.MOST,
            "queries",
            len(self.queries),
            f"one query, or {multi.LEAST} to {multi.MOST} to combine",
        )
        _demand(1 <= self.limit <= MOST_RESULTS, "limit", self.limit, f"1 to {MOST_RESULTS}")
        _demand(isfinite(self.k) and self.k > 0, "k", self.k, "a number above 0")
        _demand(-1 <= self.threshold <= 1, "threshold", self.threshold, "a number from -1 to 1")
        _demand(0 <= self.floor <= 1, "search.floor", self.floor, "a number from 0 to 1")
        sensible = isfinite(self.analysis) and self.analysis >= 0
        _demand(sensible, "analysis.strength", self.analysis, "a number from 0 up")
        if self.prefer is not None and self.prefer.half_life is not None:
            days = self.prefer.half_life
            _demand(isfinite(days) and days > 0, "half_life", days, "a number of days above 0")
        if self.rerank is not None:
            self.rerank.shares.check()
            few = self.limit <= MOST_RERANKED
            _demand(few, "limit", self.limit, f"1 to {MOST_RERANKED} with reranking")
            seconds, most = self.rerank.seconds, self.rerank.candidates
            _demand(seconds > 0, "rerank.seconds", seconds, "a number above 0")
            sensible = most is None or 1 <= most <= MOST_RERANKED
            _demand(sensible, "rerank.candidates", most, f"1 to {MOST_RERANKED}")
        enough = self.candidates is None or 1 <= self.candidates <= MOST_RESULTS
        _demand(enough, "candidates", self.candidates, f"1 to {MOST_RESULTS}")
        for signal, weight in self.weights.items():
            sensible = isfinite(weight) and weight >= 0
            _demand(sensible, f"weights.{signal}", weight, "a number from 0 up")
        _demand(sum(self.signal_weights().values()) > 0, "weights", 0, "at least one above 0")


def _demand(holds: bool, name: str, value: object, allowed: str) -> None:
    if not holds:
        raise BadSetting(f"`{name}` can't be {value}.", fix=f"Give {allowed}.")
