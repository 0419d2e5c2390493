"""Every part's contract, and random histories, on a library that is spread over several nodes."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, settings
from sqlalchemy.exc import ProgrammingError
from tests import citus
from tests.contract.backend_contract import BackendContract
from tests.contract.backend_machine import BackendMachine

from trivium.core.errors import DatabaseAway
from trivium.core.places import DatabaseAddress
from trivium.core.results import Results
from trivium.core.types import OWNER, Place, Signal, Where
from trivium.ports import Backend
from trivium.search.request import SearchRequest
from trivium.store.postgres.address import parse
from trivium.store.postgres.backend import open_postgres
from trivium.testing.samples import found, put, sample

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


@pytest.fixture(scope="module")
def lanterns(place: DatabaseAddress) -> Iterator[Backend]:
    """24 documents of two passages on both nodes; every third one is for the crew only."""
    backend = open_postgres(parse(place))
    put(
        backend,
        *(
            sample(
                f"{i}.md",
                f"Lantern {i} burns low.",
                f"An old lantern number {i}.",
                audience="crew" if i % 3 == 0 else "all",
                places=[Place(sheet="first"), Place(sheet="second")],
            )
            for i in range(24)
        ),
    )
    yield backend
    backend.close()
    citus.empty(NAME)


def asked(query: str, where: Where = OWNER, **options: Any) -> SearchRequest:
    return SearchRequest((query,), where, limit=100, **options)


def ids(results: Results) -> list[int]:
    assert [result.rank for result in results] == [*range(1, len(results) + 1)]
    return [result.found.id for result in results]


def test_libraries_in_one_database_have_shards_of_their_own() -> None:
    first, other = (f"test_{uuid4().hex[:12]}" for _ in range(2))
    with citus.schema(first) as here, citus.schema(other) as there:
        backends = [open_postgres(parse(one)) for one in (here, there)]
        for backend in backends:  # so that Citus could take their tables for one group
            put(backend, sample("a.md", "A lantern burns."))
            assert backend.nodes.distribute(3).shards == 3
        assert backends[0].nodes.distribute(2).shards == 2
        assert backends[1].nodes.spread().shards == 3
        for backend in backends:
            for signal in Signal:
                assert found(backend, signal, "lantern") == ["A lantern burns."]
            assert backend.documents.passages(1, OWNER)[0].chunk.text == "A lantern burns."
            backend.close()


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


def test_a_move_that_fails_at_its_graphs_can_be_made_again() -> None:
    name = f"test_{uuid4().hex[:12]}"
    with citus.schema(name) as place:
        backend = open_postgres(parse(place))
        put(backend, *(sample(f"{i}.md", f"Lantern {i} burns.") for i in range(8)))
        backend.nodes.distribute(2)
        with citus.no_graphs(), pytest.raises(ProgrammingError, match="no graphs"):
            backend.nodes.distribute(3)
        for shards in (3, 3, 0):
            for signal in Signal:  # also with passages in 3 shards and vectors still in 2
                assert len(found(backend, signal, "lantern")) == 8
            assert all(finding.ok for finding in backend.upkeep.examine())
            moved = backend.nodes.distribute(shards) if shards else backend.nodes.gather()
            assert moved.shards == shards
        backend.close()
