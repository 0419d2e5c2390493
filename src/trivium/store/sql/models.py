"""Which model's vectors serve, which are being made beside them, and the switch between the two.

Making vectors beside needs no writer's lock: rows are only added, each only while a chunk needs it
and the change is still wanted, both asked within the statement that adds it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any
from zlib import crc32

import numpy as np
from sqlalchemy import (
    BigInteger,
    Connection,
    LargeBinary,
    String,
    Table,
    bindparam,
    delete,
    func,
    insert,
    literal,
    select,
)

from trivium.errors import ReembedStopped
from trivium.ports import Summarised, Unembedded
from trivium.store.sql.checksums import is_sound
from trivium.store.sql.reader import RegistryReader
from trivium.store.sql.rows import chunk_of
from trivium.store.sql.statements import (
    EMBEDDED_UPTO,
    MODEL_SETTINGS,
    NEXT_MODEL,
    NEXT_SETTINGS,
    STORED,
    active,
    set_setting,
    setting,
    slices,
    take,
    vector_bytes,
)
from trivium.store.sql.tables import (
    chunks,
    documents,
    embeddings,
    interpretations,
    settings,
    token_vectors,
)
from trivium.types import ChunkId, DocumentId, TokenVectors

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from trivium.types import Vector, Vectors

_ROWS = 10_000  # vectors read at a time: 8 MB of 384 dimensions
_DROPPED = 5_000  # rows deleted in one transaction: other writers wait some 50 ms for it


class ModelRegistry(RegistryReader):
    """What the registry knows of embedding models."""

    def describe_model(self, model: str, told: Mapping[str, str]) -> None:
        """Keep how to load the model of the vectors. Writes only what is not there."""
        described = _described(model, told)
        with self._engine.begin() as connection:
            if setting(connection, MODEL_SETTINGS) != described:
                set_setting(connection, MODEL_SETTINGS, described)

    def summarised(self, document: DocumentId) -> Summarised | None:
        summary = select(interpretations.c.id, interpretations.c.summary).where(
            interpretations.c.document == document, interpretations.c.state == "active"
        )
        hashes = select(chunks.c.embedding).where(chunks.c.interpretation == bindparam("of"))
        with self._engine.connect() as connection:
            row = connection.execute(summary).first()
            if row is None:
                return None
            held = connection.scalars(hashes, {"of": row.id})
            return Summarised(row.summary, frozenset(held))

    # --- vectors beside those that serve

    def begin_model(self, model: str, told: Mapping[str, str]) -> None:
        with self._engine.begin() as connection:
            set_setting(connection, NEXT_MODEL, model)
            set_setting(connection, NEXT_SETTINGS, _described(model, told))
        self.drop_other_models()

    def count_unembedded(self, model: str) -> int:
        query = _without_vector(select(func.count(chunks.c.embedding.distinct())), model)
        with self._engine.connect() as connection:
            return int(connection.scalar(query) or 0)

    def unembedded(self, model: str, after: ChunkId, limit: int) -> list[Unembedded]:
        query = _without_vector(select(chunks, interpretations.c.summary), model)
        query = query.where(chunks.c.id > after).order_by(chunks.c.id).limit(limit)
        with self._engine.connect() as connection:
            rows = connection.execute(query).mappings().all()
        return [
            Unembedded(r["id"], r["embedding"], chunk_of(r).embedded_under(r["summary"]))
            for r in rows
        ]

    def keep_beside(
        self, model: str, vectors: Mapping[str, Vector], tokens: Mapping[str, TokenVectors]
    ) -> None:
        """Raises ReembedStopped where this model is not wanted any more."""
        kept = {embeddings: {hash_: vector_bytes(vector) for hash_, vector in vectors.items()}}
        kept[token_vectors] = dict(tokens)
        with self._engine.begin() as connection:
            for table, rows in kept.items():
                values = [
                    {"of": model, "for": h, "held": held, "sum": crc32(held)}
                    for h, held in rows.items()
                ]
                if values:
                    connection.execute(_insert_wanted(table), values)
            if setting(connection, NEXT_MODEL) != model:
                raise ReembedStopped("Another process has stopped it.")

    def vector_rows(
        self, model: str, after: ChunkId
    ) -> Iterator[tuple[NDArray[np.int64], Vectors]]:
        """Ids above `after` and vectors of active chunks, in order, many at a time."""
        while True:
            query = (
                select(chunks.c.id, embeddings.c.vector)
                .join(documents, chunks.c.document == documents.c.id)
                .join(embeddings, embeddings.c.hash == chunks.c.embedding)
                .where(active, chunks.c.id > after, embeddings.c.model == model)
                .order_by(chunks.c.id)
                .limit(_ROWS)
            )
            with self._engine.connect() as connection:
                rows = connection.execute(query).all()
            if not rows:
                return
            ids = np.array([row.id for row in rows], dtype=np.int64)
            stored = np.frombuffer(b"".join(row.vector for row in rows), dtype=STORED)
            yield ids, stored.reshape(len(ids), -1).astype(np.float32)
            after = rows[-1].id

    def vectors_of(self, model: str, ids: Sequence[ChunkId]) -> dict[ChunkId, bytes]:
        """The stored vectors of these chunks, active or not, as they lie in the database, except
        those that have rotted there: they say nothing about an index."""
        found: dict[ChunkId, bytes] = {}
        with self._engine.connect() as connection:
            for some in slices(ids):
                held = select(chunks.c.id, chunks.c.embedding).where(chunks.c.id.in_(some))
                hashes = {row.id: row.embedding for row in connection.execute(held)}
                known = select(embeddings).where(
                    embeddings.c.model == model, embeddings.c.hash.in_(set(hashes.values()))
                )
                rows = connection.execute(known).mappings()
                vectors = {r["hash"]: r["vector"] for r in rows if is_sound(embeddings, r)}
                found |= {i: vectors[hash_] for i, hash_ in hashes.items() if hash_ in vectors}
        return found

    def chunks_embedded(self, hashes: Sequence[str]) -> list[tuple[str, ChunkId]]:
        """The chunks, active or not, whose embedded text has one of these hashes."""
        found: list[tuple[str, ChunkId]] = []
        with self._engine.connect() as connection:
            for some in slices(hashes):
                query = select(chunks.c.embedding, chunks.c.id)
                rows = connection.execute(query.where(chunks.c.embedding.in_(some)))
                found += [(row.embedding, row.id) for row in rows]
        return found

    def dimensions_of(self, model: str) -> int:
        """0 where there is no vector of it."""
        query = select(embeddings.c.vector).where(embeddings.c.model == model).limit(1)
        with self._engine.connect() as connection:
            return len(connection.scalar(query) or b"") // STORED.itemsize

    # --- the switch

    def switch_model(self, model: str, dimensions: int, upto: ChunkId) -> None:
        """The one instant in which another model's vectors serve."""
        with self._engine.begin() as connection:
            take(connection, "sequence", 1)  # so that readers look again
            if setting(connection, NEXT_MODEL) != model:
                raise ReembedStopped("Another process has stopped it.")
            set_setting(connection, "model", model)
            set_setting(connection, "dimensions", str(dimensions))
            set_setting(connection, EMBEDDED_UPTO, str(upto))
            set_setting(connection, MODEL_SETTINGS, setting(connection, NEXT_SETTINGS) or "")
            _forget_next(connection)

    def abandon_model(self) -> None:
        """The vectors that serve go on doing so; those made beside them go."""
        with self._engine.begin() as connection:
            _forget_next(connection)
        self.drop_other_models()

    def drop_other_models(self) -> None:
        """Delete the vectors of models that neither serve nor are to."""
        manifest = self.manifest()
        if not manifest.model:
            return
        for table in (embeddings, token_vectors):
            for model in self._models(table) - {manifest.model, manifest.next_model}:
                self._drop(table, model)

    def _models(self, table: Table) -> set[str]:
        """Every model with a row, by one look into the index for each."""
        found: set[str] = set()
        with self._engine.connect() as connection:
            last = ""
            while True:
                query = select(func.min(table.c.model)).where(table.c.model > last)
                last = connection.scalar(query) or ""
                if not last:
                    return found
                found.add(last)

    def _drop(self, table: Table, model: str) -> None:
        some = select(table.c.hash).where(table.c.model == model).limit(_DROPPED)
        gone = 1
        while gone:
            with self._engine.begin() as connection:
                unwanted = (table.c.model == model) & table.c.hash.in_(some)
                gone = connection.execute(delete(table).where(unwanted)).rowcount


