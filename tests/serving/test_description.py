"""The API is as it describes itself: schemathesis asks what it allows, and what it does not."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
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
from trivium.library import Library

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
            max_examples=12,
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
    for name in [name for name in schemas if name.endswith("Body")] + ["Problem"]:
        assert schemas[name]["examples"], name
