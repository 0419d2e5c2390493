"""What a message of Slack says, and who says it: text, blocks, attachments, files, huddles.

A message says most things twice: in `text`, and in blocks or attachments. Here every line comes
once. Blocks as in slackapi/node-slack-sdk, packages/types/src/block-kit. Knows nothing of where
messages come from.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

Message = Mapping[str, Any]

_MARK = re.compile(r"<([@#!]?)([^<>|]*)(?:\|([^<>]*))?>")
_WORD = re.compile(r"\w+")
_DEEPEST = 10  # blocks within blocks
# Of a block, an element, an attachment or a field: texts in the order in which people see them.
_PARTS = (
    "pretext", "author_name", "title", "subtitle", "label", "text", "body", "value", "description",
    "details", "output", "hint", "alt_text",
)  # fmt: skip
_BELOW = ("fields", "elements", "tasks", "accessory", "hero_image", "blocks", "message_blocks")
_INLINE = {
    "user": ("<@{}>", "user_id"),
    "channel": ("<#{}>", "channel_id"),
    "usergroup": ("<!subteam^{}>", "usergroup_id"),
    "broadcast": ("<!{}>", "range"),
    "emoji": (":{}:", "name"),
    "date": ("{}", "fallback"),
    "color": ("{}", "value"),
}
_UNSAID = ("actions", "context_actions", "divider", "input")  # buttons and fields to fill in


def readable(text: str, names: Mapping[str, str]) -> str:
    """Slack's marks as people see them: @names, #channels, the words of links."""

    def show(mark: re.Match[str]) -> str:
        sign, target, label = mark[1], mark[2], mark[3]
        if sign == "@":
            return f"@{label or names.get(target) or target}"
        if sign == "#":
            return f"#{label or names.get(target) or target}"
        if sign == "!":
            return f"@{label or target.split('^')[0]}"
        return f"{label} ({target})" if label and label not in target else target

    return html.unescape(_MARK.sub(show, text)).strip()


def texts(message: Message, names: Mapping[str, str]) -> list[str]:
    """Every line of a message once, and the names of its files."""
    lines = [readable(str(message.get("text") or ""), names)]
    seen = [_words(lines[0])]
    for line in (*_huddle(message, names), *_lines(message, names)):
        words = _words(line)
        if words and not any(f" {words} " in f" {earlier} " for earlier in seen):
            lines.append(line)
            seen.append(words)
    files = message.get("files") or [message.get("file")]
    lines += [f"[{name}]" for file in dicts(files) if (name := file_name(file))]
    return [line for line in lines if line]


def author_of(message: Message, names: Mapping[str, str]) -> str:
    """A person's name, else a bot's or an app's, else an id. A bot may choose a name for one
    message, which people see in place of its own."""
    about = [message, *dicts([message.get("comment"), message.get("file")])]
    directory_names = (names.get(str(fields.get("user") or "")) for fields in about)
    profiles = dicts([message.get("user_profile"), message.get("bot_profile")])
    profile_names = (
        profile.get(part) for profile in profiles for part in ("display_name", "real_name", "name")
    )
    chosen = message.get("username")
    bot = str(message.get("bot_id") or "")
    names_by_rank = (
        chosen if message.get("subtype") == "bot_message" else "",
        *directory_names,
        *profile_names,
        chosen,
        message.get("real_name"),
        message.get("user_name"),
        names.get(bot),
        *(fields.get("user") for fields in about),
        bot,
    )
    return next((str(name) for name in names_by_rank if name), "")


def person(user: Message) -> str:
    """The full name, with the name that people see if it is another: people search for either.
    Without a full name what people see, else the account."""
    profile = user.get("profile")
    profile = profile if isinstance(profile, dict) else {}
    display_name = str(profile.get("display_name") or "")
    real = str(profile.get("real_name") or user.get("real_name") or "")
    of_shown, of_real = set(_words(display_name).split()), set(_words(real).split())
    if display_name and len(of_real) > 1 and not of_real <= of_shown:
        return real if of_shown <= of_real else f"{real} ({display_name})"
    return display_name or real or str(user.get("name") or user.get("id") or "")


def file_name(file: Message) -> str:
    return str(file.get("title") or file.get("name") or "")


def dicts(value: object) -> list[Message]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _lines(message: Message, names: Mapping[str, str]) -> Iterator[str]:
    for line in _block_lines(message.get("blocks")):
        yield readable(line, names)
    for part in dicts(message.get("attachments")):
        lines = [readable(line, names) for line in _part_lines(part, 0)]
        yield from lines or [readable(str(part.get("fallback") or ""), names)]


def _block_lines(value: object, depth: int = 0) -> Iterator[str]:
    for block in dicts(value):
        yield from _part_lines(block, depth)


def _part_lines(part: Message, depth: int) -> Iterator[str]:
    """In Slack's marks."""
    kind = str(part.get("type", ""))
    if depth > _DEEPEST or kind in _UNSAID:
        return
    if kind.startswith("rich_text_") and kind != "rich_text_list":
        yield "".join(_inline(fields) for fields in dicts(part.get("elements")))
        return
    if kind == "table":
        for row in part.get("rows") or ():
            yield " | ".join(" ".join(_part_lines(cell, depth + 1)) for cell in dicts(row))
        return
    for name in _PARTS:
        content = part.get(name)
        if isinstance(content, dict):
            yield from _part_lines(content, depth + 1)
        elif isinstance(content, str) and content:
            yield content
    for name in _BELOW:
        inner = part.get(name)
        yield from _block_lines(inner if isinstance(inner, list) else [inner], depth + 1)
    if isinstance(part.get("message"), dict):  # quoted from another channel
        yield from _block_lines(part["message"].get("blocks"), depth + 1)


def _inline(element: Message) -> str:
    kind = str(element.get("type", ""))
    if kind == "link":
        text = html.escape(str(element.get("text") or ""), quote=False)
        return f"<{element.get('url', '')}|{text}>" if text else f"<{element.get('url', '')}>"
    if kind in _INLINE:
        form, name = _INLINE[kind]
        return form.format(element.get(name) or "")
    return html.escape(str(element.get("text") or ""), quote=False)


def _huddle(message: Message, names: Mapping[str, str]) -> Iterator[str]:
    room = message.get("room")
    if isinstance(room, dict):
        there = room.get("participant_history") or room.get("participants") or ()
        people = ", ".join(names.get(str(user), str(user)) for user in there)
        name = str(room.get("name") or "")
        yield " ".join(
            part for part in ("Huddle", name, f"with {people}" if people else "") if part
        )


def _words(text: str) -> str:
    return " ".join(_WORD.findall(text.lower()))


def time_of(stamp: object) -> str:
    """ISO 8601 in UTC; empty if it isn't a time."""
    try:
        moment = datetime.fromtimestamp(float(str(stamp)), UTC)
    except (ValueError, OverflowError, OSError):
        return ""
    return moment.replace(microsecond=0).isoformat()
