"""Documents of a library in a folder, with passages fetched past SQLAlchemy.

Every search fetches its results. Ten passages take SQLite .2 ms and SQLAlchemy 1 ms more: it looks
at the statement, makes a description of 45 columns and reads each of them through a mapping. Here
the statement is made once for a filter, its text handed to the driver, and rows are read by place.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

from sqlalchemy import Dialect, Engine

from trivium.store.embedded.database import read_rows
from trivium.store.sql.documents import SqlDocuments, chunks_by_id
from trivium.store.sql.rows import chunk_of, document_of
from trivium.types import ChunkId, Document, DocumentId, StoredChunk, Where

_MOST = 200  # ids a statement: what a search fetches; many passages have time for SQLAlchemy
_STEP = 10  # ids are filled up to a multiple, so that few statements serve all


class FolderDocuments(SqlDocuments):
    def __init__(self, engine: Engine) -> None:
        super().__init__(engine)
        self._statement = lru_cache(maxsize=256)(self._made)

    def chunks(self, ids: Sequence[ChunkId], where: Where) -> list[StoredChunk]:
        if not 0 < len(ids) <= _MOST:
            return super().chunks(ids, where)
        number = len(ids) + -len(ids) % _STEP
        statement = self._statement(where, number)
        try:
            rows = statement.run(self._engine, [*ids, *[ids[-1]] * (number - len(ids))])
        except sqlite3.Error:
            return super().chunks(ids, where)  # says what is wrong in our words, if it still is
        found = statement.read(rows)
        return [found[i] for i in ids if i in found]

    def _made(self, where: Where, number: int) -> _Statement:
        return _Statement(self._engine.dialect, where, number)


class _Statement:
    """Fetches `number` passages within one filter."""

    def __init__(self, dialect: Dialect, where: Where, number: int) -> None:
        query = chunks_by_id(where)
        made = query.compile(dialect=dialect).construct_expanded_state({"ids": [0] * number})
        self._text, self._values = made.statement, list(made.positional_parameters)
        order = list(made.positiontup or ())
        self._first = order.index("ids_1")  # the places of the ids follow each other
        self._last = self._first + number
        names = [column.name for column in query.selected_columns]
        first = next(at for at, name in enumerate(names) if name.startswith("document_"))
        readers = [c.type.dialect_impl(dialect) for c in query.selected_columns]
        read = [(at, kind.result_processor(dialect, None)) for at, kind in enumerate(readers)]
        self._of_chunk = _Columns(names, read, 0, first)
        self._of_document = _Columns(names, read, first, len(names))
        self._id, self._document = names.index("id"), names.index("document")

    def run(self, engine: Engine, ids: Sequence[ChunkId]) -> list[tuple[Any, ...]]:
        values = self._values.copy()
        values[self._first : self._last] = ids
        return read_rows(engine, self._text, values)

    def read(self, rows: Sequence[tuple[Any, ...]]) -> dict[ChunkId, StoredChunk]:
        documents: dict[DocumentId, Document] = {}
        found: dict[ChunkId, StoredChunk] = {}
        for row in rows:
            document = documents.get(row[self._document])
            if document is None:
                document = document_of(self._of_document.named(row), "document_")
                documents[document.id] = document
            chunk = chunk_of(self._of_chunk.named(row))
            found[row[self._id]] = StoredChunk(row[self._id], document, chunk)
        return found


class _Columns:
    """Some neighbouring columns of a row, by name."""

    def __init__(
        self,
        names: Sequence[str],
        readers: Sequence[tuple[int, Callable[[Any], Any] | None]],
        first: int,
        last: int,
    ) -> None:
        self._first, self._last = first, last
        self._names = names[first:last]
        self._readers = [
            (names[at], read) for at, read in readers if read is not None and first <= at < last
        ]

    def named(self, row: tuple[Any, ...]) -> dict[str, Any]:
        found = dict(zip(self._names, row[self._first : self._last], strict=True))
        for name, read in self._readers:
            found[name] = read(found[name])
        return found
