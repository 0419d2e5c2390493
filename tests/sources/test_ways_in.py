"""Synced messages and items through every way in: filters that find one person's messages only, the
names of fields that users of other tools know, and where a message stands in every answer."""

from __future__ import annotations

import json
import re
import warnings
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient
from tests.cli.program import call
from tests.serving.shelf import client
from tests.serving.test_mcp import call as call_tool
from tests.sources.linear_server import Linear
from tests.sources.notion_server import Notion
from tests.sources.server import serving

from trivium.library import Library
from trivium.web.site import furnish

TIME = "2016-01-04T00:01:40+00:00"
LINK = "https://x.slack.com/archives/C1/p1451865700000200"
PLACE = {"sheet": "", "rows": None, "authors": ["Bob"], "time": TIME, "link": LINK, "seconds": None}
FILTERS = {
    "authors:bob": ["Bob"],
    "authors:ada": ["Ada", "Linear", "Notion"],
    "slackAuthor:U2": ["Bob"],
    "slackAuthor:ada": ["Ada"],
    "type:slack slackChannelId:C1": ["Ada", "Bob"],
    "channel:general year:2016 authors:bob": ["Bob"],
    "year:2017": [],
    "type:notion notionPageId:page1": ["Notion"],
    "notionPageId:page-1": ["Notion"],
    "type:linear linearIssueId:ENG-1": ["Linear"],
    "linearIssueId:i1": ["Linear"],
    "sync:chat": ["Ada", "Bob"],
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A library that the program itself synced."""
    place = tmp_path_factory.mktemp("ways") / "library"
    export = place.with_name("export.zip")
    users = [{"id": "U1", "name": "Ada"}, {"id": "U2", "real_name": "Bob"}]
    said = [
        {"user": "U1", "text": "The map of Ada is lost.", "ts": "1451865600.000100"},
        {"user": "U2", "text": "The map of Bob is here.", "ts": "1451865700.000200"},
    ]
    with zipfile.ZipFile(export, "w") as archive:
        archive.writestr("users.json", json.dumps(users))
        archive.writestr("channels.json", json.dumps([{"id": "C1", "name": "general"}]))
        archive.writestr("general/2016-01-04.json", json.dumps(said))
    notion, linear = Notion(), Linear()
    notion.page("page-1", "A page", "The map of Notion is old.")
    linear.issue("i1", "An issue", description="The map of Linear is wrong.")
    secret = place.with_name("key")
    secret.write_text("good")
    key = place.with_name("linear-key")
    key.write_text("lin_good")
    with serving(notion.answer) as pages, serving(linear.answer) as issues:
        for told in (
            ("slack-export", str(export), "--name", "chat", "--option",
             "workspace=https://x.slack.com"),
            ("notion", "--option", f"url={pages.url}", "--secret", f"token=file:{secret}"),
            ("linear", "--option", f"url={issues.url}", "--secret", f"key=file:{key}"),
        ):  # fmt: skip
            added = call("--library", place, "sync", "add", *told, "--run")
            assert added.code == 0, added
    return place


@pytest.fixture(scope="module")
def library(folder: Path) -> Iterator[Library]:
    with Library.open(folder) as opened:
        yield opened


@pytest.fixture(scope="module")
def server(library: Library) -> Iterator[TestClient]:
    with client(library, furnish=furnish, origins={"library": "a test"}) as opened:
        yield opened


def owners(texts: list[str]) -> list[str]:
    return sorted(found[1] for text in texts if (found := re.search(r"map of (\w+)", text)))


@pytest.mark.parametrize("where", FILTERS)
def test_filters_over_http(server: TestClient, where: str) -> None:
    found = server.post("/v1/search", json={"query": "map", "where": where}).json()["results"]
    assert owners([one["chunk"]["text"] for one in found]) == FILTERS[where]


def test_filters_and_places_in_the_terminal(folder: Path) -> None:
    found = call("--library", folder, "search", "map", "--where", "authors:bob")
    assert "The map of Bob is here." in found.out
    assert "Ada" not in found.out
    assert found.out.count("Bob, 2016-01-04 00:01") == 1
    assert "Bob, 04 January 2016" not in found.out, "that is in what is searched, and said once"
    assert LINK in found.out.replace("\n", "")
    told = call("--library", folder, "search", "map", "--where", "authors:bob", "--json")
    (one,) = json.loads(told.out)["results"]
    assert one["chunk"]["place"] == PLACE


def test_filters_and_places_over_http(server: TestClient) -> None:
    asked = {"query": "map", "where": "authors:bob"}
    (one,) = server.post("/v1/search", json=asked).json()["results"]
    assert one["chunk"]["place"] == PLACE


def test_filters_and_places_over_mcp(library: Library) -> None:
    found = call_tool(library, "search", query="map", where="slackAuthor:U2")
    (one,) = found["results"]
    assert one["place"] == PLACE


def test_filters_and_places_in_langchain_and_llamaindex(library: Library) -> None:
    from trivium.integrations.langchain import TriviumRetriever
    from trivium.operations.searching import Filters

    bob = Filters(where="authors:bob")
    (one,) = TriviumRetriever(library=library, filters=bob).invoke("map")
    told: dict[str, Any] = {name: one.metadata[name] for name in ("authors", "time", "link")}
    assert told == {"authors": ["Bob"], "time": TIME, "link": LINK}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # its own, at import
        from trivium.integrations.llamaindex import TriviumRetriever as LlamaIndexRetriever
    (node,) = LlamaIndexRetriever(library, filters=bob).retrieve("map")
    assert {name: node.metadata[name] for name in ("authors", "time", "link")} == told


def test_filters_and_places_on_the_page(server: TestClient) -> None:
    text = server.get("/", params={"q": "map", "where": "authors:bob"}).text
    (card,) = re.findall(r"<article.*?</article>", text, re.S)
    assert "Bob" in card
    assert "2016" in card
    assert LINK in card


def test_messages_around_one_are_shown_with_it(library: Library, server: TestClient) -> None:
    asked = {"query": "Bob", "where": "type:slack", "expand": True, "limit": 1}
    (one,) = server.post("/v1/search", json=asked).json()["results"]
    assert one["context"] == {"before": "Ada: The map of Ada is lost.", "after": ""}
    (one,) = server.post("/v1/search", json={**asked, "where": "authors:bob"}).json()["results"]
    assert "context" not in one, "what the filter leaves out is left out around it too"
    found = call_tool(library, "search", query="Bob", where="authors:bob")["results"][0]
    near = call_tool(library, "get_passage", document=found["document"], index=found["index"])
    assert found["index"] == 1, "the second message of its conversation"
    assert owners([one["text"] for one in near["passages"]]) == ["Ada", "Bob"]


def test_an_answer_cites_the_message(library: Library) -> None:
    answer = library.ask("Where is the map of Bob?")
    assert LINK in [one.link for one in answer.passages]
