"""The sample documents with the real model: what `make run` and examples/README.md promise."""

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from trivium import Library
from trivium.config import load
from trivium.core.types import Signal
from trivium.operations.searching import Filters, SearchOptions
from trivium.web.samples import SEARCHES


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


# --- how likely a result is to be relevant


@pytest.mark.parametrize(
    ("query", "text"), [("battleaxe", "battle axe"), ("Shortsord", "short sword")]
)
def test_the_right_passage_has_the_best_match(samples: Library, query: str, text: str) -> None:
    for by in ("passage", "document"):
        for rerank in (False, True):
            results = samples.search(query, options=SearchOptions(by=by, rerank=rerank))
            assert text in results[0].found.chunk.text.lower()
            assert not results.weak
            matches = [result.match for result in results]
            assert matches == sorted(matches, reverse=True)
            assert matches[0] > 2 * matches[2]


@pytest.mark.parametrize("query", ["xqzzyvw qqqq", "capital of France?", "quarterly tax return"])
def test_nothing_fits(samples: Library, query: str) -> None:
    results = samples.search(query)
    assert results.weak
    answer = samples.ask(query)
    assert answer.refused
    assert answer.passages == ()


def test_or_ranks_by_the_best_query(samples: Library) -> None:
    results = samples.search(["crown", "sceptre"], options=SearchOptions(combine="maximum"))
    assert Path(results[0].found.document.uri).name == "the-drowned-crown.md"
    assert not results.weak


def test_and_needs_every_query_above_the_floor(samples: Library) -> None:
    both = samples.search(["crown", "moonstone"])
    assert not both.weak
    assert all(part.match >= both.floor for result in both for part in result.queries)
    # No passage is about both: the nearest are shown, and called weak.
    neither = samples.search(["crown", "bread"])
    assert neither.weak


@pytest.mark.parametrize("by", ["passage", "document"])
@pytest.mark.parametrize("combine", ["minimum", "product", "average", "maximum"])
def test_a_match_never_rises_with_the_rank(samples: Library, by: str, combine: str) -> None:
    for rerank in (False, True):
        for queries in (["crown", "harbour"], ["axe", "shield", "sword"]):
            options = SearchOptions(by=by, rerank=rerank, combine=combine)
            matches = [r.match for r in samples.search(queries, options=options)]
            assert matches == sorted(matches, reverse=True)


def test_the_match_does_not_depend_on_how_many_are_asked_for(samples: Library) -> None:
    few, many = samples.search("drowned crown", 3), samples.search("drowned crown", 30)
    assert [r.match for r in few] == [r.match for r in many[:3]]
    alone = samples.search(["drowned crown", "moonstone"], options=SearchOptions(combine="maximum"))
    matches = {r.found.id: r.match for r in many}
    assert alone[0].queries[0].match == pytest.approx(matches[alone[0].found.id])


@pytest.mark.parametrize("rerank", [False, True])
def test_a_document_has_the_match_of_its_best_passage(samples: Library, rerank: bool) -> None:
    for query in ("drowned crown", "battleaxe", "who poisoned the ferryman"):
        passages = samples.search(query, 30, options=SearchOptions(rerank=rerank))
        best = {r.found.id: r.match for r in passages}
        documents = samples.search(query, 3, options=SearchOptions(by="document", rerank=rerank))
        assert documents[0].match == pytest.approx(best[documents[0].found.id])


def test_the_floor_is_a_setting(sample_library: Path) -> None:
    with Library.open(sample_library, settings=replace(load().settings, search_floor=0.5)) as own:
        assert own.search("rulers of the elven forest").weak


RUN = re.findall(r"^\t\$\(TRIVIUM\) search -n 1 (\w[^-\n]+)$", Path("Makefile").read_text(), re.M)


@pytest.mark.parametrize("query", sorted({*SEARCHES, *RUN}))
def test_an_example_that_is_right_shows_it(samples: Library, query: str) -> None:
    """On the first page and in `make run`, at least 60 %."""
    assert samples.search(query)[0].match >= 0.6


@pytest.mark.parametrize("query", ["who rules the elves", "who rules the forest"])
def test_a_tag_and_a_word_that_is_spelled_alike_are_no_good_match(
    samples: Library, query: str
) -> None:
    """All rules have the tag "rules", and elvers aren't elves."""
    assert samples.search(query)[0].match < 0.6
