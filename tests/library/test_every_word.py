"""Required words on the sample documents with the real model."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from trivium import Library
from trivium.config import load
from trivium.core.errors import BadSetting
from trivium.core.results import Results
from trivium.core.types import OWNER, Signal
from trivium.library.asking import request_for
from trivium.operations.searching import SearchOptions


@pytest.fixture(scope="module")
def samples(sample_library: Path) -> Iterator[Library]:
    with Library.open(sample_library) as library:
        yield library


def texts(results: Results) -> list[str]:
    """What is searched of each: headings count, too."""
    return [" ".join((*r.found.chunk.headings, r.found.chunk.text)).lower() for r in results]


@pytest.mark.parametrize("mode", ["hybrid", "semantic", "keyword", "fuzzy"])
def test_what_is_required_is_in_every_result(samples: Library, mode: str) -> None:
    found = samples.search("+crown +harbour", options=SearchOptions(mode=mode))
    assert found.items
    assert all("crown" in text and "harbour" in text for text in texts(found))
    assert found.notes == ()


def test_a_required_word_is_corrected_like_any_other(samples: Library) -> None:
    found = samples.search("+crown +harbuor")
    assert [c.meant for c in found.analysis.corrections] == ["harbour"]
    assert texts(found) == texts(samples.search("+crown +harbour"))


def test_nothing_holds_all_that_is_required(samples: Library) -> None:
    found = samples.search('+crown +"glass telescope"')
    assert found.notes == (
        'No passage has everything you require (crown, "glass telescope"),'
        " so these words are optional.",
    )
    plain = samples.search("crown", options=SearchOptions(limit=3))
    assert {r.found.id for r in plain} & {r.found.id for r in found}


def test_every_word_by_keyword(samples: Library) -> None:
    any_word = samples.search("crown harbour", options=SearchOptions(mode="keyword"))
    every = SearchOptions(mode="keyword", every_word=True)
    found = samples.search("the crown of the harbour", options=every)
    assert 0 < len(found) < len(any_word)
    assert all("crown" in text and "harbour" in text for text in texts(found))
    # The other signals find what they found before.
    hybrid = samples.search("crown harbour", options=SearchOptions(every_word=True))
    assert any(Signal.KEYWORD not in result.signals for result in hybrid)


def test_no_passage_holds_every_word(samples: Library) -> None:
    options = SearchOptions(mode="keyword", every_word=True, limit=5)
    found = samples.search("crown waybread", options=options)
    assert found.notes == (
        "No passage has every word of “crown waybread”, so keyword search accepted any of them.",
    )
    plain = samples.search("crown waybread", options=SearchOptions(mode="keyword", limit=5))
    assert [r.found.id for r in found] == [r.found.id for r in plain]


@pytest.mark.parametrize(
    ("preset", "on"),
    [("rulebook", True), ("team", True), ("codex", False), ("papers", False), ("palace", False)],
)
def test_presets_that_require_every_word(preset: str, on: bool) -> None:
    settings = load({"preset": preset}).settings
    asked = request_for(settings, "all-MiniLM-L6-v2", ("fog",), OWNER, SearchOptions())
    assert (asked.every_word, asked.strict) == (on, on)
    given = SearchOptions(every_word=not on)
    asked = request_for(settings, "all-MiniLM-L6-v2", ("fog",), OWNER, given)
    assert asked.every_word is not on


def test_strictly_every_word_finds_nothing_if_no_passage_has_them_all(samples: Library) -> None:
    """As websearch_to_tsquery, which the presets rulebook and team reproduce."""
    options = SearchOptions(mode="keyword", strict=True)
    found = samples.search("crown waybread", options=options)
    assert (found.items, found.notes) == ((), ("No passage has every word of “crown waybread”.",))
    assert samples.search("crown harbour", options=options).items
    hybrid = samples.search("crown waybread", options=SearchOptions(strict=True))
    assert hybrid.items
    assert all(Signal.KEYWORD not in result.signals for result in hybrid)


def test_a_minimum_match_leaves_weaker_results_out(samples: Library) -> None:
    every = samples.search("battle axe", options=SearchOptions(limit=20))
    least = every[1].match
    found = samples.search("battle axe", options=SearchOptions(limit=20, min_match=least))
    assert [r.found.id for r in found] == [r.found.id for r in every if r.match >= least]
    assert len(found) < len(every)
    hidden = len(every) - len(found)
    assert found.notes == (f"Hid {hidden} results with a match below {least:.0%}.",)
    with pytest.raises(BadSetting, match="min_match"):
        samples.search("axe", options=SearchOptions(min_match=1.5))


def test_several_queries_find_only_what_each_finds_well(samples: Library) -> None:
    found = samples.search(["battle axe", "the capital of France"])
    assert found.items == ()
    assert "No result matches every query." in found.notes
