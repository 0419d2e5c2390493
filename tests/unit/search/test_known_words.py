"""Words that the model or a dictionary knows stay as they are, whatever a small library holds."""

from collections.abc import Sequence

import pytest
from tests.reference import open_memory

from trivium.core.types import OWNER, Spelled
from trivium.ports import Backend
from trivium.search.correct import Corrected, correct
from trivium.search.suggest import suggest
from trivium.testing.samples import put, sample
from trivium.text.dictionary import in_dictionary
from trivium.text.query import parse

ENGLISH = (
    "Passing eleven economic harbours, the band stopped at a random house.",
    "The elf of the drowned crown checks the vector of its regression.",
)
GERMAN = (
    "Der Prüfungsausschuss bewertet die Prüfungsleistung und den Auskunftsanspruch.",
    "Die Produktion der Staaten und die Bevölkerungsgruppen nach der Beitragsberechnung.",
)


def filled(*texts: str, language: str = "en") -> Backend:
    store = open_memory()
    put(store, sample("a.md", *texts, language=language))
    return store


def ask(store: Backend, text: str) -> Corrected:
    def spellings(words: Sequence[str]) -> dict[str, tuple[Spelled, ...]]:
        return dict(store.signals.spellings(words, OWNER))

    return correct(
        parse(text), spellings, lambda: None, lambda: store.documents.counts("language", OWNER)
    )


@pytest.mark.parametrize(
    "word", ["parsing", "elven", "économie", "leaning", "wolves", "unchecks", "houses"]
)
def test_a_right_word_that_a_small_library_lacks_stays(word: str) -> None:
    corrected = ask(filled(*ENGLISH), f"the {word} of the crown")
    assert (corrected.corrections, corrected.suggestion) == ((), "")


@pytest.mark.parametrize("query", ["the tTregs of mice", "driving a Vectra to the harbours"])
def test_names_stay(query: str) -> None:
    held = ["A study of Tregs."] * 40
    corrected = ask(filled(*held, "Driving a vector to the harbours."), query)
    assert (corrected.corrections, corrected.suggestion) == ((), "")


def test_a_capital_is_no_sign_where_every_word_has_one() -> None:
    for query in ("driving a vectra to the harbours", "Driving A Vectra"):
        (made,) = ask(filled(*ENGLISH, "Driving to the harbours."), query).corrections
        assert made.meant.lower() == "vector"


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("passsing", "passing"),
        ("econmic", "economic"),
        ("regresion", "regression"),
        ("randome", "random"),  # no form of it, though it has the same stem
        ("vectore", "vector"),
    ],
)
def test_a_word_that_nobody_knows_is_corrected(typed: str, meant: str) -> None:
    assert (
        ask(filled(*ENGLISH), f"the {typed} of the crown").suggestion == f"the {meant} of the crown"
    )


@pytest.mark.parametrize("word", ["Prüfungsleitung", "Ölproduktion", "Beitragsrechnung"])
def test_german_words_and_compounds_stay(word: str) -> None:
    corrected = ask(filled(*GERMAN, language="de"), f"Was ist die {word} der Staaten?")
    assert (corrected.corrections, corrected.suggestion) == ((), "")


@pytest.mark.parametrize(
    ("word", "language", "known"),
    [
        ("parsing", "en", True),
        ("prufung", "de", True),  # folded as the library folds
        ("economie", "fr", True),
        ("economie", "en", False),
        ("seperate", "en", False),
        ("word", "xx", False),
    ],
)
def test_dictionaries(word: str, language: str, known: bool) -> None:
    assert in_dictionary(word, language) is known


def texts(store: Backend, typed: str) -> list[str]:
    return [one.text for one in suggest(store, typed, 5, OWNER)]


def test_a_completion_is_held_beside_what_was_typed_before() -> None:
    store = filled(*ENGLISH, "A crowd at the harbour.")
    assert texts(store, "cro") == ["crowd", "crown"]
    assert texts(store, "the drowned cro") == ["the drowned crown"]
    assert texts(store, "harbour +cro") == ["harbour +crowd"]
    assert texts(store, "zeppelin cro") == []
    assert texts(store, "drowned -cro") == ["drowned -crowd", "drowned -crown"]


@pytest.mark.parametrize(
    ("typed", "completed"),
    [
        ("The Drowned Cro", "The Drowned Crown"),
        ("DROWNED CRO", "DROWNED CROWN"),
        ("half-drowned-cro", "half-drowned-crown"),
        ("Prüfungsl", "Prüfungsleistung"),
        ("große Straß", "große Straße"),
    ],
)
def test_a_completion_keeps_what_was_typed(typed: str, completed: str) -> None:
    store = filled(*ENGLISH, *GERMAN, "Die große Straße.")
    assert texts(store, typed) == [completed]
    assert texts(store, completed) == []  # itself is no suggestion


def test_a_known_word_gets_no_spelling_suggested() -> None:
    store = filled(*ENGLISH)
    assert texts(store, "parsing") == []
    assert texts(store, "elven") == []
    assert texts(store, "regresion") == ["regression"]
