"""Slack's Web API: the contract, and what is special about it, against a local workspace."""

import json
from collections.abc import Callable, Iterator, Sequence

import pytest
from tests.sources.server import Reply, Server, serving
from tests.sources.slack_server import NOW, TOKEN, Workspace

from trivium.core.errors import SourceRefused, SourceUnreachable, UrlFailed
from trivium.core.types import Extraction
from trivium.ports import Checkpoint, Failed, Put, SourceAsked, SyncSource, Wait
from trivium.sources.service import Service
from trivium.sources.slack import KIND, SlackSource
from trivium.testing.source_contract import SourceContract, State, apply, everything

DAY = 86_400.0


@pytest.fixture
def workspace() -> Workspace:
    made = Workspace(most=3)
    made.channel("C1", "general")
    made.channel("G1", "secret", is_private=True)
    made.files["F1"] = b"A map."
    for n in range(7):
        made.post("C1", NOW - n * DAY, f"Message {n} for <@U2>", "U1" if n % 2 else "U2")
    old = made.post("C1", NOW - 200 * DAY, "An old thread")
    for n in range(4):
        made.reply("C1", old, NOW - 190 * DAY + n, f"Reply {n}")
    young = made.post("C1", NOW - 5 * DAY - 1, "A young thread")
    made.reply("C1", young, NOW - 4 * DAY, "Shown too", subtype="thread_broadcast")
    made.post("C1", NOW - 3 * DAY - 1, "joined", subtype="channel_join")
    made.post("G1", NOW - DAY, "Hush")
    return made


@pytest.fixture
def server(workspace: Workspace) -> Iterator[Server]:
    with serving(workspace.answer) as made:
        workspace.url = made.url
        stamp = f"{NOW - DAY:.6f}"
        file = {"id": "F1", "name": "map.txt", "size": 6, "title": "The map",
                "url_private_download": f"{made.url}files/F1"}  # fmt: skip
        workspace.messages["C1"][stamp]["files"] = [file]
        yield made


def slack(server: Server, **more: object) -> SlackSource:
    service = Service("Slack", f"{server.url}api/", {"Authorization": f"Bearer {TOKEN}"})
    return SlackSource(service, clock=lambda: NOW, **more)  # type: ignore[arg-type]


class TestSlack(SourceContract):
    @pytest.fixture
    def source(self, server: Server) -> SyncSource:
        return slack(server)

    @pytest.fixture
    def edits(
        self, workspace: Workspace, server: Server, source: SyncSource
    ) -> Sequence[Callable[[], object]]:
        at = f"{NOW - 2 * DAY:.6f}"
        young = f"{NOW - 5 * DAY - 1:.6f}"
        old = f"{NOW - 200 * DAY:.6f}"  # the lookback is 30 days

        def late_reply() -> None:
            workspace.reply("C1", young, NOW - 60, "A late reply")

        def edit_reply() -> None:
            workspace.edit("C1", f"{NOW - 60:.6f}", "A late reply, edited")

        def drop_file() -> None:
            stamp = f"{NOW - DAY:.6f}"
            workspace.messages["C1"][stamp].pop("files")
            workspace.edit("C1", stamp, "No map any more")

        def make_public() -> None:
            workspace.channels["G1"]["is_private"] = False

        return (
            lambda: workspace.post("C1", NOW + 1, "New"),
            lambda: workspace.edit("C1", at, "Edited"),
            late_reply,
            edit_reply,
            lambda: workspace.delete("C1", f"{NOW - 60:.6f}"),
            lambda: workspace.delete("C1", f"{NOW - 3 * DAY:.6f}"),
            lambda: workspace.delete("C1", young),
            drop_file,
            lambda: workspace.reply("C1", old, NOW - 30, "Late, to an old thread"),
            lambda: workspace.edit("C1", old, "An old thread with other words"),
            lambda: workspace.delete("C1", f"{NOW - 190 * DAY:.6f}"),
            lambda: workspace.delete("C1", old),
            make_public,
            lambda: workspace.channels.pop("G1"),
        )


def test_everything_known_of_a_message_is_told(server: Server) -> None:
    found = {one.id: one for one in slack(server).changes("") if isinstance(one, Put)}
    thread = f"C1/{NOW - 200 * DAY:.6f}"
    reply = found[f"{thread}/{NOW - 190 * DAY:.6f}"]
    assert isinstance(reply.content, Extraction)
    assert reply.content.elements[0].headings[:2] == ("#general", "An old thread")
    assert reply.metadata["authors"] == ("Ada",)
    assert str(reply.metadata["link"]).startswith("https://x.slack.com/archives/C1/p")
    message = found[f"C1/{NOW:.6f}"]
    assert isinstance(message.content, Extraction)
    assert message.content.text == "Message 0 for @Bob"
    file = found[f"C1/{NOW - DAY:.6f}/F1"]
    assert not isinstance(file.content, Extraction)
    assert (file.content(), file.title, file.audience) == (b"A map.", "The map", "all")
    assert found[f"G1/{NOW - DAY:.6f}"].audience == "slack/G1"


