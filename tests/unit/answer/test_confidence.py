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
    assert confidence(Evidence(1, 1, 0, 1, 1)) > 5 * LEAST_SURE
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
