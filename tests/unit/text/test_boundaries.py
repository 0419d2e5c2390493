"""Cuts are where a reader would make them."""

from collections.abc import Callable
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trivium.text import boundaries


def parts(text: str, starts: list[int]) -> list[str]:
    return [text[a:b] for a, b in pairwise([0, *starts, len(text)])]


def test_paragraphs_and_lines() -> None:
    text = "one\ntwo\n\n  \nthree"
    assert parts(text, boundaries.paragraphs(text)) == ["one\ntwo\n\n  \n", "three"]
    assert parts("a\n\nb\nc\n", boundaries.lines("a\n\nb\nc\n")) == ["a\n\n", "b\n", "c\n"]


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("It rains. We stay! Why?", ["It rains.", " We stay!", " Why?"]),
        ("Ihr Antrag vom 12. Mai gilt. Danke.", ["Ihr Antrag vom 12. Mai gilt.", " Danke."]),
        ("They were 12. Then they left.", ["They were 12.", " Then they left."]),
        ('He said "no." Then he left.', ['He said "no."', " Then he left."]),
        ("Dr. Smith et al. 2020 met J. Doe.", ["Dr. Smith et al. 2020 met J. Doe."]),
        ("Version 2.0 is e.g. here. It works.", ["Version 2.0 is e.g. here.", " It works."]),
        ("今日は雨。明日は晴れ。", ["今日は雨。", "明日は晴れ。"]),
        ("No stop\nnew line", ["No stop\n", "new line"]),
    ],
)
def test_sentences(text: str, sentences: list[str]) -> None:
    assert parts(text, boundaries.sentences(text)) == sentences


def test_words_take_the_space_before_them() -> None:
    assert parts("one  two\nthree", boundaries.words("one  two\nthree")) == [
        "one",
        "  two",
        "\nthree",
    ]
    assert parts("日本語", boundaries.words("日本語")) == ["日", "本", "語"]


@pytest.mark.parametrize(
    "cluster", ["e\u0301", "👩\u200d👩\u200d👧", "👍🏽", "\r\n", "\ud83d\ude00"]
)
def test_slices_keep_what_a_reader_sees_as_one_character(cluster: str) -> None:
    text = cluster * 20
    for part in parts(text, boundaries.slices(text, len(cluster) * 2 + 1)):
        assert len(part) % len(cluster) == 0


@pytest.mark.parametrize(
    "find",
    [
        boundaries.paragraphs,
        boundaries.lines,
        boundaries.sentences,
        boundaries.words,
        lambda text: boundaries.slices(text, 3),
    ],
)
@given(text=st.text(st.characters() | st.sampled_from(" \n.。!a"), max_size=60))
def test_starts_are_inside_and_in_order(find: Callable[[str], list[int]], text: str) -> None:
    edges = [0, *find(text), len(text)]
    assert all(a < b for a, b in pairwise(edges)) or not text
