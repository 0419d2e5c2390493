"""`trivium jobs`: list, show, follow, cancel, retry, run and clear."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from rich.console import Console
from tests.cli.program import Program, call

from trivium import Library
from trivium.cli.output import Shell
from trivium.cli.progress import drawn
from trivium.config import Settings
from trivium.core.work import Offered, Priority, TaskProgress
from trivium.store.embedded.backend import open_embedded
from trivium.testing.samples import ToyEmbedder


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "one.md").write_text("# One\n\nA note about one.\n", encoding="utf-8")
    (folder / "empty.md").write_text("", encoding="utf-8")
    return folder


@pytest.fixture
def trivium(tmp_path: Path) -> Program:
    return lambda *arguments: call("--library", tmp_path / "library", *arguments)


def test_the_life_of_a_job(notes: Path, trivium: Program) -> None:
    queued = trivium("add", notes, "--background", "--json")
    assert (queued.code, queued.json["job"]["state"]) == (0, "queued")
    assert "options" not in queued.json["job"]
    (listed,) = trivium("jobs", "--json").json["jobs"]
    assert (listed["id"], listed["tasks"], listed["ended"]) == (1, 2, 0)
    assert trivium("list", "--json").json["documents"] == []

    ran = trivium("jobs", "run", "--json")
    assert (ran.code, ran.json["added"], ran.json["failed"]) == (1, 1, 1)
    plain = trivium("jobs").out.splitlines()
    assert plain[0].split() == ["job", "what", "state", "done", "failed", "left", "created"]
    assert "partly failed" in plain[1], "one of two was added"
    assert "2 of 2" in plain[1]

    shown = trivium("jobs", "show", 1)
    assert "1 added, 1 failed" in shown.out
    assert "[file.empty]" in shown.out
    only = trivium("jobs", "show", 1, "--failed", "--json").json
    (task,) = only["tasks"]
    assert (task["code"], task["state"]) == ("file.empty", "failed")
    assert "key" not in task

    (notes / "empty.md").write_text("Now there is something.", encoding="utf-8")
    again = trivium("jobs", "retry", 1, "--json")
    assert (again.code, again.json["added"]) == (0, 1)
    assert trivium("jobs", "--json").json["jobs"][0]["state"] == "done"
    assert "No documents are queued" in trivium("jobs", "run").err
    assert trivium("jobs", "clear", "--json").json == {"cleared": 1}
    assert "No jobs" in trivium("jobs").err


def test_following_says_every_change_on_a_line(notes: Path, trivium: Program) -> None:
    trivium("add", notes)
    (line,) = trivium("jobs", "watch", 1).out.splitlines()
    assert json.loads(line)["ended"] == 2
    assert trivium("jobs", "watch").out == ""


def test_cancelling(notes: Path, trivium: Program) -> None:
    trivium("add", notes, "--background")
    assert "Job 1: cancelled, 0 of 2 documents done" in trivium("jobs", "cancel", 1).out
    assert " 0 of 2 " in trivium("jobs").out
    ran = trivium("jobs", "run", "--json")
    assert (ran.code, ran.json["added"]) == (0, 0)
    (job,) = trivium("jobs", "--json").json["jobs"]
    assert (job["state"], job["ended"]) == ("cancelled", 2)
    assert trivium("jobs", "retry", "--all", "--background").code == 0


def test_what_is_not_there(notes: Path, trivium: Program) -> None:
    trivium("add", notes)
    answer = trivium("jobs", "show", 99, "--json")
    assert (answer.code, answer.error["code"]) == (2, "job.not_found")
    assert trivium("jobs", "retry").code == 2
    assert trivium("jobs", "retry", 1, "--all").code == 2


def test_a_queued_job_is_named_by_the_next_add(notes: Path, trivium: Program) -> None:
    trivium("add", notes, "--background", "--priority", "bulk")
    answer = trivium("add", notes / "one.md")
    assert answer.code == 0
    assert "`trivium jobs run` resumes" in answer.err


def test_the_bar_says_what_is_done_after_the_last_document(tmp_path: Path) -> None:
    shown = io.StringIO()
    (tmp_path / "one.md").write_text("one")
    with Library(open_embedded(tmp_path / "library"), ToyEmbedder(), Settings()) as library:
        report = library.add(tmp_path / "one.md")
        shell = Shell()
        shell.err = Console(file=shown, force_terminal=True, width=100, color_system=None)
        assert report.job is not None
        with drawn(shell, library, report.job.id):
            pass
    assert "Tidying the index" in shown.getvalue()


def test_only_what_is_being_read_is_named(tmp_path: Path) -> None:
    """A worker holds more than it reads: those that wait are not named beside the bar."""
    shown = io.StringIO()
    console = Console(file=shown, force_terminal=True, width=100, color_system=None)
    with Library.open(tmp_path / "library") as library:
        queue = library.backend.queue
        offered = [Offered(f"{name}.md", f"{name}.md", 1) for name in ("begun", "waiting")]
        job = queue.create("add", "add 2", {}, Priority.BULK, offered)
        held = queue.claim("worker", 10)
        queue.note_progress(
            {task.id: TaskProgress("reading") for task in held if task.name == "begun.md"}
        )
        shell = Shell()
        shell.err = console
        with drawn(shell, library, job):
            pass
    assert "begun.md" in shown.getvalue()
    assert "waiting.md" not in shown.getvalue()
