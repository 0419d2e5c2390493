"""Random histories of a source: the library equals it, and nothing was embedded twice."""

import tempfile
from pathlib import Path

import pytest

from trivium.store.embedded.backend import open_embedded
from trivium.store.memory.backend import open_memory
from trivium.testing.sync_histories import live


@pytest.mark.parametrize("block", range(4))
def test_histories_in_memory(block: int) -> None:
    for seed in range(block * 25, block * 25 + 25):
        try:
            live(seed, open_memory)
        except AssertionError as wrong:
            raise AssertionError(f"seed {seed}: {wrong}") from wrong


def test_histories_in_a_folder() -> None:
    for seed in range(1_000, 1_008):
        with tempfile.TemporaryDirectory(prefix="trivium-") as aside:
            live(seed, lambda aside=aside: open_embedded(Path(aside)))  # type: ignore[misc]
