"""Marks in a model's text, however it is cut into pieces."""

import pytest

from trivium.answer.cite import Marks, Refusal


def read(text: str, size: int, known: set[int]) -> tuple[str, Marks]:
    marks = Marks(known)
    pieces = [text[at : at + size] for at in range(0, len(text), size)]
    return "".join(map(marks.feed, pieces)) + marks.end(), marks


@pytest.mark.parametrize("size", [1, 2, 3, 5, 1000])
@pytest.mark.parametrize(
    ("written", "shown", "cited", "unknown"),
    [
        ("Fog is low [1].", "Fog is low [1].", [1], []),
        ("Fog is low [1, 3].", "Fog is low [1][3].", [1, 3], []),
        ("Fog [1-3], mist [3][2]", "Fog [1][2][3], mist [3][2]", [1, 2, 3], []),
        ("Fog [2 and 3] lifts", "Fog [2][3] lifts", [2, 3], []),
        ("Fog 【2†source】 lifts", "Fog [2] lifts", [2], []),
        ("Fog [^1] lifts [Passage 2].", "Fog [1] lifts [2].", [1, 2], []),
        ("Fog [Quelle 3] steigt", "Fog [3] steigt", [3], []),
        ("Fog is low [9]. It lifts [1, 7].", "Fog is low. It lifts [1].", [1], [9, 7]),
        ("An [unfinished [1] and a [", "An [unfinished [1] and a [", [1], []),
        ("Write a[0] or [see above] or [1", "Write a or [see above] or [1", [], [0]),
        ("See [the page](https://example.org/[1]).", "See [the page](https://example.org/[1]).",
         [1], []),
        ("No marks, two  blanks  ", "No marks, two  blanks  ", [], []),
    ],
)  # fmt: skip
def test_marks(written: str, shown: str, cited: list[int], unknown: list[int], size: int) -> None:
    text, marks = read(written, size, {1, 2, 3})
    assert (text, marks.cited, marks.unknown) == (shown, cited, unknown)


def test_what_is_certain_is_shown_at_once() -> None:
    marks = Marks({1})
    assert marks.feed("Fog is") == "Fog is"
    assert marks.feed(" low [") == " low"
    assert marks.feed("1") == ""
    assert marks.feed("] and") == " [1] and"


@pytest.mark.parametrize("size", [1, 4, 1000])
@pytest.mark.parametrize(
    ("written", "shown", "refused"),
    [
        ("NO_SIGN", "", True),
        ("NO_SIGN: The price is missing.", "The price is missing.", True),
        ("**NO_SIGN**\n\nThe price is missing.", "The price is missing.", True),
        ("Fog is low [1]. NO_SIGN The price is missing.", "Fog is low [1]. The price is missing.",
         False),
        ("NO_SIG", "NO_SIG", False),
        ("Nothing to do with it.", "Nothing to do with it.", False),
    ],
)  # fmt: skip
def test_the_sign_of_a_refusal(written: str, shown: str, refused: bool, size: int) -> None:
    refusal = Refusal("NO_SIGN")
    pieces = [written[at : at + size] for at in range(0, len(written), size)]
    text = "".join(map(refusal.feed, pieces)) + refusal.end()
    assert (text, refusal.refused) == (shown, refused)
