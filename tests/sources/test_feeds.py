"""Feeds and sitemaps as they are written: entities, encodings, XHTML, packed and missing ones.

Cases after kurtmckee/feedparser, tests/wellformed (`encoding`, `atom10`, `rss`, `cdf`) and
tests/illformed; the sitemaps protocol (sitemaps.org) allows gzip.
"""

import gzip
from collections.abc import Iterator, Sequence

import pytest
from tests.sources.server import Asked, Reply, serving

from trivium.core.errors import SourceNonsense
from trivium.ports import Change, Checkpoint, Failed, Gone, Put, Wait
from trivium.sources.feed import FeedSource, Pages, SitemapSource


class Pieces:
    """Answers by path."""

    def __init__(self) -> None:
        self.url = ""
        self.held: dict[str, Reply] = {}

    def answer(self, asked: Asked) -> Reply:
        return self.held.get(asked.path, Reply(b"", 404))


@pytest.fixture
def site() -> Iterator[Pieces]:
    made = Pieces()
    with serving(made.answer) as server:
        made.url = server.url
        yield made


def entries(site: Pieces, data: bytes, media_type: str = "") -> list[Put]:
    headers = {"Content-Type": media_type} if media_type else {}
    site.held["/feed"] = Reply(data, headers=headers)
    source = FeedSource(f"{site.url}feed", Pages(private=True))
    return [one for one in source.changes("") if isinstance(one, Put)]


def body(put: Put) -> str:
    assert callable(put.content)
    return put.content().decode()


def rss(inner: str) -> bytes:
    return f"<rss version='2.0'><channel><title>N</title>{inner}</channel></rss>".encode()


def test_named_entities_are_read(site: Pieces) -> None:
    """Without a DOCTYPE they aren't XML; 256 of feedparser's files were refused for them."""
    (put,) = entries(site, rss("<item><title>Caf&eacute; &nbsp;&mdash; &copy;</title></item>"))
    assert put.title == "Café — ©"
    doctype = b'<!DOCTYPE rss [<!ENTITY who "Ada">]>'
    (put,) = entries(site, doctype + rss("<item><title>By &who;</title></item>"))
    assert put.title.startswith("By")


def test_a_bomb_of_entities_stays_small(site: Pieces) -> None:
    levels = "".join(f'<!ENTITY a{n} "{f"&a{n - 1};" * 10}">' for n in range(1, 9))
    bomb = f'<!DOCTYPE rss [<!ENTITY a0 "ha">{levels}]>'.encode()
    found = entries(site, bomb + rss("<item><title>&a8;</title></item>"))
    assert all(len(one.title) < 1_000 for one in found)


@pytest.mark.parametrize(
    ("encoding", "declared", "media_type"),
    [
        ("utf-8", "", ""),
        ("windows-1252", "windows-1252", ""),
        ("iso-8859-1", "", "application/rss+xml; charset=iso-8859-1"),
        ("utf-16", "", ""),
        ("koi8-r", "koi8-r", ""),
        ("shift_jis", "shift_jis", ""),
    ],
)
def test_encodings(site: Pieces, encoding: str, declared: str, media_type: str) -> None:
    title = {"koi8-r": "Привет", "shift_jis": "日本"}.get(encoding, "Größe")
    head = f"<?xml version='1.0' encoding='{declared}'?>" if declared else ""
    said = f"{head}<rss version='2.0'><channel><item><title>{title}</title></item></channel></rss>"
    (put,) = entries(site, said.encode(encoding), media_type)
    assert put.title == title


def test_xhtml_titles_and_contents(site: Pieces) -> None:
    (put,) = entries(
        site,
        b"""<feed xmlns="http://www.w3.org/2005/Atom"><title>N</title><entry><id>a</id>
        <title type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml">An
        <em>open</em> &amp; door</div>
        </title><author><name>Ada</name></author><author><name>Bob</name></author>
        <updated>2026-01-02T03:04:05+02:00</updated><link href="/a"/><category term="x"/>
        <content type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml"><p>Come <b>in</b>.</p></div>
        </content></entry></feed>""",
    )
    assert put.title == "An open & door"
    assert put.metadata["authors"] == ("Ada", "Bob")
    assert put.metadata["date"] == "2026-01-02T01:04:05+00:00"
    assert put.metadata["link"] == f"{site.url}a"
    assert "<p>Come <b>in</b>.</p>" in body(put)


def test_a_guid_may_be_the_link(site: Pieces) -> None:
    first, second = entries(
        site,
        rss("<item><guid>https://x.org/1</guid><title>One</title></item>"
            "<item><guid isPermaLink='false'>two</guid><title>Two</title></item>"),
    )  # fmt: skip
    assert (first.id, first.metadata["link"]) == ("https://x.org/1", "https://x.org/1")
    assert (second.id, second.metadata.get("link")) == ("two", None)


