from collections.abc import Collection, Mapping, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.reference import open_memory

from trivium.core.types import OWNER, Spelled, Where
from trivium.ports import Backend
from trivium.search.correct import SURE, Corrected, correct
from trivium.testing.samples import TOY, sample
from trivium.text.normalise import words
from trivium.text.query import parse

PUBLIC = (
    "The hierarchical model of regression explains the variance of the distribution.",
    "A battle axe and a short sword hang in the old harbour.",
    "Learning rates of neural networks, again and again: learning.",
)
SECRET = "The heirloom of Ysolde lies under the cathedral."
PLAYER = Where(frozenset())


@pytest.fixture(scope="module")
def store() -> Backend:
    made = open_memory()
    made.writer.put([sample("p.md", *PUBLIC)], TOY.fingerprint)
    made.writer.put([sample("s.md", SECRET, audience="dm-only")], TOY.fingerprint)
    return made


TAUGHT = frozenset(w for text in (*PUBLIC, SECRET) for w in words(text))


def ask(
    store: Backend, text: str, where: Where = OWNER, taught: Collection[str] | None = TAUGHT
) -> Corrected:
    def spellings(asked: Sequence[str]) -> Mapping[str, tuple[Spelled, ...]]:
        return store.signals.spellings(asked, where)

    return correct(parse(text), spellings, lambda: None if taught is None else taught.__contains__)


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("hirarcical model", "hierarchical model"),
        ("the learnning rate", "the learning rate"),
        ("Regresssion, please", "Regression, please"),
        ("HARBUOR", "HARBOUR"),
        ("neurla netwroks", "neural networks"),
    ],
)
def test_misspelled_words_are_corrected(store: Backend, typed: str, meant: str) -> None:
    corrected = ask(store, typed)
    assert corrected.query == parse(meant)
    assert corrected.suggestion == meant
    assert all(c.applied and SURE <= c.sure <= 1 for c in corrected.corrections)


@pytest.mark.parametrize(
    "text",
    [
        "hierarchical regression",  # known
        "Harbours",  # with another ending
        "battleaxe",  # as two words
        "Shortsord",  # as two words, misspelled
        "axe 2020 h1n1 ax",  # numbers, identifiers and short words
        "quixotic zeppelin",  # like nothing here
        "-harbuor sword",  # not wanted
    ],
)
def test_everything_else_stays_as_typed(store: Backend, text: str) -> None:
    corrected = ask(store, text)
    assert corrected.query == parse(text)
    assert corrected.corrections == ()
    assert corrected.suggestion == ""


def test_a_word_the_model_was_taught_stays(store: Backend) -> None:
    assert ask(store, "leaming", taught={*TAUGHT, "leaming"}).corrections == ()
    assert ask(store, "leaming").suggestion == "learning"


def test_what_nobody_can_vouch_for_must_be_surer(store: Backend) -> None:
    assert ask(store, "netwerk of the harbour", taught=None).suggestion == "networks of the harbour"
    assert ask(store, "Ysodle of the cathedral").suggestion == "Ysolde of the cathedral"
    assert ask(store, "Ysodhle of the cathedral").suggestion == "Ysolde of the cathedral"
    assert ask(store, "Ysodhle of the cathedral", taught=None).suggestion == ""


def test_within_a_phrase_a_word_is_only_suggested(store: Backend) -> None:
    corrected = ask(store, '"old harbuor" axe')
    assert corrected.query == parse('"old harbuor" axe')
    assert corrected.suggestion == '"old harbour" axe'
    assert [(c.typed, c.meant, c.applied) for c in corrected.corrections] == [
        ("harbuor", "harbour", False)
    ]


def test_capitals_inside_make_a_name_that_must_be_surer(store: Backend) -> None:
    assert ask(store, "swrd").suggestion == "sword"
    assert ask(store, "the sWRd").suggestion == ""


def test_unknown_words_are_counted_among_those_that_carry_a_topic(store: Backend) -> None:
    corrected = ask(store, "the zeppelin of the harbour")
    assert corrected.unknown == ("zeppelin",)
    assert corrected.unknown_share == pytest.approx(0.5)
    assert ask(store, "whom the harbour").unknown == ()
    assert ask(store, "battleaxe harbours").unknown == ()


def test_what_was_decided_is_told(store: Backend) -> None:
    (told,) = ask(store, "harbuor zeppelin").notes
    assert "harbour instead of harbuor" in told
    assert ask(store, '"old harbuor"').notes[0].startswith("You perhaps meant")
    assert ask(store, "harbour").notes == ()


def test_what_a_caller_may_not_see_is_neither_known_nor_suggested(store: Backend) -> None:
    assert ask(store, "cathedrel").suggestion == "cathedral"
    assert ask(store, "cathedrel", PLAYER) == Corrected(
        parse("cathedrel"), unknown=("cathedrel",), unknown_share=1.0, missing=("cathedrel",)
    )
    assert ask(store, "cathedral").unknown == ()
    assert ask(store, "cathedral", PLAYER).unknown == ("cathedral",)


@given(
    st.sampled_from(sorted({w for text in (*PUBLIC, SECRET) for w in words(text) if len(w) > 3})),
    st.integers(0, 20),
    st.sampled_from("abehst"),
)
def test_whatever_is_suggested_stands_in_a_chunk_the_caller_sees(
    store: Backend, word: str, at: int, letter: str
) -> None:
    visible = {w for text in PUBLIC for w in words(text)}
    at %= len(word)
    for typed in (word, word[:at] + letter + word[at:], word[:at] + word[at + 1 :]):
        corrected = ask(store, typed, PLAYER)
        assert {c.meant for c in corrected.corrections} <= visible
        assert corrected.query.words == parse(corrected.suggestion or typed).words
