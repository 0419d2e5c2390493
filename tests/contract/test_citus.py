"""Every part's contract, and random histories, on a library that is spread over several nodes."""

from collections.abc import Iterator
from dataclasses import replace
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, settings
from tests import citus

from trivium.errors import DatabaseAway
from trivium.places import DatabaseAddress
from trivium.ports import Backend
from trivium.store.postgres.address import parse
from trivium.store.postgres.backend import open_postgres
from trivium.testing.backend_contract import BackendContract
from trivium.testing.backend_machine import BackendMachine
from trivium.testing.samples import found, put, sample
from trivium.types import OWNER, Signal

pytestmark = citus.needed
NAME = f"test_{uuid4().hex[:12]}"


@pytest.fixture(scope="module", autouse=True)  # the machine takes no fixtures
def place() -> Iterator[DatabaseAddress]:
    with citus.schema(NAME) as place:
        yield place


class TestCitus(BackendContract):
    @pytest.fixture
    def backend(self, place: DatabaseAddress) -> Iterator[Backend]:
        backend = open_postgres(parse(place), incoming=100)
        yield backend
        backend.close()
        citus.empty(NAME)


class CitusMachine(BackendMachine):
    @staticmethod
    def make() -> Backend:
        backend = open_postgres(parse(DatabaseAddress(f"{citus.ADDRESS}?schema={NAME}")))

        def close() -> None:
            backend.close()
            citus.empty(NAME)

        return replace(backend, close=close)


TestCongruence = CitusMachine.TestCase
TestCongruence.settings = settings(
    max_examples=10,
    stateful_step_count=15,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)


def test_a_node_that_is_away_is_an_error_to_try_again(place: DatabaseAddress) -> None:
    backend = open_postgres(parse(place))
    put(backend, *(sample(f"{i}.md", f"Lantern {i} burns.") for i in range(8)))
    with citus.node_away():
        for signal in Signal:
            with pytest.raises(DatabaseAway, match="node of the database"):
                found(backend, signal, "lantern")
        with pytest.raises(DatabaseAway):
            put(backend, *(sample(f"new {i}.md", "A candle burns.") for i in range(8)))
    for signal in Signal:
        assert len(found(backend, signal, "lantern")) == 8
    assert len(backend.documents.all(OWNER)) == 8
    backend.close()
    citus.empty(NAME)


def test_a_library_goes_to_the_nodes_and_back_with_all_it_holds() -> None:
    name = f"test_{uuid4().hex[:12]}"
    with citus.schema(name) as place:
        backend = open_postgres(parse(place))
        assert backend.nodes is not None
        assert backend.nodes.gather().shards == 0
        put(backend, sample("a.md", "A lantern burns."))
        put(backend, sample("a.md", "A candle burns."))
        put(backend, sample("b.md", "Ships sail at dawn."))
        told = [*(backend.documents.all(OWNER)), *backend.documents.history(1, OWNER)]
        for change, shards in (
            (lambda: backend.nodes.distribute(2), 2),
            (backend.nodes.distribute, 2),  # nothing to do
            (lambda: backend.nodes.distribute(3), 3),
            (backend.nodes.gather, 0),
        ):
            assert change().shards == shards
            for signal in Signal:
                assert found(backend, signal, "candle")[0] == "A candle burns."
            assert [
                *(backend.documents.all(OWNER)),
                *backend.documents.history(1, OWNER),
            ] == told
            assert all(finding.ok for finding in backend.upkeep.examine())
        backend.writer.remove([1])
        assert backend.documents.history(1, OWNER) == []
        backend.close()
