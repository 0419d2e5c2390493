"""Kills a process at every boundary between two steps, and checks that the next one finishes.

Run as `python steps.py LIBRARY`. A first round runs to the end and reports its boundaries: before
and after every call that writes something. For each of them a fork of this process
adds or removes documents and kills itself there: at the second `before stage`, not after so many
calls, since some are made once a second and a slow machine makes more. Another fork then resumes
and checks everything. Prints a line for every round: what was done, where it was killed.
"""

import gc
import os
import random
import re
import signal
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, TypeAlias

from trivium.config import Settings
from trivium.core.types import Chunk, Extraction, Labels
from trivium.ingest import embedding
from trivium.ingest.outcomes import Fate
from trivium.library import Library, worker
from trivium.ports import SourceItem
from trivium.store.embedded.backend import open_embedded
from trivium.store.embedded.indexes import Indexes
from trivium.store.sql.feed import Feed
from trivium.store.sql.queue import SqlQueue
from trivium.store.sql.staging import Staging
from trivium.store.sql.writer import DocumentNames, Removal
from trivium.testing.samples import TOY

PARTS = 3
CHANGED, SAME = 2, 1  # documents that every round changes, and that none does: two batches
Writing: TypeAlias = Sequence[tuple[type, Sequence[str]]]
WRITING: Writing = (
    (SqlQueue, ("create", "recover", "claim", "extend", "end", "release", "note_progress")),
    (Staging, ("stage", "activate", "discard")),
    (Removal, ("remove",)),
    (DocumentNames, ("relabel",)),
    (Feed, ("clear_leftovers",)),
    (Indexes, ("add", "drop", "stop_writing")),
)


class Source:
    """Texts that another process can have as well: their key is all there is to them."""

    kind = "steps"

    def __init__(self, keys: Sequence[bytes]) -> None:
        self._keys = keys

    def items(self) -> Iterator[SourceItem]:
        return map(self.again, self._keys)

    def options(self) -> Mapping[str, Any]:
        return {}

    def again(self, key: bytes) -> SourceItem:
        name, mark = key.decode().split()
        parts = [f"lantern mark{mark} number {n} of {name}" for n in range(PARTS)]
        return SourceItem(
            name, name, Extraction("\n\n".join(parts), (), name, "text/plain"), key=key
        )


class Cut:
    """A chunk for each paragraph, however short."""

    fingerprint = "paragraphs"

    def chunk(self, extraction: Extraction) -> tuple[Chunk, ...]:
        found, start = [], 0
        for index, text in enumerate(extraction.text.split("\n\n")):
            found.append(Chunk(index, start, start + len(text), text, tokens=10))
            start += len(text) + 2
        return tuple(found)

    def note(self, extraction: Extraction, chunks: Sequence[Chunk]) -> str:
        return ""


def offered(mark: int) -> Source:
    names = [f"same{n} 0" for n in range(SAME)] + [f"changed{n} {mark}" for n in range(CHANGED)]
    return Source([name.encode() for name in [*names, f"new{mark} {mark}"]])


def preload(act: Callable[[], None]) -> None:
    """Do this in a fork, then load what it loaded: each of a hundred forks would load it again."""
    reading, writing = os.pipe()
    known = set(sys.modules)

    def report() -> None:
        act()
        os.write(writing, "\n".join(sys.modules.keys() - known).encode())

    assert fork(report) == 0
    os.close(writing)
    with os.fdopen(reading) as names:
        for name in names.read().splitlines():
            with suppress(ImportError):
                import_module(name)
    gc.freeze()  # a collection in a fork would copy the pages of all this


def fork(act: Callable[[], None]) -> int:
    """How a process ended that did this."""
    child = os.fork()
    if child == 0:
        try:
            act()
            os._exit(0)
        except BaseException:
            import traceback

            traceback.print_exc()
            os._exit(1)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def notice(boundary: Callable[[str], None], writing: Writing) -> None:
    """From now on, every write calls `boundary` before and after."""

    def wrapped(name: str, method: Callable[..., Any]) -> Callable[..., Any]:
        def call(*given: Any, **named: Any) -> Any:
            boundary(f"before {name}")
            found = method(*given, **named)
            boundary(f"after {name}")
            return found

        return call

    for owner, names in writing:
        for name in names:
            setattr(owner, name, wrapped(name, getattr(owner, name)))


