"""Reads the truth of a library: for people and searches, and for the indexes derived from it.

Every public method sees one consistent state. Knows nothing of which database it speaks to.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from sqlalchemy import Engine, Select, bindparam, func, inspect, select

from trivium.errors import LibraryTooNew
from trivium.store.sql.conditions import visible
from trivium.store.sql.migrations import SCHEMA
from trivium.store.sql.rows import chunk_of, document_of
from trivium.store.sql.statements import (
    MODEL_SETTINGS,
    NEXT_MODEL,
    NEXT_SETTINGS,
    active,
    setting,
    slices,
    vector_of,
)
from trivium.store.sql.tables import (
    chunks,
    collections,
    counters,
    documents,
    embeddings,
    fields,
    interpretations,
    removals,
    settings,
    token_vectors,
)
from trivium.types import (
    OWNER,
    ChunkId,
    Collection,
    Document,
    DocumentId,
    Label,
    Manifest,
    StoredChunk,
    TokenVectors,
    Where,
)

if TYPE_CHECKING:
    from trivium.types import Vector


@dataclass(frozen=True, slots=True)
class IndexedChunk:
    """What a search index needs to know of a chunk."""

    id: ChunkId
    document: DocumentId
    language: str
    text: str  # context and passage
    vector: Vector | None


@dataclass(frozen=True, slots=True)
class Changes:
    """What became visible, changed or vanished after some sequence number."""

    sequence: int
    documents: list[tuple[DocumentId, ChunkId, int, str]]  # id, first chunk, count, language
    removed: list[DocumentId]


class RegistryReader:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    # --- the library itself

    def schema(self) -> int:
        """0 for a database without a library."""
        with self._engine.connect() as connection:
            if not inspect(connection).has_table("settings"):
                return 0
            return int(setting(connection, "schema") or 0)

    def manifest(self) -> Manifest:
        with self._engine.connect() as connection:  # one statement, so one state
            held = {row.name: row.value for row in connection.execute(select(settings))}
        model, next_ = held.get("model", ""), held.get(NEXT_MODEL, "")
        return Manifest(
            schema=int(held.get("schema", 0)),
            model=model,
            dimensions=int(held.get("dimensions", 0)),
            settings=_told(held.get(MODEL_SETTINGS), model),
            next_model=next_,
            next_settings=_told(held.get(NEXT_SETTINGS), next_),
        )

    def setting(self, name: str) -> str | None:
        with self._engine.connect() as connection:
            return setting(connection, name)

    # --- reading

    def documents(
        self, where: Where, *, after: DocumentId = 0, limit: int | None = None
    ) -> list[Document]:
        query = select(documents).where(visible(where), documents.c.id > after)
        query = query.order_by(documents.c.id).limit(limit)
        with self._engine.connect() as connection:
            return [document_of(row) for row in connection.execute(query).mappings()]

    def chunker(self, collection: str) -> str:
        query = select(collections.c.chunker).where(collections.c.name == collection)
        with self._engine.connect() as connection:
            return connection.scalar(query) or ""

    def collections(self, where: Where) -> list[Collection]:
        name = documents.c.collection
        counted = select(name, func.count(), func.sum(documents.c.chunks)).where(visible(where))
        with self._engine.connect() as connection:
            given = {row.name: row.chunker for row in connection.execute(select(collections))}
            held = connection.execute(counted.group_by(name)).all()
        found = {row[0]: Collection(row[0], row[1], row[2], given.get(row[0], "")) for row in held}
        if where == OWNER:
            found = {n: Collection(n, 0, 0, chunker) for n, chunker in given.items()} | found
        return [found[n] for n in sorted(found)]

    def counts(self, label: Label, where: Where) -> dict[str, int]:
        column = documents.c["kind" if label == "type" else label]
        query = select(column, func.count()).where(visible(where)).group_by(column)
        with self._engine.connect() as connection:
            return {row[0]: row[1] for row in connection.execute(query)}

    def chunks(self, ids: Sequence[ChunkId], where: Where) -> list[StoredChunk]:
        found: dict[ChunkId, StoredChunk] = {}
        for some in slices(ids):
            found |= {c.id: c for c in self._chunks(_chunks_by_id(where), {"ids": some})}
        return [found[i] for i in ids if i in found]

    def _chunks(
        self, query: Select[Any], values: dict[str, Any] | None = None
    ) -> list[StoredChunk]:
        with self._engine.connect() as connection:
            rows = connection.execute(query, values or {}).mappings().all()
        found: dict[DocumentId, Document] = {}
        for row in rows:
            if row["document"] not in found:
                found[row["document"]] = document_of(row, "document_")
        return [StoredChunk(row["id"], found[row["document"]], chunk_of(row)) for row in rows]

    def embeddings(self, model: str, hashes: Sequence[str], sender: str = "") -> dict[str, Vector]:
        found: dict[str, Vector] = {}
        with self._engine.connect() as connection:
            for some in slices(hashes):
                query = select(embeddings.c.hash, embeddings.c.vector).where(
                    embeddings.c.model == model, embeddings.c.hash.in_(some)
                )
                if sender:
                    own = (
                        select(chunks.c.embedding)
                        .join(documents, chunks.c.document == documents.c.id)
                        .where(chunks.c.embedding.in_(some), documents.c.sender == sender)
                    )
                    query = query.where(embeddings.c.hash.in_(own))
                found |= {row.hash: vector_of(row.vector) for row in connection.execute(query)}
        return found

    def summary(self, content_hash: str, summariser: str, sender: str = "") -> str | None:
        of = interpretations.c
        query = select(of.summary).where(
            of.content_hash == content_hash, of.summarised_by == summariser
        )
        if sender:
            query = query.join(documents, of.document == documents.c.id)
            query = query.where(documents.c.sender == sender)
        with self._engine.connect() as connection:
            return connection.scalar(query.order_by(of.id.desc()).limit(1))

    def vectors(self, ids: Sequence[ChunkId], where: Where) -> dict[ChunkId, Vector]:
        found: dict[ChunkId, Vector] = {}
        with self._engine.connect() as connection:
            model = setting(connection, "model") or ""
            query = (
                select(chunks.c.id, embeddings.c.vector)
                .join(documents, chunks.c.document == documents.c.id)
                .join(embeddings, embeddings.c.hash == chunks.c.embedding)
                .where(active, visible(where), embeddings.c.model == model)
                .where(chunks.c.id.in_(bindparam("ids", expanding=True)))
            )
            for some in slices(ids):
                rows = connection.execute(query, {"ids": some})
                found |= {row.id: vector_of(row.vector) for row in rows}
        return found

    def field_names(self, where: Where) -> frozenset[str]:
        query = (
            select(fields.c.name)
            .join(documents, fields.c.document == documents.c.id)
            .where(visible(where))
            .distinct()
        )
        with self._engine.connect() as connection:
            return frozenset(connection.scalars(query))

    def token_vectors(
        self, ids: Sequence[ChunkId], where: Where, model: str
    ) -> dict[ChunkId, TokenVectors]:
        found: dict[ChunkId, TokenVectors] = {}
        with self._engine.connect() as connection:
            for some in slices(ids):
                rows = connection.execute(_tokens_by_id(where), {"ids": some, "model": model})
                found |= {row.id: row.vectors for row in rows}
        return found

    # --- for search indexes

    def sequence(self) -> int:
        # Every search asks: as plain SQL it takes a third of the .2 ms that a built query takes.
        with self._engine.connect() as connection:
            return int(connection.exec_driver_sql(_SEQUENCE).scalar() or 0)

    def changes(self, since: int) -> Changes:
        """Bounded above by the sequence read first, so that a later change is seen as a whole next
        time and never in part now."""
        columns = (documents.c.id, documents.c.first_chunk, documents.c.chunks)
        with self._engine.connect() as connection:
            sequence = select(counters.c.value).where(counters.c.name == "sequence")
            upto = int(connection.scalar(sequence) or 0)
            changed = connection.execute(
                select(*columns, documents.c.language).where(
                    documents.c.changed > since, documents.c.changed <= upto, visible(OWNER)
                )
            ).all()
            removed = connection.scalars(
                select(removals.c.document).where(
                    removals.c.changed > since, removals.c.changed <= upto
                )
            ).all()
        return Changes(upto, [tuple(row) for row in changed], list(removed))

    def passing(self, where: Where, since: int) -> list[DocumentId]:
        """The documents changed after `since` that pass `where`."""
        query = select(documents.c.id).where(documents.c.changed > since, visible(where))
        with self._engine.connect() as connection:
            return list(connection.scalars(query))

    def last_chunk(self) -> ChunkId:
        """The highest id that was ever given to a chunk."""
        query = select(counters.c.value).where(counters.c.name == "chunk")
        with self._engine.connect() as connection:
            return int(connection.scalar(query) or 0)

    def indexed_chunks(self, after: ChunkId, size: int) -> Iterator[list[IndexedChunk]]:
        """Every active chunk with an id above `after`, in order, a batch at a time."""
        model = self.manifest().model
        while True:
            query = (
                select(chunks, documents.c.language, embeddings.c.vector)
                .join(documents, chunks.c.document == documents.c.id)
                .join(
                    embeddings,
                    (embeddings.c.hash == chunks.c.embedding) & (embeddings.c.model == model),
                    isouter=True,
                )
                .where(chunks.c.id > after, active)
                .order_by(chunks.c.id)
                .limit(size)
            )
            with self._engine.connect() as connection:
                rows = connection.execute(query).mappings().all()
            if not rows:
                return
            yield [_indexed(row) for row in rows]
            after = rows[-1]["id"]

    def lacking(self, model: str, some: Sequence[DocumentId]) -> set[DocumentId]:
        """Those of the documents that have an active chunk without a vector."""
        known = select(embeddings.c.hash).where(embeddings.c.model == model)
        found: set[DocumentId] = set()
        for part in slices(some):
            query = (
                select(chunks.c.document)
                .join(documents, chunks.c.document == documents.c.id)
                .where(active, documents.c.id.in_(part), chunks.c.embedding.not_in(known))
            )
            with self._engine.connect() as connection:
                found |= set(connection.scalars(query.distinct()))
        return found

    def embedded(self, model: str) -> int:
        """How many active chunks have a vector."""
        query = (
            select(func.count())
            .select_from(chunks)
            .join(documents, chunks.c.document == documents.c.id)
            .join(embeddings, embeddings.c.hash == chunks.c.embedding)
            .where(active, embeddings.c.model == model)
        )
        with self._engine.connect() as connection:
            return connection.scalar(query) or 0


_SEQUENCE = "SELECT value FROM counters WHERE name = 'sequence'"


@lru_cache(maxsize=256)  # building the query takes as long as running it
def _chunks_by_id(where: Where) -> Select[Any]:
    return _visible_chunks(where).where(chunks.c.id.in_(bindparam("ids", expanding=True)))


@lru_cache(maxsize=256)
def _tokens_by_id(where: Where) -> Select[Any]:
    return (
        select(chunks.c.id, token_vectors.c.vectors)
        .join(documents, chunks.c.document == documents.c.id)
        .join(token_vectors, token_vectors.c.hash == chunks.c.embedding)
        .where(token_vectors.c.model == bindparam("model"), active, visible(where))
        .where(chunks.c.id.in_(bindparam("ids", expanding=True)))
    )


def _visible_chunks(where: Where) -> Select[Any]:
    return chunks_with_documents().where(active, visible(where))


def chunks_with_documents() -> Select[Any]:
    held = [c.label(f"document_{c.name}") for c in documents.c]
    joined = select(chunks, *held).join(documents, chunks.c.document == documents.c.id)
    return joined.order_by(chunks.c.id)


def _told(described: str | None, model: str) -> dict[str, str]:
    """How to load this model, where that is what was described."""
    held = json.loads(described) if described else {}
    return dict(held["settings"]) if held.get("model") == model else {}


def check_schema(found: int) -> None:
    if found > SCHEMA:
        raise LibraryTooNew(
            f"This library has format {found}; this version of Trivium reads up to {SCHEMA}."
        )


def _indexed(row: Any) -> IndexedChunk:
    chunk = chunk_of(row)
    vector = None if row["vector"] is None else vector_of(row["vector"])
    return IndexedChunk(row["id"], row["document"], row["language"], searched_text(chunk), vector)


def searched_text(chunk: Any) -> str:
    """What the keyword and trigram signals look at: the headings above a passage count too."""
    return f"{chunk.context}\n{chunk.text}"
