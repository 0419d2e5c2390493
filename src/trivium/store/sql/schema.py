"""The format of a library's database: a new one gets all tables, an older one what it lacks.

Missing tables and columns of `tables` are added, so a change of the tables needs code here only if
old rows must be filled. Nothing is removed, and every new column has a default: servers of the last
release keep working while new ones start. What is no longer used goes one release later, which
raises `READABLE_FROM` of the PostgreSQL tables.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache

from sqlalchemy import Connection, Engine, Table, inspect, select, text, update
from sqlalchemy.dialects import registry
from sqlalchemy.schema import CreateColumn, CreateIndex, CreateTable, ExecutableDDLElement

from trivium.core.errors import LibraryTooNew
from trivium.store.sql.statements import insert_all, set_setting, setting
from trivium.store.sql.tables import counters, documents, jobs, metadata

SCHEMA = 26  # one more with every change of the tables
_COUNTERS = ("document", "interpretation", "chunk", "sequence", "job", "task", "term")


def schema_of(engine: Engine) -> int:
    """0 for a database without a library. Raises LibraryTooNew."""
    with engine.connect() as connection:
        if not inspect(connection).has_table("settings"):
            return 0
        schema = int(setting(connection, "schema") or 0)
    if schema > SCHEMA:
        raise LibraryTooNew(
            f"This library has format {schema}; this version of Trivium reads up to {SCHEMA}."
        )
    return schema


def migrate(engine: Engine) -> None:
    """Each older table is completed and filled in its own transaction: servers that use them wait
    for one at a time."""
    schema = schema_of(engine)
    if schema == SCHEMA:
        return
    for index in (index for table in metadata.sorted_tables for index in table.indexes):
        if "where" in index.info:
            index.dialect_options[engine.dialect.name]["where"] = index.info["where"]
    if schema:
        for table in metadata.sorted_tables:
            with _transaction(engine) as connection:
                _complete(connection, table)
    with _transaction(engine) as connection:
        for definition in _definitions(connection.dialect.name):
            connection.exec_driver_sql(definition)
        have = set(connection.scalars(select(counters.c.name)))
        missing = [name for name in _COUNTERS if name not in have]
        insert_all(connection, counters, [{"name": name, "value": 0} for name in missing])
        set_setting(connection, "schema", str(SCHEMA))


@cache
def _definitions(dialect: str) -> tuple[str, ...]:
    """What makes the tables and indexes that are missing. To put it together takes longer than
    to run it: half of what a new library took to open."""
    ours = registry.load(dialect)()
    elements: list[ExecutableDDLElement] = []
    for table in metadata.sorted_tables:
        elements.append(CreateTable(table, if_not_exists=True))
        elements += [CreateIndex(index, if_not_exists=True) for index in table.indexes]
    return tuple(str(element.compile(dialect=ours)) for element in elements)


@contextmanager
def _transaction(engine: Engine) -> Iterator[Connection]:
    with engine.begin() as connection:
        if connection.dialect.name == "sqlite":  # else each change of a table is one, on the disk
            connection.exec_driver_sql("BEGIN")
        yield connection


def _complete(connection: Connection, table: Table) -> None:
    """Add the columns and indexes that a table lacks; one that isn't there at all comes later."""
    looked = inspect(connection)
    if not looked.has_table(table.name):
        return
    have = {column["name"] for column in looked.get_columns(table.name)}
    missing = [column for column in table.columns if column.name not in have]
    for column in missing:
        described = CreateColumn(column).compile(dialect=connection.dialect)
        connection.execute(text(f"ALTER TABLE {table.name} ADD COLUMN {described}"))
    for index in table.indexes:
        index.create(connection, checkfirst=True)
    for column in missing:
        fill = _FILLED.get(f"{table.name}.{column.name}")
        if fill is not None:
            fill(connection)


def _run(*statements: str) -> Callable[[Connection], None]:
    def run(connection: Connection) -> None:
        for statement in statements:
            connection.execute(text(statement))

    return run


# The uri of an upload by a token begins like this, or ends so before the name of an inner file.
_SENT = re.compile(r"upload:([0-9a-f]{12})/|https?://.*?#by-([0-9a-f]{12})(?:$|!/)")


def _name_senders(connection: Connection) -> None:
    """Whose each document is. Until then its uri alone said so."""
    for row in connection.execute(select(documents.c.id, documents.c.uri)).all():
        sent = _SENT.match(row.uri)
        if sent:
            ours = update(documents).where(documents.c.id == row.id)
            connection.execute(ours.values(sender=sent[1] or sent[2]))


def _count_read(connection: Connection) -> None:
    """Nobody counted the passages of documents that were added before. `run_size` is no longer
    written; in PostgreSQL it stays, because servers of the release before still write it."""
    connection.execute(update(jobs).values(read=jobs.c.ended, read_size=jobs.c.ended_size))
    has_default = connection.dialect.name == "postgresql"
    change = "ALTER COLUMN run_size SET DEFAULT 0" if has_default else "DROP COLUMN run_size"
    connection.execute(text(f"ALTER TABLE jobs {change}"))


# Fills old rows, by the column that they lacked. What an older library knows of its past: the
# active interpretation has its document's labels, and the others were retired by the last change
# at the latest. Nobody wrote down the labels of those, so they stay unknown.
_FILLED: dict[str, Callable[[Connection], None]] = {
    "documents.seen_hash": _run(
        "UPDATE documents SET seen_hash = content_hash, seen_fingerprint = fingerprint"
    ),
    "documents.sender": _name_senders,
    "interpretations.retired_at": _run(
        "UPDATE interpretations SET tokens = (SELECT coalesce(sum(tokens), 0) FROM chunks"
        " WHERE chunks.interpretation = interpretations.id)",
        "UPDATE interpretations SET media_type = (SELECT media_type FROM documents"
        " WHERE documents.id = interpretations.document)",
        "UPDATE interpretations SET retired_at = (SELECT updated_at FROM documents"
        " WHERE documents.id = interpretations.document) WHERE state = 'retired'",
        "UPDATE interpretations SET (size, metadata) = (SELECT size, metadata FROM documents"
        " WHERE documents.id = interpretations.document) WHERE state = 'active'",
    ),
    "interpretations.audience": _run(
        "UPDATE interpretations SET audience = (SELECT audience FROM documents"
        " WHERE documents.id = interpretations.document) WHERE state = 'active'"
    ),
    "jobs.read": _count_read,
    "tasks.passages": _run(
        "UPDATE tasks SET passages = 0 WHERE state IN ('done', 'failed', 'cancelled')"
    ),
}
