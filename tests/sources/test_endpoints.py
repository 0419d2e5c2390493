"""The fakes refuse what the services refuse, and our GraphQL queries fit the public schemas."""

from collections.abc import Callable

import pytest
from graphql import OperationDefinitionNode, build_schema, parse
from graphql.execution import get_variable_values
from tests.sources.endpoints import ENDPOINTS, refused
from tests.sources.github_server import Hub
from tests.sources.linear_server import Linear
from tests.sources.notion_server import Notion
from tests.sources.schemas import QUERIES, SCHEMAS, faults
from tests.sources.server import Asked, Reply
from tests.sources.slack_server import Workspace
from tests.sources.trilium_server import Trilium
from tests.sources.zotero_server import Zotero

from trivium.sources import linear

HOST = {"host": "127.0.0.1:1"}
FAKES: dict[str, tuple[Callable[[Asked], Reply], dict[str, str]]] = {
    "slack": (Workspace().answer, {"authorization": f"Bearer {Workspace().token}"}),
    "notion": (
        Notion().answer,
        {"authorization": "Bearer good", "notion-version": "2025-09-03"},
    ),
    "github": (Hub().answer, {"authorization": "Bearer good"}),
    "linear": (Linear().answer, {"authorization": "lin_good"}),
    "zotero": (Zotero().answer, {"authorization": "Bearer good"}),
    "trilium": (Trilium().answer, {"authorization": "good"}),
}
EASY = {"slack": "/api/users.list", "notion": "/users", "github": "/repos/o/r/issues",
        "linear": "/graphql", "zotero": "/users/0/items", "trilium": "/etapi/notes"}  # fmt: skip


def ask(service: str, method: str = "", path: str = "", **more: object) -> Reply:
    answer, headers = FAKES[service]
    body = {"query": "", "variables": {"after": None, "filter": {}}}
    sent = body if service == "linear" else None
    params = {"search": "note.isProtected = false"} if service == "trilium" else {}
    verb = method or ("POST" if sent else "GET")
    told = {"params": params, "headers": {**HOST, **headers}, "body": sent, **more}
    return answer(Asked(verb, path or EASY[service], **told))  # type: ignore[arg-type]


def is_good(reply: Reply) -> bool:
    is_slacks = isinstance(reply.data, dict) and reply.data.get("ok") is False
    return reply.status == 200 and not is_slacks


@pytest.mark.parametrize("service", FAKES)
def test_what_a_service_does_not_know_is_refused(service: str) -> None:
    assert is_good(ask(service))
    assert not is_good(ask(service, params={"colour": "red"}))
    assert not is_good(ask(service, method="PUT"))
    assert not is_good(ask(service, path="/no/such/thing"))
    headers = FAKES[service][1]
    assert not is_good(ask(service, headers={**headers, "host": "localhost:1"}))
    if service != "zotero":  # asked without a key, as the program on one's own machine is
        assert not is_good(ask(service, headers=HOST))
    assert not is_good(ask(service, headers={**HOST, **headers, "authorization": "wrong"}))


@pytest.mark.parametrize("service", ENDPOINTS)
def test_a_page_that_is_too_large_is_refused(service: str) -> None:
    for endpoint in ENDPOINTS[service]:
        assert endpoint.seen
        if endpoint.largest:
            name, _, most = endpoint.largest.partition("=")
            path = EASY[service] if endpoint.method == "GET" else "/search"
            asked = Asked(endpoint.method, path, {name: str(int(most) + 1)}, HOST, None)
            assert refused(service, asked), endpoint


def test_a_missing_version_is_refused() -> None:
    headers = {**HOST, "authorization": "Bearer good"}
    assert ask("notion", headers=headers).status == 400
    assert ask("zotero", headers={**headers, "zotero-api-version": "2"}).status == 501


@pytest.mark.parametrize("service", QUERIES)
def test_queries_fit_the_public_schema(service: str) -> None:
    assert faults(build_schema(SCHEMAS[service]), service) == []


def test_linears_filters_fit_its_schema() -> None:
    schema = build_schema(SCHEMAS["linear"])

    def fits(part: str, wanted: object) -> bool:
        (query,) = parse(linear.QUERIES[part]).definitions
        assert isinstance(query, OperationDefinitionNode)
        asked = {"after": None, "filter": wanted}
        return not isinstance(get_variable_values(schema, query.variable_definitions, asked), list)

    team = {"team": {"key": {"in": ["ENG"]}}}
    since = {"updatedAt": {"gte": "2026-01-01T00:00:00Z"}}
    assert fits("issues", {**since, **team})
    assert fits("comments", {**since, "issue": team})
    assert not fits("issues", {"colour": "red"})
