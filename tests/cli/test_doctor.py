"""`trivium doctor` and `trivium config`."""

from __future__ import annotations

import os
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from tests.cli.program import Program, call

from trivium.store.blobs import FolderBlobs


def test_a_healthy_library(trivium: Program) -> None:
    answer = trivium("doctor", "--json")
    assert answer.code == 0
    found = answer.json
    assert found["ok"] is True
    assert set(found["versions"]) == {
        "python", "trivium", "sqlite", "faiss", "onnxruntime",
    }  # fmt: skip
    assert found["model"]["ready"] is True
    assert found["model"]["fingerprint"] == found["library"]["model"]
    indexes = found["indexes"]
    assert indexes["documents"] == 3
    assert indexes["chunks"] == indexes["words"] == indexes["vectors"] > 0
    plain = trivium("doctor")
    assert plain.code == 0
    assert "WRONG" not in plain.out
    assert "ok    vectors" in plain.out


def test_no_library_yet_is_not_ill(tmp_path: Path) -> None:
    answer = call("doctor", "--library", tmp_path / "none", "--json")
    assert answer.code == 0
    assert answer.json["library"]["exists"] is False
    assert not (tmp_path / "none").exists()


def test_a_missing_model_is_told_with_a_remedy(trivium: Program) -> None:
    answer = trivium("doctor", "--set", "embed.folder=/no/such/model")
    assert answer.code == 1
    assert "WRONG model" in answer.out
    assert "Name a folder with a sentence-transformers model" in " ".join(answer.out.split())
    assert "ok    words" in answer.out


def test_another_model_is_told(trivium: Program) -> None:
    answer = trivium("doctor", "--set", "embed.max_tokens=128", "--json")
    assert answer.code == 1
    wrong = [check["name"] for check in answer.json["checks"] if not check["ok"]]
    assert wrong == ["library"]


def test_a_damaged_library_is_told(tmp_path: Path) -> None:
    (tmp_path / "library.db").write_bytes(b"this is no database" * 100)
    answer = call("doctor", "--library", tmp_path)
    assert answer.code == 1
    assert "WRONG library" in answer.out
    assert "library.damaged" in answer.out


def test_rebuild(tmp_path: Path, documents: Path) -> None:
    place = tmp_path / "library"
    call("add", documents, "--library", place)
    before = call("doctor", "--library", place, "--json").json["indexes"]
    answer = call("doctor", "--rebuild", "--library", place, "--json")
    assert answer.code == 0
    assert answer.json["indexes"] == before
    assert call("search", "battleaxe", "--library", place, "--json").json["results"]


@pytest.mark.parametrize("lacking", ["words", "vectors"])
def test_a_lost_index_is_repaired(tmp_path: Path, documents: Path, lacking: str) -> None:
    place = tmp_path / "library"
    call("add", documents, "--library", place)
    path = place / lacking
    shutil.rmtree(path) if path.is_dir() else path.unlink()
    answer = call("doctor", "--repair", "--library", place, "--json")
    assert answer.code == 0, answer
    assert answer.json["ok"]
    assert call("search", "battleaxe", "--library", place, "--json").json["results"]


def test_what_is_wrong_is_told_and_only_repaired_when_asked(
    tmp_path: Path, documents: Path
) -> None:
    place = tmp_path / "library"
    call("add", documents, "--library", place)
    orphan = FolderBlobs(place / "archive").put(b"nobody's")
    for path in place.glob("archive/??/*"):
        os.utime(path, (0, 0))
    with sqlite3.connect(place / "library.db") as connection:
        connection.execute("INSERT INTO embeddings VALUES ('m', 'nobody', x'00', NULL)")
        connection.execute("UPDATE embeddings SET model = 'x' WHERE rowid = 1")
    connection.close()
    for _ in range(2):
        answer = call("doctor", "--library", place)
        assert answer.code == 1
        assert "1 originals belong to no document" in answer.out
        assert "Vectors of no passage: 1;" in answer.out
        assert "by words and spelling only: 1." in answer.out
        assert "trivium doctor --repair" in answer.out
    mended = call("doctor", "--repair", "--library", place, "--json")
    assert mended.code == 0
    assert len(mended.json["repaired"]) >= 3
    assert FolderBlobs(place / "archive").size(orphan) is None
    assert "Nothing needed repair" in call("doctor", "--repair", "--library", place).out


