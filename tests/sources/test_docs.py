"""Each kind of source has a page in docs: what to create, what is read and what isn't, who may see
it."""

from pathlib import Path

import pytest

from trivium.sources import kinds

DOCS = Path(__file__).parents[2] / "docs"
PAGES = {
    "feed": "feeds", "sitemap": "feeds", "imap": "mail", "mbox": "mail", "slack-export": "slack",
}  # fmt: skip


@pytest.mark.parametrize("name", kinds.entries())
def test_a_source_has_a_page(name: str) -> None:
    page = (DOCS / "sources" / f"{PAGES.get(name, name)}.md").read_text(encoding="utf-8")
    assert f"trivium sync add {name} " in page
    for part in ("**Read**", "**Not read**", "**Who may see it**"):
        assert part in page, part
    assert f"sources/{PAGES.get(name, name)}.md" in (DOCS / "sources.md").read_text("utf-8")
    for secret in kinds.kind_of(name).secrets:
        assert f"{secret}=" in page or f"`{secret}`" in page, secret
