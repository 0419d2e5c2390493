"""Reads Slack's export archives: every channel becomes a document of messages.

The archive itself is a short overview; its channels are enclosed as `NAME.slack.json`, in a form
of our own with the names of people filled in, which `SlackChannelExtractor` reads.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping

from trivium.core.counting import counted
from trivium.core.errors import FileDamaged
from trivium.core.types import Enclosed, Extraction, Kind, Place
from trivium.extract.composer import Composer, describe
from trivium.extract.package import Package, member_names
from trivium.extract.slack_message import author_of, person, texts, time_of
from trivium.ports import Blob, reads

FORMAT = "trivium-channel/1"
MAX_DAY_BYTES = 64 << 20

_DAY = re.compile(r"(?:.*/)?([^/]+)/(\d{4}-\d\d-\d\d)\.json")
_LISTS = ("channels.json", "groups.json", "dms.json", "mpims.json")
_SILENT = frozenset({"channel_join", "channel_leave", "group_join", "group_leave", "bot_add"})

Json = Mapping[str, object]


def _is_slack_export(blob: Blob) -> bool:
    names = member_names(blob)
    return "users.json" in names and any(name in names for name in _LISTS)


@reads("slack/3", _is_slack_export)
def read_slack_export(blob: Blob) -> Extraction:
    """Takes zip archives with Slack's lists of channels and users, and a file for each day."""
    package = Package(blob)
    people = _people(package)
    channels = _channels(package)
    days: dict[str, list[str]] = {}
    for name in sorted(package.names):
        if match := _DAY.fullmatch(name):
            days.setdefault(match[1], []).append(name)
    out = Composer(blob.name)
    enclosed = []
    for channel in sorted(days):
        messages = [m for day in days[channel] for m in _messages(package, day, people)]
        if not messages:
            continue
        about = channels.get(channel, {})
        title = _title(channel, about, people)
        enclosed.append(_enclose(channel, title, about, messages))
        span = f"{str(messages[0]['time'])[:10]} to {str(messages[-1]['time'])[:10]}"
        out.add("list_item", f"{title}: {counted(len(messages), 'message')}, {span}")
    return out.finish(
        blob,
        titles=(f"Slack export {blob.name.rsplit('/', 1)[-1]}",),
        media_type="application/zip",
        metadata=describe({"channels": len(enclosed), "authors": list(people.values())[:200]}),
        enclosed=enclosed,
    )


@reads(
    "slack-channel/3", lambda blob: blob.data.startswith(b'{"format": "' + FORMAT.encode() + b'"')
)
def read_slack_channel(blob: Blob) -> Extraction:
    """Takes a channel as the export's reader encloses it."""
    try:
        channel = json.loads(blob.data)
        messages = [m for m in channel["messages"] if isinstance(m, dict)]
    except (ValueError, KeyError, TypeError, RecursionError) as reason:
        raise FileDamaged(f"{blob.name} is a damaged Slack channel.") from reason
    out = Composer(blob.name)
    for message in messages:
        author, time = str(message.get("author", "")), str(message.get("time", ""))
        place = Place(
            authors=(author,) if author else (), time=time, link=str(message.get("link", ""))
        )
        # Messages share a passage, so each says itself who wrote it and when: in what is
        # searched, shown, cited and given to a model.
        sender_line = ", ".join(part for part in (author, time[:16].replace("T", " ")) if part)
        text = str(message.get("text", ""))
        out.add("message", f"{sender_line}:\n{text}" if sender_line else text, place=place)
    times = [str(m.get("time", "")) for m in messages]
    return out.finish(
        blob,
        titles=(str(channel.get("title", "")), out.first_heading),
        media_type="application/vnd.slack.channel+json",
        metadata=describe(
            {
                "channel": channel.get("channel", ""),
                "topic": channel.get("topic", ""),
                "purpose": channel.get("purpose", ""),
                "messages": len(messages),
                "authors": [m.get("author", "") for m in messages],
                "date": min(times, default=""),
                "last": max(times, default=""),
            }
        ),
        kind=Kind.MESSAGES,
    )


def _people(package: Package) -> dict[str, str]:
    return {str(user.get("id", "")): person(user) for user in _items(package, "users.json")}


def _channels(package: Package) -> dict[str, Json]:
    """Details of each folder of messages from the lists: by name, or by id for direct ones."""
    channels: dict[str, Json] = {}
    for name in _LISTS:
        for channel in _items(package, name):
            channels[str(channel.get("name") or channel.get("id") or "")] = channel
    return channels


def _title(folder: str, about: Json, people: Mapping[str, str]) -> str:
    members = about.get("members")
    if about.get("name") or not isinstance(members, list):
        return f"#{folder}"
    return ", ".join(people.get(str(member), str(member)) for member in members)


def _messages(package: Package, name: str, people: Mapping[str, str]) -> Iterator[Json]:
    for message in _items(package, name):
        if message.get("subtype") in _SILENT:
            continue
        text = "\n".join(texts(message, people))
        if text.strip():
            yield {
                "author": author_of(message, people),
                "time": time_of(message.get("ts")),
                "text": text,
                "link": str(message.get("permalink", "")),
            }


def _enclose(channel: str, title: str, about: Json, messages: list[Json]) -> Enclosed:
    def value_of(field: str) -> str:
        value = about.get(field)
        return str(value.get("value", "")) if isinstance(value, dict) else ""

    document = {
        "format": FORMAT,
        "channel": channel,
        "title": title,
        "topic": value_of("topic"),
        "purpose": value_of("purpose"),
        "messages": sorted(messages, key=lambda message: str(message["time"])),
    }
    return Enclosed(
        f"{channel}.slack.json", json.dumps(document, ensure_ascii=False).encode("utf-8", "replace")
    )


def _items(package: Package, name: str) -> list[Json]:
    data = package.read(name, MAX_DAY_BYTES)
    try:
        loaded = json.loads(data) if data else []
    except (ValueError, RecursionError):
        return []  # one damaged day must not hide the others
    return [item for item in loaded if isinstance(item, dict)] if isinstance(loaded, list) else []
