"""A library of an older Trivium opens in this one."""

import sqlite3
from pathlib import Path

import pytest
from sqlalchemy import create_engine, inspect, text

from trivium.core.types import OWNER, Signal, Where
from trivium.core.work import JobState, Offered, Priority, TaskEnd, TaskState
from trivium.store.embedded.backend import open_embedded
from trivium.store.sql.schema import SCHEMA
from trivium.testing.samples import TOY, probe, sample

OLD = Path(__file__).parent / "schema4.sql"  # `iterdump` of a library of two documents


@pytest.fixture
def old(tmp_path: Path) -> Path:
    connection = sqlite3.connect(tmp_path / "library.db")
    connection.executescript(OLD.read_text())
    connection.close()
    return tmp_path


def test_a_library_without_token_vectors_gains_their_table(tmp_path: Path) -> None:
    store = open_embedded(tmp_path)
    store.writer.put([sample("a.md", "Amber bell.")], TOY.fingerprint)
    store.close()
    engine = create_engine(f"sqlite:///{tmp_path / 'library.db'}")
    with engine.begin() as connection:
        connection.execute(text("DROP TABLE token_vectors"))
        connection.execute(text("UPDATE settings SET value = '1' WHERE name = 'schema'"))
    engine.dispose()
    store = open_embedded(tmp_path)
    assert store.models.manifest().schema == SCHEMA
    assert store.signals.token_vectors([1], OWNER, TOY.fingerprint) == {}
    assert [d.uri for d in store.documents.all(OWNER)] == ["a.md"]
    store.close()


def test_a_library_of_schema_4_keeps_its_documents_and_its_past(old: Path) -> None:
    store = open_embedded(old)
    bells, fog = store.documents.all(OWNER)
    assert (bells.uri, bells.title, bells.interpretation) == ("/notes/a.md", "New bells", 2)
    assert (bells.names, bells.seen_hash) == ((), bells.content_hash)
    assert bells.seen_fingerprint == bells.fingerprint
    first, second = store.documents.history(bells.id, OWNER)
    assert (first.title, first.active, first.retired_at) == ("Bells", False, bells.updated_at)
    assert (second.metadata, second.size, second.media_type) == (
        {"year": 2002},
        bells.size,
        "text/plain",
    )
    assert store.documents.history(fog.id, Where(frozenset())) == []
    for signal in Signal:
        hits = store.signals.search(signal, probe("silver"), OWNER, 1)
        assert (
            store.documents.chunks([hit.chunk_id for hit in hits], OWNER)[0].chunk.text
            == "Silver bell."
        )
    assert store.writer.restore(bells.id, 1).title == "Bells"
    store.writer.put([sample("/notes/a.md", "Brass bell.")], TOY.fingerprint)
    assert [one.number for one in store.documents.history(bells.id, OWNER)] == [1, 2, 3, 4]
    store.close()


def test_what_an_older_library_does_not_know_of_its_past_is_private(old: Path) -> None:
    """Nobody wrote down who could see an interpretation that was retired then."""
    store = open_embedded(old)
    bells, fog = store.documents.all(OWNER)
    everyone, holder = Where(frozenset()), Where(frozenset({fog.audience}))
    assert [one.audience for one in store.documents.history(bells.id, OWNER)] == [
        None,
        bells.audience,
    ]
    assert [one.number for one in store.documents.history(bells.id, everyone)] == [2]
    assert store.documents.text(bells.id, everyone, 1) is None
    assert [one.audience for one in store.documents.history(fog.id, holder)] == [fog.audience]
    assert store.writer.restore(bells.id, 1).audience == bells.audience
    store.close()


def test_an_older_library_learns_whose_its_documents_are(old: Path) -> None:
    a, b = "0123456789ab", "ba9876543210"
    connection = sqlite3.connect(old / "library.db")
    with connection:
        for id_, uri in ((1, f"upload:{a}/x#by-{b}.md"), (2, f"https://x.org/#by-{b}!/in.md")):
            connection.execute("UPDATE documents SET uri = ? WHERE id = ?", (uri, id_))
    connection.close()
    store = open_embedded(old)
    assert [d.sender for d in store.documents.all(OWNER)] == [a, b]
    store.close()


def test_jobs_of_a_library_without_progress_go_on(tmp_path: Path) -> None:
    store = open_embedded(tmp_path)
    names = [Offered(f"/{name}", name, 10, name.encode()) for name in ("a", "b", "c")]
    number = store.queue.create("add", "add 3", {}, Priority.BULK, names)
    first, *_ = store.queue.claim("worker", 2)
    store.queue.end([TaskEnd(first.id, TaskState.DONE, "added")])
    store.close()
    connection = sqlite3.connect(tmp_path / "library.db")
    with connection:  # as schema 19 had it
        for name in ("read", "read_size", "tokens", "tokens_done", "run_tokens"):
            connection.execute(f"ALTER TABLE jobs DROP COLUMN {name}")
        connection.execute("ALTER TABLE jobs ADD COLUMN run_size INTEGER NOT NULL DEFAULT 0")
        for name in ("passages", "embedded", "tokens"):
            connection.execute(f"ALTER TABLE tasks DROP COLUMN {name}")
        connection.execute("UPDATE settings SET value = '19' WHERE name = 'schema'")
    connection.close()
    store = open_embedded(tmp_path)
    job = store.jobs.get(number)
    assert job is not None
    assert (job.ended, job.read, job.read_size, job.tokens) == (1, 1, 10, 0)
    assert [task.passages for task in store.jobs.tasks(number)] == [0, None, None]
    store.queue.recover()
    left = [task.id for _ in range(2) for task in store.queue.claim("other", 10)]
    store.queue.end([TaskEnd(task, TaskState.DONE, "added", passages=1, tokens=4) for task in left])
    job = store.jobs.get(number)
    assert job is not None
    assert (job.state, job.read, job.tokens, job.tokens_done) == (JobState.DONE, 3, 8, 8)
    store.close()


def test_an_older_library_gets_the_tables_of_a_new_one(old: Path, tmp_path: Path) -> None:
    open_embedded(old).close()
    open_embedded(tmp_path / "new").close()
    shapes = []
    for folder in (old, tmp_path / "new"):
        engine = create_engine(f"sqlite:///{folder / 'library.db'}")
        found = inspect(engine)
        shapes.append(
            {
                name: (
                    {c["name"] for c in found.get_columns(name)},
                    {i["name"] for i in found.get_indexes(name)},
                )
                for name in found.get_table_names()
            }
        )
        engine.dispose()
    assert shapes[0] == shapes[1]


def test_what_a_dead_writer_left_is_looked_up_and_not_searched_for(old: Path) -> None:
    open_embedded(old).close()
    connection = sqlite3.connect(old / "library.db")
    for table, which in (
        ("interpretations", "state = 'staged'"),
        ("documents", "interpretation = 0"),
    ):
        (plan,) = connection.execute(f"EXPLAIN QUERY PLAN DELETE FROM {table} WHERE {which}")
        assert "USING INDEX" in plan[3], plan
    connection.close()
