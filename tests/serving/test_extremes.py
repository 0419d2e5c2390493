"""Huge numbers, long names, odd cursors and broken uploads: typed errors, never a fault of ours."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

import pytest
from mcp import Client
from starlette.testclient import TestClient
from tests.serving.shelf import shelve
from tests.serving.test_mcp import talk

from trivium.core.access import LOCAL_OWNER
from trivium.library import Library
from trivium.mcp.server import create_server

HUGE = 10**30
DIGITS = "9" * 400
LONG = "a" * 300


@pytest.mark.parametrize(
    "address",
    [
        f"/v1/documents?limit={HUGE}",
        f"/v1/documents?cursor={HUGE}",
        "/v1/documents?cursor=%C2%B2",
        "/v1/documents?cursor=-1",
        f"/v1/documents?where=year>={DIGITS}",
        "/v1/documents?where=year>1e999",
        f"/v1/documents/{HUGE}",
        f"/v1/documents/1/passages?cursor={'9' * 20}",
        f"/v1/documents/1/original?interpretation={HUGE}",
        f"/v1/documents/1/similar?passage={HUGE}",
        f"/v1/jobs/{HUGE}",
        f"/v1/jobs/1/tasks?cursor={'9' * 20}",
        f"/v1/evaluations/{LONG}/runs",
        f"/v1/conversations/{LONG * 20}",
    ],
)
def test_extreme_addresses(owner: TestClient, address: str) -> None:
    answer = owner.get(address)
    assert answer.status_code in (404, 422), answer.text
    assert answer.json()["code"] != "internal"


@pytest.mark.parametrize("number", [2**63, HUGE])
def test_a_filter_compares_whole_numbers_of_any_size(owner: TestClient, number: int) -> None:
    def found(where: str) -> int:
        return len(owner.get("/v1/documents", params={"where": where}).json()["documents"])

    assert (found(f"year<{number}"), found(f"year>{number}")) == (1, 0)


@pytest.mark.parametrize("path", [f"/{LONG}", "/".join(["", *["b" * 100] * 15])])
def test_a_folder_with_a_long_name(owner: TestClient, path: str) -> None:
    answer = owner.post("/v1/sources", json={"path": path})
    assert answer.status_code == 422, answer.text


@pytest.mark.parametrize("name", [f"{LONG}.md", "ü" * 300, "../" * 200 + "x.md", f"x.{LONG}"])
def test_a_file_with_a_long_name_is_added_under_a_short_one(
    name: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    from tests.serving.shelf import client

    with shelve(tmp_path_factory.mktemp("names") / "library") as library, client(library) as owner:
        answer = owner.post("/v1/documents", files={"file": (name, b"# Long\n\nManticores.")})
        assert answer.status_code == 201, answer.text
        (outcome,) = answer.json()["outcomes"]
        kept = outcome["uri"].removeprefix("upload:")
        assert len(kept) <= 151
        assert "/" not in kept


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("search", {"query": "crown", "limit": HUGE}),
        ("search", {"query": "crown", "cursor": "9" * 20}),
        ("search", {"query": "crown", "cursor": "9" * 12}),
        ("search", {"query": "crown", "cursor": "²"}),
        ("search", {"query": "crown", "where": f"year>={DIGITS}"}),
        ("list_documents", {"cursor": "9" * 20}),
        ("list_documents", {"cursor": "x" * 500}),
        ("get_document", {"id": HUGE}),
        ("get_document", {"id": 1, "cursor": "9" * 20}),
        ("get_passage", {"document": 1, "index": HUGE}),
    ],
)
def test_extreme_arguments_of_tools(
    library: Library, tool: str, arguments: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    server = create_server(library, lambda _: LOCAL_OWNER)

    async def ask(client: Client) -> Any:
        return await client.call_tool(tool, arguments)

    answer = talk(server, ask)
    assert answer.is_error
    assert "internal" not in str(answer.content)
    assert not caplog.records


@pytest.mark.parametrize("wait", ["true", "false"])
def test_an_upload_that_breaks_off_is_no_error(
    owner: TestClient, wait: str, caplog: pytest.LogCaptureFixture
) -> None:
    begun = (
        b'--x\r\nContent-Disposition: form-data; name="file"; filename="half.md"\r\n\r\n# Half of'
    )
    told: list[dict[str, Any]] = [
        {"type": "http.request", "body": begun, "more_body": True},
        {"type": "http.disconnect"},
    ]
    sent: list[Any] = []

    async def receive() -> dict[str, Any]:
        return told.pop(0) if len(told) > 1 else told[0]

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": "POST",
        "path": "/v1/documents",
        "raw_path": b"/v1/documents",
        "query_string": f"wait={wait}".encode(),
        "headers": [
            (b"host", b"localhost"),
            (b"content-type", b"multipart/form-data; boundary=x"),
        ],
        "scheme": "http",
        "server": ("localhost", 8420),
        "client": ("127.0.0.1", 1),
    }
    with caplog.at_level(logging.INFO, "trivium"):
        asyncio.run(owner.app(scope, receive, send))
    assert not sent, "nobody is there to be answered"
    assert not [one for one in caplog.records if one.levelno > logging.INFO]
    assert " 499 " in caplog.text
