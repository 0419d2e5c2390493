"""Finds rows of the registry that contradict each other, and rows that nothing uses any more."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from zlib import crc32

from sqlalchemy import (
    JSON,
    ColumnElement,
    Connection,
    Engine,
    FromClause,
    RowMapping,
    Select,
    Subquery,
    Table,
    Text,
    and_,
    delete,
    func,
    select,
    true,
    tuple_,
    type_coerce,
    update,
)

from trivium.core.errors import LibraryDamaged
from trivium.core.types import ChunkId, DocumentId
from trivium.store.sql.rows import CHECKED, CHECKSUM, changed_checksum, checksum, chunk_of, is_sound
from trivium.store.sql.statements import active, leniently
from trivium.store.sql.tables import (
    STAGED,
    chunks,
    documents,
    embeddings,
    interpretations,
    names,
    token_vectors,
)

# A difference of two sets, not an anti-join: on several nodes the two lie by different keys.
_no_chunk_uses = [
    table.c.hash.in_(select(table.c.hash).except_(select(chunks.c.embedding)))
    for table in (embeddings, token_vectors)
]


_BATCH = 500  # chunks looked at together
# Columns that a document's row and its active interpretation's both have.
_TOLD_TWICE = (
    "title", "metadata", "language", "media_type", "content_hash", "size", "fingerprint",
    "audience", "original", "first_chunk", "chunks",
)  # fmt: skip
_HASH_LENGTH = 32  # of what was embedded; others come from stores' own tests


@dataclass(frozen=True, slots=True)
class Rotten:
    """A changed passage, and the text that it should have, if known."""

    chunk: ChunkId
    document: DocumentId
    text: str | None = None  # that the passage should have
    interpretation: int | None = None  # whose text lacks it, where the passage itself is sound


@dataclass(frozen=True, slots=True)
class Unsound:
    """A row that doesn't match its checksum, or can't be read."""

    table: Table
    key: tuple[Any, ...]  # its primary key
    documents: tuple[DocumentId, ...]  # that it concerns

    @property
    def is_derived(self) -> bool:
        """A vector can be computed again."""
        return self.table in (embeddings, token_vectors)


class Checks:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def unsound(self, *, with_passages: bool = False) -> list[Unsound]:
        """Every row with a checksum that doesn't match it. Passages apart, of which `rotten` can
        say more."""
        tables = [table for table in CHECKED if with_passages or table is not chunks]
        return [finding for table in tables for finding in self._unsound_of(table)]

    def _unsound_of(self, table: Table) -> Iterator[Unsound]:
        for keys in self._keys(table):
            try:
                bad = [key for key, row in self._rows(table, keys) if not is_sound(table, row)]
            except LibraryDamaged:  # an unreadable one must not hide the others
                bad = [key for key in keys if not self._is_sound(table, key)]
            for key in bad:
                yield Unsound(table, key, self._concerned(table, key))

    def _keys(self, table: Table) -> Iterator[list[tuple[Any, ...]]]:
        """The primary keys of a table, a batch at a time."""
        columns = list(table.primary_key.columns)
        query = select(*columns).order_by(*columns).limit(_BATCH)
        after: Select[Any] = query
        while True:
            with self._engine.connect() as connection:
                batch = [tuple(row) for row in connection.execute(after)]
            if not batch:
                return
            yield batch
            after = query.where(tuple_(*columns) > batch[-1])

    def _rows(
        self, table: Table, keys: Sequence[tuple[Any, ...]]
    ) -> list[tuple[tuple[Any, ...], dict[str, Any]]]:
        columns = list(table.primary_key.columns)
        range_ = tuple_(*columns).between(keys[0], keys[-1])
        with self._engine.connect() as connection:
            rows = _read_anyway(connection, table, range_)
        return [(tuple(row[column.name] for column in columns), row) for row in rows]

    def _is_sound(self, table: Table, key: tuple[Any, ...]) -> bool:
        try:
            return all(is_sound(table, row) for _, row in self._rows(table, [key]))
        except LibraryDamaged:
            return False

    def _concerned(self, table: Table, key: tuple[Any, ...]) -> tuple[DocumentId, ...]:
        if table is documents:
            return key
        if table in (interpretations, chunks):
            query = select(table.c.document).where(table.c.id == key[0])
        else:
            query = select(chunks.c.document).where(chunks.c.embedding == key[1]).distinct()
        with self._engine.connect() as connection:
            return tuple(sorted(connection.scalars(query)))

    def mend_rows(self, bad: Sequence[Unsound], vectors: Mapping[str, bytes]) -> list[Unsound]:
        """Repair rows that have a good copy: a document's row from its active interpretation, and
        the other way round; a vector from the index, whose rows are given by hash. Deletes other
        vectors, since they can be computed again. Returns the repaired rows."""
        return [finding for finding in bad if self._mend_row(finding, vectors)]

    def _mend_row(self, finding: Unsound, vectors: Mapping[str, bytes]) -> bool:
        mine = _is_key(finding)
        with self._engine.begin() as connection:
            if finding.table is token_vectors:
                connection.execute(delete(token_vectors).where(mine))
                return True
            if finding.table is embeddings:
                wanted = connection.scalar(select(embeddings.c.checksum).where(mine))
                vector = vectors.get(finding.key[1], b"")
                if crc32(vector) == wanted:
                    connection.execute(update(embeddings).where(mine).values(vector=vector))
                else:
                    connection.execute(delete(embeddings).where(mine))
                return True
            return _take_over(connection, finding)

    def without_checksum(self) -> int:
        """Rows from before there were checksums."""
        with self._engine.connect() as connection:
            return sum(
                connection.scalar(
                    select(func.count()).select_from(table).where(table.c.checksum.is_(None))
                )
                or 0
                for table in CHECKED
            )

    def write_checksums(self) -> int:
        """Add a checksum to each row that has none, as it is now. Returns how many there were."""
        done = 0
        for table in CHECKED:
            for keys in self._keys(table):
                rows = [(k, row) for k, row in self._rows(table, keys) if row[CHECKSUM] is None]
                with self._engine.begin() as connection:
                    for key, row in rows:
                        mine = _is_key(Unsound(table, key, ()))
                        to = {CHECKSUM: checksum(table, row)}
                        connection.execute(update(table).where(mine).values(**to))
                done += len(rows)
        return done

    def rotten(self, hash_of: Callable[[str], str]) -> list[Rotten]:
        """Compare every passage, active or not, with the hash of its embedded text and with its
        document's text: what two of the three agree on is right."""
        rottens: list[Rotten] = []
        last = 0
        ids = select(chunks.c.id, chunks.c.document).order_by(chunks.c.id).limit(_BATCH)
        while True:
            with self._engine.connect() as connection:
                batch = connection.execute(ids.where(chunks.c.id > last)).all()
            if not batch:
                return rottens
            last = batch[-1].id
            try:
                rottens += self._rotten([row.id for row in batch], hash_of)
            except LibraryDamaged:  # an unreadable one must not hide the others
                for row in batch:
                    try:
                        rottens += self._rotten([row.id], hash_of)
                    except LibraryDamaged:
                        rottens.append(Rotten(row.id, row.document))

    def _rotten(self, ids: Sequence[ChunkId], hash_of: Callable[[str], str]) -> Iterator[Rotten]:
        whole = interpretations.c.text.label("whole")
        query = (
            select(chunks, interpretations.c.summary, whole)
            .join(
                interpretations,
                (chunks.c.interpretation == interpretations.c.id)
                & (chunks.c.document == interpretations.c.document),
            )
            .where(chunks.c.id.in_(ids))
        )
        with self._engine.connect() as connection, leniently(connection):
            rows = connection.execute(query).mappings().all()
        return (rotten for row in rows if (rotten := _judged(row, hash_of)) is not None)

    def mend(self, rotten: Sequence[Rotten]) -> None:
        """Restore the text of these passages. Those whose text is unknown stay."""
        with self._engine.begin() as connection, leniently(connection):
            for passage in rotten:
                if passage.text is None:
                    continue
                if passage.interpretation is None:
                    _set_text(connection, chunks, passage.chunk, passage.text)
                    continue
                place = select(chunks.c.start, chunks.c.end).where(chunks.c.id == passage.chunk)
                start, end = connection.execute(place).one()
                mine = interpretations.c.id == passage.interpretation
                whole = connection.scalar(select(interpretations.c.text).where(mine)) or ""
                mended = whole[:start] + passage.text + whole[end:]
                _set_text(connection, interpretations, passage.interpretation, mended)

    def distrust(self, document: DocumentId, digest: str) -> None:
        """Take a document's labels as they are, whatever its checksum says, so that it is read
        again from bytes with this hash."""
        mine = documents.c.id == document
        with self._engine.begin() as connection:
            for row in _read_anyway(connection, documents, mine):
                unread = {
                    "content_hash": digest, "seen_hash": digest, "fingerprint": "",
                    "seen_fingerprint": "", "metadata": row["metadata"] or {},
                    "names": row["names"] or [],
                }  # fmt: skip
                new = {**row, **unread}
                new[CHECKSUM] = checksum(documents, new)
                connection.execute(update(documents).where(mine).values(**new))

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
        d = documents.c
        whole = (interpretations.c.state == "active") & (
            (interpretations.c.number == d.interpretation)
            & (interpretations.c.first_chunk == d.first_chunk)
        )
        states = _counted(interpretations, interpretations.c.document, whole)
        subquery = _counted(chunks, chunks.c.document, active)
        called = _counted(names, names.c.document, true())
        counts = (func.coalesce(counted.c.held, 0) for counted in (states, subquery, called))
        is_one, has_chunks, has_names = counts
        query = select(d.id).where(
            d.interpretation > 0,
            (is_one != 1)
            | (has_chunks != d.chunks)
            | (has_names != func.json_array_length(d.names)),
        )
        joined: FromClause = documents
        for counted in (states, subquery, called):
            joined = joined.outerjoin(counted, counted.c.document == d.id)
        query = query.select_from(joined).order_by(d.id)
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


