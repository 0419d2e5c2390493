import pytest
from hypothesis import given
from hypothesis import strategies as st

from trivium.search.fuse import reciprocal_rank
from trivium.types import Hit, Signal

LISTS = st.dictionaries(
    st.sampled_from(list(Signal)),
    st.lists(st.integers(1, 20), unique=True).map(lambda ids: [Hit(i, 1 / i) for i in ids]),
)
WEIGHTS = st.fixed_dictionaries({s: st.floats(0, 1) for s in Signal})


def test_the_formula() -> None:
    fused = reciprocal_rank(
        {Signal.VECTOR: [Hit(1, 0.9), Hit(2, 0.8)], Signal.KEYWORD: [Hit(2, 7.0)]},
        {Signal.VECTOR: 0.5, Signal.KEYWORD: 0.3},
        k=10,
    )
    assert [(f.chunk_id, f.score) for f in fused] == [
        (2, pytest.approx(0.5 / 12 + 0.3 / 11)),
        (1, pytest.approx(0.5 / 11)),
    ]
    assert fused[0].parts[Signal.KEYWORD].rank == 1
    assert fused[0].parts[Signal.KEYWORD].score == 7.0


@given(LISTS, WEIGHTS, st.floats(0.1, 100))
def test_parts_add_up_and_the_order_is_total(
    lists: dict[Signal, list[Hit]], weights: dict[Signal, float], k: float
) -> None:
    fused = reciprocal_rank(lists, weights, k)
    for one in fused:
        assert one.score == pytest.approx(sum(p.contribution for p in one.parts.values()))
    assert [(-f.score, f.chunk_id) for f in fused] == sorted((-f.score, f.chunk_id) for f in fused)
    found = {hit.chunk_id for s, hits in lists.items() if weights[s] for hit in hits}
    assert {f.chunk_id for f in fused} == found


@given(LISTS, WEIGHTS)
def test_the_order_of_the_lists_does_not_matter(
    lists: dict[Signal, list[Hit]], weights: dict[Signal, float]
) -> None:
    backwards = dict(reversed(lists.items()))
    assert reciprocal_rank(lists, weights, 10) == reciprocal_rank(backwards, weights, 10)
