"""Random histories of every connector against its local service: afterwards the library equals the
source, and nothing unchanged was embedded again. `python -m bench.sync_histories` runs many."""

from collections.abc import Iterator
from random import Random

import pytest
from tests.sources.grounds import Grounds, standing
from tests.sources.worlds import WORLDS, world_of

from trivium.store.memory import open_memory
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
