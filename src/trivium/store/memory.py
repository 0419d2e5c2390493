"""The reference store: everything in dictionaries, every signal a plain loop.

Small and obvious rather than fast: what it answers is what the others must answer. Nothing is
kept when the process ends.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from trivium.answers import Conversation, KeptTurn
from trivium.ports import Waiting
from trivium.store.bm25 import K1, idf, saturation
from trivium.store.clock import now
from trivium.store.neighbours import neighbours
from trivium.store.where import holds, matches
from trivium.text.keywords import plan_keywords
from trivium.text.misspelling import spell
from trivium.text.normalise import words
from trivium.text.spelling import PlannedWord, plan_spellings
from trivium.text.stems import stem
from trivium.text.trigrams import Vocabulary
from trivium.types import (
    OWNER,
    Chunk,
    ChunkId,
    Collection,
    Document,
    DocumentId,
    Hit,
    Manifest,
    Metadata,
    Neighbours,
    Probe,
    Processed,
    Signal,
    Spelled,
    StoredChunk,
    TokenVectors,
    Where,
)

if TYPE_CHECKING:
    from trivium.types import Vector


@dataclass(frozen=True, slots=True)
class _Entry:
    """An active chunk with everything the signals look at."""

    document: DocumentId
    chunk: Chunk
    embedded: str
    vector: Vector | None
    stems: list[str]
    spellings: list[str]


class MemoryStore:
    def __init__(self) -> None:
        self._documents: dict[DocumentId, Document] = {}
        self._texts: dict[DocumentId, str] = {}
        self._entries: dict[ChunkId, _Entry] = {}
        self._embeddings: dict[tuple[str, str], Vector] = {}
        self._tokens: dict[tuple[str, str], TokenVectors] = {}
        self._vocabulary = Vocabulary()  # of everything ever added, as on the other stores
        self._chunkers: dict[str, str] = {}  # by collection
        self._turns: list[tuple[str, KeptTurn]] = []  # with the conversation's name
        self._last_document = 0
        self._last_chunk = 0
        self._model = ""
        self._dimensions = 0

    # writing

    def writing(self, waiting: Waiting | None = None) -> AbstractContextManager[None]:
        return nullcontext()

    def put(self, batch: Sequence[Processed], model: str) -> list[Document]:
        return [self._put(processed, model) for processed in batch]

    def _put(self, processed: Processed, model: str) -> Document:
        before = self.find(processed.uri, processed.collection)
        if before is None:
            self._last_document += 1
        extraction = processed.extraction
        document = Document(
            id=before.id if before else self._last_document,
            uri=processed.uri,
            title=extraction.title,
            collection=processed.collection,
            category=processed.category,
            audience=processed.audience,
            media_type=extraction.media_type,
            language=extraction.language,
            content_hash=processed.content_hash,
            size=processed.size,
            interpretation=before.interpretation + 1 if before else 1,
            fingerprint=processed.fingerprint,
            chunks=len(processed.chunks),
            added_at=before.added_at if before else now(),
            updated_at=now(),
            metadata=processed.metadata,
        )
        self._tokens |= {(model, hash_): packed for hash_, packed in processed.tokens.items()}
        self._forget_chunks(document.id)
        self._documents[document.id] = document
        self._texts[document.id] = extraction.text
        for at, (chunk, embedded) in enumerate(
            zip(processed.chunks, processed.hashes, strict=True)
        ):
            vector = None if processed.vectors is None else processed.vectors[at]
            if vector is not None:
                self._model, self._dimensions = model, len(vector)
                self._embeddings[model, embedded] = vector
            spellings = words(f"{chunk.context}\n{chunk.text}")
            self._vocabulary.add(spellings)
            self._last_chunk += 1
            self._entries[self._last_chunk] = _Entry(
                document.id,
                chunk,
                embedded,
                vector,
                stem(spellings, extraction.language),
                spellings,
            )
        return document

    def relabel(
        self, document: DocumentId, *, category: str, audience: str, metadata: Metadata
    ) -> None:
        self._documents[document] = replace(
            self._documents[document], category=category, audience=audience, metadata=metadata
        )

    def remove(self, documents: Iterable[DocumentId]) -> int:
        known = [d for d in dict.fromkeys(documents) if d in self._documents]
        for document in known:
            self._forget_chunks(document)
            del self._documents[document], self._texts[document]
        kept = {entry.embedded for entry in self._entries.values()}
        self._embeddings = {key: v for key, v in self._embeddings.items() if key[1] in kept}
        self._tokens = {key: t for key, t in self._tokens.items() if key[1] in kept}
        self._turns = [(name, t) for name, t in self._turns if t.documents.isdisjoint(known)]
        return len(known)

    def set_chunker(self, collection: str, chunker: str) -> None:
        self._chunkers[collection] = chunker

    def _forget_chunks(self, document: DocumentId) -> None:
        self._entries = {i: e for i, e in self._entries.items() if e.document != document}

    # the registry

    def manifest(self) -> Manifest:
        return Manifest(schema=0, model=self._model, dimensions=self._dimensions)

    def embeddings(self, model: str, hashes: Sequence[str]) -> Mapping[str, Vector]:
        return {h: self._embeddings[model, h] for h in hashes if (model, h) in self._embeddings}

    def chunker(self, collection: str) -> str:
        return self._chunkers.get(collection, "")

    def collections(self, where: Where) -> list[Collection]:
        held = self.documents(where)
        names = {d.collection for d in held} | (set(self._chunkers) if where == OWNER else set())
        found = []
        for name in sorted(names):
            own = [d.chunks for d in held if d.collection == name]
            found.append(Collection(name, len(own), sum(own), self.chunker(name)))
        return found

    def find(self, uri: str, collection: str) -> Document | None:
        for document in self._documents.values():
            if (document.uri, document.collection) == (uri, collection):
                return document
        return None

    def documents(
        self, where: Where, *, offset: int = 0, limit: int | None = None
    ) -> list[Document]:
        passing = [d for _, d in sorted(self._documents.items()) if matches(d, where)]
        return passing[offset:] if limit is None else passing[offset : offset + limit]

    def text(self, document: DocumentId, where: Where) -> str | None:
        known = self._documents.get(document)
        return self._texts[document] if known and matches(known, where) else None

    def passages(self, document: DocumentId, where: Where) -> list[StoredChunk]:
        return self.chunks([i for i, e in self._entries.items() if e.document == document], where)

    # searching

    def search(self, signal: Signal, probe: Probe, where: Where, k: int) -> list[Hit]:
        scores = {
            Signal.VECTOR: self._vector_scores,
            Signal.KEYWORD: self._keyword_scores,
            Signal.TRIGRAM: self._trigram_scores,
        }[signal](probe)
        excluded = plan_keywords(probe.query, self._languages()).excluded
        hits = [
            Hit(chunk_id, score)
            for chunk_id, score in scores.items()
            if matches(self._documents[self._entries[chunk_id].document], where)
            and not any(_count(run, self._entries[chunk_id].stems) for run in excluded)
        ]
        return sorted(hits, key=lambda hit: (-hit.score, hit.chunk_id))[:k]

    def spellings(self, words: Sequence[str], where: Where) -> Mapping[str, tuple[Spelled, ...]]:
        visible = [
            entry.spellings
            for entry in self._entries.values()
            if matches(self._documents[entry.document], where)
        ]

        def holding(run: tuple[str, ...], most: int) -> int:
            return min(most, sum(_count(run, spellings) > 0 for spellings in visible))

        return spell(words, self._vocabulary, self._languages(), holding)

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

    def rarities(self, words: Sequence[str]) -> Sequence[float]:
        return [self._idf(word, "spellings") for word in words]

    def token_vectors(self, ids: Sequence[ChunkId], where: Where) -> Mapping[ChunkId, TokenVectors]:
        keys = {c.id: (self._model, self._entries[c.id].embedded) for c in self.chunks(ids, where)}
        return {i: self._tokens[key] for i, key in keys.items() if key in self._tokens}

    def field_names(self, where: Where) -> frozenset[str]:
        return frozenset(name for d in self.documents(where) for name in d.metadata)

    # conversations

    def keep_turn(self, conversation: str, kept: KeptTurn) -> None:
        self._turns.append((conversation, replace(kept, at=now())))

    def turns(self, conversation: str, where: Where) -> list[KeptTurn]:
        return [t for name, t in self._turns if name == conversation and self._shows(t, where)]

    def conversations(self, where: Where) -> list[Conversation]:
        seen = {name: self.turns(name, where) for name in sorted({name for name, _ in self._turns})}
        return [Conversation(n, len(t), t[0].at, t[-1].at) for n, t in seen.items() if t]

    def forget_conversation(self, conversation: str, where: Where) -> int:
        before = len(self._turns)
        self._turns = [
            (name, t)
            for name, t in self._turns
            if name != conversation or not self._shows(t, where)
        ]
        return before - len(self._turns)

    def _shows(self, kept: KeptTurn, where: Where) -> bool:
        passing = {document.id for document in self.documents(where)}
        return holds(where.audiences, kept.audiences) and kept.documents <= passing

    def _vector_scores(self, probe: Probe) -> dict[ChunkId, float]:
        if probe.vector is None:
            return {}
        scores = {
            i: float(np.dot(entry.vector, probe.vector))
            for i, entry in self._entries.items()
            if entry.vector is not None
        }
        return {i: score for i, score in scores.items() if score >= probe.threshold}

    def _keyword_scores(self, probe: Probe) -> dict[ChunkId, float]:
        plan = plan_keywords(probe.query, self._languages())
        runs = {run for clause in plan.clauses for run in clause.runs}
        weights = {run: sum(self._idf(s, "stems") for s in run) for run in runs}
        average = self._average_length()
        scores: dict[ChunkId, float] = {}
        for chunk_id, entry in self._entries.items():
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

    def _trigram_scores(self, probe: Probe) -> dict[ChunkId, float]:
        plan = plan_spellings(
            probe.query.words,
            self._vocabulary,
            self._languages(),
            lambda parts: sum(self._idf(word, "spellings") for word in parts),
        )
        most = sum(planned.weight for planned in plan) * (K1 + 1)
        average = self._average_length()
        scores = {}
        for chunk_id, entry in self._entries.items():
            score = sum(_planned_score(planned, entry.spellings, average) for planned in plan)
            if score > 0:
                scores[chunk_id] = score / most
        return scores

    def _average_length(self) -> float:
        return sum(len(e.spellings) for e in self._entries.values()) / max(1, len(self._entries))

    def _idf(self, token: str, among: str) -> float:
        holding = sum(token in getattr(entry, among) for entry in self._entries.values())
        return idf(holding, len(self._entries))

    def _languages(self) -> list[str]:
        return sorted({d.language for d in self._documents.values()})

    def forget_words(self) -> None:
        """Know only the words that are there now, as after a rebuild of the other stores."""
        self._vocabulary = Vocabulary()
        for entry in self._entries.values():
            self._vocabulary.add(entry.spellings)

    def refresh(self) -> None:
        """Nothing to do: there is one process and no derived index."""

    def close(self) -> None:
        """Nothing to release."""


def _planned_score(planned: PlannedWord, spellings: list[str], average: float) -> float:
    return planned.weight * max(
        s.factor * saturation(_count(s.words, spellings), len(spellings), average)
        for s in planned.spellings
    )


def _count(run: tuple[str, ...], tokens: list[str]) -> int:
    if len(run) == 1:
        return Counter(tokens)[run[0]]
    return sum(tuple(tokens[i : i + len(run)]) == run for i in range(len(tokens) - len(run) + 1))
