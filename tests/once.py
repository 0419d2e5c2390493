"""Makes expensive fixtures once a run, in the worker that needs them first."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from filelock import FileLock
from tests.cli.program import call

ROOT = Path(__file__).parent.parent


def shared_folder(factory: pytest.TempPathFactory) -> Path:
    """The same for all workers of this run."""
    own = factory.getbasetemp()
    return own.parent if "PYTEST_XDIST_WORKER" in os.environ else own


def made_once(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], object]) -> Path:
    """A copy, for the caller to change, of the folder that `make` makes; the others wait."""
    whole = shared_folder(factory) / f"made-{name}"
    with FileLock(f"{whole}.lock"):
        if not whole.exists():
            half = whole.with_suffix(".half")  # left by a worker that failed: start again
            shutil.rmtree(half, ignore_errors=True)
            make(half)
            half.rename(whole)
    own = factory.mktemp(name) / "library"
    shutil.copytree(whole, own)
    return own


def add_samples(library: Path, *more: Path) -> None:
    """The sample documents, as `make run` adds them, with the real model."""
    answer = call("--library", library, "add", "--json", ROOT / "examples" / "documents", *more)
    assert (answer.code, answer.json["failures"], answer.json["notes"]) == (0, [], []), answer
