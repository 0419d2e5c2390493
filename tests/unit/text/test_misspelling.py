import pytest
from hypothesis import given
from hypothesis import strategies as st

from trivium.core.types import Spelled
from trivium.text.misspelling import (
    BLANK,
    DOUBLED,
    FIRST,
    OTHER,
    SILENT,
    SWAPPED,
    distance,
    nearest,
    spell,
)
from trivium.text.trigrams import Vocabulary

WORDS = ["test", "tests", "hierarchical", "regression", "battle", "axe", "skin", "2020", "ab"]
_LETTERS = st.text("abcehst", min_size=1, max_size=8)


@pytest.fixture(scope="module")
def vocabulary() -> Vocabulary:
    made = Vocabulary()
    made.add(WORDS)
    return made


@pytest.mark.parametrize(
    ("word", "meant", "cost"),
    [
        ("sword", "sword", 0.0),
        ("regresssion", "regression", DOUBLED),
        ("acount", "account", DOUBLED),
        ("netowrk", "network", SWAPPED),
        ("alghorithm", "algorithm", SILENT),
        ("sward", "sword", OTHER),
        ("wsord", "sword", SWAPPED + FIRST),
        ("zword", "sword", OTHER + FIRST),
        ("word", "sword", OTHER + FIRST),
        ("swo", "sword", 2 * OTHER),
    ],
)
def test_mistakes_cost_what_they_say(word: str, meant: str, cost: float) -> None:
    assert distance(word, (meant,)) == pytest.approx(cost)


def test_two_words_cost_the_blank() -> None:
    assert distance("battleaxe", ("battle", "axe")) == pytest.approx(BLANK)


@given(_LETTERS, _LETTERS)
def test_distance_is_symmetric_and_zero_for_the_same_word_only(a: str, b: str) -> None:
    assert distance(a, (b,)) == pytest.approx(distance(b, (a,)))
    assert (distance(a, (b,)) == 0) == (a == b)


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("etst", ("test",)),  # shares one trigram
        ("scin", ("skin",)),
        ("hirarcical", ("hierarchical",)),  # three mistakes
        ("battleaxe", ("battle", "axe")),
    ],
)
def test_nearest_proposes_what_was_meant(
    vocabulary: Vocabulary, word: str, meant: tuple[str, ...]
) -> None:
    assert meant in nearest(word, vocabulary)


def test_nothing_is_proposed_for_numbers_short_words_and_itself(vocabulary: Vocabulary) -> None:
    assert nearest("2021", vocabulary) == nearest("ax", vocabulary) == []
    assert nearest("test", vocabulary) == [("tests",)]


def test_only_what_chunks_hold_counts(vocabulary: Vocabulary) -> None:
    held = {("tests",): 3}
    found = spell(["test", "tests"], vocabulary, ["en"], lambda run, most: held.get(run, 0))
    assert found == {
        "test": (Spelled(("tests",), 3, inflected=True),),
        "tests": (Spelled(("tests",), 3),),
    }
