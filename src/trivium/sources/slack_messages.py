"""A message of Slack as an item: the same from an export and from the Web API.

Knows how Slack writes messages, nothing of where they come from.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from trivium.core.types import EVERYONE, Element, Extraction, Kind, Place
from trivium.extract.composer import clean, describe
from trivium.extract.slack_message import Message, author_of, dicts, file_name, texts, time_of
from trivium.ports import Put
from trivium.text.languages import detect_language

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


@dataclass(frozen=True, slots=True)
class Channel:
    id: str
    title: str  # as people see it: #general, or who writes to whom
    private: bool
    name: str = ""  # without the sign; empty: a direct conversation
    members: Sequence[str] = ()
    created: float = 0.0  # seconds; 0: unknown

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

    @property
    def all(self) -> Mapping[str, str]:
        return ChainMap(self.people, self.channels)


def channel_label(channel: str) -> str:
    return f"slack/{channel}"


def channel_of(fields: Message, people: Mapping[str, str]) -> Channel:
    """From a list of an export or of the Web API."""
    id_, name = str(fields.get("id", "")), str(fields.get("name") or "")
    direct = bool(fields.get("is_im") or fields.get("is_mpim")) or not name
    members = [
        str(member)
        for member in fields.get("members") or ([fields["user"]] if "user" in fields else [])
    ]
    others = ", ".join(people.get(member, member) for member in members)
    private = direct or bool(fields.get("is_private") or fields.get("is_group"))
    title = others or name or id_ if direct else f"#{name}"
    created = fields.get("created")
    since = float(created) if isinstance(created, int | float) else 0.0
    return Channel(id_, title, private, "" if direct else name, members, since)


def item_id(channel: str, stamp: str) -> str:
    return f"{channel}/{stamp}"


def put_of(message: Message, channel: Channel, names: Names, workspace: str = "") -> Put | None:
    """None: nobody said anything. `workspace`: its address, for links."""
    stamp = str(message.get("ts", ""))
    if not stamp or message.get("subtype") in SILENT or message.get("hidden"):
        return None
    text = clean("\n".join(texts(message, names.all))).strip()
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
    heading = f"{author}, {datetime.fromisoformat(time):%d %B %Y}" if time else author
    headings = tuple(text for text in (channel.title, opener, heading) if text)
    about = describe(
        {
            "authors": [author],
            "date": time,
            "link": link,
            "channel": channel.name or channel.title,
            "thread": thread,
            "slackChannelId": channel.id,
            "slackAuthor": [author, user],
            "files": [
                file_name(fields) for fields in dicts(message.get("files") or [message.get("file")])
            ],
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
    first = next((text for text in texts(message, names.all) if text.strip()), "")
    words = " ".join(clean(first).split())
    return words if len(words) <= _OPENER else f"{words[: _OPENER - 1].rstrip()}…"


def _link(workspace: str, channel: str, stamp: str, thread: str) -> str:
    if not workspace:
        return ""
    link = f"{workspace.rstrip('/')}/archives/{channel}/p{stamp.replace('.', '')}"
    return f"{link}?thread_ts={thread}&cid={channel}" if thread not in ("", stamp) else link
