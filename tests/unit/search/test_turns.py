"""A limited number of searches compute at a time; one that waits for a model doesn't count."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier, Event, Lock

import pytest

from trivium.search.turns import MOST, Turns, turns_for


def test_few_even_on_a_machine_with_many_cores() -> None:
    assert [turns_for(cores) for cores in (1, 2, 16, 64)] == [2, 3, MOST, MOST]


def test_no_more_than_that_at_a_time() -> None:
    turns, counting = Turns(2), Lock()
    inside, most = 0, 0
    together = Barrier(2, timeout=240)  # two do meet inside

    def search(_: int) -> None:
        nonlocal inside, most
        with turns.taken():
            with counting:
                inside += 1
                most = max(most, inside)
            together.wait()
            with counting:
                inside -= 1

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(search, range(8)))
    assert most == 2


def test_whoever_waits_for_a_model_lets_others_in() -> None:
    turns, answered = Turns(1), Event()

    def ask() -> bool:
        with turns.taken(), turns.given_up():
            return answered.wait(240)

    def search() -> None:
        with turns.taken():
            answered.set()

    with ThreadPoolExecutor(2) as threads:
        asking = threads.submit(ask)
        threads.submit(search).result(240)
        assert asking.result(240)


def test_an_error_gives_the_turn_back() -> None:
    turns = Turns(1)
    for _ in range(2):
        with pytest.raises(ValueError, match="broken"), turns.taken(), turns.given_up():
            raise ValueError("broken")
    with turns.taken():
        pass
