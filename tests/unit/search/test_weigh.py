import pytest

from trivium.search.weigh import LEAST, MINILM, MOST, weigh
from trivium.types import Hit, Signal

WEIGHTS = {Signal.VECTOR: 0.5, Signal.KEYWORD: 0.3, Signal.TRIGRAM: 0.2}


def hits(best: float, tenth: float) -> list[Hit]:
    return [Hit(n, best - (best - tenth) * n / 9) for n in range(10)]


def test_a_sure_vector_signal_counts_more_and_sure_words_count_more() -> None:
    sure, why = weigh(WEIGHTS, {Signal.VECTOR: hits(0.8, 0.5), Signal.KEYWORD: hits(9, 8)}, MINILM)
    unsure, _ = weigh(WEIGHTS, {Signal.VECTOR: hits(0.4, 0.35), Signal.KEYWORD: hits(9, 2)}, MINILM)
    assert sure[Signal.VECTOR] == pytest.approx(MOST)
    assert unsure[Signal.VECTOR] == pytest.approx(LEAST)
    assert "top hit 0.80" in why
    for moved in (sure, unsure):
        assert sum(moved.values()) == pytest.approx(1)
        assert moved[Signal.KEYWORD] / moved[Signal.TRIGRAM] == pytest.approx(1.5)


@pytest.mark.parametrize(
    "lists",
    [
        {},
        {Signal.VECTOR: hits(0.8, 0.5)},
        {Signal.KEYWORD: hits(9, 8)},
        {Signal.VECTOR: [], Signal.KEYWORD: hits(9, 8)},
        {Signal.VECTOR: hits(0.8, 0.5)[:9], Signal.KEYWORD: hits(9, 8)},
    ],
)
def test_nothing_moves_unless_two_kinds_answered(lists: dict[Signal, list[Hit]]) -> None:
    assert weigh(WEIGHTS, lists, MINILM) == (WEIGHTS, "")


def test_one_hit_of_words_is_enough() -> None:
    lists = {Signal.VECTOR: hits(0.6, 0.4), Signal.TRIGRAM: [Hit(1, 0.5)]}
    moved, why = weigh(WEIGHTS, lists, MINILM)
    assert why
    assert LEAST <= moved[Signal.VECTOR] <= MOST
