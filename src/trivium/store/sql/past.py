"""The past of documents: every interpretation listed, read, made active again, or pruned."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import ColumnElement, Connection, RowMapping, delete, func, select

from trivium.errors import DocumentNotFound
from trivium.history import Interpretation
from trivium.store.identity import restored_label
from trivium.store.sql.checksums import CHECKSUM, changed_checksum
from trivium.store.sql.conditions import label_held, visible, visible_then
from trivium.store.sql.reader import (
    IndexedChunk,
    RegistryReader,
    chunks_with_documents,
    searched_text,
)
from trivium.store.sql.removal import Gone, unused_originals
from trivium.store.sql.rows import chunk_of, interpretation_of, metadata_of
from trivium.store.sql.staging import Staged, interpretation_keys
from trivium.store.sql.statements import insert_all, setting, slices, take, vector_of
from trivium.store.sql.tables import chunks, documents, embeddings, interpretations, leftovers
from trivium.store.sql.vectors import free_vectors
from trivium.store.where import kind_of
from trivium.types import DocumentId, StoredChunk, Where

if TYPE_CHECKING:
    from trivium.types import Vector

# What a document shows of its active interpretation. Its category stays, and its audience unless
# that would show the older text to more people than before (`restored_label`).
_SHOWN = (
    "title", "media_type", "language", "content_hash", "size", "fingerprint", "chunks", "metadata",
    "original", "first_chunk", "audience",
)  # fmt: skip
_kept = interpretations.c.state.in_(("active", "retired"))


class Past(RegistryReader):
    def history(self, document: DocumentId, where: Where) -> list[Interpretation]:
        # Everything but the text, which may be long.
        columns = [c for c in interpretations.c if c.name not in ("text", "summary")]
        query = (
            select(*columns)
            .join(documents, interpretations.c.document == documents.c.id)
            .where(documents.c.id == document, _kept, visible_then(where))
            .order_by(interpretations.c.number)
        )
        with self._engine.connect() as connection:
            rows = connection.execute(query).mappings()
            return [interpretation_of(row).seen_by(where) for row in rows]

    def text(
        self, document: DocumentId, where: Where, interpretation: int | None = None
    ) -> str | None:
        query = (
            select(interpretations.c.text)
            .join(documents, interpretations.c.document == documents.c.id)
            .where(documents.c.id == document, _numbered(interpretation), visible_then(where))
        )
        with self._engine.connect() as connection:
            return connection.scalar(query)

    def passages(
        self, document: DocumentId, where: Where, interpretation: int | None = None
    ) -> list[StoredChunk]:
        query = (
            chunks_with_documents()
            .join(interpretations, chunks.c.interpretation == interpretations.c.id)
            .where(documents.c.id == document, _numbered(interpretation), visible_then(where))
        )
        return self._chunks(query)

    def stage_restored(self, document: DocumentId, number: int) -> Staged:
        """Write a new interpretation with the rows of an old one, unseen until activated."""
        with self._engine.begin() as connection:
            old = _interpretation(connection, document, number)
            rows = connection.execute(
                select(chunks)
                .where(chunks.c.interpretation == old["id"])
                .order_by(chunks.c.position)
            ).mappings()
            first_chunk = take(connection, "chunk", old["chunks"]).start
            id_ = take(connection, "interpretation", 1).start
            last = select(func.max(interpretations.c.number))
            highest = connection.scalar(last.where(interpretations.c.document == document)) or 0
            keys = interpretation_keys(id_, document, highest + 1, first_chunk)
            today = select(documents.c.audience).where(documents.c.id == document)
            label = restored_label(connection.scalar(today) or "", old["audience"])
            new = {**old, **keys, "restored_from": number, "timings": {}, "audience": label}
            new[CHECKSUM] = changed_checksum(interpretations, old, new)
            insert_all(connection, interpretations, [new])
            copies = [
                {**row, "id": at, "interpretation": id_}
                for at, row in enumerate(rows, start=first_chunk)
            ]
            insert_all(connection, chunks, copies)
            indexed = tuple(_to_index(connection, document, old["language"], copies))
            if indexed:
                ours = {"first_chunk": first_chunk, "chunks": len(indexed)}
                insert_all(connection, leftovers, [ours])
        values = {name: new[name] for name in _SHOWN}
        values |= {"kind": kind_of(old["media_type"]), "updated_at": keys["created_at"]}
        metadata = metadata_of(old["metadata"])
        return Staged(document, keys["number"], first_chunk, values, metadata, indexed)

    def prune(self, where: Where, *, keep: int = 1, before: str = "") -> Gone:
        """Drop retired interpretations, and what only they used."""
        rank = func.row_number().over(
            partition_by=interpretations.c.document, order_by=interpretations.c.number.desc()
        )
        ranked = (
            select(
                interpretations.c.id,
                interpretations.c.state,
                interpretations.c.retired_at,
                interpretations.c.audience,
                rank.label("rank"),
            )
            .join(documents, interpretations.c.document == documents.c.id)
            .where(_kept, visible(where))
            .subquery()
        )
        query = select(ranked.c.id).where(
            ranked.c.state == "retired", ranked.c.rank > keep, label_held(ranked.c.audience, where)
        )
        if before:
            query = query.where(ranked.c.retired_at < before)
        with self._engine.begin() as connection:
            ids = list(connection.scalars(query))
            hashes: set[str] = set()
            addresses: set[str] = set()
            for some in slices(ids):
                held = select(chunks.c.embedding).where(chunks.c.interpretation.in_(some))
                hashes |= set(connection.scalars(held.distinct()))
                these = interpretations.c.id.in_(some)
                addresses |= set(
                    connection.scalars(select(interpretations.c.original).where(these))
                )
                connection.execute(delete(interpretations).where(these))
            free_vectors(connection, sorted(hashes))
            return Gone(len(ids), unused_originals(connection, sorted(addresses)))


def _numbered(number: int | None) -> ColumnElement[bool]:
    if number is None:
        return interpretations.c.state == "active"
    return _kept & (interpretations.c.number == number)


def _interpretation(connection: Connection, document: DocumentId, number: int) -> RowMapping:
    query = select(interpretations).where(interpretations.c.document == document, _numbered(number))
    row = connection.execute(query).mappings().first()
    if row is None:
        raise DocumentNotFound(
            f"Document #{document} has no interpretation {number}.",
            fix=f"`trivium history {document}` lists those it has.",
            on_page="Its history lists those it has.",
        )
    return row


def _to_index(
    connection: Connection, document: DocumentId, language: str, rows: list[dict[str, Any]]
) -> list[IndexedChunk]:
    model = setting(connection, "model") or ""
    vectors: dict[str, Vector] = {}
    for some in slices([row["embedding"] for row in rows]):
        query = select(embeddings).where(embeddings.c.model == model, embeddings.c.hash.in_(some))
        vectors |= {row.hash: vector_of(row.vector) for row in connection.execute(query)}
    found = [(row["id"], chunk_of(row), vectors.get(row["embedding"])) for row in rows]
    return [
        IndexedChunk(id_, document, language, searched_text(chunk), vector)
        for id_, chunk, vector in found
    ]
