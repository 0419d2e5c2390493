"""The search screen as it leaves the server: what a card says, and what an empty list offers."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
from starlette.testclient import TestClient
from tests.reference import open_memory
from tests.serving.shelf import client

from trivium.config import Settings
from trivium.core.types import Chunk, Document, Metadata, Place, StoredChunk
from trivium.library import Library
from trivium.testing.samples import TOY, sample
from trivium.web.found import byline_of, place_of
from trivium.web.site import furnish
from trivium.web.wording import type_name

SOURCES = Path(__file__).parents[2] / "src" / "trivium"
NOWHERE = Place()


def found(metadata: Metadata, place: Place = NOWHERE) -> StoredChunk:
    document = Document(
        1, "1.md", "", "default", "", "all", "text/markdown", "en", "", 0, 1, "", 1,
        "2026-11-16T08:00:00Z", "2026-11-16T08:00:00Z", metadata,
    )  # fmt: skip
    return StoredChunk(1, document, Chunk(0, 0, 4, "text", place=place))


def test_a_card_marks_its_title_and_says_whose_it_is(owner: TestClient) -> None:
    text = owner.get("/", params={"q": "weapons axe"}).text
    first = re.search(r"<article.*?</article>", text, re.S)
    assert first is not None
    assert "<mark>Weapons</mark></a></h2>" in first[0]
    assert '<span dir="auto">2021</span>' in first[0]
    assert "/ask?q=weapons%20axe" in text


@pytest.mark.parametrize(
    ("metadata", "told"),
    [
        ({}, ""),
        ({"year": 2021}, "2021"),
        ({"authors": ["Ada Lund", "Bo Ek"], "year": 2021}, "Ada Lund and Bo Ek, 2021"),
        ({"authors": ["Ada Lund", "Bo Ek", "Cy Dahl"]}, "Ada Lund et al."),
        ({"authors": "Ada Lund"}, "Ada Lund"),
    ],
)
def test_bylines(metadata: Metadata, told: str) -> None:
    assert byline_of(found(metadata)) == told


def test_a_message_says_once_who_wrote_it() -> None:
    letter = found({"authors": ["Ada Lund"], "year": 2007}, Place(authors=("Ada Lund",)))
    assert (byline_of(letter), place_of(letter)) == ("", "Ada Lund")


@pytest.mark.parametrize(
    ("asked", "offered"),
    [
        ("q=zzyzx&mode=keyword", 'href="/?q=zzyzx" data-follow>Search by meaning, words'),
        ("q=axe&q=harbour&mode=keyword&combine=minimum", "Search by meaning"),
        ("q=axe&type=nothing", "Search without filters"),
    ],
)
def test_nothing_found_names_the_query_and_leads_on(
    owner: TestClient, asked: str, offered: str
) -> None:
    text = owner.get(f"/?{asked}").text
    query = asked.partition("q=")[2].partition("&")[0]
    assert f"No results for “<bdi>{query}</bdi>”" in text
    assert offered in text


def test_what_is_chosen_is_counted(owner: TestClient) -> None:
    """A phone hides the options: their number says that some are at work."""
    chosen = re.compile(r'id="chosen"[^>]*>(.*?)</span>')
    for asked, told in (("q=axe", ""), ("q=axe&rerank=1&collection=rules", "2 active")):
        found = chosen.search(owner.get(f"/?{asked}").text)
        assert found is not None
        assert found[1] == told


def test_what_fits_badly_is_set_apart(owner: TestClient) -> None:
    nothing = owner.get("/", params={"q": "xqzzyvw qqqq"}).text
    assert nothing.count("No good match. The closest results:") == 1
    found = owner.get("/", params={"q": "weapons axe"}).text
    assert "No good match" not in found
    folded = re.search(r'<details class="weaker" id="weaker"><summary>(\d+) weaker match', found)
    assert folded is not None


def test_several_queries_say_what_is_shown_and_offer_any_of_them(owner: TestClient) -> None:
    every = owner.get("/", params={"q": ["crown", "harbour"]}).text
    assert "Only results that match every query." in every
    assert 'combine=maximum" data-follow>Match any of them</a>' in every
    either = owner.get("/", params={"q": ["crown", "harbour"], "combine": "maximum"}).text
    assert "Results that match any of your queries." in either
    assert "match every query" not in owner.get("/", params={"q": "crown"}).text


def test_every_type_has_a_name_that_people_know() -> None:
    said = re.compile(r'(?:media_type=|MEDIA_TYPE = )"([a-z]+/[^"{}]+)"')
    folders = ("extract", "sources")
    files = [path for folder in folders for path in (SOURCES / folder).rglob("*.py")]
    types = {kind for path in files for kind in said.findall(path.read_text())}
    assert len(types) > 20
    types |= {"application/rss+xml", "application/atom+xml"}
    assert not [kind for kind in types if type_name(kind) == kind.rpartition("/")[2]]


def test_a_count_is_what_choosing_the_value_shows(owner: TestClient) -> None:
    text = owner.get("/", params={"q": "crown"}).text
    chips = re.findall(r'id="(\w+):([^"]+)" name=.*?<span class="count">(\d+)</span></label>', text)
    assert chips
    for name, value, count in chips:
        asked = {"query": "crown", "by": "document", "limit": 100, "where": f'{name}:"{value}"'}
        found = owner.post("/v1/search", json=asked).json()["results"]
        fitting = [one for one in found if not one["weak"]] or found
        assert (name, value, len(fitting)) == (name, value, int(count))


def test_sliders_and_the_query_language_are_under_advanced(owner: TestClient) -> None:
    text = owner.get("/", params={"q": "crown"}).text
    head, _, rest = text.partition('<details id="advanced"')
    folded, _, after = rest.partition("</details>")
    assert folded.startswith(' class="stack">'), "closed unless one is in use"
    for control in ('type="range"', 'name="where"', 'name="boost"'):
        assert control in folded
        assert control not in head + after


def test_a_pasted_sentence_finds_its_document(owner: TestClient) -> None:
    assert "Find source" in owner.get("/quote").text
    shown = owner.post("/quote", data={"text": "The short sword is made for <b> cabins."}).text
    assert "Weapons" in shown
    assert "(added)" in shown
    assert "<b>" not in shown
    shown = owner.post("/quote", data={"text": "A battle axe needs three hands."}).text
    assert "This passage has nearly the same words, but other figures or dates" in shown
    assert "Weapons" in shown
    shown = owner.post("/quote", data={"text": "Words that no document has in this order."}).text
    assert "Not in your documents" in shown
    assert "too few" in owner.post("/quote", data={"text": "two words"}).text


def test_a_search_in_an_empty_library_says_that_it_is_empty() -> None:
    with (
        Library(open_memory(), TOY, Settings()) as library,
        client(library, furnish=furnish) as owner,
    ):
        text = owner.get("/", params={"q": "crown"}).text
        assert "<h2>The library is empty</h2>" in text
        assert "Drop files or folders here" in text
        assert "No results" not in text


def test_results_can_be_sorted_by_date(owner: TestClient, library: Library) -> None:
    written = {"old.md": "2001-05-01", "new.md": "2024-05-01", "mid.md": "2010-05-01"}
    with library.backend.writer.writing():
        library.backend.writer.put(
            [sample(n, "The heron nests here.", metadata={"date": d}) for n, d in written.items()],
            TOY.fingerprint,
        )
    text = owner.get("/", params={"q": "heron nests", "sort": "date"}).text
    shown = re.findall(r'dir="auto">(\w+\.md)</span><time>(.{10})</time>', text)
    assert shown[:3] == [(name, written[name]) for name in ("new.md", "mid.md", "old.md")]
    assert 'name="sort" value="date"' in text, "a query typed now is sorted so too"
    assert 'href="/?q=heron%20nests" data-follow>Best first</a>' in text


def test_code_keeps_its_lines(owner: TestClient, library: Library) -> None:
    code = "def width(x: int | None) -> int:\n    if x is None:\n\n        return 0\n    return x"
    made = sample("b/width.py", code)
    made = replace(made, extraction=replace(made.extraction, media_type="text/x-source"))
    with library.backend.writer.writing():
        library.backend.writer.put([made], TOY.fingerprint)
    results = owner.get("/", params={"q": "width"}).text
    assert '<p class="snippet code"' in results
    address = re.search(r'href="(/documents/\d+)\?[^"]*" class="result-link"', results)
    assert address is not None
    text = owner.get(address[1]).text
    assert "<pre" in text
    assert "    if x is None:\n\n        return 0\n" in text
    assert '<span class="path" dir="auto">b/width.py</span>' in text
