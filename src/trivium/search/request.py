"""The options of one search, and a check that they make sense."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import isfinite

from trivium.core.errors import BadSetting
from trivium.core.types import Combine, Granularity, Mode, Signal, Where
from trivium.search import multi
from trivium.search.fuse import DEPTH, Fusion
from trivium.search.match import Fits
from trivium.search.prefer import Preference
from trivium.search.rerank import SECONDS, Shares
from trivium.search.weigh import SignalEvidence

# .5/.3/.2 as in the best of the prototypes; docs/log.md has what else was tried.
WEIGHTS: Mapping[Signal, float] = {Signal.VECTOR: 0.5, Signal.KEYWORD: 0.3, Signal.TRIGRAM: 0.2}
K = 10.0  # small candidate lists need sharp ranks; 60 cost .007 nDCG@10 as a mean over 13 sets
MOST_RESULTS = 1000
# Mean nDCG@10 over six sets with 20, 50, 100 and 200 hits per signal: .6949 .6960 .6967 .6970. With
# fewer than DEPTH, the first result would depend on how many results the caller asks for.
LEAST_CANDIDATES = DEPTH
# With AND, a result must be in the list of every query: short lists have little in common.
LEAST_SHARED = 100
OVERFETCHED = 3  # candidates per result if a reranker chooses among them
MOST_RERANKED = 100  # 50 took 24 / 134 ms (p50 / p95) on a busy machine
MODES: Mapping[Mode, tuple[Signal, ...]] = {
    Mode.HYBRID: tuple(Signal),
    Mode.SEMANTIC: (Signal.VECTOR,),
    Mode.KEYWORD: (Signal.KEYWORD,),
    Mode.FUZZY: (Signal.TRIGRAM,),
}


@dataclass(frozen=True, slots=True)
class Rerank:
    """How to rerank the best candidates."""

    shares: Shares = field(default_factory=Shares)
    seconds: float = SECONDS
    candidates: int | None = None  # None: three for each result
    deep: bool = False  # then have a cross-encoder read the best


@dataclass(frozen=True, slots=True)
class SearchRequest:
    queries: tuple[str, ...]  # one, or two to four to combine
    where: Where
    limit: int = 10
    mode: Mode = Mode.HYBRID
    by: Granularity = Granularity.PASSAGE
    combine: Combine = Combine.MINIMUM
    weights: Mapping[Signal, float] = field(default_factory=lambda: dict(WEIGHTS))
    fusion: Fusion = Fusion.SCORES
    k: float = K  # for fusion by ranks
    threshold: float = -1.0  # minimum similarity of a vector hit
    analysis: float = 0.0  # how strongly the query's words move the weights; 0: not at all
    correct: bool = False  # correct misspelled words
    every_word: bool = False  # keyword: only chunks with all words, if there are any
    strict: bool = False  # with every word: nothing if there are none
    # How the signals' answers move the weights; None: not at all.
    evidence: SignalEvidence | None = None
    match: Fits | None = None  # how to compute the match; None: by the rule for papers
    floor: float = 0.0  # results with a lower match are weak
    min_match: float = 0.0  # results with a lower match are left out
    candidates: int | None = None  # chunks to get from each signal; None: chosen automatically
    fuse_documents: bool = False  # by document: rank documents by each signal, then fuse those
    prefer: Preference | None = None  # what counts besides relevance
    rerank: Rerank | None = None  # rerank the top results
    expand: bool = False  # add the text around each passage
    hyde: bool = False  # add a generated answer to the query of the vector signal
    fields: tuple[str, ...] = ()  # metadata fields that are searched beside the usual ones
    languages: frozenset[str] = frozenset()  # that the model knows; empty: unknown, or many

    @property
    def pool(self) -> int:
        """How many candidates to collect: a reranker gets more than the page shows."""
        if self.rerank is None:
            return self.limit
        wanted = self.rerank.candidates or OVERFETCHED * self.limit
        return max(self.limit, min(wanted, MOST_RERANKED))

    @property
    def depth(self) -> int:
        """How many chunks to ask each signal for at first."""
        if self.candidates is not None:
            return max(self.candidates, self.pool)
        least = LEAST_SHARED if len(self.queries) > 1 else LEAST_CANDIDATES
        return max(2 * self.limit, self.pool, least)

    @property
    def counts_order(self) -> bool:
        """Whether passages that say the query word for word gain. Not where a caller chose weights,
        one signal or ranks, which then mean what they say, nor with several queries."""
        return len(self.queries) == 1 and self.analysis > 0 and self.fusion is Fusion.SCORES

    @property
    def of_documents(self) -> bool:
        """Whether to fuse documents instead of passages."""
        return self.fuse_documents and self.by is Granularity.DOCUMENT

    def signal_weights(self) -> dict[Signal, float]:
        """The weight of each signal that is asked; a single signal has 1."""
        signals = MODES[self.mode]
        if len(signals) == 1:
            return {signals[0]: 1.0}
        return {s: self.weights.get(s, 0.0) for s in signals if self.weights.get(s, 0.0) > 0}

    def check(self) -> None:
        """Raises BadSetting with the name of the field that makes no sense."""
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
        _demand(0 <= self.min_match <= 1, "min_match", self.min_match, "a number from 0 to 1")
        sensible = isfinite(self.analysis) and self.analysis >= 0
        _demand(sensible, "analysis.strength", self.analysis, "a number from 0 up")
        if self.prefer is not None:
            self.prefer.check()
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
