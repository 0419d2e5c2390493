"""What supports a sentence: its citation, its numbers, its words."""

import pytest
from tests.unit.answer.making import passage

from trivium.answer.check import Checker, may_be_shown
from trivium.answer.support import SourceText, Words
from trivium.core.answers import Statement
from trivium.core.errors import ModelUnavailable
from trivium.models.missing import MissingEmbedder
from trivium.testing.samples import TOY

EVEN = Words(lambda words: [1.0] * len(words))
FOUND = [
    passage(1, "Fog is a cloud that touches the ground. It is made of 3 kinds of droplets."),
    passage(2, "The harbour of Port Amble has twelve cranes, built in 1,904."),
    passage(3, "Der Nebel liegt auf dem Hafen.", language="de"),
]


def checked(text: str, embedder: object = None) -> list[Statement]:
    checker = Checker(EVEN, embedder, FOUND, "What is fog in 2026?")  # type: ignore[arg-type]
    return list(checker.check(text))


@pytest.mark.parametrize("embedder", [None, TOY, MissingEmbedder(ModelUnavailable("none"))])
@pytest.mark.parametrize(
    ("text", "supported", "why"),
    [
        ("Fog is a cloud touching the ground [1].", True, "support it"),
        ("Fog is a cloud touching the ground.", False, "cites no source"),
        ("Fog is a cloud touching the ground [2].", False, "don't say so"),
        ("The harbour has 12 cranes of 1904 [2].", True, "support it"),
        ("The harbour has 13 cranes [2].", False, "number 13"),
        ("Fog in 2026 is a cloud that touches the ground [1].", True, "support it"),
        ("Dragons guard treasure inside mountains [1].", False, "don't say so"),
    ],
)
def test_statements(text: str, supported: bool, why: str, embedder: object) -> None:
    (one,) = checked(text, embedder)
    assert (one.supported, why in one.why) == (supported, True), one


def test_several_passages_may_bear_out_one_sentence() -> None:
    (one,) = checked("Fog touches the ground and the harbour has twelve cranes [1][2].")
    assert one.supported
    assert one.citations == (1, 2)


def test_another_language_is_compared_by_numbers_alone() -> None:
    (one,) = checked("The fog lies over the harbour in the early morning hours [3].")
    assert one.supported
    assert "another language" in one.why
    (one,) = checked("The fog lies over the 44 harbours in the early morning hours [3].")
    assert not one.supported


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ("Der Hafen von Amble hat im Winter zwölf Krane [1].", "support it"),
        ("Der Hafen von Amble hat im Winter zwölf Hafenkrane [1].", "support it"),
        ("Der Hafen von Brack hat im Winter zwölf Krane [1].", "don't say Brack"),
        ("Der Hafen von Amble hat im Winter zwölf Drachen [1].", "don't say Drachen"),
    ],
)
def test_german_nouns_that_no_source_has_are_marked(said: str, why: str) -> None:
    text = "Der Hafen von Amble hat im Winter zwölf Krane. Im Sommer hat er neun."
    found = [passage(1, text, language="de")]
    (one,) = Checker(EVEN, None, found).check(said)
    assert why in one.why
    assert one.supported is (why == "support it")
    assert may_be_shown(one)


def test_what_states_nothing_needs_nothing() -> None:
    assert checked("Yes.\n\nDo you want more?") == []


@pytest.mark.parametrize(
    ("said", "supported"),
    [
        ("The share of lamps rose to 3.5 % in the second year [1].", True),
        ("The share of lamps rose to 35 % in the second year [1].", False),
        ("The lamp works sold 1.75 million lamps in the second year [1].", True),
        ("The lamp works sold 1,750,000 lamps in the second year [1].", True),
        ("The lamp works sold 175 million lamps in the second year [1].", False),
        ("The lamp works sold 1.75 billion lamps in the second year [1].", False),
    ],
)
def test_numbers_are_compared_as_quantities(said: str, supported: bool) -> None:
    text = (
        "The share of lamps rose to 3.5 % in the second year."
        " The lamp works sold 1.75 million lamps in the second year."
    )
    (one,) = Checker(EVEN, None, [passage(1, text)]).check(said)
    assert one.supported is supported, one


def test_rare_words_count_more() -> None:
    rare = Words(lambda words: [9.0 if word == "basilisk" else 1.0 for word in words])
    read = [SourceText("The cloud over the harbour.", "en")]
    assert rare.share("basilisk cloud", read) == 0.1
    assert EVEN.share("basilisk cloud", read) == 0.5
    assert EVEN.share("of the", read) > 0


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ("The trial of Beacon began on 14 June 2023 [1].", ""),
        ("The trial of Beacon began on June 14, 2023 [1].", ""),
        ("The trial of Beacon began in June 2023 [1].", ""),
        ("The trial of Beacon began on 14 July 2023 [1].", "another date than 14 July 2023"),
        ("The trial of Beacon began in Lisbon on 14 June 2023 [1].", "don't name Lisbon"),
        ("Beacon passed the salt test [1].", "say the opposite"),
        ("Beacon did not pass the salt test [1].", ""),
        ("Water never entered two of ten housings [1].", "say the opposite"),
    ],
)
def test_dates_names_and_negation_are_compared(said: str, why: str) -> None:
    text = (
        "The trial of Beacon began on 2023-06-14. Beacon did not pass the salt test."
        " Water entered two of ten housings."
    )
    (one,) = Checker(EVEN, None, [passage(1, text, title="Trials")]).check(said)
    assert (why in one.why) if why else one.supported, one
