import pytest
from hypothesis import given
from hypothesis import strategies as st

from trivium.core.types import Signal
from trivium.search.analyse import (
    LEAST,
    MOST,
    POINTS,
    SPELLING,
    Balance,
    analyse,
    favour_spelling,
    lean,
)
from trivium.text.query import parse

WEIGHTS = {Signal.VECTOR: 0.5, Signal.KEYWORD: 0.3, Signal.TRIGRAM: 0.2}
_PIECES = st.sampled_from(
    ["Smith", "and", "Jones", "et al.", "2023", "RLHF", '"a phrase"', "p < 0.05", "how", "why?"]
)


def shares(text: str) -> tuple[int, int]:
    balance = analyse(parse(text))
    return balance.semantic, balance.keyword


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Smith 2023", (35, 65)),
        ("how does AI affect trust", (65, 35)),
        ("machine learning", (50, 50)),
        ("PRISMA 2020 guidelines", (25, 75)),
        ("Jones et al.", (30, 70)),
        ("Smith and Jones", (30, 70)),
        ("RLHF models", (40, 60)),
        ('"machine learning"', (35, 65)),
        ("„maschinelles Lernen“", (35, 65)),
        ("p < 0.05", (40, 60)),
        ("why trust", (65, 35)),
        ("trust in automated systems", (60, 40)),
        ("how do people trust machines", (75, 25)),
        ("trust in automated systems 2020", (35, 65)),
        ("trust in systems by Smith & Jones", (30, 70)),
        ("Smith & Jones 2020 RLHF", (20, 80)),
    ],
)
def test_examples(text: str, expected: tuple[int, int]) -> None:
    assert shares(text) == expected


@pytest.mark.parametrize(
    ("text", "name", "because"),
    [
        ("Smith 2023", "year", "2023"),
        ("Kim et al 99", "author", "et al"),
        ("Müller und Schmidt", "author", "Müller und Schmidt"),
        ("O'Brien & McDonald", "author", "O'Brien & McDonald"),
        ("H1N1", "acronym", "H1N1"),
        ("LLMs", "acronym", "LLMs"),
        ("find “two words” here", "phrase", "“two words”"),
        ("C++", "special characters", "+"),
        ("Wie wirkt das", "question", "Wie"),
        ("Welche Waffe", "question", "Welche"),
        ("is it true?", "question", "?"),
        ("one two three four", "length", "4 words"),
    ],
)
def test_every_boost_names_itself_and_why(text: str, name: str, because: str) -> None:
    boost = next(b for b in analyse(parse(text)).boosts if b.name == name)
    assert (boost.side, boost.points) == POINTS[name]
    assert boost.because == because
    assert name in str(boost)
    assert because in str(boost)


@pytest.mark.parametrize(
    "text",
    [
        "trust and safety",  # no names
        "salt OR silver",  # syntax
        "machine learning -2020 -RLHF",  # not wanted, so no sign
        "1,999 lamps",
        "version 1.2020",
        "20231 lamps",
        "show lamps",
        "AND or",
    ],
)
def test_what_is_no_sign(text: str) -> None:
    assert analyse(parse(text)).boosts == ()


def test_who_in_capitals_is_no_question() -> None:
    assert shares("WHO guidelines") == (40, 60)
    assert shares("who guards") == (65, 35)


@given(st.lists(_PIECES, max_size=8).map(" ".join))
def test_the_balance_is_the_sum_of_its_boosts_within_bounds(text: str) -> None:
    balance = analyse(parse(text))
    total = sum(b.points if b.side == "semantic" else -b.points for b in balance.boosts)
    assert balance.semantic == min(MOST, max(LEAST, 50 + total))
    assert balance.semantic + balance.keyword == 100


@given(st.text(max_size=60))
def test_any_text_has_a_balance(text: str) -> None:
    assert LEAST <= analyse(parse(text)).semantic <= MOST


def test_at_full_strength_the_weights_are_the_shares() -> None:
    two = {Signal.VECTOR: 0.5, Signal.KEYWORD: 0.5}
    assert lean(two, Balance(35), 1) == pytest.approx({Signal.VECTOR: 0.35, Signal.KEYWORD: 0.65})
    moved = lean(WEIGHTS, Balance(65), 1)
    assert moved == pytest.approx({Signal.VECTOR: 0.65, Signal.KEYWORD: 0.21, Signal.TRIGRAM: 0.14})


def test_beside_evidence_only_the_lean_to_words_is_full() -> None:
    plain, beside = (lean(WEIGHTS, Balance(75), 1, beside_evidence=b) for b in (False, True))
    assert WEIGHTS[Signal.VECTOR] < beside[Signal.VECTOR] < plain[Signal.VECTOR]
    words = Balance(25)
    assert lean(WEIGHTS, words, 1, beside_evidence=True) == lean(WEIGHTS, words, 1)


@given(
    st.dictionaries(st.sampled_from(list(Signal)), st.floats(0.01, 10), min_size=1),
    st.integers(LEAST, MOST),
    st.floats(0, 2),
    st.floats(0, 1),
)
def test_weights_keep_their_sum(
    weights: dict[Signal, float], semantic: int, strength: float, unknown: float
) -> None:
    moved = favour_spelling(lean(weights, Balance(semantic), strength), unknown, strength)
    assert sum(moved.values()) == pytest.approx(sum(weights.values()))
    assert moved.keys() == weights.keys()
    assert lean(weights, Balance(semantic), 0) == pytest.approx(weights)


def test_unknown_words_raise_the_share_of_spelling() -> None:
    half, whole = (favour_spelling(WEIGHTS, u, 1)[Signal.TRIGRAM] for u in (0.5, 1))
    assert WEIGHTS[Signal.TRIGRAM] < half < whole
    assert favour_spelling(WEIGHTS, 0, 1) == pytest.approx(WEIGHTS)
    assert whole == pytest.approx(0.2 * (1 + SPELLING) / (1 + 0.2 * SPELLING))