def test_a_feed_that_ends_in_the_middle_is_read_as_far_as_it_goes(site: Pieces) -> None:
    whole = rss("<item><guid>a</guid><title>A</title></item><item><guid>b</guid><title>B</title>")
    found = entries(site, whole.removesuffix(b"</channel></rss>"))
    assert [one.title for one in found][:1] == ["A"]


@pytest.mark.parametrize("data", [b"<html><body>Sign in</body></html>", b"/etc/passwd", b"", b"x"])
def test_what_is_no_feed_is_said(site: Pieces, data: bytes) -> None:
    with pytest.raises(SourceNonsense, match="isn't a feed"):
        entries(site, data)


# --- sitemaps


def sitemap(site: Pieces) -> SitemapSource:
    return SitemapSource(f"{site.url}sitemap.xml", Pages(private=True))


def index(site: Pieces, *names: str) -> Reply:
    rows = "".join(f"<sitemap><loc>{site.url}{name}</loc></sitemap>" for name in names)
    return Reply(f"<sitemapindex>{rows}</sitemapindex>".encode())


def urlset(site: Pieces, *names: str) -> bytes:
    rows = "".join(f"<url><loc>{site.url}{name}</loc><lastmod>1</lastmod></url>" for name in names)
    return f"<urlset>{rows}</urlset>".encode()


def ids(changes: Sequence[Change | str], kind: type) -> list[str]:
    return [one.id for one in changes if isinstance(one, kind)]


def test_packed_sitemaps_are_read(site: Pieces) -> None:
    site.held = {"/sitemap.xml": index(site, "a.xml.gz"), "/one": Reply(b"<p>One.</p>"),
                 "/a.xml.gz": Reply(gzip.compress(urlset(site, "one")))}  # fmt: skip
    assert ids(list(sitemap(site).changes("")), Put) == [f"{site.url}one"]


def test_a_packed_bomb_is_refused(site: Pieces) -> None:
    site.held = {"/sitemap.xml": Reply(gzip.compress(b" " * (33 << 20)))}
    with pytest.raises(SourceNonsense, match="unpacks to more"):
        list(sitemap(site).changes(""))


def test_a_missing_sitemap_of_several_removes_nothing(site: Pieces) -> None:
    site.held = {"/sitemap.xml": index(site, "a.xml", "b.xml"),
                 "/a.xml": Reply(urlset(site, "one")), "/b.xml": Reply(urlset(site, "two")),
                 "/one": Reply(b"<p>One.</p>"),
                 "/two": Reply(b"<p>Two.</p>")}  # fmt: skip
    first = list(sitemap(site).changes(""))
    assert len(ids(first, Put)) == 2
    site.held["/b.xml"] = Reply(b"", 500)
    cursor = [one for one in first if isinstance(one, Checkpoint)][-1].cursor
    second = list(sitemap(site).changes(cursor))
    assert ids(second, Failed) == [f"{site.url}b.xml"]
    assert not ids(second, Gone)
    assert [one.partial for one in sitemap(site).ids() if isinstance(one, Failed)] == [True]
    assert ids(list(sitemap(site).again([f"{site.url}b.xml"])), Failed) == [f"{site.url}b.xml"]
    site.held["/b.xml"] = Reply(urlset(site))
    cursor = [one for one in second if isinstance(one, Checkpoint)][-1].cursor
    assert ids(list(sitemap(site).changes(cursor)), Gone) == [f"{site.url}two"]


@pytest.mark.parametrize("delay", ["9" * 400, "-5", "inf", "nan", "\u00b2"])
def test_a_pace_that_makes_no_sense_has_a_limit(site: Pieces, delay: str) -> None:
    site.held = {"/sitemap.xml": Reply(urlset(site, "one")), "/one": Reply(b"<p>One.</p>"),
                 "/robots.txt": Reply(f"User-agent: *\nCrawl-delay: {delay}".encode())}  # fmt: skip
    changes = list(sitemap(site).changes(""))
    assert all(0 <= one.seconds <= 86_400 for one in changes if isinstance(one, Wait))
    assert ids(changes, Put) == [f"{site.url}one"]


def test_a_page_that_sends_visitors_elsewhere_fails(site: Pieces) -> None:
    """As where people must sign in; a site's own other name is fine."""
    urls = f"<url><loc>{site.url}a</loc></url>"
    site.held["/map"] = Reply(f"<urlset>{urls}</urlset>".encode())
    site.held["/sign-in"] = Reply(b"<title>Sign in</title>")
    there = site.url.replace("127.0.0.1", "localhost")
    site.held["/a"] = Reply(b"", 302, {"Location": f"{there}sign-in"})
    source = SitemapSource(f"{site.url}map", Pages(private=True))
    (failed,) = [one for one in source.changes("") if isinstance(one, Put | Failed)]
    assert isinstance(failed, Failed)
    assert "sends you to localhost" in failed.message
    site.held["/a"] = Reply(b"", 302, {"Location": f"{site.url}sign-in"})
    assert any(isinstance(one, Put) for one in source.changes(""))
