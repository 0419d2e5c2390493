"""How the tests look at a page: what its console says, what axe finds, whether it fits."""

from __future__ import annotations

import re
from pathlib import Path

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import ConsoleMessage, Page

ROOT = Path(__file__).parents[2]
SCREENSHOTS = ROOT / "build" / "screenshots"
DOCUMENT = re.compile(r"/documents/\d+")  # with `wait_for_url`: until it has loaded
_AXE = Axe()
_SERIOUS = ("serious", "critical")
_RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]


class Watched:
    """Collects what goes wrong on a page while a test uses it. An answer that a test wants to be an
    error is `expected` by its status."""

    def __init__(self, page: Page) -> None:
        self.complaints: list[str] = []
        self.expected: set[str] = set()
        page.on("console", self._console)
        page.on("pageerror", lambda error: self.complaints.append(str(error)))

    def _console(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            # Chromium reports each answer of 400 and more; tests that want one look at it.
            if message.text.startswith("Failed to load resource: the server responded"):
                return
            self.complaints.append(message.text)


def assert_accessible(page: Page) -> None:
    """No barrier that axe-core calls serious, and nothing wider than the screen."""
    # The page's own rules forbid foreign scripts in it, so axe is evaluated from outside.
    page.evaluate("scrollTo(0, 0)")  # axe counts text below a sticky header as covered
    found = _AXE.run(
        page,
        options={
            "runOnly": {"type": "tag", "values": _RULES},
            "resultTypes": ["violations"],  # skips listing elements that pass
        },
    )
    serious = [
        f"{one['id']}: {one['help']}: {[node['html'][:160] for node in one['nodes'][:3]]}"
        for one in found.response["violations"]
        if one["impact"] in _SERIOUS
    ]
    assert not serious, "\n".join(serious)
    assert_fits(page)


def assert_fits(page: Page) -> None:
    wide, shown = page.evaluate(
        "() => [document.documentElement.scrollWidth, document.documentElement.clientWidth]"
    )
    assert wide <= shown, f"{wide} pixels in {shown}"
