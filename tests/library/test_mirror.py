"""Files that disappear from a folder are removed from the library, and nothing else is."""

from pathlib import Path

import pytest

from trivium.core.errors import BadSetting, FolderEmpty
from trivium.ingest.outcomes import Fate
from trivium.library import Library


def names(library: Library) -> set[str]:
    return {f"{d.collection}:{Path(d.uri).name}" for d in library.documents.all()}


def write(folder: Path, *names: str) -> None:
    for name in names:
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(f"This is {name}, and no other.")


def test_only_what_came_from_there_and_is_gone(library: Library, files: Path) -> None:
    write(files, "a.md", "b.md", "sub/c.md")
    beside = files.parent / "files-beside"
    write(beside, "d.md")
    library.add([files, beside])
    library.add(files / "b.md", collection="other")
    (files / "b.md").unlink()
    (files / "sub" / "c.md").unlink()
    (beside / "d.md").unlink()
    gone = library.folders.drop_gone([files])
    assert gone == [str(files / "b.md"), str(files / "sub" / "c.md")]
    assert names(library) == {"default:a.md", "default:d.md", "other:b.md"}
    assert library.folders.drop_gone([files]) == []
    assert library.folders.drop_gone([files], collection="other") == [str(files / "b.md")]


def test_what_has_moved_is_the_same_document(library: Library, files: Path) -> None:
    write(files, "a.md", "b.md")
    library.add(files)
    before = {d.title: d.id for d in library.documents.all()}
    (files / "a.md").rename(files / "moved.md")
    library.add(files)
    assert library.folders.drop_gone([files]) == []
    assert sorted(d.id for d in library.documents.all()) == sorted(before.values())


def test_a_file_that_becomes_a_folder_and_back(library: Library, files: Path) -> None:
    write(files, "a.md", "b.md")
    library.add(files)
    before = {Path(d.uri).name: d.id for d in library.documents.all()}
    (files / "a.md").rename(files.parent / "aside")
    (files / "a.md").mkdir()
    (files.parent / "aside").rename(files / "a.md" / "inside.md")
    report = library.add(files)
    assert report.count(Fate.MOVED) == 1
    assert library.folders.drop_gone([files]) == []
    assert library.documents.get("inside.md").id == before["a.md"]
    (files / "b.md").unlink()
    write(files, "b.md/other.md")
    library.add(files)
    assert library.folders.drop_gone([files]) == [str(files / "b.md")]
    assert names(library) == {"default:inside.md", "default:other.md"}


def test_what_is_ignored_by_now_goes_and_what_is_hidden_stays(
    library: Library, files: Path
) -> None:
    write(files, "a.md", "b.tmp.md", ".hidden.md")
    library.add([files, files / ".hidden.md"])
    (files / ".triviumignore").write_text("*.tmp.md")
    assert library.folders.drop_gone([files]) == [str(files / "b.tmp.md")]
    assert library.folders.drop_gone([files], ignore=["a.*"], force=True) == [str(files / "a.md")]
    assert names(library) == {"default:.hidden.md"}


def test_an_empty_or_missing_folder_is_refused(library: Library, files: Path) -> None:
    write(files, "sub/a.md")
    library.add(files)
    (files / "sub" / "a.md").unlink()
    with pytest.raises(FolderEmpty, match="has 1 document from it"):
        library.folders.drop_gone([files])
    (files / "sub").rmdir()
    files.rmdir()
    with pytest.raises(FolderEmpty, match="missing"):
        library.folders.drop_gone([files])
    assert names(library) == {"default:a.md"}
    assert library.folders.drop_gone([files], force=True) == [str(files / "sub" / "a.md")]
    assert library.folders.drop_gone([files]) == []  # nothing is at stake
    write(files.parent, "file.md")
    with pytest.raises(BadSetting, match="a folder"):
        library.folders.drop_gone([files.parent / "file.md"])


def test_the_library_itself_is_no_part_of_a_folder(tmp_path: Path, library: Library) -> None:
    write(tmp_path, "a.md")
    report = library.add(tmp_path)
    assert [Path(o.uri).name for o in report.outcomes] == ["a.md"]
