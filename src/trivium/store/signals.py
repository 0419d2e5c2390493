"""Plans the lookups of the three signals, once for every store: how a query's words are stemmed,
corrected and weighted, and what a caller may learn from that.

A store provides `Postings`: what it can look up for one caller. Chunks that a filter excludes still
count; chunks that the caller may not see don't, so no score reveals them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

import numpy as np

from trivium.core.types import (
    OWNER,
    ChunkId,
    Figure,
    Hit,
    Probe,
    Query,
    Signal,
    Spelled,
    Where,
)
from trivium.text.completing import LOOKED_AT, complete
from trivium.text.figures import runs
from trivium.text.keywords import KeywordPlan, Run, plan_keywords
from trivium.text.misspelling import spell
from trivium.text.spelling import PlannedWord, Spelling, plan_spellings
from trivium.text.stems import content_words
from trivium.text.trigrams import WordList

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Chunks that hold a word for it to be common: bounds the cost of large libraries (1M chunks:
# trigram p95 36 ms without, 16 with). Tried on small ones, for words in 5 % of the chunks, it lost
# .002 nDCG@10 of the signal.
COMMON = 20_000
_NOTHING_ASKED = KeywordPlan((), ())


class Postings(Protocol):
    """Where words occur, for one caller and one filter. Hits: score descending, then chunk id."""

    @property
    def vocabulary(self) -> WordList:
        """The distinct words of the chunks that the caller may see."""

    @property
    def languages(self) -> Sequence[str]:
        """Of the documents that the caller may see."""

    @property
    def plans(self) -> dict[str, PlannedWord]:
        """Of single words, kept for as long as their rarities hold."""

    def rarity(self, run: Run) -> float:
        """BM25's idf of a run of words, among the chunks that the caller may see."""

    def rarity_of(self, holding: int) -> float:
        """The same for a word that this many chunks have."""

    def keyword(self, plan: KeywordPlan, k: int) -> list[Hit]: ...

    def trigram(self, plan: Sequence[PlannedWord], words: KeywordPlan, k: int) -> list[Hit]: ...

    def nearest(self, probe: Probe, words: KeywordPlan, k: int) -> list[Hit]: ...

    def holding(self, run: Run, most: int) -> int:
        """How many chunks that pass the filter hold a run of words, counted up to `most`."""

    def held(self, words: Sequence[str]) -> Mapping[str, int]:
        """About how many chunks hold each word: an order of words to look at, never shown."""

    def expect(self, words: Sequence[str]) -> None:
        """These words are about to be asked for, one by one."""


class PlannedSignals:
    """The signals of a store, by its postings."""

    def __init__(self, postings: Callable[[Where], Postings]) -> None:
        self._postings = postings

    def search(self, signal: Signal, probe: Probe, where: Where, k: int) -> list[Hit]:
        postings = self._postings(where)
        query = probe.query
        # The other signals look only at what a query requires and excludes: mostly nothing.
        planned = signal is Signal.KEYWORD or query.required or query.excluded
        words = plan_keywords(query, postings.languages) if planned else _NOTHING_ASKED
        if signal is Signal.VECTOR:
            return postings.nearest(probe, words, k)
        if signal is Signal.KEYWORD:
            return postings.keyword(words, k)
        typed, figures = _spelled(query)
        postings.expect(_likeliest(content_words(typed, postings.languages), postings.vocabulary))
        common = postings.rarity_of(COMMON)
        plan = plan_spellings(
            typed, postings.vocabulary, postings.languages, postings.rarity, common, postings.plans
        )
        for figure in figures:
            spellings = tuple(Spelling(run, 1.0) for run in runs(figure, postings.languages))
            plan.append(
                PlannedWord(" ".join(figure.words), postings.rarity(figure.words), spellings)
            )
        return postings.trigram(plan, words, k)

    def rarities(self, words: Sequence[str], where: Where) -> list[float]:
        postings = self._postings(where)
        postings.expect(words)
        return [postings.rarity((word,)) for word in words]

    def spellings(self, words: Sequence[str], where: Where) -> Mapping[str, tuple[Spelled, ...]]:
        postings = self._postings(where)
        vocabulary = postings.vocabulary
        there = vocabulary.among(words)
        postings.expect([word for word in words if word in there])
        return spell(words, vocabulary, postings.languages, postings.holding)

    def completions(self, beginning: str, where: Where, most: int) -> tuple[Spelled, ...]:
        postings = self._postings(where)
        # Of callers who don't see everything all words are looked at: how many there are is known
        # of the whole library only.
        looked_at = LOOKED_AT if where.access == OWNER else None
        return complete(
            beginning,
            postings.vocabulary,
            postings.held,
            postings.holding,
            most,
            looked_at=looked_at,
        )


def _spelled(query: Query) -> tuple[tuple[str, ...], tuple[Figure, ...]]:
    """The words to look for in similar spellings, and the numbers, dates and codes, which are there
    or not. The words of a code count too: another one is what comes next."""
    figures = query.figures
    if not figures:
        return query.words, ()
    clauses = [
        tuple(part for part in clause if not isinstance(part, Figure) or part.is_code)
        for clause in query.clauses
    ]
    return replace(query, clauses=tuple(clauses)).words, figures


def _likeliest(words: Sequence[str], vocabulary: WordList) -> list[str]:
    """Each word, if it is known; else the most similar one."""
    similar: list[str] = []
    for word in words:
        if word in vocabulary:
            similar.append(word)
        else:
            similar += [
                part for spelling in vocabulary.similar(word)[:1] for part in spelling.words
            ]
    return similar


def spread(ids: NDArray[np.int64], most: int) -> tuple[int, list[ChunkId]]:
    """How many there are, and up to this many of them, at even distances."""
    places = np.linspace(0, len(ids) - 1, min(most, len(ids))).round().astype(np.int64)
    return len(ids), ids[places].tolist()
