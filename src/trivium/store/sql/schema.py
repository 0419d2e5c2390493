"""The format of a library's database, and the steps to today's."""

from __future__ import annotations

from sqlalchemy import Engine, inspect

from trivium.core.errors import LibraryTooNew
from trivium.store.sql.migrations import MIGRATIONS, SCHEMA
from trivium.store.sql.statements import set_setting, setting


def schema_of(engine: Engine) -> int:
    """0 for a database without a library. Raises LibraryTooNew."""
    with engine.connect() as connection:
        if not inspect(connection).has_table("settings"):
            return 0
        found = int(setting(connection, "schema") or 0)
    if found > SCHEMA:
        raise LibraryTooNew(
            f"This library has format {found}; this version of Trivium reads up to {SCHEMA}."
        )
    return found


def migrate(engine: Engine) -> None:
    """Each step is its own transaction."""
    found = schema_of(engine)
    for number, step in enumerate(MIGRATIONS[found:], start=found + 1):
        with engine.begin() as connection:
            step(connection)
            set_setting(connection, "schema", str(number))
