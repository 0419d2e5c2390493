"""The queries that once showed a wrong number, on the sample documents with the real model."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from trivium import Library
from trivium.core.answers import AnswerKind
from trivium.operations.searching import SearchOptions


@pytest.fixture(scope="module")
def samples(sample_library: Path) -> Iterator[Library]:
    with Library.open(sample_library) as library:
        yield library


@pytest.mark.parametrize(
    ("query", "text"), [("battleaxe", "battle axe"), ("Shortsord", "short sword")]
)
def test_the_right_passage_has_the_highest_match_and_junk_is_weak(
    samples: Library, query: str, text: str
) -> None:
    found = samples.search(query)
    assert text in found[0].found.chunk.text.lower()
    assert not found.weak
    assert found[0].match == max(result.match for result in found)
    others = [r for r in found if not r.found.document.uri.endswith("weapons.md")]
    assert others
    assert not any(found.fits(result) for result in others)


def test_either_of_two_queries_ranks_by_the_better(samples: Library) -> None:
    found = samples.search(["crown", "sceptre"], options=SearchOptions(combine="maximum"))
    assert found[0].found.document.uri.endswith("the-drowned-crown.md")
    assert "Food on the road" not in found[0].found.chunk.text
    assert [r.match for r in found] == sorted((r.match for r in found), reverse=True)


@pytest.mark.parametrize("query", ["xqzzyvw qqqq", "capital of France?"])
def test_nothing_fits(samples: Library, query: str) -> None:
    found = samples.search(query)
    assert found.weak
    assert not any(found.fits(result) for result in found)
    assert samples.ask(query).kind is AnswerKind.REFUSED


@pytest.mark.parametrize(
    "question",
    ["battleaxe", "Who poisoned the ferryman?", "crown", "capital of France?", "xqzzyvw qqqq"],
)
def test_ask_and_search_judge_a_passage_alike(samples: Library, question: str) -> None:
    """Asked alike, they give a passage the same match, and `ask` refuses where all are weak."""
    found = samples.search(question, options=SearchOptions(limit=8, rerank=True))
    answer = samples.ask(question, limit=8, depth="once")
    read = {passage.chunk: passage.match for passage in answer.passages}
    if found.weak:
        assert answer.kind is AnswerKind.REFUSED
        assert read == {}
    else:
        assert read == {result.found.id: result.match for result in found}


@pytest.mark.parametrize("query", ["parsing", "rulers of the elven forest", "économie"])
def test_a_right_word_is_not_corrected(samples: Library, query: str) -> None:
    analysis = samples.search(query).analysis
    assert (analysis.corrections, analysis.suggestion) == ((), "")


def test_completions_fit_what_was_typed(samples: Library) -> None:
    assert "drowned crown" in [one.text for one in samples.suggest("drowned cro")]
    assert samples.suggest("xqzzyvw cro") == ()
    assert samples.suggest("parsing") == ()
