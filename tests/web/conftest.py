from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient
from tests.serving.shelf import client, shelve

from trivium.library import Library
from trivium.web.site import furnish


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    """Four documents, for tests that change something."""
    with shelve(tmp_path / "library") as library:
        yield library


@pytest.fixture
def owner(library: Library) -> Iterator[TestClient]:
    with client(library, furnish=furnish, tend=True, origins={"library": "a test"}) as opened:
        yield opened
