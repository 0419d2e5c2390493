"""Sources of a library in PostgreSQL: kept in step through failures and kills, and by schedule."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest
from tests import postgres
from tests.serving.shelf import PATIENCE, until
from tests.sources.grounds import Grounds, standing
from tests.sources.worlds import world_of

from trivium.config import Settings
from trivium.core.work import KeptSource
from trivium.library import Library
from trivium.store.opening import BackendOptions, open_backend
from trivium.testing.samples import TOY
from trivium.testing.sync_histories import Life, live


@pytest.fixture(scope="module")
def grounds() -> Iterator[Grounds]:
    with standing() as made:
        yield made


@pytest.mark.parametrize("kind", ["toy", "notes", "slack"])
def test_histories(kind: str, grounds: Grounds) -> None:
    life = Life(Random(f"{kind} in a database"))
    with postgres.library() as address:
        live(life, world_of(kind, life, grounds), lambda: open_backend(address, BackendOptions()))


def test_a_worker_runs_sources_by_their_schedule(tmp_path: Path) -> None:
    (tmp_path / "lamp.md").write_text("A lamp burns.")
    with (
        postgres.library() as address,
        Library(open_backend(address, BackendOptions()), TOY, Settings()) as library,
    ):
        library.sync.add(KeptSource("vault", "notes", {"path": str(tmp_path)}, every=1))
        program = [sys.executable, "-m", "trivium.cli.main", "--library", address.url]
        command = [*program, "worker"]
        with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as worker:
            try:
                until(lambda: library.sync.count("vault") == 1 or worker.poll() is not None)
                (tmp_path / "lamp.md").unlink()
                (tmp_path / "bell.md").write_text("A bell rings.")
                (tmp_path / "rope.md").write_text("A rope hangs.")
                until(lambda: library.sync.count("vault") == 2 or worker.poll() is not None)
            finally:
                worker.terminate()  # SIGINT is ignored where a shell started us in the background
                _, said = worker.communicate(timeout=PATIENCE)
        assert worker.returncode == 0, said
        assert library.sync.verify("vault").in_step
