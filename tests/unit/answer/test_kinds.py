"""Each kind of question gets its kind of answer, in every language whose question words we know."""

from collections.abc import Sequence
from dataclasses import replace

import pytest
from tests.unit.answer.making import passage
from tests.unit.answer.test_extractive import pick

from trivium.answer.followup import stand_alone
from trivium.answer.passages import Passage
from trivium.core.answers import Turn
from trivium.core.types import Speaker
from trivium.text.lexicon.questions import Asks, asks

MURDER = passage(
    1,
    "The ferryman of Lorne was found dead at dawn. The poison takes six hours to work. It smells of"
    " almonds.\n\nMira Oake poisoned the ferryman because he had seen her smuggle salt. She had"
    " bought the poison in Hest.",
    title="The ferry murder",
)
PARTS = passage(
    2,
    "Part | Number | Amount | Lead time\n"
    "Valve seat | VS-221 | 14 | 6 weeks\n"
    "Pump housing | PH-870 | 3 | 11 weeks",
    title="Parts",
)
WERK = passage(
    3,
    "Das Werk in Bremen beschäftigt 412 Mitarbeiter. Die Leiterin des Werks ist Anna Petersen."
    " Die Lampen werden in Hamburg geprüft, weil das Labor dort steht.",
    title="Werk",
    language="de",
)


def said(question: str, *passages: Passage) -> list[str]:
    return [one.text for one in pick(question, passages)]


def test_who_is_answered_by_a_sentence_that_names_someone() -> None:
    lone = passage(1, "The poison takes six hours to kill. The ferryman drank it at supper.")
    assert said("who poisoned the ferryman", lone) == []
    (answer,) = said("who poisoned the ferryman", MURDER)
    assert answer.startswith("Mira Oake poisoned")
    assert said("Who poisoned the inspector?", MURDER) == []


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("What is the amount of the valve seat?", "Valve seat, Amount: 14"),
        ("What is the number of the pump housing?", "Pump housing, Number: PH-870"),
        ("How many pump housings are there?", "Pump housing, Amount: 3"),
    ],
)
def test_any_column_can_be_asked_by_its_words(question: str, answer: str) -> None:
    assert said(question, PARTS) == [answer]


def test_a_price_in_any_money() -> None:
    inn = passage(1, "A mug of ale costs 4 tallies. A room is 12 groats a night.", title="The inn")
    assert said("How much does a mug of ale cost?", inn) == ["A mug of ale costs 4 tallies."]


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Wie viele Mitarbeiter beschäftigt das Werk in Bremen?", "412 Mitarbeiter"),
        ("Wer ist die Leiterin des Werks?", "Anna Petersen"),
        ("Warum werden die Lampen in Hamburg geprüft?", "weil das Labor"),
    ],
)
def test_german_is_answered_as_english_is(question: str, answer: str) -> None:
    (text,) = said(question, WERK)
    assert answer in text


@pytest.mark.parametrize(
    ("question", "language", "kind"),
    [
        ("Who poisoned the ferryman?", "en", Asks.WHO),
        ("Wer leitet das Werk?", "de", Asks.WHO),
        ("Qui est le directeur ?", "fr", Asks.WHO),
        ("¿Quién dirige la fábrica?", "es", Asks.WHO),
        ("Chi dirige la fabbrica?", "it", Asks.WHO),
        ("Quem dirige a fábrica?", "pt", Asks.WHO),
        ("Wie leidt de fabriek?", "nl", Asks.WHO),
        ("Vem leder fabriken?", "sv", Asks.WHO),
        ("Wie viele Lampen gibt es?", "de", Asks.AMOUNT),
        ("Combien de personnes y travaillent ?", "fr", Asks.AMOUNT),
        ("¿Cuántas personas trabajan allí?", "es", Asks.AMOUNT),
        ("Hvor mange arbejder der?", "da", Asks.AMOUNT),
        ("Hvor ligger fabrikken?", "da", Asks.WHERE),
        ("Pourquoi la ligne est-elle fermée ?", "fr", Asks.WHY),
        ("Why did it close?", "en", Asks.WHY),
        ("When did it open?", "", Asks.WHEN),
        ("Wann wurde es eröffnet?", "", Asks.WHEN),
        ("Is it open?", "en", Asks.YES_NO),
        ("Which part has the longest lead time?", "en", Asks.MOST),
        ("Welche sind die Farben?", "de", Asks.LIST),
        ("この工場はどこですか", "ja", Asks.OTHER),
    ],
)
def test_what_a_question_asks_for(question: str, language: str, kind: Asks) -> None:
    assert asks(question, language) is kind


