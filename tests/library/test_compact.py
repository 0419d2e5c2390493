"""What was removed is gone from every byte of the library."""

import errno
import threading
from pathlib import Path

import pytest

from trivium.config import Settings
from trivium.ingest.outcomes import Fate
from trivium.library import Library
from trivium.operations.searching import SearchOptions
from trivium.store.embedded import indexes, segments
from trivium.store.embedded.backend import open_embedded
from trivium.store.embedded.words import WordIndex
from trivium.testing.samples import TOY

MARKS = ("markamber", "markcopper", "marksilver", "markgolden", "markbrass", "marksteel")


def write_marked(files: Path) -> Path:
    """Marks in the file's name, title, heading, text, metadata and a table's header."""
    path = files / "markamber.md"
    path.write_text(
        "---\ntitle: markcopper\nkeywords: [marksilver]\n---\n\n# markgolden\n\nA markbrass burns."
        "\n\n| marksteel | b |\n|---|---|\n| 1 | 2 |\n",
        encoding="utf-8",
    )
    return path


def holding(folder: Path) -> dict[str, set[str]]:
    """Which files hold a mark, in any encoding or capitals, by name or within."""
    found: dict[str, set[str]] = {}
    for path in folder.rglob("*"):
        data = path.read_bytes().lower() if path.is_file() else b""
        for mark in MARKS:
            if any(mark.encode(code) in data for code in ("utf-8", "utf-16-le", "utf-16-be")):
                found.setdefault(str(path.relative_to(folder)), set()).add(mark)
            if mark in path.name:
                found.setdefault(str(path.relative_to(folder)), set()).add(mark)
    return found


@pytest.mark.parametrize("way", ["remove", "prune"])
def test_no_file_holds_what_is_gone(
    library: Library, tmp_path: Path, files: Path, way: str
) -> None:
    folder = tmp_path / "library"
    path = write_marked(files)
    (files / "kept.md").write_text("A lantern burns.")
    library.add(files)
    held = holding(folder)
    assert {mark for marks in held.values() for mark in marks} == set(MARKS)
    assert {"library.db", "library.db-wal"} & held.keys()
    assert any(name.startswith("words") for name in held)
    if way == "remove":
        library.remove(["markamber.md"])
    else:
        plain = files / "plain.md"
        path.rename(plain)
        library.add(files)
        plain.write_text("---\ntitle: t\nkeywords: [k]\n---\n\nNothing left.")
        library.add(files)
        library.history.prune(keep=1)
    assert library.search("lantern")
    done = library.upkeep.compact()
    assert not done.held_back
    assert holding(folder) == {}
    assert done.after < done.before
    words = WordIndex(folder / "words").view()
    for mark in MARKS:
        for field in ("spellings", "stems"):
            assert not len(words.of(field, (mark,))[0])
    assert library.search("lantern")[0].found.document.title == "kept"
    health = library.upkeep.health()
    assert health["chunks"] == health["words"] == health["vectors"]


def test_readers_go_on_while_it_runs(library: Library, tmp_path: Path, files: Path) -> None:
    for n in range(40):
        (files / f"{n}.md").write_text(f"lantern number{n} " * 30)
    library.add(files)
    library.remove([f"{n}.md" for n in range(0, 40, 2)])
    wrong: list[object] = []
    ended = threading.Event()
    with Library(open_embedded(tmp_path / "library"), TOY, Settings()) as reader:

        def search() -> None:
            while not ended.is_set():
                for mode in ("keyword", "semantic", "fuzzy"):
                    found = reader.search("number7 lantern", 50, options=SearchOptions(mode=mode))
                    if len(found) != 20:
                        wrong.append((mode, len(found)))

        thread = threading.Thread(target=search)
        thread.start()
        for _ in range(3):
            library.upkeep.compact()
        ended.set()
        thread.join()
        assert not wrong
        (files / "new.md").write_text("A zebra.")
        library.add(files / "new.md")
        assert reader.search("zebraa", options=SearchOptions(mode="fuzzy")), (
            "its vocabulary follows the new file"
        )


def indexed(library: Path) -> int:
    """Chunks in the files of words, removed ones included."""
    return WordIndex(library / "words").view().count


def test_words_are_rebuilt_once_most_of_them_are_removed(
    library: Library, tmp_path: Path, files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(indexes, "_MANY", 4)
    for number in range(10):
        (files / f"{number}.md").write_text(f"A lantern burns {number}.")
    library.add(files)
    library.remove([f"{number}.md" for number in range(4)])
    assert indexed(tmp_path / "library") == 10
    assert len(library.search("lantern", 20)) == 6
    library.remove(["4.md"])
    assert indexed(tmp_path / "library") == 5
    assert len(library.search("lantern", 20)) == 5


def test_what_was_removed_stays_if_the_disk_refuses_to_rebuild_words(
    library: Library, tmp_path: Path, files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(indexes, "_MANY", 2)
    for number in range(4):
        (files / f"{number}.md").write_text(f"A lantern burns {number}.")
    library.add(files)
    with monkeypatch.context() as patched:
        patched.setattr(segments, "write", refuse)
        library.remove(["0.md", "1.md"])
        assert len(library.search("lantern")) == 2
    assert indexed(tmp_path / "library") == 4
    (files / "4.md").write_text("A lantern burns 4.")
    assert library.add(files / "4.md").count(Fate.ADDED) == 1
    assert len(library.search("lantern")) == 3


def refuse(*_: object) -> None:
    raise OSError(errno.ENOSPC, "No space left on device")
