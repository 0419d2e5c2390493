"""The reference, for tests: a folder in the machine's memory, ranked by the definition.

Documents, names and jobs are those of any folder. Who may see what (`store.where`) and the three
signals are computed once more here, for every chunk and from what `Documents` says, so that
whatever decides faster can be compared with it. Nothing is kept when the process ends.
"""

from __future__ import annotations

import atexit
import os
import shutil
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from tempfile import mkdtemp

import numpy as np

from trivium.core.errors import ModelChanged
from trivium.core.types import OWNER, Chunk, ChunkId, Document, DocumentId, Hit, Probe, Where
from trivium.ports import Backend
from trivium.store.embedded.backend import open_embedded
from trivium.store.ranking import K1, idf, saturation
from trivium.store.signals import PlannedSignals
from trivium.store.sql.rows import searched_text
from trivium.store.visible import known_share
from trivium.store.where import matches
from trivium.text.keywords import KeywordPlan, Run
from trivium.text.known import LATER, fields_holding, known_words, weights
from trivium.text.normalise import words as split
from trivium.text.spelling import PlannedWord
from trivium.text.stems import stem
from trivium.text.trigrams import Vocabulary

_MEMORY = Path("/dev/shm")  # where the system has one: nothing waits for a disk
_NEVER = 2**62  # no change has this number


def open_memory(*, incoming: int | None = None) -> Backend:
    """`incoming`: bytes that files that were sent in may take together."""
    place = _MEMORY if os.access(_MEMORY, os.W_OK) else None
    folder = Path(mkdtemp(prefix="trivium-memory-", dir=place))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    library = open_embedded(folder, incoming=incoming)

    def close() -> None:
        library.close()
        shutil.rmtree(folder, ignore_errors=True)

    signals = ReferenceSignals(library)
    return replace(library, signals=signals, views=None, folder=None, close=close)


@dataclass(frozen=True, slots=True)
class _Entry:
    """An active chunk with everything the signals look at."""

    document: DocumentId
    stems: list[str]
    spellings: list[str]


class ReferenceSignals(PlannedSignals):
    def __init__(self, library: Backend) -> None:
        super().__init__(self._postings)
        self._library = library
        self._kept: dict[Where, tuple[int, _Postings]] = {}  # with the change that they belong to
        rows = library.signals
        self.vectors, self.token_vectors = rows.vectors, rows.token_vectors
        self.changed_vectors, self.sample = rows.changed_vectors, rows.sample
        self.refresh = rows.refresh

    def _postings(self, where: Where) -> _Postings:
        change, _ = self._library.documents.changed(_NEVER, OWNER)
        of, postings = self._kept.get(where, (-1, None))
        if postings is None or of != change:
            postings = self._read(where)
            self._kept[where] = (change, postings)
        return postings

    def _read(self, where: Where) -> _Postings:
        """All that the caller may see, filtered out or not."""
        documents = self._library.documents
        seen = {d.id: d for d in documents.all(OWNER) if matches(d, where.access)}
        entries: dict[ChunkId, _Entry] = {}
        passing: list[ChunkId] = []
        for document in seen.values():
            for stored in documents.passages(document.id, OWNER):
                entries[stored.id] = _entry(document, stored.chunk)
                if matches(document, where, partial(tuple, [stored.chunk.place])):
                    passing.append(stored.id)
        vocabulary = Vocabulary()
        vocabulary.add(word for entry in entries.values() for word in entry.spellings)
        chunked = {entry.document for entry in entries.values()}
        known = {
            field: {d: _known_by(seen[d], field) for d in chunked}
            for field in ("spellings", "stems")
        }
        vocabulary.add(word for words in known["spellings"].values() for word in words)
        languages = sorted({document.language for document in seen.values()})
        return _Postings(self._library, seen, entries, passing, vocabulary, languages, known)


def _entry(document: Document, chunk: Chunk) -> _Entry:
    spellings = split(searched_text(chunk))
    return _Entry(document.id, stem(spellings, document.language), spellings)


@dataclass(frozen=True, slots=True)
class _Postings:
    """What one caller may see. Every number of the word signals comes from it."""

    library: Backend
    documents: Mapping[DocumentId, Document]
    entries: Mapping[ChunkId, _Entry]
    passing: Sequence[ChunkId]  # those that pass the filter
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
        for chunk_id in self.passing:
            stems = self.entries[chunk_id].stems
            found = [
                clause.weight
                * sum(
                    rarity[run]
                    * max(
                        saturation(_count(run, stems), len(stems), average),
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
        serving = self.library.models.manifest()
        if probe.vector is None or not serving.dimensions:
            return []
        if probe.model != serving.model:
            raise ModelChanged(f"The vectors come from {serving.model}, not {probe.model}.")
        vectors = self.library.signals.vectors(self.passing, OWNER)
        scores = {i: float(np.dot(vector, probe.vector)) for i, vector in vectors.items()}
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
        return fields_holding(self.documents[document], run, among)

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
