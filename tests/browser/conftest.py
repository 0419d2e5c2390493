"""One server with the sample library and one browser for all tests of the page: one worker has them
all.

The server is the real program in its own process; the browser is the system's Chromium. Without one
the tests are skipped and say so; in CI they fail.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest
from bench.page import BROWSERS
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright
from tests.browser.looking import ROOT, SCREENSHOTS, Watched
from tests.once import add_samples, made_once

PATIENCE = 240.0  # seconds: for a machine that is busy with other things
# The same engine without windows: 5.6 s of processor time instead of 14 for 30 small pages.
NAMES = ("chromium-headless-shell", *BROWSERS)
expect.set_options(timeout=PATIENCE * 1000 / 4)
SIZES = {"wide": (1280, 900), "phone": (390, 844)}
BOTH = pytest.mark.parametrize("size", SIZES)


def trivium(folder: Path, *words: str) -> list[str]:
    return [sys.executable, "-m", "trivium.cli.main", "--library", str(folder), *words]


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}


@pytest.fixture(scope="session")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample library of `make run`, with some files for the tests."""

    def make(folder: Path) -> None:
        shutil.copytree(made_once(tmp_path_factory, "samples", add_samples), folder)
        add_samples(folder, ROOT / "tests" / "browser" / "files")

    return made_once(tmp_path_factory, "page", make)


@contextmanager
def serving(folder: Path, *options: str) -> Iterator[str]:
    """The address of a running `trivium serve`."""
    process = subprocess.Popen(
        trivium(folder, "serve", "--port", "0", "--set", f"serve.seconds={PATIENCE}", *options),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env=environment(),
    )
    try:
        assert process.stdout is not None
        address = process.stdout.readline().removeprefix("Serving at ").strip()
        _wait(address)
        yield address
    finally:
        process.terminate()
        process.wait(PATIENCE)
        if process.stdout is not None:
            process.stdout.close()


def _wait(address: str) -> None:
    """Until the server answers, and has loaded its model, which the first search does."""
    until = monotonic() + PATIENCE
    while True:
        try:
            urlopen(f"{address}/?q=crown", timeout=PATIENCE).close()
            return
        except HTTPError:  # it asks for a token, so it is running
            return
        except OSError:
            if monotonic() > until:
                raise


@pytest.fixture(scope="package")
def address(sample: Path) -> Iterator[str]:
    with serving(sample) as address:
        yield address


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """Closed after this folder: while it runs, no other event loop can."""
    found = next((path for name in NAMES if (path := shutil.which(name))), None)
    if found is None:
        note = "There is no Chromium: `apt install chromium` brings it. The page is not tested."
        if os.environ.get("CI"):
            pytest.fail(note)
        pytest.skip(note)
    # Chromium's own sandbox does not run as root; the pages are ours. Where /dev/shm is small, as
    # in containers (64 MB), pages crash now and then that use it.
    arguments = ["--disable-dev-shm-usage", *(["--no-sandbox"] if os.geteuid() == 0 else [])]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=found, args=arguments, timeout=PATIENCE * 1000
        )
        yield browser
        browser.close()


@pytest.fixture
def size() -> str:
    """Today's: what a page does rarely depends on its width. What does is tested in `BOTH`."""
    return list(SIZES)[datetime.now(UTC).toordinal() % 2]


@pytest.fixture
def context(browser: Browser, address: str, size: str) -> Iterator[BrowserContext]:
    width, height = SIZES[size]
    context = browser.new_context(
        base_url=address,
        viewport={"width": width, "height": height},
        color_scheme="dark" if size == "phone" else "light",
        has_touch=size == "phone",
    )
    context.set_default_timeout(PATIENCE * 1000 / 4)
    yield context
    context.close()


@pytest.fixture
def page(context: BrowserContext, size: str) -> Iterator[Page]:
    """A new page. Any complaint in its console fails the test."""
    page = context.new_page()
    watched = Watched(page)
    yield page
    assert watched.complaints == []


@pytest.fixture
def shoot(page: Page, size: str) -> Callable[[str], None]:
    """Keeps a picture of the screen for people to look at, in build/screenshots."""
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)

    def shoot(name: str) -> None:
        page.screenshot(path=SCREENSHOTS / f"{name}-{size}.png", full_page=True)

    return shoot
