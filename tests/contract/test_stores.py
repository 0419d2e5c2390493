from collections.abc import Iterator
from pathlib import Path

import pytest

from trivium.ports import Store
from trivium.store.embedded.store import EmbeddedStore
from trivium.store.memory import MemoryStore
from trivium.testing.store_contract import StoreContract


class TestMemoryStore(StoreContract):
    @pytest.fixture
    def store(self) -> Store:
        return MemoryStore()


class TestEmbeddedStore(StoreContract):
    @pytest.fixture
    def store(self, tmp_path: Path) -> Iterator[Store]:
        store = EmbeddedStore(tmp_path / "library")
        yield store
        store.close()
