"""Every part's contract, on the folder and on PostgreSQL; that of the signals on the reference too,
whose other parts are the folder's."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests import postgres
from tests.contract.backend_contract import BackendContract
from tests.contract.signals_contract import SignalsContract
from tests.reference import open_memory

from trivium.ports import Backend
from trivium.store.embedded.backend import open_embedded
from trivium.store.postgres.address import parse
from trivium.store.postgres.backend import open_postgres


class TestReference(SignalsContract):
    @pytest.fixture
    def backend(self) -> Iterator[Backend]:
        backend = open_memory()
        yield backend
        backend.close()


class TestEmbedded(BackendContract):
    @pytest.fixture
    def backend(self, tmp_path: Path) -> Iterator[Backend]:
        backend = open_embedded(tmp_path / "library", incoming=100)
        yield backend
        backend.close()


class TestPostgres(BackendContract):
    @pytest.fixture
    def backend(self) -> Iterator[Backend]:
        with postgres.library() as address:
            backend = open_postgres(parse(address), incoming=100)
            yield backend
            backend.close()
