"""Passages fetched past SQLAlchemy are those that it fetches."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from tests import postgres

from trivium.core.errors import LibraryDamaged
from trivium.core.places import DatabaseAddress
from trivium.core.types import OWNER, Where
from trivium.ports import Backend
from trivium.store.embedded.backend import open_embedded
from trivium.store.embedded.database import open_database, read_rows, rows_of
from trivium.store.embedded.signals import CHECKSUMS
from trivium.store.opening import BackendOptions, open_backend
from trivium.store.sql.direct import DirectDocuments
from trivium.store.sql.documents import SqlDocuments
from trivium.testing.samples import TOY, sample
from trivium.text.filters import parse_filter

PUBLIC = Where(frozenset())
ENGLISH = OWNER.narrowed(parse_filter("language:en shelf>2"))
COUNT = 240  # more than one statement of a search takes


def filled(folder: Path, count: int) -> Backend:
    return fill(open_embedded(folder), count)


def fill(store: Backend, count: int) -> Backend:
    documents = [
        sample(
            f"{n}.md",
            f"passage {n}",
            f"another {n}",
            audience="dm-only" if n % 3 == 0 else "all",
            language="de" if n % 5 == 0 else "en",
            metadata={"shelf": n, "tags": ("a", f"b{n}"), "weight": n / 7},
        )
        for n in range(count // 2)
    ]
    with store.writer.writing():
        store.writer.put(documents, TOY.fingerprint)
    return store


@pytest.fixture(scope="module", params=["folder", "postgres"])
def library(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Backend]:
    with ExitStack() as stack:
        place: Path | DatabaseAddress = tmp_path_factory.mktemp("library")
        if request.param == "postgres":
            place = stack.enter_context(postgres.library())
        store = open_backend(place, BackendOptions())
        stack.callback(store.close)
        yield fill(store, COUNT)


def plain(store: Backend) -> SqlDocuments:
    assert isinstance(store.documents, DirectDocuments)
    return SqlDocuments(store.documents._engine)


@pytest.mark.parametrize("where", [OWNER, PUBLIC, ENGLISH], ids=["owner", "public", "filtered"])
@pytest.mark.parametrize("count", [0, 1, 9, 10, 11, 200, 201, COUNT])
def test_they_are_the_same(library: Backend, where: Where, count: int) -> None:
    ids = [*range(count, 0, -1), 7, COUNT + 1000] if count else []
    expected = plain(library).chunks(ids, where)
    for _ in range(2):  # made, and made before
        assert library.documents.chunks(ids, where) == expected


def test_a_document_that_changed_is_shown_as_it_is(tmp_path: Path) -> None:
    store = filled(tmp_path, 10)
    (before,) = store.documents.chunks([3], OWNER)
    with store.writer.writing():
        store.writer.rename(before.document.id, before.document.uri, "moved.md")
    (after,) = store.documents.chunks([3], OWNER)
    assert after.document.uri == "moved.md"
    assert [after] == plain(store).chunks([3], OWNER)
    with store.writer.writing():
        store.writer.remove([before.document.id])
    assert store.documents.chunks([3], OWNER) == []


def test_a_value_that_cannot_be_read_is_told_as_damage(tmp_path: Path) -> None:
    filled(tmp_path, 10).close()
    engine = open_database(tmp_path / "library.db")
    with engine.begin() as connection:
        connection.exec_driver_sql("UPDATE chunks SET headings = '[' WHERE id = 3")
    with pytest.raises(LibraryDamaged):
        DirectDocuments(engine, read_rows).chunks([3], OWNER)


def test_a_table_that_is_gone_is_told_as_damage(tmp_path: Path) -> None:
    filled(tmp_path, 10).close()
    engine = open_database(tmp_path / "library.db")
    with engine.begin() as connection:
        connection.exec_driver_sql("ALTER TABLE chunks RENAME TO elsewhere")
    with pytest.raises(LibraryDamaged):
        DirectDocuments(engine, read_rows).chunks([3], OWNER)


def test_labels_are_counted_anew_after_every_change(tmp_path: Path) -> None:
    store = filled(tmp_path, 20)
    for where in (OWNER, PUBLIC):
        for _ in range(2):
            assert store.documents.counts("language", where) == plain(store).counts(
                "language", where
            )
    counted = store.documents.counts("language", OWNER)
    counted["xx"] = 1
    assert "xx" not in store.documents.counts("language", OWNER)
    with store.writer.writing():
        store.writer.put([sample("new.md", "bonjour", language="fr")], TOY.fingerprint)
    assert store.documents.counts("language", OWNER)["fr"] == 1
    assert store.documents.counts("language", PUBLIC) == plain(store).counts("language", PUBLIC)


@pytest.mark.parametrize("count", [1, 10, 50])
def test_checking_the_vectors_of_results_reads_no_other_vectors(tmp_path: Path, count: int) -> None:
    """From ten results on, SQLite read every vector of the library: .6 s at 100,000 passages."""
    library = filled(tmp_path, COUNT)
    statement = CHECKSUMS.format(", ".join("?" * count))
    plan = rows_of(
        open_database(tmp_path / "library.db"),
        f"EXPLAIN QUERY PLAN {statement}",
        [TOY.fingerprint, *range(1, count + 1)],
    )
    first, second = [row[-1] for row in plan]
    assert first == "SEARCH c USING INTEGER PRIMARY KEY (rowid=?)"
    assert second.endswith("(model=? AND hash=?)")
    assert library.signals.changed_vectors(range(1, count + 1)) == []