def _counted(table: Table, of: ColumnElement[Any], which: ColumnElement[bool]) -> Subquery:
    """How many such rows each document has."""
    joined = table.join(documents, of == documents.c.id)
    counted = select(of.label("document"), func.count().label("held")).select_from(joined)
    return counted.where(which).group_by(of).subquery()


def _read_anyway(
    connection: Connection, table: Table, which: ColumnElement[bool]
) -> list[dict[str, Any]]:
    """Rows with whatever can be read of them: a value that is no JSON any more is None."""
    packed = [column.name for column in table.columns if isinstance(column.type, JSON)]
    columns = [type_coerce(c, Text).label(c.name) if c.name in packed else c for c in table.columns]
    with leniently(connection):
        rows = connection.execute(select(*columns).where(which)).mappings().all()
    return [{**row, **{name: _json(row[name]) for name in packed}} for row in rows]


def _json(text: Any) -> Any:
    """PostgreSQL reads it itself."""
    try:
        return json.loads(text) if isinstance(text, str) else text
    except ValueError:
        return None


def _set_text(connection: Connection, table: Table, id_: int, text: str) -> None:
    (row,) = _read_anyway(connection, table, table.c.id == id_)
    values = {"text": text, CHECKSUM: changed_checksum(table, row, {"text": text})}
    connection.execute(update(table).where(table.c.id == id_).values(**values))


