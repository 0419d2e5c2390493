"""What a search returns: results, and how each score adds up. Frozen dataclasses like `types`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Literal, overload

from trivium.core.types import Combine, Signal, StoredChunk, Told, says


@dataclass(frozen=True, slots=True)
class SignalPart(Told):
    """What one signal contributed to a result."""

    rank: int  # from 1
    score: float  # raw, as the signal measures
    weight: float
    contribution: float  # its share of the result's score


@dataclass(frozen=True, slots=True)
class Boost(Told):
    """A sign in a query that it needs meaning or exact words, and its points."""

    name: str
    side: Literal["keyword", "semantic"]
    points: int
    because: str  # the part of the query that shows it

    def __str__(self) -> str:
        towards = "meaning" if self.side == "semantic" else "words"
        return f"{self.name} {self.because}: +{self.points} {towards}"


@dataclass(frozen=True, slots=True)
class Correction(Told):
    """A word that no visible chunk has, and its probable correction."""

    typed: str
    meant: str  # with capitals as typed
    sure: float  # 0..1
    applied: bool  # searched for; within a phrase it is only suggested


@dataclass(frozen=True, slots=True)
class Suggestion(Told):
    """A suggestion for what you are typing."""

    text: str  # the whole of it
    kind: Literal["completion", "spelling"] = field(
        metadata=says("`completion` or another `spelling` of the last word.")
    )
    chunks: int = field(metadata=says("Number of documents with the word, up to 100."))


@dataclass(frozen=True, slots=True)
class Analysis:
    """How a query was understood, and why."""

    weights: Mapping[Signal, float]
    fusion: str = "scores"  # or `rrf`, reciprocal ranks with the constant k
    k: float = 0.0
    notes: tuple[str, ...] = ()
    semantic: int | None = None  # of 100, what meaning should count by the query's own words
    boosts: tuple[Boost, ...] = ()  # how it came to that
    corrections: tuple[Correction, ...] = ()
    suggestion: str = ""  # the query as it was probably meant; empty if it is as typed
    unknown: tuple[str, ...] = ()  # words that the library has neither exactly nor nearly
    decided: str = ""  # what counts how much, and why, in one sentence; says what `weights` say
    silent: tuple[Signal, ...] = ()  # gave no results, so their weights decided nothing
    by_answers: bool = False  # the signals' answers moved the weights: the query's lean is not all
    hypothesis: str = ""  # a passage that a language model wrote, embedded with the query

    @property
    def keyword(self) -> int | None:
        """The share of words, of 100."""
        return None if self.semantic is None else 100 - self.semantic


@dataclass(frozen=True, slots=True)
class QueryPart(Told):
    """What one of several queries contributed to a result."""

    match: float  # 0..1; the result's score is combined from these
    score: float  # fused, the sum of its signals' contributions
    signals: Mapping[Signal, SignalPart]


@dataclass(frozen=True, slots=True)
class RerankPart(Told):
    """How reranking scored a result: the score is the sum of `rerank`, `hybrid`, `position` and
    `deep`."""

    __pydantic_config__: ClassVar[Mapping[str, object]] = {"extra": "forbid"}  # may lack `read`

    judged: float  # by the reranker, 0..1
    before: int  # its rank before, from 1
    rerank: float
    hybrid: float
    position: float
    deep: float  # by a cross-encoder; 0 without one
    read: float | None = None  # its probability, 0..1; None: it didn't read this passage

    @property
    def total(self) -> float:
        return self.rerank + self.hybrid + self.position + self.deep


@dataclass(frozen=True, slots=True)
class PreferencePart(Told):
    """What a preference added to a score, or subtracted."""

    name: str  # `recent (3 days)`, or the boost as it was given
    factor: float  # factor for the score so far
    contribution: float


@dataclass(frozen=True, slots=True)
class OrderPart(Told):
    """What a passage gained because it says words of the query side by side."""

    words: int  # that it says in runs of four or more
    of: int  # words of the query
    contribution: float


@dataclass(frozen=True, slots=True)
class Result:
    rank: int  # from 1
    # Results are sorted by this: the sum of the signals' contributions and of `in_order`; reranked,
    # the sum of those parts; with several queries, their combined match. Each with what preferences
    # added.
    score: float
    match: float  # 0..1, how likely it is to be relevant
    found: StoredChunk
    signals: Mapping[Signal, SignalPart]  # of several queries: each signal's best
    queries: tuple[QueryPart, ...] = ()  # one for each of several queries
    rerank: RerankPart | None = None
    preferences: tuple[PreferencePart, ...] = ()
    in_order: OrderPart | None = None
    passages: int = 1  # by document: how many of its chunks were found
    fields: tuple[str, ...] = ()  # what is known of the document that has a word of the query
    why: str = ""  # where the match comes from, in words
    before: str = ""  # the end of the chunk before, where context was asked for
    after: str = ""
    at: float | None = None  # of a recording: the second at which the query's words are said


NOTHING_FITS = "No good match. The closest results:"


@dataclass(frozen=True, slots=True)
class Results(Sequence[Result]):
    """The results of one search, and how they were ranked."""

    queries: tuple[str, ...]
    analyses: tuple[Analysis, ...]  # one for each query
    items: tuple[Result, ...]
    timings_ms: Mapping[str, float]  # one entry per stage, in the order they ran
    took_ms: float
    combine: Combine | None = None  # how several queries became one score
    floor: float = 0.0  # results that match less are weak
    notes: tuple[str, ...] = ()  # what people should know: a signal that couldn't run, and why
    mistyped: bool = False  # nothing was found because a filter names a value no document has

    @property
    def query(self) -> str:
        return " | ".join(self.queries)

    @property
    def weak(self) -> bool:
        """Whether there is no good match: these are only the closest results, or there are none."""
        return not any(self.fits(result) for result in self.items)

    def fits(self, result: Result) -> bool:
        return result.match >= self.floor

    def is_folded(self, result: Result) -> bool:
        """Whether to show it in short: it is weak, and others aren't."""
        return not self.weak and not self.fits(result)

    @property
    def analysis(self) -> Analysis:
        return self.analyses[0]

    @property
    def afterwards(self) -> str:
        """What changed the order after fusion, in a sentence; empty if nothing did."""
        steps = []
        if any(result.in_order for result in self.items):
            steps.append("passages that say words of the query in the same order count more")
        if len(self.queries) > 1:
            steps.append(f"results are ranked by the {self.combine} of their matches")
        if any(result.rerank for result in self.items):
            steps.append("the reranker reorders the top results")
        if any(result.preferences for result in self.items):
            steps.append("your preferences multiply the scores")
        return f"Then {', and then '.join(steps)}." if steps else ""

    def __len__(self) -> int:
        return len(self.items)

    @overload
    def __getitem__(self, index: int) -> Result: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Result, ...]: ...
    def __getitem__(self, index: int | slice) -> Result | tuple[Result, ...]:
        return self.items[index]

    def __iter__(self) -> Iterator[Result]:
        return iter(self.items)
