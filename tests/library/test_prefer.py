"""Recency and boosts on the sample documents with the real model."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from trivium import Library
from trivium.config import load
from trivium.core.errors import BadSetting
from trivium.core.results import Result
from trivium.core.shapes import ResultsAnswer, to_json
from trivium.operations.searching import SearchOptions


@pytest.fixture(scope="module")
def samples(sample_library: Path) -> Iterator[Library]:
    with Library.open(sample_library) as library:
        yield library


def added_up(result: Result) -> float:
    """What the explanation's parts sum up to."""
    if result.rerank:
        base = result.rerank.rerank + result.rerank.hybrid + result.rerank.position
    elif result.queries:
        base = min(part.match for part in result.queries)
    else:
        base = sum(part.contribution for part in result.signals.values())
    return base + sum(part.contribution for part in result.preferences)


@pytest.mark.parametrize("query", ["drowned crown", ["drowned crown", "harbour"]])
@pytest.mark.parametrize("by", ["passage", "document"])
@pytest.mark.parametrize("rerank", [False, True])
def test_the_parts_add_up_to_the_score(
    samples: Library, query: str | list[str], by: str, rerank: bool
) -> None:
    options = SearchOptions(
        by=by, rerank=rerank, prefer="recent", boosts={"type:markdown": 2, "language:de": 0.5}
    )
    found = samples.search(query, options=options)
    assert found.items
    assert any(result.preferences for result in found)
    for result in found:
        assert added_up(result) == pytest.approx(result.score)
    assert [r.score for r in found] == sorted((r.score for r in found), reverse=True)


def test_nothing_is_preferred_by_default(samples: Library) -> None:
    assert all(result.preferences == () for result in samples.search("drowned crown"))


def test_a_boost_brings_its_documents_to_the_top(samples: Library) -> None:
    plain = samples.search("crown", options=SearchOptions(by="document"))
    last = plain[-1].found.document
    boosted = SearchOptions(by="document", boosts={f"source:#{last.id}": 50})
    found = samples.search("crown", options=boosted)
    assert found[0].found.document.id == last.id
    assert found[0].match == pytest.approx(plain[-1].match, abs=0.2)  # no more relevant than before
    (part,) = found[0].preferences
    assert (part.name, part.factor) == (f"source:#{last.id}", 50)


def test_the_same_in_json(samples: Library) -> None:
    options = SearchOptions(limit=1, boosts={"type:markdown": 2})
    told = to_json(ResultsAnswer.of(samples.search("crown", options=options)))
    (result,) = json.loads(told)["results"]
    assert [part["name"] for part in result["preferences"]] == ["type:markdown"]


@pytest.mark.parametrize(
    "options",
    [
        SearchOptions(prefer="old"),
        SearchOptions(half_life=3),
        SearchOptions(prefer="recent", half_life=0),
        SearchOptions(prefer="recent", half_life="long"),  # type: ignore[arg-type]
        SearchOptions(boosts=["type:pdf"]),  # type: ignore[arg-type]
    ],
)
def test_what_makes_no_sense_is_refused(samples: Library, options: SearchOptions) -> None:
    with pytest.raises(BadSetting):
        samples.search("crown", options=options)


def test_a_boost_of_a_field_that_no_document_has_is_told(samples: Library) -> None:
    boosts = {"colection:rules": 2.0, "type:markdown": 2.0}
    found = samples.search("crown", options=SearchOptions(boosts=boosts))
    (note,) = found.notes
    assert note.startswith(
        "The boost colection:rules has no effect. No document has a field `colection`."
        " Did you mean `collection`?"
    )
    assert {part.name for result in found for part in result.preferences} == {"type:markdown"}


def test_settings_prefer_too(sample_library: Path) -> None:
    given = {"search.prefer": "recent", "search.boosts": "type:markdown*2; language:de*0.5"}
    with Library.open(sample_library, settings=load(given).settings) as library:
        names = {p.name for r in library.search("crown") for p in r.preferences}
    assert "type:markdown" in names
    assert any(name.startswith("recent (") for name in names)
