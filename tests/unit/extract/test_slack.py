"""A Slack export becomes one document of messages for every channel."""

import json

from tests.unit.extract.making import check_offsets, pieces, zipped

from trivium.core.types import Kind
from trivium.extract.slack import read_slack_channel, read_slack_export
from trivium.extract.slack_message import readable
from trivium.ports import Blob

USERS = [
    {"id": "U1", "name": "ann", "profile": {"display_name": "Ann"}},
    {"id": "U2", "name": "bo", "real_name": "Bo Lee", "profile": {}},
]
DAY_1 = [
    {"user": "U1", "ts": "1454884927.000002", "text": "Hi <@U2> &amp; all", "type": "message"},
    {"user": "U2", "ts": "1454884930.0", "subtype": "channel_join", "text": "joined"},
    {"user": "U2", "ts": "1454884999.0", "text": "", "files": [{"title": "Plan.pdf"}]},
]
DAY_2 = [{"username": "robot", "ts": "1454971327", "text": "", "attachments": [{"text": "built"}]}]
EXPORT = zipped(
    {
        "users.json": json.dumps(USERS),
        "channels.json": json.dumps([{"name": "boats", "topic": {"value": "All boats"}}]),
        "dms.json": json.dumps([{"id": "D1", "members": ["U1", "U2"]}]),
        "boats/2016-02-08.json": json.dumps(DAY_2),
        "boats/2016-02-07.json": json.dumps(DAY_1),
        "boats/2016-02-09.json": "{broken",
        "D1/2016-02-07.json": json.dumps([{"user": "U1", "ts": "1454884927", "text": "Private"}]),
    }
)


def test_channels_are_enclosed_and_read() -> None:
    blob = Blob("export.zip", EXPORT)
    assert read_slack_export.accepts(blob)
    overview = read_slack_export.extract(blob)
    assert overview.text == (
        "Ann, Bo Lee: 1 message, 2016-02-07 to 2016-02-07\n"
        "#boats: 3 messages, 2016-02-07 to 2016-02-08"
    )
    channel = Blob(overview.enclosed[1].name, overview.enclosed[1].data)
    assert channel.name == "boats.slack.json"
    assert read_slack_channel.accepts(channel)
    result = read_slack_channel.extract(channel)
    check_offsets(result)
    assert pieces(result) == [
        ("message", "Ann, 2016-02-07 22:42:\nHi @Bo Lee & all"),
        ("message", "Bo Lee, 2016-02-07 22:43:\n[Plan.pdf]"),
        ("message", "robot, 2016-02-08 22:42:\nbuilt"),
    ]
    assert [(e.place.authors, e.place.time) for e in result.elements] == [
        (("Ann",), "2016-02-07T22:42:07+00:00"),
        (("Bo Lee",), "2016-02-07T22:43:19+00:00"),
        (("robot",), "2016-02-08T22:42:07+00:00"),
    ]
    assert (result.title, result.kind) == ("#boats", Kind.MESSAGES)
    assert result.metadata["topic"] == "All boats"


def test_marks_become_readable() -> None:
    text = "<https://x.org|site> <https://y.org> <#C1|general> <!here> <@U9>"
    assert readable(text, {}) == "site (https://x.org) https://y.org #general @here @U9"


def test_other_archives_are_no_exports() -> None:
    assert not read_slack_export.accepts(Blob("x.zip", zipped({"users.json": "[]"})))
