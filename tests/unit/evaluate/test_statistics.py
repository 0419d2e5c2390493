"""Intervals and tests by values that can be worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest

from trivium.evaluate.statistics import compare, intervals


def test_an_interval_of_equal_values_is_a_point() -> None:
    found = intervals({"a": [0.5] * 20})["a"]
    assert (found.low, found.high) == (0.5, 0.5)


def test_an_interval_is_that_of_the_normal_law_where_that_holds() -> None:
    """Of 400 coin tosses with 200 heads the mean's standard error is .025."""
    found = intervals({"a": [0.0, 1.0] * 200})["a"]
    assert found.low == pytest.approx(0.5 - 1.96 * 0.025, abs=0.004)
    assert found.high == pytest.approx(0.5 + 1.96 * 0.025, abs=0.004)


def test_an_interval_covers_the_truth_about_as_often_as_it_says() -> None:
    chance = np.random.default_rng(5)
    samples = chance.beta(2, 3, (25, 60))  # true mean .4
    held = [intervals({"a": list(s)})["a"] for s in samples]
    assert 0.8 <= np.mean([i.low <= 0.4 <= i.high for i in held]) <= 1.0


def test_the_same_values_give_the_same_answer() -> None:
    values = {"a": [0.1, 0.7, 0.3], "b": [1.0, 0.0, 1.0]}
    assert intervals(values) == intervals(values)
    assert intervals(values)["a"] == intervals({"a": values["a"]})["a"]  # the same queries drawn


def test_no_values() -> None:
    assert intervals({}) == {}
    assert compare([], []).p == 1.0


def test_all_changes_of_places_are_counted_where_queries_are_few() -> None:
    """Three wins of the same size: of the 8 ways two (all wins, all losses) are as extreme."""
    found = compare([1.0, 1.0, 1.0, 0.5], [0.5, 0.5, 0.5, 0.5])
    assert found.p == pytest.approx(2 / 8)
    assert (found.wins, found.losses, found.ties) == (3, 0, 1)
    assert found.gain == pytest.approx(0.375)
    # Wins of 3 and 1, a loss of 2: of the sums 6 4 2 0 0 2 4 6 all but the zeros reach 2.
    assert compare([3.0, 1.0, 0.0], [0.0, 0.0, 2.0]).p == pytest.approx(6 / 8)


def test_equal_runs_differ_by_nothing() -> None:
    found = compare([0.3, 0.9, 0.0], [0.3, 0.9, 0.0])
    assert (found.gain, found.p, found.ties) == (0.0, 1.0, 3)
    assert not found.real
    assert str(found) == "No difference on any query."


def test_a_great_difference_is_real_and_noise_is_not() -> None:
    chance = np.random.default_rng(3)
    before = chance.random(200)
    better = compare(list(before + 0.1 + chance.normal(0, 0.1, 200)), list(before))
    assert better.real
    assert better.p < 0.001
    assert 0.08 < better.interval.low < better.gain < better.interval.high < 0.12
    assert str(better).startswith("The difference is real: better by 0.1")
    worse = compare(list(before), list(before + 0.1))
    assert worse.gain == pytest.approx(-0.1)
    assert "worse by" in str(worse)
    noise = [compare(list(chance.random(50)), list(chance.random(50))) for _ in range(20)]
    assert sum(one.real for one in noise) <= 4  # one in twenty, by chance
    assert "may be chance" in str(max(noise, key=lambda one: one.p))
