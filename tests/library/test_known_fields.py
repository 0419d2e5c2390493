"""Documents are found by what people know of them, in a folder and in PostgreSQL alike."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import Engine, text
from tests import postgres

from trivium.config import Settings
from trivium.core.places import DatabaseAddress, LibraryPlace
from trivium.core.results import Result
from trivium.core.types import Signal
from trivium.library import Library
from trivium.operations.searching import SearchOptions
from trivium.store.embedded.backup import DATABASE
from trivium.store.embedded.database import open_database as file
from trivium.store.opening import BackendOptions, open_backend
from trivium.store.postgres.address import parse
from trivium.store.postgres.database import open_database as database
from trivium.testing.samples import TOY

MAIL = """From: {sender}
To: {to}
Subject: {subject}
Date: {date}

{body}
"""
TEXTS = {
    "papers/tides.md": "---\ntitle: Reading tide gauges\nauthors: [Jane Smith, Omar Haddad]\n"
    "year: 2023\nkeywords: [hydrography, instruments]\ncontainer: Journal of Coasts\n---\n\n"
    "A float in a still well moves with the water and leaves out the waves.\n\n" + "Wells. " * 400,
    "papers/kelp.md": "---\ntitle: Kelp forests\nauthors: [Ida Blom]\nyear: 2023\n"
    "keywords: [ecology]\n---\n\nUnlike Smith (2023), we count kelp. Smith 2023, Smith 2023.",
    "papers/ropes.md": "---\ntitle: Ropes\nauthors: [Jane Smith]\nyear: 2011\nproject: Albatross\n"
    "isbn: 978-3-16-148410-0\n"
    "keywords: [ecology, rigging]\n---\n\nHemp stretches when it is wet.",
    "notes/quarterly_figures_v7.md": "Income rose and costs fell a little.",
    "mail/pump.eml": MAIL.format(
        sender="Mara Reed <mara.reed@harbour.example>",
        to="Per Holm <per.holm@works.example>",
        subject="The new pump",
        date="Tue, 05 Mar 2024 10:12:00 +0000",
        body="It runs since this morning and does not leak.",
    ),
    "mail/lamp.eml": MAIL.format(
        sender="Ina Voss <ina@lights.example>",
        to="Mara Reed <mara.reed@harbour.example>",
        subject="Lamp oil",
        date="Wed, 06 Mar 2024 09:00:00 +0000",
        body="We need four barrels before winter.",
    ),
}
# What people type, what they mean, and the fields that have it.
KNOWN = [
    ("Smith 2023", "Reading tide gauges", {"author", "year"}),
    ("Smith rigging", "Ropes", {"author", "tag"}),
    ("Haddad", "Reading tide gauges", {"author"}),
    ("Journal of Coasts", "Reading tide gauges", {"journal"}),
    ("hydrography", "Reading tide gauges", {"tag"}),
    ("mara.reed@harbour.example pump", "The new pump", {"from", "title", "author", "file"}),
    ("per.holm@works.example", "The new pump", {"to"}),
    ("Per Holm", "The new pump", {"to"}),
    ("tag:rigging author:Smith", "Ropes", {"author", "tag"}),
    ("to:mara.reed@harbour.example barrels", "Lamp oil", set()),
    ('author:"Smith, J." year:2023 float', "Reading tide gauges", set()),
    ("5 March 2024", "The new pump", {"date"}),
    ("2024-03-05", "The new pump", {"date"}),
    ("Mar 6, 2024", "Lamp oil", {"date"}),
    ("quarterly_figures_v7.md", "quarterly_figures_v7", {"file"}),
    ("978-3-16-148410-0", "Ropes", {"isbn"}),
    ("9783161484100", "Ropes", {"isbn"}),
    ("Hadad", "Reading tide gauges", set()),  # misspelled
]


@pytest.fixture(scope="module", params=["folder", "postgres"])
def place(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[LibraryPlace]:
    if request.param == "folder":
        yield tmp_path_factory.mktemp("known") / "library"
    else:
        with postgres.library() as address:
            yield address


@pytest.fixture(scope="module")
def library(place: LibraryPlace, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    files = tmp_path_factory.mktemp("files")
    for name, body in TEXTS.items():
        path = files / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(body)
    with Library(open_backend(place, BackendOptions()), TOY, Settings()) as opened:
        opened.add(files)
        yield opened


@contextmanager
def engine_of(place: LibraryPlace) -> Iterator[Engine]:
    engine = (
        database(parse(place)) if isinstance(place, DatabaseAddress) else file(place / DATABASE)
    )
    yield engine
    engine.dispose()


def first(library: Library, query: str, **options: object) -> Result:
    return library.search(query, options=SearchOptions(**options))[0]  # type: ignore[arg-type]


@pytest.mark.parametrize(("query", "title", "fields"), KNOWN)
def test_what_people_remember_finds_its_document_first(
    library: Library, query: str, title: str, fields: set[str]
) -> None:
    found = first(library, query)
    assert found.found.document.title == title
    assert fields <= set(found.fields)
    if fields:
        assert found.match >= 0.7, (found.match, found.why)


def test_known_words_alone_find_a_document_by_words_and_by_spelling(library: Library) -> None:
    for mode, signal in (("keyword", Signal.KEYWORD), ("fuzzy", Signal.TRIGRAM)):
        found = first(library, "Haddad", mode=mode)
        assert found.found.document.title == "Reading tide gauges"
        assert set(found.signals) == {signal}
        assert found.found.chunk.index == 0  # of three passages the first


def test_a_quoted_name_must_stand_so_in_a_field(library: Library) -> None:
    assert first(library, '"Omar Haddad"', mode="keyword").fields == ("author",)
    assert not library.search('"Haddad Omar"', options=SearchOptions(mode="keyword"))


def test_required_words_may_be_known_ones(library: Library) -> None:
    titles = {r.found.document.title for r in library.search("+rigging hemp")}
    assert titles == {"Ropes"}


def test_other_metadata_is_searched_once_it_is_named(place: LibraryPlace, library: Library) -> None:
    assert not library.search("Albatross", options=SearchOptions(mode="keyword"))
    settings = replace(Settings(), index_fields="project, nothing")
    options = BackendOptions(fields=settings.known_fields)
    with Library(open_backend(place, options), TOY, settings) as other:
        found = first(other, "Albatross")
        assert (found.found.document.title, found.fields) == ("Ropes", ("project",))
    with Library(open_backend(place, BackendOptions(fields=())), TOY, Settings()) as again:
        assert not again.search("Albatross", options=SearchOptions(mode="keyword"))


@pytest.mark.parametrize(
    ("filter_", "titles"),
    [
        ("author:Smith", {"Reading tide gauges", "Ropes"}),
        ('author:"Jane Smith"', {"Reading tide gauges", "Ropes"}),
        ('author:"Smith, J."', {"Reading tide gauges", "Ropes"}),
        ("authors:haddad", {"Reading tide gauges"}),
        ("slackAuthor:Blom", set()),  # it is no chat
        ("from:ina@lights.example", {"Lamp oil"}),
        ('from:"Mara Reed"', {"The new pump"}),
        ("to:Holm", {"The new pump"}),
        ("to:mara.reed@harbour.example", {"Lamp oil"}),
        ("tag:ecology -author:Smith", {"Kelp forests"}),
        ("year:2024", {"The new pump", "Lamp oil"}),
        ("author:nobody", set()),
    ],
)
def test_filters_understand_people(library: Library, filter_: str, titles: set[str]) -> None:
    found = library.documents.all(where=filter_)
    assert {document.title for document in found} == titles


def test_filters_in_a_query_are_said_and_unknown_ones_are_words(library: Library) -> None:
    found = library.search("-author:Smith year:2023 kelp")
    assert {one.found.document.title for one in found} == {"Kelp forests"}
    assert found.notes == ("Only documents with -author:Smith year:2023.",)
    assert library.search("channel:harbour pump")[0].found.document.title == "The new pump"
    both = library.search(["author:Blom kelp", "rope"], options=SearchOptions(combine="maximum"))
    assert len({one.found.document.title for one in both}) > 1, "words, if there are several"


def test_an_older_library_learns_what_is_known_when_it_is_opened(
    place: LibraryPlace, library: Library
) -> None:
    """As after an update: the tables are there, and empty."""
    with engine_of(place) as engine, engine.begin() as connection:
        connection.execute(text("DELETE FROM known_words"))
        connection.execute(text("DELETE FROM settings WHERE name = 'known'"))
    with Library(open_backend(place, BackendOptions()), TOY, Settings()) as opened:
        assert first(opened, "Haddad", mode="keyword").fields == ("author",)


def test_strange_values_are_kept_and_cost_no_other_document(tmp_path: Path) -> None:
    """An empty field, 10,000 authors, a date that is none, a tag with control characters."""
    many = ", ".join(f"Ada Author{number}" for number in range(10_000))
    bodies = {
        "empty.md": "---\nauthors: []\nyear:\nkeywords: ''\n---\n\nNothing known.",
        "many.md": f"---\nauthors: [{many}]\n---\n\nA detector.",
        "dates.md": "---\ndate: 2024-13-99\nyear: sometime\n---\n\nA clock.",
        "tags.md": '---\nkeywords: ["a\\x00b\\x1bc", "\\u202etag"]\n---\n\nA label.',
        "plain.md": "A plain note.",
    }
    files = tmp_path / "files"
    files.mkdir()
    for name, body in bodies.items():
        (files / name).write_text(body)
    with Library(open_backend(tmp_path / "library", BackendOptions()), TOY, Settings()) as library:
        report = library.add(files)
        assert not report.failed
        assert len(library.documents.all()) == len(bodies)
        assert first(library, "Author9999").found.document.title == "many"
        assert first(library, "sometime").found.document.title == "dates"
        assert first(library, "tag").found.document.title == "tags"
        assert first(library, "plain").found.document.title == "plain"
