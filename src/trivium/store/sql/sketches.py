"""Sketches of the active texts, and which documents have one that is worth comparing."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection, delete, select

from trivium.store.sql.conditions import visible
from trivium.store.sql.reader import RegistryReader
from trivium.store.sql.statements import insert_all, slices
from trivium.store.sql.tables import documents, interpretations, shingles
from trivium.text.nearness import keys, sketch
from trivium.types import DocumentId, Where


class Sketches(RegistryReader):
    def sketches(
        self, where: Where, like: Sequence[DocumentId] | None = None
    ) -> dict[DocumentId, bytes]:
        query = (
            select(interpretations.c.document, interpretations.c.sketch)
            .join(documents, interpretations.c.document == documents.c.id)
            .where(interpretations.c.state == "active", visible(where))
        )
        with self._engine.connect() as connection:
            if like is None:
                rows = connection.execute(query).all()
            else:
                near = _near(connection, like)
                rows = []
                for some in slices(sorted(near)):
                    rows += connection.execute(query.where(documents.c.id.in_(some))).all()
            found = {row.document: row.sketch for row in rows}
            for document in [d for d, held in found.items() if held is None]:
                found[document] = sketch(_text(connection, document))  # of an older library
        return found


def keep_shingles(connection: Connection, ids: Sequence[DocumentId]) -> None:
    """Bring the keys of these documents up to their active texts."""
    connection.execute(delete(shingles).where(shingles.c.document.in_(ids)))
    rows = connection.execute(
        select(interpretations.c.document, interpretations.c.sketch).where(
            interpretations.c.document.in_(ids), interpretations.c.state == "active"
        )
    )
    held = [
        {"hash": key, "document": row.document} for row in rows for key in keys(row.sketch or b"")
    ]
    insert_all(connection, shingles, held)


def _near(connection: Connection, ids: Sequence[DocumentId]) -> set[DocumentId]:
    """These, and all that share a key with one of them."""
    found = set(ids)
    for some in slices(ids):
        own = select(shingles.c.hash).where(shingles.c.document.in_(some))
        found |= set(
            connection.scalars(select(shingles.c.document).where(shingles.c.hash.in_(own)))
        )
    return found


def _text(connection: Connection, document: DocumentId) -> str:
    query = select(interpretations.c.text).where(
        interpretations.c.document == document, interpretations.c.state == "active"
    )
    return connection.scalar(query) or ""
