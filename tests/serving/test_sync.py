"""Sources over HTTP: added, run by the server when they are due, verified, paused, removed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient
from tests.serving.shelf import client, shelve, until

from trivium.config import Settings, secrets
from trivium.core.errors import BadSetting
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
    checked = tended.get("/v1/sync/vault/check").json()
    assert checked == {"source": "vault", "item": "lamp", "message": ""}
    found = tended.post("/v1/search", json={"query": "lamp", "where": "tags:tower"}).json()
    assert [one["document"]["uri"] for one in found["results"]] == ["notes:vault/lamp.md"]
    watched = tended.post("/v1/sources", json={"path": str(tmp_path)}).json()
    until(lambda: tended.get("/v1/sources").json()["sources"][0]["state"] == "watching")
    uris = [one["uri"] for one in tended.get("/v1/documents").json()["documents"]]
    assert [one for one in uris if "lamp" in one] == [
        "notes:vault/lamp.md"
    ]  # once, though its folder was added too
    tended.delete(f"/v1/sources/{watched['id']}")
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
    assert refused(kind="slack", secrets={"password": "xoxb-itself"}) == "setting.bad"
    kinds = {one["name"] for one in tended.get("/v1/sync-kinds").json()["kinds"]}
    assert {"slack", "notion", "linear", "github", "imap", "zotero", "notes"} <= kinds


def test_nobody_sends_the_servers_secrets_to_an_address_of_theirs(
    shelf: Library, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A token with `manage` for everything named any variable or file of the server and any
    address, and the server sent the one to the other."""
    monkeypatch.setenv("DATABASE_PASSWORD", "hunter2")
    monkeypatch.setenv("TRIVIUM_NOTION_TOKEN", "usual")
    (tmp_path / "key").write_text("from a file")
    _, token = shelf.tokens.create(audiences=None, rights=["manage"])
    elsewhere = "https://attacker.example/"
    with client(shelf, token) as manager:

        def sent(kind: str, secrets: dict[str, str], **options: str) -> Any:
            body = {"name": kind, "kind": kind, "options": options, "secrets": secrets}
            return manager.post("/v1/sync", json=body).json()

        for place in ("env:DATABASE_PASSWORD", f"file:{tmp_path / 'key'}"):
            told = sent("slack", {"token": place})
            assert told["code"] == "setting.bad"
            assert "sync.secrets" in told["fix"]
        refused = [
            sent("slack", {"token": "xoxb-mine"}, url=elsewhere),
            sent("notion", {}, url=elsewhere),
            sent("imap", {"password": "mine"}, host="10.0.0.7", user="me"),
            sent("feed", {}, url="http://10.0.0.7/", private="on"),
            sent("slack", {"token": "name:database"}),
        ]
        assert [one["code"] for one in refused] == ["setting.bad"] * 5
        assert all("sync." in one["fix"] for one in refused)
        assert sent("slack", {"token": "xoxb-mine"})["name"] == "slack"
        assert "xoxb-mine" not in manager.get("/v1/sync/slack").text + manager.get("/v1/sync").text
        assert "xoxb-mine" not in repr(shelf.sync.get("slack"))
    shelf.sync.remove("slack")
    assert shelf.sync.all() == []


def test_the_operator_lists_secrets_and_addresses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SLACK_TOKEN", "xoxb-listed")
    settings = Settings(
        sync_secrets="slack=env:SLACK_TOKEN", sync_addresses="https://slack.example/api, imap.here"
    )
    with shelve(tmp_path / "library", settings) as library, client(library) as owner:
        body = {"name": "a", "kind": "slack", "secrets": {"token": "name:slack"}}
        assert owner.post("/v1/sync", json=body).status_code == 201
        body |= {"name": "b", "options": {"url": "https://slack.example/api/"}}
        assert owner.post("/v1/sync", json=body).status_code == 201
        assert secrets.secret("token", "name:slack", settings.sync_secrets) == "xoxb-listed"
    for wrong in ("slack", "slack=xoxb-itself", "=env:X"):
        with pytest.raises(BadSetting):
            secrets.listed_secrets(wrong)


def test_a_secret_that_was_sent_is_stored_encrypted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRIVIUM_CONFIG", str(tmp_path / "here" / "config.toml"))
    with shelve(tmp_path / "library") as library, client(library) as owner:
        body = {"name": "a", "kind": "slack", "secrets": {"token": "xoxb-sent-by-someone"}}
        assert owner.post("/v1/sync", json=body).status_code == 201
        stored = library.sync.get("a").secrets["token"]
        assert secrets.secret("token", stored) == "xoxb-sent-by-someone"
        for file in (tmp_path / "library").rglob("*"):
            assert not file.is_file() or b"xoxb-sent" not in file.read_bytes(), file
        key = tmp_path / "here" / "secret.key"
        assert key.stat().st_mode & 0o077 == 0
        with library.backend.leases.hold("sync-a", "syncing a"):
            plain = replace(library.sync.get("a"), secrets={"token": "value:xoxb-of-0.1"})
            library.backend.sources.keep(plain)  # as 0.1 did
            library.sync.due()
            assert library.sync.get("a") == plain  # it is syncing: later
        library.sync.due()
        sealed = library.sync.get("a").secrets["token"]
        assert secrets.secret("token", sealed) == "xoxb-of-0.1" not in sealed
        monkeypatch.setenv("TRIVIUM_CONFIG", str(tmp_path / "there" / "config.toml"))
        with pytest.raises(BadSetting, match="another key"):  # no key, on another machine
            secrets.secret("token", stored)
        assert secrets.sealed("value:x") != "value:x"
        with pytest.raises(BadSetting, match="another key"):
            secrets.secret("token", stored)
        monkeypatch.setenv("TRIVIUM_SECRET_KEY", key.read_text())
        assert secrets.secret("token", stored) == "xoxb-sent-by-someone"
        monkeypatch.setenv("TRIVIUM_SECRET_KEY", "short")
        with pytest.raises(BadSetting, match="isn't a key"):
            secrets.sealed("value:x")
    assert secrets.sealed("env:NAME") == "env:NAME"
