"""The way of documents into a store: prepared one by one, embedded and put in batches.

A batch is about one embedding call, so memory stays bounded however many a source offers, and each
is acknowledged when its store has it. One that cannot be read is reported and the rest goes on.
Knows sources, models and stores only through their ports.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from time import perf_counter
from typing import TYPE_CHECKING

from trivium.errors import ModelUnavailable
from trivium.ingest.identity import Naming, Renaming
from trivium.ingest.outcomes import Fate, Outcome
from trivium.ingest.preparing import Prepared, Preparer, Relabelling
from trivium.ports import Embedder, Source, Store, TokenEmbedder
from trivium.types import Labels, Processed

if TYPE_CHECKING:
    from trivium.types import TokenVectors, Vector, Vectors

# Tokens in a batch: 64 full chunks, 4 seconds of embedding on 2 cores. A commit costs 30 ms, so
# less than 1 % of the time; and no one waits longer for a first document to be searchable.
BATCH_TOKENS = 16_384
DEEPEST = 3  # a file in an archive in a message in a mailbox; deeper ones are counted as its bytes


class Pipeline:
    def __init__(
        self,
        store: Store,
        embedder: Embedder | None,
        preparer: Preparer,
        *,
        token_embedder: TokenEmbedder | None = None,
        on_note: Callable[[str], None] = lambda note: None,
    ) -> None:
        self._store = store
        self._embedder = embedder
        self._preparer = preparer
        self._token_embedder = token_embedder  # the embedder, where token vectors are to be kept
        self._on_note = on_note
        self.embedding_seconds = 0.0

    def run(self, source: Source, labels: Labels) -> Iterator[Outcome]:
        """Yields an outcome for every item, once its store has it. Stop asking to stop early."""
        batch: dict[str, Prepared] = {}
        for offered in source.items():
            waiting = [(offered, 0)]
            while waiting:
                item, depth = waiting.pop()
                if item.uri in batch:  # a source that offers one thing twice
                    yield from self._flush(batch)
                prepared = self._preparer.prepare(item, labels)
                if isinstance(prepared, Outcome):
                    yield prepared
                    continue
                if isinstance(prepared, Renaming | Naming):
                    yield prepared.apply(self._store)
                    continue
                if isinstance(prepared, Relabelling):
                    yield self._relabel(prepared)
                    continue
                batch[item.uri] = prepared
                if depth < DEEPEST:
                    waiting += [(one, depth + 1) for one in reversed(prepared.within())]
                if _tokens(batch) >= BATCH_TOKENS:
                    yield from self._flush(batch)
        yield from self._flush(batch)

    def _relabel(self, asked: Relabelling) -> Outcome:
        item, before = asked.item, asked.document
        category, audience, metadata = asked.category, asked.audience, asked.metadata
        self._store.relabel(before.id, category=category, audience=audience, metadata=metadata)
        after = replace(before, category=category, audience=audience, metadata=metadata)
        return Outcome(item.uri, Fate.RELABELLED, after, None, item.size, item.enclosed)

    def _flush(self, batch: dict[str, Prepared]) -> Iterator[Outcome]:
        prepared = list(batch.values())
        batch.clear()
        if not prepared:
            return
        model = self._embedder.fingerprint if self._embedder else ""
        documents = self._store.put(self._embed(prepared), model)
        for one, document in zip(prepared, documents, strict=True):
            fate = Fate.UPDATED if one.before else Fate.ADDED
            if one.before is None and document.uri != one.item.uri:
                fate = Fate.DUPLICATE  # of another in this batch
            size, enclosed = one.processed.size, one.item.enclosed
            yield Outcome(one.item.uri, fate, document, None, size, enclosed)

    def _embed(self, prepared: list[Prepared]) -> list[Processed]:
        """With vectors: those the store knows, and the rest from the model in one call."""
        if self._embedder is None:
            return [p.processed for p in prepared]
        texts = {
            hash_: text
            for p in prepared
            for hash_, text in zip(p.processed.hashes, p.texts, strict=True)
        }
        tokens: dict[str, TokenVectors] = {}
        known = dict(self._store.embeddings(self._embedder.fingerprint, list(texts)))
        missing = [hash_ for hash_ in texts if hash_ not in known]
        if missing:
            started = perf_counter()
            try:
                vectors, packed = self._run_model(self._embedder, [texts[h] for h in missing])
            except ModelUnavailable as reason:
                self._embedder = None
                self._on_note(f"Added for search by words and spelling only. {reason}")
                return [p.processed for p in prepared]
            self.embedding_seconds += perf_counter() - started
            known |= dict(zip(missing, vectors, strict=True))
            tokens = {hash_: one for hash_, one in zip(missing, packed, strict=True) if one}
        return [_with_vectors(p.processed, known, tokens) for p in prepared]

    def _run_model(
        self, embedder: Embedder, texts: list[str]
    ) -> tuple[Vectors, Sequence[TokenVectors]]:
        if self._token_embedder is not None:
            return self._token_embedder.embed_with_tokens(texts)
        return embedder.embed_documents(texts), [b""] * len(texts)


def _tokens(batch: Mapping[str, Prepared]) -> int:
    return sum(chunk.tokens for one in batch.values() for chunk in one.processed.chunks)


def _with_vectors(
    processed: Processed, known: Mapping[str, Vector], tokens: Mapping[str, TokenVectors]
) -> Processed:
    import numpy as np

    vectors: Vectors = np.stack([known[hash_] for hash_ in processed.hashes])
    new = {hash_: tokens[hash_] for hash_ in processed.hashes if hash_ in tokens}
    return replace(processed, vectors=vectors, tokens=new)
