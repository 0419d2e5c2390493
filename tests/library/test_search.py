from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.golden.make import xlsx
from tests.reference import open_memory

from trivium.config import Settings
from trivium.core.errors import BadFilter, BadSetting, EmptyQuery, QueryTooLong, TriviumError
from trivium.core.types import Signal
from trivium.library import Library
from trivium.operations.searching import Filters, SearchOptions
from trivium.store.embedded.backend import open_embedded
from trivium.testing.samples import TOY

TEXTS = {
    "weapons.md": "# Weapons\n\nA battle axe costs ten crowns. A short sword costs eight.",
    "lore.md": "# Lore\n\nThe drowned crown lies in the harbour. Fog hides it.",
    "secret.md": "---\naudience: dm-only\n---\n# Secret\n\nThe crown is cursed.",
}


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    """Three documents, for tests that only read."""
    files = tmp_path_factory.mktemp("texts")
    for name, text in TEXTS.items():
        (files / name).write_text(text)
    store = open_embedded(tmp_path_factory.mktemp("filled") / "library")
    with Library(store, TOY, Settings()) as library:
        library.add(files, collection="game", category="rules", metadata={"year": 2024})
        yield library


def titles(library: Library, query: str, **said: object) -> list[str]:
    filters = {name: said.pop(name) for name in list(said) if hasattr(Filters(), name)}
    found = library.search(query, options=SearchOptions(**said), filters=Filters(**filters))
    return [r.found.document.title for r in found]


def test_every_result_is_explained_and_the_parts_add_up(filled: Library) -> None:
    results = filled.search("crown in the harbour")
    assert results[0].found.document.title == "Lore"
    for result in results:
        assert result.score == pytest.approx(sum(p.contribution for p in result.signals.values()))
        for part in result.signals.values():
            assert 0 <= part.contribution <= part.weight
        assert 0 <= result.match <= 1
    assert [r.rank for r in results] == list(range(1, len(results) + 1))
    assert {"vector", "keyword", "trigram", "fuse", "fetch", "embed"} <= results.timings_ms.keys()
    # Four words and no year or author: ten points to meaning.
    assert results.analysis.semantic == 60
    assert results.analysis.weights == pytest.approx(
        {Signal.VECTOR: 0.6, Signal.KEYWORD: 0.24, Signal.TRIGRAM: 0.16}
    )


def test_analysis_can_be_off(filled: Library) -> None:
    analysis = filled.search("crown in the harbour", options=SearchOptions(analysis=False)).analysis
    assert (analysis.semantic, analysis.boosts) == (None, ())
    assert analysis.weights == {Signal.VECTOR: 0.5, Signal.KEYWORD: 0.3, Signal.TRIGRAM: 0.2}


def test_a_misspelled_word_is_searched_for_as_it_was_meant(filled: Library) -> None:
    found = filled.search("drowend crown")
    assert found.analysis.suggestion == "drowned crown"
    assert found.analysis.corrections[0].applied
    assert Signal.KEYWORD in found[0].signals
    assert (
        filled.search("drowend crown", options=SearchOptions(correct=False)).analysis.suggestion
        == ""
    )
    # Nothing is suggested that the caller may not see: only the secret document holds "cursed".
    assert filled.search("curssed crown").analysis.suggestion == "cursed crown"
    assert (
        filled.search("curssed crown", filters=Filters(audiences=["player"])).analysis.suggestion
        == ""
    )


def test_unknown_words_raise_the_trigram_signal(filled: Library) -> None:
    analysis = filled.search("zymurgy crown").analysis
    assert analysis.unknown == ("zymurgy",)
    assert analysis.weights[Signal.TRIGRAM] > 0.2


@pytest.mark.parametrize(
    ("mode", "signal"),
    [("semantic", Signal.VECTOR), ("keyword", Signal.KEYWORD), ("fuzzy", Signal.TRIGRAM)],
)
def test_modes_use_one_signal(filled: Library, mode: str, signal: Signal) -> None:
    results = filled.search("crown", options=SearchOptions(mode=mode))
    assert results
    assert all(set(r.signals) == {signal} for r in results)


def test_spelling_through_the_trigram_signal(filled: Library) -> None:
    for query in ("battleaxe", "shortsword", "Shortsord"):
        best = filled.search(query)[0]
        assert best.found.document.title == "Weapons"
        assert best.signals[Signal.TRIGRAM].rank == 1
        assert Signal.KEYWORD not in best.signals


def test_audiences_hold_on_every_mode(filled: Library) -> None:
    for mode in ("hybrid", "semantic", "keyword", "fuzzy"):
        assert "Secret" in titles(filled, "crown cursed", mode=mode)
        assert "Secret" in titles(filled, "crown cursed", mode=mode, audiences=["dm-only"])
        assert "Secret" not in titles(filled, "crown cursed", mode=mode, audiences=["player"])
        assert "Secret" not in titles(filled, "crown cursed", mode=mode, audiences=[])


