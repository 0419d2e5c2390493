"""The document screens: reading, hits, similar documents, versions and the way back."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Page, expect
from tests.browser.conftest import BOTH
from tests.browser.looking import DOCUMENT, assert_accessible
from tests.cli.program import call
from tests.unit.extract.making import printed

Shoot = Callable[[str], None]


def test_the_list_of_documents(page: Page, shoot: Shoot) -> None:
    page.goto("/documents")
    expect(page.get_by_role("link", name="The Drowned Crown")).to_be_visible()
    expect(page.locator(".chip[aria-current]")).to_contain_text("All")
    assert_accessible(page)
    shoot("documents")
    page.get_by_role("link", name="Title", exact=True).click()  # on a phone too
    expect(page).to_have_url(re.compile("sort=title"))
    page.get_by_label("Filter").fill("type:text")
    page.get_by_role("button", name="Filter").click()
    expect(page.get_by_role("link", name="The Drowned Crown")).to_have_count(0)
    expect(page).to_have_url(re.compile("where=type"))


@BOTH
def test_a_passage_in_its_text(page: Page, shoot: Shoot) -> None:
    page.goto("/?q=sling+harm")
    page.locator(".result-link", has_text="Weapons").first.click()
    passage = page.get_by_role("region", name="The passage")
    expect(passage).to_be_in_viewport()
    expect(passage.locator("mark").first).to_be_visible()
    expect(page.locator("table.from-text").first).to_be_visible()
    assert_accessible(page)
    shoot("document")
    before = page.url
    page.keyboard.press("j")
    page.wait_for_url(lambda url: url != before)
    page.keyboard.press("k")
    page.wait_for_url(re.compile(re.escape(before.split("?")[0])))


def test_hits_are_walked_through(page: Page) -> None:
    page.goto("/documents")
    page.get_by_role("link", name="Reed & Lantern: Weapons").click()
    page.wait_for_url(DOCUMENT)
    page.goto(f"{page.url}?q=sling")
    expect(page.locator(".hits a[aria-current]")).to_have_count(1)
    jump = page.get_by_role("navigation", name="Hits and passages")
    expect(jump).to_contain_text("Hit 1 of")
    page.keyboard.press("n")
    expect(jump).to_contain_text("Hit 2 of")
    page.keyboard.press("p")
    expect(jump).to_contain_text("Hit 1 of")


@BOTH
def test_the_current_hit_is_in_sight_in_its_list(page: Page, size: str) -> None:
    page.goto("/documents")
    page.get_by_role("link", name="Reed & Lantern: Weapons").click()
    page.wait_for_url(DOCUMENT)
    page.set_viewport_size({"width": 1280 if size == "wide" else 390, "height": 260})
    page.goto(f"{page.url}?q=weapon")
    last = page.locator(".hits a").last
    text = last.inner_text()
    last.click()
    current = page.locator(".hits a[aria-current]")
    expect(current).to_have_text(text)
    page.wait_for_load_state()  # a script scrolls the list
    top, bottom = current.evaluate(
        """(hit) => {
          const [own, list] = [hit, hit.closest(".hits")].map((one) => one.getBoundingClientRect());
          return [own.top - list.top, own.top - list.bottom];
        }"""
    )
    assert top >= -1
    assert bottom < 0


def test_what_is_like_it(page: Page) -> None:
    page.goto("/?q=drowned+crown")
    page.locator(".result-link").first.click()
    page.locator("#similar").get_by_role("link", name="Find similar").click()
    expect(page.locator("#similar .hits a").first).to_be_visible()
    expect(page).not_to_have_url(re.compile("similar=1")), "swapped in, the place is kept"


def test_a_page_as_a_picture(page: Page, sample: Path, tmp_path: Path, shoot: Shoot) -> None:
    scan = tmp_path / "harbour.pdf"
    scan.write_bytes(printed(["The harbour master keeps a ledger", "of lanterns and of ships."]))
    add(sample, scan)
    page.goto("/?q=harbour+master+ledger&type=pdf")
    page.locator(".result-link").first.click()
    picture = page.locator(".sheet img")
    expect(picture).to_have_attribute("src", re.compile(r"/pages/1\?width=\d+&passage=0"))
    page.wait_for_function("() => document.querySelector('.sheet img').naturalWidth > 500")
    expect(page.locator(".reading")).to_contain_text("keeps a ledger")
    assert_accessible(page)
    shoot("document-page")
    with page.expect_download() as download:
        page.get_by_role("link", name="Download original").click()
    assert Path(download.value.path()).read_bytes() == scan.read_bytes()
    page.get_by_role("link", name="All results").click()
    expect(page).to_have_url(re.compile(r"/\?q=harbour.*&type=pdf$"))  # filters too


def add(library: Path, file: Path) -> None:
    """From another process than the server's: this one, which has its model already."""
    answer = call("--library", library, "add", file)
    assert answer.code == 0, answer


def test_the_past_can_be_seen_and_brought_back(
    page: Page, sample: Path, tmp_path: Path, shoot: Shoot
) -> None:
    note = tmp_path / "tide-note.md"
    for text in ("The tide turns at noon.", "The tide turns at dusk."):
        note.write_text(f"# Tide note\n\n{text}\n")
        add(sample, note)
    page.goto("/?q=tide+turns")
    page.locator(".result-link", has_text="Tide note").first.click()
    expect(page.locator(".reading")).to_contain_text("dusk")
    page.get_by_role("link", name="History").click()
    expect(page.locator(".diff .added")).to_have_text(re.compile("dusk"))
    expect(page.locator(".diff .removed")).to_have_text(re.compile("noon"))
    assert_accessible(page)
    shoot("history")
    page.get_by_role("button", name="Restore version 1").click()
    expect(page.get_by_text("restored from 1")).to_be_visible()
    page.get_by_role("link", name="Back to the document").click()
    expect(page.locator(".reading")).to_contain_text("noon")
    page.get_by_role("button", name="Remove").click()
    page.get_by_role("button", name="Cancel").click()
    page.get_by_role("button", name="Remove").click()
    page.get_by_role("button", name="Remove document").click()
    expect(page.get_by_text("Document removed.")).to_be_visible()


def test_a_document_that_is_not_there(page: Page) -> None:
    page.goto("/documents/999999")
    expect(page.get_by_role("heading", name="Not found")).to_be_visible()
    expect(page.get_by_role("alert")).to_contain_text("no document #999999")