def boundaries(act: Callable[[], None], writing: Writing) -> list[tuple[str, int]]:
    """The boundaries on the way to the end, each with its number among those of the same name. If a
    name comes often, such as one written every second, only the first and another, which changes
    every day. `before` right behind an `after` is left out: nothing was written in between, and
    each kill takes 2 s."""
    reading, told = os.pipe()

    def go() -> None:
        notice(lambda name: os.write(told, f"{name}\n".encode()) and None, writing)
        act()

    assert fork(go) == 0
    os.close(told)
    with os.fdopen(reading) as names:
        met = names.read().splitlines()
    numbered = [(name, met[: at + 1].count(name)) for at, name in enumerate(met)]
    apart = [
        of
        for of, (last, _) in zip(numbered, [("", 0), *numbered], strict=False)
        if not (of[0].startswith("before") and last.startswith("after"))
    ]
    chance = random.Random(f"{datetime.now(UTC):%Y%m%d}")
    chosen = []
    for name in dict.fromkeys(name for name, _ in apart):
        first, *more = [boundary for boundary in apart if boundary[0] == name]
        chosen += [first, *chance.sample(more, min(1, len(more)))]
    return sorted(chosen, key=apart.index)


def killed(act: Callable[[], None], name: str, number: int, writing: Writing) -> bool:
    """Whether a process that does this met its end there. It may not come so far: then it is
    done."""
    passed = 0

    def boundary(here: str) -> None:
        nonlocal passed
        passed += here == name
        if passed == number:
            os.kill(os.getpid(), signal.SIGKILL)

    def die() -> None:
        notice(boundary, writing)
        act()

    code = fork(die)
    assert code in (0, -signal.SIGKILL), f"{name}, {number}: {code}"
    return code != 0


def opened(place: Path) -> Library:
    return Library(open_embedded(place), TOY, Settings())


def add(place: Path, mark: int) -> None:
    with opened(place) as library:
        library.add_from(offered(mark), Labels())


def remove(place: Path, mark: int) -> None:
    with opened(place) as library:
        library.remove([f"new{mark}"])


def finish_adding(place: Path, mark: int) -> None:
    with opened(place) as library:
        had_begun = bool(library.jobs.all(ended=False))
        library.jobs.work()
        again = library.add_from(offered(mark), Labels())
        if had_begun:
            assert again.count(Fate.UNCHANGED) == len(again.outcomes), "work() left something"
        names = {d.uri for d in library.documents.all()}
        assert names >= {f"same{n}" for n in range(SAME)} | {f"changed{n}" for n in range(CHANGED)}
        assert f"new{mark}" in names
        check(library, mark)


def finish_removing(place: Path, mark: int) -> None:
    with opened(place) as library:
        names = {d.uri for d in library.documents.all()}
        if f"new{mark}" in names:
            library.remove([f"new{mark}"])
        assert f"new{mark}" not in {d.uri for d in library.documents.all()}
        assert not any(result.found.document.uri == f"new{mark}" for result in everything(library))
        check(library, None)


def everything(library: Library) -> Any:
    return library.search("lantern", 1000)


def check(library: Library, mark: int | None) -> None:
    """Nothing lost, nothing doubled, nothing half done."""
    assert all(job.state.has_ended and not job.failed for job in library.jobs.all())
    documents = library.documents.all()
    assert len({d.uri for d in documents}) == len(documents)
    found = [result.found for result in everything(library)]
    assert len({c.id for c in found}) == len(found) == PARTS * len(documents)
    for document in documents:
        texts = [c.chunk.text for c in found if c.document.id == document.id]
        marks = {one for text in texts for one in re.findall(r"mark(\d+)", text)}
        assert len(texts) == PARTS, document.uri
        if mark is not None and document.uri.startswith("changed"):
            assert marks == {str(mark)}, (document.uri, marks)
    with library.backend.writer.writing():
        pass  # the next writer clears up
    health = library.upkeep.health()
    assert health["chunks"] == health["words"] == health["vectors"]
    assert health["leftovers"] == 0


def rounds(
    name: str, place: Path, mark: int, act: Callable[..., None], finish: Callable[..., None]
) -> int:
    """One to the end, then one for each of its boundaries; the last mark comes back."""
    met = boundaries(lambda: act(place, mark), WRITING)
    assert fork(lambda: finish(place, mark)) == 0, f"{name}, to the end"
    print(name, "to the end", flush=True)
    for where, number in met:
        mark = next_mark(act, place, mark)
        was_killed = killed(partial(act, place, mark), where, number, WRITING)
        assert fork(partial(finish, place, mark)) == 0, f"{name}, killed {where}, {number}"
        if was_killed:
            print(name, where, flush=True)
    return mark


def next_mark(act: Callable[..., None], place: Path, mark: int) -> int:
    if act is remove:  # something to remove again
        assert fork(lambda: add(place, mark + 1)) == 0
    return mark + 1


def main(place: Path) -> None:
    worker._SOURCES = {**worker._SOURCES, Source.kind: lambda *_: Source(())}
    worker.chunker_for = lambda *_: Cut()  # type: ignore[assignment]
    embedding.BATCH_DOCUMENTS = 2  # type: ignore[attr-defined]
    preload(lambda: add(place, 0))
    preload(lambda: finish_adding(place, 0))
    print("ready", flush=True)
    last = rounds("add", place, 1, add, finish_adding)
    rounds("remove", place, last, remove, finish_removing)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
