"""The reference's signals: every score computed for every chunk, by the definition."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from trivium.core.types import ChunkId, Document, DocumentId, Hit, Probe, TokenVectors, Where
from trivium.store.bm25 import K1, idf, saturation
from trivium.store.memory.documents import MemoryDocuments
from trivium.store.memory.held import Entry, Held
from trivium.store.signals import PlannedSignals, spread
from trivium.store.visible import known_share
from trivium.text.keywords import KeywordPlan, Run
from trivium.text.known import LATER, fields_holding, known_words, weights
from trivium.text.spelling import PlannedWord
from trivium.text.stems import stem
from trivium.text.trigrams import Vocabulary

if TYPE_CHECKING:
    from trivium.core.types import Vector


class MemorySignals(PlannedSignals):
    def __init__(self, held: Held) -> None:
        super().__init__(self._postings)
        self._held = held
        self._documents = MemoryDocuments(held)

    def vectors(self, ids: Sequence[ChunkId], where: Where) -> dict[ChunkId, Vector]:
        seen = self._documents.chunks(ids, where)
        found = {c.id: self._held.entries[c.id].vector for c in seen}
        return {i: vector for i, vector in found.items() if vector is not None}

    def token_vectors(
        self, ids: Sequence[ChunkId], where: Where, model: str
    ) -> dict[ChunkId, TokenVectors]:
        seen = self._documents.chunks(ids, where)
        keys = {c.id: (model, self._held.entries[c.id].embedded) for c in seen}
        return {i: self._held.tokens[key] for i, key in keys.items() if key in self._held.tokens}

    def changed_vectors(self, ids: Sequence[ChunkId]) -> list[ChunkId]:
        """Nothing is on a disk."""
        return []

    def sample(self, most: int, where: Where) -> tuple[int, list[ChunkId]]:
        seen = self._documents.chunks(sorted(self._held.entries), where)
        return spread(np.array([chunk.id for chunk in seen], np.int64), most)

    def refresh(self) -> None:
        """Nothing to do: there is one process and no derived index."""

    def _postings(self, where: Where) -> _MemoryPostings:
        """All that the caller may see, filtered out or not."""
        held = self._documents.all(where.access)
        ids = {document.id for document in held}
        entries = {i: e for i, e in self._held.entries.items() if e.document in ids}
        vocabulary = Vocabulary()
        vocabulary.add(word for entry in entries.values() for word in entry.spellings)
        passing = {i: e for i, e in entries.items() if self._held.passes(e, where)}
        languages = sorted({document.language for document in held})
        chunked = {entry.document for entry in entries.values()}
        known = {
            field: {d.id: _known_by(d, field) for d in held if d.id in chunked}
            for field in ("spellings", "stems")
        }
        vocabulary.add(word for words in known["spellings"].values() for word in words)
        return _MemoryPostings(self._held, entries, passing, vocabulary, languages, known)


@dataclass(frozen=True, slots=True)
class _MemoryPostings:
    """What one caller may see. Every number of the word signals comes from it."""

    all_held: Held
    entries: Mapping[ChunkId, Entry]
    passing: Mapping[ChunkId, Entry]  # those that pass the filter
    vocabulary: Vocabulary
    languages: list[str]
    known: Mapping[str, Mapping[DocumentId, Mapping[str, int]]]  # words of documents, with fields
    plans: dict[str, PlannedWord] = field(default_factory=dict)

    def rarity(self, run: Run) -> float:
        return sum(self._idf(word, "spellings") for word in run)

    def rarity_of(self, holding: int) -> float:
        return idf(holding, len(self.entries))

    def keyword(self, plan: KeywordPlan, k: int) -> list[Hit]:
        runs = {run for clause in plan.clauses for run in clause.runs}
        rarity = {run: sum(self._idf(s, "stems") for s in run) for run in runs}
        average = self._average
        scores: dict[ChunkId, float] = {}
        for chunk_id, entry in self.passing.items():
            found = [
                sum(
                    rarity[run]
                    * max(
                        saturation(_count(run, entry.stems), len(entry.stems), average),
                        self._known("stems", run, chunk_id),
                    )
                    for run in clause.runs
                )
                for clause in plan.clauses
            ]
            missed = (c.required and not f for c, f in zip(plan.clauses, found, strict=True))
            if sum(found) > 0 and not any(missed):
                scores[chunk_id] = sum(found)
        return self._best(scores, plan, k)

    def trigram(self, plan: Sequence[PlannedWord], words: KeywordPlan, k: int) -> list[Hit]:
        most = sum(planned.weight for planned in plan) * (K1 + 1)
        average = self._average
        scores = {}
        for chunk_id in self.passing:
            score = sum(self._planned(planned, chunk_id, average) for planned in plan)
            if score > 0:
                scores[chunk_id] = score / most
        return self._best(scores, words, k)

    def nearest(self, probe: Probe, words: KeywordPlan, k: int) -> list[Hit]:
        if probe.vector is None or not self.all_held.dimensions:
            return []
        self.all_held.refuse_other(probe.model)
        scores = {
            i: float(np.dot(entry.vector, probe.vector))
            for i, entry in self.passing.items()
            if entry.vector is not None
        }
        near = {i: score for i, score in scores.items() if score >= probe.threshold}
        return self._best(near, words, k)

    def holding(self, run: Run, most: int) -> int:
        return min(most, sum(self._counts("spellings", run, i) for i in self.passing))

    def held(self, words: Sequence[str]) -> dict[str, int]:
        held = [set(entry.spellings) for entry in self.entries.values()]
        return {word: sum(word in some for some in held) for word in words}

    def expect(self, words: Sequence[str]) -> None:
        """Everything is in memory."""

    def _best(self, scores: Mapping[ChunkId, float], words: KeywordPlan, k: int) -> list[Hit]:
        hits = [
            Hit(chunk_id, score)
            for chunk_id, score in scores.items()
            if not self._holds(chunk_id, words.excluded)
            and all(self._has(chunk_id, runs) for runs in words.required)
        ]
        return sorted(hits, key=lambda hit: (-hit.score, hit.chunk_id))[:k]

    def _holds(self, chunk_id: ChunkId, runs: Sequence[Run]) -> bool:
        """Whether a chunk holds one of these runs of stems."""
        return any(_count(run, self.entries[chunk_id].stems) for run in runs)

    def _has(self, chunk_id: ChunkId, runs: Sequence[Run]) -> bool:
        """The same, or its document is known by one of them."""
        document = self.entries[chunk_id].document
        known = (self._bits("stems", document, run) for run in runs)
        return self._holds(chunk_id, runs) or any(known)

    def _planned(self, planned: PlannedWord, chunk_id: ChunkId, average: float) -> float:
        held = self.entries[chunk_id].spellings
        return planned.weight * max(
            s.factor
            * max(
                saturation(_count(s.words, held), len(held), average),
                self._known("spellings", s.words, chunk_id, alike=s.factor < 1),
            )
            for s in planned.spellings
        )

    def _known(self, among: str, run: Run, chunk_id: ChunkId, *, alike: bool = False) -> float:
        """How much it counts that the document is known by a run."""
        known = self.known[among]
        bits = self._bits(among, self.entries[chunk_id].document, run)
        if not bits:
            return 0.0
        share = known_share(sum(self._bits(among, i, run) > 0 for i in known), len(known))
        later = 1.0 if self._is_first(chunk_id) else LATER
        return float(weights(np.array([bits]), alike=alike)[0]) * share * later

    def _bits(self, among: str, document: DocumentId, run: Run) -> int:
        """The fields of a document that hold a run."""
        if len(run) == 1:
            return self.known[among][document].get(run[0], 0)
        return fields_holding(self.all_held.documents[document], run, among)

    def _is_first(self, chunk_id: ChunkId) -> bool:
        before = self.entries.get(chunk_id - 1)
        return before is None or before.document != self.entries[chunk_id].document

    def _counts(self, among: str, run: Run, chunk_id: ChunkId) -> bool:
        """Whether a chunk has a run, or is the first of a document that is known by it."""
        entry = self.entries[chunk_id]
        if _count(run, getattr(entry, among)):
            return True
        return self._is_first(chunk_id) and self._bits(among, entry.document, run) > 0

    @property
    def _average(self) -> float:
        return sum(len(e.spellings) for e in self.entries.values()) / max(1, len(self.entries))

    def _idf(self, token: str, among: str) -> float:
        holding = sum(self._counts(among, (token,), i) for i in self.entries)
        return idf(holding, len(self.entries))


def _known_by(document: Document, field: str) -> dict[str, int]:
    """The words by which a document is known, or their stems, and the fields of each."""
    found: dict[str, int] = {}
    for word, bits in known_words(document).items():
        key = word if field == "spellings" else stem([word], document.language)[0]
        found[key] = found.get(key, 0) | bits
    return found


def _count(run: tuple[str, ...], tokens: list[str]) -> int:
    if len(run) == 1:
        return Counter(tokens)[run[0]]
    return sum(tuple(tokens[i : i + len(run)]) == run for i in range(len(tokens) - len(run) + 1))