def test_a_lost_original_is_told_and_comes_back_with_its_file(
    tmp_path: Path, documents: Path
) -> None:
    place = tmp_path / "library"
    call("add", documents, "--library", place)
    first, second, *_ = sorted(place.glob("archive/??/*"))
    whole = second.read_bytes()
    first.unlink()
    second.write_bytes(whole[:3])
    answer = call("doctor", "--repair", "--library", place, "--json")
    assert answer.code == 1
    (wrong,) = [check for check in answer.json["checks"] if not check["ok"]]
    assert wrong["name"] == "originals"
    assert "2 originals are missing or damaged, in documents #" in wrong["message"]
    assert "Add their files again" in wrong["message"]
    call("add", documents, "--library", place, "--set", "archive.keep=off")
    assert not first.exists()
    again = call("add", documents, "--library", place, "--json")
    assert again.json["unchanged"] >= 2
    assert second.read_bytes() == whole
    assert call("doctor", "--library", place).code == 0


def test_a_file_that_grew_while_it_was_read_is_no_damage(tmp_path: Path, documents: Path) -> None:
    place = tmp_path / "library"
    call("add", documents, "--library", place)
    with sqlite3.connect(place / "library.db") as connection:
        connection.execute("UPDATE interpretations SET size = size - 1")
    connection.close()
    assert call("doctor", "--library", place).code == 0


def test_rows_that_disagree_are_told(tmp_path: Path, documents: Path) -> None:
    place = tmp_path / "library"
    call("add", documents, "--library", place)
    with sqlite3.connect(place / "library.db") as connection:
        connection.execute("UPDATE interpretations SET state = 'retired' WHERE document = 2")
        connection.execute("DELETE FROM chunks WHERE document = 3")
    connection.close()
    answer = call("doctor", "--library", place, "--json")
    wrong = {check["name"]: check["message"] for check in answer.json["checks"] if not check["ok"]}
    assert "#2, #3" in wrong["documents"]


def test_config_tells_value_and_origin(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRIVIUM_SEARCH_LIMIT", "20")
    answer = call("config", "--set", "chunk.size=300", "--json")
    assert answer.code == 0
    found = {setting["name"]: setting for setting in answer.json["settings"]}
    assert all(
        set(s) == {"name", "value", "default", "origin", "variable", "help"} for s in found.values()
    )
    assert (found["search.limit"]["value"], found["search.limit"]["origin"]) == (20, "environment")
    assert (found["chunk.size"]["value"], found["chunk.size"]["origin"]) == (300, "command line")
    assert found["embed.folder"]["value"] is None
    assert found["fusion.k"]["origin"] == "default"
    header, *rows = call("config").out.splitlines()
    assert header.split() == ["name", "value", "origin", "meaning"]
    assert len(rows) == len(found)


def test_unreadable_pages_are_named_and_the_rest_is_saved(tmp_path: Path, documents: Path) -> None:
    place = tmp_path / "library"
    call("add", documents, "--library", place)
    path = place / "library.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        query = "SELECT rootpage FROM sqlite_master WHERE name = 'documents'"
        (root,) = connection.execute(query).fetchone()
    data = bytearray(path.read_bytes())
    data[(root - 1) * 4096 : root * 4096] = bytes(4096)
    path.write_bytes(data)
    answer = call("doctor", "--library", place, "--json")
    assert answer.code == 1
    told = answer.json["checks"][-1]
    assert "3 can't: #1 " in told["message"]
    assert "crown.md" in told["message"]
    assert "--repair" in told["fix"]
    mended = call("doctor", "--repair", "--library", place, "--json")
    assert mended.code == 0, mended
    assert "Read 3 documents again from the archive." in mended.json["repaired"]
    (kept,) = place.glob("library.db.damaged-*")
    assert kept.read_bytes() == data
    assert call("search", "battleaxe", "--library", place, "--json").json["results"]
