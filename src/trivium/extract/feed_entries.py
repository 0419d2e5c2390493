"""Feeds (RSS, Atom, RDF, CDF), as feedparser reads them: entities, encodings and markup as they are
found on the web. Knows nothing of where a feed comes from."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from io import BytesIO
from typing import Any
from urllib.parse import urljoin

_TAGS = re.compile(r"<[^<>]*>")


@dataclass(frozen=True, slots=True)
class FeedEntry:
    id: str
    title: str
    link: str
    body: str  # HTML; the longest of its texts
    authors: Sequence[str]
    time: str  # ISO 8601 in UTC, or as the feed writes it
    tags: Sequence[str]


@dataclass(frozen=True, slots=True)
class Feed:
    title: str
    language: str
    media_type: str
    entries: Sequence[FeedEntry]


def read_feed(data: bytes, *, announced: str = "", base: str = "") -> Feed | None:
    """`announced`: the media type that came with it, which may name its encoding. `base`: where
    links begin. None: it isn't a feed."""
    import feedparser

    headers = {"content-type": announced} if announced else {}
    # As a file: given bytes, feedparser would open a file or address of that name.
    parsed = feedparser.parse(BytesIO(data), response_headers=headers)
    version = str(parsed.get("version") or "")
    if not parsed.entries and not version:
        return None
    kind = "atom" if version.startswith("atom") else "rss"
    return Feed(
        _plain(parsed.feed.get("title_detail")),
        str(parsed.feed.get("language") or ""),
        f"application/{kind}+xml",
        [_entry(entry, base) for entry in parsed.entries],
    )


def _entry(fields: Any, base: str) -> FeedEntry:
    link = urljoin(base, str(fields["link"]).strip()) if fields.get("link") else ""
    title = _plain(fields.get("title_detail")) or link or "Entry"
    parts = [*(fields.get("content") or ()), fields.get("summary_detail")]
    people = [author.get("name") or author.get("email") for author in fields.get("authors") or ()]
    when = fields.get("published_parsed") or fields.get("updated_parsed")
    named = [str(person) for person in people if person] or [str(fields.get("author") or "")]
    return FeedEntry(
        " ".join(str(fields.get("id") or link or title).split()),
        title,
        link,
        # A summary repeats the beginning of the content.
        max((_html(part) for part in parts), key=len, default=""),
        [name for name in named if name],
        _time(when) or str(fields.get("published") or fields.get("updated") or ""),
        [str(tag["term"]) for tag in fields.get("tags") or () if tag.get("term")],
    )


def _html(part: object) -> str:
    """A text of a feed, as HTML."""
    if not isinstance(part, dict):
        return ""
    value = str(part.get("value") or "")
    return html.escape(value) if part.get("type") == "text/plain" else value


def _plain(part: object) -> str:
    """A title, which may be HTML."""
    return " ".join(html.unescape(_TAGS.sub("", _html(part))).split())


def _time(when: Any) -> str:
    """Empty if it isn't a time."""
    try:
        year, month, day, hour, minute, second = when[:6]
        return datetime(year, month, day, hour, minute, second, tzinfo=UTC).isoformat()
    except (ValueError, TypeError, OverflowError):
        return ""
