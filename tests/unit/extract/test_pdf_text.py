"""Lines become text: hyphens, ligatures, accents, spaces."""

from collections import Counter

import pytest

from trivium.extract.pdf.characters import clean
from trivium.extract.pdf.typography import join_lines


@pytest.mark.parametrize(
    ("printed", "read"),
    [
        ("e\ufb03cient \ufb01le", "efficient file"),
        ("e\ufffdcient and di\ufffdculties", "efficient and difficulties"),  # no mapping for ffi
        ("o↵-the-shelf e↵ort", "off-the-shelf effort"),
        ("Andr´e, M¨uller, ˇCapek", "André, Müller, Čapek"),
        ("a\u00a0b\u2009c", "a b c"),
        ("the estimate pˆ is", "the estimate p is"),
    ],
)
def test_odd_characters_become_what_was_meant(printed: str, read: str) -> None:
    assert clean(printed) == read


@pytest.mark.parametrize(
    ("lines", "known", "text"),
    [
        (["a num-", "ber of"], "", "a number of"),
        (["a long-", "term plan"], "long-term", "a long-term plan"),
        (["widely-", "used here"], "", "widely-used here"),
        (["the state-of-the-", "art"], "", "the state-of-the-art"),
        (["word-", "embedding"], "word embedding", "word-embedding"),
        (["in Baden-", "Baden"], "", "in Baden-Baden"),
        (["D2-", "clustering"], "", "D2-clustering"),
        (["pages 585–", "591"], "", "pages 585–591"),
        (["soft\u00ad", "ware"], "", "software"),
        (["two", "lines"], "", "two lines"),
    ],
)
def test_lines_are_joined(lines: list[str], known: str, text: str) -> None:
    assert join_lines(lines, Counter(known.split())) == text
