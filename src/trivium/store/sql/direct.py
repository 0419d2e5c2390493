"""Documents whose passages are fetched without SQLAlchemy.

Every search fetches its results. Ten passages take SQLite .3 ms and SQLAlchemy 1 ms more: it
processes the statement, describes 45 columns and reads each through a mapping. Here each filter's
statement is built once, the driver gets its text, and rows are read by position.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, TypeAlias, TypeVar

from sqlalchemy import JSON, ColumnElement, Dialect, Engine, Text, cast

from trivium.core.types import (
    OWNER,
    Chunk,
    ChunkId,
    Document,
    DocumentId,
    Label,
    StoredChunk,
    Where,
)
from trivium.store.sql.documents import SqlDocuments, chunks_by_id
from trivium.store.sql.feed import SEQUENCE
from trivium.store.sql.known import RunQuery
from trivium.store.sql.rows import CHECKED_COLUMNS, document_of, passage_check, place_of
from trivium.text.filters import looks_at_passages

RawRow: TypeAlias = tuple[Any, ...]
_Made = TypeVar("_Made")

_MOST = 200  # ids per statement, enough for any search; for more, SQLAlchemy is fast enough
_STEP = 10  # the number of ids is rounded up, so that few statements serve all
_STATEMENTS = 256  # cached, by filter and number of ids
_DOCUMENTS = 4096  # some 2 kB each
_VALUES = 4096  # headings, places and metadata as JSON; most are the same short ones


class DirectDocuments(SqlDocuments):
    def __init__(self, engine: Engine, read: RunQuery) -> None:
        super().__init__(engine)
        self._read = read
        self._reading = _Reading(engine.dialect)
        self._statement = lru_cache(maxsize=_STATEMENTS)(self._made)
        # With the sequence number they belong to; for each label and filter.
        self._counted: dict[tuple[Label, Where], tuple[int, dict[str, int]]] = {}

    def counts(self, label: Label, where: Where) -> dict[str, int]:
        """Counted once until something changes: a search for a word that no document has asks for
        languages, and counting 100,000 documents takes as long as the search."""
        try:
            sequence = int(self._read(self._engine, SEQUENCE, ())[0][0])
        except (sqlite3.Error, LookupError):
            return super().counts(label, where)
        of, counts = self._counted.get((label, where), (None, {}))
        if of != sequence:
            counts = super().counts(label, where)
            if len(self._counted) >= _STATEMENTS:
                self._counted.clear()
            self._counted[label, where] = (sequence, counts)
        return dict(counts)

    def chunks(self, ids: Sequence[ChunkId], where: Where) -> list[StoredChunk]:
        if not 0 < len(ids) <= _MOST or looks_at_passages(where.condition):
            return super().chunks(ids, where)
        number = len(ids) + -len(ids) % _STEP
        statement = self._statement(where, number)
        try:
            call = statement.asking([*ids, *[ids[-1]] * (number - len(ids))])
            rows = self._read(self._engine, *call)
        except sqlite3.Error:
            return super().chunks(ids, where)  # raises one of our errors, if it fails again
        passages = {chunk.id: chunk for chunk in map(self._reading.chunk, rows)}
        return [passages[i] for i in ids if i in passages]

    def _made(self, where: Where, number: int) -> _Statement:
        return _Statement(self._engine.dialect, where, number)


class _Statement:
    """Fetches `number` passages within one filter."""

    def __init__(self, dialect: Dialect, where: Where, number: int) -> None:
        query = chunks_by_id(where)
        if dialect.name == "postgresql":  # whose driver would parse each value of each row
            columns = query.selected_columns
            query = query.with_only_columns(
                *(cast(c, Text).label(c.name) if _is_json(c) else c for c in columns)
            )
        compiled = query.compile(dialect=dialect)
        made = compiled.construct_expanded_state({"ids": [0] * number})
        self._text, self._values = made.statement, made.parameters
        self._order = made.positiontup  # None: the driver takes them by name
        self._names = [f"ids_{n}" for n in range(1, number + 1)]

    def asking(self, ids: Sequence[ChunkId]) -> tuple[str, Any]:
        values = {**self._values, **dict(zip(self._names, ids, strict=True))}
        return self._text, values if self._order is None else [values[n] for n in self._order]


class _Reading:
    """Turns rows into passages, by position. Parsed values are never changed, so equal ones are
    parsed once. Threads may share it."""

    def __init__(self, dialect: Dialect) -> None:
        columns = list(chunks_by_id(OWNER).selected_columns)
        processors = (
            column.type.dialect_impl(dialect).result_processor(dialect, None)
            or (json.loads if _is_json(column) else None)
            for column in columns
        )
        readers = [read and lru_cache(maxsize=_VALUES)(read) for read in processors]
        self._split = 1 + len(CHECKED_COLUMNS)
        of_chunk = dict(zip(("id", *CHECKED_COLUMNS), readers, strict=False))
        self._of_chunk = list(of_chunk.items())
        self._headings = _parsed(of_chunk["headings"], tuple)
        self._place = _parsed(of_chunk["place"], place_of)
        self._names = [column.name for column in columns[self._split :]]
        self._readers = readers[self._split :]
        # By the whole row: a different row is another document, or the same one after a change.
        self._document = lru_cache(maxsize=_DOCUMENTS)(self._made)

    def chunk(self, row: RawRow) -> StoredChunk:
        number, index, start, end, text, headings, section, *others = row[: self._split]
        header, paragraph, tokens, place, _, _ = others
        path, at = self._headings(headings), self._place(place)
        chunk = Chunk(index, start, end, text, path, section, header, paragraph, tokens, at)
        document = self._document(row[self._split :])
        return StoredChunk(number, document, chunk, lambda: self._is_sound(row, document.id))

    def _is_sound(self, row: RawRow, document: DocumentId) -> bool:
        values = zip(self._of_chunk, row, strict=False)
        return passage_check(
            {name: read(value) if read else value for (name, read), value in values}, document
        )()

    def _made(self, row: RawRow) -> Document:
        values = [read(v) if read else v for read, v in zip(self._readers, row, strict=True)]
        return document_of(dict(zip(self._names, values, strict=True)), "document_")


def _parsed(
    read: Callable[[Any], Any] | None, made: Callable[[Any], _Made]
) -> Callable[[Any], _Made]:
    """What a column's values become; those of the last few rows are kept."""
    return lru_cache(maxsize=_VALUES)(lambda value: made(read(value) if read else value))


def _is_json(column: ColumnElement[Any]) -> bool:
    return isinstance(column.type, JSON)
