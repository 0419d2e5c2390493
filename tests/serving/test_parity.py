"""The same question has the same answer, whichever way it is asked."""

from __future__ import annotations

import re
from collections.abc import Callable
from html import unescape
from typing import Any

import anyio
import pytest
from mcp import Client
from starlette.testclient import TestClient
from tests.serving.shelf import SECRET, VAULTED, client

from trivium.access import Caller
from trivium.library import Library
from trivium.mcp.server import create_server
from trivium.options import Filters, SearchOptions
from trivium.web.site import furnish

Found = list[tuple[int, int, float]]  # document, passage, match
CASES: list[dict[str, Any]] = [
    {"query": "crown"},
    {"query": "battle axe", "limit": 1},
    {"query": "shortsord", "mode": "fuzzy"},
    {"query": "crown", "mode": "keyword", "by": "document"},
    {"query": "crown", "mode": "semantic", "where": "collection:rules"},
    {"query": f"crown {SECRET} {VAULTED}", "limit": 3},
    {"query": "crown -harbour"},
    {"query": "+crown +harbour"},
    {"query": "crown harbour", "mode": "keyword", "every_word": True},
    {"query": "the crown", "prefer": "recent", "half_life": 30.0, "boosts": {"year>=2020": 3.0}},
    {"query": '"short sword" OR axe', "where": "year>=2020"},
]


def by_python(library: Library, caller: Caller, case: dict[str, Any]) -> Found:
    asked = {"limit": 8, **case}
    query, filters = asked.pop("query"), Filters(where=asked.pop("where", ""))
    options = SearchOptions(**asked)
    results = library.search(query, options=options, filters=filters, within=caller.within())
    return [(r.found.document.id, r.found.chunk.index, round(r.match, 4)) for r in results]


def by_http(opened: TestClient, case: dict[str, Any]) -> Found:
    told = opened.post("/v1/search", json={"limit": 8, **case}).json()["results"]
    return [(r["document"]["id"], r["chunk"]["index"], round(r["match"], 4)) for r in told]


def by_mcp(library: Library, caller: Caller, case: dict[str, Any]) -> Found:
    async def asking() -> Any:
        async with Client(create_server(library, lambda _: caller)) as opened:
            return (await opened.call_tool("search", case)).structured_content

    return [(r["document"], r["index"], r["match"]) for r in anyio.run(asking)["results"]]


@pytest.mark.parametrize("case", CASES, ids=lambda case: str(case["query"]))
@pytest.mark.parametrize("who", ["owner", "player", "nobody"])
def test_every_way_gives_the_same(library: Library, case: dict[str, Any], who: str) -> None:
    limits: dict[str, Callable[[], tuple[Any, str]]] = {
        "owner": lambda: library.tokens.create(audiences=None),
        "player": lambda: library.tokens.create(audiences=["player"], collections=["rules"]),
        "nobody": lambda: library.tokens.create(audiences=(), collections=()),
    }
    _, token = limits[who]()
    caller = library.tokens.caller(token)
    if "where" in case and who == "nobody":
        return  # a filter by a field that nothing visible has is an error, on every way
    direct = by_python(library, caller, case)
    with client(library, token) as opened:
        assert by_http(opened, case) == direct
    assert by_mcp(library, caller, case) == direct
    assert bool(direct) == (who != "nobody")


QUESTIONS = [
    {"question": "What does a battle axe do?"},
    {"question": "Which is heavier, a battle axe or a short sword?", "depth": "deep"},
    {"question": "Who knows where the crown is?", "depth": "once"},
    {"question": f"Where is {SECRET}?"},
]


@pytest.mark.parametrize("case", QUESTIONS, ids=lambda case: case["question"])
@pytest.mark.parametrize("who", ["owner", "player"])
def test_every_way_gives_the_same_answer(library: Library, case: dict[str, str], who: str) -> None:
    """Python, HTTP, MCP and the page, without a language model and for the same caller."""
    _, token = library.tokens.create(audiences=None if who == "owner" else ["player"])
    caller = library.tokens.caller(token)
    answer = library.ask(case["question"], within=caller.within(), depth=case.get("depth"))
    with client(library, token, furnish=furnish) as opened:
        told = opened.post("/v1/query", json={**case, "stream": False}).json()
        assert (told["kind"], told["text"]) == (answer.kind, answer.text)
        form = {"q": case["question"], "depth": "deep" if case.get("depth") == "deep" else ""}
        page = unescape(opened.post("/ask", data=form).text)
    marked = re.sub(r"<[^>]+>", "", page)
    for sentence in answer.statements:
        assert sentence.text in " ".join(marked.split())
    if answer.refused:
        assert answer.text in page

    async def asking() -> Any:
        async with Client(create_server(library, lambda _: caller)) as opened:
            return (await opened.call_tool("ask", case)).structured_content

    told = anyio.run(asking)
    assert (told["kind"], told["text"]) == (answer.kind, answer.text)
    assert [one["number"] for one in told["citations"]] == [c.number for c in answer.citations]
