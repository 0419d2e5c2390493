"""Adding: files and folders dropped, progress, failures tried again, watched folders, jobs."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Page, expect
from tests.browser.looking import assert_accessible

# A drop that holds files, as a browser makes it; a script cannot make one with folders.
_DROP = """(files) => {
  const carried = new DataTransfer();
  for (const [name, text] of files) carried.items.add(new File([text], name));
  const drop = new DragEvent("drop", { dataTransfer: carried, bubbles: true, cancelable: true });
  document.getElementById("upload").dispatchEvent(drop);
}"""


def test_files_are_dropped_and_followed(
    page: Page, size: str, shoot: Callable[[str], None]
) -> None:
    page.goto("/add")
    expect(page.get_by_text("Drop files or folders here")).to_be_visible()
    lamp, broken = f"lamp {size}.md", f"broken {size}.pdf"
    page.evaluate(
        _DROP,
        [
            [lamp, f"# The lamp, {size}\n\nIt burns whale oil."],
            [broken, "%PDF-1.4 nothing"],
            ["empty.md", ""],
        ],
    )
    expect(page.locator("#uploads")).to_contain_text("It is empty.")
    done = page.locator("#jobs .job", has_text=lamp).first
    expect(done).to_have_attribute("data-state", "done")
    expect(done.get_by_role("link", name=lamp)).to_be_visible()
    failed = page.locator("#jobs .job", has_text=broken).first
    expect(failed).to_have_attribute("data-state", "failed")
    expect(failed).to_contain_text("is no PDF that can be read")
    assert_accessible(page)
    shoot("add")
    with page.expect_response(re.compile(r"/add/jobs/\d+/retry$")) as tried:
        failed.get_by_role("button", name=f"Try again: add {broken}").click()
    assert tried.value.status == 303
    expect(failed).to_have_attribute("data-state", "failed")
    page.get_by_role("button", name="Dismiss").click()
    expect(page.locator("#sending")).to_be_hidden()
    done.get_by_role("link", name=lamp).click()
    expect(page.get_by_role("heading", name=f"The lamp, {size}").first).to_be_visible()


def test_a_folder_keeps_the_ways_of_its_files(page: Page, size: str, tmp_path: Path) -> None:
    folder = tmp_path / f"tales {size}"
    for name in ("north", "south"):
        (folder / name).mkdir(parents=True)
        (folder / name / "tale.md").write_text(f"# A tale of the {name}, {size}\n\nOnce.")
    (folder / ".hidden.md").write_text("no")
    page.goto("/add")
    page.locator("#folder").set_input_files(folder)
    for name in ("north", "south"):
        told = f"tales {size} › {name} › tale.md"
        expect(page.locator("#jobs .job", has_text=told).first).to_have_attribute(
            "data-state", "done"
        )
    expect(page.locator(".job", has_text=".hidden.md")).to_have_count(0)


def test_sending_shows_how_far_it_is_and_can_fail(page: Page, size: str) -> None:
    page.goto("/add")
    busy = {"detail": "The server is busy.", "fix": "Try again."}
    page.route("**/v1/documents?wait=false", lambda route: route.fulfill(status=503, json=busy))
    page.evaluate(_DROP, [[f"lost {size}.md", "text"]])
    lost = page.locator("#uploads .job", has_text=f"lost {size}.md")
    expect(lost).to_contain_text("The server is busy. Try again.")
    page.unroute("**/v1/documents?wait=false")
    lost.get_by_role("button", name="Try again").click()
    sent = page.locator("#jobs .job", has_text=f"lost {size}.md").first
    expect(sent).to_have_attribute("data-state", "done")
    expect(page.locator("#uploads .job")).to_have_count(0)


def test_a_folder_of_the_server_is_watched(
    page: Page, size: str, tmp_path: Path, shoot: Callable[[str], None]
) -> None:
    (tmp_path / "note.md").write_text(f"# A watched note, {size}")
    page.goto("/add")
    page.get_by_placeholder("/home/me/notes").fill(str(tmp_path))
    page.get_by_role("button", name="Watch it").click()
    row = page.locator("#folders li", has_text=str(tmp_path))
    expect(row).to_be_visible()
    expect(page.locator("#jobs .job", has_text="done").first).to_be_visible()
    assert_accessible(page)
    shoot("add-watched")
    page.get_by_role("button", name=f"Stop watching {tmp_path}").click()
    expect(row).to_have_count(0)


def test_a_private_address_is_refused(page: Page) -> None:
    page.goto("/add")
    page.get_by_placeholder("https://example.org/paper.pdf").fill("http://127.0.0.1/")
    page.get_by_role("button", name="Add it").click()
    expect(page.get_by_role("alert")).not_to_be_empty()
