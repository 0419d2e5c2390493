"""What a person prefers, on the search screen."""

import re

from starlette.testclient import TestClient


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
