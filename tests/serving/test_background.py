"""Background work of a server: uploads that wait to be read, retries, watched folders."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient
from tests import models
from tests.endpoint import ScriptedEndpoint
from tests.serving.shelf import client, shelve, until

from trivium.config import Settings
from trivium.core.access import LOCAL_OWNER, Caller
from trivium.core.errors import LibraryBusy, ServerBusy
from trivium.core.types import Labels
from trivium.core.work import UPLOAD, Job, JobState
from trivium.ingest.reembed import ReembedProgress
from trivium.library import Library
from trivium.library.background import Background
from trivium.sources.folder import FolderSource


@pytest.fixture(scope="module")
def adders(shelf: Library) -> Iterator[tuple[TestClient, TestClient]]:
    tokens = [
        shelf.tokens.create(audiences=["player"], collections=["rules"], rights=["add", "search"])[
            1
        ]
        for _ in range(2)
    ]
    with client(shelf, tokens[0]) as one, client(shelf, tokens[1]) as other:
        yield one, other


def send(caller: TestClient, name: str, data: bytes) -> Any:
    answer = caller.post("/v1/documents?wait=false", files={"file": (name, data)})
    assert answer.status_code == 202, answer.text
    return answer.json()["job"]


def followed(caller: TestClient, job: int) -> list[dict[str, Any]]:
    """The job whenever it moved, until it ended."""
    text = caller.get(f"/v1/jobs/{job}/events").text
    lines = [line for line in text.splitlines() if line.startswith("data: ")]
    return [json.loads(line.removeprefix("data: ")) for line in lines]


def test_a_file_is_taken_and_added_by_a_job(tended: TestClient, shelf: Library) -> None:
    job = send(tended, "later.md", b"# Later\n\nBasilisks wait.")
    assert (job["kind"], job["what"], job["tasks"]) == (UPLOAD, "add later.md", 1)
    assert followed(tended, job["id"])[-1]["state"] == "done"
    (found, *_) = tended.post("/v1/search", json={"query": "basilisks"}).json()["results"]
    assert found["document"]["uri"] == "upload:later.md"


def test_what_failed_is_tried_again_by_the_server(tended: TestClient, shelf: Library) -> None:
    job = send(tended, "broken.pdf", b"%PDF-1.4 broken")
    assert followed(tended, job["id"])[-1]["state"] == "failed"
    (task,) = tended.get(f"/v1/jobs/{job['id']}/tasks").json()["tasks"]
    assert (task["name"], task["code"]) == ("broken.pdf", "file.damaged")
    kept = list((shelf.backend.folder / "incoming").iterdir())
    assert kept, "what may be tried again is kept"
    shelf.uploads.sweep()
    assert list((shelf.backend.folder / "incoming").iterdir()) == kept
    tended.post(f"/v1/jobs/{job['id']}/retry")
    assert followed(tended, job["id"])[-1]["state"] == "failed"
    (task,) = tended.get(f"/v1/jobs/{job['id']}/tasks").json()["tasks"]
    assert task["attempts"] == 2


def test_what_another_process_left_is_worked_off(
    tended: TestClient, shelf: Library, tmp_path: Path
) -> None:
    (tmp_path / "left.md").write_text("# Left\n\nWyverns.")
    job = shelf.jobs.enqueue(FolderSource([tmp_path / "left.md"]), Labels())
    assert followed(tended, job.id)[-1]["state"] == "done"


def test_who_sent_a_file_follows_its_job_and_no_other(
    tended: TestClient, adders: tuple[TestClient, TestClient]
) -> None:
    one, other = adders
    job = send(one, "mine.md", b"# Mine\n\nOf griffins.")
    assert followed(one, job["id"])[-1]["state"] == "done"
    (task,) = one.get(f"/v1/jobs/{job['id']}/tasks").json()["tasks"]
    assert one.get(f"/v1/documents/{task['document']}").json()["audience"] == "player"
    ways = ("", "/tasks", "/events")
    hidden = [other.get(f"/v1/jobs/{job['id']}{way}") for way in ways]
    missing = [other.get(f"/v1/jobs/99999{way}") for way in ways]
    for answer in (*hidden, *missing):
        assert (answer.status_code, answer.json()["code"]) == (403, "token.right_missing")
    assert one.get("/v1/jobs").status_code == 403
    assert one.post(f"/v1/jobs/{job['id']}/cancel").status_code == 403


def test_notes_do_not_speak_of_what_the_sender_may_not_see(
    tended: TestClient, adders: tuple[TestClient, TestClient], shelf: Library
) -> None:
    text = " ".join(f"word{n}" for n in range(200)).encode()
    hidden = tended.post(
        "/v1/documents",
        files={"file": ("hidden.md", text)},
        data={"audience": "dm-only", "collection": "rules"},
    ).json()["outcomes"][0]["document"]["id"]
    near = text + b" more"
    told = adders[0].post("/v1/documents", files={"file": ("near.md", near)}).json()
    assert told["notes"] == []
    job = send(adders[0], "nearer.md", near + b" still")
    events = followed(adders[0], job["id"])
    assert f"#{hidden}" not in json.dumps(events)
    # The owner is told, a moment after the job has ended.
    until(lambda: any(f"#{hidden}" in note for note in shelf.jobs.get(job["id"]).notes))
    assert f"#{hidden}" not in adders[0].get(f"/v1/jobs/{job['id']}").text


def test_a_file_outlives_a_server_that_stops(tmp_path: Path) -> None:
    with shelve(tmp_path / "library") as library, client(library) as tended:
        job = send(tended, "kept.md", b"# Kept")
        assert job["state"] == "queued"
    with shelve(tmp_path / "library") as library:
        with Background(library):
            until(lambda: library.jobs.get(job["id"]).state is JobState.DONE)
        assert library.documents.get("upload:kept.md").title == "Kept"
        assert not library.jobs.work_next(), "it has stopped for good"
        with pytest.raises(LibraryBusy):
            library.uploads.receive(LOCAL_OWNER, "too late.md", io.BytesIO(b"# Late"))
        assert list((library.backend.folder / "incoming").iterdir()), "but it is kept"


def test_a_folder_is_followed_while_it_is_a_source(
    tended: TestClient, shelf: Library, tmp_path: Path
) -> None:
    (tmp_path / "first.md").write_text("# First\n\nKrakens.")
    made = tended.post("/v1/sources", json={"path": str(tmp_path), "collection": "watched"})
    assert made.status_code == 201, made.text
    source = made.json()
    assert (source["path"], source["there"]) == (str(tmp_path), True)

    def titles() -> set[str]:
        return {d.title for d in shelf.documents.all(where="collection:watched")}

    until(lambda: titles() == {"First"})
    until(lambda: tended.get("/v1/sources").json()["sources"][0]["state"] == "watching")
    (tmp_path / "second.md").write_text("# Second")
    (tmp_path / "first.md").unlink()
    until(lambda: titles() == {"Second"})
    again = tended.post("/v1/sources", json={"path": str(tmp_path), "collection": "watched"})
    assert (again.status_code, again.json()["code"]) == (422, "setting.bad")
    assert tended.delete(f"/v1/sources/{source['id']}").json() == {"removed": source["id"]}
    assert tended.get("/v1/sources").json() == {"sources": []}
    assert titles() == {"Second"}, "what came from it stays"
    gone = tended.delete(f"/v1/sources/{source['id']}")
    assert (gone.status_code, gone.json()["code"]) == (404, "source.not_found")
    missing = tended.post("/v1/sources", json={"path": str(tmp_path / "nowhere")})
    assert (missing.status_code, missing.json()["code"]) == (422, "path.not_found")


def test_only_the_owner_has_sources(adders: tuple[TestClient, TestClient]) -> None:
    for answer in (
        adders[0].get("/v1/sources"),
        adders[0].post("/v1/sources", json={"path": "/"}),
        adders[0].delete("/v1/sources/abc"),
    ):
        assert (answer.status_code, answer.json()["code"]) == (403, "token.right_missing")


def test_what_is_left_over_is_swept(tmp_path: Path) -> None:
    with shelve(tmp_path / "library") as library:
        library.uploads.receive(LOCAL_OWNER, "now.md", io.BytesIO(b"# Now"))
        incoming = library.backend.folder / "incoming"
        assert list(incoming.iterdir()) == [], "whoever waited has been told"
        job = library.uploads.receive_later(LOCAL_OWNER, "later.md", io.BytesIO(b"# Later"))
        (kept,) = incoming.iterdir()
        (incoming / "new-0000").write_bytes(b"half")
        for path in incoming.iterdir():
            os.utime(path, (0, 0))
        assert library.uploads.sweep() == 1
        assert list(incoming.iterdir()) == [kept], "its job waits"
        assert library.jobs.work_next()
        assert library.jobs.get(job.id).state is JobState.DONE
        assert list(incoming.iterdir()) == [], "it is done with"


def test_nobody_fills_the_space_for_uploads_for_others(tmp_path: Path) -> None:
    """Failed uploads of one token kept everyone, the owner included, from uploading for good."""
    settings = Settings(serve_incoming_bytes=4_000)
    with shelve(tmp_path / "library", settings) as library:
        tokens = [library.tokens.create(audiences=(), rights=["add"])[1] for _ in range(6)]
        callers = [library.tokens.caller(token) for token in tokens]
        incoming = library.backend.folder / "incoming"

        def send(caller: Caller, size: int, name: str) -> Job:
            return library.uploads.receive_later(caller, name, io.BytesIO(b" " * size))

        def fail(caller: Caller, size: int, name: str = "blank.md") -> Job:
            job = send(caller, size, name)
            assert library.jobs.work_next()
            assert library.jobs.get(job.id).state is JobState.FAILED
            return job

        with pytest.raises(ServerBusy, match="a token may have 1,000"):
            send(callers[0], 1_001, "too much.md")
        first, second = fail(callers[0], 400), fail(callers[0], 500)
        third = fail(callers[0], 600)
        assert sorted(p.stat().st_size for p in incoming.iterdir()) == [600], "the oldest went"
        library.jobs.retry(first.id)
        assert library.jobs.work_next()
        (task,) = library.jobs.tasks(first.id)
        assert (task.code, "Send it again" in task.message) == ("file.unreadable", True)
        assert second.id < third.id
        for caller in callers[1:5]:
            fail(caller, 1_000)
        assert sum(p.stat().st_size for p in incoming.iterdir()) == 4_000, "the oldest of all went"
        for caller in callers[:4]:
            send(caller, 1_000, "waits.md")
        assert sum(p.stat().st_size for p in incoming.iterdir()) == 4_000
        with client(library, tokens[5], settings=settings) as other:
            answer = other.post("/v1/documents?wait=false", files={"file": ("a.md", b"# A")})
            assert (answer.status_code, answer.json()["code"]) == (503, "server.busy")
            assert "Retry-After" in answer.headers
        assert len(list(incoming.iterdir())) == 4, "nothing is left of it"
        with client(library, settings=settings) as owner:
            sent = {"file": ("new.md", b"# Quay 7" + b" " * 5_000)}
            answer = owner.post("/v1/documents?wait=false", files=sent)
            assert answer.status_code == 202, "the owner always can"


def test_a_change_of_the_model_is_gone_on_with(tmp_path: Path) -> None:
    class Left(Exception):
        """Whoever began it leaves in the middle."""

    def leave(_progress: ReembedProgress) -> None:
        raise Left

    with (
        ScriptedEndpoint(models.answer) as endpoint,
        Library.open(tmp_path / "l", settings=models.settings(endpoint.url, "toy")) as library,
    ):
        library.uploads.receive(LOCAL_OWNER, "note.md", io.BytesIO(b"# Note"))
        with pytest.raises(Left):
            library.models.reembed(models.settings(endpoint.url, "other"), on_progress=leave)
        (job,) = library.jobs.all(ended=False)
        assert job.state is JobState.QUEUED
        with Background(library):
            until(lambda: library.jobs.get(job.id).state is JobState.DONE)
        assert "other" in library.models.manifest().model
