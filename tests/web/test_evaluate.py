"""Judging and measuring on pages, without a script."""

from __future__ import annotations

import pytest
from starlette.testclient import TestClient

from trivium.library import Library


def judged(page: TestClient) -> None:
    for query, document, grade in (("battle axe", 1, 2), ("battle axe", 2, 0), ("harbour", 2, 1)):
        form = {"q": query, "document": document, "grade": grade}
        assert page.post("/evaluate/mine/judge", data=form).status_code == 200


def test_judging_is_kept_and_can_be_said_anew(owner: TestClient) -> None:
    on = owner.get("/evaluate", params={"name": "mine", "q": "battle axe"}, follow_redirects=False)
    assert on.headers["location"] == "/evaluate/mine/judge?q=battle%20axe"
    first = owner.get(on.headers["location"]).text
    assert "<mark>battle</mark>" in first
    assert 'aria-pressed="true"' not in first
    judged(owner)
    again = owner.get(on.headers["location"]).text
    assert again.count('aria-pressed="true"') == 2
    assert "2 judged" in again
    part = owner.post(
        "/evaluate/mine/judge",
        data={"q": "battle axe", "document": 1, "grade": "skip"},
        headers={"X-Part": "documents queries"},
    ).text
    assert part.lstrip().startswith('<div id="documents"')
    assert "<html" not in part
    said = part.split('id="grade-s-1" aria-pressed="')[1]
    assert said.startswith("true"), "skipped in place of its grade"


def test_a_run_is_measured_and_compared(owner: TestClient) -> None:
    assert "No judged sets yet" in owner.get("/evaluate").text
    judged(owner)
    assert "No runs yet" in owner.get("/evaluate/mine").text
    first = owner.post("/evaluate/mine/run")
    assert first.status_code == 200
    assert "2 queries" in first.text
    for name in ("meaning", "words", "spelling", "all three", "reranked"):
        assert f'<th scope="row">{name}</th>' in first.text
    assert first.text.count("<svg") >= 6
    assert "compare-title" not in first.text
    for document, grade in ((1, 0), (2, 2)):  # the other way round
        form = {"q": "battle axe", "document": document, "grade": grade}
        owner.post("/evaluate/mine/judge", data=form)
    second = owner.post("/evaluate/mine/run")
    now, before = (str(answer.url).partition("run=")[2] for answer in (second, first))
    both = owner.get("/evaluate/mine", params={"run": now, "against": before}).text
    assert "compare-title" in both
    assert "Losses: all three" in both
    missing = owner.get("/evaluate/mine", params={"run": "nothing"})
    assert missing.status_code == 404


def test_an_empty_library_has_nothing_to_evaluate(owner: TestClient, library: Library) -> None:
    assert "of your 4 documents" in owner.get("/evaluate").text
    library.documents.remove([one.id for one in library.documents.all()])
    text = owner.get("/evaluate").text
    assert "The library is empty" in text
    assert "Generate set" not in text


def test_a_synthetic_set_says_so(owner: TestClient, library: Library) -> None:
    made = owner.post("/evaluate/synthetic", data={"name": "made-up", "count": 3})
    assert made.status_code == 200
    assert "Nobody asked or judged them" in made.text
    assert "synthetic</span>" in owner.get("/evaluate").text
    assert "/evaluate/made-up/judge" not in owner.get("/evaluate/made-up").text


@pytest.mark.parametrize("name", ["..", "a b", "a/b", "%2e%2e"])
def test_a_name_is_never_a_way(owner: TestClient, name: str) -> None:
    form = {"q": "axe", "document": 1, "grade": 1}
    assert owner.post(f"/evaluate/{name}/judge", data=form).status_code in (404, 405, 422)
    assert owner.post("/evaluate/synthetic", data={"name": name}).status_code == 422
