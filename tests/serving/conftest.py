from collections.abc import Iterator

import pytest
from starlette.testclient import TestClient
from tests.serving.shelf import client, shelve

from trivium.library import Library


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    """Four documents; tests that change something make their own."""
    with shelve(tmp_path_factory.mktemp("served") / "library") as library:
        yield library


@pytest.fixture(scope="session")
def owner(library: Library) -> Iterator[TestClient]:
    with client(library) as opened:
        yield opened


@pytest.fixture(scope="session")
def player(library: Library) -> Iterator[TestClient]:
    """Sees the rules that all may see, and may only search."""
    _, token = library.tokens.create(audiences=["player"], collections=["rules"], name="player")
    with client(library, token) as opened:
        yield opened


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    """A library of a module's own, to change."""
    with shelve(tmp_path_factory.mktemp("tended") / "library") as library:
        yield library


@pytest.fixture(scope="module")
def tended(shelf: Library) -> Iterator[TestClient]:
    """Its owner, at a server that keeps it going."""
    with client(shelf, tend=True) as opened:
        yield opened
