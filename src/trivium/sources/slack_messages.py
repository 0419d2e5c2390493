"""A message of Slack as an item: the same from an export and from the Web API.

Knows how Slack writes messages, nothing of where they come from.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from trivium.extract.composer import clean, describe
from trivium.extract.slack import readable
from trivium.ports import Put
from trivium.text.languages import detect_language
from trivium.types import EVERYONE, Element, Extraction, Kind, Place

MEDIA_TYPE = "message/slack"
_OPENER = 80  # characters of a thread's first message, shown with its replies
# People who joined or left, and pins: nothing that anybody said.
SILENT = frozenset(
    {
        "channel_join", "channel_leave", "group_join", "group_leave", "bot_add", "bot_remove",
        "channel_name", "channel_topic", "channel_purpose", "channel_archive", "channel_unarchive",
        "group_name", "group_topic", "group_purpose", "pinned_item", "unpinned_item", "tombstone",
        "reminder_add",
    }
)  # fmt: skip

Message = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Channel:
    id: str
    title: str  # as people see it: #general, or who writes to whom
    private: bool
    name: str = ""  # without the sign; empty: a direct conversation
    members: Sequence[str] = ()

    @property
    def audience(self) -> str:
        """Channels that are public in a workspace are for everyone who may read the library; others
        for those who have the channel's label."""
        return channel_label(self.id) if self.private else EVERYONE


@dataclass(slots=True)
class Names:
    """What the marks in messages stand for: people and channels."""

    people: dict[str, str] = field(default_factory=dict)
    channels: dict[str, str] = field(default_factory=dict)  # ids and names
    openers: dict[str, str] = field(default_factory=dict)  # first words of threads, by channel/ts


def channel_label(channel: str) -> str:
    return f"slack/{channel}"


def channel_of(told: Message, people: Mapping[str, str]) -> Channel:
    """From a list of an export or of the Web API."""
    id_, name = str(told.get("id", "")), str(told.get("name") or "")
    direct = bool(told.get("is_im") or told.get("is_mpim")) or not name
    members = [
        str(one) for one in told.get("members") or ([told["user"]] if "user" in told else [])
    ]
    others = ", ".join(people.get(one, one) for one in members)
    private = direct or bool(told.get("is_private") or told.get("is_group"))
    title = others or name or id_ if direct else f"#{name}"
    return Channel(id_, title, private, "" if direct else name, members)


def person(user: Message) -> str:
    """The name that people see, else the real one, else the account."""
    profile = user.get("profile")
    profile = profile if isinstance(profile, dict) else {}
    name = profile.get("display_name") or profile.get("real_name") or user.get("real_name")
    return str(name or user.get("name") or user.get("id") or "")


def time_of(stamp: object) -> str:
    """ISO 8601 in UTC; empty if it isn't a time."""
    try:
        moment = datetime.fromtimestamp(float(str(stamp)), UTC)
    except (ValueError, OverflowError, OSError):
        return ""
    return moment.replace(microsecond=0).isoformat()


def item_id(channel: str, stamp: str) -> str:
    return f"{channel}/{stamp}"


def put_of(message: Message, channel: Channel, names: Names, workspace: str = "") -> Put | None:
    """None: nobody said anything. `workspace`: its address, for links."""
    stamp = str(message.get("ts", ""))
    if not stamp or message.get("subtype") in SILENT or message.get("hidden"):
        return None
    text = clean("\n".join(one for one in texts(message, names) if one)).strip()
    if not text:
        return None
    author, user = author_of(message, names.people), str(message.get("user") or "")
    time = time_of(stamp)
    thread = str(message.get("thread_ts") or "")
    link = str(message.get("permalink") or "") or _link(workspace, channel.id, stamp, thread)
    opener = "" if thread in ("", stamp) else names.openers.get(item_id(channel.id, thread), "")
    place = Place(authors=(author,) if author else (), time=time, link=link)
    # Searched and embedded with the text: author and time raised success@10 on 300 questions of
    # locomo10 from .45 to .60.
    said = f"{author}, {datetime.fromisoformat(time):%d %B %Y}" if time else author
    headings = tuple(one for one in (channel.title, opener, said) if one)
    about = describe(
        {
            "authors": [author],
            "date": time,
            "link": link,
            "channel": channel.name or channel.title,
            "thread": thread,
            "slackChannelId": channel.id,
            "slackAuthor": [author, user],
            "files": [_file_name(one) for one in _files(message)],
        }
    )
    return Put(
        item_id(channel.id, stamp),
        f"{stamp}.slack",
        Extraction(
            text,
            (Element("message", 0, len(text), headings=headings, paragraph=1, place=place),),
            f"{channel.title} · {author}, {time[:16].replace('T', ' ')}",
            MEDIA_TYPE,
            detect_language(text),
            kind=Kind.MESSAGES,
        ),
        metadata=about,
        audience=channel.audience,
    )


def opener_of(message: Message, names: Names) -> str:
    """The first words of a thread's first message."""
    first = next((one for one in texts(message, names) if one.strip()), "")
    words = " ".join(clean(first).split())
    return words if len(words) <= _OPENER else f"{words[: _OPENER - 1].rstrip()}…"


def texts(message: Message, names: Names) -> list[str]:
    """The text of a message, of what it quotes, and the names of its files."""
    known = names.people | names.channels
    found = [readable(str(message.get("text") or ""), known)]
    for part in _dicts(message.get("attachments")):
        words = (part.get(key) for key in ("pretext", "title", "text"))
        said = [readable(str(word), known) for word in words if word]
        found.append("\n".join(said) or readable(str(part.get("fallback") or ""), known))
    if not any(found):
        found += [readable(one, known) for one in _block_texts(message.get("blocks"))]
    return [*found, *(f"[{_file_name(one)}]" for one in _files(message) if _file_name(one))]


def author_of(message: Message, people: Mapping[str, str]) -> str:
    known = people.get(str(message.get("user") or ""))
    profile = message.get("user_profile") or message.get("bot_profile")
    shown = profile if isinstance(profile, dict) else {}
    name = shown.get("display_name") or shown.get("real_name") or shown.get("name")
    return str(known or name or message.get("username") or message.get("user") or "")


def _files(message: Message) -> list[Message]:
    return _dicts(message.get("files") or [message.get("file")])


def _file_name(file: Message) -> str:
    return str(file.get("title") or file.get("name") or "")


def _dicts(value: object) -> list[Message]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _block_texts(value: object, depth: int = 0) -> list[str]:
    """For messages that apps build from blocks, without text."""
    if depth > 10:
        return []
    found: list[str] = []
    for block in _dicts(value):
        text = block.get("text")
        if isinstance(text, str):
            found.append(text)
        elif isinstance(text, dict):
            found.append(str(text.get("text") or ""))
        for part in ("elements", "fields"):
            found += _block_texts(block.get(part), depth + 1)
    return [one for one in found if one]


def _link(workspace: str, channel: str, stamp: str, thread: str) -> str:
    if not workspace:
        return ""
    link = f"{workspace.rstrip('/')}/archives/{channel}/p{stamp.replace('.', '')}"
    return f"{link}?thread_ts={thread}&cid={channel}" if thread not in ("", stamp) else link
