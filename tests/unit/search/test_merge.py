from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from trivium.core.results import Result
from trivium.core.types import OWNER, StoredChunk
from trivium.search.merge import merge_neighbours
from trivium.store.memory.backend import open_memory
from trivium.testing.samples import TOY, sample

PARAGRAPHS = ["Alpha.", "Beta.", "Gamma.", "Delta.", "Epsilon."]


def stored() -> list[StoredChunk]:
    store = open_memory()
    for name in ("a.md", "b.md"):
        store.writer.put([sample(name, *PARAGRAPHS)], TOY.fingerprint)
    return [chunk for document in (1, 2) for chunk in store.documents.passages(document, OWNER)]


def results(order: Sequence[int]) -> list[Result]:
    chunks = stored()
    return [Result(rank, 1.0, 1.0, chunks[at], {}) for rank, at in enumerate(order, start=1)]


def test_neighbours_become_one_passage() -> None:
    blocks = merge_neighbours(results([1, 4, 2, 8]))
    assert [[r.rank for r in block.results] for block in blocks] == [[1, 3], [2], [4]]
    assert blocks[0].text == "Beta.\n\nGamma."


def test_a_hit_between_two_joins_them() -> None:
    (block,) = merge_neighbours(results([0, 2, 1]))
    assert block.text == "Alpha.\n\nBeta.\n\nGamma."


@given(st.permutations(range(10)), st.integers(0, 10))
def test_every_result_is_in_one_block(order: list[int], count: int) -> None:
    given_ = results(order[:count])
    blocks = merge_neighbours(given_)
    assert sorted(r.rank for b in blocks for r in b.results) == list(range(1, count + 1))
    assert [b.best.rank for b in blocks] == sorted(b.best.rank for b in blocks)
    for block in blocks:
        places = sorted(r.found.chunk.index for r in block.results)
        assert places == list(range(places[0], places[0] + len(places)))
        assert len({r.found.document.id for r in block.results}) == 1
