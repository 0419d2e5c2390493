"""Quote to source: the document, page and paragraph that a pasted text comes from."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.library.chat import Chat, asked

from trivium.core.errors import BadValue
from trivium.core.types import Where
from trivium.library import Library
from trivium.testing.samples import sample

LAMPS = sample(
    "lamps.md",
    "The keeper lights the lamp before sunset every evening.\n\nWhen fog comes in from the western"
    " sea, a second lamp burns below the first one, and the bell rings twice a minute.",
    title="Lamps",
)
SECRET = sample(
    "curse.md",
    "The drowned admiral walks along the northern pier whenever the tide is lowest.",
    title="Curse",
    audience="dm-only",
)

SALES = sample(
    "sales.md",
    "Sales rose 4.2 percent to $3.1 billion in the second quarter.\n\nThe keeper of the"
    " books paid a dividend in June for all of his readers.",
    title="Sales",
)


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    with asked(tmp_path, Chat(), [LAMPS, SECRET, SALES]) as opened:
        yield opened


def test_a_quote_finds_its_place_and_what_was_changed(library: Library) -> None:
    (place,) = library.quote(
        "When mist comes in from the western sea, another lamp burns below the first one, and the"
        " bell rings twice a minute."
    ).places
    assert (place.title, place.paragraph) == ("Lamps", 2)
    assert place.text.startswith("When fog comes in")
    assert [(c.quoted, c.source) for c in place.changes] == [
        ("mist", "fog"),
        ("another", "a second"),
    ]


@pytest.mark.parametrize("between", ["-\n", "- ", "\u00ad\n", "-"])
def test_words_broken_at_a_lines_end_are_no_change(library: Library, between: str) -> None:
    pasted = f"The kee{between}per lights the lamp before sun{between}set every evening."
    (place,) = library.quote(pasted).places
    assert (place.kept, place.changes) == (1, ())


@pytest.mark.parametrize(
    ("text", "is_there"),
    [
        ("Sales rose 4.2 percent to $3.1 billion in the second quarter.", True),
        ("Sales climbed 4.2 per cent to $3.1 billion in the second quarter", True),
        ("Sales rose to $3.1 billion in the second quarter.", True),  # left out isn't another one
        ("Sales rose 4,2 percent to $3,100 million in the second quarter.", True),
        ("Sales rose 4.2 percent to $2.9 billion in the second quarter.", False),
        ("Sales rose 4.2 percent to $3.1 billion in the third quarter.", False),
        ("Sales rose nearly 5 percent to $3.1 billion in the second quarter.", False),
        ("The keeper of the books paid a dividend in June for all of his readers.", True),
        ("The keeper of the books paid a dividend in March for all of his readers.", False),
    ],
)
def test_other_figures_and_dates_are_another_text(
    library: Library, text: str, is_there: bool
) -> None:
    found = library.quote(text)
    shown, hidden = (found.places, found.similar) if is_there else (found.similar, found.places)
    assert [place.title for place in shown] == ["Sales"]
    assert hidden == ()


@pytest.mark.parametrize(
    ("text", "is_claimed"),
    [
        ("The keeper lights the candle after dinner every single evening.", False),  # six of ten
        ("The keeper lights the candle before dinner every single evening.", True),
    ],
)
def test_a_short_sentence_keeps_more_than_six_tenths_of_its_words(
    library: Library, text: str, is_claimed: bool
) -> None:
    assert bool(library.quote(text).places) is is_claimed


def test_what_is_not_there_is_not_claimed(library: Library) -> None:
    assert library.quote("When the keeper comes home from the sea, he sings a song.").places == ()
    assert library.quote("Wholly unrelated words about taxes and spreadsheets.").places == ()


def test_nobody_finds_what_they_may_not_see(library: Library) -> None:
    text = "The drowned admiral walks along the northern pier whenever the tide is lowest."
    assert library.quote(text).places
    assert library.quote(text, within=Where(frozenset())).places == ()


@pytest.mark.parametrize("text", ["", "...", "two words"])
def test_too_short_to_find(library: Library, text: str) -> None:
    with pytest.raises(BadValue, match="too few"):
        library.quote(text)


def test_long_and_strange_texts(library: Library) -> None:
    assert library.quote("zyx wvu tsr qpo " * 12_000).places == ()
    assert library.quote('"a OR b" -not +must AND (NEAR x*y) \ud800 \x00 here we are').places == ()
