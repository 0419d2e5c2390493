"""How the reference changes: one document at a time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import Any

from trivium.core.errors import DocumentNotFound
from trivium.core.history import Interpretation
from trivium.core.types import Document, DocumentId, Metadata, Processed, Where
from trivium.core.work import DUPLICATE
from trivium.ports import Queue, Waiting
from trivium.store.clock import now
from trivium.store.identity import (
    inherited,
    is_shareable,
    is_within,
    meets,
    parts_from,
    restored_label,
    successor,
)
from trivium.store.memory.documents import MemoryDocuments
from trivium.store.memory.held import Entry, Held, Kept
from trivium.store.memory.jobs import Books
from trivium.store.where import holds_label
from trivium.text.normalise import words
from trivium.text.stems import stem
from trivium.text.titles import followed


class MemoryWriter:
    def __init__(self, held: Held, books: Books, queue: Queue) -> None:
        self._held = held
        self._documents = MemoryDocuments(held)
        self._books = books
        self._queue = queue

    def writing(
        self, waiting: Waiting | None = None, patience: float | None = None
    ) -> AbstractContextManager[None]:
        return nullcontext()

    def put(self, batch: Sequence[Processed], model: str) -> list[Document]:
        if any(processed.vectors is not None for processed in batch):
            self._held.refuse_other(model)
        done = []
        for processed in batch:
            document, said = self._put(processed, model)
            if processed.task is not None:
                self._queue.end([replace(processed.task, document=document.id, **said)])
            if processed.point is not None:
                self._held.advance(processed.point)
            done.append(document)
        return done

    def _put(self, processed: Processed, model: str) -> tuple[Document, dict[str, Any]]:
        """The document, and what else is to be said of its task."""
        before = self._documents.find(processed.uri, processed.collection)
        processed = inherited(processed, before)
        said = (processed.content_hash, processed.audience, processed.sender)
        if before and parts_from(before, *said):
            self._unname(before, processed.uri)
            before = None
        elif before and processed.uri != before.uri and meets(before, processed):
            return before, {}
        elif before is None and is_shareable(processed):
            for twin in self._documents.alike([processed.content_hash], processed.collection):
                if meets(twin, processed):
                    return self.add_name(twin.id, processed.uri), {"fate": DUPLICATE}
        if before is None:
            self._held.last_document += 1
        extraction = processed.extraction
        of = (processed.content_hash, processed.summarised_by, processed.sender)
        self._held.summaries[of] = processed.summary
        document = successor(processed, before, self._held.last_document)
        self._held.tokens |= {(model, hash_): packed for hash_, packed in processed.tokens.items()}
        texts = (chunk.embedded_under(processed.summary) for chunk in processed.chunks)
        self._held.embedded_texts |= dict(zip(processed.hashes, texts, strict=True))
        if processed.vectors is not None:
            self._held.model, self._held.dimensions = model, processed.vectors.shape[1]
            vectors = zip(processed.hashes, processed.vectors, strict=True)
            self._held.embeddings |= {(model, hash_): vector for hash_, vector in vectors}
        about = Interpretation(
            document=document.id,
            number=document.interpretation,
            active=True,
            title=extraction.title,
            media_type=extraction.media_type,
            language=extraction.language,
            content_hash=processed.content_hash,
            size=processed.size,
            fingerprint=processed.fingerprint,
            elements=extraction.element_count,
            chunks=len(processed.chunks),
            tokens=sum(chunk.tokens for chunk in processed.chunks),
            created_at=now(),
            original=processed.original,
            timings=processed.timings,
            metadata=processed.metadata,
            audience=processed.audience,
        )
        pairs = tuple(zip(processed.chunks, processed.hashes, strict=True))
        known = processed.vectors is not None
        kept = Kept(about, extraction.text, self._held.last_chunk + 1, pairs, processed.summary)
        return self._activate(document, kept, model if known else ""), {}

    def _activate(self, document: Document, new: Kept, model: str) -> Document:
        past = self._held.past.setdefault(document.id, [])
        if past:
            retired = replace(past[-1].about, active=False, retired_at=new.about.created_at)
            past[-1] = replace(past[-1], about=retired)
        past.append(new)
        self._hide_chunks(document.id)
        self._held.documents[document.id] = document
        for chunk, embedded in new.chunks:
            spellings = words(f"{chunk.context}\n{chunk.text}")
            self._held.last_chunk += 1
            self._held.entries[self._held.last_chunk] = Entry(
                document.id,
                chunk,
                embedded,
                self._held.embeddings.get((model, embedded)),
                stem(spellings, new.about.language),
                spellings,
            )
        return document

    def relabel(
        self, document: DocumentId, *, category: str, audience: str, metadata: Metadata
    ) -> None:
        self._held.documents[document] = replace(
            self._held.documents[document], category=category, audience=audience, metadata=metadata
        )
        active = self._held.past[document][-1]
        about = replace(active.about, metadata=metadata, audience=audience)
        self._held.past[document][-1] = replace(active, about=about)

    def remove(self, documents: Iterable[DocumentId]) -> int:
        known = [d for d in dict.fromkeys(documents) if d in self._held.documents]
        uris = {self._held.documents[document].uri for document in known}
        self._books.forget_documents(set(known), uris)
        for document in known:
            self._hide_chunks(document)
            del self._held.documents[document], self._held.past[document]
        self._free_unused()
        kept = [(name, t) for name, t in self._held.turns if t.documents.isdisjoint(known)]
        self._held.turns = kept
        return len(known)

    def set_chunker(self, collection: str, chunker: str) -> None:
        self._held.chunkers[collection] = chunker

    def _hide_chunks(self, document: DocumentId) -> None:
        self._held.entries = {i: e for i, e in self._held.entries.items() if e.document != document}

    def _free_unused(self) -> None:
        used = {
            hash_ for past in self._held.past.values() for one in past for _, hash_ in one.chunks
        }
        self._held.embeddings = {
            key: v for key, v in self._held.embeddings.items() if key[1] in used
        }
        self._held.tokens = {key: t for key, t in self._held.tokens.items() if key[1] in used}
        read = {one.about.content_hash for past in self._held.past.values() for one in past}
        self._held.summaries = {key: s for key, s in self._held.summaries.items() if key[0] in read}
        kept = {one.about.original for past in self._held.past.values() for one in past}
        self._held.originals = {a: d for a, d in self._held.originals.items() if a in kept}

    def add_name(self, document: DocumentId, uri: str) -> Document:
        known = self._known(document)
        if uri in (known.uri, *known.names):
            return known
        return self._renamed(document, (known.uri, *known.names, uri))

    def rename(self, document: DocumentId, old: str, new: str) -> Document:
        known = self._known(document)
        if old not in (known.uri, *known.names):
            return self.add_name(document, new)
        for inner in self._documents.within(old, known.collection):
            uris = (inner.uri, *inner.names)
            moved = (new + u.removeprefix(old) if is_within(u, old) else u for u in uris)
            self._renamed(inner.id, tuple(moved))
        uris = (known.uri, *known.names)
        if old == known.uri:
            title = followed(known.title, old, new)
            self._held.documents[document] = replace(self._held.documents[document], title=title)
            active = self._held.past[document][-1]
            about = replace(active.about, title=title)
            self._held.past[document][-1] = replace(active, about=about)
        self._books.forget_documents(set(), {old})  # the old name is to be found nowhere
        return self._renamed(document, tuple(new if uri == old else uri for uri in uris))

    def forget(self, uri: str, collection: str) -> list[Document]:
        removed = []
        for document in (
            self._documents.find(uri, collection),
            *self._documents.within(uri, collection),
        ):
            if document is None:
                continue
            uris = (document.uri, *document.names)
            left = tuple(name for name in uris if name != uri and not is_within(name, uri))
            if left:
                self._renamed(document.id, left)
            else:
                removed.append(document)
        self.remove(document.id for document in removed)
        return removed

    def _unname(self, document: Document, uri: str) -> None:
        uris = (document.uri, *document.names)
        self._renamed(document.id, tuple(name for name in uris if name != uri))

    def _renamed(self, document: DocumentId, uris: tuple[str, ...]) -> Document:
        known = replace(self._held.documents[document], uri=uris[0], names=uris[1:])
        self._held.documents[document] = known
        return known

    def _known(self, document: DocumentId) -> Document:
        if document not in self._held.documents:
            raise DocumentNotFound(f"There is no document #{document}.")
        return self._held.documents[document]

    def restore(self, document: DocumentId, number: int) -> Document:
        known = self._known(document)
        found = [kept for kept in self._held.past[document] if kept.about.number == number]
        if not found:
            raise DocumentNotFound(f"{known.title} has no interpretation {number}.")
        old, at = found[0], now()
        label = restored_label(known.audience, old.about.audience)
        about = replace(
            old.about,
            number=known.interpretation + 1,
            active=True,
            created_at=at,
            retired_at="",
            restored_from=number,
            timings={},
            audience=label,
        )
        restored = replace(
            known,
            audience=label,
            title=about.title,
            media_type=about.media_type,
            language=about.language,
            content_hash=about.content_hash,
            size=about.size,
            interpretation=about.number,
            fingerprint=about.fingerprint,
            chunks=about.chunks,
            updated_at=at,
            metadata=about.metadata,
            original=about.original,
        )
        kept = replace(old, about=about, first_chunk=self._held.last_chunk + 1)
        return self._activate(restored, kept, self._held.model)

    def prune(self, where: Where, *, keep: int = 1, before: str = "") -> int:
        gone = 0
        for document in self._documents.all(where):
            past = self._held.past[document.id]
            kept = [
                one
                for at, one in enumerate(past)
                if at >= len(past) - max(1, keep)
                or (before and one.about.retired_at >= before)
                or not holds_label(one.about.audience, where)
            ]
            gone += len(past) - len(kept)
            self._held.past[document.id] = kept
        self._free_unused()
        return gone
