"""The word signals for a caller who may not see everything, as if nothing else existed.

An index's own scores count all chunks of a library: how many have a word, and how long they are. So
here the index only says which chunks have a word and how often, and scores are computed from what
the caller may see. Nothing in a hidden document changes a number.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

import numpy as np

from trivium.store.bm25 import K1, idf
from trivium.store.ranking import Counts, Holders, Ids, Part, Saturation, best
from trivium.store.sql.census import Allowed
from trivium.text.keywords import KeywordPlan, Run
from trivium.text.spelling import PlannedWord
from trivium.text.trigrams import VisibleWords, Vocabulary
from trivium.types import Hit

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Occurrences(Protocol):
    """Which chunks have a word, at one moment. May include chunks that are gone or newer: the
    caller masks them."""

    def of(self, field: str, run: Run) -> tuple[Ids, Counts]:
        """The chunks that hold a run, rising, and how often each does."""
        ...

    def lengths(self) -> Counts:
        """Words of every chunk, by its id."""
        ...

    def held(self, words: Sequence[str], seen: Allowed) -> set[str]:
        """The words that occur in a visible chunk."""
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
    def _saturation(self) -> Saturation:
        lengths = self.occurrences.lengths()
        seen = lengths[: len(self.seen.chunks)][self.seen.chunks]
        return Saturation(lengths, float(seen.sum() / max(1, len(seen))))

    def rarity(self, run: Run, field: str = "spellings") -> float:
        """BM25's idf among visible chunks, summed over the words of a run."""
        return sum(idf(self._holding(field, word), self.seen.count) for word in run)

    def rarity_of(self, holding: int) -> float:
        """The rarity of a word that this many chunks have."""
        return idf(min(holding, self.seen.count), self.seen.count)

    def keyword(self, plan: KeywordPlan, allowed: Allowed, k: int) -> list[Hit]:
        """The same as `WordView.keyword` if nothing is hidden."""
        fits = self._fitting(
            allowed, [clause.runs for clause in plan.clauses if clause.required], plan.excluded
        )
        parts = [
            Part(self.rarity(run, "stems"), [Holders(1.0, *self.occurrences.of("stems", run))])
            for clause in plan.clauses
            for run in clause.runs
        ]
        return best(parts, fits, self._saturation, k)

    def trigram(
        self, plan: Sequence[PlannedWord], words: KeywordPlan, allowed: Allowed, k: int
    ) -> list[Hit]:
        """The same as `WordView.trigram` if nothing is hidden."""
        most = sum(planned.weight for planned in plan) * (K1 + 1)
        if not most:
            return []
        parts = [
            Part(
                planned.weight,
                [
                    Holders(spelling.factor, *self.occurrences.of("spellings", spelling.words))
                    for spelling in planned.spellings
                ],
            )
            for planned in plan
        ]
        fits = self._fitting(allowed, words.required, words.excluded)
        hits = best(parts, fits, self._saturation, k)
        return [Hit(hit.chunk_id, hit.score / most) for hit in hits]

    def _visible(self, words: Sequence[str]) -> list[str]:
        unknown = [word for word in words if word not in self._is_there]
        if unknown:
            there = self.occurrences.held(unknown, self.seen)
            self._is_there |= {word: word in there for word in unknown}
        return [word for word in words if self._is_there[word]]

    def _holding(self, field: str, word: str) -> int:
        key = (field, word)
        if key not in self._held:
            ids, _ = self.occurrences.of(field, (word,))
            self._held[key] = int(np.count_nonzero(_within(self.seen, ids)))
        return self._held[key]

    def _fitting(
        self, allowed: Allowed, required: Iterable[Sequence[Run]], excluded: Sequence[Run]
    ) -> NDArray[np.bool_]:
        """By chunk id: whether it is allowed and holds of each of `required` one run of stems."""
        fits = allowed.chunks
        for runs in required:
            fits = fits & self._holders(runs, allowed)
        return fits & ~self._holders(excluded, allowed) if excluded else fits

    def _holders(self, runs: Sequence[Run], allowed: Allowed) -> NDArray[np.bool_]:
        """By chunk id: whether an allowed chunk holds one of these runs of stems."""
        held = np.zeros(len(allowed.chunks), dtype=bool)
        for run in runs:
            ids, _ = self.occurrences.of("stems", run)
            within = _within(allowed, ids)
            held[ids[: len(within)][within]] = True
        return held


def _within(allowed: Allowed, ids: Ids) -> NDArray[np.bool_]:
    """Which of the ids are allowed; those of a later change, at the end, are left away."""
    return allowed.chunks[ids[: np.searchsorted(ids, len(allowed.chunks))]]
