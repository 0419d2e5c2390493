"""The bot answers in the thread, with citations, and from nothing that a reader may not see."""

import json
from collections.abc import Iterator
from threading import Event, Thread
from typing import Any

import pytest
from tests.reference import open_memory
from tests.sources.server import Asked, Reply, Server, serving
from websockets.sync.server import ServerConnection, serve

from trivium.config import Settings
from trivium.core.answers import Answer, AnswerKind, Citation
from trivium.core.errors import SourceRefused, TriviumError
from trivium.core.types import ChunkId, DocumentId, Element, Extraction, Labels, Place
from trivium.core.work import KeptSource
from trivium.integrations.slack_bot import SlackBot, told
from trivium.library import Library
from trivium.ports import SourceItem
from trivium.sources.service import Service
from trivium.testing.samples import TOY

SAID = {
    "all": "The lamp is kept in the tower.",
    "slack/G1": "The lamp key is under the stone.",
    "slack/G2": "The lamp code is seven.",
    "finance": "The lamp costs nine silver.",
}


# As users.info tells about them: slackapi/java-slack-sdk, json-logs/samples/api/users.info.json.
USERS: dict[str, dict[str, Any]] = {
    "U1": {"id": "U1", "team_id": "T1"},
    "UGUEST": {"id": "UGUEST", "team_id": "T1", "is_restricted": True},
    "USINGLE": {"id": "USINGLE", "team_id": "T1", "is_ultra_restricted": True},
    "UOTHER": {"id": "UOTHER", "team_id": "T2"},
    "USTRANGER": {"id": "USTRANGER", "team_id": "T1", "is_stranger": True},
    "UBOT": {"id": "UBOT", "team_id": "T1", "is_bot": True},
}


OUTSIDERS = ("UGUEST", "USINGLE", "UOTHER", "USTRANGER", "UBOT", "UNKNOWN")
# Who is in a channel, beside the one who asks: in those below someone only reads.
READERS = {f"C{user}": ["U1", user] for user in OUTSIDERS if user != "UBOT"} | {
    "CB": ["U1", "UBOT"]
}
DIRECT = {"type": "message", "channel_type": "im"}


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
    backend = open_memory()
    backend.sources.keep(KeptSource("finance", "slack"))  # its label is for its members
    with Library(backend, TOY, Settings()) as made:
        for label in SAID:
            made.add_from(_Said(label), Labels(audience=label))
        yield made


@pytest.fixture
def slack() -> Iterator[tuple[Server, list[dict[str, Any]]]]:  # noqa: C901
    posted: list[dict[str, Any]] = []

    def answer(asked: Asked) -> Reply:  # noqa: C901
        if asked.path.endswith("users.conversations"):
            if not asked.params.get("cursor"):
                return Reply(
                    {"ok": True, "channels": [], "response_metadata": {"next_cursor": "more"}}
                )
            return Reply({"ok": True, "channels": [{"id": "G1"}]})
        if asked.path.endswith("users.list"):
            return Reply({"ok": True, "members": [*USERS.values()]})
        if asked.path.endswith("conversations.members"):
            return Reply({"ok": True, "members": READERS.get(asked.params["channel"], ["U1"])})
        if asked.path.endswith("users.info"):
            user = USERS.get(asked.params["user"])
            return Reply({"ok": True, "user": user} if user else
                         {"ok": False, "error": "user_not_found"})  # fmt: skip
        if asked.path.endswith("auth.test"):
            return Reply({"ok": True, "team_id": "T1", "enterprise_id": None})
        if asked.path.endswith("conversations.info"):
            shared = asked.params["channel"] == "C9"
            return Reply({"ok": True, "channel": {"id": "C1", "is_ext_shared": shared}})
        if asked.path.endswith("chat.postMessage"):
            if asked.body["channel"] == "CARCHIVED":
                return Reply({"ok": False, "error": "is_archived"})
            if len(asked.body["text"]) > 40_000:
                return Reply({"ok": False, "error": "msg_too_long"})
            posted.append(asked.body)
            return Reply({"ok": True})
        return Reply({"ok": False, "error": "unknown_method"})

    with serving(answer) as server:
        yield server, posted


