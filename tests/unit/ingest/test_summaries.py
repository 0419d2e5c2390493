"""The summary in front of every chunk stays while most of a document does."""

from trivium.core.types import Chunk
from trivium.ingest.outcomes import hash_of
from trivium.ingest.summarising import steady
from trivium.ports import Summarised
from trivium.testing.samples import sample

CHUNKS = sample("a.md", *(f"Passage number {n}." for n in range(8))).chunks


def held(summary: str, chunks: tuple[Chunk, ...] = CHUNKS) -> Summarised:
    return Summarised(summary, frozenset(hash_of(c.embedded_under(summary)) for c in chunks))


def changed(count: int) -> tuple[Chunk, ...]:
    new = sample("a.md", *(f"Other words {n}." for n in range(count))).chunks
    return new + CHUNKS[count:]


def test_it_stays_while_half_of_the_chunks_do() -> None:
    for count in (0, 1, 4):
        assert steady("Fresh.", changed(count), held("Old.")) == "Old."
    assert steady("Fresh.", changed(5), held("Old.")) == "Fresh."


def test_without_one_before_the_fresh_one_is_taken() -> None:
    assert steady("Fresh.", CHUNKS, None) == "Fresh."
    assert steady("Fresh.", CHUNKS, held("")) == "Fresh."
    assert steady("Same.", CHUNKS, held("Same.")) == "Same."
