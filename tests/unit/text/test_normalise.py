import re
import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from trivium.text.normalise import _MARKS, LONGEST_WORD, _units, clean, fold, words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The Quick fox", ["the", "quick", "fox"]),
        ("Ýrsa of Thal-Ēreth", ["yrsa", "of", "thal", "ereth"]),
        ("the dragon's hoard, dragons’ hoards", ["the", "dragon", "hoard", "dragons", "hoards"]),
        ("ﬁre Ｗide straße", ["fire", "wide", "strasse"]),
        ("p < 0.05, GPT-4", ["p", "0", "05", "gpt", "4"]),
        ("snake_case_name", ["snake", "case", "name"]),
        ("東京都庁 Tower", ["東京", "京都", "都庁", "tower"]),
        ("字", ["字"]),
        ("שָׁלוֹם", ["שלום"]),
        ("?!… 🐉", []),
    ],
)
def test_words(text: str, expected: list[str]) -> None:
    assert words(text) == expected


@given(st.text())
def test_words_are_folded_short_and_stable(text: str) -> None:
    for word in words(clean(text)):
        assert 0 < len(word) <= LONGEST_WORD
        assert fold(word) == word or not word.isascii()


@given(st.text(alphabet=st.characters()))
def test_clean_text_can_be_stored(text: str) -> None:
    clean(text).encode()
    assert "\x00" not in clean(text)


_STRANGE = "aAsS'’ \n\n_-ßẞΣσςİı\u0345\u0308äÖ–…日本語ไทย\ud800\x85\u2028\u1fb3ŉꭰᎠ"


@given(st.text(st.one_of(st.characters(), st.sampled_from(_STRANGE)), max_size=60))
@example("It's\n" + "".join(map(chr, range(0xC0, 0x100))) + "\n\u0301a\n語\nthe dragon's")
def test_words_are_those_of_the_pattern(text: str) -> None:
    """Whichever way they are found: there is a faster one for texts with few strange signs."""
    folded = _MARKS.sub("", unicodedata.normalize("NFKD", text).casefold())
    found = re.findall(r"[^\W_]+", re.sub(r"['’]s\b", "", folded))
    found = [part for word in found for part in _units(word)]
    assert fold(text) == (text.lower() if text.isascii() else folded)
    assert words(text) == [word[:LONGEST_WORD] for word in found]
