"""`trivium compact`, `backup` and `recover`."""

from __future__ import annotations

from pathlib import Path

from tests.cli.program import call


def test_backup_and_recover(tmp_path: Path, documents: Path) -> None:
    place, file, new = tmp_path / "library", tmp_path / "saved.trivium", tmp_path / "new"
    call("add", documents, "--library", place)
    saved = call("backup", file, "--library", place, "--json")
    assert saved.code == 0
    assert saved.json["documents"] == saved.json["originals"] == 3
    again = call("backup", file, "--library", place, "--json")
    assert again.code == 2
    assert again.error["code"] == "backup.target_exists"
    assert "Saved in" in call("backup", file, "--force", "--library", place).out
    assert call("recover", file, "--library", place).code == 2
    told = call("recover", file, "--library", new)
    assert told.code == 0
    assert "3 documents" in told.out
    assert call("search", "battleaxe", "--library", new, "--json").json["results"]
    assert call("doctor", "--library", new).code == 0
    damaged = tmp_path / "damaged"
    damaged.write_bytes(file.read_bytes()[:-5000].replace(b"battle", b"bottle"))
    assert call("recover", damaged, "--library", tmp_path / "no", "--json").error["code"] == (
        "backup.damaged"
    )
    assert not (tmp_path / "no").exists()


def test_a_folder_has_no_nodes(tmp_path: Path, documents: Path) -> None:
    place = tmp_path / "library"
    call("add", documents, "--library", place)
    for option in ((), ("--back",), ("--shards", "4")):
        told = call("library", "distribute", *option, "--library", place, "--json")
        assert (told.code, told.error["code"]) == (2, "setting.bad")
        assert "trivium copy" in told.error["fix"]


def test_compact(tmp_path: Path, documents: Path) -> None:
    place = tmp_path / "library"
    call("add", documents, "--library", place)
    assert call("remove", "crown.md", "--compact", "--library", place).code == 0
    found = [p for p in place.rglob("*") if p.is_file() and b"Port Amble" in p.read_bytes()]
    assert found == []
    assert "bytes before" in call("compact", "--library", place).out
    assert call("compact", "--library", place, "--json").json["held_back"] is False
    assert call("doctor", "--library", place).code == 0
    assert call("compact", "--library", tmp_path / "none").code == 3
