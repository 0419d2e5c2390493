from collections.abc import Iterator
from pathlib import Path

import pytest

from trivium.config import Settings
from trivium.library import Library
from trivium.store.embedded.backend import open_embedded
from trivium.testing.samples import TOY


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    """An empty library without a model's weight: words hashed into vectors."""
    with Library(open_embedded(tmp_path / "library"), TOY, Settings()) as opened:
        yield opened


@pytest.fixture
def files(tmp_path: Path) -> Path:
    folder = tmp_path / "files"
    folder.mkdir()
    return folder
