"""The measures of office files and of charsets run, and give known figures for known files."""

import json
from pathlib import Path

import pytest
from bench.reading_formats import charsets, main, outcomes
from tests.golden.make import files


def test_office_files_are_measured_by_format(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, data in files().items():
        if name.endswith((".docx", ".pptx", ".xlsx", ".html", ".csv")):
            (tmp_path / name).write_bytes(data)
    main(["--json", "--folder", str(tmp_path)])
    ours = json.loads(capsys.readouterr().out)["trivium"]
    assert ours["all"]["files"] == sum(row["files"] for kind, row in ours.items() if kind != "all")
    assert all(row["text_f1"] > 0.8 for row in ours.values())


def test_tables_of_characters_are_measured() -> None:
    found = charsets(limit=1)
    right, of = map(int, found["trivium"]["a paragraph"].split("/"))
    assert right >= 0.98 * of
    right, of = map(int, found["trivium"]["a page"].split("/"))
    assert right == of


def test_what_becomes_of_files_of_any_kind(tmp_path: Path) -> None:
    files = {
        "a.txt": b"The tide.", "b.djvu": b"AT&TFORM\x00\x00DJVM", "c.txt": b"<a> <b> is markup",
        "d.tmx": b"<tmx><seg>Hello</seg></tmx>", "e.txt": b"",
    }  # fmt: skip
    for name, data in files.items():
        (tmp_path / name).write_bytes(data)
    found = outcomes(tmp_path)
    assert found["files"] == {"file.empty": 1, "file.format_unknown": 1, "raw": 1, "read": 2}
    assert found["names"] == {"raw": "c.txt"}
