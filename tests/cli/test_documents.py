"""`trivium list`, `show` and `remove`."""

from __future__ import annotations

from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console
from tests.cli.program import CROWN, Program, call

from trivium.cli.output import Shell
from trivium.library import Library

FIELDS = {"id", "uri", "title", "collection", "category", "audience", "language", "chunks"}


def test_list_as_json(trivium: Program) -> None:
    found = trivium("list", "--json").json["documents"]
    assert [document["title"] for document in found] == ["The Drowned Crown", "Secrets", "Weapons"]
    assert all(set(document) >= FIELDS for document in found)


def test_list_as_table(trivium: Program) -> None:
    header, *rows = trivium("list").out.splitlines()
    assert header.split() == [
        "id", "title", "file", "collection", "audience", "category", "updated", "language",
        "passages",
    ]  # fmt: skip
    assert len(rows) == 3
    assert rows[0].split()[:5] == ["1", "The", "Drowned", "Crown", "crown.md"]


def test_list_filters(trivium: Program) -> None:
    def titles(*options: str) -> list[str]:
        return [d["title"] for d in trivium("list", *options, "--json").json["documents"]]

    assert titles("--audience", "players") == ["The Drowned Crown", "Weapons"]
    assert titles("--collection", "default", "--collection", "x") == titles()
    assert titles("--collection", "x") == []
    nothing = trivium("list", "--collection", "x")
    assert (nothing.code, nothing.out) == (0, "")


@pytest.mark.parametrize("name", ["1", "#1", "crown.md", "CROWN.MD"])
def test_show_finds_by_any_name(trivium: Program, name: str) -> None:
    shown = trivium("show", name, "--json").json
    assert set(shown) == {"document", "interpretation", "original", "text", "chunks"}
    assert shown["text"] in Path(shown["original"]).read_text()
    assert shown["document"]["title"] == "The Drowned Crown"
    chunk = shown["chunks"][0]
    assert shown["text"][chunk["start"] : chunk["end"]] == chunk["text"]


def test_show_finds_by_path(
    trivium: Program, documents: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(documents)
    for name in (documents / "crown.md", "./crown.md"):
        assert trivium("show", name, "--json").json["document"]["id"] == 1


def test_show_for_a_person(trivium: Program) -> None:
    summary = trivium("show", "crown.md").out
    assert "metadata.year" in summary
    assert "Divers raised the crown" in summary
    assert trivium("show", "crown.md", "--text").out.strip() == CROWN.split("---\n")[-1].strip()
    chunks = trivium("show", "weapons.md", "--chunks").out
    assert chunks.startswith("#0 Weapons")
    assert "short sword" in chunks


def test_a_file_called_like_a_number(tmp_path: Path) -> None:
    (tmp_path / "7").write_text("Seven ravens.", encoding="utf-8")
    place = tmp_path / "library"
    assert call("add", tmp_path / "7", "--library", place).code == 0
    assert call("show", "7", "--text", "--library", place).out.strip() == "Seven ravens."


def test_remove(tmp_path: Path, documents: Path) -> None:
    place = tmp_path / "library"
    call("add", documents, "--library", place)
    missing = call("remove", "crown.md", "nothing.md", "--library", place)
    assert missing.code == 1
    assert len(call("list", "--library", place, "--json").json["documents"]) == 3
    answer = call("remove", "crown.md", "#1", "--library", place, "--json")
    assert answer.code == 0
    (removed,) = answer.json["removed"]
    assert removed == {
        "id": 1,
        "title": "The Drowned Crown",
        "uri": str(documents / "crown.md"),
        "collection": "default",
    }
    copy = tmp_path / "copy.md"
    copy.write_bytes((documents / "weapons.md").read_bytes())
    assert call("add", copy, "--library", place, "--json").json["duplicate"] == 1
    plain = call("remove", "weapons.md", "--library", place)
    assert plain.out.startswith("Removed #3 Weapons")
    assert str(copy) in plain.out, "the other name of the same document is told"
    left = call("list", "--library", place, "--json").json["documents"]
    assert [document["title"] for document in left] == ["Secrets"]
    found = call("search", "axe", "--library", place, "--json").json["results"]
    assert all(result["document"]["title"] == "Secrets" for result in found)


def test_a_number_is_an_id_for_every_command(trivium: Program) -> None:
    first = trivium("list", "--json").json["documents"][0]
    shown = trivium("show", first["id"], "--json").json["document"]
    near = trivium("similar", first["id"], "--json")
    assert shown["id"] == first["id"]
    assert near.code == 0
    assert near.json == trivium("similar", f"#{first['id']}", "--json").json | {
        name: near.json[name] for name in ("took_ms", "timings_ms") if name in near.json
    }


def test_a_mistyped_name_is_guessed(trivium: Program) -> None:
    assert "Did you mean `weapons.md`?" in trivium("show", "weapon.md").err
    assert "Did you mean `default`?" in trivium("list", "--collection", "defualt").err


def drawn(columns: tuple[str, ...], rows: list[tuple[str, ...]], *optional: str) -> tuple[str, str]:
    """A table and the notes beside it, as a terminal of 80 columns shows them."""
    shell, out, err = Shell(), StringIO(), StringIO()
    shell.out = Console(file=out, width=80, force_terminal=True, color_system=None)
    shell.err = Console(file=err, width=80, force_terminal=True, color_system=None)
    shell.table(columns, rows, optional)
    return out.getvalue(), err.getvalue()


def test_eighty_columns_break_no_word_and_no_number() -> None:
    """`eval`, `models`, `list` and `jobs` were cut with dots where they were too wide."""
    names = ("multilingual-e5-small", "answerai-colbert-small")
    numbers = ("0.9453 [0.931, 0.958]", "1,234,567")
    rows = [(name, "late interaction", "English and code", *numbers, "yes") for name in names]
    text, note = drawn(("name", "kind", "languages", ">nDCG@10", ">size", "here"), rows)
    assert max(map(len, text.splitlines())) <= 80
    words = [word for row in rows for cell in row for word in cell.split()]
    assert all(word in text for word in words)
    assert "…" not in text
    assert not note


def test_a_column_that_does_not_fit_is_named() -> None:
    row = ("1", "a" * 30, "b" * 30, "c" * 12, "")
    columns = (">id", "title", "file", "collection", "category")
    text, note = drawn(columns, [row], "category", "collection")
    assert "a" * 30 in text
    assert "b" * 30 in text
    assert "collection" not in text
    assert "category" not in text, "nothing has one"
    assert "Not shown, for want of space: collection." in note


def test_documents_of_one_name_are_told_apart_by_their_folders(tmp_path: Path) -> None:
    place = tmp_path / "library"
    for folder in ("north", "south"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "minutes.md").write_text(f"# Minutes\n\nThe board of the {folder}.")
    call("add", tmp_path / "north", tmp_path / "south", "--library", place)
    text = call("list", "--library", place).out
    assert "/north/minutes.md" in text
    assert "/south/minutes.md" in text


def test_an_empty_library_says_so(tmp_path: Path) -> None:
    with Library.open(tmp_path / "empty", create=True):
        pass
    assert "The library is empty" in call("search", "crown", "--library", tmp_path / "empty").err
