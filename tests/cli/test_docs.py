"""Every command that the documents show runs, on the sample documents."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from tests.cli.program import Program, call

ROOT = Path(__file__).parents[2]
SHOWN = [
    pytest.param(line, id=f"{path.name}: {line}")
    for path in sorted((ROOT / "docs").glob("*.md"))
    for block in re.findall(r"^```console\n(.*?)^```", path.read_text("utf-8"), re.M | re.S)
    for line in re.findall(r"^\$ trivium (.*)$", block, re.M)
]


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Program:
    place = tmp_path_factory.mktemp("sample") / "library"
    assert call("--library", place, "add", ROOT / "examples" / "documents").code == 0
    return lambda *arguments: call("--library", place, *arguments)


@pytest.mark.parametrize("line", SHOWN)
def test_a_shown_command_runs(sample: Program, line: str) -> None:
    answer = sample(*shlex.split(line, comments=True))
    assert answer.code == 0, answer.err
    assert answer.out


@pytest.mark.parametrize("page", ["searching.md", "answering.md"])
def test_the_shown_python_runs(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    text = (ROOT / "docs" / page).read_text("utf-8")
    for block in re.findall(r"^```python\n(.*?)^```", text, re.M | re.S):
        exec(compile(block, page, "exec"), {})
