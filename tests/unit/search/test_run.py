"""Explanations add up for every search."""

from collections.abc import Sequence

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.reference import open_memory

from trivium.core.errors import EmptyQuery
from trivium.core.results import Result, Results
from trivium.core.types import Combine, Granularity, Mode, Signal, StoredChunk, Where
from trivium.search.fuse import Fusion
from trivium.search.match import MINILM, OTHER
from trivium.search.multi import combined
from trivium.search.request import Rerank, SearchRequest
from trivium.search.rerank import Shares
from trivium.search.run import Searcher
from trivium.testing.samples import TOY, sample

WORDS = ["fog", "harbour", "lantern", "crown", "battle", "axe", "short", "sword", "2021", "drowned"]
PARAGRAPH = st.lists(st.sampled_from(WORDS), min_size=1, max_size=6).map(" ".join)
DOCUMENT = st.tuples(
    st.lists(PARAGRAPH, min_size=1, max_size=4), st.sampled_from(["all", "dm-only"])
)
# Misspelled and unknown words, phrases and exclusions among them.
QUERY = st.lists(
    st.sampled_from([*WORDS, "harbor", "shortsword", "zymurgy", '"short sword"', "-fog", "OR"]),
    min_size=1,
    max_size=5,
).map(" ".join)


class Longest:
    """A reranker: the longer the better."""

    fingerprint = "longest"

    def scores(self, query: str, passages: Sequence[StoredChunk]) -> Sequence[float]:
        return [min(1.0, len(p.chunk.text) / 40) for p in passages]


REQUEST = st.builds(
    SearchRequest,
    queries=st.lists(QUERY, min_size=1, max_size=3).map(tuple),
    where=st.sampled_from([Where(None), Where(frozenset()), Where(frozenset({"dm-only"}))]),
    limit=st.integers(1, 8),
    mode=st.sampled_from(list(Mode)),
    by=st.sampled_from(list(Granularity)),
    combine=st.sampled_from(list(Combine)),
    fusion=st.sampled_from(list(Fusion)),
    analysis=st.sampled_from([0.0, 1.0]),
    correct=st.booleans(),
    fuse_documents=st.booleans(),
    match=st.sampled_from([None, MINILM, OTHER]),
    floor=st.sampled_from([0.0, 0.3]),
    rerank=st.none() | st.builds(Rerank, st.just(Shares()), st.just(30.0)),
    expand=st.booleans(),
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(DOCUMENT, min_size=1, max_size=6), REQUEST)
def test_every_answer_keeps_the_laws(
    documents: list[tuple[list[str], str]], request: SearchRequest
) -> None:
    store = open_memory()
    texts = enumerate(documents)
    batch = [sample(f"{n}.md", *text, audience=audience) for n, (text, audience) in texts]
    store.writer.put(batch, TOY.fingerprint)
    try:
        found = Searcher(store, TOY, reranker=Longest()).search(request)
    except EmptyQuery:
        return
    finally:
        store.close()
    assert len(found) <= request.limit
    assert [result.rank for result in found] == list(range(1, len(found) + 1))
    assert [r.score for r in found] == sorted((r.score for r in found), reverse=True)
    if request.match is not None and (len(request.queries) == 1 or request.rerank is None):
        assert [r.match for r in found] == sorted((r.match for r in found), reverse=True)
    assert found.weak == all(r.match < request.floor for r in found)
    assert all(stage_ms >= 0 for stage_ms in found.timings_ms.values())
    _once(found, request.by)
    for result in found:
        _adds_up(result, request)
        allowed = request.where.audiences
        assert allowed is None or result.found.document.audience in allowed | {"all"}
        assert 0 <= result.match <= 1


def _once(found: Results, by: Granularity) -> None:
    keys = [r.found.id if by is Granularity.PASSAGE else r.found.document.id for r in found]
    assert len(keys) == len(set(keys))


def _adds_up(result: Result, request: SearchRequest) -> None:
    fused = sum(part.contribution for part in result.signals.values())
    if result.in_order is not None:
        assert len(request.queries) == 1
        assert 4 <= result.in_order.words <= result.in_order.of
        fused += result.in_order.contribution
    if result.rerank is not None:
        part = result.rerank
        assert result.score == pytest.approx(part.rerank + part.hybrid + part.position)
    elif result.queries:
        matches = [part.match for part in result.queries]
        assert result.score == pytest.approx(combined(matches, request.combine))
    else:
        assert result.score == pytest.approx(fused)
    for query in result.queries:
        assert query.score == pytest.approx(sum(p.contribution for p in query.signals.values()))
    for part in result.signals.values():
        assert part.rank >= 1
        assert 0 <= part.contribution <= part.weight + 1e-9


@pytest.mark.parametrize("fusion", list(Fusion))
def test_weights_keep_their_sum_whatever_moves_them(fusion: Fusion) -> None:
    store = open_memory()
    store.writer.put([sample("a.md", *WORDS)], TOY.fingerprint)
    for query in ("Smith 2021", "how does a crown sink", "zymurgy fog", "AXE"):
        request = SearchRequest((query,), Where(None), analysis=1.0, correct=True, fusion=fusion)
        weights = Searcher(store, TOY).search(request).analysis.weights
        assert sum(weights.values()) == pytest.approx(1.0)
        assert set(weights) == set(Signal)
