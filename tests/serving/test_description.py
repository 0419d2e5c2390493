"""The API is as it describes itself: schemathesis asks what it allows, and what it does not."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from fastapi.routing import APIRoute
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)
from tests.serving.shelf import shelve

from trivium.config import Settings
from trivium.http.app import create_app
from trivium.http.asked import Adder, Anyone, Keeper, Owner, Reader, Searcher
from trivium.http.routes import (
    documents,
    evaluations,
    files,
    jobs,
    query,
    search,
    sources,
    sync,
    tokens,
)
from trivium.library import Library
from trivium.operations.catalogue import OPERATIONS

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    with shelve(tmp_path_factory.mktemp("described") / "library") as library:
        yield library


@pytest.fixture(scope="module")
def api(shelf: Library) -> Any:
    app = create_app(shelf, Settings(serve_hosts="testserver"), open_to_all=True)
    return schemathesis.openapi.from_asgi("/openapi.json", app)


def test_every_route_keeps_its_word(api: Any) -> None:
    asked, modes = 0, (GenerationMode.POSITIVE, GenerationMode.NEGATIVE)
    for found in api.get_all_operations():

        @settings(
            max_examples=6,
            deadline=None,
            phases=[Phase.explicit, Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        @given(case=st.one_of([found.ok().as_strategy(generation_mode=mode) for mode in modes]))
        def ask(case: Any) -> None:
            case.call_and_validate(checks=CHECKS)

        ask()
        asked += 1
    assert asked > 40


def test_every_route_is_an_operation_of_the_catalogue(shelf: Library) -> None:
    """OpenAPI has its id and its line, and the route asks for the right that it needs."""
    app = create_app(shelf, Settings(), open_to_all=True)
    callers = {Owner: "owner", Keeper: "manage", Adder: "add", Anyone: "token"}
    callers |= {Reader: "search", Searcher: "search"}
    checks = {caller.__metadata__[0].dependency: needs for caller, needs in callers.items()}
    described = {
        one["operationId"]: one["summary"]
        for path in app.openapi()["paths"].values()
        for one in path.values()
    }
    asked = {
        route.name: [
            checks[dependency.call]
            for dependency in route.dependant.dependencies
            if dependency.call in checks
        ]
        for module in (search, query, documents, files, jobs, sources, sync, evaluations, tokens)
        for route in module.router.routes
        if isinstance(route, APIRoute)
    }
    for operation in OPERATIONS.values():
        assert described.pop(operation.id) == operation.says
        assert asked.pop(operation.id, [operation.needs]) == [operation.needs], operation.id
    assert set(described) == {"healthz", "readyz", "metrics"}
    assert not asked


def test_the_description_is_complete(api: Any) -> None:
    described = api.raw_schema
    assert "HTTPValidationError" not in described["components"]["schemas"]
    for path, methods in described["paths"].items():
        for method, told in methods.items():
            assert told["description"], (method, path)
            if path.startswith("/v1"):
                assert told["security"], (method, path)
                assert {"401", "403", "422", "429", "503"} <= set(told["responses"]), path
    schemas = described["components"]["schemas"]
    bodies = {
        told["requestBody"]["content"]["application/json"]["schema"]["$ref"].rpartition("/")[2]
        for methods in described["paths"].values()
        for told in methods.values()
        if "application/json" in told.get("requestBody", {}).get("content", {})
    }
    assert len(bodies) > 8
    for name in bodies | {"Problem"}:
        assert schemas[name]["examples"], name
