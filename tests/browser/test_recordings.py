"""A recording in the browser: a hit opens the player at its second, with the word marked that is
spoken. The clip is transcribed by the real model."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from time import monotonic

import pytest
from playwright.sync_api import Page, expect
from tests.browser.conftest import BOTH, PATIENCE, SIZES, serving
from tests.browser.looking import DOCUMENT, assert_accessible
from tests.cli.program import call
from tests.recordings.making import CLIP, STARTS

NOW = "document.getElementById('media').currentTime"
# Two passages of one talk, by the second at which each is said.
FERRY = {
    2: f"The ferry to Skye leaves at noon. {'The deck was painted white again. ' * 60}",
    6: f"The ferry to Mull is late. {'Nobody on the pier had an umbrella. ' * 60}",
}
MARKED = "String([...(CSS.highlights.get('spoken') ?? [])])"


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("talks")
    shutil.copy(CLIP, folder / "harbour.ogg")
    shutil.copy(CLIP, folder / "ferry.ogg")
    cues = (f"00:00:0{at},000 --> 00:00:0{at + 3},000\n{text}\n" for at, text in FERRY.items())
    (folder / "ferry.srt").write_text("\n".join(cues))
    library = folder / "library"
    for name in ("harbour.ogg", "ferry.ogg"):
        assert call("--library", str(library), "add", str(folder / name)).code == 0
    with serving(library) as address:
        yield address


def _until(page: Page, condition: str) -> None:
    """The page's policy lets nobody evaluate text in it, which Playwright's own waiting does."""
    until = monotonic() + PATIENCE
    while not page.evaluate(condition):
        assert monotonic() < until, condition


@BOTH
def test_a_hit_plays_from_its_second(page: Page, size: str) -> None:
    page.goto("/?q=lighthouse+storm")
    expect(page.locator(".result").first).to_contain_text("0:00–0:12")
    page.locator(".result-link").first.click()
    page.wait_for_url(DOCUMENT)
    media = page.locator("#media")
    expect(media).to_be_visible()
    box = media.bounding_box()
    assert box is not None
    assert 0 <= box["x"] <= box["x"] + box["width"] <= SIZES[size][0]
    start = float(media.get_attribute("data-start") or 0)
    assert start == pytest.approx(STARTS[2], abs=1.0)
    _until(page, f"{NOW} >= {start} && {MARKED} !== ''")
    assert page.evaluate(NOW) < 13.0
    page.evaluate("document.getElementById('media').pause()")
    page.evaluate("document.getElementById('media').currentTime = 2.9")
    _until(page, f"{MARKED}.toLowerCase().includes('green')")
    page.get_by_label("Speed").select_option("1.5")
    assert page.evaluate("document.getElementById('media').playbackRate") == 1.5
    page.keyboard.press("r")
    _until(page, f"{NOW} >= {start}")
    assert_accessible(page)


def test_a_citation_plays_its_sentence(page: Page, size: str) -> None:
    page.goto("/ask")
    page.get_by_role("textbox", name="Question").fill("What does he write down every morning?")
    page.get_by_role("button", name="Ask", exact=True).click()
    cite = page.locator(".citations a[data-source]").first
    expect(cite).to_be_visible()
    cite.click()
    media = page.locator("#media")
    expect(media).to_be_visible()
    start, end = (float(media.get_attribute(f"data-{name}") or 0) for name in ("start", "end"))
    assert start == pytest.approx(STARTS[1], abs=1.0)
    assert end == pytest.approx(STARTS[2], abs=1.0)
    _until(page, f"{NOW} >= {start}")
    _until(page, f"{NOW} >= {end} && document.getElementById('media').paused")
    assert page.evaluate(NOW) < end + 1.5


def test_the_keys_lead_to_the_next_hit_and_back(page: Page, size: str) -> None:
    page.goto("/?q=ferry")
    page.locator(".result-link", has_text="ferry").first.click()
    page.wait_for_url(DOCUMENT)
    media = page.locator("#media")
    expect(media).to_be_visible()
    first = page.get_by_label("Next hit").count() == 1  # else the later hit ranks first
    begins = ["2", "6"] if first else ["6", "2"]
    there, back = ("n", "p") if first else ("p", "n")
    expect(media).to_have_attribute("data-start", re.compile(rf"^{begins[0]}"))
    page.keyboard.press(there)
    expect(media).to_have_attribute("data-start", re.compile(rf"^{begins[1]}"))
    _until(page, f"{NOW} >= {begins[1]}")
    page.keyboard.press(back)
    expect(media).to_have_attribute("data-start", re.compile(rf"^{begins[0]}"))
