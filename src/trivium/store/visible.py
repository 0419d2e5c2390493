"""The word signals for a caller who may not see everything, as if nothing else were there.

An index's own scores count all chunks of a library: how many hold a word, and how long they are. So
here the index only says which chunks hold a word and how often, and the scores are made of what the
caller may see. Nothing that a hidden document holds changes a number.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Protocol, TypeAlias

import numpy as np

from trivium.store.bm25 import K1, idf, saturation
from trivium.store.sql.census import Allowed
from trivium.text.keywords import KeywordPlan, Run
from trivium.text.spelling import PlannedWord
from trivium.text.trigrams import VisibleWords, Vocabulary
from trivium.types import Hit, hits_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

# The lengths that tantivy tells apart, in one byte: all to 40, then in steps of 2, 4, 8 and so on.
# Every store reckons with them, so that a library ranks the same wherever it is kept.
_STEPS = (n if n < 8 else (8 + n % 8) << (n // 8 - 1) for n in range(232))
_LENGTHS = np.array([*range(24), *(24 + step for step in _STEPS)])

Ids: TypeAlias = "NDArray[np.int32]"  # of chunks
Counts: TypeAlias = "NDArray[np.int32]"


def kept_length(lengths: Counts) -> NDArray[np.int64]:
    """The lengths as tantivy keeps them, and so reckons with them."""
    kept: NDArray[np.int64] = _LENGTHS[np.searchsorted(_LENGTHS, lengths, side="right") - 1]
    return kept


class Occurrences(Protocol):
    """Which chunks hold a word, as a store knows it at one instant. Chunks that are gone, or newer
    than the instant, may be among them: whoever asks masks them."""

    def of(self, field: str, run: Run) -> tuple[Ids, Counts]:
        """The chunks that hold a run, rising, and how often each does."""
        ...

    def lengths(self) -> Counts:
        """Words of every chunk, by its id."""
        ...

    def held(self, words: Sequence[str], seen: Allowed) -> set[str]:
        """Those of the words that stand in a chunk that is seen."""
        ...


@dataclass
class Visible:
    """What one caller may see of the words, at one instant."""

    occurrences: Occurrences
    vocabulary: Vocabulary
    seen: Allowed  # all that the caller may see, whatever is asked for
    languages: tuple[str, ...]  # of those documents
    plans: dict[str, PlannedWord] = field(default_factory=dict)
    _held: dict[tuple[str, str], int] = field(default_factory=dict)
    _is_there: dict[str, bool] = field(default_factory=dict)

    @cached_property
    def words(self) -> VisibleWords:
        return VisibleWords(self.vocabulary, self._visible)

    @cached_property
    def _lengths(self) -> Counts:
        return self.occurrences.lengths()

    @cached_property
    def _average(self) -> float:
        lengths = self._lengths[: len(self.seen.chunks)][self.seen.chunks]
        return float(lengths.sum() / max(1, len(lengths)))

    def rarity(self, run: Run, field: str = "spellings") -> float:
        """BM25's idf among visible chunks, summed over the words of a run."""
        return sum(idf(self._holding(field, word), self.seen.count) for word in run)

    def rarity_of(self, holding: int) -> float:
        """The rarity of a word that so many chunks hold."""
        return idf(min(holding, self.seen.count), self.seen.count)

    def keyword(self, plan: KeywordPlan, allowed: Allowed, k: int) -> list[Hit]:
        """As `WordView.keyword` answers where nothing is hidden."""
        scores = np.zeros(len(allowed.chunks))
        fits = allowed.chunks.copy()
        for clause in plan.clauses:
            for run in clause.runs:
                ids, saturated = self._saturated("stems", run, allowed)
                scores[ids] += self.rarity(run, "stems") * saturated
            if clause.required:
                fits &= self._holders(clause.runs, allowed)
        fits &= ~self._holders(plan.excluded, allowed)
        return _best(scores, fits, k)

    def trigram(
        self, plan: Sequence[PlannedWord], words: KeywordPlan, allowed: Allowed, k: int
    ) -> list[Hit]:
        """As `WordView.trigram` answers where nothing is hidden."""
        most = sum(planned.weight for planned in plan) * (K1 + 1)
        if not most:
            return []
        scores = np.zeros(len(allowed.chunks))
        best = np.zeros(len(allowed.chunks))  # of one word; all zero between two
        for planned in plan:
            touched = []
            for spelling in planned.spellings:
                ids, saturated = self._saturated("spellings", spelling.words, allowed)
                best[ids] = np.maximum(best[ids], spelling.factor * saturated)
                touched.append(ids)
            # Most words stand in few chunks: a sum over all of them took 2 ms a word at 1M.
            held = touched[0] if len(touched) == 1 else np.unique(np.concatenate(touched))
            scores[held] += planned.weight * best[held]
            best[held] = 0
        fits = allowed.chunks & ~self._holders(words.excluded, allowed)
        for runs in words.required:
            fits &= self._holders(runs, allowed)
        return _best(scores / most, fits, k)

    def _visible(self, words: Sequence[str]) -> list[str]:
        unknown = [word for word in words if word not in self._is_there]
        if unknown:
            there = self.occurrences.held(unknown, self.seen)
            self._is_there |= {word: word in there for word in unknown}
        return [word for word in words if self._is_there[word]]

    def _holding(self, field: str, word: str) -> int:
        key = (field, word)
        if key not in self._held:
            ids, _ = self._found(field, (word,), self.seen)
            self._held[key] = len(ids)
        return self._held[key]

    def _found(self, field: str, run: Run, allowed: Allowed) -> tuple[Ids, Counts]:
        """The allowed chunks that hold a run, and how often."""
        ids, counts = self.occurrences.of(field, run)
        within = np.searchsorted(ids, len(allowed.chunks))  # a later view may have added more
        passing = allowed.chunks[ids[:within]]
        return ids[:within][passing], counts[:within][passing]

    def _saturated(self, field: str, run: Run, allowed: Allowed) -> tuple[Ids, NDArray[np.float64]]:
        ids, counts = self._found(field, run, allowed)
        lengths = kept_length(self._lengths[ids])
        return ids, saturation(counts, lengths, self._average)

    def _holders(self, runs: Sequence[Run], allowed: Allowed) -> NDArray[np.bool_]:
        """By chunk id: whether an allowed chunk holds one of these runs of stems."""
        held = np.zeros(len(allowed.chunks), dtype=bool)
        for run in runs:
            held[self._found("stems", run, allowed)[0]] = True
        return held


def _best(scores: NDArray[np.float64], fits: NDArray[np.bool_], k: int) -> list[Hit]:
    """The k best that fit, best first, then by id."""
    ids = np.flatnonzero(fits & (scores > 0))
    found = scores[ids]
    if 0 < k < len(ids):
        last = np.partition(found, -k)[-k]
        ids, found = ids[found >= last], found[found >= last]
    order = np.lexsort((ids, -found))[:k]
    return hits_of(ids[order], found[order])
