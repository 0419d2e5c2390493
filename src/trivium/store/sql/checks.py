"""What of the registry's own rows does not fit together, and what nothing uses any more."""

from __future__ import annotations

from sqlalchemy import delete, exists, func, select

from trivium.store.sql.reader import RegistryReader
from trivium.store.sql.statements import active
from trivium.store.sql.tables import (
    STAGED,
    chunks,
    documents,
    embeddings,
    interpretations,
    names,
    token_vectors,
)
from trivium.types import DocumentId

_no_chunk_uses = [
    ~exists().where(chunks.c.embedding == table.c.hash) for table in (embeddings, token_vectors)
]


class Checks(RegistryReader):
    def originals(self) -> dict[str, int]:
        """The address of every original that some interpretation refers to, and how many bytes its
        source said that it has."""
        original = interpretations.c.original
        query = select(original, func.max(interpretations.c.size)).where(original != "")
        with self._engine.connect() as connection:
            rows = connection.execute(query.group_by(original))
            return {row[0]: row[1] for row in rows}

    def referring(self, addresses: set[str]) -> list[DocumentId]:
        """The documents that refer to one of these originals."""
        query = select(interpretations.c.document, interpretations.c.original)
        with self._engine.connect() as connection:
            rows = connection.execute(query.where(interpretations.c.original != ""))
            return sorted({row.document for row in rows if row.original in addresses})

    def staged(self) -> int:
        """Interpretations that a writer has not finished, or never will."""
        query = select(func.count()).select_from(interpretations).where(STAGED)
        with self._engine.connect() as connection:
            return int(connection.scalar(query) or 0)

    def contradictions(self) -> list[DocumentId]:
        """Documents whose rows disagree: not exactly one active interpretation, or other chunks or
        names than they say."""
        states = (
            select(func.count())
            .where(interpretations.c.document == documents.c.id)
            .where(interpretations.c.state == "active")
            .where(interpretations.c.number == documents.c.interpretation)
            .where(interpretations.c.first_chunk == documents.c.first_chunk)
            .scalar_subquery()
        )
        held = (
            select(func.count())
            .where(chunks.c.document == documents.c.id, active)
            .correlate(documents)
            .scalar_subquery()
        )
        called = select(func.count()).where(names.c.document == documents.c.id).scalar_subquery()
        query = select(documents.c.id).where(
            documents.c.interpretation > 0,
            (states != 1)
            | (held != documents.c.chunks)
            | (called != func.json_array_length(documents.c.names)),
        )
        with self._engine.connect() as connection:
            return list(connection.scalars(query))

    def unused_vectors(self) -> int:
        """Vectors of texts that no chunk holds."""
        query = select(func.count()).select_from(embeddings).where(_no_chunk_uses[0])
        with self._engine.connect() as connection:
            return int(connection.scalar(query) or 0)

    def free_unused_vectors(self) -> None:
        with self._engine.begin() as connection:
            for table, unused in zip((embeddings, token_vectors), _no_chunk_uses, strict=True):
                connection.execute(delete(table).where(unused))
