"""`trivium collections`, and `trivium add --chunker`."""

from __future__ import annotations

from pathlib import Path

from tests.cli.program import WEAPONS, call


def test_a_chunker_stays_with_its_collection(tmp_path: Path) -> None:
    place = tmp_path / "library"
    (tmp_path / "a.md").write_text(WEAPONS)
    (tmp_path / "b.md").write_text(WEAPONS + "\nMore.")
    at = ("--library", place, "--json")
    added = call("add", tmp_path / "a.md", "--collection", "papers", "--chunker", "abstract", *at)
    assert (added.code, added.json["chunks"]) == (0, 1)
    assert call("add", tmp_path / "b.md", "--collection", "papers", *at).json["chunks"] == 1
    assert call("add", tmp_path / "a.md", "--audience", "dm-only", *at).json["chunks"] == 2
    assert call("collections", *at).json["collections"] == [
        {"name": "default", "documents": 1, "chunks": 2, "chunker": "auto"},
        {"name": "papers", "documents": 2, "chunks": 2, "chunker": "abstract"},
    ]
    seen = call("collections", "--audience", "players", *at).json["collections"]
    assert [one["name"] for one in seen] == ["papers"]
    header, *rows = call("collections", "--library", place).out.splitlines()
    assert header.split() == ["collection", "documents", "passages", "chunker"]
    assert [row.split() for row in rows] == [
        ["default", "1", "2", "auto", "(setting)"],
        ["papers", "2", "2", "abstract"],
    ]


def test_a_chunker_that_does_not_exist(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text(WEAPONS)
    answer = call(
        "add", tmp_path / "a.md", "--chunker", "big", "--library", tmp_path / "l", "--json"
    )
    assert (answer.code, answer.error["code"]) == (2, "setting.bad")
    assert "sections" in answer.error["fix"]


def test_what_the_ceiling_left_out_reaches_the_person(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text(WEAPONS)
    options = ("--set", "chunk.most=1", "--set", "chunk.strategy=sections")
    said = "Weapons: You can search only the first 1 of 2 passages."
    shown = call("add", tmp_path / "a.md", "--library", tmp_path / "l", *options)
    assert said in shown.err
    other = call("add", tmp_path / "a.md", "--library", tmp_path / "m", "--json", *options)
    assert other.json["notes"] == [said]
