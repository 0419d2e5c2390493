"""Feeds (RSS, Atom) entry by entry, and the pages that a sitemap lists.

A feed shows what is new, so entries that it shows no longer stay. A sitemap lists everything, so
pages that it lists no longer go. Pages are fetched as robots.txt allows, no faster than it asks
for, and from public addresses alone unless `private` is on: a feed may link to anything.
"""

from __future__ import annotations

import html
import json
from collections.abc import Generator, Iterator, Sequence
from functools import partial
from hashlib import sha256
from urllib.parse import urljoin, urlsplit
from urllib.robotparser import RobotFileParser
from xml.etree.ElementTree import Element

from trivium.errors import (
    FileTooLarge,
    ReadError,
    SourceNonsense,
    SourceUnreachable,
    UrlFailed,
    UrlRefused,
)
from trivium.extract.composer import describe
from trivium.extract.feeds import entry_link, entry_time
from trivium.extract.package import parse_xml
from trivium.ports import Change, Checkpoint, Failed, Gone, Put, SourceAsked, SourceKind, Wait
from trivium.ports.sync import Deletions
from trivium.sources.web import Fetched, fetch, is_public
from trivium.types import EVERYONE

AGENT = "trivium"
_MOST_BYTES = 32 << 20
_SECONDS = 60.0
_MOST_SEEN = 20_000  # entries that a cursor keeps
_MOST_PAGES = 100_000
_DEEPEST = 3  # sitemaps of sitemaps
_BODIES = ("encoded", "content", "description", "summary")


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
        return float(self._rules(url).crawl_delay(AGENT) or 0.0)

    def _rules(self, url: str) -> RobotFileParser:
        site = urljoin(url, "/robots.txt")
        if site not in self._robots:
            rules = RobotFileParser()
            try:
                got = self._fetch(site, optional=True)
                rules.parse(got.data.decode("utf-8", "replace").splitlines())
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
            if self._whole and put.metadata.get("link"):
                change = yield from _page(self._pages, put, str(put.metadata["link"]))
            else:
                change = put
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
            yield there.get(id_) or Gone(id_)

    def _entries(self) -> Iterator[tuple[str, str, Put]]:
        """Each with a mark that changes when the entry does."""
        root = _tree(self._pages, self._url)
        entries = [one for one in root.iter() if one.tag in ("item", "entry")]
        channel = root.find("channel")
        title = (root if channel is None else channel).findtext("title") or ""
        if not entries and root.tag not in ("rss", "feed", "RDF"):
            raise SourceNonsense(f"{self._url} isn't a feed.", fix="Check its address.")
        for entry in entries:
            put = self._put(entry, title.strip())
            assert callable(put.content)
            mark = sha256(repr((put.title, put.metadata, put.content())).encode()).hexdigest()
            yield put.id, mark[:16], put

    def _put(self, entry: Element, feed: str) -> Put:
        link = urljoin(self._url, entry_link(entry)) if entry_link(entry) else ""
        title = " ".join((entry.findtext("title") or link or "Entry").split())
        author = entry.findtext("creator") or entry.findtext("author/name")
        tags = [(one.text or one.get("term") or "") for one in entry.findall("category")]
        bodies = ("".join(one.itertext()) for n in _BODIES if (one := entry.find(n)) is not None)
        body = max(bodies, key=len, default="") or title
        page = (
            f'<!doctype html><meta charset="utf-8"><title>{html.escape(title)}</title>'
            f"<body>{body}</body>"
        ).encode("utf-8", "replace")
        id_ = (entry.findtext("guid") or entry.findtext("id") or link or title).strip()
        about = {
            "authors": [(author or entry.findtext("author") or "").strip()],
            "date": entry_time(entry),
            "link": link,
            "feed": feed,
            "tags": tags,
        }
        return Put(
            " ".join(id_.split()),
            "entry.html",
            partial(bytes, page),
            title=title,
            metadata=describe(about),
            audience=EVERYONE,
            size=len(page),
        )


