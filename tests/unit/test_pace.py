"""The time left: it falls steadily, whatever documents come."""

from __future__ import annotations

from itertools import accumulate, pairwise
from random import Random
from statistics import median

import pytest

from trivium.pace import TimeLeft, share_done


class Naive:
    """The time left, estimated from the finished bytes alone."""

    def after(self, now: float, done: float) -> float | None:
        return now * (1 - done) / done if done else None


def shown(costs: list[tuple[int, float]], by: TimeLeft | Naive) -> list[tuple[float, float]]:
    """Documents (bytes, seconds) worked off one after the other, looked at every second: seconds
    that are truly left, and what is said."""
    said = []
    whole, size = sum(seconds for _, seconds in costs), sum(bytes_ for bytes_, _ in costs)
    ends = list(accumulate(seconds for _, seconds in costs))
    for now in range(int(whole)):
        done = [bytes_ for end, (bytes_, _) in zip(ends, costs, strict=True) if end <= now]
        share = share_done(len(done), len(costs), sum(done), size)
        if isinstance(by, Naive):
            share = sum(done) / size
        told = by.after(float(now), share)
        if told is not None:
            said.append((whole - now, told))
    return said


def rises(said: list[tuple[float, float]]) -> list[float]:
    return [max(0.0, after - before) for (_, before), (_, after) in pairwise(said)]


def mixed(seed: int) -> list[tuple[int, float]]:
    """Eighty files as people have them: notes that cost a blink, books by their pages, and scans
    that cost minutes whatever their bytes."""
    chance = Random(seed)
    notes = [(chance.randint(1_000, 50_000), chance.uniform(0.05, 0.5)) for _ in range(50)]
    books = [(b := chance.randint(200_000, 5_000_000), b / 60_000) for _ in range(25)]
    scans = [(chance.randint(100_000, 900_000), chance.uniform(40, 120)) for _ in range(5)]
    together = [*notes, *books, *scans]
    chance.shuffle(together)
    return together


@pytest.mark.parametrize("seed", range(5))
def test_it_falls_steadily(seed: int) -> None:
    said, naive = shown(mixed(seed), TimeLeft()), shown(mixed(seed), Naive())
    assert max(rises(said)) <= 15, "seconds more than a second before"
    assert sum(rises(said)) < sum(rises(naive)) / 4
    late = said[len(said) // 2 :]
    assert 0.5 < median((told + 60) / (true + 60) for true, told in late) < 2.5


def test_even_work_is_foretold_exactly() -> None:
    said = shown([(1_000, 1.0)] * 100, TimeLeft())
    assert all(abs(told - true) < 3 for true, told in said)


def test_more_work_is_no_step_back() -> None:
    left = TimeLeft()
    left.after(0, 0.0)
    assert left.after(10, 0.5) == pytest.approx(10)
    assert left.after(11, 0.1) is None, "other files came: it starts again"


def test_a_page_that_was_just_opened_begins_with_the_job_s_own_estimate() -> None:
    clock = TimeLeft()
    assert clock.after(0.0, 0.5) is None
    assert clock.expect(0.0, None) is None
    assert clock.expect(0.0, 60.0) == 60.0
    told = [clock.after(float(now), 0.5 + now / 120) for now in range(1, 60)]
    assert all(one is not None for one in told)
    assert told == sorted(told, reverse=True), "it falls from there"
