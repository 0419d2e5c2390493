"""What the derived indexes of a folder need from the database: what changed, what they lack, what
they have too much (`Feed`); and which chunks are active, which document each belongs to, and which
pass a filter (`ActiveChunks`, `FilterCache`).

The latter are arrays by id, so that a search decides about a million chunks in a millisecond. SQL
decides what passes; this caches it, and asks again only for what changed.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from threading import Lock
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from sqlalchemy import Engine, bindparam, delete, select

from trivium.core.types import OWNER, ChunkId, DocumentId, Where
from trivium.store.ranking import FEW, Fitting
from trivium.store.sql.models import stored
from trivium.store.sql.rows import IndexedChunk, chunk_of, is_sound, searched_text
from trivium.store.sql.statements import (
    EMBEDDED_UPTO,
    NEXT_MODEL,
    STORED,
    last_number,
    of_active,
    one_state,
    one_statement,
    setting,
    slices,
    vector_of,
    visible,
    visible_passages,
)
from trivium.store.sql.tables import (
    chunks,
    documents,
    embeddings,
    leftovers,
    removals,
)
from trivium.text.filters import looks_at_passages

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from trivium.core.types import Vectors

_ROWS = 10_000  # vectors read at a time: 8 MB of 384 dimensions
SEQUENCE = "SELECT value FROM counters WHERE name = 'sequence'"

_OWN = (documents.c.id, documents.c.first_chunk, documents.c.chunks, documents.c.language)
_CHANGED, _REMOVED = (
    query.where(changed > bindparam("since"), changed <= bindparam("upto"))
    for query, changed in (
        (select(*_OWN).where(visible(OWNER)), documents.c.changed),
        (select(removals.c.document), removals.c.changed),
    )
)
_SERVING = f"SELECT name, value FROM settings WHERE name IN ('model', '{NEXT_MODEL}', 'dimensions')"
_LAST_ACTIVE = of_active(chunks.c.id).order_by(chunks.c.id.desc()).limit(1)
_LEFTOVERS = select(leftovers)


@dataclass(frozen=True, slots=True)
class ChangesSince:
    """What became visible, changed or vanished after some sequence number."""

    sequence: int
    documents: list[tuple[DocumentId, ChunkId, int, str]]  # id, first chunk, count, language
    removed: list[DocumentId]


@dataclass(frozen=True, slots=True)
class Serving:
    """Whose vectors are indexed."""

    model: str
    next_model: str  # the model being changed to, if any
    dimensions: int


class Feed:
    def __init__(self, engine: Engine) -> None:
        self.engine = engine

    def sequence(self) -> int:
        # Every search asks: as plain SQL it takes a third of the .2 ms that a built query takes.
        with one_statement(self.engine) as connection:
            return int(connection.exec_driver_sql(SEQUENCE).scalar() or 0)

    def changes(self, since: int) -> ChangesSince:
        """Bounded above by the sequence read first, so that a later change is seen as a whole next
        time and never in part now."""
        with one_state(self.engine) as connection:
            upto = last_number(connection, "sequence")
            between = {"since": since, "upto": upto}
            changed = connection.execute(_CHANGED, between).all()
            removed = connection.scalars(_REMOVED, between).all()
        return ChangesSince(upto, [tuple(row) for row in changed], list(removed))

    def passing(self, where: Where, since: int) -> list[DocumentId]:
        """The documents changed after `since` that pass `where`."""
        changed = documents.c.changed > bindparam("since")
        query = select(documents.c.id).where(changed, visible(where))
        with self.engine.connect() as connection:
            return list(connection.scalars(query, {"since": since}))

    def passing_passages(
        self, where: Where, among: Sequence[DocumentId] | None = None
    ) -> list[ChunkId]:
        """The active chunks that pass a filter by where passages stand; `among`: of these
        documents."""
        query = of_active(chunks.c.id).where(visible_passages(where))
        if among is not None:
            query = query.where(chunks.c.document.in_(among))
        with self.engine.connect() as connection:
            return list(connection.scalars(query))

    def last_chunk(self) -> ChunkId:
        """The highest id that was ever given to a chunk."""
        with self.engine.connect() as connection:
            return last_number(connection, "chunk")

    def last_active_chunk(self) -> ChunkId:
        """From the newest chunk down to the first that is active: most often that one itself."""
        with self.engine.connect() as connection:
            return int(connection.scalar(_LAST_ACTIVE) or 0)

    def embedded_upto(self) -> ChunkId:
        """The highest chunk that an index of vectors must hold."""
        with self.engine.connect() as connection:
            return int(setting(connection, EMBEDDED_UPTO) or 0)

    def serving(self) -> Serving:
        with self.engine.connect() as connection:  # one statement, so one state
            values = {row.name: row.value for row in connection.exec_driver_sql(_SERVING)}
        model, next_ = values.get("model", ""), values.get(NEXT_MODEL, "")
        return Serving(model, next_, int(values.get("dimensions") or 0))

    def indexed_chunks(self, after: ChunkId, size: int) -> Iterator[list[IndexedChunk]]:
        """Every active chunk with an id above `after`, in order, a batch at a time."""
        model, last = self.serving().model, self.last_chunk()
        query = (
            of_active(chunks, documents.c.language)
            .where(chunks.c.id > bindparam("after"), chunks.c.id <= bindparam("upto"))
            .order_by(chunks.c.id)
        )
        for start in range(after, last, size):  # by ranges of ids, see `embedded_texts`
            with one_state(self.engine) as connection:
                values = {"after": start, "upto": start + size}
                rows = connection.execute(query, values).mappings().all()
                hashes = {row["embedding"] for row in rows}
                vectors = stored(connection, embeddings, model, hashes)
            if rows:
                yield [_indexed(row, vectors.get(row["embedding"])) for row in rows]

    def vector_rows(
        self, model: str, after: ChunkId
    ) -> Iterator[tuple[NDArray[np.int64], Vectors]]:
        """Ids above `after` and vectors of active chunks, in order, many at a time."""
        while True:
            query = (
                of_active(chunks.c.id, embeddings.c.vector)
                .join(embeddings, embeddings.c.hash == chunks.c.embedding)
                .where(chunks.c.id > after, embeddings.c.model == model)
                .order_by(chunks.c.id)
                .limit(_ROWS)
            )
            with self.engine.connect() as connection:
                rows = connection.execute(query).all()
            if not rows:
                return
            ids = np.array([row.id for row in rows], dtype=np.int64)
            stored = np.frombuffer(b"".join(row.vector for row in rows), dtype=STORED)
            yield ids, stored.reshape(len(ids), -1).astype(np.float32)
            after = rows[-1].id

    def vectors_of(self, model: str, ids: Sequence[ChunkId]) -> dict[ChunkId, bytes]:
        """The stored vectors of these chunks, active or not, as in the database, except damaged
        ones: they say nothing about an index."""
        by_chunk: dict[ChunkId, bytes] = {}
        with self.engine.connect() as connection:
            for some in slices(ids):
                query = select(chunks.c.id, chunks.c.embedding).where(chunks.c.id.in_(some))
                hashes = {row.id: row.embedding for row in connection.execute(query)}
                query_of_model = select(embeddings).where(
                    embeddings.c.model == model, embeddings.c.hash.in_(set(hashes.values()))
                )
                rows = connection.execute(query_of_model).mappings()
                vectors = {r["hash"]: r["vector"] for r in rows if is_sound(embeddings, r)}
                by_chunk |= {i: vectors[hash_] for i, hash_ in hashes.items() if hash_ in vectors}
        return by_chunk

    def searched_texts(self, ids: Sequence[ChunkId]) -> list[IndexedChunk]:
        """The text of these chunks for the word signals, active or not; without vectors."""
        indexed_chunks: list[IndexedChunk] = []
        with self.engine.connect() as connection:
            for some in slices(ids):
                query = (
                    select(chunks, documents.c.language)
                    .join(documents, chunks.c.document == documents.c.id)
                    .where(chunks.c.id.in_(some))
                )
                rows = connection.execute(query).mappings()
                indexed_chunks += [_indexed(row, None) for row in rows]
        return indexed_chunks

    def chunks_embedded(self, hashes: Sequence[str]) -> list[tuple[str, ChunkId]]:
        """The chunks, active or not, whose embedded text has one of these hashes."""
        pairs: list[tuple[str, ChunkId]] = []
        with self.engine.connect() as connection:
            for some in slices(hashes):
                query = select(chunks.c.embedding, chunks.c.id)
                rows = connection.execute(query.where(chunks.c.embedding.in_(some)))
                pairs += [(row.embedding, row.id) for row in rows]
        return pairs

    def leftovers(self) -> list[tuple[ChunkId, int]]:
        with self.engine.connect() as connection:
            return [(row.first_chunk, row.chunks) for row in connection.execute(_LEFTOVERS)]

    def clear_leftovers(self, ranges: Iterable[tuple[ChunkId, int]]) -> None:
        with self.engine.begin() as connection:
            for some in slices([first for first, _ in ranges]):
                connection.execute(delete(leftovers).where(leftovers.c.first_chunk.in_(some)))


def _indexed(row: Any, packed: bytes | None) -> IndexedChunk:
    chunk = chunk_of(row)
    vector = None if packed is None else vector_of(packed)
    return IndexedChunk(row["id"], row["document"], row["language"], searched_text(chunk), vector)


_T = TypeVar("_T", bound=np.generic)
_REMEMBERED = 64  # filters; each costs a byte a document


@dataclass(frozen=True, slots=True)
class ActiveChunks:
    """An immutable picture at one sequence number: its arrays are never written again."""

    sequence: int
    first: NDArray[np.int64]  # by document id: its first active chunk
    count: NDArray[np.int64]  # by document id: how many it has
    owner: NDArray[np.int32]  # by chunk id: its document, 0 if it is not active
    language: NDArray[np.int32]  # by document id: which of those below it is written in
    spoken: tuple[str, ...]  # languages, in the order in which they were met

    def languages_of(self, documents: NDArray[np.int64] | None) -> tuple[str, ...]:
        """None: of all of them."""
        if documents is None:
            return tuple(sorted(self.spoken))
        return tuple(sorted(self.spoken[i] for i in np.unique(self.language[documents])))

    @classmethod
    def empty(cls) -> ActiveChunks:
        none = np.zeros(1, dtype=np.int64)
        small = np.zeros(1, dtype=np.int32)
        return cls(0, none, none, small, small, ())

    def after(self, changes: ChangesSince) -> ActiveChunks:
        """The picture once these changes have happened."""
        ids = np.array([c[0] for c in changes.documents], dtype=np.int64)
        firsts = np.array([c[1] for c in changes.documents], dtype=np.int64)
        counts = np.array([c[2] for c in changes.documents], dtype=np.int64)
        last_chunk = int((firsts + counts).max()) if len(ids) else 0
        last_document = max((int(ids.max()) if len(ids) else 0), *changes.removed, 0)
        first = _grown(self.first, last_document + 1)
        count = _grown(self.count, last_document + 1)
        owner = _grown(self.owner, last_chunk)
        gone = np.concatenate([ids, np.array(changes.removed, dtype=np.int64)])
        owner[ranges(first[gone], count[gone])] = 0
        first[gone] = count[gone] = 0
        first[ids], count[ids] = firsts, counts
        owner[ranges(firsts, counts)] = np.repeat(ids, counts)
        spoken = tuple(dict.fromkeys((*self.spoken, *(c[3] for c in changes.documents))))
        numbers = {name: number for number, name in enumerate(spoken)}
        language = _grown(self.language, last_document + 1)
        language[ids] = [numbers[c[3]] for c in changes.documents]
        return ActiveChunks(changes.sequence, first, count, owner, language, spoken)


@dataclass(frozen=True)
class Allowed:
    """The chunks that a filter lets pass."""

    chunks: NDArray[np.bool_]  # by chunk id
    documents: NDArray[np.int64] | None  # ids of the passing documents; None: all of them
    total: int  # active chunks, passing or not

    @cached_property
    def count(self) -> int:
        return int(np.count_nonzero(self.chunks))

    @cached_property
    def fitting(self) -> Fitting:
        return Fitting(self.chunks)


class FilterCache:
    """Caches which documents pass the last few filters, also across changes. Threads may share it;
    the database is asked without a lock."""

    def __init__(self, feed: Feed) -> None:
        self._feed = feed
        self._masks: OrderedDict[Where, tuple[int, NDArray[np.bool_]]] = OrderedDict()
        self._changing = Lock()

    def allowed(self, where: Where, active_chunks: ActiveChunks) -> Allowed:
        first, count, owner = active_chunks.first, active_chunks.count, active_chunks.owner
        total = int(count.sum())
        if where == OWNER:
            return Allowed(owner > 0, None, total)
        if looks_at_passages(where.condition):
            return self._passages(where, active_chunks, total)
        passes = self._documents(where, active_chunks)
        documents = np.flatnonzero(passes)
        if int(count.take(documents).sum()) * FEW > len(owner):
            return Allowed(passes.take(owner) & (owner > 0), documents, total)
        chunks = np.zeros(len(owner), dtype=bool)
        chunks[ranges(first.take(documents), count.take(documents))] = True
        return Allowed(chunks, documents, total)

    def _passages(self, where: Where, active_chunks: ActiveChunks, total: int) -> Allowed:
        """Asked again for each snapshot: such filters are rare, and narrow only documents."""
        array = np.array(self._feed.passing_passages(where), dtype=np.int64)
        chunks = np.zeros(len(active_chunks.owner), dtype=bool)
        chunks[array[array < len(chunks)]] = True
        chunks &= active_chunks.owner > 0
        return Allowed(chunks, np.unique(active_chunks.owner[chunks]).astype(np.int64), total)

    def _documents(self, where: Where, active_chunks: ActiveChunks) -> NDArray[np.bool_]:
        since, passes = self._masks.get(where, (0, np.zeros(1, dtype=bool)))
        if since < active_chunks.sequence:
            passes = _grown(passes, len(active_chunks.first))
            if since:  # of a new filter nothing is known that could have changed
                changes = self._feed.changes(since)
                passes[_within([c[0] for c in changes.documents], passes)] = False
                passes[_within(changes.removed, passes)] = False
            passes[_within(self._feed.passing(where, since), passes)] = True
        with self._changing:
            if self._masks.get(where, (0, passes))[0] <= active_chunks.sequence:
                self._masks[where] = (max(since, active_chunks.sequence), passes)
            self._masks.move_to_end(where)
            while len(self._masks) > _REMEMBERED:
                self._masks.popitem(last=False)
        return passes


def _within(ids: list[DocumentId], array: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Documents newer than this picture are for its successor."""
    positions = np.array(ids, dtype=np.int64)
    return positions[positions < len(array)]


def _grown(array: NDArray[_T], size: int) -> NDArray[_T]:
    """A copy with room for `size` entries."""
    bigger = np.zeros(max(size, len(array)), dtype=array.dtype)
    bigger[: len(array)] = array
    return bigger


def ranges(firsts: NDArray[np.int64], counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """All numbers of the ranges [first, first + count)."""
    ends = np.cumsum(counts)
    total = int(ends[-1]) if len(ends) else 0
    numbers: NDArray[np.int64] = np.arange(total) + np.repeat(firsts - (ends - counts), counts)
    return numbers
