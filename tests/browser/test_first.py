"""The first minute: an empty library, the samples, files dropped on a page."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect
from tests.browser.conftest import PATIENCE, SIZES, serving
from tests.browser.looking import assert_accessible

# A drop that holds files, as a browser makes it; a script cannot make one with folders.
DROP = """(files) => {
  const carried = new DataTransfer();
  for (const [name, text] of files) carried.items.add(new File([text], name));
  const drop = new DragEvent("drop", { dataTransfer: carried, bubbles: true, cancelable: true });
  document.querySelector("main").dispatchEvent(drop);
}"""


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    """Of a server that was started where there is no library."""
    with serving(tmp_path / "none") as address:
        yield address


@pytest.fixture
def size() -> str:
    """Once: the server embeds the samples, which takes most of a minute. Each screen is looked at
    in every size."""
    return "wide"


def looked_at(page: Page) -> None:
    for width, height in reversed(SIZES.values()):
        page.set_viewport_size({"width": width, "height": height})
        assert_accessible(page)


def test_from_nothing_to_the_first_own_result(page: Page, shoot: Callable[[str], None]) -> None:
    page.goto("/")
    expect(page.get_by_role("heading", name="Drop files or folders here")).to_be_visible()
    expect(page.get_by_role("button", name="Try it with sample documents")).to_be_visible()
    expect(page.locator(".first .chip")).to_have_count(3)
    looked_at(page)
    shoot("first")

    # One click: the samples are added and searched; results come without another.
    page.get_by_role("button", name="who poisoned the ferryman").click()
    # Two cores at load 16 took minutes to embed them.
    result, minutes = page.locator(".result").first, PATIENCE * 1000
    expect(result).to_contain_text("ferryman", ignore_case=True, timeout=minutes)
    expect(page.locator("#tray")).to_contain_text("17 files added", timeout=minutes)
    expect(page.locator("#q")).to_have_value("who poisoned the ferryman")
    looked_at(page)
    shoot("first-samples")

    # A file dropped on any page is added.
    page.goto("/documents")
    page.evaluate(DROP, [["lamp.md", "# The lamp\n\nIt burns whale oil."], ["empty.md", ""]])
    tray = page.get_by_role("complementary", name="Adding files")
    expect(tray).to_contain_text("The file is empty.")
    expect(tray).to_contain_text(re.compile(r"\b(1 file|18 files) added"))  # together, if soon
    looked_at(page)
    shoot("dropped")
    tray.get_by_role("button", name="Dismiss").click()
    expect(page.locator("#sending")).to_be_hidden()
    tray.get_by_role("link", name="Search now").click()
    page.locator("#q").fill("whale oil")
    expect(page.locator(".result h2").first).to_have_text("The lamp")
    expect(page.locator("#tray")).to_be_hidden()
