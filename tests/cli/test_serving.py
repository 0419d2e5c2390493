"""`trivium serve`, `trivium mcp`: the programs themselves, and what they refuse."""

from __future__ import annotations

import socket
import sys
from dataclasses import replace
from pathlib import Path

import anyio
from mcp import Client, StdioServerParameters
from tests.cli.program import Program, call

from trivium.config import load
from trivium.http.serve import plan

ROOT = Path(__file__).parents[2]


def test_strangers_are_not_served_unasked(trivium: Program) -> None:
    answer = trivium("serve", "--host", "0.0.0.0", "--json")
    assert (answer.code, answer.error["code"]) == (2, "serve.unsafe")
    assert "token create" in answer.error["fix"]


def test_a_library_is_made_where_there_is_none(tmp_path: Path) -> None:
    place = tmp_path / "new"
    refused = call("serve", "--host", "0.0.0.0", "--library", place, "--json")
    assert (refused.error["code"], place.exists()) == ("serve.unsafe", False)
    settings = replace(load().settings, library=place)
    assert plan(settings).made
    assert not plan(settings).made
    assert call("list", "--library", place, "--json").json == {"documents": []}


def test_a_token_can_be_the_first_thing_in_a_library(tmp_path: Path) -> None:
    place = tmp_path / "new"
    assert call("token", "create", "--library", place).code == 0
    assert not plan(replace(load().settings, library=place, serve_host="0.0.0.0")).open_to_all


def test_a_port_in_use_is_said(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        taken = other.getsockname()[1]
        answer = call("serve", "--library", tmp_path / "new", "--port", taken, "--json")
    assert "the port is already in use" in answer.error["message"]


def test_the_same_answer_by_terminal_and_assistant(trivium: Program, library: Path) -> None:
    server = StdioServerParameters(
        command=sys.executable,
        args=["-m", "trivium.cli.main", "mcp", "--library", str(library), "--audience", "player"],
        cwd=ROOT,
        env={"PYTHONPATH": ":".join(sys.path), "TRIVIUM_SEARCH_LIMIT": "8"},
    )

    async def asking() -> list[tuple[str, int]]:
        async with Client(server) as client:
            found = await client.call_tool("search", {"query": "crown", "mode": "keyword"})
        return [(one["title"], one["index"]) for one in found.structured_content["results"]]

    told = trivium("search", "crown", "--mode", "keyword", "--audience", "player", "--json").json
    expected = [(r["document"]["title"], r["chunk"]["index"]) for r in told["results"]]
    assert anyio.run(asking) == expected == [("The Drowned Crown", 0)]
