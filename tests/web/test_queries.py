"""The owner's screen of queries and alerts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient
from tests.serving.shelf import client, shelve

from trivium.config import Settings
from trivium.core.queries import LoggedQuery
from trivium.core.types import Processed
from trivium.core.work import now
from trivium.library import Library
from trivium.library.queries import LogMode, Queries
from trivium.testing.samples import TOY, sample
from trivium.web.site import furnish


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    with shelve(tmp_path / "library", Settings(log_queries="counts")) as library:
        yield library


@pytest.fixture
def owner(library: Library) -> Iterator[TestClient]:
    with client(library, furnish=furnish) as opened:
        yield opened


def test_what_is_typed_letter_by_letter_counts_once(owner: TestClient, library: Library) -> None:
    for typed in ("c", "cr", "crown"):
        owner.get("/", params={"q": typed}, headers={"X-Part": "results"})
    owner.post("/v1/search", json={"query": "battle axe"})
    assert [(one.text, one.asked) for one in library.queries.all()] == [
        ("battle axe", 1),
        ("crown", 1),
    ]
    shown = owner.get("/settings/queries").text
    assert shown.count('<th scope="col" class="number">Asked</th>') == 1
    assert "Trivium counts queries by day and does not record who asked." in shown
    assert 'href="/?q=battle%20axe"' in shown
    owner.post("/settings/queries/delete", data={"age": "30d"})
    assert len(library.queries.all()) == 2
    owner.post("/settings/queries/delete", data={"age": ""})
    assert library.queries.all() == []
    assert "No queries yet." in owner.get("/settings/queries").text


def test_a_mistyped_filter_is_not_counted_as_nothing_found(
    owner: TestClient, library: Library
) -> None:
    owner.get("/", params={"q": "crown", "collection": "rulse"})
    owner.post("/v1/search", json={"query": "axe", "collection": "rulse"})
    owner.post("/v1/search", json={"query": "xqzzyvw qqqq"})
    assert {one.text: one.empty for one in library.queries.all()} == {
        "crown": 0,
        "axe": 0,
        "xqzzyvw qqqq": 1,
    }


def test_a_question_counts_when_it_is_answered_or_refused(
    owner: TestClient, library: Library
) -> None:
    owner.post("/v1/query", json={"question": "which moons orbit jupiter?", "stream": False})
    owner.post("/ask", data={"q": "who wore the crown?"})
    counted = {one.text: (one.asked, one.empty) for one in library.queries.all()}
    assert counted["which moons orbit jupiter?"] == (1, 1)
    assert counted["who wore the crown?"][0] == 1
    assert all(one.took_ms > 0 for one in library.queries.all())


def test_an_empty_log_says_so_once(owner: TestClient) -> None:
    text = owner.get("/settings/queries").text
    assert text.count("No queries yet.") == 1
    assert "Every query found" not in text
    assert "Delete log" not in text
    owner.get("/", params={"q": "crown"})
    assert "Delete log" in owner.get("/settings/queries").text


def test_the_log_links_to_several_queries(owner: TestClient) -> None:
    owner.get("/", params={"q": ["axe", "shield"]})
    assert 'href="/?q=axe&amp;q=shield"' in owner.get("/settings/queries").text


def test_an_alert_shows_what_is_new(owner: TestClient, library: Library) -> None:
    empty = owner.post("/settings/alerts", data={"q": "-", "webhook": "https://example.org/x"})
    assert empty.status_code == 422
    assert 'value="https://example.org/x"' in empty.text
    owner.post("/settings/alerts", data={"q": "whale oil lamp"})
    (alert,) = library.alerts.all()
    with library.backend.writer.writing():
        new = sample("lamp.md", "The lamp burns whale oil.", title="The Lamp")
        library.backend.writer.put((new,), TOY.fingerprint)
    library.alerts.check()
    shown = owner.get("/settings/queries").text
    assert ">The Lamp</a>" in shown
    owner.post("/settings/alerts/remove", data={"alert": alert.id})
    assert library.alerts.all() == []


def test_what_a_link_on_another_site_searched_is_not_the_owners_query(
    owner: TestClient, library: Library
) -> None:
    followed = {
        "Sec-Fetch-Site": "cross-site",
        "Sec-Fetch-Mode": "navigate",
        "Sec-Fetch-Dest": "document",
    }
    assert owner.get("/?q=planted", headers=followed).status_code == 200
    assert owner.get("/?q=mine").status_code == 200
    asked = {one.text for one in library.queries.all()}
    assert "mine" in asked
    assert "planted" not in asked
    page = owner.get("/ask?q=planted", headers=followed)
    assert page.status_code == 200
    assert ">planted<" not in page.text


def test_the_log_stays_within_its_limits(library: Library) -> None:
    """It grew for ever: 100,000 queries took 58 MB."""
    queries = Queries(library.backend, LogMode.FULL, 5, 30)
    old = [LoggedQuery("2020-01-01T00:00:00Z", f"old {n}") for n in range(3)]
    library.backend.queries.note(old)
    for n in range(20):
        queries._pending.append(LoggedQuery(now(), f"new {n}"))
    queries.flush()
    kept = {one.text for one in library.backend.queries.all()}
    assert kept == {f"new {n}" for n in range(15, 20)}


def test_no_alert_misses_a_document_that_was_read_before_a_check_and_stored_after(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Alerts went by clocks: beside a sync, 6 of 18 documents were missed."""
    alert = library.alerts.add("basilisk")
    library.alerts.check()
    late = [sample(f"b{n}.md", f"The basilisk number {n}.") for n in range(3)]
    monkeypatch.setattr("trivium.store.sql.staging.now", lambda: now(-60))
    put(library, late[:1])
    assert {hit.document for hit in library.alerts.check()} == ids(library, "b0.md")
    put(library, late[1:])
    assert {hit.document for hit in library.alerts.check()} == ids(library, "b1.md", "b2.md")
    for document in library.documents.all():
        library.backend.writer.relabel(
            document.id, category="new", audience=document.audience, metadata=document.metadata
        )
    assert library.alerts.check() == [], "labels aren't news"
    assert library.alerts.all()[0].id == alert.id


def put(library: Library, documents: list[Processed]) -> None:
    with library.backend.writer.writing():
        library.backend.writer.put(documents, TOY.fingerprint)


def ids(library: Library, *uris: str) -> set[int]:
    return {one.id for one in library.documents.all() if one.uri in uris}
