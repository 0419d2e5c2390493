import pytest

from trivium.answer.followup import stand_alone
from trivium.core.answers import Turn

SHIELDS = "Shields: Buckler, 8 tallies: guard +1; Round shield, 15 tallies; Pavise, 25 tallies"


@pytest.mark.parametrize(
    ("before", "question", "alone"),
    [
        ("How much does a longsword cost?", "How much does it weigh?",
         "How much does a longsword weigh?"),
        ("How much does a longsword cost?", "And a greatsword?",
         "How much does a greatsword cost?"),
        ("What was the revenue in the South in 2023?", "And in 2021?",
         "What was the revenue in the South in 2021?"),
        ("What was the revenue in the South in 2023?", "and in the Islands",
         "What was the revenue in the Islands in 2023?"),
        ("What is a rogue's sneak attack at 11th level?", "And at 5th level?",
         "What is a rogue's sneak attack at 5th level?"),
        ("What is the range of fireball?", "How much damage does it deal?",
         "How much damage does fireball deal?"),
        ("When was project Beacon approved?", "What was its budget?",
         "What was project Beacon's budget?"),
        ("Where is the harbour of Port Amble?", "And how many cranes has it?",
         "How many cranes has the harbour of Port Amble?"),
        ("Where is Port Amble?", "Who lives there?", "Who lives in Port Amble?"),
        ("Where was the crown found?", "When?", "When was the crown found?"),
        ("What is the price of a ring shirt?", "What about an oiled cloak?",
         "What is the price of an oiled cloak?"),
        ("What should I bring?", "How many hours does the working week have?",
         "How many hours does the working week have?"),
    ],
)  # fmt: skip
def test_what_refers_to_the_question_before(before: str, question: str, alone: str) -> None:
    assert stand_alone(question, [Turn(before, "")]) == alone


def test_he_is_whom_the_answer_named() -> None:
    said = [Turn("Who is the enemy of the Heron Mother?", "Her enemy is the Magpie.")]
    assert stand_alone("What does he steal?", said) == "What does Magpie steal?"


def test_the_second_one_is_the_second_of_the_list() -> None:
    said = [Turn("Which shields are there?", SHIELDS)]
    assert stand_alone("What does the second one cost?", said) == "What does Round shield cost?"
    assert stand_alone("What does the last one cost?", said) == "What does Pavise cost?"
    assert "tenth" in stand_alone("What does the tenth one cost?", said)
    said.append(Turn("What does the second one cost?", "Round shield, 15 tallies: guard +2."))
    assert stand_alone("What does the third one cost?", said) == "What does Pavise cost?"
    assert "Pavise" in stand_alone("And the third one?", said)


def test_several_turns_lead_to_one_another() -> None:
    said = [
        Turn("What was the revenue in the South in 2023?", "33.1"),
        Turn("And in 2021?", "30.6"),
    ]
    assert stand_alone("And in the North?", said) == "What was the revenue in the North in 2021?"


def test_nothing_was_said_before() -> None:
    assert stand_alone("And in 2021?", []) == "And in 2021?"


@pytest.mark.parametrize(
    ("before", "question", "alone"),
    [
        ("Was kostet ein Langschwert?", "Und ein Dolch?", "Was kostet ein Dolch?"),
        ("Was kostet ein Langschwert?", "Wie viel wiegt es?", "Wie viel wiegt ein Langschwert?"),
        ("Wie hoch war der Umsatz im Jahr 2022?", "Und 2023?",
         "Wie hoch war der Umsatz im Jahr 2023?"),
        ("Combien coûte la lampe ?", "Combien pèse-t-elle ?", "Combien pèse la lampe?"),
        ("Qui a fondé la ville ?", "Et quand ?", "Quand a fondé la ville?"),
        ("¿Cuánto cuesta la lámpara?", "¿Y la silla?", "¿Cuánto cuesta la silla?"),
        ("Quanto costa la lampada?", "E nel 2021?", "Quanto costa la lampada nel 2021?"),
        ("Quanto custa a lanterna?", "E a cadeira?", "Quanto custa a cadeira?"),
        ("Hoeveel kost de lamp?", "En de stoel?", "Hoeveel kost de stoel?"),
        ("Vad kostar lampan?", "Och stolen?", "Vad kostar stolen?"),
        ("What were Hollin's net sales in 2011?", "And the operating profit?",
         "What were Hollin's operating profit in 2011?"),
    ],
)  # fmt: skip
def test_follow_ups_in_the_languages_that_are_stemmed(
    before: str, question: str, alone: str
) -> None:
    assert stand_alone(question, [Turn(before, "")]) == alone


def test_a_group_of_rows_is_not_what_the_question_was_about() -> None:
    turn = Turn("How much does a longsword cost?", "Martial weapons, Longsword, Cost: 15 gp [1].")
    assert "longsword" in stand_alone("How much does it weigh?", [turn])
    assert "Martial" not in stand_alone("How much does it weigh?", [turn])
