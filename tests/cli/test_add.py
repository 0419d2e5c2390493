"""`trivium add`: counts, labels, failures, interruption."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock
from tests.cli.program import call
from tests.unit.extract.making import scanned

from trivium.ingest import embedding
from trivium.library.jobs import Jobs


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    folder.mkdir()
    for name in ("one", "two", "three"):
        (folder / f"{name}.md").write_text(f"# {name}\n\nA note about {name}.\n", encoding="utf-8")
    return folder


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return tmp_path / "library"


def counts(report: Any) -> dict[str, int]:
    names = ("added", "updated", "relabelled", "moved", "duplicate", "unchanged", "failed")
    return {name: report[name] for name in names if report[name]}


def test_json_of_every_fate(notes: Path, place: Path) -> None:
    add = ("add", notes, "--library", place, "--json")
    first = call(*add)
    assert first.code == 0
    assert set(first.json) == {
        "job", "added", "updated", "relabelled", "moved", "duplicate", "unchanged", "failed",
        "cancelled", "unread",
        "failures", "chunks", "seconds", "embedding_seconds", "notes",
    }  # fmt: skip
    assert counts(first.json) == {"added": 3}
    assert first.json["chunks"] == 3
    assert 0 < first.json["embedding_seconds"] < first.json["seconds"]
    assert counts(call(*add).json) == {"unchanged": 3}
    (notes / "one.md").write_text("# one\n\nChanged.\n", encoding="utf-8")
    assert counts(call(*add).json) == {"updated": 1, "unchanged": 2}
    assert counts(call(*add, "--category", "diary").json) == {"relabelled": 3}


def test_failures_are_listed_and_the_rest_is_added(notes: Path, place: Path) -> None:
    (notes / "empty.md").write_text("", encoding="utf-8")
    plain = call("add", notes, "--library", place)
    assert plain.code == 1
    header, row, summary = plain.out.splitlines()
    assert header.split() == ["failed", "reason", "code"]
    assert "empty.md" in row
    assert row.endswith("file.empty")
    assert summary.startswith("3 added, 1 failed · 3 passages in ")
    answer = call("add", notes, "--library", place, "--json")
    assert answer.code == 1
    assert counts(answer.json) == {"unchanged": 3, "failed": 1}
    (failure,) = answer.json["failures"]
    assert set(failure) == {"uri", "code", "message"}
    assert failure["uri"] == str(notes / "empty.md")
    assert failure["code"] == "file.empty"


def test_labels_and_metadata(notes: Path, place: Path) -> None:
    labels = ("--collection", "game", "--category", "rules", "--audience", "dm-only")
    metadata = [f"--metadata={m}" for m in ("year=2024", "size=1.5", "code=007", "tag=a", "tag=b")]
    call("add", notes / "one.md", "--library", place, *labels, *metadata)
    (document,) = call("list", "--library", place, "--json").json["documents"]
    assert (document["collection"], document["category"]) == ("game", "rules")
    assert document["audience"] == "dm-only"
    told = {"year": 2024, "size": 1.5, "code": "007", "tag": ["a", "b"]}
    assert told.items() <= document["metadata"].items()


def test_a_wrong_path_leaves_no_library(notes: Path, place: Path) -> None:
    assert call("add", notes, notes / "nothing", "--library", place).code == 2
    assert not place.exists()


def test_an_empty_folder_is_no_error(tmp_path: Path, place: Path) -> None:
    (tmp_path / "nothing").mkdir()
    answer = call("add", tmp_path / "nothing", "--library", place)
    assert answer.code == 0
    assert "nothing was added" in answer.err


def test_an_interruption_keeps_what_was_done(
    notes: Path, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = Jobs.work

    def interrupted(self: Jobs, job: int, **options: Any) -> Any:
        def stop(outcome: Any) -> None:
            raise KeyboardInterrupt

        return whole(self, job, on_outcome=stop, **options)

    with monkeypatch.context() as patch:
        patch.setattr(Jobs, "work", interrupted)
        patch.setattr(embedding, "BATCH_DOCUMENTS", 1)
        plain = call("add", notes, "--library", place)
        again = call("add", notes, "--library", place, "--json")
    assert (plain.code, plain.out) == (130, "")
    told = plain.err.splitlines()
    assert "1 of 3 documents are done and stay" in told[0]
    assert told[1].startswith("`trivium jobs run` resumes job 1")
    assert again.code == 130
    assert again.error["code"] == "interrupted"
    _, first = call("jobs", "--library", place, "--json").json["jobs"]
    assert first["state"] == "queued"
    rest = call("jobs", "run", "--library", place, "--json")
    assert rest.code == 0
    # How far the second got with the first's job before its own was interrupted is chance.
    assert counts(rest.json).get("added", 0) == 3 - first["ended"]
    assert len(call("list", "--library", place, "--json").json["documents"]) == 3
    states = [job["state"] for job in call("jobs", "--library", place, "--json").json["jobs"]]
    assert states == ["done", "done"]


@pytest.mark.timeout(300)  # without the message it would wait forever
def test_a_second_writer_says_that_it_waits(notes: Path, place: Path) -> None:
    assert call("add", notes / "one.md", "--library", place).code == 0
    command = [sys.executable, "-m", "trivium.cli.main", "add", str(notes), "--json"]
    lock = FileLock(place / "writer.lock")
    lock.acquire()
    with subprocess.Popen(
        [*command, "--library", str(place)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as running:
        assert running.stdout
        assert running.stderr
        try:
            assert "waiting" in running.stderr.readline()
        finally:
            lock.release()
        assert counts(json.loads(running.stdout.read())) == {"added": 2, "unchanged": 1}
    assert running.returncode == 0


def test_a_damaged_library_is_refused(notes: Path, place: Path) -> None:
    place.mkdir()
    (place / "library.db").write_bytes(b"this is no database" * 100)
    answer = call("add", notes, "--library", place, "--json")
    assert answer.code == 3
    assert answer.error["code"] == "library.damaged"


@pytest.mark.parametrize("how", ["gone", "empty"])
def test_a_library_without_its_database_is_no_new_one(notes: Path, place: Path, how: str) -> None:
    assert call("add", notes, "--library", place).code == 0
    for part in place.glob("library.db*"):
        part.unlink()
    if how == "empty":
        (place / "library.db").touch()
    for asked in (["add", notes], ["search", "one"]):
        answer = call(*asked, "--library", place, "--json")
        assert (answer.code, answer.error["code"]) == (3, "library.damaged")
    assert "recover" in answer.error["fix"]


@pytest.fixture
def scan(tmp_path: Path) -> Path:
    """A PDF whose only page is a picture of text."""
    path = tmp_path / "scan.pdf"
    path.write_bytes(scanned(["The lighthouse keeper counts", "seven wizards at midnight."]))
    return path


def test_pages_without_text_are_recognised_unless_ocr_is_off(scan: Path, place: Path) -> None:
    off = call("add", scan, "--library", place, "--json", "--ocr", "off")
    assert off.json["failures"][0]["code"] == "file.empty"
    assert "`read.ocr` to auto" in off.json["failures"][0]["message"]
    read = call("add", scan, "--library", place, "--json", "--languages", "eng")
    assert counts(read.json) == {"added": 1}
    found = call("search", "lighthouse wizards", "--library", place, "--mode", "keyword", "--json")
    uris = [result["document"]["uri"] for result in found.json["results"]]
    assert [Path(uri).name for uri in uris] == ["scan.pdf"]


def test_a_language_that_ocr_does_not_know_is_named(scan: Path, place: Path) -> None:
    answer = call("add", scan, "--library", place, "--json", "--languages", "eng+tlh")
    assert answer.error["code"] == "model.unavailable"
    assert "tlh" in answer.error["message"]
    assert "deu, eng" in answer.error["fix"]
    assert call("add", scan, "--library", place, "--ocr", "sometimes").code == 2


def test_a_value_that_no_library_can_keep_is_refused(notes: Path, tmp_path: Path) -> None:
    place = tmp_path / "library"
    half = "\udcff"  # what Python makes of a byte on the command line that is no text
    for option in ("--metadata=name=", "--category=", "--collection=", "--audience="):
        answer = call("add", notes, "--library", place, "--json", f"{option}{half}")
        assert (answer.code, answer.error["code"]) == (2, "value.bad"), answer
    answer = call("add", notes, "--library", place, "--json", "--metadata", f"n={'9' * 400}")
    assert (answer.code, answer.json["added"]) == (0, 3)
    listed = call("list", "--library", place, "--json")
    assert listed.json["documents"][0]["metadata"]["n"] == "9" * 400


def test_an_empty_path_is_not_the_current_folder(
    place: Path, notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(notes)
    for command in ("add", "watch"):
        told = call(command, "", "--library", place)
        assert told.code != 0
        assert "empty path" in told.err