def _described(model: str, told: Mapping[str, str]) -> str:
    return json.dumps({"model": model, "settings": dict(sorted(told.items()))})


def _without_vector(query: Any, model: str) -> Any:
    """Narrowed to active chunks that this model has not embedded."""
    known = select(literal(1)).where(
        embeddings.c.model == model, embeddings.c.hash == chunks.c.embedding
    )
    return (
        query.join(documents, chunks.c.document == documents.c.id)
        .join(interpretations, chunks.c.interpretation == interpretations.c.id)
        .where(active, ~known.exists())
    )


def _insert_wanted(table: Table) -> Any:
    """One row, unless it is there, or nobody needs it any more."""
    hash_, model = bindparam("for", type_=String), bindparam("of", type_=String)
    held, sum_ = bindparam("held", type_=LargeBinary), bindparam("sum", type_=BigInteger)
    needed = select(literal(1)).where(chunks.c.embedding == hash_).exists()
    there = select(literal(1)).where(table.c.model == model, table.c.hash == hash_).exists()
    wanted = select(literal(1)).where(settings.c.name == NEXT_MODEL, settings.c.value == model)
    row = select(model, hash_, held, sum_).where(needed, ~there, wanted.exists())
    return insert(table).from_select([column.name for column in table.columns], row)


def _forget_next(connection: Connection) -> None:
    next_: Iterable[str] = (NEXT_MODEL, NEXT_SETTINGS)
    connection.execute(delete(settings).where(settings.c.name.in_(next_)))
