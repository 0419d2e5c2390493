"""The word signals for a caller who may not see everything, as if nothing else were there.

tantivy's scores count all chunks of a library: how many hold a word, and how long they are. So
here tantivy only says which chunks hold a word and how often, and the scores are made of what the
caller may see. Nothing that a hidden document holds changes a number.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from trivium.store.bm25 import K1, idf, saturation
from trivium.store.embedded.census import Allowed
from trivium.store.embedded.words import Counts, Ids, WordView, kept_length
from trivium.text.keywords import KeywordPlan, Run
from trivium.text.spelling import PlannedWord
from trivium.text.trigrams import VisibleWords, Vocabulary
from trivium.types import ChunkId, Hit

if TYPE_CHECKING:
    from numpy.typing import NDArray

_REMEMBERED = 8_000_000  # chunks of words that are kept in memory: 64 MB


class Occurrences:
    """Which chunks hold a word and how often, remembered from search to search. Chunks never change
    and their ids rise, so a later view only adds those above the last. Those that are gone stay:
    whoever asks masks them. Threads may share it."""

    def __init__(self) -> None:
        self._known: OrderedDict[tuple[str, Run], tuple[ChunkId, Ids, Counts]] = OrderedDict()
        self._lengths: tuple[ChunkId, Counts] = (0, np.zeros(1, dtype=np.int32))
        self._size = 0
        self._changing = threading.Lock()

    def of(self, view: WordView, field: str, run: Run, last: ChunkId) -> tuple[Ids, Counts]:
        """Up to the chunk `last`, and perhaps beyond; all of those must be in the view."""
        key = (field, run)
        upto, ids, counts = self._known.get(key, (0, *_NOTHING))
        if upto < last:
            newer, more = view.occurrences(field, run, upto)
            inside = newer <= last
            ids = np.concatenate([ids, newer[inside]])
            counts = np.concatenate([counts, more[inside]])
            self._keep(key, (last, ids, counts))
        return ids, counts

    def lengths(self, view: WordView, last: ChunkId) -> Counts:
        """Words of every chunk, by its id."""
        upto, lengths = self._lengths
        if upto < last:
            newer, more = view.lengths(upto)
            inside = newer <= last
            grown = np.zeros(last + 1, dtype=np.int32)
            grown[: len(lengths)] = lengths
            grown[newer[inside]] = more[inside]
            self._lengths, lengths = (last, grown), grown
        return lengths

    def _keep(self, key: tuple[str, Run], found: tuple[ChunkId, Ids, Counts]) -> None:
        with self._changing:
            before = self._known.pop(key, None)
            self._size += len(found[1]) - (len(before[1]) if before else 0)
            self._known[key] = found
            while self._size > _REMEMBERED and len(self._known) > 1:
                self._size -= len(self._known.popitem(last=False)[1][1])


_NOTHING: tuple[Ids, Counts] = (np.empty(0, dtype=np.int32), np.empty(0, dtype=np.int32))


@dataclass
class Visible:
    """What one caller may see of the words, at one instant."""

    view: WordView
    occurrences: Occurrences
    vocabulary: Vocabulary
    seen: Allowed  # all that the caller may see, whatever is asked for
    languages: tuple[str, ...]  # of those documents
    _held: dict[tuple[str, str], int] = field(default_factory=dict)
    _is_there: dict[str, bool] = field(default_factory=dict)

    @cached_property
    def words(self) -> VisibleWords:
        return VisibleWords(self.vocabulary, self._is_visible)

    @cached_property
    def _last(self) -> ChunkId:
        return len(self.seen.chunks) - 1

    @cached_property
    def _lengths(self) -> Counts:
        return self.occurrences.lengths(self.view, self._last)

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
        for planned in plan:
            best = np.zeros(len(allowed.chunks))
            for spelling in planned.spellings:
                ids, saturated = self._saturated("spellings", spelling.words, allowed)
                best[ids] = np.maximum(best[ids], spelling.factor * saturated)
            scores += planned.weight * best
        fits = allowed.chunks & ~self._holders(words.excluded, allowed)
        for runs in words.required:
            fits &= self._holders(runs, allowed)
        return _best(scores / most, fits, k)

    def _is_visible(self, word: str) -> bool:
        if word not in self._is_there:
            self._is_there[word] = self.view.count_holding((word,), self.seen, 1) > 0
        return self._is_there[word]

    def _holding(self, field: str, word: str) -> int:
        key = (field, word)
        if key not in self._held:
            ids, _ = self._found(field, (word,), self.seen)
            self._held[key] = len(ids)
        return self._held[key]

    def _found(self, field: str, run: Run, allowed: Allowed) -> tuple[Ids, Counts]:
        """The allowed chunks that hold a run, and how often."""
        ids, counts = self.occurrences.of(self.view, field, run, self._last)
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
    return list(_hits(ids[order], found[order]))


def _hits(ids: NDArray[np.int64], scores: NDArray[np.float64]) -> Iterator[Hit]:
    for i, score in zip(ids.tolist(), scores.tolist(), strict=True):
        yield Hit(i, score)
