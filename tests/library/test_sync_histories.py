"""Random histories of a source on a library in a folder: the library equals the source, and nothing
was embedded twice. `tests/sources/test_histories.py` has them for every connector, in memory."""

from pathlib import Path
from random import Random

from trivium.store.embedded.backend import open_embedded
from trivium.testing.sync_histories import Life, ToyWorld, live


def test_histories_in_a_folder(tmp_path: Path) -> None:
    for seed in range(6):
        life = Life(Random(seed))
        place = tmp_path / str(seed)
        try:
            live(life, ToyWorld(life), lambda place=place: open_embedded(place))  # type: ignore[misc]
        except AssertionError as wrong:
            raise AssertionError(f"seed {seed}: {wrong}") from wrong
