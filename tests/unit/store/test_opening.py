"""What opening a library in a folder looks at."""

from pathlib import Path

import pytest
from sqlalchemy import Engine, event

from trivium.core.types import OWNER
from trivium.store.embedded import backend as embedded
from trivium.store.embedded.backend import open_embedded
from trivium.store.embedded.database import open_database
from trivium.store.sql.feed import Feed
from trivium.testing.samples import put, sample


def test_opening_reads_no_list_of_documents(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It takes 1 s with 100,000 of them, and a sync with nothing new needs none."""
    backend = open_embedded(tmp_path)
    put(backend, *(sample(f"{n}.md", f"lamp {n}") for n in range(30)))
    backend.close()
    asked: list[str] = []

    def opened(path: Path) -> Engine:
        engine = open_database(path)

        @event.listens_for(engine, "before_cursor_execute")
        def listen(_connection: object, _cursor: object, statement: str, *_: object) -> None:
            asked.append(statement)

        return engine

    monkeypatch.setattr(embedded, "open_database", opened)
    backend = open_embedded(tmp_path)
    assert asked
    assert not [one for one in asked if "documents.changed >" in one]
    assert len(backend.documents.all(OWNER)) == 30
    backend.close()


def test_the_last_active_chunk_may_be_older_than_the_last_one(tmp_path: Path) -> None:
    backend = open_embedded(tmp_path)
    first, second = put(backend, sample("a.md", "One.", "Two."), sample("b.md", "Three."))
    feed = Feed(open_database(tmp_path / "library.db"))
    assert feed.last_active_chunk() == 3
    with backend.writer.writing():
        backend.writer.remove([second])
    assert feed.last_active_chunk() == 2
    with backend.writer.writing():
        backend.writer.remove([first])
    assert feed.last_active_chunk() == 0
    feed.engine.dispose()
    backend.close()
