"""Questions made from passages: they read well, and say what an answer must hold."""

import pytest
from tests.unit.answer.making import passage

from trivium.answer.suggest import candidates


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("The course is 5.6 kilometres long.", ("How long is the course?", "5.6 kilometres")),
        ("The trip costs 289 euros.", ("How much does the trip cost?", "289 euros")),
        ("Tenants pay a deposit of 2,360 euros.", ("How much is the deposit?", "2,360 euros")),
        ("The Pier Museum was founded in 1834.", ("When was the Pier Museum founded?", "1834")),
        (
            "Boyle's Law was discovered by Robert Boyle.",
            ("Who discovered Boyle's Law?", "Robert Boyle"),
        ),
        ("Die Kaution beträgt 2.360 Euro.", ("Wie hoch ist die Kaution?", "2.360")),
        (
            "office | employees | manager\nAarhus | 14 | Freja Holm\nLisbon | 22 | Rui Tavares",
            ("How many employees does Lisbon have?", "22"),
        ),
        (
            "armour | price\nRing shirt | 40\nScale hauberk | 160",
            ("What is the price of the scale hauberk?", "160"),
        ),
    ],
)
def test_a_sentence_or_a_cell_makes_a_question(text: str, asked: tuple[str, str]) -> None:
    assert asked in [(one.question, one.holds) for one in candidates(passage(1, text))]


@pytest.mark.parametrize(
    "text",
    [
        "This is a test of the new pump in the old harbour.",
        "Below is a look at the top trends of this year.",
        "x1 | y2\n7 | 8\n9 | 10",
        "POS: | VERB | NOUN\nIncoming: | 0 | 1\nOutgoing: | 1 | 2",
    ],
)
def test_what_would_make_a_silly_one_makes_none(text: str) -> None:
    assert not list(candidates(passage(1, text)))
