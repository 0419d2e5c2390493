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


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    with asked(tmp_path, Chat(), [LAMPS, SECRET]) as opened:
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
