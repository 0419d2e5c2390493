"""The whole product on a library in PostgreSQL, beside the same library in a folder."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text
from tests import postgres
from tests.endpoint import ScriptedEndpoint
from tests.models import answer, settings

from trivium.config import Settings
from trivium.core.access import LOCAL_OWNER
from trivium.core.errors import CopyFailed, DocumentNotFound, TargetExists, TokenRefused
from trivium.core.places import DatabaseAddress, LibraryPlace
from trivium.core.results import Results
from trivium.core.types import Labels, Where
from trivium.core.work import JobState, TaskState
from trivium.evaluate.judged_sets import JudgedSets
from trivium.ingest.outcomes import Fate
from trivium.library import Library
from trivium.operations.searching import Filters, SearchOptions
from trivium.sources.folder import FolderSource
from trivium.store.copying import copy_library
from trivium.store.embedded.recovery import recover
from trivium.store.opening import BackendOptions, open_backend
from trivium.store.postgres.address import parse
from trivium.testing.samples import TOY, sample

NEW, THERE = BackendOptions(), BackendOptions(create=False)
PLAYERS = Where(frozenset({"player"}))
TEXTS = {
    "harbour.md": "---\nyear: 2001\n---\n\n# Harbour\n\nThe harbour of Port Amble has a lantern.",
    "crown.md": "---\nyear: 2020\ncategory: lore\n---\n\n# Crown\n\nA crown lies in the harbour.",
    "plot.md": "---\naudience: dm-only\n---\n\n# Plot\n\nThe lantern is a forgery, a quartz one.",
    "rules.md": "---\naudience: player\n---\n\n# Rules\n\nPlayers carry lanterns across harbours.",
    "nebel.md": "# Nebel\n\nDer Nebel liegt über dem Hafen und der Laterne.",
}


def opened(place: LibraryPlace) -> Library:
    return Library(open_backend(place, NEW), TOY, Settings())


def fill(library: Library, files: Path) -> None:
    """A document in two interpretations, one of them removed, a name more, a token, a judgment."""
    (files / "copy.md").unlink(missing_ok=True)
    for name, body in TEXTS.items():
        (files / name).write_text(body, encoding="utf-8")
    (files / "gone.md").write_text("This one goes again.")
    library.add(files)
    (files / "harbour.md").write_text(
        TEXTS["harbour.md"].replace("a lantern", "two lanterns"), encoding="utf-8"
    )
    (files / "copy.md").write_text(TEXTS["nebel.md"], encoding="utf-8")
    library.add(files)
    library.remove([str(files / "gone.md")])
    library.tokens.create(audiences=["player"], name="Ann")
    JudgedSets(library.backend.shelf).judge("mine", "crown", "crown.md", 2)


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("files")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, written: Path) -> Iterator[Library]:
    with opened(tmp_path_factory.mktemp("folder") / "library") as library:
        fill(library, written)
        library.upkeep.rebuild()  # else its scores count documents that are gone
        yield library


@pytest.fixture(scope="module")
def place() -> Iterator[DatabaseAddress]:
    with postgres.library() as address:
        yield address


@pytest.fixture(scope="module")
def kept(place: DatabaseAddress, written: Path) -> Iterator[Library]:
    """Only looked at."""
    with opened(place) as library:
        fill(library, written)
        yield library


@pytest.fixture
def library() -> Iterator[Library]:
    """An empty one, to be changed."""
    with postgres.library() as address, opened(address) as one:
        yield one


def told(found: Results) -> list[tuple[Any, ...]]:
    """Which passages, with which scores, of every signal."""
    return [
        (
            one.rank,
            round(one.score, 3),
            Path(one.found.document.uri).name,
            one.found.chunk.text,
            {name: (s.rank, round(s.score, 3)) for name, s in one.signals.items()},
        )
        for one in found
    ]


# --- asking: the same as from a folder ------------------------------------------------------------


@pytest.mark.parametrize("mode", ["hybrid", "semantic", "keyword", "fuzzy"])
def test_searches_find_the_same_with_the_same_scores(
    kept: Library, folder: Library, mode: str
) -> None:
    filters = [
        Filters(),
        Filters(audiences=()),
        Filters(audiences=("player",)),
        Filters(category="lore"),
        Filters(metadata={"year": 2001}),
        Filters(where="year>=2010"),
        Filters(source="harbour.md"),
    ]
    queries = ["lantern harbour", "quartz", "lantrn harbur", '"port amble"', "harbour -crown"]
    for query in queries:
        for filter_ in filters:
            options = SearchOptions(mode=mode)
            ours = kept.search(query, options=options, filters=filter_)
            assert told(ours) == told(folder.search(query, options=options, filters=filter_))
    assert kept.search("lantern", options=SearchOptions(mode=mode))


def test_nothing_of_what_a_caller_may_not_see(kept: Library) -> None:
    found = kept.search("quartz forgery lantern", within=PLAYERS)
    assert {Path(one.found.document.uri).name for one in found} <= {*TEXTS} - {"plot.md"}
    assert kept.suggest("quar", within=PLAYERS) == ()
    assert kept.suggest("quar")
    with pytest.raises(DocumentNotFound):
        kept.show("plot.md", PLAYERS)


def test_answers_and_likeness(kept: Library, folder: Library) -> None:
    said = [one.ask("Where does the crown lie?") for one in (kept, folder)]
    assert said[0].text == said[1].text
    assert "crown" in said[0].text.lower()
    assert told(kept.similar("crown.md")) == told(folder.similar("crown.md"))


def test_history_and_earlier_days(kept: Library, folder: Library) -> None:
    for one in (kept, folder):
        first, second = one.history.of("harbour.md")
        assert (first.number, second.number) == (1, 2)
        assert b"has a lantern" in one.history.original("harbour.md", interpretation=1)
    for number in (1, 2):
        options = SearchOptions(as_of=number)
        assert told(kept.search("lantern", options=options)) == told(
            folder.search("lantern", options=options)
        )


def test_documents_are_registered_alike(kept: Library, folder: Library) -> None:
    def plain(library: Library) -> list[Any]:
        return [
            (d.id, d.uri, d.names, d.category, d.audience, d.interpretation, dict(d.metadata))
            for d in library.documents.all()
        ]

    assert plain(kept) == plain(folder)
    assert kept.documents.collections() == folder.documents.collections()
    assert kept.upkeep.health()["chunks"] == folder.upkeep.health()["chunks"]
    assert [finding for finding in kept.upkeep.examine(deep=True) if not finding.ok] == []


# --- changing -------------------------------------------------------------------------------------


def test_restored_relabelled_and_removed(library: Library, files: Path) -> None:
    path = files / "light.md"
    for light in ("lantern", "candle"):
        path.write_text(f"A {light} burns.")
        library.add(path)
    library.restore("light.md", 1)
    assert [one.restored_from for one in library.history.of("light.md")] == [None, None, 1]
    assert told(library.search("lantern", options=SearchOptions(mode="keyword")))
    assert not library.search("candle", options=SearchOptions(mode="keyword"))
    [document] = library.documents.all()
    with library.backend.writer.writing():
        library.backend.writer.relabel(
            document.id, category="lore", audience="dm-only", metadata={"year": 5}
        )
    assert not library.search("lantern", within=PLAYERS)
    assert library.search("lantern", filters=Filters(where="year=5"))
    assert library.history.prune(keep=1) == 2
    library.remove(["light.md"])
    assert library.documents.all() == []
    assert not library.search("lantern")
    compacted = library.upkeep.compact()
    assert not compacted.held_back


def test_from_one_model_to_another(files: Path) -> None:
    with ScriptedEndpoint(answer) as endpoint, postgres.library() as address:
        with Library.open(address, settings=settings(endpoint.url, "toy")) as library:
            with library.backend.writer.writing():
                texts = [sample(f"{n}.md", f"Lantern number {n} burns.") for n in range(12)]
                library.backend.writer.put(texts, "toy")
            other = open_backend(address, NEW)  # another process
            report = library.models.reembed(settings(endpoint.url, "other"))
            assert (report.before, report.model, report.passages) == ("toy", "other", 12)
            found = library.search("Lantern number 7", options=SearchOptions(mode="semantic"))
            assert found[0].found.chunk.text == "Lantern number 7 burns."
            assert library.upkeep.health()["vectors"] == 12
            other.signals.refresh()
            assert other.models.manifest().model == "other"
            other.close()
        with Library.open(address, settings=settings(endpoint.url, "other")) as again:
            assert again.search("Lantern number 3")[0].found.document.uri == "3.md"


def test_tokens_and_conversations(library: Library) -> None:
    with library.backend.writer.writing():
        library.backend.writer.put(
            [sample("fog.md", "Fog is a cloud that touches the ground.", title="Fog")],
            TOY.fingerprint,
        )
    token, secret = library.tokens.create(audiences=["player"], name="Ann")
    assert library.tokens.caller(secret).audiences == {"player"}
    said = library.ask("What is fog?", conversation="weather")
    [turn] = library.conversations.get("weather")
    assert turn.question == "What is fog?"
    assert said.text == f"{turn.answer} [1]"
    assert [one.name for one in library.conversations.all()] == ["weather"]
    library.tokens.revoke(token.id)
    with pytest.raises(TokenRefused):
        library.tokens.caller(secret)


def test_judged_sets(library: Library) -> None:
    sets = JudgedSets(library.backend.shelf)
    sets.judge("mine", "crown", "crown.md", 2)
    sets.judge("mine", "crown", "plot.md", 0)
    assert [(one.name, one.queries) for one in sets.all()] == [("mine", 1)]


def test_uploads(library: Library) -> None:
    report = library.uploads.receive(LOCAL_OWNER, "note.txt", BytesIO(b"A note on lanterns."))
    assert report.count(Fate.ADDED) == 1
    assert library.backend.spool.sizes() == {}
    job = library.uploads.receive_later(LOCAL_OWNER, "later.txt", BytesIO(b"A later note."))
    assert len(library.backend.spool.sizes()) == 1
    assert library.jobs.work_next()
    assert library.jobs.get(job.id).state is JobState.DONE
    assert library.backend.spool.sizes() == {}
    assert len(library.documents.all()) == 2


def test_jobs_that_fail_and_are_cancelled(library: Library, files: Path) -> None:
    (files / "empty.txt").write_text("")
    (files / "good.txt").write_text("A good note.")
    report = library.add(files)
    assert report.job is not None
    assert library.jobs.fates(report.job.id) == {"added": 1, "failed": 1}
    [failed] = library.jobs.tasks(report.job.id, states=[TaskState.FAILED])
    assert failed.code == "file.empty"
    (files / "empty.txt").write_text("No longer empty.")
    assert library.jobs.retry(report.job.id) == 1
    library.jobs.work(report.job.id)
    assert library.jobs.fates(report.job.id) == {"added": 2}
    assert library.jobs.get(report.job.id).state is JobState.DONE
    waiting = library.jobs.enqueue(FolderSource([files]), Labels("other"))
    assert library.jobs.cancel(waiting.id).state is JobState.CANCELLED
    assert library.jobs.work(waiting.id).count(Fate.ADDED) == 0


def test_repaired(library: Library) -> None:
    with library.backend.writer.writing():
        library.backend.writer.put(
            [sample(f"{n}.md", f"Lantern number {n}.") for n in range(5)], TOY.fingerprint
        )
    place = _schema_of(library)
    orphan = "VALUES ('sha256:00', '', '2001-01-01')"
    with postgres.as_owner() as connection:
        connection.execute(text(f"DELETE FROM {place}.postings WHERE word <> 0"))
        connection.execute(text(f"DELETE FROM {place}.vectors_1 WHERE chunk = 3"))
        connection.execute(text(f"INSERT INTO {place}.blobs {orphan}"))
    bad = [finding for finding in library.upkeep.examine() if not finding.ok]
    assert bad
    assert library.upkeep.repair()
    assert [finding for finding in library.upkeep.examine(deep=True) if not finding.ok] == []
    assert len(library.search("number", options=SearchOptions(mode="keyword"))) == 5


def _schema_of(library: Library) -> str:
    engine = library.backend.documents._engine  # type: ignore[attr-defined]
    with engine.connect() as connection:
        return str(connection.scalar(text("SELECT current_schema()")))


# --- elsewhere ------------------------------------------------------------------------------------


def test_a_backup_comes_back_into_a_folder(kept: Library, folder: Library, tmp_path: Path) -> None:
    held = kept.upkeep.backup(tmp_path / "saved")
    assert held.documents == len(kept.documents.all())
    recover(tmp_path / "saved", tmp_path / "new", None)
    with opened(tmp_path / "new") as again:
        same(again, kept)
        assert again.history.original("harbour.md", interpretation=1) == kept.history.original(
            "harbour.md", interpretation=1
        )


def same(one: Library, other: Library) -> None:
    """Everything that a copy takes along."""
    for library in (one, other):
        library.backend.signals.refresh()
    assert one.documents.all() == other.documents.all()
    for document in one.documents.all():
        assert one.history.of(document.id) == other.history.of(document.id)
    assert one.tokens.all() == other.tokens.all()
    assert [(j.id, j.state, j.tasks) for j in one.jobs.all()] == [
        (j.id, j.state, j.tasks) for j in other.jobs.all()
    ]
    sets = [JudgedSets(library.backend.shelf).all() for library in (one, other)]
    assert sets[0] == sets[1] != []
    for mode in ("hybrid", "semantic", "keyword", "fuzzy"):
        options = SearchOptions(mode=mode)
        found = one.search("lantern harbour", options=options)
        assert found
        assert told(found) == told(other.search("lantern harbour", options=options))
    assert one.upkeep.health()["vectors"] == other.upkeep.health()["vectors"]


def test_copied_to_postgresql_and_back(folder: Library, tmp_path: Path) -> None:
    folder.backend.spool.put_back("0" * 32, b"Sent in, and not read yet.")
    here = folder.backend.folder
    assert here is not None
    said: list[str] = []
    with postgres.library() as address:
        done = copy_library(here, address, THERE, NEW, lambda what, *_: said.append(what))
        assert (done.documents, done.missing) == (len(folder.documents.all()), 0)
        assert done.originals == 6
        assert {"documents", "chunks", "originals", "checking", "indexes"} <= {*said}
        with pytest.raises(TargetExists):
            copy_library(here, address, THERE, NEW)
        with opened(address) as copied:
            same(copied, folder)
            assert copied.backend.spool.read("0" * 32) == b"Sent in, and not read yet."
            assert copied.history.original("harbour.md", interpretation=1)
            copied.backend.writer.put([sample("new.md", "A new lantern.")], TOY.fingerprint)
            assert copied.search("new")[0].found.document.uri == "new.md", "ids go on rising"
        copy_library(address, tmp_path / "back", THERE, NEW)
        with opened(address) as copied, opened(tmp_path / "back") as back:
            same(back, copied)
            assert [finding for finding in back.upkeep.examine(deep=True) if not finding.ok] == []


class Broken(Exception):
    pass


def test_a_copy_that_was_broken_off_goes_on(folder: Library) -> None:
    here = folder.backend.folder
    assert here is not None

    def break_at(table: str) -> Any:
        def advance(what: str, done: int, of: int) -> None:
            if what == table and done:
                raise Broken

        return advance

    with postgres.library() as address:
        for stage in ("documents", "chunks", "jobs", "originals"):
            with pytest.raises(Broken):
                copy_library(here, address, THERE, NEW, break_at(stage))
        begun: dict[str, int] = {}
        copy_library(
            here, address, THERE, NEW, lambda what, done, _: begun.setdefault(what, done) and None
        )
        assert begun["documents"] == len(folder.documents.all()), "not sent again"
        with opened(address) as copied:
            same(copied, folder)


def test_a_copy_of_a_source_that_has_changed_begins_anew(tmp_path: Path) -> None:
    with opened(tmp_path / "source") as source, postgres.library() as address:
        writer = source.backend.writer
        with writer.writing():
            writer.put([sample("a.md", "A lantern."), sample("b.md", "Fog.")], TOY.fingerprint)

        def stop(what: str, done: int, of: int) -> None:
            if what == "jobs":
                raise Broken

        with pytest.raises(Broken):
            copy_library(tmp_path / "source", address, THERE, NEW, stop)
        source.remove(["a.md"])
        with writer.writing():
            writer.put([sample("c.md", "Another lantern.")], TOY.fingerprint)
        copy_library(tmp_path / "source", address, THERE, NEW)
        with opened(address) as copied:
            assert [one.uri for one in copied.documents.all()] == ["b.md", "c.md"]
            assert copied.search("lantern")[0].found.document.uri == "c.md"
            assert [finding for finding in copied.upkeep.examine(deep=True) if not finding.ok] == []


def test_a_copy_that_arrives_damaged_is_refused(folder: Library) -> None:
    here = folder.backend.folder
    assert here is not None
    with postgres.library() as address:
        schema = parse(address).schema

        def damage(what: str, done: int, of: int) -> None:
            if what == "originals" and done == of:
                with postgres.as_owner() as connection:
                    connection.execute(text(f"UPDATE {schema}.chunks SET text = text || '!'"))

        with pytest.raises(CopyFailed, match="chunks") as failed:
            copy_library(here, address, THERE, NEW, damage)
        assert "again" in failed.value.fix
        copy_library(here, address, THERE, NEW)
        with opened(address) as copied:
            same(copied, folder)


def test_no_password_in_the_log_or_in_findings(
    kept: Library, place: DatabaseAddress, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    password = parse(place).parts["password"]
    assert password
    with opened(place) as library:
        library.search("lantern")
        said = " ".join(str(finding) for finding in library.upkeep.examine())
    assert f":{password}@" not in caplog.text + said
