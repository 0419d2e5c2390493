"""Databases with pages that can't be read: documents are named, and all that can be is saved."""

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from trivium.config import Settings
from trivium.core.counting import counted
from trivium.core.errors import LibraryDamaged
from trivium.core.upkeep import Salvaged
from trivium.library import Library
from trivium.store.blobs import FolderBlobs
from trivium.store.embedded import salvage as salvaging
from trivium.store.embedded.backend import open_embedded
from trivium.store.embedded.salvage import is_damaged, salvage, survey
from trivium.testing.samples import TOY

PAGE = 4096


def opened(place: Path) -> Library:
    return Library(open_embedded(place), TOY, Settings())


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Thirty notes of three passages, on some 150 pages."""
    files = tmp_path_factory.mktemp("files")
    for n in range(30):
        (files / f"{n:02}.md").write_text(
            f"# Note {n}\n\n" + f"The lantern of port {n} burns. " * 120
        )
    where = tmp_path_factory.mktemp("salvage") / "built"
    with opened(where) as library:
        library.add(files, category="notes", audience="crew", metadata={"by": "Ann"})
    with closing(sqlite3.connect(where / "library.db")) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return where


@pytest.fixture(autouse=True)
def few_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where nothing says how many rows a table had, each of 100,000 is tried alone: most of the
    time of these tests, and there are 90 passages. Still more than are read at a time."""
    assert salvaging._BOUND > salvaging._TOGETHER
    monkeypatch.setattr(salvaging, "_BOUND", 3 * salvaging._TOGETHER)


@pytest.fixture
def place(built: Path, tmp_path: Path) -> Path:
    """A copy, to damage."""
    return Path(shutil.copytree(built, tmp_path / "built"))


def zero(place: Path, holding: bytes, which: int = 0) -> None:
    """One of the pages that hold these bytes."""
    path = place / "library.db"
    data = bytearray(path.read_bytes())
    starts = [at for at in range(PAGE, len(data), PAGE) if holding in data[at : at + PAGE]]
    at = starts[which]
    data[at : at + PAGE] = bytes(PAGE)
    path.write_bytes(data)


def zero_root(place: Path, table: str) -> None:
    """The page where a table begins."""
    path = place / "library.db"
    with closing(sqlite3.connect(path)) as connection:
        query = "SELECT rootpage FROM sqlite_master WHERE name = ?"
        (root,) = connection.execute(query, (table,)).fetchone()
    data = bytearray(path.read_bytes())
    data[(root - 1) * PAGE : root * PAGE] = bytes(PAGE)
    path.write_bytes(data)


def wrong(place: Path) -> dict[str, str]:
    with opened(place) as library:
        return {one.name: one.message for one in library.upkeep.examine(deep=True) if not one.ok}


def test_a_sound_database_is_not_damaged(place: Path, tmp_path: Path) -> None:
    assert not is_damaged(place)
    assert not is_damaged(tmp_path / "none")
    assert survey(place) == Salvaged(30, (), 0)


@pytest.mark.parametrize("table", ["embeddings", "documents_by_source", "fields", "settings"])
def test_nothing_is_lost_with_what_can_be_made_again(place: Path, table: str) -> None:
    zero_root(place, table)
    assert is_damaged(place)
    saved = salvage(place)
    assert (saved.documents, saved.lost) == (30, ())
    with opened(place) as library:
        library.upkeep.repair()
        assert len(library.search("lantern")) == 10
    assert wrong(place) == {}


def test_lost_documents_are_named_and_read_again(place: Path) -> None:
    before = (place / "library.db").read_bytes()
    zero(place, b"The lantern of port 17 burns. ", 1)
    damaged = (place / "library.db").read_bytes()
    assert damaged != before
    seen = survey(place)
    assert seen.lost
    assert (place / "library.db").read_bytes() == damaged
    assert f"{len(seen.lost)} can't: #{seen.lost[0].id} " in seen.told()
    assert seen.lost[0].uri in seen.told()
    saved = salvage(place)
    assert saved.lost == seen.lost
    assert saved.documents == 30 - len(saved.lost)
    assert saved.kept is not None
    assert saved.kept.read_bytes() == damaged
    with opened(place) as library:
        library.upkeep.repair()  # while the damaged file is there, no original is thrown away
        assert library.upkeep.reread(saved.lost) == [
            f"Read {counted(len(saved.lost), 'document')} again from the archive."
        ]
        again = library.documents.get(saved.lost[0].uri)
        assert again.category == "notes"
        assert again.audience == "crew"
        assert again.metadata["by"] == "Ann"
    assert wrong(place) == {}


def test_a_table_of_documents_that_is_gone(place: Path) -> None:
    """The index knows their names, their interpretations the rest."""
    zero_root(place, "documents")
    with pytest.raises(LibraryDamaged):
        opened(place)
    saved = salvage(place)
    assert saved.documents == 0
    assert len(saved.lost) == 30
    assert {one.audience for one in saved.lost} == {"crew"}
    with opened(place) as library:
        library.upkeep.reread(saved.lost)
        assert library.upkeep.health()["documents"] == 30
        assert library.documents.get(saved.lost[3].uri).audience == "crew"
    assert wrong(place) == {}


def test_a_document_without_an_original_is_named(place: Path) -> None:
    zero_root(place, "chunks")
    saved = salvage(place)
    assert len(saved.lost) == 30
    with opened(place) as library:
        for one in saved.lost[:29]:
            library.upkeep.reread([one])
        FolderBlobs(place / "archive").delete(saved.lost[29].original)
        told = library.upkeep.reread(saved.lost[29:])
    assert told == [f"Lost #{saved.lost[29].id} {saved.lost[29].uri}: add it again."]


def test_a_second_salvage_keeps_both_files(place: Path) -> None:
    for _ in range(2):
        zero_root(place, "embeddings")
        salvage(place)
    assert len(list(place.glob("library.db.damaged-*"))) == 2


def test_no_schema_no_salvage(place: Path) -> None:
    path = place / "library.db"
    path.write_bytes(bytes(PAGE) + path.read_bytes()[PAGE:])
    before = path.read_bytes()
    with pytest.raises(LibraryDamaged, match="Couldn't read anything"):
        salvage(place)
    assert path.read_bytes() == before
