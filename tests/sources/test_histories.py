"""Random histories of every connector against its local service: afterwards the library equals the
source, and nothing unchanged was embedded again. `python -m bench.sync_histories` runs many."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from random import Random
from typing import Any

import pytest
from tests.reference import open_memory
from tests.sources.grounds import Grounds, standing
from tests.sources.worlds import WORLDS, world_of

from trivium.config import Settings
from trivium.core.errors import UrlFailed
from trivium.core.types import OWNER
from trivium.core.work import KeptSource
from trivium.library.model import CurrentModel
from trivium.library.sync import Sync
from trivium.ports import Change, Checkpoint, Put
from trivium.ports.sync import Deletions
from trivium.testing.samples import ToyEmbedder
from trivium.testing.sync_histories import Life, live

EACH = 8


@pytest.fixture(scope="module")
def grounds() -> Iterator[Grounds]:
    with standing() as made:
        yield made


@pytest.mark.parametrize("kind", WORLDS)
def test_histories(kind: str, grounds: Grounds) -> None:
    for seed in range(EACH):
        life = Life(Random(f"{kind} {seed}"))
        try:
            live(life, world_of(kind, life, grounds), open_memory)
        except AssertionError as wrong:
            raise AssertionError(f"{kind}, seed {seed}: {wrong}") from wrong


def test_a_part_that_could_not_be_fetched_comes_later(grounds: Grounds) -> None:
    """A paper stays without one of its files, and the source's next run brings it."""
    life = Life(Random("zotero-api 71035"))
    live(life, world_of("zotero-api", life, grounds), open_memory)


class _Paper:
    """A paper with a second file, which can't be fetched at first."""

    deletions: Deletions = "kept"

    def __init__(self) -> None:
        self._fetches = 0

    def changes(self, cursor: str) -> Iterator[Change]:
        if not cursor:
            yield from self.again(["paper"])
        yield Checkpoint("read")

    def again(self, ids: Sequence[str]) -> Iterator[Change]:
        second = Put("paper/second", "second.txt", self._second)
        yield Put("paper", "first.txt", lambda: b"The first file.", parts=(second,))

    def ids(self) -> Iterator[str]:
        yield "paper"

    def _second(self) -> bytes:
        self._fetches += 1
        if self._fetches == 1:
            raise UrlFailed("Couldn't fetch the file.")
        return b"The second file."


class _Killed:
    """Sources in a process that ends before it notes a failure."""

    def __init__(self, sources: Any) -> None:
        self._sources = sources

    def __getattr__(self, name: str) -> Any:
        return getattr(self._sources, name)

    def settle(self, *_: object) -> None:
        raise KeyboardInterrupt


def test_a_part_comes_later_though_the_run_was_killed_before_it_noted_its_failure() -> None:
    backend = open_memory()
    paper, source = _Paper(), KeptSource("papers", "toy")
    dying: Any = _Killed(backend.sources)
    for process in (replace(backend, sources=dying), backend):
        sync = Sync(process, CurrentModel(process, ToyEmbedder(), Settings()), lambda _: paper)
        if process is not backend:
            sync.add(source)
            with pytest.raises(KeyboardInterrupt):
                sync.run("papers")
        else:
            sync.run("papers")
    (document,) = backend.documents.all(OWNER)
    assert "The second file." in (backend.documents.text(document.id, OWNER) or "")
    backend.close()
