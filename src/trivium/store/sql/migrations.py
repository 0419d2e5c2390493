"""The numbered steps from an empty database, or an older library, to the tables of today."""

from __future__ import annotations

from collections.abc import Callable

from sqlalchemy import Connection, insert, inspect, text

from trivium.store.sql.tables import (
    collections,
    counters,
    metadata,
    token_vectors,
    turn_documents,
    turns,
)


def _create(connection: Connection) -> None:
    metadata.create_all(connection)
    names = ("document", "interpretation", "chunk", "sequence")
    connection.execute(insert(counters), [{"name": name, "value": 0} for name in names])


def _add_summaries(connection: Connection) -> None:
    if all(c["name"] != "summary" for c in inspect(connection).get_columns("interpretations")):
        added = "ALTER TABLE interpretations ADD COLUMN summary TEXT NOT NULL DEFAULT ''"
        connection.execute(text(added))


def _add_collections(connection: Connection) -> None:
    collections.create(connection, checkfirst=True)


def _add_token_vectors(connection: Connection) -> None:
    token_vectors.create(connection, checkfirst=True)


def _add_conversations(connection: Connection) -> None:
    turns.create(connection, checkfirst=True)
    turn_documents.create(connection, checkfirst=True)


# Step n brings a library from schema n to n+1. Steps are only ever appended, and a new library
# has all tables from the first on: later steps add what is not there.
MIGRATIONS: tuple[Callable[[Connection], None], ...] = (
    _create,
    _add_summaries,
    _add_collections,
    _add_token_vectors,
    _add_conversations,
)
SCHEMA = len(MIGRATIONS)
