"""`trivium watch` and `trivium add --prune` as a person or a program calls them."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import pytest
from tests.cli.program import Answer, call
from tests.endpoint import ScriptedEndpoint
from tests.models import answer


@pytest.fixture
def named() -> Iterator[list[str]]:
    """A model that costs nothing."""
    with ScriptedEndpoint(answer) as server:
        yield ["--set", f"embed.url={server.url}", "--set", "embed.model=toy"]


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    folder.mkdir()
    for name in ("a.md", "b.md", "c.tmp.md"):
        (folder / name).write_text(f"This is {name}, and no other.")
    return folder


def events(stream: IO[str]) -> Iterator[tuple[str, str]]:
    for line in stream:
        told = json.loads(line)
        yield told["event"], Path(told["uri"]).name


@contextmanager
def watching(*arguments: str) -> Iterator[subprocess.Popen[str]]:
    """The program in its own process, which always ends with the test."""
    # A shell's background jobs ignore Ctrl-C, and so would what tests start that run in one.
    before = signal.signal(signal.SIGINT, signal.SIG_DFL)
    process = subprocess.Popen(
        [sys.executable, "-m", "trivium.cli.main", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )
    signal.signal(signal.SIGINT, before)
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_watching_until_it_is_stopped(
    notes: Path, tmp_path: Path, named: list[str], how: signal.Signals
) -> None:
    options = ["--quiet", "0.05", "--ignore", "*.tmp.md", "--json", *named]
    with watching("--library", str(tmp_path / "l"), "watch", str(notes), *options) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        seen = events(process.stdout)
        assert {next(seen) for _ in range(3)} == {
            ("added", "a.md"),
            ("added", "b.md"),
            ("watching", "notes"),
        }
        (notes / "a.md").unlink()
        assert next(seen) == ("removed", "a.md")
        process.send_signal(how)
        assert process.wait(240) == 0, process.stderr.read()
    listed = call("--library", tmp_path / "l", "list", "--json", *named)
    assert [Path(d["uri"]).name for d in listed.json["documents"]] == ["b.md"]


def test_a_folder_that_is_not_there(tmp_path: Path, named: list[str]) -> None:
    refused = call("--library", tmp_path / "l", "watch", tmp_path / "no", "--json", *named)
    assert (refused.code, refused.error["code"]) == (2, "path.not_found")


def test_pruning_once(notes: Path, tmp_path: Path, named: list[str]) -> None:
    def add(*options: object) -> Answer:
        return call("--library", tmp_path / "l", "add", notes, *options, *named)

    assert add("--ignore", "*.tmp.md", "--json").json["added"] == 2
    (notes / "a.md").unlink()
    assert "removed" not in add("--json", "--ignore", "*.tmp.md").json
    assert add("--json", "--prune").json["removed"] == [str(notes / "a.md")]
    assert add("--prune", "--ignore", "c*").out.endswith(
        "/c.tmp.md\n1 removed: gone from the folder, or ignored now.\n"
    )
    (notes / "b.md").unlink()
    (notes / "c.tmp.md").unlink()
    refused = add("--prune", "--json")
    assert (refused.code, refused.error["code"]) == (2, "folder.empty")
    notes.rmdir()
    assert add("--prune", "--json").error["code"] == "path.not_found"
    assert add("--prune", "--force", "--json").json["removed"] == [str(notes / "b.md")]
    (tmp_path / "file.md").write_text("A file.")
    refused = call("--library", tmp_path / "l", "add", tmp_path / "file.md", "--prune", *named)
    assert refused.code == 2
    assert "needs folders" in refused.err
