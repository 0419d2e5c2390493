from collections.abc import Iterator
from pathlib import Path

import pytest

from trivium.ports import Backend
from trivium.store.embedded.backend import open_embedded
from trivium.store.memory.backend import open_memory
from trivium.testing.store_contract import StoreContract


class TestMemoryStore(StoreContract):
    @pytest.fixture
    def store(self) -> Backend:
        return open_memory()


class TestEmbeddedStore(StoreContract):
    @pytest.fixture
    def store(self, tmp_path: Path) -> Iterator[Backend]:
        store = open_embedded(tmp_path / "library")
        yield store
        store.close()
