"""A library of an earlier release is upgraded while servers of that release go on.

`tests/released/postgres-19.sql.xz` was made by the commit before jobs counted tokens: two
documents, one of them changed once, one for `dm-only`. `tests/released/trivium-0.2.0.tar.xz` is the
code of the last release (`git archive COMMIT src | xz -9e`), kept because a clean checkout may have
neither its tag nor its history. The next release replaces it.
"""

from __future__ import annotations

import lzma
import os
import re
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

import httpx2
import pytest
from sqlalchemy import Connection, inspect, text
from tests import postgres
from tests.database.test_errors import changed_setting
from tests.serving.shelf import client

from trivium.config import Settings
from trivium.core.places import DatabaseAddress
from trivium.core.types import Signal
from trivium.library import Library
from trivium.store.opening import BackendOptions, open_backend
from trivium.store.postgres.address import parse
from trivium.store.postgres.backend import open_postgres
from trivium.testing.samples import found, put, sample

RELEASED = Path(__file__).parents[1] / "released"
MADE = RELEASED / "postgres-19.sql.xz"
SCHEMA, BESIDE = "release_one", "release_two"


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


@contextmanager
def serving(code: Path, address: DatabaseAddress) -> Iterator[httpx2.Client]:
    """`trivium serve` of that code."""
    program = "import trivium.cli.main as program; program.main()"
    process = subprocess.Popen(
        [sys.executable, "-P", "-c", program, "--library", address.url, "serve", "--port", "0"],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        env={**os.environ, "PYTHONPATH": str(code)},
    )  # fmt: skip
    try:
        assert process.stdout is not None
        told = process.stdout.readline().removeprefix("Serving at ").strip()
        with httpx2.Client(base_url=told, timeout=240, trust_env=False) as client:
            yield client
    finally:
        process.terminate()
        process.wait(240)
        if process.stdout is not None:
            process.stdout.close()


def upload(client: Any, name: str, text: str) -> None:
    client.post("/v1/documents", files={"file": (name, text.encode())}).raise_for_status()


def names(client: Any, query: str, mode: str = "keyword") -> set[str]:
    asked = {"query": query, "mode": mode}
    answer = client.post("/v1/search", json=asked).raise_for_status().json()
    return {result["document"]["uri"] for result in answer["results"]}


def test_servers_of_the_last_release_go_on_beside_new_ones(tmp_path: Path) -> None:
    """One makes a library; this release opens it, and both add and search; one of the last release
    starts on the new tables; then there are tables that it can't use, and it says so."""
    (archive,) = RELEASED.glob("trivium-*.tar.xz")
    with tarfile.open(archive) as packed:
        packed.extractall(tmp_path, filter="data")
    address = DatabaseAddress(f"{postgres.address()}?schema={BESIDE}")
    with postgres.as_owner() as connection:
        connection.execute(text(f"DROP SCHEMA IF EXISTS {BESIDE} CASCADE"))
    three = {"upload:first.md", "upload:quagga.md", "upload:okapi.md"}
    try:
        with serving(tmp_path / "src", address) as old:
            with suppress(httpx2.HTTPStatusError):  # 0.2.0: two threads were first to set the model
                upload(old, "first.md", "A lantern burns over the harbour.")
            upload(old, "first.md", "A lantern burns over the harbour.")
            with Library.open(address, settings=Settings()) as library, client(library) as new:
                assert names(new, "lantern") == {"upload:first.md"}
                upload(old, "quagga.md", "# The hold\n\nA lantern burns.")
                upload(new, "okapi.md", "A lantern on deck.")
                for server in (old, new):
                    assert names(server, "lantern") == three
                    assert "upload:first.md" in names(server, "a light at sea", "semantic")
                assert names(new, "quagga") == {"upload:quagga.md"}, "by its name"
        with serving(tmp_path / "src", address) as old:
            assert names(old, "lantern") == three
            assert old.get("/readyz").status_code == 200
            with changed_setting(BESIDE, "readable_from", "999.999"):
                refused = old.get("/readyz")
            assert (refused.status_code, refused.json()["code"]) == (503, "library.too_new")
        with closing(open_backend(address, BackendOptions())) as backend:
            assert [finding for finding in backend.upkeep.examine() if not finding.ok] == []
    finally:
        with postgres.as_owner() as connection:
            connection.execute(text(f"DROP SCHEMA {BESIDE} CASCADE"))
