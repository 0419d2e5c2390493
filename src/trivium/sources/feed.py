"""Feeds (RSS, Atom) entry by entry, and the pages that a sitemap lists.

A feed shows what is new, so entries that it shows no longer stay. A sitemap lists everything, so
pages that it lists no longer go. Pages are fetched as robots.txt allows, no faster than it asks
for, and from public addresses alone unless `private` is on: a feed may link to anything.
"""

from __future__ import annotations

import html
import json
import zlib
from collections.abc import Generator, Iterator, Sequence
from functools import partial
from hashlib import sha256
from urllib.parse import urljoin, urlsplit
from urllib.robotparser import RobotFileParser
from xml.etree.ElementTree import Element

from trivium.core.errors import (
    FileDamaged,
    FileTooLarge,
    ReadError,
    SourceError,
    SourceNonsense,
    SourceUnreachable,
    UrlFailed,
    UrlRefused,
)
from trivium.core.types import EVERYONE
from trivium.extract.composer import describe
from trivium.extract.feed_entries import FeedEntry, read_feed
from trivium.extract.package import parse_xml
from trivium.ports import Change, Checkpoint, Failed, Gone, Put, SourceAsked, SourceKind, Wait
from trivium.ports.sync import Deletions
from trivium.sources.listed import compared
from trivium.sources.service import LONGEST_WAIT
from trivium.sources.web import Fetched, fetch, is_public

AGENT = "trivium"
_MOST_BYTES = 32 << 20
_SECONDS = 60.0
_MOST_SEEN = 20_000  # entries that a cursor keeps
_MOST_PAGES = 100_000
_DEEPEST = 3  # sitemaps of sitemaps


class Pages:
    """Fetches what robots.txt allows."""

    def __init__(self, *, private: bool = False) -> None:
        self._allows = (lambda address: True) if private else is_public
        self._robots: dict[str, RobotFileParser] = {}

    def get(self, url: str) -> Fetched:
        """Raises UrlFailed, UrlRefused, FileTooLarge."""
        return self._fetch(url)

    def _fetch(self, url: str, *, optional: bool = False) -> Fetched:
        return fetch(
            url, max_bytes=_MOST_BYTES, seconds=_SECONDS, allows=self._allows, optional=optional
        )

    def allowed(self, url: str) -> bool:
        """Raises UrlFailed if the site doesn't say: a server in trouble allows nothing."""
        return self._rules(url).can_fetch(AGENT, url)

    def delay(self, url: str) -> float:
        """Seconds between two pages of this site."""
        seconds = self._rules(url).crawl_delay(AGENT)
        return float(min(int(seconds), int(LONGEST_WAIT))) if seconds else 0.0

    def _rules(self, url: str) -> RobotFileParser:
        site = urljoin(url, "/robots.txt")
        if site not in self._robots:
            rules = RobotFileParser()
            try:
                fetched = self._fetch(site, optional=True)
                rules.parse(fetched.data.decode("utf-8", "replace").splitlines())
            except ValueError:  # a number that isn't one
                rules.parse([])
            except (UrlRefused, FileTooLarge):
                rules.parse([])  # no rules that we may read, so we may not read its pages either
            self._robots[site] = rules
        return self._robots[site]


