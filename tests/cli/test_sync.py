"""`trivium sync`: from adding a source to removing it with its documents."""

import json
from pathlib import Path

import pytest
from tests.cli.program import Program, call
from tests.sources.server import Reply, serving

from trivium.cli.sync import ask_for
from trivium.sources.kinds import kind_of


@pytest.fixture
def trivium(tmp_path: Path) -> Program:
    return lambda *arguments: call("--library", tmp_path / "library", *arguments)


def test_a_source_from_beginning_to_end(trivium: Program, tmp_path: Path) -> None:
    vault = tmp_path / "Vault"
    vault.mkdir()
    (vault / "lamp.md").write_text("A lamp burns.")
    (vault / "broken.pdf").write_bytes(b"%PDF-1.4 broken")
    assert "notes: a folder of notes" in trivium("sync", "kinds").out
    assert "Added vault" in trivium("sync", "add", "notes", vault, "--every", "10m").out
    would = trivium("sync", "run", "--dry-run")
    assert "would be 2 added" in would.out
    ran = trivium("sync", "run")
    assert ran.code == 1
    assert "vault: 1 added, 1 failed." in ran.out
    assert "broken.pdf" in ran.err
    status = json.loads(trivium("sync", "status", "vault", "--json").out)
    assert (status["source"]["items"], status["source"]["every"]) == (1, 600)
    assert [one["item"] for one in status["failures"]] == ["broken.pdf"]
    verified = trivium("sync", "verify", "vault")
    assert verified.code == 1
    assert "missing" in verified.out
    (vault / "broken.pdf").unlink()
    assert trivium("sync", "run", "vault").code == 0
    assert "in step" in trivium("sync", "verify", "vault").out
    assert "Paused" in trivium("sync", "pause", "vault").out
    assert trivium("sync", "run", "vault").code == 2
    assert "Resumed" in trivium("sync", "resume", "vault").out
    assert "idle" in trivium("sync").out
    found = trivium("search", "lamp", "--where", "sync:vault")
    assert "notes:vault/lamp.md" in found.out
    assert "1 of its items" in trivium("sync", "remove", "vault").out
    assert "No sources" in trivium("sync").err


def test_a_reference_library_by_its_place(trivium: Program, tmp_path: Path) -> None:
    entries = tmp_path / "My Library.bib"
    entries.write_text("@book{fog, title={The Fog}, author={Reed, Mara}, year={2021}}")
    assert "1 added" in trivium("sync", "add", "zotero", entries, "--run").out
    found = trivium("search", "fog", "--where", 'type:zotero authors:"mara reed" year:2021')
    assert "The Fog" in found.out
    assert "in step" in trivium("sync", "verify", "my-library.bib").out
    trivium("sync", "remove", "my-library.bib")


def test_what_can_not_be_added_is_said(trivium: Program, tmp_path: Path) -> None:
    for wrong in (
        ("sync", "add", "nothing"),
        ("sync", "add", "notes"),
        ("sync", "add", "notes", tmp_path, "--option", "x"),
        ("sync", "add", "notes", tmp_path, "--every", "often"),
        ("sync", "add", "slack"),
        ("sync", "run", "nobody"),
    ):
        assert trivium(*wrong).code == 2, wrong
    assert "TRIVIUM_SLACK_TOKEN" in trivium("sync", "add", "slack").err


def test_a_source_is_checked_before_it_is_added(trivium: Program, tmp_path: Path) -> None:
    vault = tmp_path / "vault"
    vault.mkdir()
    added = trivium("sync", "add", "notes", vault)
    assert "It can be reached, but holds nothing yet." in added.err
    assert trivium("sync", "check", "vault").code == 1
    (vault / "a.md").write_text("Fog.")
    checked = trivium("sync", "check", "vault")
    assert (checked.code, "reads “a”" in checked.err) == (0, True)
    with serving(lambda asked: Reply(b"<html>Sign in</html>")) as server:
        told = ("sync", "add", "github", "o/r", "--option", f"url={server.url}")
        refused = trivium(*told)
        assert "GitHub sent a web page" in " ".join((refused.err + refused.out).split())
        assert '"kind": "github"' not in trivium("sync", "status", "--json").out
        assert trivium(*told, "--no-check", "--name", "later").code == 0


def test_what_is_missing_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TRIVIUM_IMAP_PASSWORD", raising=False)
    monkeypatch.delenv("TRIVIUM_IMAP_TOKEN", raising=False)
    answers = {"host": "mail.example.org", "user": "ada", "password": "env:MAIL"}
    asked: list[str] = []

    def ask(said: str) -> str:
        asked.append(said)
        return answers.get(said.split(maxsplit=1)[0].rstrip(":"), "")

    given, named = {"user": "bob"}, dict[str, str]()
    ask_for(kind_of("imap"), given, named, ask)
    assert given == {"user": "bob", "host": "mail.example.org"}
    assert named == {"password": "env:MAIL"}
    assert [one.split()[0] for one in asked] == ["host", "password:"]
    assert "env:NAME, file:PATH or command:COMMAND" in asked[1]
