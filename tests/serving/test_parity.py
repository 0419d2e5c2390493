"""The same question has the same answer, whichever way it is asked."""

from __future__ import annotations

import re
from collections.abc import Callable
from html import unescape
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client
from starlette.testclient import TestClient
from tests.library.chat import Chat, asked
from tests.serving.shelf import DOCUMENTS, SECRET, VAULTED, client
from tests.sources.server import Asked, Reply, serving

from trivium.core.access import Caller
from trivium.core.answers import Answer, AnswerKind
from trivium.integrations.slack_bot import SlackBot
from trivium.library import Library
from trivium.mcp.server import create_server
from trivium.operations.searching import Filters, SearchOptions
from trivium.sources.service import Service
from trivium.sources.slack_messages import channel_label
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


_CARD = re.compile(
    r'href="/documents/(\d+)\?passage=(\d+)&[^>]*>(?:(?!</article>).)*?class="match"[^>]*>(?:<span[^>]*>[^<]*</span>)?(\d+)%',
    re.S,
)


def by_page(opened: TestClient, case: dict[str, Any]) -> set[tuple[int, ...]]:
    """Document, passage and the percentage that a person reads."""
    asked = {"q": case["query"], "mode": case.get("mode", "hybrid")}
    page = opened.get("/", params=asked).text
    return {tuple(map(int, told)) for told in _CARD.findall(page)}


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
    with client(library, token, furnish=furnish) as opened:
        assert by_http(opened, case) == direct
        if case.keys() <= {"query", "mode"}:
            read = {(document, index, round(match * 100)) for document, index, match in direct}
            assert by_page(opened, case) == read
    assert by_mcp(library, caller, case) == direct
    assert bool(direct) == (who != "nobody")


QUESTIONS = [
    {"question": "What does a battle axe do?"},
    {"question": "Which is heavier, a battle axe or a short sword?", "depth": "deep"},
    {"question": "Who knows where the crown is?", "depth": "once"},
    {"question": f"Where is {SECRET}?"},
]


CHANNEL = "C1"


def by_slack(library: Library, question: str) -> str:
    """What the bot posts where it is mentioned in a channel."""
    posted: list[str] = []

    def answer(asked: Asked) -> Reply:
        if asked.path.endswith("chat.postMessage"):
            posted.append(asked.body["text"])
        return Reply({"ok": True})

    with serving(answer) as server:
        service = Service("Slack", server.url, {"Authorization": "Bearer x"})
        bot = SlackBot(library, service, service, lambda seconds: None)
        told = {"type": "app_mention", "user": "U1", "channel": CHANNEL, "ts": "1.5"}
        bot.hear({"event_id": "E1", "event": {**told, "text": f"<@UBOT> {question}"}})
    (text,) = posted
    return unescape(text)


def same_everywhere(library: Library, case: dict[str, str], who: str) -> Answer:
    """Python, HTTP, MCP, the page and Slack, for the same caller: in Slack it is a channel, in
    which nobody asks in depth."""
    _, token = library.tokens.create(audiences=None if who == "owner" else [channel_label(CHANNEL)])
    caller = library.tokens.caller(token)
    answer = library.ask(case["question"], within=caller.within(), depth=case.get("depth"))
    with client(library, token, furnish=furnish) as opened:
        told = opened.post("/v1/query", json={**case, "stream": False}).json()
        assert (told["kind"], told["text"]) == (answer.kind, answer.text)
        form = {"q": case["question"], "depth": "deep" if case.get("depth") == "deep" else ""}
        page = unescape(opened.post("/ask", data=form).text)
    if answer.refused:
        assert answer.text in page
    else:
        copied = page.partition('<pre class="copied" hidden>')[2].partition("</pre>")[0]
        assert copied.startswith(answer.text)
    for one in answer.unsupported:
        assert one.why in page

    async def asking() -> Any:
        async with Client(create_server(library, lambda _: caller)) as opened:
            return (await opened.call_tool("ask", case)).structured_content

    told = anyio.run(asking)
    assert (told["kind"], told["text"]) == (answer.kind, answer.text)
    assert [one["number"] for one in told["citations"]] == [c.number for c in answer.citations]
    assert told["unsupported"] == [one.text for one in answer.unsupported]
    if who == "channel" and "depth" not in case:
        posted = by_slack(library, case["question"])
        assert posted.startswith(answer.text)
        assert all(f"[{one.number}] {one.title}" in posted for one in answer.citations)
        assert all(f"“{one.text}” ({one.why})" in posted for one in answer.unsupported)
    return answer


@pytest.mark.parametrize("case", QUESTIONS, ids=lambda case: case["question"])
@pytest.mark.parametrize("who", ["owner", "channel"])
def test_every_way_gives_the_same_answer(library: Library, case: dict[str, str], who: str) -> None:
    same_everywhere(library, case, who)


def test_every_way_gives_the_same_written_answer(tmp_path: Path) -> None:
    chat = Chat()
    with asked(tmp_path, chat, DOCUMENTS) as library:
        doubtful = "The crown lies in a nest of dragons in the harbour [1]."
        chat.answer = f"The crown lies in the harbour. {doubtful} It has 47 gems [1]."
        answer = same_everywhere(library, {"question": "Where does the crown lie?"}, "channel")
        assert answer.kind is AnswerKind.WRITTEN
        assert answer.text.strip() == f"The crown lies in the harbour [1]. {doubtful}"
        assert len(answer.unsupported) == 1
        chat.answer = "The crown has 47 gems [1]."
        answer = same_everywhere(library, {"question": "Where does the crown lie?"}, "channel")
        assert answer.kind is AnswerKind.EXTRACTED
        chat.answer = "NOT_IN_PASSAGES No passage names a price."
        answer = same_everywhere(
            library, {"question": "What does the crown in the harbour cost?"}, "channel"
        )
        assert answer.text == "No passage names a price."
