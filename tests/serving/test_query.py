"""Questions over HTTP: an answer as it is written, or whole; conversations; whoever leaves."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from threading import Event
from typing import Any

import pytest
from starlette.testclient import TestClient
from tests.endpoint import Reply, Seen
from tests.library.chat import Chat, asked, streamed
from tests.serving.shelf import client

from trivium.config import Settings
from trivium.core.shapes import to_json
from trivium.http.app import create_app
from trivium.library import Library
from trivium.testing.samples import sample

FOG = sample("fog.md", "Fog is a cloud that touches the ground. It lifts by noon.", title="Fog")
CURSE = sample("curse.md", "The fog over the harbour is a curse of 47 witches.", audience="dm-only")
QUESTION = "What is fog, a cloud on the ground?"
ANSWER = "Fog is a cloud that touches the ground [1]. It lifts by noon [1]."


@pytest.fixture(scope="module")
def chat() -> Chat:
    return Chat()


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory, chat: Chat) -> Iterator[Library]:
    with asked(tmp_path_factory.mktemp("asked"), chat, [FOG, CURSE]) as library:
        yield library


@pytest.fixture(scope="module")
def owner(shelf: Library) -> Iterator[TestClient]:
    with client(shelf) as opened:
        yield opened


@pytest.fixture(scope="module")
def players(shelf: Library) -> Iterator[tuple[TestClient, TestClient]]:
    """Two that hold the same audience."""
    tokens = [shelf.tokens.create(audiences=["player"])[1] for _ in range(2)]
    with client(shelf, tokens[0]) as one, client(shelf, tokens[1]) as other:
        yield one, other


def events(text: str) -> list[tuple[str, Any]]:
    parts = [part.splitlines() for part in text.strip().split("\n\n")]
    return [
        (name.removeprefix("event: "), json.loads(data.removeprefix("data: ")))
        for name, data in parts
    ]


def test_an_answer_comes_as_it_is_written(owner: TestClient, chat: Chat) -> None:
    chat.answer = ANSWER
    answer = owner.post("/v1/query", json={"question": QUESTION})
    assert answer.headers["content-type"].startswith("text/event-stream")
    told = events(answer.text)
    names = [name for name, _ in told]
    assert names[0] == "step"
    assert names[-2:] == ["usage", "done"]
    whole = told[-1][1]
    assert "".join(data["text"] for name, data in told if name == "token") == whole["text"]
    assert whole["text"] == ANSWER
    assert [data for name, data in told if name == "citation"] == whole["citations"]
    (cited,) = whole["citations"]
    passage = owner.get(f"/v1/documents/{cited['document']}/passages/{cited['index']}").json()
    assert passage["passage"]["text"] == cited["text"], "a citation resolves"
    once = owner.post("/v1/query", json={"question": QUESTION, "stream": False}).json()
    steady = {"timings_ms", "took_ms", "steps"}
    assert {k: v for k, v in once.items() if k not in steady} == {
        k: v for k, v in whole.items() if k not in steady
    }


def test_citations_are_of_what_the_caller_may_see(
    players: tuple[TestClient, TestClient], chat: Chat
) -> None:
    chat.answer = "It is a curse [1] [2]."
    told = players[0].post("/v1/query", json={"question": QUESTION}).text
    assert "witches" not in told
    assert "witches" not in chat.prompts[-1], "nor does the model read it for them"


def test_what_was_said_before(owner: TestClient, chat: Chat) -> None:
    chat.answer, chat.rewrite = ANSWER, "What is fog?"
    history = [{"question": "What lies on the ground?", "answer": "Fog."}]
    asked_ = {"question": "What is it?", "history": history, "stream": False}
    told = owner.post("/v1/query", json=asked_).json()
    assert told["asked"] == "What is fog?"
    chat.rewrite = Reply({}, 500)


def test_a_conversation_is_its_caller_s_own(
    owner: TestClient, players: tuple[TestClient, TestClient], shelf: Library, chat: Chat
) -> None:
    chat.answer = ANSWER
    one, other = players
    body = {"question": QUESTION, "conversation": "talk/of fog", "stream": False}
    assert one.post("/v1/query", json=body).json()["conversation"] == "talk/of fog"
    (kept,) = one.get("/v1/conversations").json()["conversations"]
    assert (kept["name"], kept["turns"]) == ("talk/of fog", 1)
    (turn,) = one.get("/v1/conversations/talk/of fog").json()["turns"]
    assert turn["question"] == QUESTION
    # The other holds the same audience, and neither meets it nor can name it.
    (called,) = [c.name for c in shelf.conversations.all()]
    assert other.get("/v1/conversations").json() == {"conversations": []}
    for name in ("talk/of fog", called, f"..%2f{called}"):
        for method in ("GET", "DELETE"):
            answer = other.request(method, f"/v1/conversations/{name}")
            assert (answer.status_code, answer.json()["code"]) == (404, "conversation.not_found")
    assert other.post("/v1/query", json=body).json()["steps"][0]["name"] == "search", "no history"
    # Who may see everything meets both, under their whole names.
    seen = [c["name"] for c in owner.get("/v1/conversations").json()["conversations"]]
    assert len(seen) == 2
    assert called in seen
    assert owner.get(f"/v1/conversations/{called}").json()["turns"] == [turn]
    assert one.delete("/v1/conversations/talk/of fog").json() == {"forgotten": 1}
    assert [c.turns for c in shelf.conversations.all()] == [1], "the other's stays"


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({"question": ""}, "request.invalid"),
        ({"question": "   "}, "query.empty"),
        ({"question": "x" * 100_000}, "request.invalid"),
        ({"question": "x", "history": [{"question": "a", "answer": "b"}] * 21}, "request.invalid"),
        ({"question": "x", "history": [{"question": "a"}]}, "request.invalid"),
        ({"question": "x", "limit": 0}, "request.invalid"),
        ({"question": "x", "where": "("}, "filter.bad"),
        ({"question": "x", "conversation": " "}, "request.invalid"),
        (
            {
                "question": "x",
                "conversation": "a",
                "history": [{"question": "a", "answer": "b"}],
            },
            "setting.bad",
        ),
    ],
)
def test_what_makes_no_sense_is_no_stream(owner: TestClient, body: Any, code: str) -> None:
    answer = owner.post("/v1/query", json=body)
    assert (answer.status_code, answer.json()["code"]) == (422, code)


def test_without_a_model_the_documents_own_sentences(library: Library) -> None:
    question = "Where does the crown lie?"
    with client(library) as plain:
        answer = plain.post("/v1/query", json={"question": question})
    done = events(answer.text)[-1][1]
    assert (done["kind"], done["model"]) == ("extracted", "")
    assert any("generate.url" in note for note in done["notes"])
    assert done["citations"]
    direct = json.loads(to_json(library.ask(question)))
    assert {k: done[k] for k in ("text", "citations", "passages", "statements", "notes")} == {
        k: direct[k] for k in ("text", "citations", "passages", "statements", "notes")
    }, "as whoever asks in Python"


class _Listener:
    """Asks an application as a server does, and goes away when it has heard enough."""

    def __init__(self, app: Any, body: dict[str, Any], enough: str) -> None:
        self._app = app
        self._enough = enough
        self._body = json.dumps(body).encode()
        self._sent = False
        self.heard = ""
        self.leave = asyncio.Event()

    async def ask(self) -> None:
        scope = {
            "type": "http",
            "asgi": {"version": "3.0", "spec_version": "2.3"},
            "method": "POST",
            "path": "/v1/query",
            "raw_path": b"/v1/query",
            "query_string": b"",
            "headers": [(b"host", b"localhost"), (b"content-type", b"application/json")],
        }
        await self._app(scope, self._receive, self._send)

    async def _receive(self) -> dict[str, Any]:
        if not self._sent:
            self._sent = True
            return {"type": "http.request", "body": self._body, "more_body": False}
        await self.leave.wait()
        return {"type": "http.disconnect"}

    async def _send(self, message: dict[str, Any]) -> None:
        self.heard += message.get("body", b"").decode()
        if self._enough in self.heard:
            self.leave.set()


def test_who_leaves_stops_the_answer_and_keeps_nothing(shelf: Library, chat: Chat) -> None:
    asked_, released = Event(), Event()

    def slow(seen: Seen) -> Reply:
        asked_.set()
        assert released.wait(240)
        return streamed(ANSWER)

    chat.answer = slow
    app = create_app(shelf, Settings(), open_to_all=True)
    server = app.state.server

    async def leaving() -> None:
        listener = _Listener(app, {"question": QUESTION, "conversation": "left"}, "event: step")
        await listener.ask()
        assert "event: done" not in listener.heard
        assert server.streams.open == 0
        assert await asyncio.to_thread(asked_.wait, 240)
        assert server.asking.at_work == 1, "the model is still waited for"
        released.set()
        async with asyncio.timeout(240):
            while server.asking.at_work:
                await asyncio.sleep(0.01)

    asyncio.run(leaving())
    assert "left" not in [one.name for one in shelf.conversations.all()]


def test_a_server_that_stops_ends_its_answers(shelf: Library, chat: Chat) -> None:
    released = Event()

    def slow(seen: Seen) -> Reply:
        server.closing.set()
        assert released.wait(240)
        return streamed(ANSWER)

    chat.answer = slow
    app = create_app(shelf, Settings(), open_to_all=True)
    server = app.state.server

    async def stopped() -> None:
        listener = _Listener(app, {"question": QUESTION}, "event: done")
        await listener.ask()
        (name, problem) = events(listener.heard)[-1]
        assert (name, problem["code"]) == ("error", "server.busy")
        released.set()

    asyncio.run(stopped())


def test_a_model_that_fails_is_done_without(owner: TestClient, chat: Chat) -> None:
    chat.answer = Reply({}, 500)
    told = events(owner.post("/v1/query", json={"question": QUESTION}).text)[-1][1]
    assert told["kind"] == "extracted"
