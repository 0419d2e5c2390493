"""The bytes of documents are kept beside the library, and go with them."""

from pathlib import Path

import pytest

from trivium.config import Settings
from trivium.core.errors import DocumentNotFound, OriginalMissing
from trivium.library import Library, where
from trivium.operations.searching import Filters
from trivium.store.blobs import FolderBlobs
from trivium.store.embedded.backend import open_embedded
from trivium.testing.samples import TOY


def kept(folder: Path) -> list[bytes]:
    return sorted(p.read_bytes() for p in folder.rglob("*") if p.is_file())


def test_every_interpretation_keeps_its_bytes(
    library: Library, tmp_path: Path, files: Path
) -> None:
    note, archive = files / "a.md", tmp_path / "library" / "archive"
    for text in (b"A lantern.", b"A candle."):
        note.write_bytes(text)
        library.add(files, audience="dm-only")
    assert library.history.original("a.md") == b"A candle."
    assert library.history.original("a.md", interpretation=1) == b"A lantern."
    assert kept(archive) == [b"A candle.", b"A lantern."]
    with pytest.raises(DocumentNotFound):
        library.history.original("a.md", where(Filters(audiences=["player"])))
    library.history.prune(keep=1)
    assert kept(archive) == [b"A candle."]
    library.remove(["a.md"])
    assert kept(archive) == []


def test_copies_share_their_bytes(library: Library, tmp_path: Path, files: Path) -> None:
    for name in ("a.md", "b.txt", "c.md"):
        (files / name).write_bytes(b"A lantern.")
    library.add(files)
    assert kept(tmp_path / "library" / "archive") == [b"A lantern."]
    library.remove(["a.md"])
    assert library.history.original("b.txt") == b"A lantern."


def test_another_folder_or_none(tmp_path: Path, files: Path) -> None:
    (files / "a.md").write_bytes(b"A lantern.")
    store = open_embedded(tmp_path / "l", blobs=FolderBlobs(tmp_path / "elsewhere"))
    with Library(store, TOY, Settings()) as library:
        library.add(files)
        assert kept(tmp_path / "elsewhere") == [b"A lantern."]
        assert not (tmp_path / "l" / "archive").exists()
    with Library(open_embedded(tmp_path / "m"), TOY, Settings(archive_keep=False)) as library:
        library.add(files)
        assert not (tmp_path / "m" / "archive").exists()
        with pytest.raises(OriginalMissing, match="didn't keep"):
            library.history.original("a.md")


def test_the_setting_names_the_folder(tmp_path: Path, files: Path) -> None:
    (files / "a.md").write_bytes(b"A lantern.")
    settings = Settings(archive_folder=tmp_path / "blobs", embed_folder=tmp_path / "none")
    with Library.open(tmp_path / "l", settings=settings) as library:
        library.add(files)
        assert library.history.original("a.md") == b"A lantern."
    assert kept(tmp_path / "blobs") == [b"A lantern."]
