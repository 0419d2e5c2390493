"""A library keeps up with real folders."""

import shutil
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from trivium.core.errors import PathNotFound
from trivium.library import Library
from trivium.library.folders import Followed

PATIENCE = 240  # seconds that a test waits for what must happen
QUIET = 0.05


class Watcher:
    """Watches in a thread, and remembers the events."""

    def __init__(self, library: Library, *folders: Path, ignore: tuple[str, ...] = ()) -> None:
        self.library, self.folders, self.ignore = library, folders, ignore
        self.events: list[Followed] = []
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run)

    def _run(self) -> None:
        self.library.folders.watch(
            self.folders,
            ignore=self.ignore,
            quiet=QUIET,
            stop=self._stop,
            on_event=self.events.append,
        )

    def __enter__(self) -> "Watcher":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def until(self, kind: str, name: str, times: int = 1) -> None:
        """Wait for this event."""
        self.wait(lambda: self.told().count((kind, name)) >= times, f"{kind} {name}")

    def wait(self, holds: Callable[[], bool], what: str) -> None:
        deadline = time.monotonic() + PATIENCE
        while not holds():
            assert time.monotonic() < deadline, f"no {what}: {self.events}"
            assert self._thread.is_alive()
            threading.Event().wait(0.02)

    def told(self) -> list[tuple[str, str]]:
        return [(event.kind, Path(event.uri).name) for event in list(self.events)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "watched"
    place.mkdir()
    write(place, "old.md")
    return place


def write(folder: Path, *names: str, text: str = "") -> None:
    for name in names:
        (folder / name).parent.mkdir(exist_ok=True, parents=True)
        (folder / name).write_text(text or f"This is {name}, and no other.")


def held(library: Library) -> set[str]:
    return {Path(d.uri).name for d in library.documents.all()}


@pytest.fixture
def watcher(library: Library, folder: Path) -> Iterator[Watcher]:
    with Watcher(library, folder) as watching:
        watching.until("watching", "watched")
        yield watching


def test_first_it_comes_up_to_the_folder(library: Library, folder: Path) -> None:
    write(folder, "gone.md", "moved.md")
    library.add(folder)
    (folder / "gone.md").unlink()
    (folder / "moved.md").rename(folder / "here.md")
    write(folder, "new.md")
    with Watcher(library, folder) as watching:
        watching.until("watching", "watched")
    assert set(watching.told()) == {
        ("added", "new.md"),
        ("moved", "here.md"),
        ("removed", "gone.md"),
        ("watching", "watched"),
    }
    assert held(library) == {"old.md", "new.md", "here.md"}


def test_files_come_change_move_and_go(library: Library, folder: Path, watcher: Watcher) -> None:
    write(folder, "new.md")
    watcher.until("added", "new.md")
    (number,) = [d.id for d in library.documents.all() if d.uri.endswith("new.md")]
    write(folder, "new.md", text="Something else altogether.")
    watcher.until("updated", "new.md")
    assert library.show(number).text.startswith("Something else")
    (folder / "new.md").rename(folder / "newer.md")
    watcher.until("moved", "newer.md")
    assert library.show(number).document.uri == str(folder / "newer.md")
    (folder / "newer.md").unlink()
    watcher.until("removed", "newer.md")
    assert held(library) == {"old.md"}


def test_whole_folders_come_move_and_go(
    library: Library, folder: Path, watcher: Watcher, tmp_path: Path
) -> None:
    write(tmp_path / "aside", "x/one.md", "x/two.md")
    (tmp_path / "aside" / "x").rename(folder / "x")
    watcher.until("added", "one.md")
    watcher.until("added", "two.md")
    (folder / "x").rename(folder / "y")
    watcher.until("moved", "one.md")
    watcher.until("moved", "two.md")
    assert held(library) == {"old.md", "one.md", "two.md"}
    shutil.rmtree(folder / "y")
    watcher.until("removed", "one.md")
    watcher.until("removed", "two.md")
    assert held(library) == {"old.md"}


def test_rules_leave_out_and_new_rules_take_away(library: Library, folder: Path) -> None:
    with Watcher(library, folder, ignore=("*.tmp",)) as watching:
        watching.until("watching", "watched")
        write(folder, "a.tmp", ".hidden.md", "drafts/b.md", "c.md")
        watching.until("added", "c.md")
        watching.until("added", "b.md")
        write(folder, ".triviumignore", text="drafts/")
        watching.until("removed", "b.md")
        write(folder, "drafts/d.md", "e.md")
        watching.until("added", "e.md")
    assert held(library) == {"old.md", "c.md", "e.md"}


def test_a_folder_that_vanishes_keeps_its_documents(
    library: Library, folder: Path, watcher: Watcher, tmp_path: Path
) -> None:
    folder.rename(tmp_path / "elsewhere")
    watcher.until("vanished", "watched")
    assert held(library) == {"old.md"}
    folder.mkdir()  # as a disk that is not there yet
    watcher.until("empty", "watched")
    assert held(library) == {"old.md"}
    write(folder, "new.md")
    watcher.until("watching", "watched", times=2)
    assert held(library) == {"new.md"}
    write(folder, "newer.md")
    watcher.until("added", "newer.md")


def test_files_become_folders_and_folders_files(
    library: Library, folder: Path, watcher: Watcher, tmp_path: Path
) -> None:
    write(folder, "sub/a.md")
    watcher.until("added", "a.md")
    (folder / "old.md").rename(tmp_path / "aside")
    (folder / "old.md").mkdir()
    (tmp_path / "aside").rename(folder / "old.md" / "inside.md")
    watcher.until("moved", "inside.md")
    (folder / "sub").rename(tmp_path / "taken-out")
    write(folder, "sub")
    watcher.until("removed", "a.md")
    watcher.until("added", "sub")
    assert held(library) == {"inside.md", "sub"}


def test_an_empty_folder_keeps_its_documents_and_is_told_once(
    library: Library, folder: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    write(other, "first.md")
    with Watcher(library, folder, other) as watching:
        watching.until("watching", "watched")
        folder.rename(tmp_path / "taken-away")
        folder.mkdir()
        watching.until("empty", "watched")
        for name in ("second.md", "third.md"):  # each time the empty one is looked at again
            write(other, name)
            watching.until("added", name)
        assert watching.told().count(("empty", "watched")) == 1
    assert held(library) == {"old.md", "first.md", "second.md", "third.md"}


def test_what_cannot_be_read_is_told_and_the_rest_goes_on(
    library: Library, folder: Path, watcher: Watcher
) -> None:
    (folder / "broken.pdf").write_bytes(b"%PDF-1.7 and then nothing")
    watcher.until("failed", "broken.pdf")
    write(folder, "fine.md")
    watcher.until("added", "fine.md")


def test_a_folder_that_is_not_there_is_refused(library: Library, tmp_path: Path) -> None:
    with pytest.raises(PathNotFound):
        library.folders.watch([tmp_path / "nowhere"])
