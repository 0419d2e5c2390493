"""A full or read-only disk: a clear error, search still works, and nothing is left behind."""

import os
import subprocess
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from tests.serving.shelf import client

from trivium.config import Settings
from trivium.core.errors import DiskFull, LibraryReadOnly
from trivium.library import Library
from trivium.operations.searching import SearchOptions
from trivium.store.embedded.backend import open_embedded
from trivium.testing.samples import TOY, sample

SIZE = 8 << 20  # bytes of the disk


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A small disk of its own."""
    place = tmp_path / "disk"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={SIZE}", "tmpfs", str(place)]
    if os.getuid() or subprocess.run(mount, check=False, capture_output=True).returncode:
        assert not os.environ.get("CI"), "no disk can be mounted"
        pytest.skip("Mounting a disk takes the rights of root.")
    try:
        yield place
    finally:
        subprocess.run(["umount", "-l", str(place)], check=True)


def fill(disk: Path) -> None:
    """To the last byte."""
    with (disk / "filler").open("ab", 0) as file:
        for size in (1 << 20, 4096, 1):
            try:
                while file.write(b"x" * size) == size:
                    pass
            except OSError:
                pass


def opened(disk: Path) -> Library:
    return Library(open_embedded(disk / "library"), TOY, Settings())


@pytest.fixture
def filled(disk: Path) -> Path:
    with closing(open_embedded(disk / "library")) as store:
        store.writer.put([sample(f"{n}.md", f"lantern {n}") for n in range(20)], TOY.fingerprint)
        store.writer.put([sample("7.md", "a lantern that changed")], TOY.fingerprint)
    return disk


def changes(library: Library, folder: Path) -> dict[str, Callable[[], object]]:
    file = folder / "new.md"
    file.write_text("A new lantern.")
    return {
        "add": lambda: library.add(file),
        "remove": lambda: library.remove(["3.md"]),
        "restore": lambda: library.restore("7.md", 1),
        "as of": lambda: library.search("lantern", options=SearchOptions(as_of=1)),
        "backup": lambda: library.upkeep.backup(library.backend.folder / "backup.tar"),
        "compact": library.upkeep.compact,
        "rebuild": library.upkeep.rebuild,
    }


def test_a_full_disk_is_searched_and_named(filled: Path, tmp_path: Path) -> None:
    fill(filled)
    before = sorted(path for path in filled.rglob("*") if path.is_dir())
    with opened(filled) as library:
        assert len(library.search("lantern")) == 10
        for name, change in changes(library, tmp_path).items():
            fill(filled)
            with pytest.raises(DiskFull):
                print(name, change())
        assert len(library.search("lantern")) == 10
    assert sorted(path for path in filled.rglob("*") if path.is_dir()) == before
    (filled / "filler").unlink()
    with opened(filled) as library:
        assert library.add(tmp_path / "new.md").outcomes
        assert all(finding.ok for finding in library.upkeep.examine())


def test_a_read_only_disk_is_searched_and_named(filled: Path, tmp_path: Path) -> None:
    remount = ["mount", "-o", "remount,ro", str(filled)]
    subprocess.run(remount, check=True, capture_output=True)
    with opened(filled) as library:
        found = library.search("lantern")
        assert len(found) == 10
        assert found.notes == ()
        assert {signal.value for signal in found[0].signals} == {"vector", "keyword", "trigram"}
        assert all(finding.ok for finding in library.upkeep.examine())
        for name, change in changes(library, tmp_path).items():
            with pytest.raises(LibraryReadOnly):
                print(name, change())


def test_a_damaged_index_on_a_read_only_disk_is_left_out(filled: Path) -> None:
    for path in (filled / "library" / "words").glob("*.words"):
        path.write_bytes(path.read_bytes()[::-1])
    subprocess.run(["mount", "-o", "remount,ro", str(filled)], check=True, capture_output=True)
    with opened(filled) as library:
        found = library.search("lantern")
        assert len(found) == 10
        assert found.notes[0].startswith("Searched without the signals keyword and trigram.")


def test_an_upload_to_a_full_disk_is_507(filled: Path) -> None:
    with opened(filled) as library, client(library) as sender:
        fill(filled)
        for size in (100, 100_000):
            answer = sender.post("/v1/documents", files={"file": ("a.md", b"lantern " * size)})
            assert (answer.status_code, answer.json()["code"]) == (507, "library.disk_full")
        assert len(sender.post("/v1/search", json={"query": "lantern"}).json()["results"]) == 10
        (filled / "filler").unlink()
        answer = sender.post("/v1/documents", files={"file": ("a.md", b"A lantern again.")})
        assert answer.status_code == 201, answer.text
