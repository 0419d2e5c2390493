"""Evaluating: a generated or judged set, a run with progress, charts, two runs compared."""

from __future__ import annotations

import re
from collections.abc import Callable

from playwright.sync_api import Page, expect
from tests.browser.conftest import PATIENCE
from tests.browser.looking import assert_accessible


def test_a_set_is_made_run_and_compared(
    page: Page, size: str, shoot: Callable[[str], None]
) -> None:
    page.goto("/evaluate")
    assert_accessible(page)
    making = page.locator(
        "section", has=page.get_by_role("heading", name="Generate a synthetic set")
    )
    making.get_by_label("Name").fill(f"made-{size}")
    making.get_by_label("Queries").fill("6")
    making.get_by_role("button", name="Generate set").click()
    expect(page.get_by_text("Nobody asked or judged them")).to_be_visible()
    for _ in range(2):
        page.get_by_role("button", name="Run now").click()
        expect(page).to_have_url(re.compile(r"run=\w+"), timeout=PATIENCE * 1000)
        expect(page.get_by_role("img", name="ndcg@10", exact=True)).to_be_visible()
        page.goto(f"/evaluate/made-{size}")
    page.get_by_label("Compared with").select_option(index=1)
    expect(page.get_by_role("heading", name=re.compile("against"))).not_to_have_count(0)
    expect(page.get_by_text("No difference on any query.").first).to_be_visible()
    expect(page.locator(".charts svg").nth(6)).to_be_attached()
    assert_accessible(page)
    shoot("evaluate-run")
    page.goto("/evaluate")
    expect(page.get_by_role("link", name=f"made-{size}")).to_be_visible()
    shoot("evaluate")


def test_results_are_judged_by_click_and_by_key(
    page: Page, size: str, shoot: Callable[[str], None]
) -> None:
    page.goto("/evaluate")
    page.get_by_label("Query", exact=True).fill("battle axe")
    page.get_by_label("Set", exact=True).fill(f"judged-{size}")
    page.get_by_role("button", name="Judge", exact=True).click()
    weapons = page.locator("[data-document]", has_text="Reed & Lantern: Weapons")
    exactly = weapons.get_by_role("button", name=re.compile("^Exactly right"))
    exactly.click()
    expect(exactly).to_have_attribute("aria-pressed", "true")
    expect(exactly).to_be_focused()
    page.evaluate("document.activeElement.blur()")
    left = page.locator('[data-document]:not(:has([aria-pressed="true"]))')
    count = left.count()
    page.keyboard.press("0")
    expect(left).to_have_count(count - 1)
    expect(page.locator("#queries")).to_contain_text("2 judged")
    assert_accessible(page)
    shoot("evaluate-judge")
    page.get_by_role("link", name="Measure search").click()
    page.get_by_role("button", name="Run now").click()
    expect(page.get_by_role("heading", name="All three signals against each alone")).to_be_visible()


def test_a_result_is_judged_where_it_was_found(page: Page) -> None:
    page.goto("/?q=battle axe")
    fits = page.get_by_role("button", name="Relevant: Reed & Lantern: Weapons", exact=True).first
    fits.click()
    expect(fits).to_have_attribute("aria-pressed", "true")
    expect(page.locator("#said")).to_have_text("Judgment saved.")
    page.goto("/evaluate/mine/judge?q=battle axe")
    judged = page.locator("[data-document]", has_text="Reed & Lantern: Weapons")
    exactly = judged.get_by_role("button", name=re.compile("^Exactly right"))
    expect(exactly).to_have_attribute("aria-pressed", "true")


def test_a_run_that_cannot_be_says_why(page: Page, size: str) -> None:
    page.goto(f"/evaluate/empty-{size}/judge?q=battle axe")
    wrong = page.get_by_role("button", name=re.compile("^Not relevant")).first
    wrong.click()
    expect(wrong).to_have_attribute("aria-pressed", "true")
    page.goto(f"/evaluate/empty-{size}")
    expect(page.get_by_text("Judge a query first")).to_be_visible()
    expect(page.get_by_role("button", name="Run now")).to_be_disabled()
