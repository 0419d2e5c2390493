"""The bot answers in the thread, with citations, and from nothing that a reader may not see."""

import json
from collections.abc import Iterator
from threading import Event, Thread
from typing import Any

import pytest
from tests.sources.server import Asked, Reply, Server, serving
from websockets.sync.server import ServerConnection, serve

from trivium.config import Settings
from trivium.errors import SourceRefused
from trivium.integrations.slack_bot import SlackBot
from trivium.library import Library
from trivium.ports import SourceItem
from trivium.sources.service import Service
from trivium.store.memory.backend import open_memory
from trivium.testing.samples import TOY
from trivium.types import Element, Extraction, Labels, Place

SAID = {
    "all": "The lamp is kept in the tower.",
    "slack/G1": "The lamp key is under the stone.",
    "slack/G2": "The lamp code is seven.",
    "finance": "The lamp costs much silver.",
}


class _Said:
    def __init__(self, label: str) -> None:
        self._label = label

    def items(self) -> Iterator[SourceItem]:
        text = SAID[self._label]
        place = Place(authors=("Ada",), link=f"https://x.slack.com/{self._label}")
        read = Extraction(text, (Element("message", 0, len(text), place=place),), "<!here>", "a/b")
        yield SourceItem(f"said:{self._label}", "said", read)


@pytest.fixture(scope="module")
def library() -> Iterator[Library]:
    with Library(open_memory(), TOY, Settings()) as made:
        for label in SAID:
            made.add_from(_Said(label), Labels(audience=label))
        yield made


@pytest.fixture
def slack() -> Iterator[tuple[Server, list[dict[str, Any]]]]:
    posted: list[dict[str, Any]] = []

    def answer(asked: Asked) -> Reply:
        if asked.path.endswith("users.conversations"):
            if not asked.params.get("cursor"):
                return Reply(
                    {"ok": True, "channels": [], "response_metadata": {"next_cursor": "more"}}
                )
            return Reply({"ok": True, "channels": [{"id": "G1"}]})
        if asked.path.endswith("chat.postMessage"):
            posted.append(asked.body)
        return Reply({"ok": True})

    with serving(answer) as server:
        yield server, posted


def bot(library: Library, url: str) -> SlackBot:
    service = Service("Slack", url, {"Authorization": "Bearer x"})
    return SlackBot(library, service, service, lambda seconds: None)


def event(channel: str, text: str, **more: Any) -> dict[str, Any]:
    told = {"type": "app_mention", "user": "U1", "channel": channel, "text": text, "ts": "1.5"}
    return {"event_id": f"E{channel}{text}", "event": {**told, **more}}


def replied(
    library: Library, slack: tuple[Server, list[dict[str, Any]]], *events: dict[str, Any]
) -> list[dict[str, Any]]:
    made = bot(library, slack[0].url)
    for one in events:
        made.hear(one)
    return slack[1]


def test_it_answers_in_the_thread_with_citations(
    library: Library, slack: tuple[Server, list[dict[str, Any]]]
) -> None:
    asked = event("C1", "<@UBOT> where is the lamp kept?", thread_ts="1.0")
    (reply,) = replied(library, slack, asked, asked)  # Slack tells of it twice
    assert (reply["channel"], reply["thread_ts"]) == ("C1", "1.0")
    assert SAID["all"] in reply["text"]
    assert "<https://x.slack.com/all|&lt;!here&gt;>" in reply["text"]


@pytest.mark.parametrize(
    ("where", "seen"),
    [
        ({"channel": "C1"}, {"all"}),
        ({"channel": "G2"}, {"all", "slack/G2"}),
        ({"channel": "D1", "type": "message", "channel_type": "im"}, {"all", "slack/G1"}),
    ],
)
def test_it_answers_from_what_every_reader_may_see(
    library: Library,
    slack: tuple[Server, list[dict[str, Any]]],
    where: dict[str, str],
    seen: set[str],
) -> None:
    told = {**event("", "lamp")["event"], **where}
    (reply,) = replied(library, slack, {"event_id": "E", "event": told})
    for label, text in SAID.items():
        if label not in seen:
            assert text not in reply["text"], label


def test_it_hears_no_bots_and_no_edits(
    library: Library, slack: tuple[Server, list[dict[str, Any]]]
) -> None:
    for more in ({"bot_id": "B1"}, {"subtype": "message_changed"}, {"type": "message"}):
        assert replied(library, slack, event("C1", "lamp", **more)) == []


def test_it_listens_until_it_is_stopped(
    library: Library, slack: tuple[Server, list[dict[str, Any]]]
) -> None:
    server, posted = slack
    stop, acknowledged = Event(), []

    def talk(socket: ServerConnection) -> None:
        socket.send(json.dumps({"type": "hello"}))
        payload = event("C1", "<@UBOT> lamp?")
        socket.send(json.dumps({"type": "events_api", "envelope_id": "v1", "payload": payload}))
        acknowledged.append(json.loads(socket.recv()))
        while not posted:
            stop.wait(0.01)
        stop.set()

    with serve(talk, "127.0.0.1", 0) as sockets:
        Thread(target=sockets.serve_forever, daemon=True).start()
        port = sockets.socket.getsockname()[1]
        before = server.answer

        def answer(asked: Asked) -> Reply:
            if asked.path.endswith("apps.connections.open"):
                return Reply({"ok": True, "url": f"ws://127.0.0.1:{port}"})
            return before(asked)

        server.answer = answer
        bot(library, server.url).run(stop)
        sockets.shutdown()
    assert acknowledged == [{"envelope_id": "v1"}]
    assert len(posted) == 1
    server.answer = lambda asked: Reply({"ok": False, "error": "invalid_auth"})
    with pytest.raises(SourceRefused, match="invalid_auth"):
        bot(library, server.url).run(Event())
