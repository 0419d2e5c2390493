"""Vectors by what was embedded: kept once, however many chunks share them, and freed with the last.

Functions over a connection, for whoever changes chunks in the same transaction; and what reads the
vectors of chunks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, Engine, Select, Table, bindparam, delete, select

from trivium.errors import ModelChanged
from trivium.store.sql.checksums import CHECKSUM, checksum
from trivium.store.sql.conditions import visible
from trivium.store.sql.statements import (
    active,
    insert_all,
    one_state,
    set_setting,
    setting,
    slices,
    vector_bytes,
    vector_of,
)
from trivium.store.sql.tables import chunks, documents, embeddings, token_vectors
from trivium.types import ChunkId, Processed, TokenVectors, Where

if TYPE_CHECKING:
    from trivium.types import Vector


def keep_vectors(connection: Connection, model: str, vectors: Mapping[str, Vector]) -> None:
    if not vectors:
        return
    _refuse_other_model(connection, model)
    have = _present(connection, embeddings, model, list(vectors))
    rows = [
        {"model": model, "hash": h, "vector": vector_bytes(v)}
        for h, v in vectors.items()
        if h not in have
    ]
    _insert(connection, embeddings, rows)
    if not int(setting(connection, "dimensions") or 0):
        set_setting(connection, "model", model)
        set_setting(connection, "dimensions", str(len(next(iter(vectors.values())))))


def _refuse_other_model(connection: Connection, model: str) -> None:
    """Vectors of two models must not serve side by side."""
    serving = setting(connection, "model")
    if serving and serving != model:
        raise ModelChanged(f"This library's vectors come from {serving}, not {model}.")


def keep_all(connection: Connection, batch: Sequence[Processed], model: str) -> None:
    """The vectors and the token vectors of a batch."""
    found = {
        embedded: vector
        for processed in batch
        if processed.vectors is not None
        for embedded, vector in zip(processed.hashes, processed.vectors, strict=True)
    }
    keep_vectors(connection, model, found)
    given = {hash_: packed for processed in batch for hash_, packed in processed.tokens.items()}
    have = _present(connection, token_vectors, model, list(given))
    rows = [{"model": model, "hash": h, "vectors": p} for h, p in given.items() if h not in have]
    _insert(connection, token_vectors, rows)


def _insert(connection: Connection, table: Table, rows: list[dict[str, Any]]) -> None:
    """Several processes may keep the same: each in the same order, so that none waits in a
    circle."""
    ordered = sorted(rows, key=lambda row: str(row["hash"]))
    summed = [{**row, CHECKSUM: checksum(table, row)} for row in ordered]
    insert_all(connection, table, summed, absent=True)


def free_vectors(connection: Connection, hashes: Sequence[str]) -> None:
    """Delete those that no chunk, active or retired, refers to any more."""
    for some in slices(hashes):
        kept = select(chunks.c.embedding).where(chunks.c.embedding.in_(some))
        for table in (embeddings, token_vectors):
            unused = table.c.hash.in_(some) & table.c.hash.not_in(kept)
            connection.execute(delete(table).where(unused))


def _present(connection: Connection, table: Table, model: str, hashes: list[str]) -> set[str]:
    present: set[str] = set()
    for some in slices(hashes):
        query = select(table.c.hash).where(table.c.model == model, table.c.hash.in_(some))
        present |= set(connection.scalars(query))
    return present


class SqlVectors:
    """The vectors of active chunks."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def of_chunks(self, ids: Sequence[ChunkId], where: Where) -> dict[ChunkId, Vector]:
        found: dict[ChunkId, Vector] = {}
        with one_state(self._engine) as connection:
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

    def tokens_of_chunks(
        self, ids: Sequence[ChunkId], where: Where, model: str
    ) -> dict[ChunkId, TokenVectors]:
        found: dict[ChunkId, TokenVectors] = {}
        with self._engine.connect() as connection:
            for some in slices(ids):
                rows = connection.execute(_tokens_by_id(where), {"ids": some, "model": model})
                found |= {row.id: row.vectors for row in rows}
        return found


@lru_cache(maxsize=256)
def _tokens_by_id(where: Where) -> Select[Any]:
    return (
        select(chunks.c.id, token_vectors.c.vectors)
        .join(documents, chunks.c.document == documents.c.id)
        .join(token_vectors, token_vectors.c.hash == chunks.c.embedding)
        .where(token_vectors.c.model == bindparam("model"), active, visible(where))
        .where(chunks.c.id.in_(bindparam("ids", expanding=True)))
    )
