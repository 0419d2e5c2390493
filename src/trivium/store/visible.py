"""The word signals for one caller, as if nothing else existed than what this caller may see.

A store only says which chunks have a word and how often; scores are computed here from what the
caller may see: how many chunks have a word, and how long they are. Nothing in a hidden document
changes a number, and the work is the same whether or not anything is hidden.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

import numpy as np

from trivium.core.types import Hit, Where, hits_in
from trivium.store.ranking import (
    K1,
    Counts,
    Fitting,
    Holders,
    Ids,
    KnownBy,
    QueryWord,
    Saturation,
    below,
    best,
    beyond_text,
    idf,
)
from trivium.store.sql.feed import Allowed
from trivium.store.sql.known import KnownDocuments
from trivium.text.keywords import KeywordPlan, Run
from trivium.text.known import weights
from trivium.text.spelling import PlannedWord
from trivium.text.trigrams import VisibleWords, Vocabulary

if TYPE_CHECKING:
    from numpy.typing import NDArray

_REMEMBERED = 2_000_000  # chunks of words that documents are known by, kept for a caller
_BY_NONE = KnownBy(np.empty(0, np.int32), np.empty(0))
_Snapshot = TypeVar("_Snapshot")
_COUNTED = 1_000  # chunks of a word that are looked at first to see whether some pass


class Occurrences(Protocol):
    """Which chunks have a word, at one moment. May include chunks that are gone or newer: the
    caller masks them."""

    def of(self, field: str, run: Run) -> tuple[Ids, Counts]:
        """The chunks that hold a run, rising, and how often each does."""

    def lengths(self) -> Counts:
        """Words of every chunk, by its id."""

    def held(self, words: Sequence[str], seen: Allowed) -> set[str]:
        """The words that occur in a visible chunk."""


@dataclass
class Visible:
    """What one caller may see of the words, at one instant."""

    occurrences: Occurrences
    vocabulary: Vocabulary
    seen: Allowed  # all that the caller may see, whatever is asked for
    known: KnownDocuments
    plans: dict[str, PlannedWord] = field(default_factory=dict)
    _counted: dict[tuple[str, str], int] = field(default_factory=dict)
    _is_there: dict[str, bool] = field(default_factory=dict)
    _known_chunks: dict[tuple[str, Run, bool], KnownBy] = field(default_factory=dict)
    _known_size: int = 0  # of all of them

    @cached_property
    def languages(self) -> tuple[str, ...]:
        """Of the documents that the caller may see."""
        return self.known.active_chunks.languages_of(self.seen.documents)

    @cached_property
    def words(self) -> VisibleWords:
        return VisibleWords(self.vocabulary, self._visible)

    @cached_property
    def _saturation(self) -> Saturation:
        lengths = self.occurrences.lengths()
        of_chunks = self.seen.chunks[: len(lengths)]
        total = int(np.dot(lengths[: len(of_chunks)].astype(np.int64), of_chunks))
        return Saturation(lengths, total / max(1, self.seen.count))

    def rarity(self, run: Run, field: str = "spellings") -> float:
        """BM25's idf among visible chunks, summed over the words of a run."""
        return sum(idf(self._holding(field, word), self.seen.count) for word in run)

    def rarity_of(self, holding: int) -> float:
        """The rarity of a word that this many chunks have."""
        return idf(min(holding, self.seen.count), self.seen.count)

    @cached_property
    def _documents(self) -> int:
        """How many have passages."""
        counts = self.known.active_chunks.count
        of_documents = self.seen.documents
        return int(
            np.count_nonzero(
                counts if of_documents is None else counts[of_documents[of_documents < len(counts)]]
            )
        )

    def _documents_known_by(
        self, field: str, run: Run, *, alike: bool = False
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """The visible documents that are known by a run, and how much that counts: less if most
        documents are, for then it tells nothing. `alike`: it is not what the query says."""
        documents, fields = self.known.of(field, run)
        if not len(documents):
            return documents, np.empty(0)
        there = self.known.active_chunks.count[documents] > 0
        there[there] = self.seen.chunks.take(self.known.first_chunks(documents[there]))
        known_by = self.known.side_by_side(field, run, (documents[there], fields[there]))
        share = known_share(len(known_by[0]), self._documents)
        return known_by[0], weights(known_by[1], alike=alike) * share

    def _known_by(self, field: str, run: Run, factor: float = 1.0) -> KnownBy:
        """The chunks to which this gives more than their text does."""
        alike = factor < 1
        remembered = self._known_chunks.get((field, run, alike))
        if remembered is None:
            documents, counts = self._documents_known_by(field, run, alike=alike)
            remembered = _BY_NONE
            if len(documents) and counts.any():
                documents, counts = documents[counts > 0], counts[counts > 0]
                text = Holders(1.0, *self.occurrences.of(field, run))
                remembered = KnownBy(*self.known.chunks(documents, counts))
                remembered = beyond_text(remembered, text, self._saturation)
            if self._known_size > _REMEMBERED:
                self._known_chunks, self._known_size = {}, 0
            self._known_chunks[field, run, alike] = remembered
            self._known_size += len(remembered.ids)
        return (
            remembered
            if factor == 1 or remembered is _BY_NONE
            else KnownBy(remembered.ids, remembered.counts * factor)
        )

    def keyword(self, plan: KeywordPlan, allowed: Allowed, k: int) -> list[Hit]:
        runs = [(run, clause.weight) for clause in plan.clauses for run in clause.runs]
        self.known.expect("stems", [word for run, _ in runs for word in run])
        required = [clause.runs for clause in plan.clauses if clause.required]
        fitting = self.fitting(allowed, required, plan.excluded)
        parts = [
            QueryWord(
                weight * self.rarity(run, "stems"),
                [Holders(1.0, *self.occurrences.of("stems", run))],
                [self._known_by("stems", run)],
            )
            for run, weight in runs
        ]
        return best(parts, fitting, self._saturation, k)

    def trigram(
        self, plan: Sequence[PlannedWord], words: KeywordPlan, allowed: Allowed, k: int
    ) -> list[Hit]:
        most = sum(planned.weight for planned in plan) * (K1 + 1)
        if not most:
            return []
        spelled = [spelling.words for planned in plan for spelling in planned.spellings]
        self.known.expect("spellings", [word for run in spelled for word in run])
        parts = [
            QueryWord(
                planned.weight,
                [
                    Holders(spelling.factor, *self.occurrences.of("spellings", spelling.words))
                    for spelling in planned.spellings
                ],
                [
                    self._known_by("spellings", spelling.words, spelling.factor)
                    for spelling in planned.spellings
                ],
            )
            for planned in plan
        ]
        fitting = self.fitting(allowed, words.required, words.excluded)
        hits = best(parts, fitting, self._saturation, k)
        return hits_in([(chunk, score / most) for chunk, score in hits])

    def count(self, run: Run, allowed: Allowed, most: int) -> int:
        """How many allowed chunks hold a run of spellings, counted up to `most`."""
        if most == 1 and len(run) == 1 and allowed is self.seen:
            return int(run[0] in self.words)  # mostly known; the list itself may be long
        ids = below(self._with_known("spellings", run), len(allowed.chunks))
        counted, looked_at = 0, 0
        while counted < most and looked_at < len(ids):
            some = ids[looked_at : _COUNTED + 4 * looked_at]  # mostly the first ones suffice
            counted += int(np.count_nonzero(allowed.chunks.take(some)))
            looked_at += len(some)
        return min(most, counted)

    def _visible(self, words: Sequence[str]) -> list[str]:
        unknown = [word for word in words if word not in self._is_there]
        if unknown:
            there = self.occurrences.held(unknown, self.seen)
            self.known.expect("spellings", rest := [word for word in unknown if word not in there])
            there |= {
                word for word in rest if len(self._documents_known_by("spellings", (word,))[0])
            }
            self._is_there |= {word: word in there for word in unknown}
        return [word for word in words if self._is_there[word]]

    def _holding(self, field: str, word: str) -> int:
        key = (field, word)
        if key not in self._counted:
            ids, _ = self.occurrences.of(field, (word,))
            more = self.known.first_chunks(self._documents_known_by(field, (word,))[0])
            if len(more) and len(ids):
                at = np.searchsorted(ids, more)
                at[at == len(ids)] = 0
                more = more[ids.take(at) != more]
            self._counted[key] = int(np.count_nonzero(_within(self.seen, ids))) + len(more)
        return self._counted[key]

    def _with_known(self, field: str, run: Run) -> Ids:
        """The chunks that hold a run, and the first of each document that is known by it; rising.
        Not all of them: the text of a long document would make its author a common word."""
        ids, _ = self.occurrences.of(field, run)
        documents, _ = self._documents_known_by(field, run)
        if not len(documents):
            return ids
        return np.union1d(ids, self.known.first_chunks(documents)).astype(np.int32)

    def fitting(
        self, allowed: Allowed, required: Sequence[Sequence[Run]], excluded: Sequence[Run]
    ) -> Fitting:
        """The chunks that are allowed and hold of each of `required` one run of stems, or their
        document is known by it. Only the text excludes a passage."""
        if not required and not excluded:
            return allowed.fitting
        fits = allowed.chunks
        for runs in required:
            holding = self._holders(runs, allowed)
            for run in runs:
                holding[below(self._known_by("stems", run).ids, len(holding))] = True
            fits = fits & holding
        return Fitting(fits & ~self._holders(excluded, allowed) if excluded else fits)

    def _holders(self, runs: Sequence[Run], allowed: Allowed) -> NDArray[np.bool_]:
        """By chunk id: whether it holds one of these runs of stems."""
        holding = np.zeros(len(allowed.chunks), dtype=bool)
        for run in runs:
            holding[below(self.occurrences.of("stems", run)[0], len(holding))] = True
        return holding


class Seen(Protocol[_Snapshot]):
    """Snapshots of a store, and what callers see of each."""

    def latest(self) -> _Snapshot: ...
    def allowed(self, snapshot: _Snapshot, where: Where) -> Allowed: ...
    def visible(self, snapshot: _Snapshot, access: Where) -> Visible: ...


class VisiblePostings(Generic[_Snapshot]):
    """What one caller finds by words with one filter in one snapshot (`store.signals.Postings`)."""

    def __init__(self, snapshots: Seen[_Snapshot], where: Where) -> None:
        self._snapshots, self._snapshot, self._where = snapshots, snapshots.latest(), where

    @cached_property
    def _allowed(self) -> Allowed:
        return self._snapshots.allowed(self._snapshot, self._where)

    @cached_property
    def _visible(self) -> Visible:
        return self._snapshots.visible(self._snapshot, self._where.access)

    @property
    def vocabulary(self) -> VisibleWords:
        """Without words that only removed chunks have, for the owner too: rebuilding drops
        those, and must change no score."""
        return self._visible.words

    @property
    def languages(self) -> tuple[str, ...]:
        return self._visible.languages

    @property
    def plans(self) -> dict[str, PlannedWord]:
        return self._visible.plans

    def rarity(self, run: Run) -> float:
        return self._visible.rarity(run)

    def rarity_of(self, holding: int) -> float:
        return self._visible.rarity_of(holding)

    def keyword(self, plan: KeywordPlan, k: int) -> list[Hit]:
        return self._visible.keyword(plan, self._allowed, k)

    def trigram(self, plan: Sequence[PlannedWord], words: KeywordPlan, k: int) -> list[Hit]:
        return self._visible.trigram(plan, words, self._allowed, k)

    def holding(self, run: Run, most: int) -> int:
        return self._visible.count(run, self._allowed, most)


def known_share(documents: int, total: int) -> float:
    """How much it counts to be known by a word that this many documents are known by."""
    return 1 - (documents / (total + 1)) ** 4  # of half of them .94, of 9 in 10 .35


def _within(allowed: Allowed, ids: Ids) -> NDArray[np.bool_]:
    """Which of the ids are allowed; those of a later change, at the end, are left away."""
    return allowed.chunks.take(below(ids, len(allowed.chunks)))
