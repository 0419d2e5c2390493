"""Someone signs in through the provider of tests/web/test_signin.py, in a browser that keeps the
rules of cookies, redirects and forms: the provider is another site."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
import uvicorn
from playwright.sync_api import BrowserContext, Page, expect
from tests.serving.shelf import SECRET, shelve
from tests.web.test_signin import GROUPS, provided

from trivium.config import Settings
from trivium.http.app import create_app
from trivium.web.site import furnish

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")  # in the provider


@pytest.fixture
def size() -> str:
    return "wide"


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    """Of a page that asks people to sign in at the provider."""
    with provided() as (_, issuer), socket.create_server(("127.0.0.1", 0)) as listening:
        address = f"http://127.0.0.1:{listening.getsockname()[1]}"
        settings = Settings(
            serve_seconds=240.0,
            signin_issuer=issuer,
            signin_client="trivium",
            signin_address=address,
            signin_groups=GROUPS,
        )
        with shelve(tmp_path / "library", settings) as library:
            app = create_app(library, settings, open_to_all=False, furnish=furnish)
            server = uvicorn.Server(uvicorn.Config(app, log_level="warning"))
            running = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
            running.start()
            yield address
            server.should_exit = True
            running.join()


def test_signing_in_searching_and_out(context: BrowserContext, page: Page) -> None:
    # The provider's stylesheet comes from the network.
    context.route("**/*.min.css", lambda route: route.fulfill(body="", content_type="text/css"))
    page.goto(f"/?q={SECRET}")
    page.get_by_role("link", name="Sign in with localhost").click()
    page.get_by_role("button", name="anna", exact=True).click()
    expect(page.locator(".result").first).to_contain_text(SECRET)  # only for her group
    page.get_by_role("button", name="Sign out").click()
    page.get_by_role("button", name="End session").click()
    expect(page.get_by_role("link", name="Sign in with localhost")).to_be_visible()
    page.goto(f"/?q={SECRET}")
    expect(page.get_by_role("link", name="Sign in with localhost")).to_be_visible()
    expect(page.locator("body")).not_to_contain_text(f"crown of {SECRET}")
