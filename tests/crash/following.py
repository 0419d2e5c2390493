"""Kills a watcher at every boundary between two steps, and checks that the next one brings the
library in step with the folder.

Run as `python following.py LIBRARY FOLDER`. For each boundary a fork of this process watches the
folder, in which files came, changed, moved and went before it began, and do so again while it
watches, and kills itself there. Another fork then mirrors the folder and checks everything. Starts
when its standard input says so; prints a line for every round.
"""

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from threading import Event

from tests.crash.steps import Writing, boundaries, fork, killed, preload

from trivium.config import Settings
from trivium.extract.detect import read
from trivium.extract.sandbox import Sandbox
from trivium.library import Library
from trivium.library.assembly import chunker_for
from trivium.library.folders import Followed
from trivium.ports import Blob
from trivium.sources import watch
from trivium.store.embedded.backend import open_embedded
from trivium.store.embedded.indexes import Indexes
from trivium.store.sql.queue import SqlQueue
from trivium.store.sql.staging import Staging
from trivium.store.sql.writer import DocumentNames, Removal
from trivium.testing.samples import TOY

PARTS = 3
LOOK = 0.05  # seconds, instead of half a one
# Other boundaries of `steps`, such as timestamps of a task, are the same for a watcher.
FOLLOWING: Writing = (
    (SqlQueue, ("create", "claim", "end")),
    (Staging, ("stage", "activate")),
    (Removal, ("remove",)),
    (DocumentNames, ("rename", "unname")),
    (Indexes, ("add", "drop")),
)
ROLES = ("before", "meanwhile")  # when files of the round come, change, move and go


def write(folder: Path, name: str, mark: int) -> None:
    parts = [f"## Part {n}\n\nlantern mark{mark} number {n} of {name}" for n in range(PARTS)]
    (folder / name).write_text("\n\n".join(parts))


def held(place: Path) -> dict[str, str]:
    """The text of every document, once all of the library agrees on it."""
    with Library(open_embedded(place), TOY, Settings()) as library:
        documents = library.documents.all()
        assert len({d.uri for d in documents}) == len(documents)
        with library.backend.writer.writing():
            pass  # the next writer clears up
        health = library.upkeep.health()
        assert health["chunks"] == health["words"] == health["vectors"] == PARTS * len(documents)
        return {Path(d.uri).name: library.show(d.id).text for d in documents}


def check(place: Path, folder: Path) -> None:
    """The library holds what the folder holds."""
    texts = held(place)
    assert texts.keys() == {path.name for path in folder.iterdir()}
    for name, text in texts.items():
        told = (folder / name).read_text().replace("## ", "")
        assert text.split() == told.split(), name


def prepare(folder: Path, mark: int) -> None:
    """Files that a round will change, move and remove; some may exist already."""
    for old in folder.glob("new-*"):
        old.unlink()
    for role in ROLES:
        write(folder, f"{role}.md", 10 * mark)
        write(folder, f"new-{role}-moving.md", 10 * mark + 1)
        write(folder, f"new-{role}-going.md", 10 * mark + 2)


def stir(folder: Path, role: str, mark: int) -> None:
    write(folder, f"{role}.md", 10 * mark + 3)
    write(folder, f"new-{role}-came.md", 10 * mark + 4)
    (folder / f"new-{role}-moving.md").rename(folder / f"new-{role}-moved.md")
    (folder / f"new-{role}-going.md").unlink()


def watched(place: Path, folder: Path, on_event: Callable[[Followed, Event], None]) -> None:
    watch._LOOK = LOOK
    stop = Event()
    with Library(open_embedded(place), TOY, Settings()) as library:
        library.folders.watch([folder], quiet=LOOK, stop=stop, on_event=lambda e: on_event(e, stop))


def follow(place: Path, folder: Path, mark: int) -> None:
    """Until the last of what happens meanwhile is followed."""

    def on_event(event: Followed, stop: Event) -> None:
        if event.kind == "watching":
            stir(folder, "meanwhile", mark)
        elif event.kind == "removed" and event.uri.endswith("new-meanwhile-going.md"):
            stop.set()

    watched(place, folder, on_event)


def finish(place: Path, folder: Path) -> None:
    watched(place, folder, lambda event, stop: stop.set() if event.kind == "watching" else None)
    check(place, folder)


def main(place: Path, folder: Path) -> None:
    folder.mkdir()
    write(folder, "same.md", 0)
    # Reading isn't tested here, and its process would take a second to start, 90 times.
    Sandbox.read_all = lambda _, blobs, chunking="": [read(blob) for blob in blobs]  # type: ignore[method-assign]
    # Forks have what this loads, the tokens above all: each took .3 s of processor time longer.
    whole = read(Blob("same.md", (folder / "same.md").read_bytes()))
    chunker_for(Settings(), TOY).chunk(whole)
    prepare(folder, 1)
    preload(partial(finish, place, folder))
    print("ready", flush=True)
    sys.stdin.readline()
    stir(folder, "before", 1)
    met = boundaries(partial(follow, place, folder, 1), FOLLOWING)
    assert fork(partial(check, place, folder)) == 0, "to the end"
    print("to the end", flush=True)
    for mark, (where, number) in enumerate(met, 2):
        prepare(folder, mark)
        assert fork(partial(finish, place, folder)) == 0, f"after {where}, {number}"
        stir(folder, "before", mark)
        if killed(partial(follow, place, folder, mark), where, number, FOLLOWING):
            print(where, flush=True)
    assert fork(partial(finish, place, folder)) == 0


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
