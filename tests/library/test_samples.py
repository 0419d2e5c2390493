"""The sample documents with the real model: what `make run` and examples/README.md promise."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from trivium import Library
from trivium.options import Filters, SearchOptions
from trivium.types import Signal


@pytest.fixture(scope="module")
def samples(sample_library: Path) -> Iterator[Library]:
    with Library.open(sample_library) as library:
        yield library


@pytest.mark.parametrize(
    ("query", "name", "text"),
    [
        ("battleaxe", "weapons.md", "battle axe"),
        ("shortsword", "weapons.md", "short sword"),
        ("Shortsord", "weapons.md", "short sword"),
        ("long bow", "weapons.md", "longbow"),
        ("war hammer", "weapons.md", "warhammer"),
        ("way bread", "travel.md", "waybread"),
    ],
)
def test_spelling_is_found_through_the_trigram_signal(
    samples: Library, query: str, name: str, text: str
) -> None:
    best = samples.search(query, options=SearchOptions(mode="fuzzy"))[0]
    assert best.found.document.uri.endswith(name)
    assert text in best.found.chunk.text.lower()
    hybrid = samples.search(query)[0]
    assert hybrid.found.document.uri.endswith(name)
    assert Signal.TRIGRAM in hybrid.signals


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("Yrsa", {"names-of-the-north.md"}),
        ("Thal Erith", {"places.md", "names-of-the-north.md"}),
        ("rulers of the elven forest", {"places.md"}),
        ("what are we eating on game night and who cooks?", {"game-evening.txt"}),
        ('"salt before silver"', {"dynasty-of-the-saltwardens.md"}),
        ("moonstone -spellbook", {"the-drowned-crown.md"}),
        ("Glocken und Überschwemmungen", {"chronik-von-aschenfurt.md"}),
        ("CER diacritics p < 0.05", {"misremembered-spellings.md"}),
        ("who poisoned the ferryman", {"session-12-notes.md"}),
    ],
)
def test_the_queries_of_the_examples(samples: Library, query: str, names: set[str]) -> None:
    assert Path(samples.search(query)[0].found.document.uri).name in names


def test_players_never_find_the_game_masters_notes(samples: Library) -> None:
    for mode in ("hybrid", "semantic", "keyword", "fuzzy"):
        results = samples.search(
            "who poisoned the ferryman",
            50,
            options=SearchOptions(mode=mode),
            filters=Filters(audiences=["player"]),
        )
        assert results
        assert {r.found.document.audience for r in results} == {"all"}


def test_german_is_recognised(samples: Library) -> None:
    assert samples.show("chronik-von-aschenfurt.md").document.language == "de"
