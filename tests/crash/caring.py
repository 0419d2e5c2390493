"""Kills a process at every boundary of compact, backup, recover and restore; the next one finishes.

Run as `python caring.py LIBRARY`. For each boundary a fork of this process does the work and kills
itself there; another fork does the work again and checks that nothing is lost. Prints a line for
every round: what was done, where it was killed.
"""

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

from tests.crash.steps import Writing, boundaries, fork, killed

from trivium.config import Settings
from trivium.library import Library
from trivium.store.embedded import backup
from trivium.store.embedded.backend import open_embedded
from trivium.store.embedded.indexes import Indexes
from trivium.store.embedded.recovery import recover
from trivium.store.embedded.upkeep import EmbeddedUpkeep
from trivium.store.sql.checks import Checks
from trivium.store.sql.feed import Feed
from trivium.store.sql.staging import Staging
from trivium.testing.samples import TOY, sample

DOCUMENTS = 5
WRITING: Writing = (
    (Staging, ("stage_restored", "activate")),
    (Checks, ("free_unused_vectors",)),
    (Feed, ("clear_leftovers",)),
    (Indexes, ("add", "rebuild", "catch_up", "stop_writing")),
    (EmbeddedUpkeep, ("_vacuum",)),
    (backup, ("_copy_database", "_sync", "_unpack")),  # type: ignore[arg-type]
    (Path, ("rename", "replace")),
)


def opened(place: Path) -> Library:
    return Library(open_embedded(place, create=False), TOY, Settings())


def fill(place: Path) -> None:
    store = open_embedded(place)
    for text in ("first", "second"):
        batch = [sample(f"d{n}", f"lantern {text} {n}") for n in range(DOCUMENTS)]
        store.writer.put(batch, TOY.fingerprint)
    store.writer.put([sample("gone", "a lantern that goes")], TOY.fingerprint)
    store.writer.remove([DOCUMENTS + 1])
    store.close()


def compact(place: Path) -> None:
    with opened(place) as library:
        library.upkeep.compact()


def back_up(place: Path) -> None:
    with opened(place) as library:
        library.upkeep.backup(place.with_name("backup.tar"), force=True)


def recover_it(place: Path) -> None:
    recover(place.with_name("backup.tar"), place, None, force=True)


def restore(place: Path) -> None:
    with opened(place) as library:
        library.restore("d1", 1)


def check(place: Path, first: bool) -> None:
    """`first`: d1 has the text of its first interpretation."""
    with opened(place) as library:
        with library.backend.writer.writing():
            pass  # the next writer clears up
        for n in range(DOCUMENTS):
            text = "first" if first and n == 1 else "second"
            assert library.documents.text(n + 1) == f"lantern {text} {n}"
        assert len(library.documents.all()) == len(library.search("lantern")) == DOCUMENTS
        wrong = [one for one in library.upkeep.examine(deep=True) if not one.ok]
        assert not wrong, wrong
    beside = {path.name for path in place.parent.iterdir()}
    assert beside <= {place.name, "backup.tar"}, beside


def rounds(name: str, place: Path, act: Callable[[Path], None], *, first: bool) -> None:
    met = boundaries(lambda: act(place), WRITING)
    for where, number in met:
        was_killed = killed(partial(act, place), where, number, WRITING)
        if act is not recover_it and act is not restore:  # these may be between two states
            assert fork(partial(opened, place)) == 0, f"{name}, killed {where}, {number}"
        assert fork(lambda: act(place)) == 0, f"{name} again, killed {where}, {number}"
        assert fork(partial(check, place, first)) == 0, f"{name}, killed {where}, {number}"
        if was_killed:
            print(name, where, flush=True)


def main(place: Path) -> None:
    assert fork(lambda: fill(place)) == 0
    rounds("compact", place, compact, first=False)
    rounds("backup", place, back_up, first=False)
    rounds("recover", place, recover_it, first=False)
    rounds("restore", place, restore, first=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
