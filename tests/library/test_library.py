import os
import pydoc
import sqlite3
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from trivium.config import Settings
from trivium.core.errors import (
    DiskFull,
    DocumentNotFound,
    LibraryBusy,
    LibraryDamaged,
    LibraryNotFound,
    LibraryReadOnly,
    LibraryTooNew,
    ModelChanged,
)
from trivium.core.types import OWNER, Signal
from trivium.library import Library
from trivium.store.embedded.backend import open_embedded
from trivium.testing.samples import TOY, probe, sample


def test_show_and_remove_by_id_path_or_name(library: Library, files: Path) -> None:
    (files / "a.md").write_text("# Harbour\n\nFog.\n\n## Quay\n\nRopes.")
    library.add(files)
    for name in (1, "#1", "a.md", files / "a.md"):
        shown = library.show(name if isinstance(name, int) else str(name))
        assert shown.document.title == "Harbour"
        for passage in shown.passages:
            assert shown.text[passage.chunk.start : passage.chunk.end] == passage.chunk.text
    assert [d.id for d in library.remove(["a.md"])] == [1]
    assert library.documents.all() == []
    with pytest.raises(DocumentNotFound, match=r"a\.md"):
        library.remove(["a.md"])


def test_removal_is_all_or_nothing(library: Library, files: Path) -> None:
    (files / "a.md").write_text("x y z")
    library.add(files)
    with pytest.raises(DocumentNotFound):
        library.remove(["a.md", "b.md"])
    assert len(library.documents.all()) == 1


def test_a_name_that_two_documents_bear(library: Library, files: Path) -> None:
    for folder in ("one", "two"):
        (files / folder).mkdir()
        (files / folder / "a.md").write_text(f"In {folder}.")
    library.add(files)
    with pytest.raises(DocumentNotFound, match="Several"):
        library.show("a.md")
    assert library.show(str(files / "one" / "a.md")).text == "In one."


def test_there_is_no_library(tmp_path: Path) -> None:
    with pytest.raises(LibraryNotFound, match="nowhere"):
        Library.open(tmp_path / "nowhere", create=False)
    assert not (tmp_path / "nowhere").exists()


def test_a_library_of_a_newer_version(tmp_path: Path) -> None:
    open_embedded(tmp_path / "l").close()
    with sqlite3.connect(tmp_path / "l" / "library.db") as connection:
        connection.execute("UPDATE settings SET value = '99' WHERE name = 'schema'")
    connection.close()
    with pytest.raises(LibraryTooNew, match="format 99"):
        open_embedded(tmp_path / "l")


def test_a_file_that_is_no_database(tmp_path: Path) -> None:
    (tmp_path / "library.db").write_bytes(b"no database at all, but long enough to look" * 100)
    with pytest.raises(LibraryDamaged):
        open_embedded(tmp_path)


def test_another_model_than_the_library_was_made_with(tmp_path: Path) -> None:
    store = open_embedded(tmp_path / "l")
    store.writer.put([sample("a.md", "x")], TOY.fingerprint)
    store.close()
    with pytest.raises(ModelChanged, match="toy-64"):
        Library.open(tmp_path / "l")


@pytest.mark.parametrize("lost", ["words", "vectors"])
def test_lost_indexes_are_made_anew(tmp_path: Path, lost: str) -> None:
    import shutil

    store = open_embedded(tmp_path / "l")
    store.writer.put([sample(f"{n}.md", f"lantern number {n}") for n in range(9)], TOY.fingerprint)
    before = store.upkeep.health()
    store.close()
    path = tmp_path / "l" / lost
    shutil.rmtree(path) if path.is_dir() else path.unlink()
    store = open_embedded(tmp_path / "l")
    assert store.upkeep.health() == before
    store.close()


def test_a_damaged_word_index_is_made_anew(tmp_path: Path) -> None:
    store = open_embedded(tmp_path / "l")
    store.writer.put([sample("a.md", "lantern")], TOY.fingerprint)
    before = store.upkeep.health()
    store.close()
    (tmp_path / "l" / "words" / "list.json").write_text("{")
    store = open_embedded(tmp_path / "l")
    assert store.upkeep.health() == before
    store.close()


