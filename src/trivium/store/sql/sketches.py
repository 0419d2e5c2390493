"""Sketches of the active texts, and which documents have one that is worth comparing."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import ColumnElement, Connection, delete, func, select, true

from trivium.store.sql.conditions import visible
from trivium.store.sql.reader import RegistryReader
from trivium.store.sql.statements import insert_all, slices
from trivium.store.sql.tables import documents, interpretations, shingles
from trivium.text.nearness import ENOUGH_KEYS, MOST_OF_A_KEY, keys, sketch
from trivium.types import OWNER, DocumentId, Where

_LAST = 2**63 - 1  # no document has a higher id


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
                near = _near(connection, like, where)
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


def _near(connection: Connection, ids: Sequence[DocumentId], where: Where) -> set[DocumentId]:
    """These, and those that share enough keys with one of them. Of a key only the first few
    documents are looked at, by the order of its index, so that a text costs much the same however
    many have a sentence in common with it: 500 of them take 50 ms among 100,000. The first few that
    the caller may see, or hidden ones could take their places."""
    known, counted = shingles.alias("known"), shingles.alias("counted")
    seen: ColumnElement[bool] = true()
    if where.access != OWNER:
        seen = counted.c.document.in_(select(documents.c.id).where(visible(where.access)))
    held = func.count().over(partition_by=shingles.c.document).label("held")
    found = set(ids)
    for some in slices(ids):
        mine = shingles.c.document.in_(some)
        own = select(shingles.c.document, shingles.c.hash, held).where(mine).subquery("own")
        last = (
            select(counted.c.document)
            .where(counted.c.hash == own.c.hash, seen)
            .order_by(counted.c.document)
            .offset(MOST_OF_A_KEY - 1)
            .limit(1)
            .scalar_subquery()
        )
        query = (
            select(known.c.document)
            .join(own, known.c.hash == own.c.hash)
            .where(known.c.document <= func.coalesce(last, _LAST))
            .group_by(own.c.document, known.c.document)
            .having(func.count() >= func.max(own.c.held) * ENOUGH_KEYS)
        )
        found |= set(connection.scalars(query))
    return found


def _text(connection: Connection, document: DocumentId) -> str:
    query = select(interpretations.c.text).where(
        interpretations.c.document == document, interpretations.c.state == "active"
    )
    return connection.scalar(query) or ""