class FeedSource:
    deletions: Deletions = "kept"

    def __init__(self, url: str, pages: Pages, *, whole: bool = False) -> None:
        """`whole`: read the page that an entry links to, not the feed's summary."""
        self._url = url
        self._pages = pages
        self._whole = whole

    def changes(self, cursor: str) -> Iterator[Change]:
        seen: dict[str, str] = json.loads(cursor) if cursor else {}
        for id_, mark, put in self._entries():
            if seen.get(id_) == mark:
                continue
            change = yield from self._read(put)
            if change is not None:
                yield change
            seen.pop(id_, None)
            seen[id_] = mark
        newest = dict(list(seen.items())[-_MOST_SEEN:])
        yield Checkpoint(json.dumps(newest))

    def ids(self) -> Iterator[str | Wait]:
        yield from dict.fromkeys(id_ for id_, _, _ in self._entries())

    def again(self, ids: Sequence[str]) -> Iterator[Change]:
        there = {id_: put for id_, _, put in self._entries()}
        for id_ in ids:
            change = yield from self._read(there[id_]) if id_ in there else _none()
            yield change or Gone(id_)

    def _read(self, put: Put) -> Generator[Wait, None, Put | Failed | None]:
        link = str(put.metadata.get("link") or "")
        if not self._whole or not link:
            return put
        return (yield from _page(self._pages, put, link))

    def _entries(self) -> Iterator[tuple[str, str, Put]]:
        """Each with a mark that changes when the entry does."""
        try:
            fetched = self._pages.get(self._url)
        except (UrlFailed, UrlRefused) as reason:
            raise SourceUnreachable(reason.message) from reason
        except ReadError as reason:
            raise SourceNonsense(f"{self._url} can't be read: {reason.message}") from reason
        feed = read_feed(fetched.data, announced=fetched.media_type, base=self._url)
        if feed is None:
            raise SourceNonsense(f"{self._url} isn't a feed.", fix="Check its address.")
        for entry in feed.entries:
            put, page = self._put(entry, feed.title)
            mark = sha256(repr((put.title, put.metadata, page)).encode()).hexdigest()
            yield put.id, mark[:16], put

    def _put(self, entry: FeedEntry, feed: str) -> tuple[Put, bytes]:
        title = html.escape(entry.title)
        page = (
            f'<!doctype html><meta charset="utf-8"><title>{title}</title>'
            f"<body>{entry.body or title}</body>"
        ).encode("utf-8", "replace")
        about = {
            "authors": entry.authors,
            "date": entry.time,
            "link": entry.link,
            "feed": feed,
            "tags": entry.tags,
        }
        put = Put(
            entry.id,
            "entry.html",
            partial(bytes, page),
            title=entry.title,
            metadata=describe(about),
            audience=EVERYONE,
            size=len(page),
        )
        return put, page


def _none() -> Generator[Wait, None, None]:
    yield from ()


class SitemapSource:
    deletions: Deletions = "told"

    def __init__(self, url: str, pages: Pages) -> None:
        self._url = url
        self._pages = pages

    def changes(self, cursor: str) -> Iterator[Change]:
        """A page without a time of change is fetched every time; its bytes show whether it
        changed."""
        before: dict[str, str] = json.loads(cursor) if cursor else {}
        listed, failed = self._listed()
        yield from failed
        # Pages of a sitemap that couldn't be read are unknown, not gone.
        unknown = {url: at for url, at in before.items() if failed and url not in listed}

        def tell(url: str) -> Iterator[Change]:
            change = (yield from self._page(url, listed[url])) if url in listed else None
            if change is not None:
                yield change

        yield from compared(before, {**unknown, **listed}, tell, every=1)

    def ids(self) -> Iterator[str | Wait | Failed]:
        listed, failed = self._listed()
        yield from failed
        yield from listed

    def again(self, ids: Sequence[str]) -> Iterator[Change]:
        listed, failed = self._listed()
        unread = {failure.id: failure for failure in failed}
        for url in ids:
            if url in unread:
                yield unread[url]
            elif url in listed:
                change = yield from self._page(url, listed[url])
                yield change or Gone(url)
            else:
                yield Gone(url)

    def _page(self, url: str, changed: str) -> Generator[Wait, None, Put | Failed | None]:
        """A site may send visitors elsewhere to sign in: what is there isn't its page."""
        about = describe({"link": url, "date": changed, "site": urlsplit(url).hostname or ""})
        bare = Put(url, url, bytes, metadata=about, audience=EVERYONE)
        return (yield from _page(self._pages, bare, url, at_home=True))

    def _listed(self) -> tuple[dict[str, str], list[Failed]]:
        """The pages that may be fetched, with their times of change; and the sitemaps that
        couldn't be read."""
        times: dict[str, str] = {}
        failed: list[Failed] = []
        self._collect(self._url, times, failed, 0)
        try:
            return {url: at for url, at in times.items() if self._pages.allowed(url)}, failed
        except UrlFailed as reason:
            raise SourceUnreachable(reason.message) from reason

    def _collect(self, url: str, times: dict[str, str], failed: list[Failed], depth: int) -> None:
        root = _tree(self._pages, url)
        if root.tag == "sitemapindex" and depth < _DEEPEST:
            for element in root.findall("sitemap"):
                if place := urljoin(url, (element.findtext("loc") or "").strip()):
                    try:
                        self._collect(place, times, failed, depth + 1)
                    except SourceError as reason:  # one sitemap of several
                        failed.append(Failed(place, reason.message, reason.code, partial=True))
        elif root.tag == "urlset":
            for element in root.findall("url"):
                place = (element.findtext("loc") or "").strip()
                if place and len(times) < _MOST_PAGES:
                    times[urljoin(url, place)] = (element.findtext("lastmod") or "").strip()
        else:
            raise SourceNonsense(f"{url} isn't a sitemap.", fix="Check its address.")


