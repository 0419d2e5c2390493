"""Files that files name: found beside them, never outside what was given."""

import os
from pathlib import Path

import pytest

from trivium.core.errors import FileUnreadable
from trivium.ports import SourceItem
from trivium.sources.folder import FolderSource


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """outside.pdf, and a folder `given` with a library in `given/refs`."""
    refs = tmp_path / "given" / "refs"
    (refs / "files").mkdir(parents=True)
    (refs / ".secret").mkdir()
    for name in (
        "outside.pdf",
        "given/near.pdf",
        "given/refs/a.pdf",
        "given/refs/files/b; c.pdf",
        "given/refs/.secret/key.pdf",
        "given/refs/.env",
        "given/refs/refs.bib",
    ):
        (tmp_path / name).write_text("words")
    os.symlink(tmp_path / "outside.pdf", refs / "link.pdf")
    os.symlink(tmp_path, refs / "up")
    os.symlink(refs / "loop", refs / "loop")
    return tmp_path


def library(tree: Path, *given: str) -> SourceItem:
    items = FolderSource([tree / name for name in given]).items()
    return next(item for item in items if item.name == "refs.bib")


def beside(item: SourceItem, name: str) -> str:
    assert item.beside is not None
    found = item.beside(name)
    return found.name if found else ""


@pytest.mark.parametrize(
    "name", ["a.pdf", "./a.pdf", "files/../a.pdf", "files/b; c.pdf", "files\\b; c.pdf"]
)
def test_a_file_below_the_library_is_found(tree: Path, name: str) -> None:
    item = library(tree, "given/refs/refs.bib")
    assert beside(item, name) in ("a.pdf", "b; c.pdf")
    assert beside(item, str(tree / "given/refs/a.pdf")) == "a.pdf", "by its full path too"


def test_it_is_the_document_that_a_walk_finds(tree: Path) -> None:
    source = FolderSource([tree / "given"])
    item = next(item for item in source.items() if item.name == "refs.bib")
    assert item.beside is not None
    found = item.beside("files/../a.pdf")
    assert found is not None
    assert found.uri in {item.uri for item in source.items()}
    assert callable(found.content)
    assert found.content() == b"words"
    assert found.beside is not None
    named = found.beside("refs.bib")  # a paper finds the library that names it
    assert named is not None
    assert named.uri == item.uri
    assert found.beside("../../outside.pdf") is None


@pytest.mark.parametrize(
    "name",
    [
        "../near.pdf",
        "../../outside.pdf",
        "files/../../../outside.pdf",
        "/etc/passwd",
        "/etc/../etc/passwd",
        "..\\..\\outside.pdf",
        "link.pdf",
        "up/outside.pdf",
        "loop",
        ".env",
        ".secret/key.pdf",
        "files",
        "missing.pdf",
        "",
        "a\x00b",
        "x" * 5000,
        "https://example.com/a.pdf",
    ],
)
def test_nothing_else_is_ever_read(tree: Path, name: str) -> None:
    assert beside(library(tree, "given/refs/refs.bib"), name) == ""


def test_a_folder_that_was_given_may_be_reached_and_nothing_above_it(tree: Path) -> None:
    item = library(tree, "given")
    assert beside(item, "../near.pdf") == "near.pdf"
    assert beside(item, str(tree / "given/near.pdf")) == "near.pdf"
    assert beside(item, "../../outside.pdf") == ""
    assert beside(item, "link.pdf") == ""


def test_ignored_files_are_left_out_unless_they_are_named(tmp_path: Path) -> None:
    for name in ("a.md", "b.tmp", "sub/c.md", "sub/d.tmp", "library/x.md"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(name)
    (tmp_path / ".triviumignore").write_text("*.tmp")
    library = [tmp_path / "library"]

    def offered(*paths: Path, ignore: tuple[str, ...] = ()) -> list[str]:
        source = FolderSource(paths, ignore, library)
        return [item.uri.removeprefix(f"{tmp_path}/") for item in source.items()]

    assert offered(tmp_path) == ["a.md", "sub/c.md"]
    assert offered(tmp_path, ignore=("sub/",)) == ["a.md"]
    assert offered(tmp_path / "**", ignore=("c.md",)) == ["a.md"]
    assert offered(tmp_path / "*.tmp") == []
    assert offered(tmp_path / "b.tmp") == ["b.tmp"]


def test_a_file_that_went_is_said_to_have_gone(tree: Path) -> None:
    (item,) = FolderSource([tree / "outside.pdf"]).items()
    assert callable(item.content)
    (tree / "outside.pdf").unlink()
    with pytest.raises(FileUnreadable, match="no longer exists"):
        item.content()
