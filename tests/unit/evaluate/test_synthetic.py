"""Mistakes as people make them."""

import random

from trivium.evaluate.synthetic import misspell
from trivium.text.misspelling import distance


def test_a_misspelled_word_is_one_mistake_away() -> None:
    chance = random.Random(3)
    for word in ("battle", "harbour", "crossbow", "regression", "ferryman") * 20:
        wrong = misspell(word, chance)
        assert wrong != word
        assert wrong[0] == word[0]
        assert 0 < distance(wrong, (word,)) <= 1
        assert abs(len(wrong) - len(word)) <= 1


def test_all_kinds_of_mistakes_are_made() -> None:
    chance = random.Random(3)
    lengths = [len(misspell("harbour", chance)) - 7 for _ in range(200)]
    assert {-1, 0, 1} == set(lengths)
    assert 70 < lengths.count(0) < 130  # half: swaps and exchanges


def test_a_word_without_a_possible_mistake_stays() -> None:
    assert misspell("a", random.Random(1)) == "a"
