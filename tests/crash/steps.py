"""Kills a process at every boundary between two steps, and checks that the next one finishes.

Run as `python steps.py LIBRARY`. For each round a fork of this process adds, adds again or removes
documents and kills itself at one boundary later than in the round before: in front of, or just
behind, a call that writes something down. Another fork then resumes and checks all that is there.
Prints a line for every round: what was done, and where it was killed.
"""

import os
import re
import signal
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from trivium.config import Settings
from trivium.ingest import batches
from trivium.ingest.outcomes import Fate
from trivium.library import Library, workshop
from trivium.ports import SourceItem
from trivium.store.embedded.indexes import Indexes
from trivium.store.embedded.store import EmbeddedStore
from trivium.store.sql.queue import JobQueue
from trivium.store.sql.registry import Registry
from trivium.testing.samples import TOY
from trivium.types import Chunk, Extraction, Labels

PARTS = 3
CHANGED, SAME = 4, 2  # documents that every round changes, and that none does
WRITING: tuple[tuple[type, Sequence[str]], ...] = (
    (JobQueue, ("create", "recover", "claim", "extend", "end", "release", "note_steps")),
    (Registry, ("stage", "activate", "remove", "relabel", "discard_staged", "clear_leftovers")),
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


def kill_at(
    number: int, told: int, writing: Sequence[tuple[type, Sequence[str]]] = WRITING
) -> None:
    """From now on: die at this boundary. Its name is written to `told` first."""
    passed = 0

    def boundary(name: str) -> None:
        nonlocal passed
        passed += 1
        if passed == number:
            os.write(told, name.encode())
            os.kill(os.getpid(), signal.SIGKILL)

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


def opened(place: Path) -> Library:
    return Library(EmbeddedStore(place), TOY, Settings())


def add(place: Path, mark: int) -> None:
    with opened(place) as library:
        library.add_from(offered(mark), Labels())


def remove(place: Path, mark: int) -> None:
    with opened(place) as library:
        library.remove([f"new{mark}"])


def finish_adding(place: Path, mark: int) -> None:
    with opened(place) as library:
        had_begun = bool(library.jobs(ended=False))
        library.work()
        again = library.add_from(offered(mark), Labels())
        if had_begun:
            assert again.count(Fate.UNCHANGED) == len(again.outcomes), "work() left something"
        names = {d.uri for d in library.documents()}
        assert names >= {f"same{n}" for n in range(SAME)} | {f"changed{n}" for n in range(CHANGED)}
        assert f"new{mark}" in names
        check(library, mark)


def finish_removing(place: Path, mark: int) -> None:
    with opened(place) as library:
        names = {d.uri for d in library.documents()}
        if f"new{mark}" in names:
            library.remove([f"new{mark}"])
        assert f"new{mark}" not in {d.uri for d in library.documents()}
        assert not any(result.found.document.uri == f"new{mark}" for result in everything(library))
        check(library, None)


def everything(library: Library) -> Any:
    return library.search("lantern", 1000)


def check(library: Library, mark: int | None) -> None:
    """Nothing lost, nothing doubled, nothing half done."""
    assert all(job.state.has_ended and not job.failed for job in library.jobs())
    documents = library.documents()
    assert len({d.uri for d in documents}) == len(documents)
    found = [result.found for result in everything(library)]
    assert len({c.id for c in found}) == len(found) == PARTS * len(documents)
    for document in documents:
        texts = [c.chunk.text for c in found if c.document.id == document.id]
        marks = {one for text in texts for one in re.findall(r"mark(\d+)", text)}
        assert len(texts) == PARTS, document.uri
        if mark is not None and document.uri.startswith("changed"):
            assert marks == {str(mark)}, (document.uri, marks)
    with library._store.writing():
        pass  # the next writer clears up
    health = library.health()
    assert health["chunks"] == health["words"] == health["vectors"]
    assert health["leftovers"] == 0


def rounds(
    name: str, place: Path, mark: int, act: Callable[..., None], finish: Callable[..., None]
) -> int:
    """Until a round meets no more boundary; the last mark comes back."""
    boundary = 0
    while True:
        boundary += 1
        reading, writing = os.pipe()

        def die(mark: int = mark, boundary: int = boundary, told: int = writing) -> None:
            kill_at(boundary, told)
            act(place, mark)

        code = fork(die)
        os.close(writing)
        where = os.read(reading, 100).decode()
        os.close(reading)
        assert code in (0, -signal.SIGKILL), f"{name}, {boundary}: {code}"
        assert fork(lambda mark=mark: finish(place, mark)) == 0, f"{name}, killed {where}"  # type: ignore[misc]
        print(name, where or "to the end", flush=True)
        if code == 0:
            return mark
        mark = next_mark(act, place, mark)


def next_mark(act: Callable[..., None], place: Path, mark: int) -> int:
    if act is remove:  # something to remove again
        assert fork(lambda: add(place, mark + 1)) == 0
    return mark + 1


def main(place: Path) -> None:
    workshop._SOURCES = {**workshop._SOURCES, Source.kind: lambda *_: Source(())}
    workshop.chunker_for = lambda *_: Cut()  # type: ignore[assignment]
    batches.BATCH_DOCUMENTS = 2
    assert fork(lambda: add(place, 0)) == 0
    print("ready", flush=True)
    last = rounds("add", place, 1, add, finish_adding)
    rounds("remove", place, last, remove, finish_removing)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
