"""Passages that say the query word for word."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.reference import open_memory

from trivium.core.results import OrderPart
from trivium.core.types import ChunkId, Mode, Query, StoredChunk, Where
from trivium.search.fuse import Fused, Fusion
from trivium.search.in_order import LOOKED_AT, in_order, with_bonus
from trivium.search.request import SearchRequest
from trivium.search.run import Searcher
from trivium.testing.samples import TOY, sample
from trivium.text.query import parse

SAID = "He said that it is not the end of it. Then they all left."
OTHER = "The end is not it: the end of it said it. Left all, then they."


def stored(*texts: str) -> list[StoredChunk]:
    store = open_memory()
    batch = [sample(f"{number}.md", text) for number, text in enumerate(texts)]
    store.writer.put(batch, TOY.fingerprint)
    return store.documents.chunks(range(1, len(texts) + 1), Where(None))


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("it is not the end of it", 7),
        ("It IS not; the end", 5),
        ("he said that it was not the end of it", 9),  # two runs of four
        ("is not the", 0),  # too short to say anything
        ("end the not is it", 0),
        ("it is not tomorrow the end of", 0),
        ("end of it then they", 5),
    ],
)
def test_runs_of_four_words_count(query: str, words: int) -> None:
    (passage,) = stored(SAID)
    asked = parse(query)
    part = in_order(asked, [passage]).get(passage.id)
    assert (part.words if part else 0) == words
    assert part is None or part.of == len(asked.words)


def test_of_a_long_text_the_beginning_counts() -> None:
    long = " ".join(f"w{number}" for number in range(200))
    (passage,) = stored(long)
    assert in_order(parse(long), [passage])[passage.id].words == 32


def searcher(*texts: str) -> Searcher:
    store = open_memory()
    batch = [sample(f"{number}.md", text) for number, text in enumerate(texts)]
    store.writer.put(batch, TOY.fingerprint)
    return Searcher(store, TOY)


def asked(text: str, **more: object) -> SearchRequest:
    return replace(SearchRequest((text,), Where(None), analysis=1.0), **more)


@pytest.mark.parametrize("limit", [1, 2, 10])
def test_who_says_it_is_first_whatever_the_limit(limit: int) -> None:
    here = searcher(OTHER, OTHER + " Of all.", SAID)
    query = "it is not the end of it"
    plain = here.search(asked(query, analysis=0.0, limit=10))
    assert plain[0].found.chunk.text != SAID
    assert all(result.in_order is None for result in plain)
    found = here.search(asked(query, limit=limit))
    assert found[0].found.chunk.text == SAID
    part = found[0].in_order
    assert part is not None
    assert (part.words, part.of) == (7, 7)
    fused = sum(signal.contribution for signal in found[0].signals.values())
    assert found[0].score == pytest.approx(fused + part.contribution)
    assert found.afterwards == (
        "Then passages that say words of the query in the same order count more."
    )


def test_one_signal_ranks_and_several_queries_have_no_bonus() -> None:
    here = searcher(OTHER, SAID)
    query = "it is not the end of it"
    both = asked(query, queries=(query, "they all left then"))
    ranks = asked(query, fusion=Fusion.RANKS)
    for request in (both, ranks, asked(query, mode=Mode.KEYWORD, analysis=0.0)):
        assert all(result.in_order is None for result in here.search(request))


def test_only_the_first_few_gain() -> None:
    fused = [Fused(ChunkId(at), 1 - at / 100, {}) for at in range(1, LOOKED_AT + 2)]
    parts = {ChunkId(at): OrderPart(4, 5, 0.0) for at in (LOOKED_AT, LOOKED_AT + 1)}
    first, *others = with_bonus(fused, parts)
    added = 0.99 * 0.8**3
    assert (first.chunk_id, first.score) == (LOOKED_AT, pytest.approx(0.9 + added))
    assert first.in_order == OrderPart(4, 5, pytest.approx(added))
    assert others == [one for one in fused if one.chunk_id != LOOKED_AT]


def test_a_query_without_words_has_no_order() -> None:
    assert in_order(Query("x"), stored(SAID)) == {}
