"""A stream does not outlive its token."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from fastapi import Request
from starlette.responses import Response
from starlette.testclient import TestClient
from tests.serving.shelf import client, shelve

from trivium.core.types import Labels
from trivium.http.asked import Here, Reader
from trivium.http.streaming import Tell, stream
from trivium.library import Library
from trivium.sources.folder import FolderSource
from trivium.web.site import furnish

RIGHTS = ("search", "add", "manage")


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    with shelve(tmp_path / "library") as library:
        yield library


def told_until_revoked(library: Library, caller: TestClient, id_: str, path: str) -> str:
    """The last event; the token is revoked once the first one is there."""
    lines: list[str] = []
    with caller.stream("GET", path) as opened:
        assert opened.status_code == 200
        for line in opened.iter_lines():
            if not lines:
                library.tokens.revoke(id_)
            lines.append(line)
    events = [line for line in lines if line.startswith("event: ")]
    data = [line for line in lines if line.startswith("data: ")]
    assert events[-1] == "event: error", events
    return str(json.loads(data[-1].removeprefix("data: "))["code"])


@pytest.mark.parametrize("path", ["/v1/jobs/{job}/events", "/add/events"])
def test_a_job_is_followed_no_longer(library: Library, tmp_path: Path, path: str) -> None:
    (tmp_path / "a.md").write_text("# A")
    job = library.jobs.enqueue(
        FolderSource([tmp_path / "a.md"]), Labels()
    )  # and nobody works on it
    token, text = library.tokens.create(audiences=None, rights=RIGHTS)
    with client(library, text, furnish=furnish) as caller:
        code = told_until_revoked(library, caller, token.id, path.format(job=job.id))
    assert code == "token.refused"


def test_an_answer_breaks_off_and_its_writer_stops(library: Library) -> None:
    """`/v1/query`, `/ask` and evaluations are told by the same function."""
    stopped = Event()
    token, text = library.tokens.create(audiences=[], rights=RIGHTS)
    opened = client(library, text)
    app: Any = opened.app

    def work(tell: Tell) -> None:
        try:
            while not stopped.wait(0.01):
                tell("token", {"text": "on "})
        finally:
            stopped.set()

    @app.get("/endless")
    async def endless(server: Here, caller: Reader, request: Request) -> Response:
        return await stream(server, request, server.asking, work)

    with opened as caller:
        assert told_until_revoked(library, caller, token.id, "/endless") == "token.refused"
        assert stopped.wait(240)


def test_assistants_open_no_stream_that_would_stay(library: Library) -> None:
    _, text = library.tokens.create(audiences=[], rights=RIGHTS)
    with client(library, text) as caller:
        refused = caller.get("/mcp", headers={"Accept": "text/event-stream"})
        assert (refused.status_code, refused.headers["allow"]) == (405, "POST")