def test_a_follow_up_is_about_the_row_of_the_last_answer() -> None:
    turn = Turn(
        "Which part has the longest lead time?",
        "Pump housing, Lead time: 11 weeks, the highest of 2 [1].",
    )
    alone = stand_alone("and what is its number?", [turn])
    assert "Pump housing" in alone
    assert said(alone, PARTS) == ["Pump housing, Number: PH-870"]


def test_in_chat_the_speaker_is_named_with_the_time() -> None:
    text = "Who prepares the changelog?\n\nI will prepare the changelog.\n\nThanks, we ship soon."
    chat = replace(
        passage(1, text),
        speakers=(
            Speaker(0, "nora", "2024-03-04T09:20:00+00:00"),
            Speaker(29, "tim", "2024-03-04T09:21:00+00:00"),
            Speaker(61, "nora", "2024-03-04T09:22:00+00:00"),
        ),
    )
    (answer,) = pick("Who will prepare the changelog?", [chat])
    assert (answer.text, answer.lead) == ("I will prepare the changelog.", "tim, 2024-03-04 09:21")
    # A chat export's messages begin with a line that says who wrote them and when.
    spoken = (
        "nora, 2024-03-04 09:20:\nWho prepares it?\n\ntim, 2024-03-04 09:21:\nI will prepare it."
    )
    second = spoken.index("tim")
    chat = replace(
        passage(1, spoken),
        speakers=(
            Speaker(0, "nora", "2024-03-04T09:20:00+00:00"),
            Speaker(second, "tim", "2024-03-04T09:21:00+00:00"),
        ),
    )
    (answer,) = pick("Who will prepare it?", [chat])
    assert (answer.text, answer.lead) == ("I will prepare it.", "tim, 2024-03-04 09:21")


def test_sources_that_differ_are_both_picked_whatever_the_question() -> None:
    old = passage(1, "The monthly parking fee for employees is 45 euros.", title="Policy 2022")
    new = passage(2, "The monthly parking fee for employees is 60 euros.", title="Policy 2024")
    for question in ("What is the monthly parking fee?", "How much is the monthly parking fee?"):
        assert [one.differs for one in pick(question, [old, new])] == [False, True], question
    same = replace(new, citation=replace(new.citation, text=old.citation.text), text=old.text)
    assert len(pick("What is the monthly parking fee?", [old, same])) == 1


def test_a_short_note_is_not_an_answer_but_its_sentence() -> None:
    note = passage(1, "Buy milk on Tuesday.\nThe dentist moved to 14 May at nine.", title="note")
    assert said("What should I buy on Tuesday?", note) == ["Buy milk on Tuesday."]


def test_a_reason_is_preferred_when_asked_why() -> None:
    assert said("Why was the ferryman poisoned?", MURDER) == [
        "Mira Oake poisoned the ferryman because he had seen her smuggle salt."
    ]


def test_a_sentence_with_a_pronoun_is_about_the_one_before() -> None:
    (answer,) = said("Does the poison smell of almonds?", MURDER)
    assert answer.endswith("It smells of almonds.")


@pytest.mark.parametrize("passages", [(), (MURDER,), (PARTS, WERK)])
@pytest.mark.parametrize("question", ["", "?", "x" * 50_000, "何ですか"])
def test_strange_questions_get_no_answer(question: str, passages: Sequence[Passage]) -> None:
    assert pick(question, passages) == []


@pytest.mark.parametrize(
    "text",
    [
        "We still don't know who poisoned the ferryman.",
        "Nobody remembers who poisoned the ferryman.",
        "Ines asked who poisoned the ferryman.",
        "It is unclear who poisoned the ferryman.",
    ],
)
def test_that_somebody_asks_or_does_not_know_is_no_answer(text: str) -> None:
    assert not pick("Who poisoned the ferryman?", [passage(1, text)])
    known = passage(1, f"{text} Odmar Crale poisoned the ferryman.")
    (picked,) = pick("Who poisoned the ferryman?", [known])
    assert picked.text == "Odmar Crale poisoned the ferryman."


def test_nor_is_it_one_in_german() -> None:
    text = "Wir wissen noch nicht, wer den Fährmann Emil vergiftet hat."
    assert not pick("Wer hat den Fährmann vergiftet?", [passage(1, text, language="de")])