def test_filters(filled: Library) -> None:
    assert titles(filled, "crown", source="lore.md") == ["Lore"]
    assert set(titles(filled, "crown", source=["#1", "#2"])) <= {"Lore", "Secret", "Weapons"}
    assert titles(filled, "crown", collection="other") == []
    assert titles(filled, "crown", category="rules", metadata={"year": 2024})
    assert titles(filled, "crown", metadata={"year": 1999}) == []


def test_an_excluded_word_is_out_of_every_signal(filled: Library) -> None:
    assert "Lore" not in titles(filled, "crown -fog")
    assert "Lore" not in titles(filled, 'crown -"drowned crown"')
    assert "Weapons" in titles(filled, "crown -fog")


def test_threshold_and_limit(filled: Library) -> None:
    assert len(filled.search("crown", 1)) == 1
    assert (
        list(filled.search("crown", options=SearchOptions(mode="semantic", threshold=0.999))) == []
    )


def test_a_longer_list_begins_with_the_shorter(filled: Library) -> None:
    short, long = filled.search("crown costs", 1), filled.search("crown costs", 3)
    assert short[0].found.id == long[0].found.id


@pytest.mark.parametrize("query", ["", "   ", "?!…", '"', "-", "\x00", "-crown", '""', "OR"])
def test_queries_without_a_word(filled: Library, query: str) -> None:
    with pytest.raises(EmptyQuery):
        filled.search(query)


@pytest.mark.parametrize(
    "query",
    [
        "crown\x00", "🐉 crown", "crown " * 1000, '"crown', "crown OR", "OR crown", "-- crown --",
        "crown AND (fog", "title:crown^2 ~ * ?", "\ud800 crown", "c" * 9_000, "\\", "crown\\",
    ],
)  # fmt: skip
def test_odd_queries_never_raise(filled: Library, query: str) -> None:
    try:
        filled.search(query)
    except EmptyQuery:
        assert query == "\\"


def test_a_query_of_100_000_characters(filled: Library) -> None:
    with pytest.raises(QueryTooLong, match="100,000"):
        filled.search("x" * 100_000)


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({"limit": 0}, "limit"),
        ({"limit": 10_000}, "limit"),
        ({"k": 0}, "k"),
        ({"k": float("nan")}, "k"),
        ({"threshold": 2}, "threshold"),
        ({"mode": "psychic"}, "mode"),
        ({"weights": dict.fromkeys(Signal, 0.0)}, "weights"),
        ({"weights": {Signal.VECTOR: -1.0}}, "weights.vector"),
    ],
)
def test_senseless_options_name_the_field(
    filled: Library, options: dict[str, object], name: str
) -> None:
    with pytest.raises(BadSetting, match=f"`{name}`"):
        filled.search("crown", options=SearchOptions(**options))


@settings(max_examples=80)
@given(query=st.text(max_size=60))
def test_any_text_is_a_query_or_a_typed_error(filled: Library, query: str) -> None:
    try:
        results = filled.search(query)
    except TriviumError:
        return
    assert len(results) <= 10


def test_filters_by_sheet_and_row_find_the_passages_there(tmp_path: Path) -> None:
    book = tmp_path / "book.xlsx"
    book.write_bytes(xlsx())
    with Library(open_memory(), TOY, Settings()) as library:
        library.add([book])

        def sheets(where: str) -> set[str]:
            found = library.search("tide hour stop Amble", filters=Filters(where=where))
            return {result.found.chunk.place.sheet for result in found}

        assert sheets("") == {"Tides", "Stops"}
        assert sheets("sheet:stops") == {"Stops"}
        assert sheets("row:5") == {"Stops"}
        assert sheets("-sheet:Stops") == {"Tides"}
        assert sheets("sheet:tides row:4..9") == set()
        assert [d.title for d in library.documents.all(where="sheet:Tides")] == ["The Ferry"]
        with pytest.raises(BadFilter):
            sheets("sheet>A")


def test_a_thread_is_one_result(library: Library, files: Path) -> None:
    """Messages are documents; those of one thread share it in their metadata, as Slack's do."""
    said = {
        "a": ("C1", "17.0", "The valve leaks again."),
        "b": ("C1", "17.0", "Which valve leaks, the upper one?"),
        "c": ("C1", "", "The valve in the cellar leaks too."),
        "d": ("C2", "17.0", "A valve leaks in another channel."),
    }
    for name, (channel, thread, text) in said.items():
        about = f"---\nchannel: {channel}\nthread: '{thread}'\n---\n"
        (files / f"{name}.md").write_text(about + text)
    library.add([files])
    found = library.search("valve leaks", options=SearchOptions(by="thread"))
    assert sorted(result.passages for result in found) == [1, 1, 2]
    assert len(library.search("valve leaks", options=SearchOptions(by="document"))) == 4
