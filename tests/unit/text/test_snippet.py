"""Which lines of a passage are shown, and which words in them are marked."""

from __future__ import annotations

import re

import pytest

from trivium.cli.output import printable, scalar
from trivium.core.types import Chunk, Place
from trivium.text.snippet import Snippet, second_said, snip


def marked(snippet: Snippet) -> list[str]:
    return [snippet.text[start:end] for start, end in snippet.marks]


@pytest.mark.parametrize(
    ("query", "text", "words"),
    [
        ("sword", "Two swords and a word.", ["swords"]),
        ("battleaxe", "A battle axe and a mace.", ["battle", "axe"]),
        ("short sword", "The shortsword is sharp.", ["shortsword"]),
        ("Shortsord", "The short sword is sharp.", ["short", "sword"]),
        ("yrsa", "Lady Ýrsa came.", ["Ýrsa"]),
        ("the crown", "The crown of the sea.", ["crown"]),
        ("2020", "In 2021 and 2020.", ["2020"]),
        ("unrelated", "A mace.", []),
    ],
)
def test_marks(query: str, text: str, words: list[str]) -> None:
    assert marked(snip(text, tuple(query.lower().split()), "en", 200)) == words


def test_a_short_passage_is_shown_whole() -> None:
    assert snip("One\n two.", ("two",), "en", 80) == Snippet("One two.", ((4, 7),))


def test_the_best_place_is_chosen() -> None:
    filler = "Nothing of note happens here today. " * 20
    text = f"{filler}A crown. {filler}The drowned crown lies below. {filler}"
    found = snip(text, ("drowned", "crown"), "en", 120)
    assert marked(found) == ["drowned", "crown"]
    assert found.text.startswith("… The drowned crown lies below.")
    assert found.text.endswith(" …")
    assert len(found.text) <= 124


def test_without_a_match_the_beginning_is_shown() -> None:
    found = snip("word " * 100, ("sea",), "en", 50)
    assert found.text == "word word word word word word word word word word …"
    assert found.marks == ()


def test_a_text_without_blanks() -> None:
    assert len(snip("x" * 5000, ("sea",), "en", 100).text) <= 102


@pytest.mark.parametrize(
    ("text", "value"),
    [("7", 7), ("-2.5", -2.5), ("0", 0), ("007", "007"), ("1e3", "1e3"), ("nan", "nan"),
     ("9" * 16, "9" * 16), ("", ""), ("true", "true")],
)  # fmt: skip
def test_numbers_become_numbers(text: str, value: object) -> None:
    assert scalar(text) == value
    assert type(scalar(text)) is type(value)


def test_printable_keeps_lines_and_tabs() -> None:
    assert printable("a\tb\r\nc\x1b[31m") == "a\tb\nc\N{REPLACEMENT CHARACTER}[31m"


def test_rows_of_a_table_read_as_a_list_without_bars() -> None:
    table = "Prices:\nWeapon | Cost |  | Weight\nLongsword | 15 gp | - | 3 lb\nPaid in full."
    found = snip(table, ("longsword",), "en", 200)
    assert found.text == "Prices: Weapon · Cost · Weight; Longsword · 15 gp · 3 lb; Paid in full."
    assert marked(found) == ["Longsword"]
    assert snip("Run\ncat a | sort\nnow", ("sort",), "en", 80).text == "Run cat a | sort now"


def test_drawn_lines_are_left_out() -> None:
    receipt = "TechMart\n==========\nTotal 821\n- - -----\nReturns within 30 days ... or a==b"
    found = snip(receipt, ("total",), "en", 200)
    assert found.text == "TechMart Total 821 - - Returns within 30 days ... or a==b"
    assert marked(found) == ["Total"]


def test_code_keeps_its_lines() -> None:
    code = "def area(width, height):\n    size = width * height\n    return size\n"
    assert snip(code, ("area",), "", 200).text == code.rstrip()
    assert "\n" not in snip("One line\nof prose\nand another", ("prose",), "", 200).text


HEARD = """Some families remain. The spell works after all, and brings a mishap. Take ink and a
boat. Nagard a single room. On a mishap a last year. You need not know the spell, but read it. The
lighthouse at the point was, as we heard, rebuilt later. First, folding my critics in worth more.
When nothing remained, she opened."""


@pytest.mark.parametrize(
    ("query", "begins"),
    [
        ("when nothing remained she opened", "When nothing"),  # "remain" stands earlier alone
        ("you need not know the spell", "You need"),  # four of six words are stop words
        ("on any mishap a lace tears", "On a mishap"),  # three of six words misheard
        ("they guard a single room", "Nagard"),  # two words became one
        ("first folding diacritics is worth", "First, folding"),  # one word became two
        ("when was the lighthouse rebuilt", "The\nlighthouse"),
        ("spell", "The spell works"),
        ("zeppelin", "Some"),
        ("", "Some"),
    ],
)
def test_a_recording_plays_from_where_the_words_begin(query: str, begins: str) -> None:
    """The first five as tiny.en heard them in `bench.recordings`."""
    spoken = tuple((m.start(), float(at)) for at, m in enumerate(re.finditer(r"\S+", HEARD)))
    place = Place(seconds=(0.0, float(len(spoken))), spoken=spoken)
    chunk = Chunk(0, 0, len(HEARD), HEARD, place=place)
    wanted = float(len(HEARD[: HEARD.index(begins)].split()))
    assert second_said(chunk, tuple(query.split()), "en") == wanted
