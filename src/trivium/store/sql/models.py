"""Vectors, and which model's answer searches.

By the hash of the embedded text: stored once, however many chunks share them, and deleted with the
last. Functions over a connection, for callers that change chunks in the same transaction, or read
vectors of chunks.

`SqlModels` says which model's vectors answer searches and which are being computed, and switches
between the two. Computing vectors needs no writer's lock: it only adds rows, and deletes unneeded
ones in the same transaction.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING, Any, Protocol

from sqlalchemy import (
    Connection,
    Engine,
    RowMapping,
    Select,
    Table,
    bindparam,
    delete,
    func,
    select,
)

from trivium.core.errors import ModelChanged, NotEmbedded, ReembedStopped
from trivium.core.types import ChunkId, DocumentId, Manifest, Processed, TokenVectors, Where
from trivium.ports import Embed, Unembedded
from trivium.store.sql.rows import CHECKSUM, checksum, chunk_of
from trivium.store.sql.statements import (
    EMBEDDED_UPTO,
    MODEL_SETTINGS,
    NEXT_MODEL,
    NEXT_SETTINGS,
    SEPARATION,
    STORED,
    insert_all,
    of_active,
    one_state,
    set_setting,
    setting,
    slices,
    take,
    vector_bytes,
    vector_of,
    visible_passages,
)
from trivium.store.sql.tables import (
    chunks,
    counters,
    documents,
    embeddings,
    interpretations,
    settings,
    token_vectors,
)

if TYPE_CHECKING:
    from trivium.core.types import Vector

_HELD = {embeddings: "vector", token_vectors: "vectors"}  # the column with the bytes
_STORED = {
    table: select(table.c.hash, table.c[column]).where(
        table.c.model == bindparam("model"), table.c.hash.in_(bindparam("hashes", expanding=True))
    )
    for table, column in _HELD.items()
}

_PRESENT = {table: query.with_only_columns(table.c.hash) for table, query in _STORED.items()}
_NEXT = {  # of the models, by one look into the index for each
    table: select(func.min(table.c.model)).where(table.c.model > bindparam("last"))
    for table in _HELD
}
_SETTINGS = select(settings)


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
    fields = {
        embedded: vector
        for processed in batch
        if processed.vectors is not None
        for embedded, vector in zip(processed.hashes, processed.vectors, strict=True)
    }
    keep_vectors(connection, model, fields)
    tokens = {hash_: packed for processed in batch for hash_, packed in processed.tokens.items()}
    keep_rows(connection, token_vectors, model, tokens)


def keep_rows(
    connection: Connection, table: Table, model: str, vectors: Mapping[str, bytes]
) -> None:
    """Add missing vectors. Several processes may add the same ones: each in the same order, so that
    none waits in a circle."""
    have = present(connection, table, model, list(vectors))
    rows = [
        {"model": model, "hash": hash_, _HELD[table]: vectors[hash_]}
        for hash_ in sorted(vectors.keys() - have)
    ]
    summed = [{**row, CHECKSUM: checksum(table, row)} for row in rows]
    insert_all(connection, table, summed, absent=True)


def free_vectors(connection: Connection, hashes: Sequence[str]) -> None:
    """Delete vectors that no chunk, active or retired, refers to any more."""
    for some in slices(hashes):
        used = select(chunks.c.embedding).where(chunks.c.embedding.in_(some))
        for table in (embeddings, token_vectors):
            unused = table.c.hash.in_(some) & table.c.hash.not_in(used)
            connection.execute(delete(table).where(unused))


def present(connection: Connection, table: Table, model: str, hashes: list[str]) -> set[str]:
    present: set[str] = set()
    for some in slices(hashes):
        values = {"model": model, "hashes": some}
        present |= set(connection.scalars(_PRESENT[table], values))
    return present


class SqlVectors:
    """The vectors of active chunks."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def of_chunks(self, ids: Sequence[ChunkId], where: Where) -> dict[ChunkId, Vector]:
        by_chunk: dict[ChunkId, Vector] = {}
        with one_state(self._engine) as connection:
            model = setting(connection, "model") or ""
            for some in slices(ids):
                hashes = _hashes(connection, some, where)
                rows = stored(connection, embeddings, model, set(hashes.values()))
                vectors = {hash_: vector_of(vector) for hash_, vector in rows.items()}
                by_chunk |= {i: vectors[hash_] for i, hash_ in hashes.items() if hash_ in vectors}
        return by_chunk

    def tokens_of_chunks(
        self, ids: Sequence[ChunkId], where: Where, model: str
    ) -> dict[ChunkId, TokenVectors]:
        by_chunk: dict[ChunkId, TokenVectors] = {}
        with self._engine.connect() as connection:
            for some in slices(ids):
                hashes = _hashes(connection, some, where)
                rows = stored(connection, token_vectors, model, set(hashes.values()))
                by_chunk |= {i: rows[hash_] for i, hash_ in hashes.items() if hash_ in rows}
        return by_chunk


