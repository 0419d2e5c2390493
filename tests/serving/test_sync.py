"""Sources over HTTP: added, run by the server when they are due, verified, paused, removed."""

from __future__ import annotations

from pathlib import Path

from starlette.testclient import TestClient
from tests.serving.shelf import until

from trivium.library import Library


def test_a_source_is_kept_in_step_by_the_server(
    tended: TestClient, shelf: Library, tmp_path: Path
) -> None:
    (tmp_path / "lamp.md").write_text("A lamp burns in the #tower.")
    body = {"name": "vault", "kind": "notes", "options": {"path": str(tmp_path)}, "every": 1}
    made = tended.post("/v1/sync", json=body)
    assert made.status_code == 201, made.text
    assert (made.json()["state"], made.json()["items"]) == ("new", 0)
    assert tended.post("/v1/sync", json=body).json()["code"] == "source.exists"

    def items() -> int:
        return int(tended.get("/v1/sync/vault").json()["source"]["items"])

    until(lambda: items() == 1)
    found = tended.post("/v1/search", json={"query": "lamp", "where": "tags:tower"}).json()
    assert [one["document"]["uri"] for one in found["results"]] == ["notes:vault/lamp.md"]
    (tmp_path / "bell.md").write_text("A bell rings.")
    (tmp_path / "lamp.md").unlink()
    until(lambda: tended.get("/v1/sync/vault/verify").json()["differences"] == [])
    assert items() == 1
    assert tended.post("/v1/sync/vault/pause").json()["state"] == "paused"
    assert tended.post("/v1/sync/vault/run", json={}).json()["code"] == "source.paused"
    until(lambda: not shelf.sync.is_running("vault"))
    (tmp_path / "salt.md").write_text("Salt before silver.")
    told = tended.get("/v1/sync/vault/verify?ids=true").json()["differences"]
    assert [(one["item"], one["kind"]) for one in told] == [("salt.md", "missing")]
    assert tended.post("/v1/sync/vault/resume").json()["state"] in ("idle", "running")
    assert tended.post("/v1/sync/vault/run", json={"full": True}).status_code == 202
    until(lambda: items() == 2)
    assert tended.get("/v1/sync").json()["sources"][0]["name"] == "vault"
    assert tended.delete("/v1/sync/vault").json() == {"removed": "vault", "documents": 2}
    assert tended.get("/v1/sync/vault").status_code == 404


def test_what_is_wrong_with_a_source_is_said_at_once(tended: TestClient, tmp_path: Path) -> None:
    def refused(**body: object) -> str:
        return str(tended.post("/v1/sync", json={"name": "x", **body}).json()["code"])

    assert refused(kind="nothing") == "source.not_found"
    assert refused(kind="notes") == "setting.bad"
    assert refused(kind="notes", options={"path": str(tmp_path / "no")}) == "path.not_found"
    assert refused(kind="slack", secrets={"token": "xoxb-itself"}) == "setting.bad"
    kinds = {one["name"] for one in tended.get("/v1/sync-kinds").json()["kinds"]}
    assert {"slack", "notion", "linear", "github", "imap", "zotero", "notes"} <= kinds
