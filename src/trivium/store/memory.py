"""The reference store: everything in dictionaries, every signal a plain loop.

Small and obvious rather than fast: what it answers is what the others must answer. Nothing is
kept when the process ends. What is known of documents is in `memory_registry`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from trivium.ports import Waiting
from trivium.store.bm25 import K1, idf, saturation
from trivium.store.memory_folders import MemoryFolders
from trivium.store.memory_models import Entry
from trivium.store.memory_registry import MemoryRegistry
from trivium.store.memory_tokens import MemoryTokens
from trivium.store.neighbours import neighbours
from trivium.store.where import kind_of, matches
from trivium.text.completing import LOOKED_AT, complete
from trivium.text.keywords import Run, plan_keywords
from trivium.text.misspelling import spell
from trivium.text.spelling import PlannedWord, plan_spellings
from trivium.text.trigrams import Vocabulary
from trivium.types import (
    OWNER,
    ChunkId,
    Hit,
    Label,
    Neighbours,
    Probe,
    Signal,
    Spelled,
    StoredChunk,
    TokenVectors,
    Where,
)

if TYPE_CHECKING:
    from trivium.types import Vector


class MemoryStore(MemoryRegistry, MemoryTokens, MemoryFolders):
    def writing(
        self, waiting: Waiting | None = None, patience: float | None = None
    ) -> AbstractContextManager[None]:
        return nullcontext()

    # searching

    def search(self, signal: Signal, probe: Probe, where: Where, k: int) -> list[Hit]:
        seen = self._seen(where)
        scores = {
            Signal.VECTOR: self._vector_scores,
            Signal.KEYWORD: self._keyword_scores,
            Signal.TRIGRAM: self._trigram_scores,
        }[signal](probe, seen)
        plan = plan_keywords(probe.query, seen.languages)
        hits = [
            Hit(chunk_id, score)
            for chunk_id, score in scores.items()
            if matches(self._documents[self._entries[chunk_id].document], where)
            and not _holds(plan.excluded, self._entries[chunk_id])
            and all(_holds(runs, self._entries[chunk_id]) for runs in plan.required)
        ]
        return sorted(hits, key=lambda hit: (-hit.score, hit.chunk_id))[:k]

    def spellings(self, words: Sequence[str], where: Where) -> Mapping[str, tuple[Spelled, ...]]:
        seen = self._seen(where)
        return spell(words, seen.vocabulary, seen.languages, partial(self._holding, where))

    def completions(self, beginning: str, where: Where, most: int) -> tuple[Spelled, ...]:
        return complete(
            beginning,
            self._seen(where).vocabulary,
            lambda word: self._holding(where.access, (word,), len(self._entries)),
            partial(self._holding, where),
            most,
            looked_at=LOOKED_AT if where.access == OWNER else None,
        )

    def _holding(self, where: Where, run: tuple[str, ...], most: int) -> int:
        """How many visible chunks hold a run of words, counted up to `most`."""
        return min(
            most,
            sum(
                _count(run, entry.spellings) > 0
                for entry in self._entries.values()
                if matches(self._documents[entry.document], where)
            ),
        )

    def chunks(self, ids: Sequence[ChunkId], where: Where) -> list[StoredChunk]:
        found = []
        for chunk_id in ids:
            entry = self._entries.get(chunk_id)
            if entry and matches(self._documents[entry.document], where):
                found.append(StoredChunk(chunk_id, self._documents[entry.document], entry.chunk))
        return found

    def around(
        self, ids: Sequence[ChunkId], before: int, after: int, where: Where
    ) -> dict[ChunkId, Neighbours]:
        return neighbours(ids, before, after, lambda wanted: self.chunks(wanted, where))

    def vectors(self, ids: Sequence[ChunkId], where: Where) -> dict[ChunkId, Vector]:
        found = {c.id: self._entries[c.id].vector for c in self.chunks(ids, where)}
        return {i: vector for i, vector in found.items() if vector is not None}

    def rarities(self, words: Sequence[str], where: Where) -> Sequence[float]:
        seen = self._seen(where)
        return [seen.idf(word, "spellings") for word in words]

    def token_vectors(
        self, ids: Sequence[ChunkId], where: Where, model: str
    ) -> Mapping[ChunkId, TokenVectors]:
        keys = {c.id: (model, self._entries[c.id].embedded) for c in self.chunks(ids, where)}
        return {i: self._tokens[key] for i, key in keys.items() if key in self._tokens}

    def counts(self, label: Label, where: Where) -> dict[str, int]:
        held = self.documents(where)
        if label == "type":
            return Counter(kind_of(document.media_type) for document in held)
        return Counter(getattr(document, label) for document in held)

    def field_names(self, where: Where) -> frozenset[str]:
        return frozenset(name for d in self.documents(where) for name in d.metadata)

    def _vector_scores(self, probe: Probe, seen: _Seen) -> dict[ChunkId, float]:
        if probe.vector is None or not self._dimensions:
            return {}
        self._refuse_other(probe.model)
        scores = {
            i: float(np.dot(entry.vector, probe.vector))
            for i, entry in seen.entries.items()
            if entry.vector is not None
        }
        return {i: score for i, score in scores.items() if score >= probe.threshold}

    def _keyword_scores(self, probe: Probe, seen: _Seen) -> dict[ChunkId, float]:
        plan = plan_keywords(probe.query, seen.languages)
        runs = {run for clause in plan.clauses for run in clause.runs}
        weights = {run: sum(seen.idf(s, "stems") for s in run) for run in runs}
        average = seen.average_length
        scores: dict[ChunkId, float] = {}
        for chunk_id, entry in seen.entries.items():
            found = [
                sum(
                    weights[run] * saturation(_count(run, entry.stems), len(entry.stems), average)
                    for run in clause.runs
                )
                for clause in plan.clauses
            ]
            missed = (c.required and not f for c, f in zip(plan.clauses, found, strict=True))
            if sum(found) > 0 and not any(missed):
                scores[chunk_id] = sum(found)
        return scores

    def _trigram_scores(self, probe: Probe, seen: _Seen) -> dict[ChunkId, float]:
        plan = plan_spellings(
            probe.query.words,
            seen.vocabulary,
            seen.languages,
            lambda parts: sum(seen.idf(word, "spellings") for word in parts),
        )
        most = sum(planned.weight for planned in plan) * (K1 + 1)
        average = seen.average_length
        scores = {}
        for chunk_id, entry in seen.entries.items():
            score = sum(_planned_score(planned, entry.spellings, average) for planned in plan)
            if score > 0:
                scores[chunk_id] = score / most
        return scores

    def _seen(self, where: Where) -> _Seen:
        """All that the caller may see, filtered out or not. The owner's vocabulary also knows words
        of documents that are gone, as on the other stores."""
        held = self.documents(where.access)
        ids = {document.id for document in held}
        entries = {i: entry for i, entry in self._entries.items() if entry.document in ids}
        vocabulary = self._vocabulary
        if where.access != OWNER:
            vocabulary = Vocabulary()
            vocabulary.add(word for entry in entries.values() for word in entry.spellings)
        return _Seen(entries, vocabulary, sorted({document.language for document in held}))

    def forget_words(self) -> None:
        """Know only the words that are there now, as after a rebuild of the other stores."""
        self._vocabulary = Vocabulary()
        for entry in self._entries.values():
            self._vocabulary.add(entry.spellings)

    def refresh(self) -> None:
        """Nothing to do: there is one process and no derived index."""

    def close(self) -> None:
        """Nothing to release."""


@dataclass(frozen=True, slots=True)
class _Seen:
    """What is there for one caller. Every number of the word signals comes from it."""

    entries: Mapping[ChunkId, Entry]
    vocabulary: Vocabulary
    languages: list[str]

    @property
    def average_length(self) -> float:
        return sum(len(e.spellings) for e in self.entries.values()) / max(1, len(self.entries))

    def idf(self, token: str, among: str) -> float:
        holding = sum(token in getattr(entry, among) for entry in self.entries.values())
        return idf(holding, len(self.entries))


def _planned_score(planned: PlannedWord, spellings: list[str], average: float) -> float:
    return planned.weight * max(
        s.factor * saturation(_count(s.words, spellings), len(spellings), average)
        for s in planned.spellings
    )


def _holds(runs: Sequence[Run], entry: Entry) -> bool:
    """Whether a chunk holds one of these runs of stems."""
    return any(_count(run, entry.stems) for run in runs)


def _count(run: tuple[str, ...], tokens: list[str]) -> int:
    if len(run) == 1:
        return Counter(tokens)[run[0]]
    return sum(tuple(tokens[i : i + len(run)]) == run for i in range(len(tokens) - len(run) + 1))
