"""Measures by hand: two judged grades, an unjudged document, a query without an answer."""

from math import log2

import pytest

from trivium.evaluate.metrics import (
    MEASURES,
    measure,
    measure_each,
    ndcg,
    recall,
    reciprocal_rank,
    success,
)

JUDGED = {"a": 2, "b": 1, "c": 0, "d": 1}


def test_ndcg_discounts_gains_and_divides_by_the_best_order() -> None:
    best = 2 + 1 / log2(3) + 1 / log2(4)
    assert ndcg(["x", "a", "c", "b"], JUDGED, 10) == pytest.approx(
        (2 / log2(3) + 1 / log2(5)) / best
    )
    assert ndcg(["a", "b", "d"], JUDGED, 10) == pytest.approx(1.0)
    assert ndcg(["a", "b"], JUDGED, 2) == pytest.approx(1.0)  # the best two of three


def test_judgments_of_nothing_gain_nothing() -> None:
    assert ndcg(["c"], {"c": 0}, 10) == 0.0
    assert ndcg(["c", "a"], {"a": 1, "c": -1}, 10) == pytest.approx(1 / log2(3))


def test_recall_counts_the_relevant_within_the_depth() -> None:
    assert recall(["c", "a", "x"], JUDGED, 100) == pytest.approx(1 / 3)
    assert recall(["x", "a"], JUDGED, 1) == 0.0


def test_reciprocal_rank_is_of_the_first_relevant() -> None:
    assert reciprocal_rank(["x", "c", "b", "a"], JUDGED, 10) == pytest.approx(1 / 3)
    assert reciprocal_rank(["x", "c", "b"], JUDGED, 2) == 0.0


def test_a_query_without_an_answer_counts_nothing() -> None:
    found = measure({"q": {"a": 1}, "r": {"b": 1}}, {"q": {"a": 1.0}})
    assert found == dict.fromkeys(MEASURES, 0.5)


def test_success_is_all_or_nothing() -> None:
    assert [success(["x", "c", "b"], JUDGED, depth) for depth in (1, 2, 3)] == [0, 0, 1]


def test_values_stand_in_the_order_of_the_queries() -> None:
    judgments = {"q": {"a": 1}, "r": {"b": 1}, "s": {"c": 1}}
    each = measure_each(judgments, {"s": {"c": 1.0}, "q": {"x": 2.0, "a": 1.0}})
    assert each["mrr@10"] == [0.5, 0.0, 1.0]
    assert each["success@1"] == [0.0, 0.0, 1.0]


def test_equal_scores_are_ordered_as_trec_eval_orders_them() -> None:
    found = measure({"q": {"a": 1}}, {"q": {"a": 1.0, "b": 1.0}})
    assert found["mrr@10"] == 0.5
