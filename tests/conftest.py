"""What all tests share: one place for model files, so that the graph is built once a run."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.language_model import serving

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="session")
def cache_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="session", autouse=True)
def environment(cache_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """No setting of the machine reaches a test, nor does a test reach the user's files."""
    patch = pytest.MonkeyPatch()
    for name in [name for name in os.environ if name.startswith("TRIVIUM_")]:
        patch.delenv(name)
    home = tmp_path_factory.mktemp("home")
    patch.setenv("TRIVIUM_CACHE", str(cache_folder))
    patch.setenv("TRIVIUM_CONFIG", str(home / "config.toml"))
    patch.setenv("TRIVIUM_LIBRARY", str(home / "library"))
    yield
    patch.undo()


@pytest.fixture(scope="session")
def language_model() -> Iterator[str]:
    """Address of a real small model's server: chat and embeddings."""
    with serving() as address:
        yield address
