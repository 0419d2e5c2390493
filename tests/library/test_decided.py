"""What an explanation says decided agrees with every weight that it shows."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from trivium import Library
from trivium.config import load
from trivium.core.shapes import ResultsAnswer
from trivium.core.types import Signal
from trivium.operations.searching import SearchOptions

QUERIES = [
    "battleaxe",
    "Shortsord",  # words find nothing
    "how do elves greet the sea at night",
    "Smith 2023",
    "drowned crown",
    '"salt before silver"',
    "xqzzyvw qqqq",
    "harbour",  # meaning counts most, but less than usual
]


@pytest.fixture(scope="module")
def samples(sample_library: Path) -> Iterator[Library]:
    with Library.open(sample_library) as library:
        yield library


@pytest.mark.parametrize("query", QUERIES)
@pytest.mark.parametrize("analysis", [None, False])
def test_one_sentence_says_what_the_weights_say(
    samples: Library, query: str, analysis: bool | None
) -> None:
    found = samples.search(query, options=SearchOptions(analysis=analysis))
    weights = found.analysis.weights
    whole = sum(weights.values())
    heard = [signal for signal in weights if signal not in found.analysis.silent]
    assert {signal for result in found for signal in result.signals} <= {*heard}
    heaviest = max(heard, key=lambda signal: weights[signal])
    decided = found.analysis.decided
    if len(heard) == 1:
        others = " and ".join(signal.told for signal in found.analysis.silent)
        assert decided == f"Ranked by {heaviest.told} alone: {others} gave no results."
        return
    told = dict(re.findall(r"(meaning|words|spelling) (\d+)%", decided))
    assert {s.told: f"{weights[s] / whole:.0%}".rstrip("%") for s in heard} == told
    ranked, _, why = decided.partition("(")
    assert heaviest.told in ranked
    assert ("gave no results" in why) == bool(found.analysis.silent)
    if "mostly" in ranked:
        assert weights[heaviest] / whole > 0.49
    if "stand out" in why and "equally" not in ranked:  # a reason for the other side says so
        for_meaning = ("results by meaning" in why) != ("don't stand out" in why)
        assert ("less so than usual" in why) == ((heaviest is Signal.VECTOR) != for_meaning)
    for result in found:  # and each result is weighed by the same
        for signal, part in result.signals.items():
            assert part.weight == pytest.approx(weights[signal])
    shown = ResultsAnswer.of(found).analysis
    assert shown is not None
    assert shown.decided == found.analysis.decided


def test_a_signal_that_found_nothing_did_not_decide(samples: Library) -> None:
    found = samples.search("Shortsord").analysis
    assert found.silent == (Signal.KEYWORD,)
    assert re.fullmatch(
        r"Ranked equally by meaning and spelling \(meaning \d\d%, spelling \d\d%\):"
        r" words gave no results\.",
        found.decided,
    )
    assert "lead 0%" not in " ".join(found.notes)
    nothing = samples.search("xqzzyvw qqqq").analysis
    assert nothing.decided == "Ranked by meaning alone: words and spelling gave no results."
    assert nothing.notes == ()  # not that spelling counts more


def test_the_reason_is_the_one_that_moved_the_weights(sample_library: Path) -> None:
    settings = load({"preset": "papers"}).settings
    with Library.open(sample_library, settings=settings) as library:
        decided = library.search("Smith 2023").analysis.decided
        assert decided == (
            "Ranked mostly by words (meaning 35%, words 65%), because of the query's year (2023)."
        )
        decided = library.search("machine learning").analysis.decided
        assert decided == "Ranked equally by meaning and words (meaning 50%, words 50%)."
    settings = load({"preset": "rulebook"}).settings
    with Library.open(sample_library, settings=settings) as library:
        assert library.search("drowned crown").analysis.decided == (
            "Ranked equally by meaning, words and spelling (meaning 33%, words 33%, spelling 33%)."
        )


def test_one_signal_and_what_came_afterwards(samples: Library) -> None:
    found = samples.search("crown", options=SearchOptions(mode="keyword"))
    assert found.analysis.decided == "Searched by words only."
    assert found.afterwards == ""
    options = SearchOptions(rerank=True, boosts={"type:markdown": 2})
    assert samples.search("crown", options=options).afterwards == (
        "Then the reranker reorders the top results, and then your preferences multiply the scores."
    )
    assert Signal.VECTOR not in found.analysis.weights
