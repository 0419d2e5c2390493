"""`trivium serve`, `trivium mcp`: the programs themselves, and what they refuse."""

from __future__ import annotations

import sys
from pathlib import Path

import anyio
from mcp import Client, StdioServerParameters
from tests.cli.program import Program, call

ROOT = Path(__file__).parents[2]


def test_strangers_are_not_served_unasked(trivium: Program) -> None:
    answer = trivium("serve", "--host", "0.0.0.0", "--json")
    assert (answer.code, answer.error["code"]) == (2, "serve.unsafe")
    assert "token create" in answer.error["fix"]


def test_there_must_be_a_library(tmp_path: Path) -> None:
    answer = call("serve", "--library", tmp_path / "none", "--json")
    assert (answer.code, answer.error["code"]) == (3, "library.not_found")


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