def _is_key(finding: Unsound) -> ColumnElement[bool]:
    columns = finding.table.primary_key.columns
    return and_(*(column == value for column, value in zip(columns, finding.key, strict=True)))


def _take_over(connection: Connection, finding: Unsound) -> bool:
    """Give a document's row, or its active interpretation's, what the other of the two says, one
    column or all of them, if the checksum then says that it is right."""
    (row,) = _read_anyway(connection, finding.table, _is_key(finding))
    if finding.table is documents:
        of = (interpretations.c.document == row["id"]) & (interpretations.c.state == "active")
        others = _read_anyway(connection, interpretations, of)
    else:
        is_active = row["state"] == "active"
        of = documents.c.id == row["document"]
        others = _read_anyway(connection, documents, of) if is_active else []
    for other in others:
        fields = {name: other[name] for name in _TOLD_TWICE}
        for values in [*({name: value} for name, value in fields.items()), fields]:
            if is_sound(finding.table, {**row, **values}):
                connection.execute(update(finding.table).where(_is_key(finding)).values(**values))
                return True
    return False


def _judged(row: RowMapping, hash_of: Callable[[str], str]) -> Rotten | None:
    """The problem of a chunk's row, joined to its interpretation's."""

    def fits(text: str) -> bool:
        values: dict[str, Any] = {**row, "text": text}
        return bool(hash_of(chunk_of(values).embedded_under(row["summary"])) == row["embedding"])

    part = row["whole"][row["start"] : row["end"]]
    agree = part == row["text"]
    whole_is_wrong = Rotten(row["id"], row["document"], row["text"], row["interpretation"])
    if row[CHECKSUM] is not None:
        if is_sound(chunks, row):
            return None if agree else whole_is_wrong
        is_right = is_sound(chunks, {**row, "text": part})
        return Rotten(row["id"], row["document"], part if is_right else None)
    if len(row["embedding"]) != _HASH_LENGTH:
        return None if agree else Rotten(row["id"], row["document"])
    if fits(row["text"]):
        return None if agree else whole_is_wrong
    is_right = not agree and fits(part)
    return Rotten(row["id"], row["document"], part if is_right else None)
