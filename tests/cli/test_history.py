"""`trivium history`, `diff`, `restore`, `prune`, `show --interpretation`."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.cli.program import Program, call


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Program:
    """The program on a library with two interpretations of one note."""
    folder = tmp_path_factory.mktemp("past")
    note = folder / "note.md"
    for light in ("lantern", "candle"):
        note.write_text(f"# Light\n\nA {light} burns.", encoding="utf-8")
        assert call("add", note, "--library", folder / "library").code == 0
    return lambda *arguments: call("--library", folder / "library", *arguments)


def test_history(program: Program) -> None:
    found = program("history", "note.md", "--json").json
    assert [one["number"] for one in found["interpretations"]] == [1, 2]
    assert found["document"]["interpretation"] == 2
    header, first, second = program("history", "1").out.splitlines()
    assert header.split()[:3] == ["number", "made", "retired"]
    assert " active " in second
    assert " active " not in first
    assert program("history", "none.md").code == 1


def test_show_an_old_one(program: Program) -> None:
    assert "lantern" in program("show", "note.md", "--interpretation", "1", "--text").out
    assert program("show", "1", "--interpretation", "1", "--json").json["interpretation"][
        "retired_at"
    ]
    missing = program("show", "note.md", "--interpretation", "9")
    assert missing.code == 1
    assert "trivium history" in missing.err


def test_diff(program: Program) -> None:
    plain = program("diff", "note.md").out
    assert "interpretation 1 → 2" in plain
    assert "-A lantern burns." in plain.splitlines()
    assert "+A candle burns." in plain.splitlines()
    found = program("diff", "note.md", "2", "1", "--json").json
    assert (found["old"], found["new"], found["added"], found["removed"]) == (2, 1, 1, 1)


def test_restore_and_prune(program: Program) -> None:
    assert "active again, as 3" in program("restore", "note.md", "1").out
    assert program("search", "lantern", "--json").json["results"]
    assert program("restore", "note.md", "2", "--json").json["document"]["interpretation"] == 4
    assert program("restore", "note.md", "9").code == 1
    assert "--keep 3" in program("prune").err
    assert program("prune", "--keep", "0").code == 2
    assert program("prune", "--older-than", "soon").code == 2
    assert program("prune", "--older-than", "2w").out.startswith("0 interpretations")
    assert program("prune", "--document", "note.md", "--keep", "1", "--json").json == {"pruned": 3}


def test_names_are_shown(tmp_path: Path) -> None:
    for name in ("a.txt", "b.txt"):
        (tmp_path / name).write_text("Amber bell.", encoding="utf-8")
    place = tmp_path / "l"
    added = call("add", tmp_path, "--library", place, "--json").json
    assert (added["added"], added["duplicate"]) == (1, 1)
    (document,) = call("list", "--library", place, "--json").json["documents"]
    assert document["names"] == [str(tmp_path / "b.txt")]
    assert "b.txt" in call("show", "a.txt", "--library", place).out


def test_the_original_comes_back(program: Program) -> None:
    assert program("show", "note.md", "--original").out == "# Light\n\nA candle burns."
    old = program("show", "note.md", "--original", "--interpretation", "99")
    assert old.code == 1
