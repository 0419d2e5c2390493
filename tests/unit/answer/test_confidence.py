"""How sure an answer is, and what is refused for it."""

from dataclasses import fields, replace

import pytest
from tests.unit.answer.making import passage
from tests.unit.answer.test_extractive import pick

from trivium.answer.confidence import LEAST_SURE, Evidence, confidence

SOME = Evidence(0.5, 0.5, 0.3, 0.5, 0.5)


@pytest.mark.parametrize("name", [field.name for field in fields(Evidence)])
def test_more_of_what_speaks_for_a_sentence_never_makes_it_less_sure(name: str) -> None:
    less, more = (confidence(replace(SOME, **{name: value})) for value in (0.2, 0.9))
    assert (less >= more) if name == "gap" else (less <= more)


def test_everything_that_speaks_for_it_makes_it_sure_and_nothing_unsure() -> None:
    assert confidence(Evidence(1, 1, 0, 1, 1)) > 3 * LEAST_SURE
    assert confidence(Evidence(0, 0, 1, 0)) < 0.01


def test_a_neighbour_of_what_was_asked_for_is_no_answer() -> None:
    stock = passage(
        1,
        "The brass compass costs 40 euros. The northern quay was repaired in 1987.",
        title="Stock",
    )
    assert pick("What does the brass compass cost?", [stock])
    assert pick("What does the brass astrolabe weigh in winter?", [stock]) == []
    assert pick("When was the southern lighthouse repaired?", [stock]) == []


def test_a_row_that_lacks_the_name_another_row_has_is_another_one() -> None:
    """The line below the table names both, and two copies of the report make two sources."""
    text = (
        "Site | Staff | Lamps made\nWorks A | 205 | 61,400\nWorks B | 132 | 38,900\n\n"
        "Works B runs two shifts; Works A has run three since 2015."
    )
    both = [passage(number, text, title="Report 2023") for number in (1, 2)]
    (told,) = pick("How many lamps were made in Works B?", both)
    assert told.value == "38,900"


@pytest.mark.parametrize(
    ("question", "sentence"),
    [
        (
            "Wann wurde die Kolonie New South Wales gegründet?",
            "Nach der Gründung der Kolonie New South Wales im Jahr 1788 kamen Siedler.",
        ),
        ("Wie viele Bälle fing Josh Norman?", "Josh Norman, der vier Bälle abfing, wurde geehrt."),
    ],
)
def test_other_forms_of_a_german_word(question: str, sentence: str) -> None:
    (told,) = pick(question, [passage(1, sentence, language="de", title="Geschichte")])
    assert told.text == sentence


def test_a_german_noun_is_nobody() -> None:
    text = "Mit 39 Jahren ist er der älteste Spieler, der den Rekord hielt."
    assert pick("Wer hielt den Rekord?", [passage(1, text, language="de", title="Sport")]) == []


def test_reasons_by_other_words() -> None:
    text = "Net revenue decreased because of lower energy prices. Net revenue is reported yearly."
    (told, *_) = pick("What factors led to the decrease in net revenue?", [passage(1, text)])
    assert told.text == "Net revenue decreased because of lower energy prices."


def test_a_day_that_comes_again_says_when() -> None:
    text = "The rent is due on the fifth day of each month. The rent may rise."
    (told,) = pick("When is the rent due?", [passage(1, text, title="Lease")])
    assert told.text == "The rent is due on the fifth day of each month."


def test_sources_that_speak_of_other_things_do_not_differ() -> None:
    mine = passage(1, "The number of the policy is 4471.", title="Insurance")
    other = passage(
        2, "In August the policy changed, and 12 offices moved to another building.", title="News"
    )
    picked = pick("What is the number of the policy?", [mine, other])
    assert [one.differs for one in picked] == [False]
