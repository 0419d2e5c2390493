import pytest

from trivium.answer.statements import sentences


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Fog is low [1]. It lifts [2][3].", [("Fog is low.", (1,)), ("It lifts.", (2, 3))]),
        ("Fog is low. [1] It lifts.", [("Fog is low.", (1,)), ("It lifts.", ())]),
        ("Fog is low.[1] It lifts by noon.[2]",
         [("Fog is low.", (1,)), ("It lifts by noon.", (2,))]),
        ("- Fog is **low** [1]\n- It lifts [2]", [("Fog is low", (1,)), ("It lifts", (2,))]),
        ("Der Nebel ist z.B. tief [1].", [("Der Nebel ist z.B. tief.", (1,))]),
        ("", []),
    ],
)  # fmt: skip
def test_each_sentence_with_its_marks(
    text: str, expected: list[tuple[str, tuple[int, ...]]]
) -> None:
    assert [(one.text, one.citations) for one in sentences(text)] == expected


@pytest.mark.parametrize(
    ("text", "states"),
    [
        ("Fog is a low cloud.", True),
        ("Yes.", False),
        ("Yes [1].", True),
        ("# What fog really is", False),
        ("There are three kinds of fog:", False),
        ("Do you want to know more?", False),
    ],
)
def test_what_must_be_borne_out(text: str, states: bool) -> None:
    assert [one.states for one in sentences(text)] == [states]
