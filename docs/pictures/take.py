"""Takes the pictures of the page for docs/pictures.md and README.md, from a running server.

    python docs/pictures/take.py http://127.0.0.1:8420 EMPTY_ADDRESS after

The first server has the sample library (`trivium add examples/documents tests/browser/files`), the
second an empty one. Files are `SCREEN-after.webp`, at other widths `SCREEN-1024-after.webp` and
`SCREEN-390-after.webp`; README's are `search.png` and `explain.png`.
"""

from __future__ import annotations

import io
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

HERE = Path(__file__).parent
WIDE, NARROW, PHONE = (1440, 900), (1024, 768), (390, 844)
SHOWN = 1000  # pixels of width in the picture of a wide screen: readable, and about 30 kB
QUALITY = 70


def results(page: Page) -> None:
    for _ in range(2):  # the first search of a server loads the model, and says how long it took
        page.goto("/?q=who poisoned the ferryman")
        page.locator(".result").first.wait_for()


def explained(page: Page) -> None:
    results(page)
    page.locator(".why").first.click()
    page.locator("#drawer table").first.wait_for()
    page.wait_for_timeout(500)


def several(page: Page) -> None:
    page.goto("/?q=axe&q=shield")
    page.locator("#count").wait_for()


def mistyped(page: Page) -> None:
    page.goto("/?q=crown&where=type:markdwon")
    page.wait_for_load_state()


def opened(page: Page) -> None:
    results(page)
    page.locator(".result h2 a").first.click()
    page.locator("#here").first.wait_for()
    page.wait_for_timeout(500)


def asked(page: Page) -> None:
    page.goto("/ask?q=who raised the drowned crown")
    page.locator(".citations").wait_for()
    width = (page.viewport_size or {}).get("width", 0)
    if width >= WIDE[0] and page.locator("#source").count():  # beside the answer if there is room
        page.locator(".answer-text .cite").first.click()
        page.locator("#source-text mark").first.wait_for()
    page.wait_for_timeout(500)


def adding(page: Page) -> None:
    """Three files of which one is damaged."""
    page.goto("/add")
    files = [
        {"name": "harbour.md", "mimeType": "text/markdown", "buffer": b"# Harbour\n\nFog all day."},
        {"name": "market.md", "mimeType": "text/markdown", "buffer": b"# Market\n\nOpen at six."},
        {"name": "invalid.pdf", "mimeType": "application/pdf", "buffer": b"%PDF-1.4 broken"},
    ]
    page.locator("input[type=file]").first.set_input_files(files)
    page.get_by_text("2 of 3 files added").first.wait_for(timeout=300_000)


def at(address: str) -> Callable[[Page], None]:
    def go(page: Page) -> None:
        page.goto(address)
        page.wait_for_load_state()

    return go


def suggested(page: Page) -> None:
    page.goto("/ask")
    if page.locator("#suggested").count():
        page.locator("#suggested a").first.wait_for()


# Those that change their layout with the width.
AT_EVERY_WIDTH = ("results", "explained", "document", "ask", "documents", "settings")
SCREENS: dict[str, Callable[[Page], None]] = {
    "results": results,
    "explained": explained,
    "several": several,
    "mistyped": mistyped,
    "document": opened,
    "ask": asked,
    "suggested": suggested,
    "documents": at("/documents"),
    "settings": at("/settings"),
    "tokens": at("/settings/tokens"),
    "evaluate": at("/evaluate"),
    "queries": at("/settings/queries"),
    "add": adding,
}


def main(address: str, empty: str, when: str) -> None:
    found = next(filter(None, map(shutil.which, ("chromium", "chromium-browser"))))
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
        take(browser, empty, "empty", at("/"), when, WIDE)
        for name, go in SCREENS.items():
            take(browser, address, name, go, when, WIDE)
        for size in (NARROW, PHONE):
            for name in AT_EVERY_WIDTH:
                take(browser, address, f"{name}-{size[0]}", SCREENS[name], when, size)
        for_readme(browser, address)
        browser.close()


def take(
    browser: Browser,
    address: str,
    name: str,
    go: Callable[[Page], None],
    when: str,
    size: tuple[int, int],
) -> None:
    width, height = size
    context = browser.new_context(
        base_url=address,
        viewport={"width": width, "height": height},
    )
    page = context.new_page()
    try:
        go(page)
        if page.locator("h1", has_text="Not found").count():
            return  # the screen is new
        picture = Image.open(io.BytesIO(page.screenshot()))
        if width >= SHOWN:
            shown = SHOWN if width > NARROW[0] else SHOWN * 3 // 4
            size = (shown, round(height * shown / width))
            picture = picture.resize(size, Image.Resampling.LANCZOS)
        picture.save(HERE / f"{name}-{when}.webp", quality=QUALITY, method=6)
        print(name, (HERE / f"{name}-{when}.webp").stat().st_size)
    finally:
        context.close()


def for_readme(browser: Browser, address: str) -> None:
    """Results as they are, and the explanation alone."""
    context = browser.new_context(base_url=address, viewport={"width": 1200, "height": 720})
    page = context.new_page()
    results(page)
    page.screenshot(path=HERE / "search.png")
    page.set_viewport_size({"width": 1440, "height": 1000})
    explained(page)
    box = page.locator("#drawer").bounding_box()
    assert box is not None
    area = {"x": box["x"], "y": box["y"], "width": box["width"], "height": 720}
    page.screenshot(path=HERE / "explain.png", clip=area)
    context.close()


if __name__ == "__main__":
    main(*sys.argv[1:4])
