"""The few statements and expressions that reading and writing the registry share."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import TYPE_CHECKING, Any
from zlib import crc32

import numpy as np
from sqlalchemy import Connection, Dialect, Engine, Table, insert, select, text, update

from trivium.store.sql.tables import chunks, counters, documents, interpretations, settings

if TYPE_CHECKING:
    from trivium.core.types import Vector

# Names of settings.
EMBEDDED_UPTO = "embedded_upto"  # the highest chunk id that a vector index must hold
MODEL_SETTINGS = "model_settings"  # how to load the model of the vectors
GRASP = "grasp"  # how well the model tells the passages apart
NEXT_MODEL = "next_model"  # whose vectors are made beside those that serve
NEXT_SETTINGS = "next_model_settings"
_SEQUENCE = "sequence"  # the counter whose numbers order what can be seen
STORED = np.dtype("<f2")  # 16 bits: half the size, and no cosine moves by more than .0005

# The chunks of a document's active interpretation.
active = (
    (documents.c.interpretation > 0)
    & (chunks.c.id >= documents.c.first_chunk)
    & (chunks.c.id < documents.c.first_chunk + documents.c.chunks)
)

# Not those that a writer has yet to finish.
KEPT = interpretations.c.state.in_(("active", "retired"))


@contextmanager
def one_statement(engine: Engine) -> Iterator[Connection]:
    """A connection to read one thing: PostgreSQL is not asked to begin and to end a transaction,
    which are two messages more."""
    with engine.connect() as connection:
        if connection.dialect.name == "postgresql":
            connection.execution_options(isolation_level="AUTOCOMMIT")
        yield connection


@contextmanager
def leniently(connection: Connection) -> Iterator[None]:
    """Text that is no longer UTF-8 comes with marks in place of the damage, not as an error."""
    raw = connection.connection.dbapi_connection
    if not isinstance(raw, sqlite3.Connection):
        yield
        return
    raw.text_factory = lambda data: data.decode("utf-8", "replace")
    try:
        yield
    finally:
        raw.text_factory = str


@contextmanager
def one_state(engine: Engine) -> Iterator[Connection]:
    """A connection whose statements all see the same state of the database."""
    with engine.connect() as connection:
        if connection.dialect.name == "sqlite":  # else each statement sees what is there by then
            connection.exec_driver_sql("BEGIN")
            yield connection
        else:
            yield connection.execution_options(isolation_level="REPEATABLE READ")


def alone(connection: Connection, what: str) -> None:
    """Nobody else does the same until this transaction ends. SQLite lets one write at a time
    anyway."""
    if connection.dialect.name == "postgresql":
        connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_key(what)})")


def wait_for_changes(connection: Connection) -> None:
    """Until every change whose number can be read is over, on all nodes of a database: a lock goes
    last when a transaction ends. For PostgreSQL."""
    connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock_shared({_key(_SEQUENCE)})")


def _key(what: str) -> int:
    return crc32(f"trivium {what}".encode())


def setting(connection: Connection, name: str) -> str | None:
    return connection.scalar(select(settings.c.value).where(settings.c.name == name))


def vector_bytes(vector: Vector) -> bytes:
    return vector.astype(STORED).tobytes()


def vector_of(stored: bytes) -> Vector:
    return np.frombuffer(stored, dtype=STORED).astype(np.float32)


def take(connection: Connection, name: str, count: int) -> range:
    """The next `count` numbers of a counter."""
    if name == _SEQUENCE:
        alone(connection, _SEQUENCE)
    mine = counters.c.name == name
    connection.execute(update(counters).where(mine).values(value=counters.c.value + count))
    last = connection.scalar(select(counters.c.value).where(mine)) or 0
    return range(last - count + 1, last + 1)


def behind_all(prefix: str) -> str:
    """Sorts after every text that begins so."""
    return prefix[:-1] + chr(ord(prefix[-1]) + 1)


def insert_all(
    connection: Connection, table: Table, rows: list[dict[str, Any]], *, absent: bool = False
) -> None:
    """Rows with the same columns. As text, for `execute` looks at every value of every row on its
    own: half the time of 256 documents of a chunk each. `absent`: only those that are not there."""
    if rows:
        statement, arranged = _insertion(connection.dialect, table, tuple(rows[0]))
        statement += " ON CONFLICT DO NOTHING" if absent else ""
        connection.exec_driver_sql(statement, [arranged(row) for row in rows])


@lru_cache
def _insertion(
    dialect: Dialect, table: Table, names: tuple[str, ...]
) -> tuple[str, Callable[[Mapping[str, Any]], Any]]:
    """The statement, and what makes its parameters of a row."""
    compiled = insert(table).compile(dialect=dialect, column_keys=names)
    order = compiled.positiontup or names
    types = [table.c[name].type.dialect_impl(dialect) for name in order]
    made = [(name, kind.bind_processor(dialect)) for name, kind in zip(order, types, strict=True)]

    def by_position(row: Mapping[str, Any]) -> tuple[Any, ...]:
        return tuple([row[name] if make is None else make(row[name]) for name, make in made])

    def by_name(row: Mapping[str, Any]) -> dict[str, Any]:
        return dict(zip(order, by_position(row), strict=True))

    return str(compiled), by_position if compiled.positional else by_name


_SET = (
    "INSERT INTO settings (name, value) VALUES (:name, :value)"
    " ON CONFLICT (name) DO UPDATE SET value = excluded.value"
)


def set_setting(connection: Connection, name: str, value: str) -> None:
    # In one statement: two processes may be the first to set it.
    connection.execute(text(_SET), {"name": name, "value": value})


def slices(items: Sequence[Any], size: int = 500) -> Iterator[list[Any]]:
    # SQLite takes 32,766 variables a statement, PostgreSQL 65,535: stay far below both.
    for start in range(0, len(items), size):
        yield list(items[start : start + size])
