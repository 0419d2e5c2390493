"""Values that no store can keep, on every way in: refused by name if a person enters them, repaired
if a document contains them. Everything else still works afterwards."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some
from sqlalchemy import text
from starlette.testclient import TestClient
from tests.serving.shelf import client, shelve
from tests.unit.extract.test_pdf_maker import PdfMaker

from trivium.core.errors import BadFilter, BadValue, TriviumError
from trivium.core.types import Extraction, Labels
from trivium.extract.cleaning import DROPPED
from trivium.ingest.outcomes import Fate
from trivium.library import Library
from trivium.operations.searching import Filters
from trivium.ports import SourceItem
from trivium.store.embedded.database import open_database

DIGITS = "9" * 400
HALF = r'"\ud83d"'  # as JSON writes half of a pair
REFUSED = [
    "NaN", "-Infinity", "1e400", DIGITS, "9" * 20, "1" * 5000, HALF, r'"a\u0000b"',
    "[[1]]", '{"deep": 1}', "[" * 5000 + "]" * 5000, '["fine", NaN]', "null",
]  # fmt: skip


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    with shelve(tmp_path_factory.mktemp("values") / "library") as library:
        yield library


@pytest.fixture(scope="module")
def owner(shelf: Library) -> Iterator[TestClient]:
    with client(shelf) as opened:
        yield opened


def send(to: TestClient, name: str, body: bytes, **fields: str) -> Any:
    return to.post("/v1/documents", files={"file": (name, body)}, data=fields)


def all_is_well(to: TestClient) -> None:
    """Lists, searches, jobs and another upload."""
    listed = to.get("/v1/documents", params={"limit": 100})
    assert listed.status_code == 200, listed.text
    for path in ("/v1/jobs", "/v1/collections"):
        assert to.get(path).status_code == 200
    found = to.post("/v1/search", json={"query": "crown"})
    assert found.status_code == 200
    assert found.json()["results"]
    sent = send(to, "another.md", b"# Another\n\nSome words.")
    assert sent.status_code in (200, 201), sent.text
    assert to.get("/v1/jobs").json()


@pytest.mark.parametrize("value", REFUSED)
def test_an_upload_with_such_metadata_is_refused(owner: TestClient, value: str) -> None:
    answer = send(owner, "a.md", b"words", metadata=f'{{"year": {value}}}')
    assert answer.status_code == 422, answer.text
    problem = answer.json()
    assert problem["code"] in ("value.bad", "request.invalid")
    assert "metadata" in problem["detail"]
    if problem["code"] == "value.bad":
        assert "metadata.year" in problem["detail"]


def test_all_is_well_after_those(owner: TestClient, shelf: Library) -> None:
    all_is_well(owner)
    assert not shelf.jobs.all(ended=False)


@pytest.mark.parametrize("value", ["NaN", "1e400", DIGITS, HALF, r'"\u0000"'])
def test_such_values_in_a_body_or_a_query_are_refused(owner: TestClient, value: str) -> None:
    headers = {"content-type": "application/json"}
    bodies = {
        "/v1/search": [
            f'{{"query": "crown", "metadata": {{"year": {value}}}}}',
            f'{{"query": "crown", "threshold": {value}}}',
            f'{{"query": "crown", "k": {value}}}',
            f'{{"query": "crown", "limit": {value}}}',
            f'{{"query": "crown", "collection": {value}}}',
            f'{{"query": "crown", "audiences": [{value}]}}',
            f'{{"query": "crown", {HALF}: 1}}',
        ],
        "/v1/documents/url": [
            f'{{"url": "https://example.org", "metadata": {{"year": {value}}}}}',
            f'{{"url": "https://example.org", "collection": {value}}}',
        ],
    }
    for path, some_bodies in bodies.items():
        for body in some_bodies:
            answer = owner.post(path, content=body, headers=headers)
            assert answer.status_code == 422, (path, body, answer.text)
            assert answer.json()["code"] != "internal"
    for query in ("year>=NaN", f"year>={DIGITS}", f"year:{DIGITS}", "year<1e400", "year:\x00"):
        answer = owner.get("/v1/documents", params={"where": query})
        assert answer.status_code in (200, 422), (query, answer.text)
    assert owner.get("/v1/documents", params={"cursor": DIGITS}).status_code == 422
    assert owner.get(f"/v1/documents/{DIGITS}").status_code == 422


MATTER = [
    ("x", r'"\ud83d\ude00"', "\U0001f600"),
    ("x", r'"\ud83d"', "\ufffd"),
    ("x", r'"a\0b"', "ab"),
    ("x", DIGITS, DIGITS),
    ("x", "1" * 5000, "1" * 5000),
    ("x", "0x" + "f" * 5000, "0x" + "f" * 5000),
    ("x", ".nan", None),
    ("x", "1.0e+400", None),
    ("x", "-.inf", None),
    ("x", "[1, .inf]", [1]),
    (DIGITS, "1", None),
]


def test_what_a_document_says_is_repaired(owner: TestClient) -> None:
    for number, (name, value, kept) in enumerate(MATTER):
        body = f"---\ntitle: Note\n{name}: {value}\n---\n\nSome words {number}."
        answer = send(owner, f"matter{number}.md", body.encode())
        assert answer.status_code == 201, (value[:50], answer.text[:300])
        document = answer.json()["outcomes"][0]["document"]
        assert document["title"] == "Note"
        if name == "x":
            assert document["metadata"].get("x") == kept, value[:50]
        if kept in (None, [1]) and name == "x":
            assert document["metadata"][DROPPED] == ["x"]
            assert "couldn't store some metadata (x)" in " ".join(answer.json()["notes"])
    all_is_well(owner)


def test_a_pdf_with_characters_above_the_first_plane(owner: TestClient) -> None:
    maker = PdfMaker(meanings={"#": "\U0001d465", "~": "\ud835"}, info={"Author": "A\\000B"})
    maker.page().text(72, 72, "Solve # squared ~ here")
    answer = send(owner, "equation.pdf", maker.build())
    assert answer.status_code == 201, answer.text
    number = answer.json()["outcomes"][0]["document"]["id"]
    assert "Solve \U0001d465 squared" in owner.get(f"/v1/documents/{number}/text").text
    all_is_well(owner)


def test_a_library_that_holds_such_values_is_listed(tmp_path: Path) -> None:
    """As libraries of before may: NaN went in, and every list that held it failed."""
    with shelve(tmp_path / "library") as library:
        with open_database(tmp_path / "library" / "library.db").begin() as connection:
            for table in ("documents", "interpretations"):
                connection.execute(
                    text(f'UPDATE {table} SET metadata = \'{{"year": NaN, "n": [1, Infinity]}}\'')
                )
        with client(library) as opened:
            all_is_well(opened)
            listed = opened.get("/v1/documents").json()["documents"]
            assert listed[0]["metadata"] == {"n": [1]}
            assert opened.get("/v1/documents/1/interpretations").status_code == 200


class Offers:
    """A source of somebody else, which is careless about what it says."""

    def __init__(self, *items: SourceItem) -> None:
        self._items = items

    def items(self) -> Iterator[SourceItem]:
        return iter(self._items)


def test_what_a_source_offers_is_repaired(shelf: Library) -> None:
    content = Extraction("Words with \ud800 and \x00.", (), "", "text/plain")
    metadata = {"a": float("nan"), "b": int(DIGITS), "c\ud800": "\ud83d\ude00"}
    item = SourceItem("text:\ud800\x00", "n\ud800", content, title="T\ud800", metadata=metadata)
    report = shelf.add_from(Offers(item), Labels())
    assert report.counts == {Fate.ADDED: 1}
    document = report.outcomes[0].document
    assert document is not None
    assert (document.uri, document.title) == ("text:\ufffd", "T\ufffd")
    assert document.metadata == {"b": DIGITS, "c\ufffd": "\U0001f600", DROPPED: ("a",)}
    assert any("couldn't store some metadata (a)" in note for note in report.notes)


values: Any = (
    some.sampled_from([float("nan"), float("inf"), 10**400, "\ud800", "\x00", "\U0001f600", [[1]]])
    | some.integers() | some.floats() | some.text(some.characters()) | some.booleans()
    | some.lists(some.floats() | some.text(some.characters()), max_size=3)
)  # fmt: skip


@settings(max_examples=4, deadline=None, suppress_health_check=list(HealthCheck))
@given(several=some.lists(values, min_size=1, max_size=4))
def test_any_value_at_any_door(
    shelf: Library, owner: TestClient, tmp_path_factory: pytest.TempPathFactory, several: list[Any]
) -> None:
    """Each comes through front matter, the Python API and an upload; then all is well."""
    folder = tmp_path_factory.mktemp("drawn")
    for number, value in enumerate(several):
        told = json.dumps(value)  # JSON is YAML, but for NaN, which is a word there
        (folder / f"{number}.md").write_text(f"---\ntitle: N\nx: {told}\n---\n\nWords {number}.")
    report = shelf.add(folder, collection="drawn")
    assert Fate.FAILED not in report.counts
    for value in several:
        try:
            shelf.add(folder, collection="drawn", metadata={"x": value})
        except BadValue as error:
            assert "metadata.x" in error.message  # noqa: PT017 - the other way it is kept
        answer = send(owner, "x.md", b"words", metadata=json.dumps({"x": value}))
        assert answer.status_code in (200, 201, 422), answer.text
        for filters in (Filters(metadata={"x": value}), Filters(where=f"x>={value!r}")):
            try:
                shelf.search("words", 3, filters=filters)
            except TriviumError as error:
                assert isinstance(error, BadFilter)  # noqa: PT017 - or it is answered
    all_is_well(owner)
