"""The registry's half of the reference store: documents, their names and their past.

Dictionaries, and one document at a time. `memory` adds the signals.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from trivium.errors import DocumentNotFound
from trivium.history import Interpretation
from trivium.ports import Summarised
from trivium.store.clock import now
from trivium.store.identity import (
    followed,
    is_shareable,
    is_within,
    meets,
    parts_from,
    restored_label,
    successor,
)
from trivium.store.memory_conversations import MemoryConversations
from trivium.store.memory_models import Entry, MemoryModels
from trivium.store.memory_originals import MemoryOriginals
from trivium.store.where import holds_label, matches, name_of
from trivium.text.nearness import may_be_near, sketch
from trivium.text.normalise import words
from trivium.text.stems import stem
from trivium.text.trigrams import Vocabulary
from trivium.types import (
    OWNER,
    Chunk,
    ChunkId,
    Collection,
    Document,
    DocumentId,
    Manifest,
    Metadata,
    Processed,
    StoredChunk,
    Where,
)

if TYPE_CHECKING:
    from trivium.types import Vector


@dataclass(frozen=True, slots=True)
class _Kept:
    """An interpretation in full."""

    about: Interpretation
    text: str
    first_chunk: ChunkId
    chunks: tuple[tuple[Chunk, str], ...]  # with the hash of what is embedded
    summary: str


class MemoryRegistry(MemoryModels, MemoryConversations, MemoryOriginals):
    def __init__(self) -> None:
        super().__init__()
        self._documents: dict[DocumentId, Document] = {}
        self._past: dict[DocumentId, list[_Kept]] = {}
        # By content, summariser and sender.
        self._summaries: dict[tuple[str, str, str], str] = {}
        self._vocabulary = Vocabulary()  # of everything ever added, as on the other stores
        self._chunkers: dict[str, str] = {}  # by collection
        self._last_document = 0

    # writing

    def put(self, batch: Sequence[Processed], model: str) -> list[Document]:
        if any(processed.vectors is not None for processed in batch):
            self._refuse_other(model)
        return [self._put(processed, model) for processed in batch]

    def _put(self, processed: Processed, model: str) -> Document:
        before = self.find(processed.uri, processed.collection)
        said = (processed.content_hash, processed.audience, processed.sender)
        if before and parts_from(before, *said):
            self._unname(before, processed.uri)
            before = None
        elif before and processed.uri != before.uri and meets(before, processed):
            return before
        elif before is None and is_shareable(processed):
            for twin in self.alike([processed.content_hash], processed.collection):
                if meets(twin, processed):
                    return self.add_name(twin.id, processed.uri)
        if before is None:
            self._last_document += 1
        extraction = processed.extraction
        of = (processed.content_hash, processed.summarised_by, processed.sender)
        self._summaries[of] = processed.summary
        document = successor(processed, before, self._last_document)
        self._tokens |= {(model, hash_): packed for hash_, packed in processed.tokens.items()}
        texts = (chunk.embedded_under(processed.summary) for chunk in processed.chunks)
        self._embedded_texts |= dict(zip(processed.hashes, texts, strict=True))
        if processed.vectors is not None:
            self._model, self._dimensions = model, processed.vectors.shape[1]
            vectors = zip(processed.hashes, processed.vectors, strict=True)
            self._embeddings |= {(model, hash_): vector for hash_, vector in vectors}
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
        kept = _Kept(about, extraction.text, self._last_chunk + 1, pairs, processed.summary)
        return self._activate(document, kept, model if known else "")

    def _activate(self, document: Document, new: _Kept, model: str) -> Document:
        past = self._past.setdefault(document.id, [])
        if past:
            retired = replace(past[-1].about, active=False, retired_at=new.about.created_at)
            past[-1] = replace(past[-1], about=retired)
        past.append(new)
        self._hide_chunks(document.id)
        self._documents[document.id] = document
        for chunk, embedded in new.chunks:
            spellings = words(f"{chunk.context}\n{chunk.text}")
            self._vocabulary.add(spellings)
            self._last_chunk += 1
            self._entries[self._last_chunk] = Entry(
                document.id,
                chunk,
                embedded,
                self._embeddings.get((model, embedded)),
                stem(spellings, new.about.language),
                spellings,
            )
        return document

    def relabel(
        self, document: DocumentId, *, category: str, audience: str, metadata: Metadata
    ) -> None:
        self._documents[document] = replace(
            self._documents[document], category=category, audience=audience, metadata=metadata
        )
        active = self._past[document][-1]
        about = replace(active.about, metadata=metadata, audience=audience)
        self._past[document][-1] = replace(active, about=about)

    def remove(self, documents: Iterable[DocumentId]) -> int:
        known = [d for d in dict.fromkeys(documents) if d in self._documents]
        for document in known:
            self._hide_chunks(document)
            del self._documents[document], self._past[document]
        self._free_unused()
        self._forget_turns_of(known)
        return len(known)

    def keep_vectors(self, model: str, vectors: Mapping[str, Vector]) -> None:
        self._embeddings |= {(model, hash_): vector for hash_, vector in vectors.items()}
        if vectors and not self._model:
            self._model, self._dimensions = model, len(next(iter(vectors.values())))

    def summary(self, content_hash: str, summariser: str, sender: str = "") -> str | None:
        said = [
            summary
            for (hash_, by, of), summary in self._summaries.items()
            if (hash_, by) == (content_hash, summariser) and sender in ("", of)
        ]
        return said[-1] if said else None

    def set_chunker(self, collection: str, chunker: str) -> None:
        self._chunkers[collection] = chunker

    def _hide_chunks(self, document: DocumentId) -> None:
        self._entries = {i: e for i, e in self._entries.items() if e.document != document}

    def _free_unused(self) -> None:
        used = {hash_ for past in self._past.values() for one in past for _, hash_ in one.chunks}
        self._embeddings = {key: v for key, v in self._embeddings.items() if key[1] in used}
        self._tokens = {key: t for key, t in self._tokens.items() if key[1] in used}
        read = {one.about.content_hash for past in self._past.values() for one in past}
        self._summaries = {key: s for key, s in self._summaries.items() if key[0] in read}
        kept = {one.about.original for past in self._past.values() for one in past}
        self._keep_originals(kept)

    # names

    def add_name(self, document: DocumentId, uri: str) -> Document:
        known = self._held(document)
        if uri in (known.uri, *known.names):
            return known
        return self._renamed(document, (known.uri, *known.names, uri))

    def rename(self, document: DocumentId, old: str, new: str) -> Document:
        known = self._held(document)
        if old not in (known.uri, *known.names):
            return self.add_name(document, new)
        for inner in self.within(old, known.collection):
            uris = (inner.uri, *inner.names)
            moved = (new + u.removeprefix(old) if is_within(u, old) else u for u in uris)
            self._renamed(inner.id, tuple(moved))
        uris = (known.uri, *known.names)
        if old == known.uri:
            title = followed(known.title, name_of(old), name_of(new))
            self._documents[document] = replace(self._documents[document], title=title)
            active = self._past[document][-1]
            about = replace(active.about, title=title)
            self._past[document][-1] = replace(active, about=about)
        return self._renamed(document, tuple(new if uri == old else uri for uri in uris))

    def forget(self, uri: str, collection: str) -> list[Document]:
        removed = []
        for document in (self.find(uri, collection), *self.within(uri, collection)):
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
        known = replace(self._documents[document], uri=uris[0], names=uris[1:])
        self._documents[document] = known
        return known

    def _held(self, document: DocumentId) -> Document:
        if document not in self._documents:
            raise DocumentNotFound(f"The library holds no document #{document}.")
        return self._documents[document]

    # the past

    def restore(self, document: DocumentId, number: int) -> Document:
        known = self._held(document)
        found = [kept for kept in self._past[document] if kept.about.number == number]
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
        kept = replace(old, about=about, first_chunk=self._last_chunk + 1)
        return self._activate(restored, kept, self._model)

    def prune(self, where: Where, *, keep: int = 1, before: str = "") -> int:
        gone = 0
        for document in self.documents(where):
            past = self._past[document.id]
            kept = [
                one
                for at, one in enumerate(past)
                if at >= len(past) - max(1, keep)
                or (before and one.about.retired_at >= before)
                or not holds_label(one.about.audience, where)
            ]
            gone += len(past) - len(kept)
            self._past[document.id] = kept
        self._free_unused()
        return gone

    def history(self, document: DocumentId, where: Where) -> list[Interpretation]:
        return [kept.about.seen_by(where) for kept in self._visible_past(document, where)]

    def text(
        self, document: DocumentId, where: Where, interpretation: int | None = None
    ) -> str | None:
        found = self._one(document, where, interpretation)
        return found.text if found else None

    def passages(
        self, document: DocumentId, where: Where, interpretation: int | None = None
    ) -> list[StoredChunk]:
        found = self._one(document, where, interpretation)
        return [
            StoredChunk(found.first_chunk + at, self._documents[document], chunk)
            for at, (chunk, _) in enumerate(found.chunks if found else ())
            if found
        ]

    def sketches(
        self, where: Where, like: Sequence[DocumentId] | None = None
    ) -> Mapping[DocumentId, bytes]:
        found = {d.id: self._sketch(d.id) for d in self.documents(where)}
        if like is None:
            return found
        own = [self._sketch(d) for d in like if d in self._past]
        return {d: s for d, s in found.items() if any(may_be_near(o, s) for o in own) or d in like}

    def _sketch(self, document: DocumentId) -> bytes:
        return sketch(self._past[document][-1].text)

    def _one(self, document: DocumentId, where: Where, number: int | None) -> _Kept | None:
        past = self._visible_past(document, where)
        wanted = [k for k in past if k.about.number == number or (k.about.active and not number)]
        return wanted[0] if wanted else None

    def _visible_past(self, document: DocumentId, where: Where) -> list[_Kept]:
        known = self._documents.get(document)
        if known is None or not matches(known, where):
            return []
        return [one for one in self._past[document] if holds_label(one.about.audience, where)]

    # the registry

    def manifest(self) -> Manifest:
        described, settings = self._model_settings
        return Manifest(
            schema=0,
            model=self._model,
            dimensions=self._dimensions,
            settings=settings if described == self._model else {},
            next_model=self._next[0],
            next_settings=self._next[1],
        )

    def embeddings(
        self, model: str, hashes: Sequence[str], sender: str = ""
    ) -> Mapping[str, Vector]:
        if sender:
            mine = [d.id for d in self._documents.values() if d.sender == sender]
            own = {hash_ for id_ in mine for one in self._past[id_] for _, hash_ in one.chunks}
            hashes = [hash_ for hash_ in hashes if hash_ in own]
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
        return self.find_all([uri], collection).get(uri)

    def find_all(self, uris: Sequence[str], collection: str) -> dict[str, Document]:
        ours = self._in(collection)
        return {uri: d for d in ours for uri in (d.uri, *d.names) if uri in uris}

    def alike(self, hashes: Sequence[str], collection: str) -> list[Document]:
        return [d for d in self._in(collection) if d.seen_hash in hashes]

    def summarised(self, document: DocumentId) -> Summarised | None:
        past = self._past.get(document)
        if not past:
            return None
        return Summarised(past[-1].summary, frozenset(hash_ for _, hash_ in past[-1].chunks))

    def below(self, prefix: str, collection: str) -> list[str]:
        uris = {uri for d in self._in(collection) for uri in (d.uri, *d.names)}
        return sorted(uri for uri in uris if uri.startswith(prefix))

    def within(self, uri: str, collection: str) -> list[Document]:
        ours = self._in(collection)
        return [d for d in ours if any(is_within(u, uri) for u in (d.uri, *d.names))]

    def _in(self, collection: str) -> list[Document]:
        return [d for d in self.documents(OWNER) if d.collection == collection]

    def documents(
        self, where: Where, *, after: DocumentId = 0, limit: int | None = None
    ) -> list[Document]:
        passing = [d for i, d in sorted(self._documents.items()) if i > after and matches(d, where)]
        return passing[:limit]
