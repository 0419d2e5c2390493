"""Jobs over HTTP: seen by whoever may see everything, followed until they end."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient
from tests.serving.shelf import client, shelve

from trivium.core.types import Labels
from trivium.library import Library
from trivium.sources.folder import FolderSource


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    folder = tmp_path_factory.mktemp("jobs")
    (folder / "good.md").write_text("# Good")
    (folder / "bad.pdf").write_bytes(b"%PDF-1.4 broken")
    with shelve(folder / "library") as library:
        library.add([folder / "good.md", folder / "bad.pdf"])
        yield library


@pytest.fixture(scope="module")
def owner(shelf: Library) -> Iterator[TestClient]:
    with client(shelf) as opened:
        yield opened


def test_a_job_and_its_documents(owner: TestClient) -> None:
    (job,) = owner.get("/v1/jobs").json()["jobs"]
    assert (job["state"], job["tasks"], job["failed"]) == ("failed", 2, 1)
    assert owner.get(f"/v1/jobs/{job['id']}").json() == job
    told = owner.get(f"/v1/jobs/{job['id']}/tasks", params={"state": "failed"}).json()
    (task,) = told["tasks"]
    assert (task["name"], task["code"]) == ("bad.pdf", "file.damaged")
    first = owner.get(f"/v1/jobs/{job['id']}/tasks", params={"limit": 1}).json()
    rest = owner.get(
        f"/v1/jobs/{job['id']}/tasks", params={"limit": 1, "cursor": first["next_cursor"]}
    ).json()
    assert rest["next_cursor"] is None
    assert owner.get("/v1/jobs/999").json()["code"] == "job.not_found"


def test_a_job_is_followed_until_it_ends(owner: TestClient, shelf: Library, tmp_path: Path) -> None:
    (tmp_path / "more.md").write_text("# More")
    job = shelf.jobs.enqueue(FolderSource([tmp_path / "more.md"]), Labels())
    owner.post(f"/v1/jobs/{job.id}/cancel")
    answer = owner.get(f"/v1/jobs/{job.id}/events")
    assert answer.headers["content-type"].startswith("text/event-stream")
    events = [line for line in answer.text.splitlines() if line.startswith("data: ")]
    assert json.loads(events[-1].removeprefix("data: "))["state"] == "cancelled"


def test_a_stream_sees_a_job_move(owner: TestClient, shelf: Library, tmp_path: Path) -> None:
    (tmp_path / "moving.md").write_text("# Moving")
    job = shelf.jobs.enqueue(FolderSource([tmp_path / "moving.md"]), Labels())
    seen = []
    with owner.stream("GET", f"/v1/jobs/{job.id}/events") as stream:
        for line in stream.iter_lines():
            if line.startswith("data: "):
                seen.append(json.loads(line.removeprefix("data: "))["state"])
                if len(seen) == 1:
                    shelf.jobs.cancel(job.id)
    assert seen[0] == "queued"
    assert seen[-1] == "cancelled"


def test_what_failed_waits_again(owner: TestClient) -> None:
    job = owner.get("/v1/jobs").json()["jobs"][-1]
    retried = owner.post(f"/v1/jobs/{job['id']}/retry").json()
    assert retried["state"] == "queued"
    cancelled = owner.post(f"/v1/jobs/{job['id']}/cancel").json()
    assert cancelled["state"] == "cancelled"


@pytest.mark.parametrize(
    "limits", [{"audiences": ["player"]}, {"audiences": None, "collections": ["rules"]}]
)
def test_jobs_name_documents_of_everyone(shelf: Library, limits: dict[str, list[str]]) -> None:
    _, token = shelf.tokens.create(rights=["manage", "search"], **limits)  # type: ignore[arg-type]
    job = shelf.jobs.all()[-1].id
    ways = ["/v1/jobs", f"/v1/jobs/{job}", f"/v1/jobs/{job}/tasks", f"/v1/jobs/{job}/events"]
    with client(shelf, token) as keeper:
        for way in (*ways, "/v1/settings", "/metrics"):
            assert keeper.get(way).status_code == 403
        for way in ("cancel", "retry"):
            assert keeper.post(f"/v1/jobs/{job}/{way}").status_code == 403
