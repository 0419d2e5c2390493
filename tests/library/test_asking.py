"""What a search can be asked for beyond words: several queries, documents, filters, context."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trivium.config import Settings
from trivium.core.errors import BadFilter, BadSetting, DocumentNotFound, EmptyQuery, TriviumError
from trivium.core.results import Results
from trivium.core.types import Combine, Compare, Granularity, Signal
from trivium.library import Library
from trivium.operations.searching import Filters, SearchOptions
from trivium.search.multi import combined, shown
from trivium.store.embedded.backend import open_embedded
from trivium.testing.samples import TOY

PAPERS = {
    "care.md": ("Trust in care", 2019, ["machine learning in hospitals", "ethics of machines"]),
    "law.md": ("Law of machines", 2021, ["ethics and liability", "contracts and courts"]),
    "sea.md": ("Harbours", 2022, ["tides and fog", "machine learning of tides"]),
}


@pytest.fixture(scope="module")
def papers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    """Four documents, for tests that only read."""
    files = tmp_path_factory.mktemp("papers")
    for name, (title, year, paragraphs) in PAPERS.items():
        body = "\n\n".join(f"## Part {i}\n\n{text}." for i, text in enumerate(paragraphs))
        (files / name).write_text(f"---\ntitle: {title}\nyear: {year}\n---\n{body}\n")
    (files / "secret.md").write_text("---\naudience: board\nbudget: 5\n---\nmachine ethics costs")
    store = open_embedded(tmp_path_factory.mktemp("asked") / "library")
    with Library(store, TOY, Settings()) as library:
        library.add(files)
        yield library


def titles(results: Results) -> list[str]:
    return [result.found.document.title for result in results]


# --- several queries


@pytest.mark.parametrize(
    ("combine", "score"),
    [("minimum", 0.68), ("product", 0.7466), ("average", 0.75), ("maximum", 0.85)],
)
def test_the_formulas(combine: str, score: float) -> None:
    assert combined([0.85, 0.72, 0.68], Combine(combine)) == pytest.approx(score, abs=1e-4)


def test_the_display_form() -> None:
    assert shown(0.73, [0.85, 0.72, 0.68]) == "73% (85|72|68)"


def test_and_finds_only_what_every_query_finds(papers: Library) -> None:
    both = papers.search(
        ["learning", "ethics"], options=SearchOptions(mode="keyword", by="document")
    )
    assert titles(both) == ["Trust in care"]
    (result,) = both
    assert result.score == min(part.match for part in result.queries)
    assert len(result.queries) == 2
    either = papers.search(
        ["learning", "ethics"],
        options=SearchOptions(mode="keyword", by="document", combine="maximum"),
    )
    assert set(titles(either)) > {"Trust in care", "Law of machines", "Harbours"}
    assert all(r.score == max(part.match for part in r.queries) for r in either)


def test_by_passage_every_query_must_find_the_same_passage(papers: Library) -> None:
    assert not papers.search(["learning", "ethics"], options=SearchOptions(mode="keyword"))
    found = papers.search(
        ["ethics", "machines"],
        options=SearchOptions(mode="keyword"),
        filters=Filters(source="care.md"),
    )
    assert [r.found.chunk.text for r in found] == ["Part 1\n\nethics of machines."]


@pytest.mark.parametrize("combine", list(Combine))
def test_every_score_of_several_queries_is_explained(papers: Library, combine: Combine) -> None:
    for result in papers.search(
        ["machine learning", "tides"], options=SearchOptions(combine=combine)
    ):
        assert result.score == pytest.approx(combined([p.match for p in result.queries], combine))
        for part in result.queries:
            assert part.score == pytest.approx(sum(s.contribution for s in part.signals.values()))


# --- documents and passages


def test_a_document_comes_once_with_its_best_passage(papers: Library) -> None:
    results = papers.search(
        "ethics of machine learning", options=SearchOptions(by=Granularity.DOCUMENT)
    )
    assert len(set(titles(results))) == len(results) == 4
    passages = papers.search("ethics of machine learning", 100)
    best: dict[str, int] = {}
    for result in passages:
        best.setdefault(result.found.document.title, result.found.id)
    assert {r.found.document.title: r.found.id for r in results} == best


def test_as_many_documents_as_asked_for_are_found(library: Library, files: Path) -> None:
    (files / "long.md").write_text("\n\n".join(f"## H{i}\n\nfog {i}" for i in range(150)))
    for i in range(5):
        (files / f"{i}.md").write_text(f"a bit of fog and other words, number {i}")
    library.add(files)
    assert len(library.search("fog", 6, options=SearchOptions(by="document"))) == 6


def test_the_text_around_a_passage(papers: Library) -> None:
    (first, *_) = papers.search(
        "ethics of machines", options=SearchOptions(expand=True), filters=Filters(source="care.md")
    )
    assert "hospitals" in first.before
    assert first.after == ""
    assert all(
        len(r.before) <= 500 and len(r.after) <= 500
        for r in papers.search("a", options=SearchOptions(expand=True))
    )
    assert papers.search("ethics of machines")[0].before == ""


# --- filters


@pytest.mark.parametrize(
    ("where", "found"),
    [
        ("year>=2021", {"Law of machines", "Harbours"}),
        ("year:2019..2021", {"Trust in care", "Law of machines"}),
        ("year:2019,2022", {"Trust in care", "Harbours"}),
        ("-year:2019 type:markdown budget:*", {"secret.md"}),
        ("source:sea.md OR year<2020", {"Trust in care", "Harbours"}),
        (Compare("year", "eq", 2022), {"Harbours"}),
    ],
)
def test_filters_as_typed(papers: Library, where: str, found: set[str]) -> None:
    names = titles(papers.search("machine ethics tides law", filters=Filters(where=where)))
    assert {"secret.md" if "secret" in name else name for name in names} == found


def test_an_unknown_field_is_an_error_that_names_it(papers: Library) -> None:
    with pytest.raises(BadFilter, match=r"`yaer`.*Did you mean `year`"):
        papers.search("machine", filters=Filters(where="yaer>2000"))
    # A caller may not even learn that a hidden field exists.
    with pytest.raises(BadFilter) as error:
        papers.search("machine", filters=Filters(where="budget:5", audiences=["guest"]))
    assert "budget" not in error.value.fix
    assert papers.search("machine", filters=Filters(where="budget:5", audiences=["board"]))


def test_a_document_of_an_impossible_number_is_not_there(papers: Library) -> None:
    assert not papers.search("machine", filters=Filters(where="source:#99999999999999999999"))


def test_a_single_label_is_one_audience(papers: Library) -> None:
    assert papers.search(
        "machine ethics costs", filters=Filters(audiences="board", where="budget:5")
    )


def test_a_filter_makes_no_word_unknown(papers: Library) -> None:
    analysis = papers.search("tides", filters=Filters(source="law.md")).analysis
    assert (analysis.unknown, analysis.suggestion) == ((), "")


# --- likeness


def test_documents_and_passages_like_one(papers: Library) -> None:
    like = papers.similar("care.md")
    assert "Trust in care" not in titles(like)
    assert len(like) == 3
    assert [r.score for r in like] == sorted((r.score for r in like), reverse=True)
    own = papers.show("care.md").passages[0]
    passages = papers.similar("care.md", passage=0)
    assert own.id not in {r.found.id for r in passages}
    assert len(passages) == 6
    few = papers.similar("care.md", filters=Filters(audiences=["guest"], where="year>=2022"))
    assert titles(few) == ["Harbours"]
    with pytest.raises(DocumentNotFound):
        papers.similar("care.md", passage=99)


# --- nonsense


Bad = tuple[Callable[[Library], object], type[TriviumError], str]
NONSENSE: dict[str, Bad] = {
    "five queries": (lambda lib: lib.search(["a"] * 5), BadSetting, "queries"),
    "no query": (lambda lib: lib.search([]), BadSetting, "queries"),
    "an empty one": (lambda lib: lib.search(["fog", " "]), EmptyQuery, "query"),
    "k": (lambda lib: lib.search("a", options=SearchOptions(k=0)), BadSetting, "k"),
    "by": (lambda lib: lib.search("a", options=SearchOptions(by="page")), BadSetting, "by"),
    "combine": (
        lambda lib: lib.search(["a", "b"], options=SearchOptions(combine="sum")),
        BadSetting,
        "combine",
    ),
    "mode": (lambda lib: lib.search("a", options=SearchOptions(mode="best")), BadSetting, "mode"),
    "no weight": (
        lambda lib: lib.search("a", options=SearchOptions(weights=dict.fromkeys(Signal, 0.0))),
        BadSetting,
        "weights",
    ),
    "weights of one signal": (
        lambda lib: lib.search(
            "a", options=SearchOptions(mode="keyword", weights={Signal.KEYWORD: 1.0})
        ),
        BadSetting,
        "weights",
    ),
    "a threshold without vectors": (
        lambda lib: lib.search("a", options=SearchOptions(mode="fuzzy", threshold=0.3)),
        BadSetting,
        "threshold",
    ),
    "analysis of fixed weights": (
        lambda lib: lib.search(
            "a", options=SearchOptions(weights={Signal.VECTOR: 1.0}, analysis=True)
        ),
        BadSetting,
        "analysis",
    ),
    "one query combined": (
        lambda lib: lib.search("a", options=SearchOptions(combine="product")),
        BadSetting,
        "combine",
    ),
    "too much to rerank": (
        lambda lib: lib.search("a", 500, options=SearchOptions(rerank=True)),
        BadSetting,
        "limit",
    ),
    "a limit as text": (lambda lib: lib.search("a", "5"), BadSetting, "limit"),
    "half a result": (lambda lib: lib.search("a", 2.5), BadSetting, "limit"),
    "k as text": (lambda lib: lib.search("a", options=SearchOptions(k="x")), BadSetting, "k"),
    "a threshold as text": (
        lambda lib: lib.search("a", options=SearchOptions(threshold="x")),
        BadSetting,
        "threshold",
    ),
    "weights as text": (
        lambda lib: lib.search("a", options=SearchOptions(weights={"vector": "1"})),
        BadSetting,
        "vector",
    ),
    "weights as list": (
        lambda lib: lib.search("a", options=SearchOptions(weights=[1, 1])),
        BadSetting,
        "weights",
    ),
    "weights of nothing": (
        lambda lib: lib.search("a", options=SearchOptions(weights={"x": 1.0})),
        BadSetting,
        "weights",
    ),
    "nothing": (lambda lib: lib.search(None), BadSetting, "query"),
    "numbers": (lambda lib: lib.search([1, 2]), BadSetting, "query"),
    "a source as number": (
        lambda lib: lib.search("a", filters=Filters(source=3)),
        BadFilter,
        "source",
    ),
    "an audience as number": (
        lambda lib: lib.search("a", filters=Filters(audiences=[1])),
        BadSetting,
        "audiences",
    ),
    "a filter as number": (
        lambda lib: lib.search("a", filters=Filters(where=5)),
        BadFilter,
        "filter",
    ),
    "unknown metadata": (
        lambda lib: lib.search("a", filters=Filters(metadata={"no": 1})),
        BadFilter,
        "no",
    ),
    "a long filter": (
        lambda lib: lib.search("a", filters=Filters(where="a:1 " * 3000)),
        BadFilter,
        "characters",
    ),
    "a wide filter": (
        lambda lib: lib.search("a", filters=Filters(where=f"type:{','.join('abc' * 100)}")),
        BadFilter,
        "conditions",
    ),
    "many names": (
        lambda lib: lib.search(
            "a", filters=Filters(where=f'author:"{" ".join(map(str, range(300)))}"')
        ),
        BadFilter,
        "names",
    ),
    "no date": (
        lambda lib: lib.search("a", filters=Filters(where="added>=yesterday")),
        BadFilter,
        "date",
    ),
    "no order": (
        lambda lib: lib.search("a", filters=Filters(where="language>5")),
        BadFilter,
        "language",
    ),
    "no filter": (lambda lib: lib.search("a", filters=Filters(where="year>")), BadFilter, "year"),
}


@pytest.mark.parametrize("name", NONSENSE)
def test_nonsense_is_refused_by_name(papers: Library, name: str) -> None:
    ask, kind, field = NONSENSE[name]
    with pytest.raises(kind, match=field) as error:
        ask(papers)
    assert error.value.fix


@settings(max_examples=40)
@given(
    st.lists(st.sampled_from(["machine", "ethics", "tides", "-fog", "harbor"]), min_size=1),
    st.sampled_from(["passage", "document"]),
    st.sampled_from([[], ["guest"], ["board"]]),
)
def test_nobody_sees_what_is_not_for_them(
    papers: Library, words: list[str], by: str, audiences: list[str]
) -> None:
    try:
        results = papers.search(
            " ".join(words),
            options=SearchOptions(by=by, expand=True),
            filters=Filters(audiences=audiences),
        )
    except EmptyQuery:
        return
    allowed = {"all", *audiences}
    assert all(r.found.document.audience in allowed for r in results)
    assert not any("costs" in r.before + r.after for r in results if "board" not in allowed)
