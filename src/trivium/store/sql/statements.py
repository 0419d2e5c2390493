"""The few statements and expressions that reading and writing the registry share; and
filters as SQL over its tables, which say exactly what `trivium.store.where` says.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache, partial
from operator import eq, ge, gt, itemgetter, le, lt
from typing import TYPE_CHECKING, Any, TypeAlias
from zlib import crc32

import numpy as np
from sqlalchemy import (
    ColumnElement,
    Connection,
    Dialect,
    Engine,
    FromClause,
    Select,
    Table,
    and_,
    bindparam,
    false,
    func,
    insert,
    not_,
    or_,
    select,
    text,
    true,
    update,
)

from trivium.core.types import EVERYONE, AllOf, AnyOf, Compare, Condition, Exists, Not, Where
from trivium.store.sql.tables import (
    FOLDED_SHEET,
    chunks,
    counters,
    documents,
    fields,
    interpretations,
    known_terms,
    known_words,
    names,
    settings,
)
from trivium.store.where import UPLOADED, as_number, comparable_text, metadata_name
from trivium.text.filters import OF_PASSAGES
from trivium.text.known import FILTERS, ONLY_IN, asked_of

if TYPE_CHECKING:
    from trivium.core.types import Vector

# Names of settings.
EMBEDDED_UPTO = "embedded_upto"  # the highest chunk id that a vector index must hold
MODEL_SETTINGS = "model_settings"  # how to load the model of the vectors
SEPARATION = (
    "grasp"  # as libraries have called it from the first: how well the model tells passages apart
)
NEXT_MODEL = "next_model"  # whose vectors are made beside those that serve
NEXT_SETTINGS = "next_model_settings"
_SEQUENCE = "sequence"  # the counter whose numbers order what can be seen
STORED = np.dtype("<f2")  # 16 bits: half the size, and no cosine moves by more than .0005

# Built once, as are others of this package that run with every document: to build one takes longer
# than to run it (a setting 101 and 30 µs of processor time, the next number of a counter 277 and
# 59).
_SETTING = select(settings.c.value).where(settings.c.name == bindparam("setting"))
_mine = counters.c.name == bindparam("counter")
_LAST = select(counters.c.value).where(_mine)
_RAISE = update(counters).where(_mine).values(value=counters.c.value + bindparam("by"))

# The chunks of a document's active interpretation.
active = (
    (documents.c.interpretation > 0)
    & (chunks.c.id >= documents.c.first_chunk)
    & (chunks.c.id < documents.c.first_chunk + documents.c.chunks)
)


def of_active(*columns: Any) -> Select[Any]:
    """Columns of active chunks and of their documents."""
    return select(*columns).join(documents, chunks.c.document == documents.c.id).where(active)


# Not those that a writer has yet to finish.
KEPT = interpretations.c.state.in_(("active", "retired"))


@contextmanager
def one_statement(engine: Engine) -> Iterator[Connection]:
    """A connection for one statement, without a transaction: PostgreSQL would need two more
    messages to begin and end it."""
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


def alone(connection: Connection, task: str) -> None:
    """Nobody else does the same until this transaction ends. SQLite lets one write at a time
    anyway."""
    if connection.dialect.name == "postgresql":
        connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_key(task)})")


def wait_for_changes(connection: Connection) -> None:
    """Until every change whose number can be read is over, on all nodes of a database: a lock goes
    last when a transaction ends. For PostgreSQL."""
    connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock_shared({_key(_SEQUENCE)})")


def _key(task: str) -> int:
    return crc32(f"trivium {task}".encode())


def setting(connection: Connection, name: str) -> str | None:
    return connection.scalar(_SETTING, {"setting": name})


def vector_bytes(vector: Vector) -> bytes:
    return vector.astype(STORED).tobytes()


def vector_of(stored: bytes) -> Vector:
    return np.frombuffer(stored, dtype=STORED).astype(np.float32)


def take(connection: Connection, name: str, count: int) -> range:
    """The next `count` numbers of a counter."""
    if name == _SEQUENCE:
        alone(connection, _SEQUENCE)
    connection.execute(_RAISE, {"counter": name, "by": count})
    last = last_number(connection, name)
    return range(last - count + 1, last + 1)


def last_number(connection: Connection, name: str) -> int:
    """The highest that a counter ever gave."""
    return int(connection.scalar(_LAST, {"counter": name}) or 0)


def these(column: ColumnElement[Any]) -> ColumnElement[bool]:
    """Rows with one of the `ids` that a statement is executed with."""
    return column.in_(bindparam("ids", expanding=True))


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
    makes = [(at, kind.bind_processor(dialect)) for at, kind in enumerate(types)]
    made = [(at, make) for at, make in makes if make is not None]  # JSON and bytes
    values_of: Callable[[Any], Any] = itemgetter(*order, order[0])  # a tuple, of one name too

    def by_position(row: Mapping[str, Any]) -> tuple[Any, ...]:
        if not made:
            return tuple(values_of(row)[:-1])
        values = list(values_of(row)[:-1])
        for at, make in made:
            values[at] = make(values[at])
        return tuple(values)

    def by_name(row: Mapping[str, Any]) -> dict[str, Any]:
        return dict(zip(order, by_position(row), strict=True))

    return str(compiled), by_position if compiled.positional else by_name


_SET = text(
    "INSERT INTO settings (name, value) VALUES (:name, :value)"
    " ON CONFLICT (name) DO UPDATE SET value = excluded.value"
)


def set_setting(connection: Connection, name: str, value: str) -> None:
    # In one statement: two processes may be the first to set it.
    connection.execute(_SET, {"name": name, "value": value})


def slices(items: Sequence[Any], size: int = 500) -> Iterator[list[Any]]:
    # SQLite takes 32,766 variables a statement, PostgreSQL 65,535: stay far below both.
    for start in range(0, len(items), size):
        yield list(items[start : start + size])


_OfPassages: TypeAlias = Callable[[Compare | Exists], ColumnElement[bool]]

_OPERATORS: dict[str, Any] = {"eq": eq, "lt": lt, "le": le, "gt": gt, "ge": ge}
_LONGEST_ID = 19  # characters: what fits into 64 bits, and no database is asked for more
_COLUMNS = {
    "collection": (documents.c.collection,),
    "category": (documents.c.category,),
    "audience": (documents.c.audience,),
    "source": (documents.c.uri,),
    "type": (documents.c.media_type, documents.c.kind),
    "language": (documents.c.language,),
    "added": (documents.c.added_at,),
    "updated": (documents.c.updated_at,),
}


def visible(where: Where) -> ColumnElement[bool]:
    """True for the documents that `where` lets pass; only those with an active interpretation."""
    return _visible(where, _of_documents)


def visible_passages(where: Where) -> ColumnElement[bool]:
    """True for the passages that `where` lets pass, in a query of `chunks` with their documents."""
    return _visible(where, partial(_stands, chunks))


def _visible(where: Where, of_passages: _OfPassages) -> ColumnElement[bool]:
    clause = and_(documents.c.interpretation > 0, _clause(where.condition, of_passages))
    if where.audiences is not None:
        clause = and_(label_held(documents.c.audience, where), clause)
    if where.collections is not None:
        clause = and_(documents.c.collection.in_(sorted(where.collections)), clause)
    return clause


def visible_then(where: Where) -> ColumnElement[bool]:
    """True for the interpretations that `where` lets pass: who asks may see the document today and
    holds the label that the interpretation had."""
    return and_(visible(where), label_held(interpretations.c.audience, where))


def label_held(label: ColumnElement[Any], where: Where) -> ColumnElement[bool]:
    """Whether the caller has this label. An unknown one needs all labels."""
    if where.audiences is None:
        return true()
    return label.in_(sorted(where.audiences | {EVERYONE}))


def _clause(condition: Condition, of_passages: _OfPassages) -> ColumnElement[bool]:
    match condition:
        case AllOf(of):
            return and_(true(), *(_clause(part, of_passages) for part in of))
        case AnyOf(of):
            return or_(false(), *(_clause(part, of_passages) for part in of))
        case Not(of):
            return not_(_clause(of, of_passages))
        case Exists(field) | Compare(field) if field in OF_PASSAGES:
            return of_passages(condition)
        case _:
            return _holds(condition)


def _holds(condition: Compare | Exists) -> ColumnElement[bool]:
    match condition:
        case Exists(field):
            if field in _COLUMNS:
                return _COLUMNS[field][0] != ""
            return _has_field(field, fields.c.text != "")
        case Compare("source", "eq", value):
            return or_(
                documents.c.uri.in_((str(value), f"{UPLOADED}{value}")),
                documents.c.name == comparable_text(value),
                documents.c.id.in_(_called(str(value))),
                _by_number(str(value)),
            )
        case Compare(field, op, value) if field in _COLUMNS:
            return or_(*(_OPERATORS[op](column, str(value)) for column in _COLUMNS[field]))
        case Compare(field, op, value):
            number = as_number(value) if not isinstance(value, str) else None
            if number is not None:
                return _has_field(field, _OPERATORS[op](fields.c.number, number))
            equal = _has_field(field, _OPERATORS[op](fields.c.text, comparable_text(value)))
            return (
                or_(equal, _is_known_by(field, value)) if op == "eq" and field in FILTERS else equal
            )


def _is_known_by(field: str, value: object) -> ColumnElement[bool]:
    """The document is known by every word of the value, in such fields."""
    wanted, bits = asked_of(field, value)
    by_words = (
        select(known_words.c.document)
        .join(known_terms, known_terms.c.id == known_words.c.term)
        .where(known_words.c.fields.bitwise_and(bits) != 0)
    )
    parts = [documents.c.id.in_(by_words.where(known_terms.c.word == word)) for word in wanted]
    if parts and field in ONLY_IN:
        parts.append(documents.c.media_type.in_(ONLY_IN[field]))
    return and_(*parts) if parts else false()


def _called(value: str) -> Select[Any]:
    """The documents that have it as another name."""
    uris = (value, f"{UPLOADED}{value}")
    either = or_(names.c.uri.in_(uris), names.c.name == comparable_text(value))
    return select(names.c.document).where(either)


def _by_number(value: str) -> ColumnElement[bool]:
    if value.startswith("#") and value[1:].isdecimal():
        number = int(value[1:]) if len(value) < _LONGEST_ID else 0  # which no document has
        return documents.c.id == number
    return false()


def _has_field(field: str, test: ColumnElement[bool]) -> ColumnElement[bool]:
    name = metadata_name(field)
    return documents.c.id.in_(select(fields.c.document).where(fields.c.name == name, test))


def _of_documents(condition: Compare | Exists) -> ColumnElement[bool]:
    """The document has a passage that stands there."""
    passages, read = chunks.alias("standing"), interpretations.alias("read")
    of = (passages.c.interpretation == read.c.id) & (passages.c.document == read.c.document)
    having = select(passages.c.document).join(read, of)
    return documents.c.id.in_(having.where(read.c.state == "active", _stands(passages, condition)))


def _stands(passages: FromClause, condition: Compare | Exists) -> ColumnElement[bool]:
    """Whether a passage is in such a sheet or such rows. Where a place lacks the field, a database
    answers neither yes nor no, which counts as no."""
    place = passages.c.place
    sheet = func.coalesce(place[FOLDED_SHEET].as_string(), func.lower(place["sheet"].as_string()))
    ranges = "seconds" if condition.field == "at" else "rows"
    first, last = (place[(ranges, end)].as_float() for end in (0, 1))
    test: ColumnElement[bool]
    match condition:
        case Exists("sheet"):
            test = sheet != ""
        case Exists():
            test = first.is_not(None)
        case Compare("sheet", op, value):
            test = _OPERATORS[op](sheet, comparable_text(value))
        case Compare(_, op, value):
            number = as_number(value)
            if number is None:
                return false()
            if op == "eq":
                test = and_(first <= number, last >= number)
            else:
                test = _OPERATORS[op](first if op in ("lt", "le") else last, number)
    return func.coalesce(test, false())
