"""What a message of Slack says, each line once.

Blocks and attachments in the shapes of slackapi/node-slack-sdk, packages/types/src/block-kit
(`blocks.ts`, `block-elements.ts`) and of slackapi/java-slack-sdk,
json-logs/samples/api/conversations.history.json.
"""

from typing import Any

import pytest

from trivium.extract.slack_message import author_of, person, texts

NAMES = {"U1": "Ada", "U2": "Bob", "C1": "general"}


def mrkdwn(text: str) -> dict[str, Any]:
    return {"type": "mrkdwn", "text": text, "verbatim": False}


def plain(text: str) -> dict[str, Any]:
    return {"type": "plain_text", "text": text, "emoji": True}


def rich(*elements: dict[str, Any]) -> dict[str, Any]:
    return {"type": "rich_text", "block_id": "b", "elements": list(elements)}


def section(*elements: dict[str, Any]) -> dict[str, Any]:
    return {"type": "rich_text_section", "elements": list(elements)}


def test_what_a_person_writes_comes_once() -> None:
    """Slack's own client sends the text, and the same as rich_text."""
    said = {
        "text": "Hi <@U1>, see <https://x.org|the plan> in <#C1> :tada: &amp; <!here>",
        "blocks": [
            rich(
                section(
                    {"type": "text", "text": "Hi "},
                    {"type": "user", "user_id": "U1"},
                    {"type": "text", "text": ", see "},
                    {"type": "link", "url": "https://x.org", "text": "the plan"},
                    {"type": "text", "text": " in "},
                    {"type": "channel", "channel_id": "C1"},
                    {"type": "text", "text": " "},
                    {"type": "emoji", "name": "tada"},
                    {"type": "text", "text": " & "},
                    {"type": "broadcast", "range": "here"},
                )
            )
        ],
    }
    (line,) = texts(said, NAMES)
    assert line == "Hi @Ada, see the plan (https://x.org) in #general :tada: & @here"


def test_every_kind_of_block_is_read_beside_the_text() -> None:
    said = {
        "text": "Build 7 failed",
        "blocks": [
            {"type": "header", "text": plain("Build 7 failed")},
            {"type": "section", "text": mrkdwn("On *main* by <@U2>"),
             "fields": [mrkdwn("*Branch*"), plain("release")],
             "accessory": {"type": "image", "image_url": "x", "alt_text": "A red light"}},
            {"type": "context", "elements": [mrkdwn("Took 9 min"),
                                             {"type": "image", "alt_text": "clock"}]},
            {"type": "image", "image_url": "x", "alt_text": "A graph of tests", "title":
             plain("Tests today")},
            {"type": "video", "title": plain("Replay"), "description": plain("What happened"),
             "alt_text": "A recording", "author_name": "Cam"},
            {"type": "table", "rows": [
                [{"type": "raw_text", "text": "Suite"}, {"type": "raw_text", "text": "Result"}],
                [{"type": "raw_text", "text": "unit"},
                 rich(section({"type": "text", "text": "broken"}))]]},
            {"type": "markdown", "text": "**Ask** the owner"},
            rich({"type": "rich_text_list", "style": "bullet",
                  "elements": [section({"type": "text", "text": "first step"}),
                               section({"type": "text", "text": "second step"})]},
                 {"type": "rich_text_quote", "elements": [{"type": "text", "text": "a quote"}]},
                 {"type": "rich_text_preformatted",
                  "elements": [{"type": "text", "text": "make test"}]}),
            {"type": "actions", "elements": [{"type": "button", "text": plain("Retry")}]},
            {"type": "divider"},
        ],
    }  # fmt: skip
    assert texts(said, NAMES) == [
        "Build 7 failed", "On *main* by @Bob", "*Branch*", "release", "A red light", "Took 9 min",
        "clock", "Tests today", "A graph of tests", "Cam", "Replay", "What happened",
        "A recording", "Suite | Result", "unit | broken", "**Ask** the owner", "first step",
        "second step", "a quote", "make test",
    ]  # fmt: skip


def test_attachments_with_fields_and_blocks_are_read() -> None:
    said = {
        "text": "",
        "attachments": [
            {"fallback": "Alarm: disk", "pretext": "Alarm", "title": "Disk full", "text": "db-1",
             "fields": [{"title": "Severity", "value": "High", "short": True}]},
            {"fallback": "[no preview]", "blocks": [{"type": "section", "text": mrkdwn("Inside")}]},
            {"fallback": "Only this"},
            {"author_name": "Ada", "is_msg_unfurl": True, "text": "As I said", "message_blocks": [
                {"team": "T1", "message": {"blocks": [rich(section(
                    {"type": "text", "text": "As I said"}))]}}]},
        ],
    }  # fmt: skip
    assert texts(said, NAMES) == [
        "Alarm", "Disk full", "db-1", "Severity", "High", "Inside", "Only this", "Ada",
        "As I said",
    ]  # fmt: skip


def test_a_huddle_says_who_was_there() -> None:
    said = {
        "subtype": "huddle_thread", "text": "", "user": "USLACKBOT",
        "room": {"id": "R1", "name": "", "participant_history": ["U1", "U2"], "has_ended": True},
        "files": [{"id": "F1", "title": "Huddle notes"}],
    }  # fmt: skip
    assert texts(said, NAMES) == ["Huddle with Ada, Bob", "[Huddle notes]"]


@pytest.mark.parametrize(
    ("message", "author"),
    [
        ({"user": "U1"}, "Ada"),
        ({"user": "U9", "user_profile": {"display_name": "", "real_name": "Eve"}}, "Eve"),
        ({"user": "U9", "user_profile": {"name": "eve"}}, "eve"),
        ({"bot_id": "B1", "bot_profile": {"name": "Deploys"}}, "Deploys"),
        ({"bot_id": "B1", "username": "Oracle", "subtype": "bot_message"}, "Oracle"),
        ({"subtype": "file_comment", "comment": {"user": "U2"}}, "Bob"),
        ({"user": "U9", "real_name": "Eve"}, "Eve"),
        ({"user": "U9"}, "U9"),
        ({"bot_id": "B9"}, "B9"),
        ({}, ""),
    ],
)
def test_a_message_has_an_author(message: dict[str, Any], author: str) -> None:
    assert author_of(message, NAMES) == author


@pytest.mark.parametrize(
    ("shown", "real", "name"),
    [
        ("nora", "Nora Lind", "Nora Lind"),
        ("Liz", "Elizabeth Smith", "Elizabeth Smith (Liz)"),
        ("Nora Lind (she/her)", "Nora Lind", "Nora Lind (she/her)"),
        ("Ada", "Ada", "Ada"),
        ("Ada", "", "Ada"),
        ("", "Bo Lee", "Bo Lee"),
        ("", "", "account"),
    ],
)
def test_people_have_the_names_by_which_others_know_them(shown: str, real: str, name: str) -> None:
    profile = {"display_name": shown, "real_name": real}
    assert person({"id": "U1", "name": "account", "profile": profile}) == name


def test_blocks_that_make_no_sense_are_left_out() -> None:
    deep: dict[str, Any] = {"type": "section"}
    for _ in range(50):
        deep = {"type": "section", "elements": [deep]}
    said = {"text": None, "blocks": [deep, None, 3, {"type": "table", "rows": [3, None]}],
            "attachments": "no", "files": [None], "room": []}  # fmt: skip
    assert texts(said, NAMES) == []
