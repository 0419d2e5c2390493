"""What the owner sees of the server: settings, tokens, collections, sources, queries and alerts."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Page, expect
from tests.browser.looking import assert_accessible


def test_settings_are_found_as_one_types(page: Page, shoot: Callable[[str], None]) -> None:
    page.goto("/settings")
    assert_accessible(page)
    expect(page.locator(".settings > div")).not_to_have_count(1)
    shoot("settings")
    page.get_by_label("Find a setting").press_sequentially("rerank.seconds")
    expect(page.locator(".settings > div")).to_have_count(1)
    expect(page).to_have_url("/settings?find=rerank.seconds")
    page.get_by_label("Find a setting").fill("")
    page.get_by_label("Changed settings only").check()
    expect(page.locator(".settings > div", has_text="serve.port")).to_contain_text("command line")


def test_a_token_is_made_copied_and_revoked(
    page: Page, size: str, shoot: Callable[[str], None]
) -> None:
    page.goto("/settings/tokens")
    page.get_by_label("Name").fill(f"Ann, {size}")
    page.get_by_label("add documents").check()
    page.get_by_placeholder("player, finance").fill("player")
    page.get_by_role("button", name="Create token").click()
    secret = page.locator("#secret")
    assert (secret.text_content() or "").startswith("trv_")
    page.get_by_role("button", name="Copy").click()
    expect(page.locator("#said")).not_to_be_empty()
    assert_accessible(page)
    shoot("tokens")
    page.goto("/settings/tokens")
    expect(page.locator("#secret")).to_have_count(0)
    row = page.get_by_role("row", name=f"Ann, {size}")
    expect(row).to_contain_text("player")
    row.locator("summary").click()
    row.get_by_role("button", name="Revoke token").click()
    expect(row).to_have_count(0)


def test_a_collection_is_cut_otherwise(page: Page, size: str, shoot: Callable[[str], None]) -> None:
    page.goto("/settings/collections")
    page.get_by_label("Name").fill(f"papers-{size}")
    page.get_by_role("combobox", name="Splitting", exact=True).select_option("sections")
    page.get_by_role("button", name="Create collection").click()
    chosen = page.get_by_label(f"How papers-{size} is split")
    expect(chosen).to_have_value("sections")
    assert_accessible(page)
    shoot("collections")


def test_an_alert_is_saved_and_deleted_by_keyboard(
    page: Page, size: str, shoot: Callable[[str], None]
) -> None:
    page.goto("/settings/queries")
    page.get_by_label("Search to save").focus()
    page.keyboard.type(f"crown of {size}")
    page.keyboard.press("Enter")
    alerts = page.get_by_role("region", name="Alerts")
    expect(alerts.get_by_role("link", name=f"crown of {size}")).to_be_visible()
    assert_accessible(page)
    shoot("queries")
    alerts.get_by_role("button", name=f"Delete alert crown of {size}").press("Enter")
    expect(alerts.get_by_role("link", name=f"crown of {size}")).to_have_count(0)


def test_a_source_is_added_paused_and_removed_by_keyboard(
    page: Page, size: str, tmp_path: Path, shoot: Callable[[str], None]
) -> None:
    page.goto("/settings/sources")
    page.locator("#add-notes summary").press("Enter")
    form = page.get_by_role("form", name="Add notes")
    form.get_by_label("path (required)").fill(str(tmp_path))
    form.get_by_label("Name").fill(f"vault-{size}")
    form.get_by_role("button", name="Add notes").press("Enter")
    source = page.get_by_role("region", name=f"vault-{size}")
    expect(source).to_contain_text("Not run yet.")
    assert_accessible(page)
    shoot("sources")
    source.get_by_role("button", name="Pause").press("Enter")
    expect(source).to_contain_text("paused")
    source.locator("summary", has_text="Remove").press("Enter")
    source.get_by_role("button", name="Remove source").press("Enter")
    expect(source).to_have_count(0)