# Passages and vectors lie by different keys, so on several nodes a join of the two would read every
# vector: what is embedded in which passage is asked first, then the vectors themselves.


def _hashes(connection: Connection, ids: Sequence[ChunkId], where: Where) -> dict[ChunkId, str]:
    rows = connection.execute(_hashes_by_id(where), {"ids": list(ids)})
    return {row.id: row.embedding for row in rows}


@lru_cache(maxsize=256)
def _hashes_by_id(where: Where) -> Select[Any]:
    wanted = chunks.c.id.in_(bindparam("ids", expanding=True))
    return of_active(chunks.c.id, chunks.c.embedding).where(visible_passages(where), wanted)


def stored(
    connection: Connection, table: Table, model: str, hashes: Collection[str]
) -> dict[str, bytes]:
    """The rows of a model by hash, as in the database."""
    by_hash: dict[str, bytes] = {}
    for some in slices(sorted(hashes)):
        rows = connection.execute(_STORED[table], {"model": model, "hashes": some})
        by_hash |= {row[0]: row[1] for row in rows}
    return by_hash


AT_ONCE = 10_000  # ids whose chunks are read in one query


def embedded_texts(
    connection: Connection, after: ChunkId, size: int = AT_ONCE
) -> Iterator[list[tuple[ChunkId, str]]]:
    """Active chunks above an id, in order, with the hash of the embedded text. By ranges of ids: a
    limit would make a database on several nodes send all that follow each time."""
    last = connection.scalar(select(counters.c.value).where(counters.c.name == "chunk")) or 0
    query = (
        of_active(chunks.c.id, chunks.c.embedding)
        .where(chunks.c.id > bindparam("after"), chunks.c.id <= bindparam("upto"))
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


# Ids that are looked at together where few chunks are asked for: most may have their vectors.
_FEW = 1_000
_MISSING = 256  # chunks whose vectors are made at a time, where they were missing
_DROPPED = 5_000  # rows deleted in one transaction: other writers wait some 50 ms for it


class EmbeddingElsewhere(Exception):
    """Another process makes the vectors that are missing."""


class VectorIndex(Protocol):
    """A store's index over these vectors. PostgreSQL's own index updates itself; files don't."""

    def holds_all(self) -> bool:
        """Whether every active chunk is in the index of the model that serves."""

    def held(self) -> int:
        """How many active chunks it has."""

    def catch_up(self) -> None:
        """Index vectors that were made after their chunks."""

    def prepare(self, model: str, dimensions: int) -> None:
        """Index the vectors of a model that isn't in use yet."""

    def finish(self, model: str, dimensions: int) -> ChunkId:
        """The same, to the last vector, while nobody else writes; returns the highest id in it."""

    def switched(self) -> None:
        """Another model's vectors serve from now on."""

    def drop_others(self) -> None:
        """Delete what belongs to models that neither serve nor are to."""


class SqlModels:
    """The rows of embedding models, and of what they embedded."""

    def __init__(
        self,
        engine: Engine,
        writing: Callable[[], AbstractContextManager[None]],
        index: VectorIndex,
        *,
        embedding: Callable[[], AbstractContextManager[None]] | None = None,
        switching: Callable[[], AbstractContextManager[None]] | None = None,
    ) -> None:
        """Where several processes write, `embedding` is held by the one that makes vectors that
        are missing, and raises EmbeddingElsewhere where another does. Within `switching` no
        document changes."""
        self._engine = engine
        self._writing = writing
        self._index = index
        self._embedding = embedding or writing
        self._switching = switching or writing

    def manifest(self) -> Manifest:
        return _manifest(self._engine)

    def describe(self, model: str, settings: Mapping[str, str]) -> None:
        """Store how to load the vectors' model. Writes only if it is missing."""
        described = _described(model, settings)
        with self._engine.begin() as connection:
            if setting(connection, MODEL_SETTINGS) != described:
                set_setting(connection, MODEL_SETTINGS, described)

    def separation(self) -> str:
        with self._engine.connect() as connection:
            return setting(connection, SEPARATION) or ""

    def keep_separation(self, text: str) -> None:
        with self._engine.begin() as connection:
            set_setting(connection, SEPARATION, text)

    def known(self, model: str, hashes: Sequence[str], sender: str = "") -> dict[str, Vector]:
        vectors: dict[str, Vector] = {}
        with self._engine.connect() as connection:
            for some in slices(hashes):
                query = select(embeddings.c.hash, embeddings.c.vector).where(
                    embeddings.c.model == model, embeddings.c.hash.in_(some)
                )
                if sender:
                    own = (
                        select(chunks.c.embedding)
                        .join(documents, chunks.c.document == documents.c.id)
                        .where(chunks.c.embedding.in_(some), documents.c.sender == sender)
                    )
                    query = query.where(embeddings.c.hash.in_(own))
                vectors |= {row.hash: vector_of(row.vector) for row in connection.execute(query)}
        return vectors

    def keep(self, model: str, vectors: Mapping[str, Vector]) -> None:
        with self._writing(), self._engine.begin() as connection:
            keep_vectors(connection, model, vectors)

    def embed_missing(self, model: str, embed: Embed) -> int:
        try:
            return self._embed_missing(model, embed)
        except EmbeddingElsewhere:
            return 0

    def _embed_missing(self, model: str, embed: Embed) -> int:
        done, after = 0, 0
        with self._embedding():
            serving = self.manifest().model
            if model and serving not in ("", model):
                raise ModelChanged(f"This library's vectors come from {serving}.")
            if self._index.holds_all():
                return 0
            indexed = self._index.held()
            try:
                while chunks := self.unembedded(model, after, _MISSING):
                    after = chunks[-1].id
                    vectors = embed({chunk.hash: chunk.text for chunk in chunks})
                    self.keep(model, vectors)
                    done += len(vectors)
            finally:
                if self.embedded(model) > indexed:
                    self._index.catch_up()
        return done

    def lacking(self, model: str, some: Sequence[DocumentId]) -> set[DocumentId]:
        lacking: set[DocumentId] = set()
        for part in slices(some):
            columns = (chunks.c.document, chunks.c.embedding)
            query = of_active(*columns).where(documents.c.id.in_(part))
            with self._engine.connect() as connection:
                rows = connection.execute(query).all()
                have = present(connection, embeddings, model, [row.embedding for row in rows])
            lacking |= {row.document for row in rows if row.embedding not in have}
        return lacking

    def embedded(self, model: str) -> int:
        """How many active chunks have a vector."""
        query = of_active(func.count(chunks.c.id))
        with self._engine.connect() as connection:
            lacking = sum(1 for _ in without_vector(connection, model))
            return int(connection.scalar(query) or 0) - lacking

    # --- vectors beside those that serve

    def begin(self, model: str, settings: Mapping[str, str]) -> None:
        with self._engine.begin() as connection:
            set_setting(connection, NEXT_MODEL, model)
            set_setting(connection, NEXT_SETTINGS, _described(model, settings))
        drop_unneeded(self._engine)

    def count_unembedded(self, model: str) -> int:
        with self._engine.connect() as connection:
            return len({hash_ for _, hash_ in without_vector(connection, model)})

    def unembedded(self, model: str, after: ChunkId, limit: int) -> list[Unembedded]:
        whole = (chunks.c.interpretation == interpretations.c.id) & (
            chunks.c.document == interpretations.c.document
        )
        query = select(chunks, interpretations.c.summary).join(interpretations, whole)
        rows: list[RowMapping] = []
        with self._engine.connect() as connection:
            lacking = without_vector(connection, model, after, max(limit, _FEW))
            ids = [id_ for id_, _ in islice(lacking, limit)]
            for some in slices(ids):
                these = query.where(chunks.c.id.in_(some)).order_by(chunks.c.id)
                rows += connection.execute(these).mappings()
        return [
            Unembedded(r["id"], r["embedding"], chunk_of(r).embedded_under(r["summary"]))
            for r in rows
        ]

    def keep_beside(
        self, model: str, vectors: Mapping[str, Vector], tokens: Mapping[str, TokenVectors]
    ) -> None:
        """Raises ReembedStopped where this model is not wanted any more."""
        packed = {hash_: vector_bytes(vector) for hash_, vector in vectors.items()}
        with self._engine.begin() as connection:
            keep_rows(connection, embeddings, model, packed)
            keep_rows(connection, token_vectors, model, tokens)
            if setting(connection, NEXT_MODEL) != model:
                raise ReembedStopped("Another process stopped the change of the model.")
            free_vectors(connection, sorted({*vectors, *tokens}))  # whose passages went meanwhile

    def prepare(self, model: str) -> None:
        dimensions = self._dimensions(model)
        if dimensions:
            self._index.prepare(model, dimensions)

    # --- the switch

    def switch(self, model: str) -> None:
        with self._switching():
            lacking = self.count_unembedded(model)
            if lacking:
                raise NotEmbedded(f"{lacking:,} passages have no vector from {model}.", fix="")
            dimensions = self._dimensions(model)
            upto = self._index.finish(model, dimensions) if dimensions else 0
            self._serve(model, dimensions, upto)
            self._index.switched()

    def _serve(self, model: str, dimensions: int, upto: ChunkId) -> None:
        """The one instant in which another model's vectors serve."""
        with self._engine.begin() as connection:
            take(connection, "sequence", 1)  # so that readers look again
            if setting(connection, NEXT_MODEL) != model:
                raise ReembedStopped("Another process stopped the change of the model.")
            set_setting(connection, "model", model)
            set_setting(connection, "dimensions", str(dimensions))
            set_setting(connection, EMBEDDED_UPTO, str(upto))
            set_setting(connection, MODEL_SETTINGS, setting(connection, NEXT_SETTINGS) or "")
            _forget_next(connection)

    def abandon(self) -> None:
        """The vectors in use stay; the others are deleted."""
        with self._engine.begin() as connection:
            _forget_next(connection)
        drop_unneeded(self._engine)

    def drop_others(self) -> None:
        drop_unneeded(self._engine)  # in short transactions: others write between them
        self._index.drop_others()

    def _dimensions(self, model: str) -> int:
        """0 if it has no vector."""
        query = select(embeddings.c.vector).where(embeddings.c.model == model).limit(1)
        with self._engine.connect() as connection:
            return len(connection.scalar(query) or b"") // STORED.itemsize


def _described(model: str, options: Mapping[str, str]) -> str:
    return json.dumps({"model": model, "settings": dict(sorted(options.items()))})


def _forget_next(connection: Connection) -> None:
    next_: Iterable[str] = (NEXT_MODEL, NEXT_SETTINGS)
    connection.execute(delete(settings).where(settings.c.name.in_(next_)))


def _settings_of(described: str | None, model: str) -> dict[str, str]:
    """How to load this model, if that is stored."""
    fields = json.loads(described) if described else {}
    return dict(fields["settings"]) if fields.get("model") == model else {}


def _manifest(engine: Engine) -> Manifest:
    with engine.connect() as connection:  # one statement, so one state
        values = {row.name: row.value for row in connection.execute(_SETTINGS)}
    model, next_ = values.get("model", ""), values.get(NEXT_MODEL, "")
    return Manifest(
        schema=int(values.get("schema", 0)),
        model=model,
        dimensions=int(values.get("dimensions", 0)),
        settings=_settings_of(values.get(MODEL_SETTINGS), model),
        next_model=next_,
        next_settings=_settings_of(values.get(NEXT_SETTINGS), next_),
    )


def drop_unneeded(engine: Engine) -> None:
    """Delete the vectors of models that neither serve nor are to."""
    manifest = _manifest(engine)
    if not manifest.model:
        return
    for table in (embeddings, token_vectors):
        for model in _models(engine, table) - {manifest.model, manifest.next_model}:
            _drop(engine, table, model)


def _models(engine: Engine, table: Table) -> set[str]:
    """Every model with a row."""
    models: set[str] = set()
    with engine.connect() as connection:
        last = ""
        while True:
            last = connection.scalar(_NEXT[table], {"last": last}) or ""
            if not last:
                return models
            models.add(last)


def _drop(engine: Engine, table: Table, model: str) -> None:
    some = select(table.c.hash).where(table.c.model == model).limit(_DROPPED)
    gone = 1
    while gone:
        with engine.begin() as connection:
            unwanted = (table.c.model == model) & table.c.hash.in_(some)
            gone = connection.execute(delete(table).where(unwanted)).rowcount
