"""Vectors by the hash of the embedded text: stored once, however many chunks share them, and
deleted with the last. Functions over a connection, for callers that change chunks in the same
transaction, or read vectors of chunks."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, Engine, Select, Table, bindparam, delete, select

from trivium.core.errors import ModelChanged
from trivium.core.types import ChunkId, Processed, TokenVectors, Where
from trivium.store.sql.conditions import visible_passages
from trivium.store.sql.rows import CHECKSUM, checksum
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
from trivium.store.sql.tables import chunks, counters, documents, embeddings, token_vectors

if TYPE_CHECKING:
    from trivium.core.types import Vector


_HELD = {embeddings: "vector", token_vectors: "vectors"}  # the column with the bytes
_STORED = {
    table: select(table.c.hash, table.c[column]).where(
        table.c.model == bindparam("model"),
        table.c.hash.in_(bindparam("hashes", expanding=True)),
    )
    for table, column in _HELD.items()
}


def keep_vectors(connection: Connection, model: str, vectors: Mapping[str, Vector]) -> None:
    if not vectors:
        return
    _refuse_other_model(connection, model)
    keep_rows(connection, embeddings, model, {h: vector_bytes(v) for h, v in vectors.items()})
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
    keep_rows(connection, token_vectors, model, given)


def keep_rows(connection: Connection, table: Table, model: str, held: Mapping[str, bytes]) -> None:
    """Add missing vectors. Several processes may add the same ones: each in the same order, so that
    none waits in a circle."""
    have = present(connection, table, model, list(held))
    rows = [
        {"model": model, "hash": hash_, _HELD[table]: held[hash_]}
        for hash_ in sorted(held.keys() - have)
    ]
    summed = [{**row, CHECKSUM: checksum(table, row)} for row in rows]
    insert_all(connection, table, summed, absent=True)


def free_vectors(connection: Connection, hashes: Sequence[str]) -> None:
    """Delete vectors that no chunk, active or retired, refers to any more."""
    for some in slices(hashes):
        kept = select(chunks.c.embedding).where(chunks.c.embedding.in_(some))
        for table in (embeddings, token_vectors):
            unused = table.c.hash.in_(some) & table.c.hash.not_in(kept)
            connection.execute(delete(table).where(unused))


def present(connection: Connection, table: Table, model: str, hashes: list[str]) -> set[str]:
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
            for some in slices(ids):
                hashes = _hashes(connection, some, where)
                held = stored(connection, embeddings, model, set(hashes.values()))
                vectors = {hash_: vector_of(vector) for hash_, vector in held.items()}
                found |= {i: vectors[hash_] for i, hash_ in hashes.items() if hash_ in vectors}
        return found

    def tokens_of_chunks(
        self, ids: Sequence[ChunkId], where: Where, model: str
    ) -> dict[ChunkId, TokenVectors]:
        found: dict[ChunkId, TokenVectors] = {}
        with self._engine.connect() as connection:
            for some in slices(ids):
                hashes = _hashes(connection, some, where)
                held = stored(connection, token_vectors, model, set(hashes.values()))
                found |= {i: held[hash_] for i, hash_ in hashes.items() if hash_ in held}
        return found


# Passages and vectors lie by different keys, so on several nodes a join of the two would read every
# vector: what is embedded in which passage is asked first, then the vectors themselves.


def _hashes(connection: Connection, ids: Sequence[ChunkId], where: Where) -> dict[ChunkId, str]:
    rows = connection.execute(_hashes_by_id(where), {"ids": list(ids)})
    return {row.id: row.embedding for row in rows}


@lru_cache(maxsize=256)
def _hashes_by_id(where: Where) -> Select[Any]:
    return (
        select(chunks.c.id, chunks.c.embedding)
        .join(documents, chunks.c.document == documents.c.id)
        .where(active, visible_passages(where), chunks.c.id.in_(bindparam("ids", expanding=True)))
    )


def stored(
    connection: Connection, table: Table, model: str, hashes: Collection[str]
) -> dict[str, bytes]:
    """The rows of a model by hash, as in the database."""
    held: dict[str, bytes] = {}
    for some in slices(sorted(hashes)):
        rows = connection.execute(_STORED[table], {"model": model, "hashes": some})
        held |= {row[0]: row[1] for row in rows}
    return held


AT_ONCE = 10_000  # ids whose chunks are read in one query


def embedded_texts(
    connection: Connection, after: ChunkId, size: int = AT_ONCE
) -> Iterator[list[tuple[ChunkId, str]]]:
    """Active chunks above an id, in order, with the hash of the embedded text. By ranges of ids: a
    limit would make a database on several nodes send all that follow each time."""
    last = connection.scalar(select(counters.c.value).where(counters.c.name == "chunk")) or 0
    query = (
        select(chunks.c.id, chunks.c.embedding)
        .join(documents, chunks.c.document == documents.c.id)
        .where(active, chunks.c.id > bindparam("after"), chunks.c.id <= bindparam("upto"))
        .order_by(chunks.c.id)
    )
    while after < last:
        rows = connection.execute(query, {"after": after, "upto": after + size}).all()
        if rows:
            yield [(row.id, row.embedding) for row in rows]
        after += size


def without_vector(
    connection: Connection, model: str, after: ChunkId = 0, size: int = AT_ONCE
) -> Iterator[tuple[ChunkId, str]]:
    """Active chunks above an id that this model has not embedded, in order."""
    for some in embedded_texts(connection, after, size):
        have = present(connection, embeddings, model, list({hash_ for _, hash_ in some}))
        yield from ((id_, hash_) for id_, hash_ in some if hash_ not in have)
