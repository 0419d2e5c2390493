import pytest

from trivium.core.types import Hit, Signal
from trivium.search.weigh import LEAST, MINILM, MOST, weigh

WEIGHTS = {Signal.VECTOR: 0.5, Signal.KEYWORD: 0.3, Signal.TRIGRAM: 0.2}


def hits(best: float, tenth: float) -> list[Hit]:
    return [Hit(n, best - (best - tenth) * n / 9) for n in range(10)]


def test_a_sure_vector_signal_counts_more_and_sure_words_count_more() -> None:
    sure, told, why = weigh(
        WEIGHTS, {Signal.VECTOR: hits(0.8, 0.5), Signal.KEYWORD: hits(9, 8)}, MINILM
    )
    unsure, _, why_not = weigh(
        WEIGHTS, {Signal.VECTOR: hits(0.4, 0.35), Signal.KEYWORD: hits(9, 2)}, MINILM
    )
    assert sure[Signal.VECTOR] == pytest.approx(MOST)
    assert unsure[Signal.VECTOR] == pytest.approx(LEAST)
    assert "top hit 0.80" in told
    # -.037 + .884 * .193 + 1.041 * .103 = .24 from meaning, .545 * .384 = .21 from words
    assert why == "the top results by meaning stand out"
    # -.037 - .884 * .207 - 1.041 * .147 = -.37 from meaning, -.545 * .283 = -.15 from words
    assert why_not == "the top results by meaning don't stand out"
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
    assert weigh(WEIGHTS, lists, MINILM) == (WEIGHTS, "", "")


def test_one_hit_of_words_is_enough() -> None:
    lists = {Signal.VECTOR: hits(0.6, 0.4), Signal.TRIGRAM: [Hit(1, 0.5)]}
    moved, told, _ = weigh(WEIGHTS, lists, MINILM)
    assert "words: none found" in told
    assert LEAST <= moved[Signal.VECTOR] <= MOST


def test_the_cause_is_what_moved_the_weights_most() -> None:
    lists = {Signal.VECTOR: hits(0.6, 0.4), Signal.KEYWORD: hits(9, 1)}
    assert weigh(WEIGHTS, lists, MINILM)[2] == "the top results by words stand out"
    lists[Signal.KEYWORD] = hits(9, 8.9)
    assert weigh(WEIGHTS, lists, MINILM)[2] == "the top results by words don't stand out"
    assert weigh(WEIGHTS, lists, MINILM.in_library(0.2))[2] == "meaning works well in this library"
    poor = weigh(WEIGHTS, lists, MINILM.in_library(-0.2))
    assert poor[2] == "meaning works poorly in this library"
