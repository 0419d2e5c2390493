"""The real frameworks ask the library, and get what the library answers."""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import pytest
from tests.serving.shelf import SECRET, shelve

from trivium.core.access import caller_of, mint
from trivium.library import Library
from trivium.operations.searching import Filters, SearchOptions

PLAYER = caller_of(*reversed(mint("", audiences=["player"], collections=["rules"])))


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    with shelve(tmp_path_factory.mktemp("retrieved") / "library") as library:
        yield library


def test_langchain_retrieves(library: Library) -> None:
    from langchain_core.runnables import RunnableLambda

    from trivium.integrations.langchain import TriviumRetriever

    retriever = TriviumRetriever(library=library, limit=3)
    found = retriever.invoke("crown harbour")
    direct = library.search("crown harbour", 3)
    assert [one.page_content for one in found] == [r.found.chunk.text for r in direct]
    assert found[0].metadata["title"] == "The Crown"
    assert found[0].metadata["source"] == "crown.md"
    chain = retriever | RunnableLambda(lambda documents: [one.id for one in documents])
    assert chain.invoke("crown harbour")[0] == "2-0"
    filtered = TriviumRetriever(library=library, filters=Filters(where="year:2021"))
    assert {one.metadata["document"] for one in filtered.invoke("crown axe")} == {1}
    seen = TriviumRetriever(library=library, within=PLAYER.within()).invoke(f"crown {SECRET}")
    assert {one.metadata["document"] for one in seen} == {1, 2}
    weak = [one.metadata["weak"] for one in found]
    assert weak == [not direct.fits(r) for r in direct]
    good = SearchOptions(min_match=direct[0].match)
    best = TriviumRetriever(library=library, options=good).invoke("crown harbour")
    assert [one.id for one in best] == [found[0].id]


def test_llamaindex_retrieves(library: Library) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the framework's own making, while it is imported
        from trivium.integrations.llamaindex import TriviumRetriever

        retriever = TriviumRetriever(library, limit=3)
        found = retriever.retrieve("crown harbour")
    direct = library.search("crown harbour", 3)
    assert [one.node.get_content() for one in found] == [r.found.chunk.text for r in direct]
    assert [one.score for one in found] == [r.score for r in direct]
    assert found[0].node.metadata["title"] == "The Crown"
    seen = TriviumRetriever(library, within=PLAYER.within()).retrieve(f"crown {SECRET}")
    assert {one.node.metadata["document"] for one in seen} == {1, 2}
