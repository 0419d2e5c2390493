"""Adding: files and folders dropped, progress, failures tried again, watched folders, jobs."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, Route, expect
from tests.browser.looking import assert_accessible
from tests.browser.test_first import DROP


def test_files_are_dropped_and_followed(
    page: Page, size: str, shoot: Callable[[str], None]
) -> None:
    page.goto("/add")
    expect(page.get_by_text("Drop files or folders here")).to_be_visible()
    lamp, broken = f"lamp {size}.md", f"broken {size}.pdf"
    page.evaluate(
        DROP,
        [
            [lamp, f"# The lamp, {size}\n\nIt burns whale oil."],
            [broken, "%PDF-1.4 nothing"],
            ["empty.md", ""],
        ],
    )
    expect(page.locator("#unsent")).to_contain_text("The file is empty.")
    panel = page.locator("#panel")
    expect(panel).to_have_attribute("data-running", "0")
    # Failures come first, each with its reason; what went well is folded.
    expect(panel.locator(".failed-files li").first).to_contain_text(broken)
    expect(panel.locator(".failed-files li").first).to_contain_text("the file is damaged")
    expect(panel.get_by_text(re.compile(r"^\d+ of \d+ files added$"))).to_be_visible()
    expect(panel.get_by_role("link", name=lamp)).to_be_hidden()
    panel.get_by_text(re.compile(r"^\d+ added$")).click()
    expect(panel.get_by_role("link", name=lamp)).to_be_visible()
    assert_accessible(page)
    shoot("add")
    with page.expect_response(re.compile(r"/add/jobs/\d+/retry$")) as tried:
        panel.get_by_role("button", name=f"Retry {broken}").click()
    assert tried.value.status == 303
    expect(panel.locator(".failed-files li").first).to_contain_text(broken)
    page.get_by_role("button", name="Dismiss").click()
    expect(page.locator("#sending")).to_be_hidden()
    panel.get_by_role("link", name=lamp).click()
    expect(page.get_by_role("heading", name=f"The lamp, {size}").first).to_be_visible()


@pytest.mark.parametrize("size", ["wide"])
def test_the_smallest_files_are_sent_first(page: Page) -> None:
    page.goto("/add")
    sent: list[str] = []

    def busy(route: Route) -> None:
        sent.extend(re.findall(r'filename="(\w+)\.md"', route.request.post_data or ""))
        route.fulfill(status=503, json={"detail": "Busy.", "fix": ""})

    page.route("**/v1/documents?wait=false", busy)
    page.evaluate(DROP, [[f"{n}.md", "x" * n] for n in (900, 20, 400, 3)])
    expect(page.locator("#unsent li")).to_have_count(4)
    assert sent == ["3", "20", "400", "900"]


def test_a_folder_keeps_the_ways_of_its_files(page: Page, size: str, tmp_path: Path) -> None:
    folder = tmp_path / f"tales {size}"
    for name in ("north", "south"):
        (folder / name).mkdir(parents=True)
        (folder / name / "tale.md").write_text(f"# A tale of the {name}, {size}\n\nOnce.")
    (folder / ".hidden.md").write_text("no")
    page.goto("/add")
    page.locator("#folder").set_input_files(folder)
    page.get_by_text("All jobs").click()
    for name in ("north", "south"):
        told = f"tales {size} › {name} › tale.md"
        expect(page.locator("#jobs .job", has_text=told).first).to_have_attribute(
            "data-state", "done"
        )
    expect(page.locator(".job", has_text=".hidden.md")).to_have_count(0)


def test_sending_can_fail_and_be_tried_again(page: Page, size: str) -> None:
    page.goto("/add")
    busy = {"detail": "The server is busy.", "fix": "Try again."}
    page.route("**/v1/documents?wait=false", lambda route: route.fulfill(status=503, json=busy))
    page.evaluate(DROP, [[f"lost {size}.md", "text"]])
    lost = page.locator("#unsent li", has_text=f"lost {size}.md")
    expect(lost).to_contain_text("The server is busy. Try again.")
    page.unroute("**/v1/documents?wait=false")
    lost.get_by_role("button", name="Retry").click()
    expect(page.locator("#panel-added", has_text=f"lost {size}.md")).to_have_count(1)
    expect(page.locator("#unsent li")).to_have_count(0)
    expect(page.locator("#sending")).to_be_hidden()


def test_a_folder_of_the_server_is_watched(
    page: Page, size: str, tmp_path: Path, shoot: Callable[[str], None]
) -> None:
    (tmp_path / "note.md").write_text(f"# A watched note, {size}")
    page.goto("/add")
    page.get_by_placeholder("/home/me/notes").fill(str(tmp_path))
    page.get_by_role("button", name="Watch folder").click()
    row = page.locator("#folders li", has_text=str(tmp_path))
    expect(row).to_be_visible()
    expect(page.locator("#panel-added", has_text="note.md")).to_have_count(1)
    assert_accessible(page)
    shoot("add-watched")
    page.get_by_role("button", name=f"Stop watching {tmp_path}").click()
    expect(row).to_have_count(0)


def test_a_private_address_is_refused(page: Page) -> None:
    page.goto("/add")
    page.get_by_placeholder("https://example.org/paper.pdf").fill("http://127.0.0.1/")
    page.get_by_role("button", name="Add page").click()
    expect(page.get_by_role("alert")).not_to_be_empty()
