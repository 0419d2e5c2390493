"""Each call of each service fails: afterwards library and source are the same, and nothing was
removed by it. Here each call fails in one of the ways, in turn, every second one today and the
others tomorrow: `python -m bench.sync_histories --calls` tries every call in every way."""

from collections.abc import Iterator
from datetime import UTC, datetime
from random import Random

import pytest
from tests.reference import open_memory
from tests.sources.grounds import Grounds, standing
from tests.sources.worlds import SERVICES

from trivium.testing.sync_histories import TROUBLES, Life, fail_call


@pytest.fixture(scope="module")
def grounds() -> Iterator[Grounds]:
    with standing() as made:
        yield made


@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize("kind", SERVICES)
def test_a_call_fails(kind: str, first: bool, grounds: Grounds) -> None:
    def fail(call: int) -> int:
        life = Life(Random(f"{kind} calls"))
        trouble = TROUBLES[call % len(TROUBLES)]
        world = SERVICES[kind](life, grounds)
        return fail_call(world, life, open_memory, call=call, trouble=trouble, first=first)

    calls = fail(-1)
    assert calls
    today = datetime.now(UTC).toordinal() % 2
    for call in range(min(today, calls - 1), calls, 2):
        try:
            fail(call)
        except AssertionError as wrong:
            raise AssertionError(f"{kind}, call {call}: {wrong}") from wrong
