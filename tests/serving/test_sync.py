"""Sources over HTTP: added, run by the server when they are due, verified, paused, removed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from time import monotonic, sleep

import pytest
from starlette.testclient import TestClient
from tests.serving.shelf import client, shelve

from trivium.library import Library

PATIENCE = 240.0  # seconds: for a machine that is busy with other things


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    with shelve(tmp_path_factory.mktemp("synced") / "library") as library:
        yield library


@pytest.fixture(scope="module")
def owner(shelf: Library) -> Iterator[TestClient]:
    with client(shelf, tend=True) as opened:
        yield opened


def until(holds: Callable[[], bool]) -> None:
    end = monotonic() + PATIENCE
    while not holds():
        assert monotonic() < end
        sleep(0.05)


def test_a_source_is_kept_in_step_by_the_server(
    owner: TestClient, shelf: Library, tmp_path: Path
) -> None:
    (tmp_path / "lamp.md").write_text("A lamp burns in the #tower.")
    body = {"name": "vault", "kind": "notes", "options": {"path": str(tmp_path)}, "every": 1}
    made = owner.post("/v1/sync", json=body)
    assert made.status_code == 201, made.text
    assert (made.json()["state"], made.json()["items"]) == ("new", 0)
    assert owner.post("/v1/sync", json=body).json()["code"] == "source.exists"

    def items() -> int:
        return int(owner.get("/v1/sync/vault").json()["source"]["items"])

    until(lambda: items() == 1)
    found = owner.post("/v1/search", json={"query": "lamp", "where": "tags:tower"}).json()
    assert [one["document"]["uri"] for one in found["results"]] == ["notes:vault/lamp.md"]
    (tmp_path / "bell.md").write_text("A bell rings.")
    (tmp_path / "lamp.md").unlink()
    until(lambda: owner.get("/v1/sync/vault/verify").json()["differences"] == [])
    assert items() == 1
    assert owner.post("/v1/sync/vault/pause").json()["state"] == "paused"
    assert owner.post("/v1/sync/vault/run", json={}).json()["code"] == "source.paused"
    until(lambda: not shelf.sync.is_running("vault"))
    (tmp_path / "salt.md").write_text("Salt before silver.")
    told = owner.get("/v1/sync/vault/verify?ids=true").json()["differences"]
    assert [(one["item"], one["kind"]) for one in told] == [("salt.md", "missing")]
    assert owner.post("/v1/sync/vault/resume").json()["state"] in ("idle", "running")
    assert owner.post("/v1/sync/vault/run", json={"full": True}).status_code == 202
    until(lambda: items() == 2)
    assert owner.get("/v1/sync").json()["sources"][0]["name"] == "vault"
    assert owner.delete("/v1/sync/vault").json() == {"removed": "vault", "documents": 2}
    assert owner.get("/v1/sync/vault").status_code == 404


def test_what_is_wrong_with_a_source_is_said_at_once(owner: TestClient, tmp_path: Path) -> None:
    def refused(**body: object) -> str:
        return str(owner.post("/v1/sync", json={"name": "x", **body}).json()["code"])

    assert refused(kind="nothing") == "source.not_found"
    assert refused(kind="notes") == "setting.bad"
    assert refused(kind="notes", options={"path": str(tmp_path / "no")}) == "path.not_found"
    assert refused(kind="slack", secrets={"token": "xoxb-itself"}) == "setting.bad"
    kinds = {one["name"] for one in owner.get("/v1/sync-kinds").json()["kinds"]}
    assert {"slack", "notion", "linear", "github", "imap", "zotero", "notes"} <= kinds
