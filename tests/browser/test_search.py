"""The search screen, used as people use it, at both widths."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import pairwise

import pytest
from playwright.sync_api import BrowserContext, Page, Route, expect
from tests.browser.conftest import BOTH
from tests.browser.looking import DOCUMENT, assert_accessible

Shoot = Callable[[str], None]


def open_options(page: Page, size: str, *, advanced: bool = False) -> None:
    if size == "phone":
        page.get_by_role("button", name="Filters and options").click()
    if advanced:
        page.get_by_text("Advanced", exact=True).click()


def titles(page: Page) -> list[str]:
    return page.locator(".result h2").all_text_contents()


def test_results_come_while_typing(page: Page, shoot: Shoot) -> None:
    page.goto("/")
    page.locator("#q").press_sequentially("battleaxe damage", delay=20)
    first = page.locator(".result").first
    expect(first).to_contain_text("battle axe", ignore_case=True)
    expect(first.locator("mark").first).to_be_visible()
    expect(first.locator(".badge.trigram").first).to_be_visible()
    expect(first.locator(".match").first).to_have_text(re.compile(r"\d+%"))
    expect(page).to_have_url(re.compile(r"\?q=battleaxe\+damage$"))
    expect(page.locator("#said")).to_have_text(re.compile(r"passages? in \d+ documents?"))
    assert_accessible(page)
    shoot("search")


def test_the_first_paint_has_its_results(page: Page, address: str) -> None:
    html = page.request.get("/?q=drowned+crown").text()
    assert html.count("data-explain=") == 10 + 1, (
        "ten passages, grouped by document, and all of them"
    )
    assert "<mark>crown</mark>" in html.lower()


def test_an_older_search_never_covers_a_newer_one(page: Page) -> None:
    """The first answer is held back until the second has been shown."""
    page.goto("/")
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    page.route("**/?q=crown", hold)
    page.locator("#q").fill("crown")
    page.wait_for_function("() => location.search === '?q=crown'")
    page.locator("#q").fill("sling")
    expect(page.locator(".result").first).to_contain_text("sling", ignore_case=True)
    before = titles(page)
    for route in held:
        route.continue_()
    page.evaluate("() => new Promise(requestAnimationFrame)")
    assert titles(page) == before


@pytest.mark.parametrize("size", ["wide"])
def test_without_a_server_no_older_results_stay(context: BrowserContext) -> None:
    page = context.new_page()  # its console may complain
    page.goto("/?q=crown")
    expect(page.locator(".result").first).to_be_visible()
    context.set_offline(True)
    page.locator("#q").fill("battleaxe")
    expect(page.locator("#alert")).to_contain_text("The server doesn't answer.")
    expect(page.locator("#results")).to_have_text("Not searched.")
    context.set_offline(False)  # and it searches again by itself
    expect(page.locator(".result").first).to_contain_text("axe")


def test_the_back_button_goes_back(page: Page, size: str) -> None:
    page.goto("/?q=crown")
    open_options(page, size)
    page.get_by_text("Documents", exact=True).last.click()
    expect(page.locator("#count")).to_contain_text("document")
    expect(page).to_have_url(re.compile("by=document"))
    found = titles(page)
    assert len(found) == len(set(found)), "each document once"
    page.go_back()
    expect(page.locator("#count")).to_contain_text("passage")
    expect(page).not_to_have_url(re.compile("by="))
    page.go_forward()
    expect(page.locator("#count")).to_contain_text("document")


def test_results_are_grouped_by_document(page: Page, shoot: Shoot) -> None:
    page.goto("/?q=crown")
    found = titles(page)
    assert len(found) == len(set(found)), "each document once"
    group = page.locator(".result", has=page.locator(".more-of")).first
    expect(group.locator(".place")).to_contain_text(re.compile(r"documents/\w+/[\w-]+\.md"))
    more = group.locator(".more-of summary")
    expect(more).to_have_text(re.compile(r"^\d+ more"))
    expect(group.locator(".more-of .snippet").first).to_be_hidden()
    more.click()
    expect(group.locator(".more-of .snippet").first).to_be_visible()
    assert_accessible(page)
    shoot("search-grouped")
    group.locator(".more-of .why").first.click()
    expect(page.locator("#drawer")).to_be_visible()
    expect(page.locator(".more-of li[data-explained]")).to_be_visible()


@BOTH
def test_explain_stands_beside_results_and_filters(page: Page, size: str) -> None:
    page.goto("/?q=crown&explain=1")
    if size == "wide":
        parts = [page.locator(name).bounding_box() for name in ("#options", "#results", "#drawer")]
        edges = [(box["x"], box["x"] + box["width"]) for box in parts if box]
        assert edges == sorted(edges)
        assert all(left[1] <= right[0] for left, right in pairwise(edges)), "nothing is covered"
        page.set_viewport_size({"width": 1024, "height": 800})
    results, drawer = (page.locator(name).bounding_box() for name in ("#results", "#drawer"))
    assert results
    assert drawer
    beside = results["x"] + results["width"] <= drawer["x"]
    assert beside or results["y"] + results["height"] <= drawer["y"], "nor at 1024 and 390 pixels"


@BOTH
def test_the_frame_fits_in_one_row(page: Page, size: str) -> None:
    if size == "wide":
        page.set_viewport_size({"width": 1024, "height": 800})
    page.goto("/?q=crown")
    rows = page.locator(".top .main-nav a").evaluate_all(
        "all => all.map(a => [a.getBoundingClientRect().top, a.getBoundingClientRect().right])"
    )
    assert len({top for top, _ in rows}) == 1
    assert max(right for _, right in rows) <= (1024 if size == "wide" else 390)
    if size == "wide":
        height = page.locator(".top").bounding_box()
        assert height
        assert height["height"] < 64


def test_a_slash_leads_to_the_box_and_types_nothing(page: Page) -> None:
    page.goto("/")  # where the box has the focus already
    for at in ("/", "/settings"):
        page.goto(at)
        page.keyboard.press("/")
        expect(page.locator("#q")).to_be_focused()
        expect(page.locator("#q")).to_have_value("")


@BOTH
def test_filters_are_chips_with_counts(page: Page, size: str, shoot: Shoot) -> None:
    page.goto("/?q=heron")
    open_options(page, size)
    chip = page.locator("label.chip", has_text="Markdown")
    expect(chip.locator(".count")).to_have_text(re.compile(r"\d+"))
    chip.click()
    expect(page).to_have_url(re.compile("type=markdown"))
    expect(chip.locator("input")).to_be_checked()
    shoot("search-filters")
    page.get_by_role("link", name="Clear all filters").click()
    expect(page).not_to_have_url(re.compile("type="))


def test_weights_rank_anew(page: Page, size: str) -> None:
    page.goto("/?q=who+poisoned+the+ferryman")
    open_options(page, size, advanced=True)
    for slider, value in (("wv", 0), ("wk", 100), ("wt", 0)):
        page.locator(f"#{slider}").fill(str(value))
    expect(page.locator(".result .badge.keyword").first).to_be_visible()
    expect(page.locator(".result .badge.vector")).to_have_count(0)
    expect(page).to_have_url(re.compile("weights=fixed&wv=0&wk=100&wt=0"))
    page.get_by_label("Automatic").check()
    expect(page.locator(".result .badge.vector").first).to_be_visible()
    expect(page).not_to_have_url(re.compile("weights"))


def test_modes_and_switches(page: Page, size: str) -> None:
    page.goto("/?q=shortsord")
    open_options(page, size, advanced=True)
    page.locator("label", has_text="Spelling").first.click()
    expect(page.locator(".result .badge.vector")).to_have_count(0)
    expect(page.locator(".result").first).to_contain_text("short sword", ignore_case=True)
    page.locator("label", has_text="All").first.click()
    page.get_by_label("Show context").check()
    expect(page.locator(".around").first).to_be_visible()
    page.get_by_label("Rerank").check()
    expect(page).to_have_url(re.compile("rerank=1"))
    page.get_by_label("HyDE").check()
    expect(page.get_by_text("no language model is set up")).to_be_visible()


def test_several_queries_count_together(page: Page, shoot: Shoot) -> None:
    page.goto("/?q=crown")
    page.get_by_role("button", name="Another query").click()
    second = page.get_by_placeholder("Another query")
    expect(second).to_be_focused()
    second.press_sequentially("harbour", delay=10)
    expect(page.locator(".match").first).to_have_text(re.compile(r"\d+% \(\d+\|\d+\)"))
    expect(page.get_by_text("Only results that match every query.")).to_be_visible()
    page.get_by_label("Rank by").select_option("maximum")
    expect(page).to_have_url(re.compile(r"\?q=crown&q=harbour&.*combine=maximum"))
    assert_accessible(page)
    shoot("search-several")
    page.get_by_role("button", name="Remove this query").click()
    expect(second).to_have_count(0)
    expect(page).to_have_url(re.compile(r"\?q=crown(?!.*q=)"))


def test_a_misspelled_word_is_understood(page: Page) -> None:
    page.goto("/?q=drowend+crown")
    link = page.locator(".did-you-mean a")
    expect(link).to_have_text("drowned crown")
    link.click()
    expect(page.locator("#q")).to_have_value("drowned crown")


def test_words_go_on(page: Page) -> None:
    page.goto("/")
    page.locator("#q").press_sequentially("lant", delay=20)
    offered = page.locator("#completions option")
    expect(offered.first).to_have_attribute("value", re.compile("^lant.+"))
    expect(page.locator("#results .chip")).to_have_count(0)  # nothing moves the results


def test_everything_by_keyboard(page: Page) -> None:
    page.goto("/?q=crown")
    page.keyboard.press("/")
    box = page.locator("#q")
    expect(box).to_be_focused()
    links = page.locator(".result-link")
    page.keyboard.press("ArrowDown")
    expect(links.nth(0)).to_be_focused()
    page.keyboard.press("ArrowDown")
    expect(links.nth(1)).to_be_focused()
    page.keyboard.press("e")
    expect(page.locator("#drawer")).to_be_focused()
    expect(page.get_by_role("heading", name=re.compile(r"Why this is number \d+"))).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("#drawer")).to_be_hidden()
    expect(links.nth(1)).to_be_focused()
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowUp")
    expect(box).to_be_focused()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"/documents/\d+\?passage="))


def test_a_screen_reader_hears_what_the_eye_sees(page: Page) -> None:
    page.goto("/?q=battleaxe")
    expect(page.locator(".result").first).to_match_aria_snapshot("""
      - article:
        - heading [level=2]:
          - link
        - text: /Match \\d+%/
        - paragraph: /weapons\\.md/
        - paragraph
        - text: /spelling number \\d+/
        - button /Relevant. /
        - button /Not relevant. /
        - link /Why is .* number 1\\?/
    """)
    page.locator(".result-link").first.click()
    page.wait_for_url(DOCUMENT)  # its headings are read once
    levels = (
        "() => [...document.querySelectorAll('h1,h2,h3')].map(e => e.ariaLevel ?? e.tagName[1])"
    )
    assert page.evaluate(levels)[:2] == ["1", "2"], "no level is left out"


@BOTH
def test_why_a_result_is_where_it_is(page: Page, shoot: Shoot) -> None:
    page.goto("/?q=who+poisoned+the+ferryman")
    page.get_by_role("link", name=re.compile("Why is .* number 2")).click()
    drawer = page.locator("#drawer")
    expect(drawer.get_by_role("heading", name="Why this is number 2")).to_be_visible()
    gives = [float(text) for text in drawer.locator("tbody tr td:last-child").all_inner_texts()]
    assert abs(sum(gives[:-1]) - gives[-1]) < 0.002, "the parts add up to the score"
    expect(drawer.locator("svg .lane")).to_have_count(10)
    expect(drawer.locator("svg .lane.chosen")).to_have_count(1)
    expect(drawer.get_by_text("Timings")).to_be_visible()
    expect(drawer.get_by_text(re.compile("Ranked most.* by meaning"))).to_be_visible()
    assert_accessible(page)
    shoot("explain")
    page.reload()
    expect(drawer.get_by_role("heading", name="Why this is number 2")).to_be_visible()
    page.get_by_role("link", name="Close the explanation").click()
    expect(drawer).to_be_hidden()


def test_what_a_document_says_is_only_text(page: Page) -> None:
    page.goto("/?q=hostile+lantern")
    expect(page.locator(".result h2").first).to_contain_text("<script>window.broken = 1</script>")
    page.locator(".result-link").first.click()
    expect(page.locator("h1")).to_contain_text("<img src=x onerror")
    expect(page.locator(".passage")).to_contain_text("</mark></p><script>")
    assert page.evaluate("() => window.broken") is None
    assert page.locator("main script, main img[src=x]").count() == 0


def test_other_scripts_run_their_own_way(page: Page) -> None:
    page.goto("/?q=الميناء")
    first = page.locator(".result").first
    expect(first).to_contain_text("الميناء")
    way = "(e) => getComputedStyle(e).direction"
    assert first.locator(".snippet").evaluate(way) == "rtl"


def test_nothing_found_and_wrong_wishes(page: Page, shoot: Shoot) -> None:
    page.goto("/?q=crown&type=nothing")
    expect(page.get_by_role("heading", name="No results for")).to_be_visible()
    expect(page.get_by_role("link", name="Search without filters")).to_be_visible()
    shoot("search-nothing")
    page.goto("/?q=crown&mode=telepathy")
    expect(page.get_by_role("alert")).to_contain_text("hybrid, semantic, keyword, fuzzy")
    page.goto("/?q=crown&where=yeer>2000")
    expect(page.get_by_role("alert")).to_contain_text("yeer")


@BOTH
def test_a_phone_goes_from_the_options_to_the_results(page: Page, size: str) -> None:
    page.goto("/?q=crown")
    show = page.get_by_role("button", name="Show results")
    expect(show).to_be_hidden()
    if size == "phone":
        open_options(page, size, advanced=True)
        page.get_by_role("checkbox", name="Rerank").check()
        expect(page.locator("#chosen")).to_have_text("1 active")
        show.click()
        expect(show).to_be_hidden()
        expect(page.locator(".result-link").first).to_be_focused()


def test_it_works_without_script(page: Page) -> None:
    context = page.context.browser.new_context(java_script_enabled=False, base_url=page.url or "")
    try:
        plain = context.new_page()
        page.goto("/")
        plain.goto(f"{page.url}?q=crown")
        plain.locator(".why").first.click()
        expect(plain.locator("#drawer")).to_be_visible()
        plain.locator("#q").fill("sling")
        plain.locator("#q").press("Enter")
        expect(plain.locator(".result").first).to_contain_text("sling", ignore_case=True)
        plain.locator(".result-link").first.click()
        expect(plain.locator(".passage")).to_be_visible()
    finally:
        context.close()
