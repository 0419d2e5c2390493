"""What of the registry's own rows does not fit together, and what nothing uses any more."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import RowMapping, delete, exists, func, select, update

from trivium.errors import LibraryDamaged
from trivium.store.sql.reader import RegistryReader
from trivium.store.sql.rows import chunk_of
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
from trivium.types import ChunkId, DocumentId

_no_chunk_uses = [
    ~exists().where(chunks.c.embedding == table.c.hash) for table in (embeddings, token_vectors)
]


_BATCH = 500  # chunks looked at together
_HASH_LENGTH = 32  # of what was embedded; others come from stores' own tests


@dataclass(frozen=True, slots=True)
class Rotten:
    """One passage that is not what it was, and the text that it should have, if anything tells."""

    chunk: ChunkId
    document: DocumentId
    text: str | None = None  # that the passage should have
    interpretation: int | None = None  # whose text lacks it, where the passage itself is sound


class Checks(RegistryReader):
    def rotten(self, hash_of: Callable[[str], str]) -> list[Rotten]:
        """Every passage, active or not, held against the hash of what was embedded and against the
        text that it is a part of: what two of the three agree on is right."""
        found: list[Rotten] = []
        last = 0
        ids = select(chunks.c.id, chunks.c.document).order_by(chunks.c.id).limit(_BATCH)
        while True:
            with self._engine.connect() as connection:
                batch = connection.execute(ids.where(chunks.c.id > last)).all()
            if not batch:
                return found
            last = batch[-1].id
            try:
                found += self._rotten([row.id for row in batch], hash_of)
            except LibraryDamaged:  # one that cannot even be read must not hide the others
                for row in batch:
                    try:
                        found += self._rotten([row.id], hash_of)
                    except LibraryDamaged:
                        found.append(Rotten(row.id, row.document))

    def _rotten(self, ids: Sequence[ChunkId], hash_of: Callable[[str], str]) -> Iterator[Rotten]:
        whole = interpretations.c.text.label("whole")
        query = (
            select(chunks, interpretations.c.summary, whole)
            .join(interpretations, chunks.c.interpretation == interpretations.c.id)
            .where(chunks.c.id.in_(ids))
        )
        with self._engine.connect() as connection:
            rows = connection.execute(query).mappings().all()
        return (rotten for row in rows if (rotten := _judged(row, hash_of)) is not None)

    def mend(self, rotten: Sequence[Rotten]) -> None:
        """Give these the text that they should have. Those of which nothing tells it stay."""
        with self._engine.begin() as connection:
            for one in rotten:
                if one.text is None:
                    continue
                if one.interpretation is None:
                    changed = update(chunks).where(chunks.c.id == one.chunk)
                    connection.execute(changed.values(text=one.text))
                    continue
                place = select(chunks.c.start, chunks.c.end).where(chunks.c.id == one.chunk)
                start, end = connection.execute(place).one()
                mine = interpretations.c.id == one.interpretation
                whole = connection.scalar(select(interpretations.c.text).where(mine)) or ""
                mended = whole[:start] + one.text + whole[end:]
                connection.execute(update(interpretations).where(mine).values(text=mended))

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


def _judged(row: RowMapping, hash_of: Callable[[str], str]) -> Rotten | None:
    """What is wrong with a chunk's row, joined to its interpretation's."""

    def fits(text: str) -> bool:
        values: dict[str, Any] = {**row, "text": text}
        return bool(hash_of(chunk_of(values).embedded_under(row["summary"])) == row["embedding"])

    part = row["whole"][row["start"] : row["end"]]
    agree = part == row["text"]
    if len(row["embedding"]) != _HASH_LENGTH:
        return None if agree else Rotten(row["id"], row["document"])
    if fits(row["text"]):
        if agree:
            return None
        return Rotten(row["id"], row["document"], row["text"], row["interpretation"])
    is_right = not agree and fits(part)
    return Rotten(row["id"], row["document"], part if is_right else None)
