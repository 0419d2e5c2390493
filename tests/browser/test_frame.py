"""The frame around every screen: it is quick, strict, and open to everyone."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect
from tests.browser.conftest import BOTH
from tests.browser.looking import ROOT, assert_accessible

STATIC = ROOT / "src" / "trivium" / "web" / "static"
BUDGET = 100_000  # bytes of script and style, as they are


def test_script_and_style_stay_small() -> None:
    files: list[Path] = [path for path in STATIC.iterdir() if path.suffix in (".js", ".css")]
    assert sum(path.stat().st_size for path in files) <= BUDGET


@BOTH
def test_the_first_page(page: Page, shoot: Callable[[str], None]) -> None:
    answer = page.goto("/")
    assert answer is not None
    policy = answer.header_value("content-security-policy") or ""
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    expect(page.get_by_role("navigation", name="Main")).to_be_visible()
    page.keyboard.press("Escape")  # out of the search box, where a page without a query begins
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keyboard shortcuts")).to_be_visible()
    page.keyboard.press("Escape")
    page.keyboard.press("/")
    expect(page.locator("#q")).to_be_focused()
    assert_accessible(page)
    shoot("search-empty")


def test_light_and_dark_can_be_chosen(page: Page) -> None:
    page.goto("/")
    ground = "() => getComputedStyle(document.body.parentElement).backgroundColor"
    before = page.evaluate(ground)
    page.get_by_role("button", name="Switch between light and dark").click()
    after = page.evaluate(ground)
    assert before != after
    page.reload()
    assert page.evaluate(ground) == after


@BOTH
def test_the_way_in(page: Page, shoot: Callable[[str], None]) -> None:
    page.goto("/login?next=/documents")
    page.get_by_label("Token").fill("trv_nonsense")
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("alert")).to_contain_text("isn't a token")
    assert_accessible(page)
    shoot("login")


SCREENS = (
    *("/?q=who poisoned the ferryman&explain=1", "/documents", "/documents/1"),
    *("/documents/1/history", "/ask", "/add", "/quote", "/evaluate", "/evaluate/mine/judge?q=axe"),
    *("/settings", "/settings/tokens", "/settings/collections", "/settings/sources"),
    *("/settings/queries", "/login", "/documents/9999"),
)
# What reaches beyond the right edge, also inside a table that could be scrolled; the left edge.
MEASURED = """() => [
  document.documentElement.scrollWidth,
  [...document.querySelectorAll('main *')].filter((one) => one.offsetParent
    && one.getBoundingClientRect().right > innerWidth).map((one) => one.outerHTML.slice(0, 80)),
  document.querySelector('main').getBoundingClientRect().left
    + parseFloat(getComputedStyle(document.querySelector('main')).paddingLeft),
  document.querySelector('.top').getBoundingClientRect().height,
]"""


@pytest.mark.parametrize("size", ["wide"])  # and in three widths here
def test_every_screen_fits_from_one_left_edge(page: Page) -> None:
    for path in SCREENS:
        page.goto(path)
        for width, edge, highest in ((1440, 24, 60), (1024, 24, 60), (390, 16, 140)):
            page.set_viewport_size({"width": width, "height": 800})
            # While a page waits for the server, a line runs below its head.
            page.evaluate("document.documentElement.dataset.busy = ''")
            wide, beyond, left, head = page.evaluate(MEASURED)
            assert (wide, beyond) == (width, []), (path, width)
            assert left == edge, (path, width)
            assert head <= highest, (path, width)
