"""The search screen as it leaves the server: what a card says, and what an empty list offers."""

import re

import pytest
from starlette.testclient import TestClient

from trivium.web.found import byline_of


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
def test_bylines(metadata: dict[str, object], told: str) -> None:
    assert byline_of(metadata) == told


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


def test_several_queries_say_what_is_shown_and_offer_any_of_them(owner: TestClient) -> None:
    every = owner.get("/", params={"q": ["crown", "harbour"]}).text
    assert "Only results that match every query." in every
    assert 'combine=maximum" data-follow>Match any of them</a>' in every
    either = owner.get("/", params={"q": ["crown", "harbour"], "combine": "maximum"}).text
    assert "Results that match any of your queries." in either
    assert "match every query" not in owner.get("/", params={"q": "crown"}).text