def test_one_request_a_minute_is_enough(workspace: Workspace, server: Server) -> None:
    """Every request is refused once first, and the process ends after every cursor."""
    workspace.most = 15
    for n in range(40):
        workspace.post("C1", NOW - 300 * DAY - n, f"Old {n}")
    whole = everything(slack(server))
    limited = Reply({"ok": False, "error": "ratelimited"}, 429, {"Retry-After": "60"})
    state: State = {}
    cursor, waited, runs = "", 0.0, 0
    while True:
        runs += 1
        server.troubles = [limited]
        ended = True
        for change in slack(server).changes(cursor):
            apply(state, [change])
            if isinstance(change, Wait):
                waited += change.seconds
            if isinstance(change, Checkpoint):
                ended = change.done == change.of
                cursor = change.cursor
                break
        if ended and not json.loads(cursor)["done"]:
            break
    assert state == whole
    assert runs >= 5
    assert waited == 60.0 * runs


def test_old_messages_are_looked_through_a_few_pages_at_a_time(
    workspace: Workspace, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("trivium.sources.slack._SWEEP", 2)
    stamps = [workspace.post("C1", NOW - 300 * DAY - n, f"Old {n}") for n in range(12)]
    state: State = {}
    cursor = apply(state, slack(server).changes(""))
    workspace.edit("C1", stamps[-1], "The oldest, edited")
    workspace.delete("C1", stamps[5])
    runs = 0
    while state != everything(slack(server)):
        runs += 1
        server.asked.clear()
        assert cursor is not None
        cursor = apply(state, slack(server).changes(cursor))
        history = [one for one in server.asked if one.path.endswith("history")]
        assert all({"oldest", "latest"} <= one.params.keys() for one in history)
        assert len([one for one in history if one.params["oldest"] == "0"]) <= 2
    assert 2 <= runs <= 5  # 13 messages are older than the lookback, 3 on a page


def test_a_file_that_a_reply_lost_goes(workspace: Workspace, server: Server) -> None:
    thread = workspace.post("C1", NOW - 100, "A thread")
    reply = workspace.reply("C1", thread, NOW - 90, "With a map")
    workspace.messages["C1"][reply]["files"] = [
        {"id": "F1", "name": "map.txt", "url_private_download": f"{server.url}files/F1"}
    ]
    state: State = {}
    cursor = apply(state, slack(server).changes(""))
    assert f"C1/{thread}/{reply}/F1" in state
    del workspace.messages["C1"][reply]["files"]
    assert cursor is not None
    apply(state, slack(server).changes(cursor))
    assert state == everything(slack(server))


def test_a_token_that_expired_is_said(workspace: Workspace, server: Server) -> None:
    workspace.token = "another"
    with pytest.raises(SourceRefused, match="invalid_auth"):
        list(slack(server).changes(""))


def test_a_channel_that_is_closed_fails_alone(workspace: Workspace, server: Server) -> None:
    workspace.closed.add("G1")
    changes = list(slack(server).changes(""))
    assert [one.id for one in changes if isinstance(one, Failed)] == ["G1"]
    assert any(one.id.startswith("C1/") for one in changes if isinstance(one, Put))


def test_failures_that_pass_are_waited_for_and_others_end_it(server: Server) -> None:
    whole = everything(slack(server))
    server.troubles = [Reply(b"oops", 500), Reply(b"oops", 502)]
    assert everything(slack(server)) == whole
    server.troubles = [Reply(b"oops", 500)] * 5
    with pytest.raises(SourceUnreachable, match="500"):
        list(slack(server).changes(""))


@pytest.mark.parametrize(
    ("url", "gets_it"),
    [
        ("https://slack.com/api/auth.test", True),
        ("https://files.slack.com/files-pri/T0-F0/download/map.pdf", True),
        ("https://acme.enterprise.slack.com/files-pri/T0-F0/map.pdf", True),
        ("https://files.slack-gov.com/files-pri/T0-F0/map.pdf", True),
        ("http://files.slack.com/files-pri/T0-F0/map.pdf", False),
        ("https://files.slack.com:8443/files-pri/T0-F0/map.pdf", False),
        ("https://files.slack.com.example.org/map.pdf", False),
        ("https://notslack.com/map.pdf", False),
        ("https://example.org/?files.slack.com", False),
        ("https://slack.com@example.org/", False),
        ("https://slack-files.com/T0-F0", False),
        ("https://[broken/", False),
    ],
)
def test_the_token_goes_to_the_hosts_of_slack_alone(url: str, gets_it: bool) -> None:
    """Hosts of recorded file objects: slackapi/java-slack-sdk, json-logs/samples/api."""
    made = KIND.make(SourceAsked(secrets={"token": TOKEN}))
    assert isinstance(made, SlackSource)
    assert made.sends_token_to(url) is gets_it


def file_of(server: Server, id_: str = "F1") -> Put:
    files = [one for one in slack(server).changes("") if isinstance(one, Put)]
    (file,) = [one for one in files if one.id.endswith(id_)]
    return file


def read(put: Put) -> bytes:
    assert not isinstance(put.content, Extraction)
    return put.content()


def test_a_file_that_lies_elsewhere_is_not_fetched(workspace: Workspace, server: Server) -> None:
    with serving(lambda asked: Reply(b"stolen", 200)) as other:
        stamp = f"{NOW - DAY:.6f}"
        workspace.messages["C1"][stamp]["files"][0]["url_private_download"] = f"{other.url}x"
        with pytest.raises(UrlFailed, match="instead of giving the file"):
            read(file_of(server))
        assert not other.asked


def test_a_sign_in_page_is_a_failure_and_not_a_document(
    workspace: Workspace, server: Server
) -> None:
    workspace.hides_files = True
    for media_type in ("text/plain", "application/pdf", None):
        file = workspace.messages["C1"][f"{NOW - DAY:.6f}"]["files"][0]
        file["mimetype"] = media_type
        with pytest.raises(UrlFailed, match="sign-in page"):
            read(file_of(server))


def test_a_file_of_another_organisation_is_looked_up(workspace: Workspace, server: Server) -> None:
    """Slack Connect: docs.slack.dev/reference/objects/file-object, `file_access`."""
    stamp = f"{NOW - DAY:.6f}"
    hidden = {"id": "F1", "mode": "file_access", "file_access": "check_file_info"}
    (whole,) = workspace.messages["C1"][stamp]["files"]
    workspace.messages["C1"][stamp]["files"] = [hidden, {**hidden, "id": "F2"}]
    workspace.infos["F1"] = {**whole, "mode": "hosted"}
    assert read(file_of(server)) == b"A map."
    failed = [one for one in slack(server).changes("") if isinstance(one, Failed)]
    assert [one.id for one in failed] == [f"C1/{stamp}/F2"]
    assert "file_not_found" in failed[0].message


def test_a_bot_and_a_stranger_have_names(workspace: Workspace, server: Server) -> None:
    """Shapes: slackapi/java-slack-sdk, json-logs/samples/api/bots.info.json, users.info.json."""
    workspace.bots["B1"] = "Deploys"
    workspace.strangers["U9"] = {"id": "U9", "name": "eve", "real_name": "Eve of Other"}
    ts = [workspace.post("C1", NOW - n, "Said") for n in range(1, 6)]
    said = workspace.messages["C1"]
    said[ts[0]] |= {"user": None, "bot_id": "B1", "subtype": "bot_message"}
    said[ts[1]] |= {"user": None, "bot_id": "B2", "bot_profile": {"id": "B2", "name": "Alerts"}}
    said[ts[2]] |= {"user": "U1", "bot_id": "B1", "subtype": "bot_message", "username": "Oracle"}
    said[ts[3]] |= {"user": "U9"}
    said[ts[4]] |= {"user": "U8"}
    found = {one.id: one for one in slack(server).changes("") if isinstance(one, Put)}
    authors = [found[f"C1/{one}"].metadata["authors"] for one in ts]
    assert authors == [("Deploys",), ("Alerts",), ("Oracle",), ("Eve of Other",), ("U8",)]


def test_a_thread_that_cannot_be_read_fails_alone(workspace: Workspace, server: Server) -> None:
    thread = f"{NOW - 200 * DAY:.6f}"
    workspace.lost.add(thread)
    changes = list(slack(server).changes(""))
    (failed,) = [one for one in changes if isinstance(one, Failed)]
    assert (failed.id, failed.hides) == (f"C1/{thread}/replies", f"C1/{thread}/")
    assert f"C1/{thread}" in {one.id for one in changes if isinstance(one, Put)}
    workspace.lost.clear()
    state: State = {}
    cursor = [one for one in changes if isinstance(one, Checkpoint)][-1].cursor
    apply(state, [*changes, *slack(server).changes(cursor)])
    assert f"C1/{thread}/{NOW - 190 * DAY:.6f}" in state


def test_an_app_that_slack_limits_is_told_why_it_takes_long(
    workspace: Workspace, server: Server
) -> None:
    """docs.slack.dev/changelog/2025/05/29/tos-updates: 15 messages, one request a minute."""
    workspace.channels["C1"]["created"] = int(NOW - 100 * DAY)
    waits, points = [], []
    for change in slack(server).changes(""):
        if isinstance(change, Checkpoint):
            limit = Reply({"ok": False, "error": "ratelimited"}, 429, {"Retry-After": "60"})
            server.troubles = [limit] if len(points) < 2 else []
            points.append(change)
        waits += [change] if isinstance(change, Wait) else []
    assert waits[0].seconds == 60
    assert "one request a minute" in waits[0].reason
    assert [one.done for one in points] == sorted(one.done for one in points)
    assert 0 < points[0].done < 100 < points[-1].done == points[-1].of == 200


def test_only_the_channels_asked_for(server: Server) -> None:
    found = everything(slack(server, channels=["#secret"]))
    assert {id_.split("/")[0] for id_ in found} == {"G1"}
