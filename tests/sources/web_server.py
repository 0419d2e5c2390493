"""A website with a feed, a sitemap and robots.txt."""

from __future__ import annotations

from dataclasses import dataclass, field

from tests.sources.server import Asked, Reply


@dataclass
class Site:
    entries: dict[str, str] = field(default_factory=dict)  # id and words
    pages: dict[str, tuple[str, str]] = field(default_factory=dict)  # path: lastmod, words
    robots: str = ""
    url: str = ""

    def answer(self, asked: Asked) -> Reply:
        path = asked.path.strip("/")
        if path == "robots.txt":
            return Reply(self.robots.encode()) if self.robots else Reply(b"", 404)
        if path == "feed":
            items = "".join(
                f"<item><guid>{id_}</guid><title>T {id_}</title><link>/{id_}</link>"
                f"<pubDate>Thu, 01 Jan 2026 10:00:00 GMT</pubDate><dc:creator>Ada</dc:creator>"
                f"<category>x</category><description>&lt;p&gt;{words}&lt;/p&gt;</description></item>"
                for id_, words in self.entries.items()
            )
            dc = 'xmlns:dc="http://purl.org/dc/elements/1.1/"'
            head = f'<rss version="2.0" {dc}><channel><title>News</title>'
            return Reply(f"{head}{items}</channel></rss>".encode())
        if path == "sitemap.xml":
            inner = f"<sitemap><loc>{self.url}pages.xml</loc></sitemap>"
            return Reply(f"<sitemapindex>{inner}</sitemapindex>".encode())
        if path == "pages.xml":
            rows = "".join(
                f"<url><loc>{self.url}{name}</loc><lastmod>{at}</lastmod></url>"
                for name, (at, _) in self.pages.items()
            )
            return Reply(f"<urlset>{rows}</urlset>".encode())
        if path in self.pages:
            return Reply(f"<p>{self.pages[path][1]}</p>".encode())
        return Reply(b"", 404)
