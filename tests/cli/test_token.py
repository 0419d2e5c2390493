"""`trivium token`: made once, listed without its secret, revoked."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
from tests.cli.program import Program, call


@pytest.fixture
def program(tmp_path: Path) -> Program:
    (tmp_path / "a.md").write_text("one")
    assert call("add", tmp_path / "a.md", "--library", tmp_path / "library").code == 0
    return lambda *arguments: call("--library", tmp_path / "library", *arguments)


def test_the_secret_is_shown_once_and_kept_nowhere(program: Program, tmp_path: Path) -> None:
    made = program("token", "create", "--audience", "player", "--name", "Ann").out.strip()
    secret = made.rpartition("_")[2] if made.count("_") == 2 else made.split("_", 2)[2]
    assert secret not in program("token", "list").out
    assert secret not in program("token", "list", "--json").out
    for file in (tmp_path / "library").glob("library.db*"):
        assert secret.encode() not in file.read_bytes()
    with sqlite3.connect(tmp_path / "library" / "library.db") as database:
        assert database.execute("SELECT count(*) FROM access_tokens").fetchone() == (1,)
    database.close()


def test_a_token_is_listed_and_revoked(program: Program) -> None:
    made = program("token", "create", "--all-audiences", "--right", "add", "--json").json
    assert (made["audiences"], made["collections"], made["rights"]) == (None, None, ["add"])
    assert [t["id"] for t in program("token", "list", "--json").json["tokens"]] == [made["id"]]
    assert program("token", "revoke", made["id"]).code == 0
    assert program("token", "list", "--json").json == {"tokens": []}
    answer = program("token", "revoke", made["id"], "--json")
    assert (answer.code, answer.error["code"]) == (2, "token.not_found")


def test_labels_are_all_or_some(program: Program) -> None:
    answer = program("token", "create", "--all-audiences", "--audience", "player")
    assert answer.code == 2
    assert program("token", "create", "--json").json["audiences"] == []


def test_it_says_what_the_token_allows(program: Program) -> None:
    """Nobody should give away more than they meant to."""
    told = program("token", "create").err
    assert "Allows search: public documents in all collections." in told
    made = ("token", "create", "--audience", "dm", "--collection", "rules", "--right", "add")
    told = program(*made).err
    assert "Allows add: public documents and those labelled dm in the collection rules." in told
    assert "documents with any label" in program("token", "create", "--all-audiences").err
