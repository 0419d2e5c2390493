"""How much a model gets at once."""

import pytest

from trivium.ingest.embedding import BatchSize


@pytest.mark.parametrize(
    ("past", "size"),
    [
        ([], 10),
        ([(10, 0.1)], 20),
        ([(10, 0.1), (20, 0.1), (40, 0.1), (80, 0.1)], 80),  # and no more
        ([(10, 0.1), (10, 0.1)], 20),  # the second was not full
        ([(10, 1.0)], 10),
        ([(10, 0.1), (20, 1.0)], 20),
        ([(10, 0.1), (20, 0.1), (40, 5.0)], 10),
    ],
)
def test_a_fast_model_gets_more_at_once(past: list[tuple[int, float]], size: int) -> None:
    batch = BatchSize(10, 80)
    for given, seconds in past:
        batch.learn(given, seconds)
    assert batch.now == size
