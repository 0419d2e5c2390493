"""The database, or one node of it, goes away while documents are added: an error in a sentence, no
traceback, and the next run goes on."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path
from uuid import uuid4

import pytest
from sqlalchemy import Connection, text
from tests import citus, postgres
from tests.database.sabotage import sabotage
from tests.database.test_serving import shut_out
from tests.serving.shelf import PATIENCE, until

from trivium.core.places import DatabaseAddress
from trivium.core.types import OWNER
from trivium.store.opening import BackendOptions, open_backend
from trivium.store.postgres.address import parse

NOTES = 3


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    for number in range(NOTES):
        (tmp_path / f"{number}.md").write_text(f"# Note {number}\n\nLantern {number} burns low.")
    return tmp_path


def test_a_server_that_goes_away_during_an_add(notes: Path) -> None:
    with postgres.library() as address, postgres.role("SUPERUSER") as role:
        open_backend(address, BackendOptions()).close()
        mine = postgres.as_role(address, role)
        with stopping_at(parse(address).schema, postgres.as_owner):
            adding = add(mine, notes)
            until(lambda: waits(postgres.as_owner) or adding.poll() is not None)
            shut_out(role, "NOLOGIN")
            interrupted(adding)
        shut_out(role, "LOGIN")
        finished(add(mine, notes), mine)


@citus.needed
def test_citus_loses_a_node_during_an_add(notes: Path) -> None:
    name = f"test_{uuid4().hex[:12]}"
    with citus.schema(name) as address:
        with stopping_at(name, citus.as_owner) as release:
            adding = add(address, notes)
            until(lambda: waits(citus.as_owner) or adding.poll() is not None)
            citus.end_connections()
            with citus.node_away():
                release()
                interrupted(adding)
        finished(add(address, notes), address)


Owner = Callable[[], AbstractContextManager[Connection]]
KEY = 7345


@contextmanager
def stopping_at(schema: str, as_owner: Owner) -> Iterator[Callable[[], None]]:
    """An add waits where it writes its first document, until it is released."""
    waiting = f"PERFORM pg_advisory_xact_lock({KEY});"
    with as_owner() as holder:
        holder.execute(text(f"SELECT pg_advisory_xact_lock({KEY})"))
        with sabotage(schema, "documents", waiting, as_owner):
            yield holder.rollback
            holder.rollback()


def waits(as_owner: Owner) -> bool:
    query = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
    with as_owner() as connection:
        return bool(connection.scalar(text(query)))


def add(address: DatabaseAddress, folder: Path) -> subprocess.Popen[str]:
    program = [sys.executable, "-m", "trivium.cli.main", "--library", address.url]
    pipe = subprocess.PIPE
    return subprocess.Popen([*program, "add", str(folder)], stdout=pipe, stderr=pipe, text=True)


def interrupted(adding: subprocess.Popen[str]) -> None:
    out, err = adding.communicate(timeout=PATIENCE)
    assert adding.returncode == 3, out + err
    assert "[database." in err
    assert "Traceback" not in out + err


def finished(adding: subprocess.Popen[str], address: DatabaseAddress) -> None:
    out, err = adding.communicate(timeout=PATIENCE)
    assert adding.returncode == 0, out + err
    with closing(open_backend(address, BackendOptions())) as backend:
        assert len(backend.documents.all(OWNER)) == NOTES
        assert [finding for finding in backend.upkeep.examine() if not finding.ok] == []
