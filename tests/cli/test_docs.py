"""Every command that the documents show runs, page by page, on the sample documents."""

from __future__ import annotations

import io
import re
import runpy
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.cli.program import Program, call
from tests.once import add_samples, made_once
from tests.sources.server import serving
from tests.sources.trilium_server import Trilium

ROOT = Path(__file__).parents[2]
PAGES = sorted([*(ROOT / "docs").glob("*.md"), *(ROOT / "docs" / "guides").glob("*.md")])
# A command, and what it prints first: of a search the title and the match of the first result.
_COMMAND = re.compile(
    r"^\$ (?:printf '(?P<typed>[^']*)' \| )?trivium (?P<line>.*)$(?:\n(?P<first>[^$\n`].*)$)?", re.M
)
_RESULT = re.compile(r"^ ?1\. (?P<title>.*?)  (?:.*  )?(?P<match>\d+)%", re.M)
_OPENED = re.compile(r'Library\.open\("([^"]+)"\)')


def blocks(page: Path, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", page.read_text("utf-8"), re.M | re.S)


SHOWN = {
    page: [command for block in blocks(page, "console") for command in _COMMAND.finditer(block)]
    for page in PAGES
    if blocks(page, "console")
}


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder to work in, from which the sample documents are seen as from the repository."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "examples").symlink_to(ROOT / "examples")


@pytest.fixture(scope="module")
def sample(sample_library: Path) -> Program:
    return lambda *arguments: call("--library", sample_library, *arguments)


def test_every_guide_runs_and_is_listed() -> None:
    guides = sorted((ROOT / "docs" / "guides").glob("*.md"))
    index = (ROOT / "docs" / "README.md").read_text("utf-8")
    assert len(guides) == 7
    for guide in guides:
        assert f"](guides/{guide.name})" in index
        assert guide in SHOWN or blocks(guide, "python"), "it shows something that runs"


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("page", SHOWN, ids=lambda page: page.name)
def test_shown_commands_run(
    page: Path, sample: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In their order: a later one may need what an earlier one wrote. A guide begins with nothing,
    so it makes a library of its own."""
    assert SHOWN[page]
    is_guide = page.parent.name == "guides"
    if is_guide:
        sample = lambda *arguments: call("--library", tmp_path / "library", *arguments)  # noqa: E731
    monkeypatch.setenv("TRILIUM_TOKEN", "good")
    with serving(lore().answer) as trilium:
        for command in SHOWN[page]:
            typed = (command["typed"] or "").replace("\\n", "\n")
            monkeypatch.setattr("sys.stdin", io.StringIO(typed))
            line = command["line"].replace("http://127.0.0.1:8080", trilium.url)
            answer = sample(*shlex.split(line, comments=True))
            assert answer.code == 0, f"{command.group()}: {answer.err}"
            assert answer.out
            if is_guide:
                check_first(command, answer.out)


def check_first(command: re.Match[str], printed: str) -> None:
    """A search of a guide shows its first result; if it is one, people should believe it."""
    first, got = command["first"], _RESULT.search(printed)
    assert first or not command["line"].startswith(("search", "ask", "quote")), command.group()
    if not first:
        return
    if (shown := _RESULT.search(f"{first}")) is None:
        assert first in printed, printed
        return
    assert got is not None, printed
    assert got["title"] == shown["title"], printed
    assert not printed.startswith("No good match"), printed
    assert min(int(got["match"]), int(shown["match"])) >= 60, printed


def lore() -> Trilium:
    """Trilium with the notes of the world builder's guide."""
    notes = Trilium()
    notes.note("root", "root", "")
    for path in sorted((ROOT / "examples" / "guides" / "codex").glob("*.md")):
        text = path.read_text("utf-8")
        secret = [{"type": "label", "name": "audience", "value": "dm-only"}]
        title, _, body = text.partition("# ")[2].partition("\n\n")
        hidden = secret if "dm-only" in text else []
        notes.note(path.stem, title, f"<p>{body.strip()}</p>", attributes=hidden)
    return notes


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize(
    "page", [page for page in PAGES if blocks(page, "python")], ids=lambda page: page.name
)
def test_the_shown_python_runs(page: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    """On libraries with the sample documents: adding them again embeds nothing."""
    for block in blocks(page, "python"):
        for place in _OPENED.findall(block):
            sample = made_once(tmp_path_factory, "samples", add_samples)
            shutil.copytree(sample, place, dirs_exist_ok=True)
        exec(compile(block, page.name, "exec"), {})


def test_the_site_is_built_and_every_link_leads_somewhere(tmp_path: Path) -> None:
    """`make docs`, without writing its pages."""
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-b", "dummy"]
    command += ["-c", "docs", ".", str(tmp_path)]
    built = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
    tasks = runpy.run_path(str(ROOT / "docs" / "conf.py"))["TASKS"]
    listed = {page for some in tasks.values() for page in some}
    pages = {f"docs/{page.stem}" for page in (ROOT / "docs").glob("*.md")}
    assert pages <= listed, "every page is in the bar at the side"
