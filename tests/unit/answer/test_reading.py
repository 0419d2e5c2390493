"""Sentences that the model's reader reads: the text around them, and what it changes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.answer.making import passage
from tests.unit.answer.test_extractive import TOY, pick

from trivium.answer.reading import LONGEST, InText, chances
from trivium.models.local import LocalEmbedder

CLUB = passage(
    1,
    "The new boathouse door was fitted by Callum Reid, who also painted it. The ferry was painted"
    " by the council. Rubbish is collected on Wednesdays. Bicycles stand in the cellar.",
    title="Rowing club",
)


@pytest.fixture(scope="module")
def embedder(tmp_path_factory: pytest.TempPathFactory) -> LocalEmbedder:
    return LocalEmbedder(None, tmp_path_factory.mktemp("cache"), threads=2)


@given(
    before=st.text("ab .", max_size=2000),
    after=st.text("ab .", max_size=2000),
    above=st.sampled_from(["", "A heading"]),
)
def test_a_stretch_holds_the_sentence_and_is_no_longer_than_it_may_be(
    before: str, after: str, above: str
) -> None:
    sentence = "Callum fitted the door."
    text, (start, end) = InText(sentence, f"{before} {sentence} {after}", above).stretch()
    assert text[start:end] == sentence
    assert len(text) <= LONGEST + len(above) + 2


def test_a_sentence_that_the_passage_has_otherwise_is_read_alone() -> None:
    text, place = InText("Doors, fitted …", "Doors were fitted.", "").stretch()
    assert (text, place) == ("Doors, fitted …", (0, len(text)))


def test_lines_are_told_apart() -> None:
    bill = "Rent: 450\nDeposit: 900\nThe heating is\nincluded."
    text, (start, end) = InText("Deposit: 900", bill, "Flat 4").stretch()
    assert text == "Flat 4: Rent: 450 • Deposit: 900 • The heating is included."
    assert text[start:end] == "Deposit: 900"
    text, (start, end) = InText("Rent: 450 Deposit: 900", bill, "").stretch()
    assert text[start:end] == "Rent: 450 • Deposit: 900"


def test_what_is_asked_in_other_words_is_answered(embedder: LocalEmbedder) -> None:
    """Words alone refuse the first: of `picked up` the sentence says nothing."""
    (told,) = pick("When is the rubbish picked up?", [CLUB], embedder)
    assert told.text == "Rubbish is collected on Wednesdays."
    (told, *_) = pick("Who fitted the door of the boathouse?", [CLUB], embedder)
    assert told.text.startswith("The new boathouse door")


@pytest.mark.parametrize(
    "question",
    ["When does the library open?", "How much did the fire cost?"],
)
def test_a_sentence_with_the_words_but_not_the_answer_is_refused(
    embedder: LocalEmbedder, question: str
) -> None:
    library = passage(
        1,
        "The committee discussed the leaking roof of the library in March. Repairing the roof of"
        " the library will cost 12,000 pounds, said the mayor. The library was founded in 1911 by"
        " Sir Edwin Marsh. In 1954 the fire in the library destroyed 4,000 books.",
        title="Town library",
    )
    assert pick(question, [library], embedder) == []


def test_what_the_reader_is_sure_of_needs_few_of_the_words(embedder: LocalEmbedder) -> None:
    notes = passage(
        1,
        "Feed the cat twice a day. If the gate is locked, dial 8814 and push hard. The hens go in"
        " at dusk. Leave the post on the stairs.",
        title="While we are away",
    )
    (told,) = pick("How do I open the gate?", [notes], embedder)
    assert "8814" in told.text
    assert pick("How do I open the garage?", [notes], embedder) == []


def test_a_compound_is_not_what_it_begins_with(embedder: LocalEmbedder) -> None:
    text = "The moonstone is in the crown. Sunflowers stand in the garden."
    crown = passage(1, text, title="The drowned crown")
    assert pick("Where is the moon?", [crown], embedder) == []
    assert pick("Where is the sun?", [crown], embedder) == []


def test_without_a_reader_nothing_is_read(embedder: LocalEmbedder) -> None:
    some = [InText("A door.", "A door.", "")]
    assert chances(TOY, "What is it?", some, 5) is None
    assert chances(embedder, "What is it?", [], 5) is None


def test_several_rents_are_not_the_rent(embedder: LocalEmbedder) -> None:
    lease = passage(
        1,
        "Der Mieter zahlt eine Kaution in Höhe von drei Kaltmieten, also 2.340 Euro. Die Kaltmiete"
        " beträgt monatlich 780 Euro.",
        language="de",
        title="Mietvertrag",
    )
    (told,) = pick("Wie hoch ist die Kaltmiete?", [lease], embedder)
    assert told.text == "Die Kaltmiete beträgt monatlich 780 Euro."
