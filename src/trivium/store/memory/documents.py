"""The reference's documents, as they are read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from trivium.core.history import Interpretation
from trivium.core.types import (
    OWNER,
    ChunkId,
    Collection,
    Document,
    DocumentId,
    Label,
    Neighbours,
    Place,
    StoredChunk,
    Where,
)
from trivium.ports import Summarised, Usage
from trivium.store.identity import is_within
from trivium.store.memory.held import Held, Kept
from trivium.store.neighbours import neighbours
from trivium.store.where import holds_label, kind_of, matches
from trivium.text.nearness import may_be_near, sketch


class MemoryDocuments:
    def __init__(self, held: Held) -> None:
        self._held = held
        self._numbered: dict[DocumentId, tuple[int, Document]] = {}
        self._last = 0

    def all(
        self,
        where: Where,
        *,
        after: DocumentId = 0,
        limit: int | None = None,
        listed: bool = False,
    ) -> list[Document]:
        passing = [
            d
            for i, d in sorted(self._held.documents.items())
            if i > after
            and (d.chunks or not listed)
            and matches(d, where, partial(self._places, i))
        ]
        return passing[:limit]

    def changed(self, since: int, where: Where) -> tuple[int, list[tuple[int, Document]]]:
        """Numbered when someone looks: nothing else happens meanwhile."""
        for id_, document in self._held.documents.items():
            if self._numbered.get(id_, (0, None))[1] != document:
                self._last += 1
                self._numbered[id_] = self._last, document
        seen = {document.id for document in self.all(where)}
        fresh = [self._numbered[id_] for id_ in seen if self._numbered[id_][0] > since]
        return self._last, sorted(fresh, key=lambda one: one[0])

    def find(self, uri: str, collection: str) -> Document | None:
        return self.find_all([uri], collection).get(uri)

    def find_all(self, uris: Sequence[str], collection: str) -> dict[str, Document]:
        ours = self._in(collection)
        return {uri: d for d in ours for uri in (d.uri, *d.names) if uri in uris}

    def alike(self, hashes: Sequence[str], collection: str) -> list[Document]:
        return [d for d in self._in(collection) if d.seen_hash in hashes]

    def below(
        self, prefix: str, collection: str, *, since: str = "", before: str = ""
    ) -> list[str]:
        uris = {uri for d in self._in(collection) for uri in (d.uri, *d.names)}
        found = (uri for uri in uris if uri.startswith(prefix) and uri >= since)
        return sorted(uri for uri in found if not before or uri < before)

    def within(self, uri: str, collection: str) -> list[Document]:
        ours = self._in(collection)
        return [d for d in ours if any(is_within(u, uri) for u in (d.uri, *d.names))]

    def _in(self, collection: str) -> list[Document]:
        return [d for d in self.all(OWNER) if d.collection == collection]

    def collections(self, where: Where) -> list[Collection]:
        held = self.all(where, listed=True)
        names = {d.collection for d in held} | (
            set(self._held.chunkers) if where == OWNER else set()
        )
        found = []
        for name in sorted(names):
            own = [d.chunks for d in held if d.collection == name]
            found.append(Collection(name, len(own), sum(own), self.chunker(name)))
        return found

    def usage(self, *, sender: str | None = None, collection: str | None = None) -> list[Usage]:
        held: dict[tuple[str, str], list[int]] = {}
        for one in self.all(OWNER):
            if sender in (None, one.sender) and collection in (None, one.collection):
                held.setdefault((one.sender, one.collection), []).append(one.size)
        return [Usage(*of, len(sizes), sum(sizes)) for of, sizes in sorted(held.items())]

    def chunker(self, collection: str) -> str:
        return self._held.chunkers.get(collection, "")

    def counts(self, label: Label, where: Where) -> dict[str, int]:
        held = self.all(where, listed=True)
        if label == "type":
            return Counter(kind_of(document.media_type) for document in held)
        return Counter(getattr(document, label) for document in held)

    def field_names(self, where: Where) -> frozenset[str]:
        return frozenset(name for d in self.all(where) for name in d.metadata)

    def sketches(
        self, where: Where, like: Sequence[DocumentId] | None = None
    ) -> Mapping[DocumentId, bytes]:
        found = {d.id: self._sketch(d.id) for d in self.all(where)}
        if like is None:
            return found
        own = [self._sketch(d) for d in like if d in self._held.past]
        return {d: s for d, s in found.items() if any(may_be_near(o, s) for o in own) or d in like}

    def _sketch(self, document: DocumentId) -> bytes:
        return sketch(self._held.past[document][-1].text)

    def summary(self, content_hash: str, summariser: str, sender: str = "") -> str | None:
        said = [
            summary
            for (hash_, by, of), summary in self._held.summaries.items()
            if (hash_, by) == (content_hash, summariser) and sender in ("", of)
        ]
        return said[-1] if said else None

    def summarised(self, document: DocumentId) -> Summarised | None:
        past = self._held.past.get(document)
        if not past:
            return None
        return Summarised(past[-1].summary, frozenset(hash_ for _, hash_ in past[-1].chunks))

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
            StoredChunk(found.first_chunk + at, self._held.documents[document], chunk)
            for at, (chunk, _) in enumerate(found.chunks if found else ())
            if found
        ]

    def _places(self, document: DocumentId) -> Iterator[Place]:
        return (e.chunk.place for e in self._held.entries.values() if e.document == document)

    def _one(self, document: DocumentId, where: Where, number: int | None) -> Kept | None:
        past = self._visible_past(document, where)
        wanted = [k for k in past if k.about.number == number or (k.about.active and not number)]
        return wanted[0] if wanted else None

    def _visible_past(self, document: DocumentId, where: Where) -> list[Kept]:
        known = self._held.documents.get(document)
        if known is None or not matches(known, where, partial(self._places, document)):
            return []
        return [one for one in self._held.past[document] if holds_label(one.about.audience, where)]

    def chunks(self, ids: Sequence[ChunkId], where: Where) -> list[StoredChunk]:
        found = []
        for chunk_id in ids:
            entry = self._held.entries.get(chunk_id)
            if entry and self._held.passes(entry, where):
                found.append(
                    StoredChunk(chunk_id, self._held.documents[entry.document], entry.chunk)
                )
        return found

    def around(
        self, ids: Sequence[ChunkId], before: int, after: int, where: Where
    ) -> dict[ChunkId, Neighbours]:
        return neighbours(ids, before, after, lambda wanted: self.chunks(wanted, where))

    def beside(self, document: Document, prefix: str, most: int, where: Where) -> Neighbours:
        near = [
            d
            for d in self._in(document.collection)
            if d.uri.startswith(prefix) and d.media_type == document.media_type
        ]
        ids = {d.id: [i for i, e in self._held.entries.items() if e.document == d.id] for d in near}
        before, after = (
            self.chunks([i for d in some for i in sorted(ids[d.id])], where)
            for some in (
                sorted((d for d in near if d.uri < document.uri), key=lambda d: d.uri),
                sorted((d for d in near if d.uri > document.uri), key=lambda d: d.uri),
            )
        )
        return Neighbours(tuple(before[-most:] if most else ()), tuple(after[:most]))
