"""A library of an earlier release is upgraded while servers of that release go on.

`tests/released/postgres-19.sql.xz` was made by the commit before jobs counted tokens: two
documents, one of them changed once, one for `dm-only`.
"""

from __future__ import annotations

import lzma
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, inspect, text
from tests import postgres

from trivium.core.places import DatabaseAddress
from trivium.core.types import Signal
from trivium.store.postgres.address import parse
from trivium.store.postgres.backend import open_postgres
from trivium.testing.samples import found, put, sample

MADE = Path(__file__).parents[1] / "released" / "postgres-19.sql.xz"
SCHEMA = "release_one"


@pytest.fixture
def released() -> Iterator[DatabaseAddress]:
    with postgres.as_owner() as connection:
        connection.execute(text(f"DROP SCHEMA IF EXISTS {SCHEMA} CASCADE"))
        driver: Any = connection.connection.driver_connection
        driver.execute(made())
    yield DatabaseAddress(f"{postgres.address()}?schema={SCHEMA}")
    with postgres.as_owner() as connection:
        connection.execute(text(f"DROP SCHEMA {SCHEMA} CASCADE"))


def made() -> str:
    return lzma.decompress(MADE.read_bytes()).decode()


def columns() -> dict[tuple[str, str], dict[str, Any]]:
    with postgres.as_owner() as connection:
        looked = inspect(connection)
        return {
            (table, column["name"]): dict(column)
            for table in looked.get_table_names(SCHEMA)
            if not table.startswith("vectors_")  # one per model, not changed by upgrades
            for column in looked.get_columns(table, SCHEMA)
        }


def test_a_released_library_works(released: DatabaseAddress) -> None:
    backend = open_postgres(parse(released), create=False)
    try:
        assert found(backend, Signal.KEYWORD, "lantern") == ["A lantern burns bright."]
        assert found(backend, Signal.VECTOR, "crown thorns")[0] == "A crown of thorns."
        put(backend, sample("new.md", "A newer lantern."))
        assert len(found(backend, Signal.TRIGRAM, "lantern")) == 2
        assert [one for one in backend.upkeep.examine() if not one.ok] == []
    finally:
        backend.close()


def test_an_upgrade_only_adds(released: DatabaseAddress) -> None:
    """So every statement of the old release still works: what it reads and writes is there, and it
    needn't know what is new."""
    before = columns()
    open_postgres(parse(released), create=False).close()
    after = columns()
    for name, column in before.items():
        assert name in after, "removed"
        assert str(after[name]["type"]) == str(column["type"]), name
        assert after[name]["nullable"] >= column["nullable"], name
    old_tables = {table for table, _ in before}
    for name, column in after.items():
        if name[0] in old_tables and name not in before:
            assert column["nullable"] or column["default"] is not None, name


def test_rows_as_the_old_release_writes_them(released: DatabaseAddress) -> None:
    """With its own columns and no others."""
    rows = re.findall(r"^INSERT INTO .*?\);$", made(), re.MULTILINE | re.DOTALL)
    assert rows
    open_postgres(parse(released), create=False).close()
    with postgres.as_owner() as connection:
        written = ("documents", "interpretations", "chunks", "words", "postings", "embeddings")
        emptied = ", ".join(f"{SCHEMA}.{table}" for table in (*written, "names"))
        connection.execute(text(f"TRUNCATE {emptied} CASCADE"))
        for table in written:  # rows that others refer to first
            _write(connection, [row for row in rows if row.split()[2] == f"{SCHEMA}.{table}"])
        jobs = columns_of(connection, "jobs")
    assert jobs["run_size"]["default"] == "0", "written by the old release only"


def _write(connection: Connection, rows: list[str]) -> None:
    driver: Any = connection.connection.driver_connection
    for row in rows:
        driver.execute(row)


def columns_of(connection: Connection, table: str) -> dict[str, Any]:
    return {column["name"]: column for column in inspect(connection).get_columns(table, SCHEMA)}
