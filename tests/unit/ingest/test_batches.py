"""How many documents a model gets at once."""

import pytest

from trivium.ingest.batches import BATCH_TOKENS, Batches
from trivium.ingest.embedding import Embedding
from trivium.store.memory.backend import open_memory
from trivium.testing.samples import ToyEmbedder


@pytest.mark.parametrize(
    ("past", "times"),
    [
        ([], 1),
        ([(1, 0.1)], 2),
        ([(1, 0.1), (2, 0.1), (4, 0.1), (8, 0.1)], 8),  # and no more
        ([(1, 0.1), (1, 0.1)], 2),  # the second was not full
        ([(1, 1.0)], 1),
        ([(1, 0.1), (2, 1.0)], 2),
        ([(1, 0.1), (2, 0.1), (4, 5.0)], 1),
    ],
)
def test_a_fast_model_gets_more_at_once(past: list[tuple[int, float]], times: int) -> None:
    embedding = Embedding(open_memory(), ToyEmbedder())
    batches = Batches(embedding, lambda batch, made: None, lambda bug: None)
    for full, seconds in past:
        batches._size_up(full * BATCH_TOKENS, seconds)
    assert batches._times == times
