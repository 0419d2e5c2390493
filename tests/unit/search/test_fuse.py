import pytest
from hypothesis import given
from hypothesis import strategies as st

from trivium.core.types import Hit, Signal
from trivium.search.fuse import DEPTH, Fusion, by_document, fuse

LISTS = st.dictionaries(
    st.sampled_from(list(Signal)),
    st.lists(st.integers(1, 20), unique=True).map(
        lambda ids: [Hit(i, 1 - rank / 40) for rank, i in enumerate(ids)]
    ),
)
WEIGHTS = st.fixed_dictionaries({s: st.floats(0, 1) for s in Signal})
FUSIONS = st.sampled_from(list(Fusion))
WEIGHED = {Signal.VECTOR: 0.5, Signal.KEYWORD: 0.3}


def test_by_ranks() -> None:
    lists = {Signal.VECTOR: [Hit(1, 0.9), Hit(2, 0.8)], Signal.KEYWORD: [Hit(2, 7.0)]}
    fused = fuse(lists, WEIGHED, Fusion.RANKS, k=10, most=9)
    assert [(f.chunk_id, f.score) for f in fused] == [
        (2, pytest.approx(0.5 / 12 + 0.3 / 11)),
        (1, pytest.approx(0.5 / 11)),
    ]
    assert fused[0].parts[Signal.KEYWORD].rank == 1
    assert fused[0].parts[Signal.KEYWORD].score == 7.0


def test_by_scores() -> None:
    lists = {
        Signal.VECTOR: [Hit(1, 0.9), Hit(2, 0.6), Hit(3, 0.3)],
        Signal.KEYWORD: [Hit(2, 8.0), Hit(3, 4.0)],
    }
    fused = fuse(lists, WEIGHED, Fusion.SCORES, k=10, most=9)
    assert [(f.chunk_id, f.score) for f in fused] == [
        (2, pytest.approx(0.5 * (0.02 + 0.98 * 0.5) + 0.3)),
        (1, pytest.approx(0.5)),
        (3, pytest.approx(0.5 * 0.02 + 0.3 * (0.02 + 0.98 * 0.5))),
    ]


def test_hits_beyond_the_scale_keep_their_order() -> None:
    hits = [Hit(1000 - n, 1 - n / 500) for n in range(200)]
    fused = fuse({Signal.VECTOR: hits}, WEIGHED, Fusion.SCORES, 10, 200)
    assert [f.chunk_id for f in fused] == [hit.chunk_id for hit in hits]
    assert all(f.score > 0 for f in fused)


def test_the_scale_does_not_depend_on_how_many_were_fetched() -> None:
    hits = [Hit(n, 1 / n) for n in range(1, 3 * DEPTH)]
    short = fuse({Signal.KEYWORD: hits[:DEPTH]}, WEIGHED, Fusion.SCORES, 10, 10)
    assert short == fuse({Signal.KEYWORD: hits}, WEIGHED, Fusion.SCORES, 10, 10)


@given(LISTS, WEIGHTS, FUSIONS, st.floats(0.1, 100))
def test_parts_add_up_and_the_order_is_total(
    lists: dict[Signal, list[Hit]], weights: dict[Signal, float], fusion: Fusion, k: float
) -> None:
    fused = fuse(lists, weights, fusion, k, 100)
    for one in fused:
        assert one.score == pytest.approx(sum(p.contribution for p in one.parts.values()))
    assert [(-f.score, f.chunk_id) for f in fused] == sorted((-f.score, f.chunk_id) for f in fused)
    found = {hit.chunk_id for s, hits in lists.items() if weights[s] for hit in hits}
    assert {f.chunk_id for f in fused} == found
    assert fuse(lists, weights, fusion, k, 3) == fused[:3]


@given(LISTS, WEIGHTS, FUSIONS)
def test_the_order_of_the_lists_does_not_matter(
    lists: dict[Signal, list[Hit]], weights: dict[Signal, float], fusion: Fusion
) -> None:
    backwards = dict(reversed(lists.items()))
    assert fuse(lists, weights, fusion, 10, 9) == fuse(backwards, weights, fusion, 10, 9)


def test_documents_are_ranked_by_their_best_passage() -> None:
    """Two documents of three passages, by hand: 1, 2 and 3 are of A, 4 to 6 of B."""
    documents = {1: "A", 2: "A", 3: "A", 4: "B", 5: "B", 6: "B"}
    lists = {
        Signal.VECTOR: [Hit(1, 0.9), Hit(2, 0.8), Hit(4, 0.7)],
        Signal.KEYWORD: [Hit(5, 9.0), Hit(6, 8.0), Hit(3, 7.0), Hit(99, 1.0)],
    }
    ranked = by_document(lists, documents)
    assert ranked == {
        Signal.VECTOR: [Hit(1, 0.9), Hit(4, 0.7)],
        Signal.KEYWORD: [Hit(4, 9.0), Hit(1, 7.0)],
    }
    # Each is first once and second once; fused by passage, A would have 1/61 and B 1/61 alone.
    fused = fuse(ranked, {Signal.VECTOR: 0.5, Signal.KEYWORD: 0.5}, Fusion.RANKS, 60.0, 10)
    assert [f.score for f in fused] == pytest.approx([0.5 / 61 + 0.5 / 62] * 2)
