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
    found = feedparser.parse(BytesIO(data), response_headers=headers)
    version = str(found.get("version") or "")
    if not found.entries and not version:
        return None
    kind = "atom" if version.startswith("atom") else "rss"
    return Feed(
        _plain(found.feed.get("title_detail")),
        str(found.feed.get("language") or ""),
        f"application/{kind}+xml",
        [_entry(entry, base) for entry in found.entries],
    )


def _entry(told: Any, base: str) -> FeedEntry:
    link = urljoin(base, str(told["link"]).strip()) if told.get("link") else ""
    title = _plain(told.get("title_detail")) or link or "Entry"
    parts = [*(told.get("content") or ()), told.get("summary_detail")]
    people = [one.get("name") or one.get("email") for one in told.get("authors") or ()]
    when = told.get("published_parsed") or told.get("updated_parsed")
    named = [str(person) for person in people if person] or [str(told.get("author") or "")]
    return FeedEntry(
        " ".join(str(told.get("id") or link or title).split()),
        title,
        link,
        # A summary repeats the beginning of the content.
        max((_html(part) for part in parts), key=len, default=""),
        [one for one in named if one],
        _time(when) or str(told.get("published") or told.get("updated") or ""),
        [str(one["term"]) for one in told.get("tags") or () if one.get("term")],
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
