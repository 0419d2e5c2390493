"""`trivium doctor` and `trivium config`."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.cli.program import Program, call

from trivium.cli.doctor import judge


def test_a_healthy_library(trivium: Program) -> None:
    answer = trivium("doctor", "--json")
    assert answer.code == 0
    found = answer.json
    assert found["ok"] is True
    assert set(found["versions"]) == {
        "python", "trivium", "sqlite", "tantivy", "faiss", "onnxruntime",
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
    assert "pip install" in answer.out
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


@pytest.mark.parametrize("lacking", ["words", "vectors", "vocabulary"])
def test_an_index_that_lacks_something_is_judged(lacking: str) -> None:
    health = {"documents": 1, "chunks": 5, "words": 5, "vectors": 5, "vocabulary": 9}
    assert all(check.ok for check in judge(health))
    checks = {check.name: check for check in judge({**health, lacking: 0})}
    assert [name for name, check in checks.items() if not check.ok] == [lacking]
    assert "trivium doctor --rebuild" in checks[lacking].fix


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
