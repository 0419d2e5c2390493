import pytest

from trivium.answer.refuse import is_excuse


@pytest.mark.parametrize(
    "text",
    [
        "The passages do not contain the answer.",
        "I cannot answer this from the given documents.",
        "The provided context doesn't mention the price.",
        "Die Abschnitte enthalten dazu keine Angabe.",
        "Les passages ne contiennent pas la réponse.",
        "Los documentos no contienen el precio.",
    ],
)
def test_a_model_says_so_in_its_own_words(text: str) -> None:
    assert is_excuse(text, [])
    assert not is_excuse(text, [1])  # it does cite something
    assert not is_excuse(text * 12, [])  # and here it goes on


@pytest.mark.parametrize("text", ["Fog does not lift.", "Fog is a low cloud.", "Kein Nebel heute."])
def test_an_answer_is_no_excuse(text: str) -> None:
    assert not is_excuse(text, [])
