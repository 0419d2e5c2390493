"""The tools, asked by the SDK's own client: in-process, over HTTP, over standard streams."""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from tests.serving.shelf import DOCUMENTS, SECRET, VAULTED, shelve

from trivium.config import Settings
from trivium.core.access import LOCAL_OWNER
from trivium.http.app import create_app
from trivium.library import Library
from trivium.mcp.server import create_server
from trivium.mcp.tools import MOST_TEXT
from trivium.testing.samples import TOY, sample


def talk(server: Any, what: Callable[[Client], Awaitable[Any]]) -> Any:
    async def talking() -> Any:
        async with Client(server) as client:
            return await what(client)

    return anyio.run(talking)


def call(library: Library, tool: str, **arguments: Any) -> dict[str, Any]:
    server = create_server(library, lambda _: LOCAL_OWNER)
    answer = talk(server, lambda client: client.call_tool(tool, arguments))
    assert not answer.is_error, answer
    return dict(answer.structured_content)


def test_tools_say_what_they_are(library: Library) -> None:
    server = create_server(library, lambda _: LOCAL_OWNER)
    listed = talk(server, lambda client: client.list_tools()).tools
    names = {tool.name for tool in listed}
    assert names == {
        "search",
        "get_document",
        "get_passage",
        "get_outline",
        "get_table",
        "similar",
        "quote",
        "history",
        "calculate",
        "ask",
        "list_collections",
        "list_documents",
    }
    for tool in listed:
        assert tool.annotations.read_only_hint
        assert tool.input_schema["type"] == tool.output_schema["type"] == "object"
        assert tool.description


def test_every_tool_answers(library: Library) -> None:
    found = call(library, "search", query="battle axe", limit=2)["results"]
    assert (found[0]["title"], found[0]["index"]) == ("Weapons", 0)
    told = call(library, "get_document", id=1)
    assert told == call(library, "get_document", document=1), "both names mean the same"
    assert told["text"].startswith("A battle axe")
    assert told["document"]["metadata"] == {"year": 2021}
    told = call(library, "get_passage", document=1, index=1, around=1)
    assert [one["index"] for one in told["passages"]] == [0, 1]
    told = call(library, "get_outline", document=1)
    assert [one["index"] for one in told["headings"]] == [0]
    assert call(library, "get_table", document=1, index=0)["passages"] == []
    like = call(library, "similar", document=1, index=0)["results"]
    assert like
    told = call(library, "history", document=1)["versions"]
    assert [(one["number"], one["active"]) for one in told] == [(1, True)]
    assert call(library, "calculate", expression="(18 - 6) / 4")["value"] == 3
    both = call(library, "search", query="battle axe", others=["short sword"])["results"]
    assert both
    told = call(library, "list_collections")["collections"]
    assert [(one["name"], one["documents"]) for one in told] == [("rules", 3), ("vault", 1)]
    told = call(library, "list_documents", limit=2)
    assert [one["id"] for one in told["documents"]] == [1, 2]
    rest = call(library, "list_documents", cursor=told["next_cursor"])
    assert [one["id"] for one in rest["documents"]] == [3, 4]


def test_a_search_goes_on_where_it_ended(library: Library) -> None:
    first = call(library, "search", query="crown", limit=2)
    rest = call(library, "search", query="crown", limit=2, cursor=first["next_cursor"])
    ranks = [one["rank"] for one in (*first["results"], *rest["results"])]
    assert ranks == [1, 2, 3, 4]
    direct = [r.found.document.id for r in library.search("crown", 4)]
    assert [one["document"] for one in (*first["results"], *rest["results"])] == direct


def test_long_texts_come_in_pieces(tmp_path: Path) -> None:
    with shelve(tmp_path / "library") as library:
        text = "crown " * MOST_TEXT
        with library.backend.writer.writing():
            (long,) = library.backend.writer.put([sample("long.md", text)], TOY.fingerprint)
        told = call(library, "get_document", id=long.id)
        pieces = [told["text"]]
        while told["next_cursor"]:
            told = call(library, "get_document", id=long.id, cursor=told["next_cursor"])
            pieces.append(told["text"])
        assert "".join(pieces) == text
        assert max(map(len, pieces)) <= MOST_TEXT
        told = call(library, "search", query="crown", limit=50)
        assert sum(len(one["text"]) for one in told["results"]) <= MOST_TEXT
        assert any(one["truncated"] for one in told["results"])


