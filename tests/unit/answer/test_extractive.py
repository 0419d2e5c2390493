from tests.unit.answer.making import passage

from trivium.answer.extractive import pick
from trivium.answer.support import Words
from trivium.errors import ModelUnavailable
from trivium.models.missing import MissingEmbedder
from trivium.testing.samples import TOY

EVEN = Words(lambda words: [1.0] * len(words))
FOUND = [
    passage(1, "Clouds\n\nClouds form high up. Fog is a cloud that touches the ground.",
            headings=("Clouds",)),
    passage(2, "Ships wait. Fog is a cloud that touches the ground. Fog lifts by noon."),
    passage(3, "Prices rise every spring, and nobody knows the reason."),
]  # fmt: skip


def test_the_sentences_that_fit_the_question_each_from_its_passage() -> None:
    picked = pick("What is fog: a cloud on the ground?", FOUND, TOY, EVEN)
    assert [(one.text, one.number) for one in picked] == [
        ("Fog is a cloud that touches the ground.", 1)
    ]


def test_without_a_model_words_decide() -> None:
    missing = MissingEmbedder(ModelUnavailable("none"))
    (one,) = pick("why do prices rise", FOUND, missing, EVEN)
    assert one.number == 3


def test_nothing_to_pick_from() -> None:
    assert pick("fog", [], TOY, EVEN) == []
    assert pick("fog", [passage(1, "…")], TOY, EVEN) == []


def test_scraps_count_where_there_is_nothing_else() -> None:
    assert [one.text for one in pick("fog", [passage(1, "Fog: low")], TOY, EVEN)] == ["Fog: low"]
