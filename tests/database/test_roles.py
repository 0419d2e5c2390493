"""The roles that docs/postgresql.md describes can do what it says, and nothing else."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from sqlalchemy import make_url, text
from tests import postgres

from trivium.config import Settings
from trivium.core.errors import LibraryReadOnly
from trivium.core.places import DatabaseAddress
from trivium.core.work import JobState
from trivium.library import Library
from trivium.operations.searching import SearchOptions
from trivium.store.opening import BackendOptions, open_backend
from trivium.testing.samples import OTHER, TOY, embed_beside, sample

PAGE = Path(__file__).parents[2] / "docs" / "postgresql.md"


@dataclass(frozen=True)
class Roles:
    name: str  # of the schema, and how the roles begin

    def opened(self, role: str, *, create: bool = True) -> Library:
        url = make_url(postgres.address()).set(username=f"{self.name}_{role}", password="choose")
        address = f"{url.render_as_string(hide_password=False)}?schema={self.name}"
        backend = open_backend(DatabaseAddress(address), BackendOptions(create=create))
        return Library(backend, TOY, Settings())


@pytest.fixture(scope="module")
def roles() -> Iterator[Roles]:
    name = "test_roles"
    blocks = re.findall(r"```sql\n(.*?)```", PAGE.read_text(), re.DOTALL)
    (block,) = (block for block in blocks if "CREATE ROLE" in block)
    commands = re.sub("'choose[^']*'", "'choose'", block.replace("trivium", name))
    with postgres.as_owner() as connection:
        forget(connection, name)
        connection.exec_driver_sql(commands)
    try:
        yield Roles(name)
    finally:
        with postgres.as_owner() as connection:
            forget(connection, name)


def forget(connection: postgres.Connection, name: str) -> None:
    for role in (f"{name}_{one}" for one in ("owner", "worker", "search")):
        if connection.scalar(text("SELECT 1 FROM pg_roles WHERE rolname = :r"), {"r": role}):
            connection.execute(text(f"DROP OWNED BY {role} CASCADE"))
            connection.execute(text(f"DROP ROLE {role}"))


def put(library: Library, uri: str, *texts: str) -> None:
    with library.backend.writer.writing():
        library.backend.writer.put([sample(uri, *texts)], TOY.fingerprint)


def test_each_role_can_do_what_the_page_says(roles: Roles, tmp_path: Path) -> None:
    with pytest.raises(LibraryReadOnly, match="may not"), roles.opened("worker"):
        pass  # there are no tables yet, and it makes none
    with roles.opened("owner") as library:
        put(library, "first.md", "The first lantern.")
        token, secret = library.tokens.create(audiences=["player"])
    with roles.opened("worker", create=False) as library:
        put(library, "second.md", "The second lantern.", "The crown lies in the harbour.")
        put(library, "second.md", "The second lantern burns.")
        library.restore("second.md", 1)
        put(library, "third.md", "The third lantern.")
        library.remove(["third.md"])
        note = tmp_path / "note.txt"
        note.write_text("A note about fog.")
        report = library.add(note)
        assert report.job is not None
        assert report.job.state is JobState.DONE
        library.ask("Where is the crown?", conversation="kept")
        assert [one.name for one in library.conversations.all()] == ["kept"]
        assert [finding for finding in library.upkeep.examine() if not finding.ok] == []
        library.backend.models.begin(OTHER.fingerprint, {})
        embed_beside(library.backend, OTHER)
        with pytest.raises(LibraryReadOnly) as failed:
            library.backend.models.prepare(OTHER.fingerprint)
        assert "docs/postgresql.md" in failed.value.fix
        library.backend.models.abandon()
    with roles.opened("search", create=False) as library:
        for mode in ("hybrid", "semantic", "keyword", "fuzzy"):
            assert library.search("second lantern", options=SearchOptions(mode=mode))
        assert library.search("lantern", options=SearchOptions(as_of=1))
        assert "harbour" in library.ask("Where does the crown lie?").text
        assert library.suggest("lant")
        assert library.similar("second.md") is not None
        assert library.tokens.caller(secret).id == token.id
        assert library.history.of("second.md")
        assert library.jobs.all()
        assert library.upkeep.health()["chunks"] == 4
        before = library.documents.all()
        for change in (
            lambda: put(library, "new.md", "New."),
            lambda: library.remove(["second.md"]),
            lambda: library.tokens.create(audiences=None),
            lambda: library.add(note),
            lambda: library.backend.leases.hold("x", "working").__enter__(),
            library.upkeep.rebuild,
        ):
            with pytest.raises(LibraryReadOnly, match="may not"):
                change()
        assert library.documents.all() == before
        assert library.search("crown")
        unsaved = library.ask("Where is the crown?", conversation="mine")
        assert "This conversation isn't saved" in unsaved.notes[-1]