def _page(
    pages: Pages, put: Put, url: str, *, at_home: bool = False
) -> Generator[Wait, None, Put | Failed | None]:
    """The same with the page at its link. None: robots.txt forbids it. `at_home`: a page on the
    site of another name isn't it."""
    try:
        if not pages.allowed(url):
            return None
        if delay := pages.delay(url):
            yield Wait(delay, f"{urlsplit(url).hostname} asks for {delay:g} s between pages.")
        fetched = pages.get(url)
        if at_home and not _is_same_site(url, fetched.url):
            there = urlsplit(fetched.url).hostname
            raise UrlFailed(f"{url} sends you to {there}, for example to sign in.")
    except (ReadError, UrlRefused) as reason:
        return Failed(put.id, str(reason), reason.code)
    return Put(
        put.id,
        fetched.name,
        partial(bytes, fetched.data),
        title=put.title,
        metadata=put.metadata,
        audience=put.audience,
        size=len(fetched.data),
    )


def _is_same_site(url: str, other: str) -> bool:
    """The same host, or one of the two below the other, as with www."""
    mine, theirs = (f".{urlsplit(address).hostname}" for address in (url, other))
    return mine.endswith(theirs) or theirs.endswith(mine)


def _tree(pages: Pages, url: str) -> Element:
    try:
        return parse_xml(_unpacked(pages.get(url).data, url), url)
    except (UrlFailed, UrlRefused) as reason:
        raise SourceUnreachable(reason.message) from reason
    except ReadError as reason:
        raise SourceNonsense(f"{url} can't be read: {reason.message}") from reason


def _unpacked(data: bytes, url: str) -> bytes:
    """A sitemap may be packed with gzip."""
    if not data.startswith(b"\x1f\x8b"):
        return data
    unpacking = zlib.decompressobj(wbits=31)
    try:
        unpacked = unpacking.decompress(data, _MOST_BYTES)
    except zlib.error as reason:
        raise FileDamaged(f"{url} is a damaged gzip file.") from reason
    if unpacking.unconsumed_tail:
        raise FileTooLarge(f"{url} unpacks to more than {_MOST_BYTES:,} bytes.")
    return unpacked


def _feed(request: SourceAsked) -> FeedSource:
    pages = Pages(private=request.on("private"))
    return FeedSource(request.option("url"), pages, whole=request.on("pages"))


def _sitemap(request: SourceAsked) -> SitemapSource:
    return SitemapSource(request.option("url"), Pages(private=request.on("private")))


_PRIVATE = "on: also fetch addresses on your own network"
FEED = SourceKind(
    "feed",
    "an RSS or Atom feed, entry by entry",
    _feed,
    {
        "url": "address of the feed",
        "pages": "on: read the page each entry links to",
        "private": _PRIVATE,
    },
    required=("url",),
    guarded={"private": "url"},  # other addresses must be public
)
SITEMAP = SourceKind(
    "sitemap",
    "the pages of a website, from its sitemap and as robots.txt allows",
    _sitemap,
    {"url": "address of the sitemap", "private": _PRIVATE},
    required=("url",),
    guarded={"private": "url"},  # other addresses must be public
)
