"""The truth of a library in SQL: documents, interpretations, chunks and vectors.

Every public method is one transaction. A new interpretation is written in two: `stage` keeps it
unseen, `activate` switches to it and hides the one before; between them the caller brings its
search indexes up to date, so that search never sees a gap. Knows nothing of those indexes except
the `leftovers` they have yet to drop, and nothing of which database it speaks to.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, Table, delete, func, select, tuple_, update

from trivium.store.clock import now
from trivium.store.sql.conversations import forget_turns_of
from trivium.store.sql.migrations import MIGRATIONS
from trivium.store.sql.reader import IndexedChunk, RegistryReader, check_schema, searched_text
from trivium.store.sql.rows import (
    chunk_values,
    document_of,
    document_values,
    field_values,
    metadata_values,
)
from trivium.store.sql.statements import (
    EMBEDDED_UPTO,
    insert_all,
    set_setting,
    setting,
    slices,
    take,
    vector_bytes,
)
from trivium.store.sql.tables import (
    chunks,
    collections,
    documents,
    embeddings,
    fields,
    interpretations,
    leftovers,
    removals,
    token_vectors,
)
from trivium.types import ChunkId, Document, DocumentId, Metadata, Processed

if TYPE_CHECKING:
    from trivium.types import Vector


@dataclass(frozen=True, slots=True)
class Staged:
    """An interpretation that is written but not yet active, and the chunks it will hide."""

    document: DocumentId
    number: int
    first_chunk: ChunkId
    values: Mapping[str, Any]  # what activation sets on the document's row
    hides: tuple[ChunkId, int] | None  # first chunk and count of the interpretation before
    metadata: Metadata
    embedded_upto: ChunkId  # its last chunk, or 0 if it has no vectors


class Registry(RegistryReader):
    # --- the library itself

    def migrate(self) -> None:
        found = self.schema()
        check_schema(found)
        for number, step in enumerate(MIGRATIONS[found:], start=found + 1):
            with self._engine.begin() as connection:
                step(connection)
                set_setting(connection, "schema", str(number))

    def set(self, name: str, value: str) -> None:
        with self._engine.begin() as connection:
            set_setting(connection, name, value)

    # --- writing

    def set_chunker(self, collection: str, chunker: str) -> None:
        ours = collections.c.name == collection
        with self._engine.begin() as connection:
            connection.execute(delete(collections).where(ours))
            insert_all(connection, collections, [{"name": collection, "chunker": chunker}])

    def stage(self, batch: Sequence[Processed], model: str) -> list[Staged]:
        """Write interpretations that nobody sees yet. One document at most once in a batch."""
        with self._engine.begin() as connection:
            before = _known(connection, [(p.collection, p.uri) for p in batch])
            numbers = _last_numbers(connection, [row["id"] for row in before.values()])
            fresh = sum((p.collection, p.uri) not in before for p in batch)
            document_ids = iter(take(connection, "document", fresh))
            interpretation_ids = take(connection, "interpretation", len(batch))
            next_chunk = take(connection, "chunk", sum(len(p.chunks) for p in batch)).start
            staged: list[Staged] = []
            new_documents, new_interpretations, new_chunks = [], [], []
            for processed, interpretation in zip(batch, interpretation_ids, strict=True):
                row = before.get((processed.collection, processed.uri))
                values = document_values(processed) | {
                    "added_at": row["added_at"] if row else now(),
                    "updated_at": now(),
                    "first_chunk": next_chunk,
                }
                document = row["id"] if row else next(document_ids)
                number = numbers.get(document, 0) + 1
                if row is None:
                    new_documents.append(
                        values | {"id": document, "interpretation": 0, "changed": 0}
                    )
                new_interpretations.append(
                    _interpretation_values(processed, interpretation, document, number, next_chunk)
                )
                new_chunks += [
                    chunk_values(chunk, embedded)
                    | {"id": id_, "interpretation": interpretation, "document": document}
                    for id_, (chunk, embedded) in enumerate(
                        zip(processed.chunks, processed.hashes, strict=True), start=next_chunk
                    )
                ]
                hides = None
                if row and row["interpretation"]:
                    hides = (row["first_chunk"], row["chunks"])
                first_chunk, next_chunk = next_chunk, next_chunk + len(processed.chunks)
                upto = 0 if processed.vectors is None else next_chunk - 1
                staged.append(
                    Staged(document, number, first_chunk, values, hides, processed.metadata, upto)
                )
            insert_all(connection, documents, new_documents)
            insert_all(connection, interpretations, new_interpretations)
            insert_all(connection, chunks, new_chunks)
            insert_all(connection, leftovers, [_range(s.first_chunk, s.values) for s in staged])
            _keep_vectors(connection, batch, model)
            _keep_tokens(connection, batch, model)
        return staged

    def activate(self, staged: Sequence[Staged]) -> list[Document]:
        """Switch to the staged interpretations: the one instant in which search changes."""
        with self._engine.begin() as connection:
            sequence = take(connection, "sequence", 1).start
            for one in staged:
                ours = documents.c.id == one.document
                connection.execute(
                    update(documents)
                    .where(ours)
                    .values(**one.values, interpretation=one.number, changed=sequence)
                )
            ids = [one.document for one in staged]
            mine = interpretations.c.document.in_(ids)
            state = interpretations.c.state
            for old, new in (("active", "retired"), ("staged", "active")):
                connection.execute(
                    update(interpretations).where(mine, state == old).values(state=new)
                )
            connection.execute(delete(fields).where(fields.c.document.in_(ids)))
            held = [row for s in staged for row in field_values(s.document, s.metadata)]
            insert_all(connection, fields, held)
            firsts = [one.first_chunk for one in staged]
            connection.execute(delete(leftovers).where(leftovers.c.first_chunk.in_(firsts)))
            hidden = [{"first_chunk": s.hides[0], "chunks": s.hides[1]} for s in staged if s.hides]
            insert_all(connection, leftovers, [row for row in hidden if row["chunks"]])
            embedded = [one.embedded_upto for one in staged if one.embedded_upto]
            if embedded:
                set_setting(connection, EMBEDDED_UPTO, str(max(embedded)))
            rows = connection.execute(select(documents).where(documents.c.id.in_(ids))).mappings()
            by_id = {row["id"]: document_of(row) for row in rows}
        return [by_id[i] for i in ids]

    def discard_staged(self) -> None:
        """Forget what a writer that died had staged. Its leftovers stay until indexes drop them."""
        with self._engine.begin() as connection:
            connection.execute(delete(interpretations).where(interpretations.c.state == "staged"))
            connection.execute(delete(documents).where(documents.c.interpretation == 0))

    def relabel(
        self, document: DocumentId, *, category: str, audience: str, metadata: Metadata
    ) -> None:
        with self._engine.begin() as connection:
            connection.execute(
                update(documents)
                .where(documents.c.id == document)
                .values(
                    category=category,
                    audience=audience,
                    metadata=metadata_values(metadata),
                    changed=take(connection, "sequence", 1).start,
                )
            )
            connection.execute(delete(fields).where(fields.c.document == document))
            insert_all(connection, fields, field_values(document, metadata))

    def remove(self, ids: Iterable[DocumentId]) -> int:
        wanted = sorted(set(ids))
        with self._engine.begin() as connection:
            found = connection.execute(
                select(documents.c.id, documents.c.first_chunk, documents.c.chunks).where(
                    documents.c.id.in_(wanted)
                )
            ).all()
            if not found:
                return 0
            gone = [row.id for row in found]
            hashes = select(chunks.c.embedding).where(chunks.c.document.in_(gone)).distinct()
            orphans = list(connection.scalars(hashes))
            connection.execute(delete(documents).where(documents.c.id.in_(gone)))
            forget_turns_of(connection, gone)
            for some in slices(orphans):
                kept = select(chunks.c.embedding).where(chunks.c.embedding.in_(some))
                for table in (embeddings, token_vectors):
                    unused = table.c.hash.in_(some) & table.c.hash.not_in(kept)
                    connection.execute(delete(table).where(unused))
            sequence = take(connection, "sequence", 1).start
            insert_all(connection, removals, [{"document": i, "changed": sequence} for i in gone])
            ranges = [{"first_chunk": r.first_chunk, "chunks": r.chunks} for r in found if r.chunks]
            insert_all(connection, leftovers, ranges)
        return len(gone)

    def leftovers(self) -> list[tuple[ChunkId, int]]:
        with self._engine.connect() as connection:
            return [(row.first_chunk, row.chunks) for row in connection.execute(select(leftovers))]

    def clear_leftovers(self, ranges: Iterable[tuple[ChunkId, int]]) -> None:
        with self._engine.begin() as connection:
            for some in slices([first for first, _ in ranges]):
                connection.execute(delete(leftovers).where(leftovers.c.first_chunk.in_(some)))

    def keep_vectors(self, model: str, vectors: Mapping[str, Vector]) -> None:
        with self._engine.begin() as connection:
            _keep(connection, model, vectors)


def _interpretation_values(
    processed: Processed, id_: int, document: DocumentId, number: int, first_chunk: ChunkId
) -> dict[str, Any]:
    return {
        "id": id_,
        "document": document,
        "number": number,
        "state": "staged",
        "fingerprint": processed.fingerprint,
        "content_hash": processed.content_hash,
        "title": processed.extraction.title,
        "language": processed.extraction.language,
        "text": processed.extraction.text,
        "first_chunk": first_chunk,
        "chunks": len(processed.chunks),
        "created_at": now(),
        "summary": processed.summary,
    }


def _range(first_chunk: ChunkId, values: Mapping[str, Any]) -> dict[str, int]:
    return {"first_chunk": first_chunk, "chunks": values["chunks"]}


def _known(connection: Connection, keys: list[tuple[str, str]]) -> dict[tuple[str, str], Any]:
    found = {}
    for some in slices(keys):
        query = select(documents).where(tuple_(documents.c.collection, documents.c.uri).in_(some))
        for row in connection.execute(query).mappings():
            found[row["collection"], row["uri"]] = row
    return found


def _last_numbers(connection: Connection, ids: list[DocumentId]) -> dict[DocumentId, int]:
    of, last = interpretations.c.document, func.max(interpretations.c.number)
    rows = connection.execute(select(of, last).where(of.in_(ids)).group_by(of))
    return {row[0]: row[1] for row in rows}


def _keep_vectors(connection: Connection, batch: Sequence[Processed], model: str) -> None:
    found = {
        embedded: vector
        for processed in batch
        if processed.vectors is not None
        for embedded, vector in zip(processed.hashes, processed.vectors, strict=True)
    }
    if found:
        _keep(connection, model, found)


def _keep_tokens(connection: Connection, batch: Sequence[Processed], model: str) -> None:
    given = {hash_: packed for processed in batch for hash_, packed in processed.tokens.items()}
    have = _present(connection, token_vectors, model, list(given))
    rows = [{"model": model, "hash": h, "vectors": p} for h, p in given.items() if h not in have]
    insert_all(connection, token_vectors, rows)


def _present(connection: Connection, table: Table, model: str, hashes: list[str]) -> set[str]:
    present: set[str] = set()
    for some in slices(hashes):
        query = select(table.c.hash).where(table.c.model == model, table.c.hash.in_(some))
        present |= set(connection.scalars(query))
    return present


def _keep(connection: Connection, model: str, vectors: Mapping[str, Vector]) -> None:
    have = _present(connection, embeddings, model, list(vectors))
    rows = [
        {"model": model, "hash": h, "vector": vector_bytes(v)}
        for h, v in vectors.items()
        if h not in have
    ]
    insert_all(connection, embeddings, rows)
    if not setting(connection, "model"):
        set_setting(connection, "model", model)
        set_setting(connection, "dimensions", str(len(next(iter(vectors.values())))))


def to_index(batch: Sequence[Processed], staged: Sequence[Staged]) -> Iterator[IndexedChunk]:
    """The chunks of a staged batch as search indexes need them."""
    for processed, one in zip(batch, staged, strict=True):
        for at, chunk in enumerate(processed.chunks):
            yield IndexedChunk(
                one.first_chunk + at,
                one.document,
                processed.extraction.language,
                searched_text(chunk),
                None if processed.vectors is None else processed.vectors[at],
            )
