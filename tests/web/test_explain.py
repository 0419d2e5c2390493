"""The picture of how the signals combined agrees with the results."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from starlette.datastructures import QueryParams
from tests.serving.shelf import shelve

from trivium.core.types import Signal
from trivium.library import Library
from trivium.operations.searching import SearchOptions
from trivium.web.explain import ROW, WIDTH, picture
from trivium.web.state import SearchState


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    with shelve(tmp_path_factory.mktemp("explained") / "library") as library:
        yield library


def test_each_result_stands_where_its_ranks_say(library: Library) -> None:
    results = library.search("crown of the harbour")
    drawn = picture(results, 2)
    assert [lane.result.rank for lane in drawn.lanes] == [r.rank for r in results]
    assert [lane.chosen for lane in drawn.lanes].index(True) == 1
    for signal in Signal:
        nodes = [n for lane in drawn.lanes for n in lane.nodes if n.signal == signal.value]
        assert sorted(nodes, key=lambda n: n.y) == sorted(nodes, key=lambda n: n.rank)
        assert len(nodes) == sum(signal in r.signals for r in results)


def test_a_line_touches_only_the_signals_that_found_its_result(library: Library) -> None:
    results = library.search("crown of the harbour")
    drawn = picture(results, 1)
    skipped = 0
    for lane in drawn.lanes:
        own = {(node.x, node.y) for node in lane.nodes}
        for x, y in re.findall(r"([\d.]+) ([\d.]+)(?=C|$)", lane.path):
            at = (float(x), float(y))
            if at in own or at[0] == drawn.fused:
                continue
            skipped += 1
            near = [n for other in drawn.lanes for n in other.nodes if n.x == at[0]]
            assert all(abs(node.y - at[1]) >= ROW / 2 for node in near)
    assert skipped, "no result of this query lacks a signal"


def test_bars_are_in_proportion(library: Library) -> None:
    results = library.search("crown")
    drawn = picture(results, 0)
    assert drawn.chosen is None
    for lane in drawn.lanes:
        assert sum(part.value for part in lane.bar) == pytest.approx(lane.result.score)
    best = drawn.lanes[0].bar
    assert best[-1].x + best[-1].width == pytest.approx(WIDTH, abs=4)
    assert sum(part.value for part in drawn.times) == pytest.approx(
        sum(results.timings_ms.values())
    )


def test_words_in_order_are_a_part_of_the_bar_and_of_the_table(library: Library) -> None:
    said = " ".join(library.search("crown")[0].found.chunk.text.split()[-5:])
    drawn = picture(library.search(said), 1)
    (bar, *_), row = drawn.lanes, drawn.rows[-1]
    assert bar.bar[-1].kind == row.kind == "order"
    assert row.name == f"{row.name.split()[0]} of {row.name.split()[0]} words in order"
    assert sum(part.value for part in bar.bar) == pytest.approx(bar.result.score)
    assert sum(float(one.gives) for one in drawn.rows) == pytest.approx(bar.result.score, abs=0.003)


def test_several_queries_have_one_bar_and_their_own_decisions(library: Library) -> None:
    drawn = picture(
        library.search(["crown", "harbour"], options=SearchOptions(combine="maximum")), 1
    )
    assert [one.text for one in drawn.decided] == ["crown", "harbour"]
    assert all([part.kind for part in lane.bar] in (["match"], []) for lane in drawn.lanes)


@pytest.mark.parametrize(
    "address",
    [
        "/",
        "/?q=crown",
        "/?q=a%20b&q=c&combine=maximum&mode=keyword&by=document&n=20&rerank=1&hyde=1&expand=1",
        "/?q=x&weights=fixed&wv=0&wk=100&wt=5&collection=a&collection=b&category=c&type=pdf",
        "/?q=x&source=%237&where=year%3E%3D2020&explain=3",
    ],
)
def test_the_address_holds_the_whole_state(address: str) -> None:
    state = SearchState.of(QueryParams(address.partition("?")[2]))
    assert state.address == address
    assert SearchState.of(QueryParams(state.address.partition("?")[2])) == state