def bot(library: Library, url: str) -> SlackBot:
    service = Service("Slack", url, {"Authorization": "Bearer x"})
    return SlackBot(library, service, service, lambda seconds: None)


def event(channel: str, text: str, **more: Any) -> dict[str, Any]:
    said = {"type": "app_mention", "user": "U1", "channel": channel, "text": text, "ts": "1.5"}
    return {"event_id": f"E{channel}{text}", "event": {**said, **more}}


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
        ({"channel": "C1"}, {"all", "finance"}),
        ({"channel": "C9"}, {"all"}),  # shared with another organisation
        ({"channel": "CB"}, {"all", "finance"}),  # with a bot of the workspace's own
        *(({"channel": channel}, {"all"}) for channel in READERS if channel != "CB"),
        ({"channel": "G2"}, {"all", "finance", "slack/G2"}),
        ({"channel": "D1", **DIRECT}, {"all", "finance", "slack/G1"}),
        *(({"channel": "G2", "user": user}, {"all", "slack/G2"}) for user in OUTSIDERS),
        *(({"channel": "D1", "user": user, **DIRECT}, {"all", "slack/G1"}) for user in OUTSIDERS),
    ],
)
def test_it_answers_from_what_every_reader_may_see(
    library: Library,
    slack: tuple[Server, list[dict[str, Any]]],
    where: dict[str, str],
    seen: set[str],
) -> None:
    said = {**event("", "what does the lamp cost in silver?")["event"], **where}
    (reply,) = replied(library, slack, {"event_id": "E", "event": said})
    for label, text in SAID.items():
        if label not in seen:
            assert text not in reply["text"], label
    member = seen > {"all"} and "finance" in seen
    assert ("silver" in reply["text"]) is member


def test_a_reply_that_slack_refuses_does_not_end_it(
    library: Library, slack: tuple[Server, list[dict[str, Any]]]
) -> None:
    replies = replied(library, slack, event("CARCHIVED", "lamp"), event("C1", "lamp"))
    assert [one["channel"] for one in replies] == ["C1"]


def test_an_event_without_a_channel_is_no_question(
    library: Library, slack: tuple[Server, list[dict[str, Any]]]
) -> None:
    assert replied(library, slack, {"event": {"type": "app_mention", "user": "U1"}}, {}) == []


@pytest.mark.parametrize(
    ("link", "shown"),
    [
        ("https://x.org/a?b=1&c=2", "<https://x.org/a?b=1&amp;c=2|A>"),
        ("https://x.org/> <!channel> <", "<https://x.org/%3E%20%3C!channel%3E%20%3C|A>"),
        ("https://x.org/|<!here", "<https://x.org/%7C%3C!here|A>"),
        ("http<!channel>", "A"),
        ("javascript:alert(1)", "A"),
    ],
)
def test_a_link_of_a_document_cannot_mention_a_channel(link: str, shown: str) -> None:
    cited = Citation(1, ChunkId(1), DocumentId(1), 0, "A", "u", "c", (), (), None, link, "x")
    answer = Answer("q", "q", AnswerKind.EXTRACTED, "x [1]", (cited,), (cited,), ())
    assert told(answer).splitlines()[-1] == f"[1] {shown}"


def test_what_goes_wrong_is_escaped(
    library: Library, slack: tuple[Server, list[dict[str, Any]]], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise TriviumError("No <!channel> & more.")

    monkeypatch.setattr(library, "ask", fail)
    (reply,) = replied(library, slack, event("C1", "lamp"))
    assert reply["text"] == "I couldn't answer that: No &lt;!channel&gt; &amp; more."


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
