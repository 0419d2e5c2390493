"""How documents leave the registry: in one place, with everything that hangs on them.

Rows go by cascade (interpretations, chunks, metadata, names), and what was said in conversations
on the ground of a document goes with it. Vectors that no chunk uses any more are freed here, and
the originals that nothing refers to any more come back to be deleted.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, delete, select

from trivium.store.sql.conversations import forget_turns_of
from trivium.store.sql.jobs import forget_documents
from trivium.store.sql.reader import RegistryReader
from trivium.store.sql.statements import insert_all, slices, take
from trivium.store.sql.tables import chunks, documents, interpretations, leftovers, removals
from trivium.store.sql.vectors import free_vectors
from trivium.types import ChunkId, DocumentId


@dataclass(frozen=True, slots=True)
class Gone:
    """How many were removed, and the addresses of originals that nothing refers to any more."""

    count: int = 0
    originals: tuple[str, ...] = ()


class Removal(RegistryReader):
    def remove(self, ids: Iterable[DocumentId]) -> Gone:
        wanted = sorted(set(ids))
        with self._engine.begin() as connection:
            found: list[Any] = []
            for some in slices(wanted):
                query = select(
                    documents.c.id, documents.c.uri, documents.c.first_chunk, documents.c.chunks
                )
                found += connection.execute(query.where(documents.c.id.in_(some))).all()
            if not found:
                return Gone()
            gone = [row.id for row in found]
            hashes: set[str] = set()
            addresses: set[str] = set()
            for some in slices(gone):
                of = interpretations.c.document.in_(some)
                theirs = chunks.c.interpretation.in_(select(interpretations.c.id).where(of))
                held = select(chunks.c.embedding).where(theirs)
                hashes |= set(connection.scalars(held.distinct()))
                kept = select(interpretations.c.original).where(of)
                addresses |= set(connection.scalars(kept.distinct()))
                connection.execute(delete(documents).where(documents.c.id.in_(some)))
            forget_turns_of(connection, gone)
            free_vectors(connection, sorted(hashes))
            forget_documents(connection, gone, [row.uri for row in found])
            sequence = take(connection, "sequence", 1).start
            insert_all(connection, removals, [{"document": i, "changed": sequence} for i in gone])
            ranges = [{"first_chunk": r.first_chunk, "chunks": r.chunks} for r in found if r.chunks]
            insert_all(connection, leftovers, ranges)
            return Gone(len(gone), unused_originals(connection, sorted(addresses)))

    def leftovers(self) -> list[tuple[ChunkId, int]]:
        with self._engine.connect() as connection:
            return [(row.first_chunk, row.chunks) for row in connection.execute(select(leftovers))]

    def clear_leftovers(self, ranges: Iterable[tuple[ChunkId, int]]) -> None:
        with self._engine.begin() as connection:
            for some in slices([first for first, _ in ranges]):
                connection.execute(delete(leftovers).where(leftovers.c.first_chunk.in_(some)))


def unused_originals(connection: Connection, addresses: Sequence[str]) -> tuple[str, ...]:
    """Those of the addresses that no interpretation refers to."""
    used: set[str] = set()
    for some in slices(addresses):
        query = select(interpretations.c.original).where(interpretations.c.original.in_(some))
        used |= set(connection.scalars(query.distinct()))
    return tuple(address for address in addresses if address and address not in used)