@pytest.mark.parametrize(
    ("tool", "arguments", "code"),
    [
        ("search", {"query": ""}, "query.empty"),
        ("search", {}, "request.invalid"),
        ("search", {"query": "a", "limit": 1000}, "request.invalid"),
        ("search", {"query": "a", "where": "nope:1"}, "filter.bad"),
        ("search", {"query": "a", "cursor": "x"}, "setting.bad"),
        ("get_document", {"document": 99}, "document.not_found"),
        ("get_document", {"id": 99}, "document.not_found"),  # the same, as answers call it
        ("get_passage", {"id": 99, "index": 0}, "document.not_found"),
        ("get_passage", {"document": 1, "index": 99}, "document.not_found"),
        ("remove_document", {"id": 1}, "tool.unknown"),
    ],
)
def test_what_makes_no_sense_is_said(
    library: Library, tool: str, arguments: dict[str, Any], code: str
) -> None:
    server = create_server(library, lambda _: LOCAL_OWNER)
    answer = talk(server, lambda client: client.call_tool(tool, arguments))
    assert answer.is_error
    assert f"[{code}]" in answer.content[0].text


@asynccontextmanager
async def over_http(library: Library, token: str | None, **options: Any) -> Any:
    """The SDK's client against the whole server, without a socket."""
    app = create_app(library, Settings(), **options)
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    async with app.router.lifespan_context(app):
        transport = httpx2.ASGITransport(app=app)
        http = httpx2.AsyncClient(transport=transport, base_url="http://localhost", headers=headers)
        async with http:
            yield Client(streamable_http_client("http://localhost/mcp", http_client=http))


def test_over_http_a_token_sees_its_own(library: Library) -> None:
    _, token = library.tokens.create(audiences=["player"], collections=["rules"])

    async def talking() -> None:
        async with over_http(library, token) as client, client:
            tools = await client.list_tools()
            assert len(tools.tools) == 12
            found = await client.call_tool("search", {"query": f"crown {SECRET} {VAULTED}"})
            seen = {one["document"] for one in found.structured_content["results"]}
            assert seen == {1, 2}
            hidden = await client.call_tool("get_document", {"id": 3})
            assert hidden.is_error
            told = await client.call_tool("list_documents", {})
            assert [one["id"] for one in told.structured_content["documents"]] == [1, 2]

    anyio.run(talking)


def test_over_http_nobody_comes_in_without(library: Library) -> None:
    async def knocking() -> int:
        app = create_app(library, Settings())
        async with app.router.lifespan_context(app):
            transport = httpx2.ASGITransport(app=app)
            async with httpx2.AsyncClient(transport=transport, base_url="http://localhost") as http:
                body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
                return (await http.post("/mcp", json=body)).status_code

    assert anyio.run(knocking) == 401


def test_writing_needs_the_word_and_the_right(tmp_path: Path) -> None:
    with shelve(tmp_path / "library") as library:
        _, reader = library.tokens.create(audiences=None)
        _, keeper = library.tokens.create(audiences=["player"], rights=["search", "manage"])

        async def removing(token: str, id_: int, **options: Any) -> str:
            async with over_http(library, token, **options) as client, client:
                names = [tool.name for tool in (await client.list_tools()).tools]
                answer = await client.call_tool("remove_document", {"id": id_})
                assert ("remove_document" in names) == (
                    not answer.is_error or "not_found" in answer.content[0].text
                )
                return str(answer.content[0].text)

        assert "tool.unknown" in anyio.run(lambda: removing(keeper, 1))
        assert "token.right_missing" in anyio.run(lambda: removing(reader, 1, allow_write=True))
        assert "document.not_found" in anyio.run(lambda: removing(keeper, 3, allow_write=True))
        assert len(library.documents.all()) == len(DOCUMENTS)
        anyio.run(lambda: removing(keeper, 1, allow_write=True))
        assert [document.id for document in library.documents.all()] == [2, 3, 4]


def test_over_standard_streams(tmp_path: Path) -> None:
    shelve(tmp_path / "library").close()
    server = StdioServerParameters(
        command=sys.executable,
        args=["-m", "tests.serving.mcp_program", str(tmp_path / "library"), "player"],
        cwd=Path(__file__).parents[2],
        env={"PYTHONPATH": ":".join(sys.path)},
    )

    async def both(client: Client) -> tuple[Any, Any]:
        return await client.list_tools(), await client.call_tool("search", {"query": SECRET})

    listed, found = talk(server, both)
    assert len(listed.tools) == 12
    assert all(one["document"] != 3 for one in found.structured_content["results"])
