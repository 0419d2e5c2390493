"""A language is named when the text shows it, and not otherwise."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from trivium.text.languages import detect_language


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("The quick brown fox jumps over the lazy dog near the river.", "en"),
        ("Die Katze sitzt auf dem Dach und wartet auf den Regen.", "de"),
        ("La maison est grande et belle, et le jardin est petit.", "fr"),
        ("El perro corre por el parque todas las mañanas.", "es"),
        ("これは日本語の文章です", "ja"),
        ("Съешь же ещё этих мягких французских булок, да выпей чаю.", "ru"),
        ("THE WHOLE CHAPTER IS WRITTEN IN CAPITAL LETTERS BY SOMEBODY", "en"),
    ],
)
def test_names_the_language(text: str, language: str) -> None:
    assert detect_language(text) == language


@pytest.mark.parametrize(
    "text", ["", " \n ", "Orc", "12 34 56 78 90 12 34 56 78 90", "asdkj qwe lkj zxc mnb poi wer"]
)
def test_stays_silent_when_unsure(text: str) -> None:
    assert detect_language(text) == ""


def test_newlines_and_half_surrogates_do_no_harm() -> None:
    assert detect_language("Die Katze sitzt\nauf dem Dach\r\nund wartet \ud83d auf Regen.") == "de"


def test_a_foreign_preface_does_not_decide() -> None:
    latin = "Gallia est omnis divisa in partes tres. " * 10
    english = "The legions marched along the road until they came to the great river. " * 500
    assert detect_language(latin + english) == "en"


def test_threads_may_share_the_model() -> None:
    texts = ["The weather was fine and the sea was calm.", "Das Wetter war schön und ruhig."] * 20
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(detect_language, texts)) == ["en", "de"] * 20
