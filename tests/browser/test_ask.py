"""Asking: an answer that grows, passages it leads to, follow-ups, refusals."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import BrowserContext, Page, expect
from tests.browser.conftest import BOTH, serving
from tests.browser.looking import assert_accessible
from tests.endpoint import Reply, ScriptedEndpoint, events
from tests.library.chat import Chat


@BOTH
def test_an_answer_leads_to_its_passages(
    page: Page, size: str, shoot: Callable[[str], None]
) -> None:
    page.goto("/ask")
    assert_accessible(page)
    expect(page.get_by_text("No language model is set up")).to_have_count(1)
    page.get_by_label("Question").fill("who raised the drowned crown?")
    page.keyboard.press("Enter")
    first = page.locator(".turn").first
    expect(first).to_contain_text("Divers raised the crown")
    expect(first).to_contain_text("Quoted from your documents")
    expect(page.locator("#said")).to_have_text("The answer is ready.")
    expect(page).to_have_url(re.compile(r"/ask\?conversation=who\+raised"))
    page.get_by_label("Question").fill("and who wore it?")
    page.get_by_role("button", name="Ask", exact=True).click()
    second = page.locator(".turn:not([aria-busy])").nth(1)
    second.get_by_text("How Trivium found this").click()
    expect(second).to_contain_text("Rewrote the question:")  # the page says what "it" refers to
    assert_accessible(page)
    shoot("ask")
    expect(page.get_by_text("No language model is set up")).to_have_count(1)  # said once
    link = first.get_by_role("link", name=re.compile("^Passage 1: "))
    link.click()
    if size == "wide":  # the source opens beside the answer, at the sentence
        source = page.get_by_role("region", name="The Drowned Crown")
        expect(source.locator("#here mark").first).to_contain_text("Divers raised the crown")
        expect(source.locator("#here mark").first).to_be_in_viewport()
        expect(first).to_be_in_viewport()
        assert_accessible(page)
        shoot("ask-source")
        page.keyboard.press("Escape")
        expect(source).to_be_hidden()
        expect(link).to_be_focused()
        link.click()
        source.get_by_role("link", name="Open document").click()
    expect(page.locator("#here mark").first).to_be_in_viewport()
    expect(page).to_have_url(re.compile(r"/documents/\d+\?passage=\d+&q=who"))
    expect(page.locator(".passage").first).to_contain_text("Divers raised the crown")


def test_what_the_documents_do_not_hold_is_said_kindly(
    page: Page, shoot: Callable[[str], None]
) -> None:
    page.goto("/ask?q=which moons orbit jupiter")  # an address asks by itself
    expect(page.locator(".refusal")).to_contain_text("add a document that covers this")
    assert_accessible(page)
    shoot("ask-refused")
    page.get_by_role("link", name="search for them instead").click()
    expect(page).to_have_url(re.compile(r"/\?q=which"))


def test_a_conversation_is_kept_by_itself(page: Page) -> None:
    page.goto("/ask")
    page.get_by_label("Question").fill("who raised the drowned crown?")
    page.keyboard.press("Enter")
    expect(page.locator(".turn").first).to_contain_text("Divers")
    expect(page).to_have_url(re.compile("conversation="))
    (name,) = parse_qs(urlsplit(page.url).query)["conversation"]  # a number, if asked before
    expect(page.get_by_role("link", name=name, exact=True)).to_be_visible()
    page.reload()
    expect(page.get_by_role("heading", name=name, level=1)).to_be_visible()
    expect(page.locator(".turn").first).to_contain_text("Divers")
    page.get_by_role("button", name=f"Delete {name}", exact=True).click()
    expect(page.get_by_role("link", name=name, exact=True)).to_have_count(0)


def test_without_script_a_form_does(browser: object, address: str) -> None:
    context = browser.new_context(base_url=address, java_script_enabled=False)  # type: ignore[attr-defined]
    page = context.new_page()
    page.goto("/ask")
    page.get_by_label("Question").fill("who raised the drowned crown?")
    page.get_by_role("button", name="Ask", exact=True).click()
    expect(page.locator(".turn")).to_contain_text("Divers")
    page.get_by_label("Question").fill("and who wore it?")
    page.get_by_role("button", name="Ask", exact=True).click()
    expect(page.locator(".turn")).to_have_count(2)
    context.close()


@pytest.fixture(scope="module")
def chat() -> Chat:
    return Chat()


@pytest.fixture(scope="module")
def written(sample: Path, chat: Chat) -> Iterator[str]:
    """The address of a server with a language model."""
    with ScriptedEndpoint(chat) as endpoint:
        options = ("--set", f"generate.url={endpoint.url}", "--set", "generate.model=writer")
        with serving(sample, *options) as address:
            yield address
            endpoint.released.set()  # or the server waits for a model that is silent


def test_what_a_model_writes_is_checked_and_can_be_stopped(
    context: BrowserContext, page: Page, written: str, chat: Chat, shoot: Callable[[str], None]
) -> None:
    page.goto(f"{written}/ask")
    said = "Divers raised the crown from the harbour of Port Amble [1]. It "
    begun = [{"choices": [{"delta": {"content": said}}]}]
    chat.answer = Reply(
        events(*begun, done=False), then="hang"
    )  # a sentence shows when it is whole
    page.get_by_label("Question").fill("who raised the drowned crown?")
    page.keyboard.press("Enter")
    expect(page.locator(".turn[aria-busy]")).to_contain_text("Divers raised")
    page.get_by_role("button", name="Stop").click()
    expect(page.locator(".turn")).to_have_count(0)
    expect(page.get_by_label("Question")).to_have_value("who raised the drowned crown?")
    expect(page.get_by_label("Question")).to_be_focused()
    chat.answer = (
        "Divers raised the crown from the harbour of Port Amble [1]. It weighs 47 tons [1]."
        " The crown was forged by dragons [1]."
    )
    page.keyboard.press("Enter")
    turn = page.locator(".turn:not([aria-busy])")
    expect(turn.locator(".doubt")).to_contain_text("forged by dragons")
    expect(turn).to_contain_text("Left out: “It weighs 47 tons.”")
    expect(turn).to_contain_text("not supported")
    expect(turn).to_contain_text("Written by writer")
    assert_accessible(page)
    shoot("ask-written")
