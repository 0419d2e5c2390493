"""Asking on a page, without a script and with a stream: marks, doubts, refusals, conversations."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient
from tests.library.chat import Chat, asked, calling, streamed
from tests.serving.shelf import client

from trivium.library import Library
from trivium.testing.samples import sample
from trivium.web.ask import bearing
from trivium.web.site import furnish

FOG = sample(
    "fog.md",
    "Fog is a cloud that touches the ground. It lifts by noon. <script>alert(1)</script>",
    title="<b>Fog</b>",
)
FARES = sample("fares.md", "The crossing costs 12 euros. The pier was there before.", title="Fares")
QUESTION = "What is fog, a cloud on the ground?"


@pytest.fixture(scope="module")
def chat() -> Chat:
    return Chat()


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory, chat: Chat) -> Iterator[TestClient]:
    with (
        asked(tmp_path_factory.mktemp("asked"), chat, [FOG, FARES]) as library,
        client(library, furnish=furnish) as opened,
    ):
        yield opened


def events(text: str) -> list[tuple[str, Any]]:
    parts = [part.splitlines() for part in text.strip().split("\n\n")]
    return [
        (name.removeprefix("event: "), json.loads(data.removeprefix("data: ")))
        for name, data in parts
    ]


def test_marks_lead_to_their_passages_and_doubts_are_told(page: TestClient, chat: Chat) -> None:
    doubtful = "The ground under clouds makes sailors nervous"
    chat.answer = f"Fog is a cloud that touches the ground [1]. {doubtful} [1]. It has 47 tons [1]."
    told = page.post("/ask", data={"q": QUESTION}).text
    assert 'href="/documents/1?passage=0&amp;q=What%20is%20fog' in told
    assert told.count('<mark class="doubt">') == 1
    assert doubtful in told.split('<mark class="doubt">')[1].split("</mark>")[0]
    assert '. <mark class="doubt">The ground' in told, "the blank before it is not in doubt"
    assert "not supported: its sources don&#39;t say so" in told
    assert "Left out: “It has 47 tons.” (its sources don&#39;t have the number 47 tons)." in told
    assert "1 of 2 statements not supported by their sources" in told
    assert "Written by writer" in told
    copied = told.partition('<pre class="copied" hidden>')[2].partition("</pre>")[0]
    assert copied.startswith("Fog is a cloud")
    assert "\n[1] " in copied, "it says what its numbers mean"


def test_a_citation_opens_its_sentence(page: TestClient, chat: Chat) -> None:
    chat.answer = "By noon it lifts again [1]."
    told = page.post("/ask", data={"q": QUESTION}).text
    (address,) = set(re.findall(r'<a class="cite" href="([^"]+)"', told))
    assert address.endswith("#here")
    document = page.get(unescape(address)).text
    passage = document.partition('id="here"')[2].partition("</section>")[0]
    assert "<mark>It lifts by noon.</mark>" in passage
    beside = page.get(unescape(address), headers={"X-Part": "reading"}).text
    assert beside.lstrip().startswith('<div class="reading"'), "the part that opens beside"


def test_the_sentence_that_bears_a_statement_out_is_found() -> None:
    passage = "The harbour froze. Divers raised the crown in spring.  Nobody wore it."
    start, end = map(int, bearing(passage, "In spring, divers raised a crown.").split("-"))
    assert passage[start:end] == "Divers raised the crown in spring."
    assert bearing(passage, "Xylophones!") == ""


def test_the_row_of_a_table_that_an_answer_names_is_found() -> None:
    passage = (
        "– | Fiscal 2022 | Fiscal 2021\nDigital Media | $12,842 | $11,520\n"
        "Percentage of total revenue | 73% | 73%\nTotal revenue | $17,606 | $15,785\n\n"
        "Subscription revenue was 93% of total revenue in fiscal 2022."
    )
    told = bearing(passage, "Total revenue, Fiscal 2022: $17,606 million")
    start, end = map(int, told.split("-"))
    assert passage[start:end] == "Total revenue | $17,606 | $15,785"


def test_what_documents_hold_is_shown_as_text(page: TestClient, chat: Chat) -> None:
    chat.answer = "Fog is a cloud that touches the ground <i>indeed</i> [1]."
    told = page.post("/ask", data={"q": QUESTION}).text
    assert "&lt;b&gt;Fog&lt;/b&gt;" in told
    assert "&lt;script&gt;alert(1)" in told
    assert "&lt;i&gt;indeed" in told
    assert "<b>Fog" not in told
    assert "<script>alert" not in told


def test_a_stream_ends_with_the_turn_as_it_is_shown(page: TestClient, chat: Chat) -> None:
    chat.answer = "Fog is a cloud that touches the ground [1]."
    told = events(page.post("/ask/stream", data={"q": QUESTION}).text)
    names = [name for name, _ in told]
    assert names[0] == "step"
    assert names[-1] == "done"
    said = "".join(data["text"] for name, data in told if name == "token")
    assert said == "Fog is a cloud that touches the ground [1]."
    whole = page.post("/ask", data={"q": QUESTION}).text
    shown = told[-1][1]["html"]
    assert shown.split('class="how"')[0] in whole, "one rendering, whichever way"


def test_what_was_said_before_travels_in_the_form(page: TestClient, chat: Chat) -> None:
    chat.answer = "Fog is a cloud that touches the ground [1]."
    told = page.post("/ask", data={"q": QUESTION}).text
    carried = unescape(told.split('name="turn" value="')[1].split('"')[0])
    assert json.loads(carried) == {
        "question": QUESTION,
        "answer": "Fog is a cloud that touches the ground.",
    }
    chat.rewrite = "Does fog lift by noon?"
    chat.answer = "It lifts by noon [1]."
    again = page.post("/ask", data={"q": "And when does it lift?", "turn": carried}).text
    assert again.count('class="turn">') == 2
    assert "Does fog lift by noon?" in again, "asked on its own"
    bad = page.post("/ask", data={"q": "And?", "turn": "{"})
    assert bad.status_code == 422


def test_a_named_conversation_is_kept_until_it_is_forgotten(page: TestClient, chat: Chat) -> None:
    chat.answer = "Fog is a cloud that touches the ground [1]."
    page.post("/ask", data={"q": QUESTION, "conversation": "weather"})
    kept = page.get("/ask?conversation=weather").text
    assert kept.count('class="turn">') == 1
    assert 'name="turn"' not in kept, "the library carries it"
    assert "Saved without its sources." in kept
    assert ">weather</a>" in page.get("/ask").text
    page.post("/ask/forget", data={"conversation": "weather"})
    assert ">weather</a>" not in page.get("/ask").text


def test_a_conversation_is_saved_under_its_first_question(page: TestClient, chat: Chat) -> None:
    chat.answer = "Fog is a cloud that touches the ground [1]."
    for name in (QUESTION, f"{QUESTION} (2)"):
        told = page.post("/ask", data={"q": QUESTION, "save": "1"}).text
        assert f'name="conversation" id="conversation" value="{name}"' in told
        assert f">{name}</a>" in told
    page.post("/ask", data={"q": "Where is fog?"})
    assert ">Where is fog?</a>" not in page.get("/ask").text, "nothing is kept unless it is wanted"
    for name in (QUESTION, f"{QUESTION} (2)"):
        page.post("/ask/forget", data={"conversation": name})


def test_suggested_questions_are_answered_by_what_they_are_made_from(
    page: TestClient, chat: Chat
) -> None:
    """They come after the page, since each is asked first; nobody waits for them."""
    assert "data-wanted" in page.get("/ask").text
    told = page.get("/ask", headers={"X-Part": "suggested"}).text
    questions = [unescape(one) for one in re.findall(r'dir="auto">([^<]+)</a>', told)]
    assert questions == ["How much does the crossing cost?"]
    server = page.app.state.server  # type: ignore[attr-defined]
    *_, last = server.library.ask_stream(questions[0], quoted=True)
    assert "12 euros" in last.answer.text


def test_a_refusal_is_kind(page: TestClient, chat: Chat) -> None:
    chat.answer = "Jupiter has 95 moons."
    told = page.post("/ask", data={"q": "which moons orbit jupiter"}).text
    assert '<strong dir="auto">I found nothing in your documents' in told
    assert 'href="/?q=which%20moons%20orbit%20jupiter"' in told
    assert "95 moons" not in told


def test_no_question_is_a_page_that_says_so(page: TestClient) -> None:
    answer = page.post("/ask", data={"q": "  "})
    assert answer.status_code == 422
    assert "You didn't type a question." in unescape(answer.text)
    assert answer.headers["content-type"].startswith("text/html")


def test_without_a_model_the_documents_speak(owner: TestClient, library: Library) -> None:
    told = owner.get("/ask").text
    assert "No language model is set up" in told
    answer = owner.post("/ask", data={"q": "does a battle axe need two hands?"}).text
    assert "Quoted from your documents" in answer
    assert "A battle axe needs two hands." in answer


def test_think_longer_shows_each_step_as_a_line(page: TestClient, chat: Chat) -> None:
    shown = page.get("/ask").text
    assert 'name="depth" value="deep"' in shown
    assert "Think longer" in shown
    turns = iter([calling(("search", {"queries": ["fog"]})), streamed("Fog is a cloud [1].")])
    chat.answer = lambda seen: next(turns)
    told = events(page.post("/ask/stream", data={"q": QUESTION, "depth": "deep"}).text)
    lines = [data["line"] for name, data in told if name == "step"]
    assert lines[0] == "Searched for “fog”: 1 passage in 1 document"
    html = told[-1][1]["html"]
    assert "Searched for “fog”" in unescape(html)
    assert page.post("/ask", data={"q": QUESTION, "depth": "bottomless"}).status_code == 422


def test_an_empty_library_says_so_and_asks_nothing(tmp_path: Path, chat: Chat) -> None:
    with asked(tmp_path, chat, []) as library, client(library, furnish=furnish) as opened:
        shown = opened.get("/ask", params={"q": "who is it"}).text
    assert "The library is empty" in shown
    assert " data-at-once" not in shown
    assert re.search(r'<form id="ask-form"[^>]* hidden>', shown)
