"""What a person prefers, on the search screen."""

import re

from starlette.testclient import TestClient
from tests.serving.shelf import client

from trivium.config import Settings
from trivium.library import Library
from trivium.web.site import furnish


def test_preferences_are_parts_of_the_score_in_the_drawer(owner: TestClient) -> None:
    asked = {"q": "crown", "recent": "1", "boost": "year>=2000*2; language:en*1.5", "explain": "1"}
    text = owner.get("/", params=asked).text
    rows = re.findall(r'badge preference">([^<]+)<.*?<strong>|badge preference">([^<]+)<', text)
    names = {name for row in rows for name in row if name}
    assert "language:en" in names
    assert any(name.startswith("recent (") for name in names)
    contributions = [
        float(n) for n in re.findall(r'<td class="number">(-?\d\.\d{3})</td></tr>', text)
    ]
    total = re.search(r'<td class="number"><strong>(\d\.\d{3})</strong>', text)
    assert total is not None
    assert abs(sum(contributions) - float(total[1])) < 0.01
    assert 'name="recent" value="1" checked' in text
    assert "boost=year" in text  # links keep it


def test_every_word_can_be_required(owner: TestClient) -> None:
    text = owner.get("/", params={"q": "crown axe", "every": "1", "mode": "keyword"}).text
    assert 'name="every" value="1" checked' in text
    assert "No passage has every word" in text


def test_a_boost_that_makes_no_sense_is_told(owner: TestClient) -> None:
    answer = owner.get("/", params={"q": "crown", "boost": "rules"})
    assert answer.status_code == 422 or "Write it like" in answer.text


def test_documents_can_be_searched_as_they_were(owner: TestClient) -> None:
    before = owner.get("/", params={"q": "crown", "as_of": "1980-01-01"}).text
    assert "No results for" in before
    assert "Search current documents" in before
    today = owner.get("/", params={"q": "crown", "as_of": "2999-12-31"}).text
    assert 'name="as_of" form="search" value="2999-12-31"' in today
    assert "Documents as they were on 2999-12-31." in today
    assert "result-link" in today
    assert "as_of=2999-12-31&amp;explain=1" in today  # links keep it
    wrong = owner.get("/", params={"q": "crown", "as_of": "yesterday"})
    assert "a date (2026-11-01)" in wrong.text
    assert 'value="crown"' in wrong.text


def test_a_search_that_takes_too_long_keeps_the_form(library: Library) -> None:
    """Indexes for a day take more than the millisecond that the server gives here."""
    late = Settings(serve_seconds=0.001)
    with client(library, furnish=furnish, settings=late) as owner:
        past = owner.get("/", params={"q": "crown axe", "as_of": "2026-01-01"})
    assert past.status_code == 503
    assert "still preparing the documents of that day" in past.text
    assert 'value="crown axe"' in past.text
    assert 'value="2026-01-01"' in past.text