class SitemapSource:
    deletions: Deletions = "told"

    def __init__(self, url: str, pages: Pages) -> None:
        self._url = url
        self._pages = pages

    def changes(self, cursor: str) -> Iterator[Change]:
        """A page without a time of change is fetched every time; its bytes show whether it
        changed."""
        before: dict[str, str] = json.loads(cursor) if cursor else {}
        listed = self._listed()
        for url in sorted(before.keys() - listed.keys()):
            yield Gone(url)
        done = {url: at for url, at in before.items() if at and listed.get(url) == at}
        fresh = [url for url in listed if url not in done]
        for count, url in enumerate(fresh, start=1):
            change = yield from _page(self._pages, _bare(url, listed[url]), url)
            if change is not None:
                yield change
            done[url] = listed[url]
            yield Checkpoint(json.dumps(done), count, len(fresh))
        yield Checkpoint(json.dumps(done), len(fresh), len(fresh))

    def ids(self) -> Iterator[str | Wait]:
        yield from self._listed()

    def again(self, ids: Sequence[str]) -> Iterator[Change]:
        listed = self._listed()
        for url in ids:
            if url in listed:
                change = yield from _page(self._pages, _bare(url, listed[url]), url)
                yield change or Gone(url)
            else:
                yield Gone(url)

    def _listed(self) -> dict[str, str]:
        """The pages that may be fetched, with their times of change."""
        found: dict[str, str] = {}
        self._collect(self._url, found, 0)
        try:
            return {url: at for url, at in found.items() if self._pages.allowed(url)}
        except UrlFailed as reason:
            raise SourceUnreachable(reason.message) from reason

    def _collect(self, url: str, found: dict[str, str], depth: int) -> None:
        root = _tree(self._pages, url)
        if root.tag == "sitemapindex" and depth < _DEEPEST:
            for one in root.findall("sitemap"):
                if place := (one.findtext("loc") or "").strip():
                    self._collect(urljoin(url, place), found, depth + 1)
        elif root.tag == "urlset":
            for one in root.findall("url"):
                place = (one.findtext("loc") or "").strip()
                if place and len(found) < _MOST_PAGES:
                    found[urljoin(url, place)] = (one.findtext("lastmod") or "").strip()
        else:
            raise SourceNonsense(f"{url} isn't a sitemap.", fix="Check its address.")


def _bare(url: str, changed: str) -> Put:
    about = describe({"link": url, "date": changed, "site": urlsplit(url).hostname or ""})
    return Put(url, url, bytes, metadata=about, audience=EVERYONE)


def _page(pages: Pages, put: Put, url: str) -> Generator[Wait, None, Put | Failed | None]:
    """The same with the page at its link. None: robots.txt forbids it."""
    try:
        if not pages.allowed(url):
            return None
        if delay := pages.delay(url):
            yield Wait(delay, f"{urlsplit(url).hostname} asks for {delay:g} s between pages.")
        got = pages.get(url)
    except ReadError as reason:
        return Failed(put.id, str(reason), reason.code)
    except UrlRefused as reason:
        return Failed(put.id, str(reason), reason.code)
    return Put(
        put.id,
        got.name,
        partial(bytes, got.data),
        title=put.title,
        metadata=put.metadata,
        audience=put.audience,
        size=len(got.data),
    )


def _tree(pages: Pages, url: str) -> Element:
    try:
        return parse_xml(pages.get(url).data, url)
    except (UrlFailed, UrlRefused) as reason:
        raise SourceUnreachable(reason.message) from reason
    except ReadError as reason:
        raise SourceNonsense(f"{url} can't be read: {reason.message}") from reason


def _feed(asked: SourceAsked) -> FeedSource:
    pages = Pages(private=asked.on("private"))
    return FeedSource(asked.option("url"), pages, whole=asked.on("pages"))


def _sitemap(asked: SourceAsked) -> SitemapSource:
    return SitemapSource(asked.option("url"), Pages(private=asked.on("private")))


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