def test_a_full_disk_loses_nothing(tmp_path: Path) -> None:
    """On a real small disk where this user may mount one, as CI's may."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=3m", "tmpfs", str(disk)]
    if subprocess.run(mount, check=False, capture_output=True).returncode != 0:
        assert "CI" not in os.environ, "CI must be able to mount a small disk"
        pytest.skip("this user may not mount a small disk")
    try:
        fill_and_recover(disk, mount)
    finally:
        subprocess.run(["umount", "--lazy", str(disk)], check=True)


def fill_and_recover(disk: Path, mount: list[str]) -> None:
    store = open_embedded(disk / "l")
    store.writer.put([sample("kept.md", "lantern")], TOY.fingerprint)

    def fill() -> None:
        for n in range(100):
            store.writer.put(
                [sample(f"{n}.md", *(f"word{n}x{i} " * 50 for i in range(200)))], "toy-64"
            )

    with pytest.raises(DiskFull, match="full"):
        fill()
    acknowledged = store.documents.all(OWNER)
    assert "kept.md" in {document.uri for document in acknowledged}
    store.close()
    subprocess.run([*mount[:3], "-o", "remount,size=64m", "tmpfs", str(disk)], check=True)
    store = open_embedded(disk / "l")
    assert store.documents.all(OWNER) == acknowledged
    store.writer.put([sample("more.md", "lantern")], TOY.fingerprint)
    health = store.upkeep.health()
    assert health["chunks"] == health["words"] == health["vectors"]
    store.close()


def test_a_second_writer_waits_and_says_so(tmp_path: Path) -> None:
    first, second = open_embedded(tmp_path / "l"), open_embedded(tmp_path / "l", wait=240)
    said: list[str] = []
    told = threading.Event()

    def write() -> None:
        with second.writer.writing(lambda message: (said.append(message), told.set())):
            second.writer.put([sample("b.md", "second")], TOY.fingerprint)

    with first.writer.writing():
        thread = threading.Thread(target=write)
        thread.start()
        assert told.wait(240)
        first.writer.put([sample("a.md", "first")], TOY.fingerprint)
    thread.join()
    assert "Another process" in said[0]
    assert [d.uri for d in first.documents.all(OWNER)] == ["a.md", "b.md"]
    first.close()
    second.close()


def test_a_writer_that_waits_too_long_gives_up(tmp_path: Path) -> None:
    first, second = open_embedded(tmp_path / "l"), open_embedded(tmp_path / "l", wait=0.1)
    with first.writer.writing(), pytest.raises(LibraryBusy), second.writer.writing():
        pass
    first.close()
    second.close()


def test_a_place_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    code = (
        "from trivium.store.embedded.backend import open_embedded; from pathlib import Path;"
        "import sys; open_embedded(Path(sys.argv[1]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, "/proc/nowhere"], check=False, capture_output=True, text=True
    )
    assert LibraryReadOnly.__name__ in done.stderr or "StoreError" in done.stderr


def test_settings_reach_the_search(tmp_path: Path, files: Path) -> None:
    (files / "a.md").write_text("# A\n\nlantern\n\n# B\n\nlantern")
    store = open_embedded(tmp_path / "l")
    with Library(
        store, TOY, Settings(search_limit=1, fusion_k=60.0, fusion_method="rrf")
    ) as library:
        library.add(files)
        results = library.search("lantern")
        assert len(results) == 1
        assert results[0].score == pytest.approx(1.0 / 61)


def test_rankings_survive_reading_everything_again(tmp_path: Path) -> None:
    """Dropped chunks still count in an index until it is merged: weights must not turn negative."""
    store = open_embedded(tmp_path / "l")
    texts = [f"lantern number{n} burns {'brightly' if n % 3 else 'dimly'}" for n in range(30)]
    for round_ in range(4):
        batch = [sample(f"{n}.md", f"{text} round{round_}") for n, text in enumerate(texts)]
        store.writer.put(batch, TOY.fingerprint)
    for query, found in (("lantern", 30), ("brightly", 20), ("dimli", 10)):
        hits = store.signals.search(Signal.TRIGRAM, probe(query), OWNER, 100)
        assert len(hits) == found
        assert all(0 < hit.score <= 1 for hit in hits)
    store.close()


def test_a_lease_makes_no_folder_again_that_was_moved(tmp_path: Path) -> None:
    store = open_embedded(tmp_path / "l")
    (tmp_path / "l").rename(tmp_path / "elsewhere")
    with pytest.raises(LibraryNotFound), store.leases.hold("reembed", "embedding"):
        pass
    assert not (tmp_path / "l").exists()
    store.close()


def test_help_describes_parts_that_are_not_loaded_yet() -> None:
    assert "search" in pydoc.render_doc(Library)
    assert isinstance(vars(Library)["jobs"], type(Library.jobs))
