"""Documents of a library in a folder; fetches passages without SQLAlchemy.

Every search fetches its results. Ten passages take SQLite .3 ms and SQLAlchemy 1 ms more: it
processes the statement, describes 45 columns and reads each through a mapping. Here each filter's
statement is built once, the driver gets its text, and rows are read by position.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, TypeAlias

from sqlalchemy import Dialect, Engine

from trivium.store.embedded.database import read_rows, sequence_of
from trivium.store.sql.documents import SqlDocuments, chunks_by_id
from trivium.store.sql.rows import chunk_of, document_of
from trivium.text.filters import looks_at_passages
from trivium.types import OWNER, ChunkId, Document, Label, StoredChunk, Where

Row: TypeAlias = tuple[Any, ...]

_MOST = 200  # ids per statement, enough for any search; for more, SQLAlchemy is fast enough
_STEP = 10  # the number of ids is rounded up, so that few statements serve all
_STATEMENTS = 256  # cached, by filter and number of ids
_DOCUMENTS = 4096  # some 2 kB each
_VALUES = 4096  # headings, places and metadata as JSON; most are the same short ones


class FolderDocuments(SqlDocuments):
    def __init__(self, engine: Engine) -> None:
        super().__init__(engine)
        self._reading = _Reading(engine.dialect)
        self._statement = lru_cache(maxsize=_STATEMENTS)(self._made)
        # With the sequence number they belong to; for each label and filter.
        self._counted: dict[tuple[Label, Where], tuple[int, dict[str, int]]] = {}

    def counts(self, label: Label, where: Where) -> dict[str, int]:
        """Counted once until something changes: a search for a word that no document has asks for
        languages, and counting 100,000 documents takes as long as the search."""
        sequence = sequence_of(self._engine)
        of, known = self._counted.get((label, where), (None, {}))
        if of is None or of != sequence:
            known = super().counts(label, where)
            if len(self._counted) >= _STATEMENTS:
                self._counted.clear()
            if sequence is not None:
                self._counted[label, where] = (sequence, known)
        return dict(known)

    def chunks(self, ids: Sequence[ChunkId], where: Where) -> list[StoredChunk]:
        if not 0 < len(ids) <= _MOST or looks_at_passages(where.condition):
            return super().chunks(ids, where)
        number = len(ids) + -len(ids) % _STEP
        statement = self._statement(where, number)
        try:
            rows = statement.run(self._engine, [*ids, *[ids[-1]] * (number - len(ids))])
        except sqlite3.Error:
            return super().chunks(ids, where)  # raises one of our errors, if it fails again
        found = {chunk.id: chunk for chunk in map(self._reading.chunk, rows)}
        return [found[i] for i in ids if i in found]

    def _made(self, where: Where, number: int) -> _Statement:
        return _Statement(self._engine.dialect, where, number)


class _Statement:
    """Fetches `number` passages within one filter."""

    def __init__(self, dialect: Dialect, where: Where, number: int) -> None:
        compiled = chunks_by_id(where).compile(dialect=dialect)
        made = compiled.construct_expanded_state({"ids": [0] * number})
        self._text, self._values = made.statement, list(made.positional_parameters)
        self._first = list(made.positiontup or ()).index("ids_1")  # the others follow it
        self._last = self._first + number

    def run(self, engine: Engine, ids: Sequence[ChunkId]) -> list[Row]:
        values = self._values.copy()
        values[self._first : self._last] = ids
        return read_rows(engine, self._text, values)


class _Reading:
    """Turns rows into passages. Threads may share it."""

    def __init__(self, dialect: Dialect) -> None:
        columns = list(chunks_by_id(OWNER).selected_columns)
        names = [column.name for column in columns]
        kinds = [column.type.dialect_impl(dialect) for column in columns]
        readers = [kind.result_processor(dialect, None) for kind in kinds]
        self._split = next(at for at, name in enumerate(names) if name.startswith("document_"))
        self._of_chunk = _Columns(names[: self._split], readers[: self._split])
        self._of_document = _Columns(names[self._split :], readers[self._split :])
        # By the whole row: a different row is another document, or the same one after a change.
        self._document = lru_cache(maxsize=_DOCUMENTS)(self._made)

    def chunk(self, row: Row) -> StoredChunk:
        held = self._of_chunk.named(row[: self._split])
        return StoredChunk(held["id"], self._document(row[self._split :]), chunk_of(held))

    def _made(self, row: Row) -> Document:
        return document_of(self._of_document.named(row), "document_")


class _Columns:
    """Neighbouring columns of a row, by name. Parsed values are never changed, so equal values are
    parsed once."""

    def __init__(
        self, names: Sequence[str], readers: Sequence[Callable[[Any], Any] | None]
    ) -> None:
        self._names = names
        self._readers = [
            (name, lru_cache(maxsize=_VALUES)(read))
            for name, read in zip(names, readers, strict=True)
            if read is not None
        ]

    def named(self, row: Row) -> dict[str, Any]:
        found = dict(zip(self._names, row, strict=True))
        for name, read in self._readers:
            found[name] = read(found[name])
        return found
