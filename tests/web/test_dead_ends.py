"""No dead ends: an error keeps the form, a mistyped value is named, documents are found."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient
from tests.serving.shelf import SECRET, client, shelve

from trivium.core.types import Where
from trivium.library import Library
from trivium.operations.searching import Filters
from trivium.web.site import furnish


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    with shelve(tmp_path_factory.mktemp("shelf") / "library") as library:
        yield library


@pytest.fixture(scope="module")
def owner(library: Library) -> Iterator[TestClient]:
    with client(library, furnish=furnish) as opened:
        yield opened


def test_a_bad_filter_keeps_the_search(owner: TestClient) -> None:
    answer = owner.get("/", params={"q": "crown", "where": "year>(", "collection": "rules"})
    assert answer.status_code == 422
    assert 'id="alert" role="alert" class="alert bad"' in answer.text
    assert 'value="crown"' in answer.text
    assert "year&gt;(" in answer.text
    assert re.search(r'id="collection:rules"[^>]* checked', answer.text)
    part = owner.get("/", params={"q": "crown", "where": "x"}, headers={"X-Part": "results"})
    assert part.text.lstrip().startswith('<div id="alert"'), "a script keeps the page it is on"


def test_a_bad_filter_keeps_the_list_of_documents(owner: TestClient) -> None:
    answer = owner.get("/documents", params={"where": "year>(", "find": "axe"})
    assert answer.status_code == 422
    assert 'value="year&gt;("' in answer.text
    assert 'value="axe"' in answer.text


@pytest.mark.parametrize(
    ("address", "form", "kept"),
    [
        ("/add/url", {"url": "http://127.0.0.1/x", "collection": "web"}, ("http://127.0.0.1/x",)),
        ("/add/folders", {"path": "/no/such", "ignore": "*.tmp"}, ("/no/such", "*.tmp")),
        (
            "/settings/tokens",
            {"name": "ann", "audiences": "player", "every": "true", "right": "add"},
            ("ann", "player"),
        ),
    ],
)
def test_a_form_that_fails_holds_what_was_typed(
    owner: TestClient, address: str, form: dict[str, str], kept: tuple[str, ...]
) -> None:
    answer = owner.post(address, data=form)
    assert answer.status_code == 422
    assert "alert bad" in answer.text
    for text in (*kept, form.get("collection", "")):
        assert text in answer.text


def test_a_question_that_fails_is_still_there(owner: TestClient) -> None:
    form = {"q": "x" * 11, "conversation": "\udcff"}
    answer = owner.post("/ask", data={**form, "conversation": "a" * 100})
    assert answer.status_code == 200
    wrong = owner.post("/ask", data={"q": "who?", "collection": "a\x00b"})
    assert wrong.status_code == 422
    assert ">who?</textarea>" in wrong.text
    assert "data-at-once" not in wrong.text


@pytest.mark.parametrize(
    ("filters", "told"),
    [
        (
            Filters(collection="rulse"),
            "No document has the collection `rulse`. Did you mean `rules`?",
        ),
        (
            Filters(source="weapon.md"),
            "No document has the source `weapon.md`. Did you mean `weapons.md`?",
        ),
        (
            Filters(category="rulebok"),
            "No document has the category `rulebok`. Did you mean `rulebook`?",
        ),
        (
            Filters(where="type:txet"),
            "No document has the type `txet`. Did you mean `text`?",
        ),
        (Filters(collection="zzz"), "No document has the collection `zzz`."),
        (Filters(source="spear.md"), "No document has the source `spear.md`."),
    ],
)
def test_a_mistyped_value_names_the_nearest(library: Library, filters: Filters, told: str) -> None:
    found = library.search("crown", filters=filters)
    assert (len(found), found.notes) == (0, (told,))


def test_what_is_excluded_or_merely_not_found_is_no_slip(library: Library) -> None:
    assert library.search("crown", filters=Filters(where="-collection:rulse")).notes == ()
    fuzzy = library.search("qqqqqq", filters=Filters(collection="rules"))
    assert all("No document" not in note for note in fuzzy.notes)


def test_a_slip_names_nothing_that_is_hidden(library: Library) -> None:
    everyone = Where(frozenset())
    found = library.search("crown", filters=Filters(source="secret.md"), within=everyone)
    assert found.notes == ("No document has the source `secret.md`.",)
    own = library.search("crown", filters=Filters(source="secret.md"))
    assert "`secrets.md`" in own.notes[0]


def test_the_page_and_the_api_say_it(owner: TestClient) -> None:
    page = owner.get("/", params={"q": "crown", "collection": "rulse"}).text
    assert 'Did you mean <a href="/?q=crown&amp;collection=rules"' in page, "one click corrects it"
    typed = owner.get("/", params={"q": "crown", "where": "type:txet -language:de"}).text
    assert 'href="/?q=crown&amp;where=type%3Atext%20-language' in typed
    api = owner.post("/v1/search", json={"query": "crown", "collection": "rulse"}).json()
    assert "Did you mean `rules`?" in api["notes"][0]
    listed = owner.get("/documents", params={"where": "type:txet"}).text
    assert 'Did you mean <a href="/documents?where=type%3Atext"' in listed


def titles(text: str) -> list[str]:
    return re.findall(r'<td><a href="/documents/\d+" dir="auto">(.*?)</a>', text)


def test_documents_are_found_by_name_and_sorted(owner: TestClient) -> None:
    assert titles(owner.get("/documents?find=WEAP").text) == ["Weapons"]
    assert titles(owner.get("/documents?find=crown.md").text) == ["The Crown"]
    up = titles(owner.get("/documents?sort=title").text)
    assert up == sorted(up, key=str.casefold)
    assert titles(owner.get("/documents?sort=-title").text) == up[::-1]
    by_size = owner.get("/documents?sort=-passages").text
    assert titles(by_size)[0] == "Weapons"
    assert 'aria-sort="descending"><a href="/documents?sort=passages"' in by_size.replace("\n", "")
    assert SECRET in owner.get("/documents?find=secrets").text
    part = owner.get("/documents?find=WEAP", headers={"X-Part": "list"})
    assert (part.status_code, titles(part.text)) == (200, ["Weapons"]), "as a script asks"


def test_a_number_means_the_same_everywhere(library: Library, tmp_path: Path) -> None:
    (second,) = (d for d in library.documents.all() if d.title == "The Crown")
    assert library.documents.get(str(second.id)).id == second.id
    assert library.documents.get(f"#{second.id}").id == second.id
    assert library.similar(str(second.id)).items == library.similar(second.id).items


def test_a_search_as_of_a_day_over_http(owner: TestClient) -> None:
    then = owner.post("/v1/search", json={"query": "crown", "as_of": "1999-01-01"})
    assert (then.status_code, then.json()["results"]) == (200, [])
    now = owner.post("/v1/search", json={"query": "crown", "as_of": "2099-01-01"}).json()
    assert now["results"][0]["document"]["title"]
    wrong = owner.post("/v1/search", json={"query": "crown", "as_of": "someday"})
    assert wrong.status_code == 422
