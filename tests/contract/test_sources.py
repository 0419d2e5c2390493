"""The example of a source keeps the contract and is found by its entry point; ours are declared."""

import json
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from tests.cli.program import call

from trivium.sources import kinds

REPOSITORY = Path(__file__).parents[2]
EXAMPLE = REPOSITORY / "examples" / "source"


def test_the_example_keeps_the_contract(tmp_path: Path) -> None:
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(EXAMPLE)],
        env={"PYTHONPATH": f"{EXAMPLE}:{REPOSITORY / 'src'}", "PATH": "/usr/bin:/bin"},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout
    assert len((EXAMPLE / "bookmarks.py").read_text().splitlines()) < 60


def test_it_is_found_by_its_entry_point(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    installed = tmp_path / "trivium_bookmarks-1.0.dist-info"
    installed.mkdir()
    (installed / "METADATA").write_text("Metadata-Version: 2.1\nName: trivium-bookmarks\n")
    told = "[trivium.sources]\nbookmarks = bookmarks:KIND\n"
    (installed / "entry_points.txt").write_text(told)
    monkeypatch.syspath_prepend(str(EXAMPLE))
    monkeypatch.syspath_prepend(str(tmp_path))
    marks = [{"url": "https://example.org/fog", "title": "Fog", "note": "A wet lamp."}]
    (tmp_path / "marks.json").write_text(json.dumps(marks))
    library = ("--library", tmp_path / "library")
    added = call("sync", "add", "bookmarks", tmp_path / "marks.json", "--run", *library)
    assert "1 added" in added.out, added
    assert "https://example.org/fog" in call("search", "lamp", *library).out


def test_ours_are_declared_as_those_of_others_are() -> None:
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]
    assert project["entry-points"]["trivium.sources"] == kinds._OURS
    for name in kinds._OURS:
        kind = kinds.kind_of(name)
        assert kind.name == name
        assert kind.help
        assert set(kind.required) <= set(kind.options)
