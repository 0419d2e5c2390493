"""Sources that a library keeps in step: what a run, a pause, a removal and `verify` do."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from threading import Event

import pytest
from tests.reference import open_memory

from trivium.config import Settings
from trivium.core.errors import (
    BadSetting,
    FileUnreadable,
    SourceEmpty,
    SourceExists,
    SourceNotFound,
    SourcePaused,
    SourceUnreachable,
)
from trivium.core.types import OWNER, Element, Extraction, Metadata, Place
from trivium.core.work import KeptSource, SyncRun
from trivium.library import Library
from trivium.library.model import CurrentModel
from trivium.library.sync import Sync, SyncEvent, SyncOptions, Verified, period_of, seconds_of
from trivium.operations.searching import Filters
from trivium.ports import Backend, Change, Checkpoint, Failed, Gone, Only, Put, Wait
from trivium.store.embedded.backend import open_embedded
from trivium.testing.samples import TOY


def message(id_: str, text: str, audience: str | None = "all", **metadata: str) -> Put:
    said: Metadata = metadata
    read = Extraction(text, (Element("message", 0, len(text)),), id_, "message/test", "en")
    return Put(id_, f"{id_}.txt", read, metadata=said, audience=audience)


class Scripted:
    """Reports the changes that a test wrote down, from cursor to cursor."""

    deletions = "told"

    def __init__(self) -> None:
        self.script: list[Change | Exception] = []
        self.listed: list[str] | None = None  # None: what the script leads to

    def changes(self, cursor: str) -> Iterator[Change]:
        for at, one in enumerate(self.script[int(cursor or 0) :], start=int(cursor or 0)):
            if isinstance(one, Exception):
                raise one
            yield one if not isinstance(one, Checkpoint) else replace(one, cursor=str(at + 1))
        yield Checkpoint(str(len(self.script)))

    def ids(self) -> Iterator[str | Wait]:
        if self.listed is not None:
            yield from self.listed
            return
        there: dict[str, None] = {}
        for one in self.script:
            if isinstance(one, Put):
                there[one.id] = None
            elif isinstance(one, Gone | Only):
                there = {id_: None for id_ in there if not one.drops(id_)}
        yield from there


class Retrying(Scripted):
    def __init__(self) -> None:
        super().__init__()
        self.now: dict[str, Change] = {}

    def again(self, ids: Sequence[str]) -> Iterator[Change]:
        for id_ in ids:
            yield self.now[id_]


@pytest.fixture
def source() -> Scripted:
    return Scripted()


@pytest.fixture
def backend() -> Backend:
    return open_memory()


def syncing(backend: Backend, source: Scripted) -> Sync:
    sync = Sync(backend, CurrentModel(backend, TOY, Settings()), lambda kept: source)
    sync.add(KeptSource("work", "test", collection="talk"))
    return sync


@pytest.fixture
def sync(backend: Backend, source: Scripted) -> Sync:
    return syncing(backend, source)


def held(backend: Backend) -> dict[str, str]:
    found = backend.documents.all(OWNER)
    return {one.uri.removeprefix("test:work/"): one.audience for one in found}


def kinds(found: Verified) -> list[tuple[str, str]]:
    return [(one.item, one.kind) for one in found.differences]


def test_what_is_there_is_put_and_what_is_gone_goes(
    sync: Sync, source: Scripted, backend: Backend
) -> None:
    source.script = [message("a", "Fog."), message("b", "Rain.", None), message("c", "Sun.", "x")]
    run = sync.run("work")
    assert run.counts == {"added": 3}
    assert held(backend) == {"a": "all", "b": "work", "c": "x"}
    source.script += [Gone("a"), message("b", "Hail.", None), message("a/1", "Snow.")]
    assert sync.run("work").counts == {"added": 1, "updated": 1, "removed": 1}
    source.script += [Gone("a", below=True), Only("b", frozenset())]
    assert sync.run("work").counts == {"removed": 2}
    assert list(held(backend)) == ["c"]
    assert sync.run("work").counts == {}


def test_a_label_for_the_source_is_for_all_that_has_no_narrower_one(
    backend: Backend, source: Scripted
) -> None:
    sync = Sync(backend, CurrentModel(backend, TOY, Settings()), lambda kept: source)
    sync.add(KeptSource("work", "test", audience="team"))
    source.script = [message("a", "Fog."), message("b", "Rain.", None), message("c", "Sun.", "x")]
    sync.run("work")
    assert held(backend) == {"a": "team", "b": "team", "c": "x"}


def test_who_may_see_an_item_changes_without_reading_it_again(
    sync: Sync, source: Scripted, backend: Backend
) -> None:
    source.script = [message("a", "Fog."), message("a", "Fog.", "x")]
    sync.run("work")
    source.script += [message("a", "Fog.", "y")]
    assert sync.run("work").counts == {"relabelled": 1}
    assert held(backend) == {"a": "y"}


def test_a_run_that_breaks_goes_on_from_its_cursor(
    sync: Sync, source: Scripted, backend: Backend
) -> None:
    source.script = [
        message("a", "Fog."), Checkpoint(""), message("b", "Rain."), Wait(0, "a pause"),
        SourceUnreachable("It answers 500."), message("c", "Sun."),
    ]  # fmt: skip
    with pytest.raises(SourceUnreachable):
        sync.run("work")
    kept = sync.get("work")
    assert (kept.cursor, kept.run.code, kept.run.counts) == (
        "2",
        "source.unreachable",
        {"added": 2},
    )
    source.script[4] = Checkpoint("")
    assert sync.run("work").counts == {"unchanged": 1, "added": 1}
    assert sorted(held(backend)) == ["a", "b", "c"]


def test_what_a_broken_run_put_and_the_source_lost_meanwhile_goes(
    sync: Sync, source: Scripted, backend: Backend
) -> None:
    """The cursor never knew of it, so the source doesn't report that it is gone."""
    source.script = [message("a", "Fog.")]
    sync.run("work")
    source.script += [message("b", "Rain."), Wait(0, ""), SourceUnreachable("It answers 500.")]
    with pytest.raises(SourceUnreachable):
        sync.run("work")
    assert sorted(held(backend)) == ["a", "b"]
    source.script[1:] = []
    assert sync.run("work").counts == {"removed": 1}
    assert sorted(held(backend)) == ["a"]


def test_what_a_comparison_added_and_the_source_lost_meanwhile_goes(backend: Backend) -> None:
    """It came after the cursor, which never knew of it either."""
    source = Retrying()
    sync = syncing(backend, source)
    source.script = [message("a", "Fog.")]
    sync.run("work")
    source.listed, source.now = ["a", "b"], {"b": message("b", "Rain.")}
    sync.run("work", SyncOptions(compare=True))
    assert sorted(held(backend)) == ["a", "b"]
    source.listed = ["a"]
    assert sync.run("work").counts == {"removed": 1}
    source.listed = []
    sync.run("work")
    assert sorted(held(backend)) == ["a"], "ids are compared no longer"


def test_what_fails_is_kept_and_tried_again(backend: Backend) -> None:
    source = Retrying()
    sync = syncing(backend, source)

    def unreadable() -> bytes:
        raise FileUnreadable("It can't be read.")

    source.script = [message("a", "Fog."), Put("b", "b.txt", unreadable), Failed("c", "No access.")]
    assert sync.run("work").counts == {"added": 1, "failed": 2}
    assert [one.item for one in sync.failures("work")] == ["b", "c"]
    source.now = {"b": message("b", "Rain."), "c": Failed("c", "No access.")}
    assert sync.run("work").counts == {"added": 1, "failed": 1}
    assert [one.item for one in sync.failures("work")] == ["c"]
    source.now = {"c": Gone("c")}
    sync.run("work")
    assert sync.failures("work") == []


def test_a_server_tries_what_fails_again_later_and_later(backend: Backend) -> None:
    source = Retrying()
    sync = syncing(backend, source)
    source.script = [Failed("bad", "No.")]
    source.now["bad"] = Failed("bad", "Still not.")
    patient = SyncOptions(patient=True)
    tries = []
    for _ in range(3):  # the second try comes with the next run, the third after 10 minutes
        sync.run("work", patient)
        (failure,) = sync.failures("work")
        tries.append((failure.tries, bool(failure.not_before)))
    assert tries == [(1, False), (2, True), (2, True)]
    sync.run("work")  # a person doesn't wait
    assert sync.failures("work")[0].tries == 3
    sync.ask("work")
    sync.run("work", patient)
    assert sync.failures("work")[0].tries == 4


def test_nothing_goes_because_a_listing_was_incomplete(backend: Backend) -> None:
    source = Retrying()
    sync = syncing(backend, source)
    source.script = [message("a", "Fog."), message("b", "Rain."), message("c", "Hail.")]
    sync.run("work")
    source.script = [message("a", "Fog."), Failed("list", "No more.", partial=True)]
    source.now = {"b": message("b", "Rain."), "c": Gone("c"), "list": Failed("list", "No more.")}
    sync.run("work", SyncOptions(full=True))
    assert sorted(held(backend)) == ["a", "b"]
    assert [one.item for one in sync.failures("work")] == ["list"]
    assert "b" not in {one.item for one in sync.verify("work").differences}


def test_bytes_that_are_not_those_announced_are_not_in_step(
    sync: Sync, source: Scripted, backend: Backend
) -> None:
    source.script = [Put("f", "f.txt", lambda: b"Fog.", audience="all", size=4)]
    sync.run("work")
    assert sync.verify("work").in_step
    source.script = [Put("f", "f.txt", lambda: b"Fog.", audience="all", size=5)]
    (found,) = sync.verify("work").differences
    assert (found.kind, found.item) == ("unreadable", "f")
    assert "announces 5 bytes, but sent 4" in found.reason


def test_a_longer_pause_than_allowed_ends_the_run_until_then(sync: Sync, source: Scripted) -> None:
    source.script = [message("a", "Fog."), Checkpoint("", 1, 3), Wait(60, "Once a minute.")]
    run = sync.run("work", SyncOptions(longest_wait=5))
    assert (run.message, run.counts) == ("Once a minute.", {"added": 1})
    assert run.not_before > run.ended_at
    assert sync.due() == []
    kept = sync.get("work")
    sync._backend.sources.record("work", replace(kept.run, not_before="2000-01-01"))
    assert [one.name for one in sync.due()] == ["work"]
    source.script[2] = Checkpoint("", 2, 3)
    source.script += [message("b", "Rain.")]
    assert sync.run("work").counts == {"added": 2}  # both together are one run
    assert sync.due() == []


def test_a_pause_ends_a_run_under_way(sync: Sync, source: Scripted, backend: Backend) -> None:
    source.script = [message("a", "Fog."), Wait(3_600, "An hour."), message("b", "Rain.")]

    def hear(event: SyncEvent) -> None:
        if event.kind == "waiting":
            sync.pause("work")

    assert sync.run("work", on_event=hear).message == "Paused."
    assert sorted(held(backend)) == ["a"]
    with pytest.raises(SourcePaused):
        sync.run("work")
    sync.resume("work")
    source.script[1] = Wait(0, "")
    sync.run("work")
    assert sorted(held(backend)) == ["a", "b"]


def test_a_run_can_be_stopped(sync: Sync, source: Scripted) -> None:
    stop = Event()
    stop.set()
    source.script = [message("a", "Fog."), Wait(0, ""), message("b", "Rain.")]
    assert "continues from here" in sync.run("work", stop=stop).message


def test_a_dry_run_changes_nothing(sync: Sync, source: Scripted, backend: Backend) -> None:
    source.script = [message("a", "Fog."), message("b", "Rain.")]
    sync.run("work")
    source.script += [message("a", "Fog."), message("b", "Hail."), message("c", "Sun."), Gone("a")]
    assert sync.run("work", SyncOptions(dry=True)).counts == {
        "removed": 1, "updated": 1, "added": 1,
    }  # fmt: skip
    assert sorted(held(backend)) == ["a", "b"]
    assert sync.get("work").cursor == "2"


def test_a_dry_run_counts_what_a_listing_leaves_out(
    sync: Sync, source: Scripted, backend: Backend
) -> None:
    source.script = [message("x/a", "Fog."), message("x/b", "Rain."), message("c", "Sun.")]
    sync.run("work")
    source.script += [Only("x/", frozenset({"x/a"}))]
    assert sync.run("work", SyncOptions(dry=True)).counts == {"removed": 1}
    source.script = [message("c", "Sun.")]
    full = sync.run("work", SyncOptions(dry=True, full=True))
    assert full.counts == {"unchanged": 1, "removed": 2}
    assert len(held(backend)) == 3


def test_a_service_that_asks_to_wait_is_not_waited_for_where_nobody_has_time(
    sync: Sync, source: Scripted
) -> None:
    source.script = [message("a", "Fog."), Wait(3_600.0, "Slack asks to wait an hour.")]
    dry = sync.run("work", SyncOptions(dry=True))
    assert dry.counts == {"added": 1}
    assert dry.message == "That isn't all: Slack asks to wait an hour."
    with pytest.raises(SourceUnreachable, match="Slack asks to wait an hour"):
        sync.verify("work", longest_wait=10.0)


def test_verify_goes_by_what_was_told_last(sync: Sync, source: Scripted) -> None:
    kept = [message(one, "Fog.") for one in ("x/1", "x/1/a", "x/2", "y")]
    source.script = kept
    sync.run("work")
    gone = [message(one, "Rain.") for one in ("x/1/b", "x/3", "x/3/c", "z")]
    source.script = [
        *kept, *gone, Only("x/1/", frozenset({"x/1/a"})), Gone("x/3", below=True), Gone("z"),
        message("z", "Sun."), Only("z", frozenset()),
    ]  # fmt: skip
    found = sync.verify("work")
    assert (found.compared, found.differences) == (4, ())


def test_verify_lists_every_difference_with_its_reason(
    sync: Sync, source: Scripted, backend: Backend
) -> None:
    source.script = [message(one, "Fog.", author="ada") for one in "abcdef"]
    sync.run("work")
    assert sync.verify("work").in_step
    source.script = [
        message("a", "Fog.", author="ada"),
        message("b", "Rain.", author="ada"),
        message("c", "Fog.", "x", author="ada"),
        message("d", "Fog.", author="bob"),
        message("g", "New."),
        Failed("h", "No access."),
    ]
    found = sync.verify("work")
    assert found.compared == 6
    assert kinds(found) == [
        ("b", "text"), ("c", "audience"), ("d", "metadata"), ("e", "extra"), ("f", "extra"),
        ("g", "missing"), ("h", "unreadable"),
    ]  # fmt: skip
    assert all(one.reason for one in found.differences)
    source.listed = ["a", "b", "c", "d", "e", "f", "z"]
    assert kinds(sync.verify("work", ids_only=True)) == [("z", "missing")]


def test_ids_are_compared_where_deletions_are_not_told(
    sync: Sync, source: Scripted, backend: Backend
) -> None:
    source.deletions = "compared"
    source.script = [message("a", "Fog."), message("b", "Rain.")]
    sync.run("work")
    source.listed = ["a"]
    assert sync.run("work").counts == {}  # they were compared less than a day ago
    assert sync.run("work", SyncOptions(compare=True)).counts == {"removed": 1}
    source.listed = []
    with pytest.raises(SourceEmpty):
        sync.run("work", SyncOptions(compare=True))
    assert sorted(held(backend)) == ["a"]
    assert sync.run("work", SyncOptions(compare=True, force=True)).counts == {"removed": 1}


def test_reading_everything_again_forgets_what_is_not_told(
    sync: Sync, source: Scripted, backend: Backend
) -> None:
    source.script = [message("a", "Fog."), message("b", "Rain.")]
    sync.run("work")
    source.script = [message("a", "Fog.")]
    assert sync.run("work", SyncOptions(full=True)).counts == {"unchanged": 1, "removed": 1}
    source.deletions = "kept"
    source.script = [message("c", "Sun.")]
    sync.run("work", SyncOptions(full=True))
    assert sorted(held(backend)) == ["a", "c"]
    assert sync.verify("work").in_step


def test_what_a_failure_hides_stays(sync: Sync, source: Scripted, backend: Backend) -> None:
    source.script = [message("c/1", "Fog."), message("c/2", "Rain."), message("d/1", "Sun.")]
    sync.run("work")
    source.script = [Failed("c", "No access.", hides="c/"), message("d/2", "Hail.")]
    assert sync.run("work", SyncOptions(full=True)).counts == {
        "failed": 1, "added": 1, "removed": 1,
    }  # fmt: skip
    assert sorted(held(backend)) == ["c/1", "c/2", "d/2"]
    assert kinds(sync.verify("work")) == [("c", "unreadable")]


def test_a_source_goes_with_its_documents_or_without(
    sync: Sync, source: Scripted, backend: Backend
) -> None:
    source.script = [message("a", "Fog."), message("b", "Rain.")]
    sync.run("work")
    assert sync.count("work") == 2
    assert sync.remove("work", keep_documents=True) == 0
    sync.add(KeptSource("work", "test", collection="talk"))
    assert sync.remove("work") == 2
    assert held(backend) == {}
    with pytest.raises(SourceNotFound):
        sync.run("work")


def test_names_are_checked(sync: Sync) -> None:
    with pytest.raises(SourceExists):
        sync.add(KeptSource("work", "test"))
    for wrong in ("", "A b", "../x", "x" * 65):
        with pytest.raises(BadSetting):
            sync.add(KeptSource(wrong, "test"))


def test_a_source_is_due_by_its_schedule(sync: Sync, backend: Backend) -> None:
    assert sync.due() == []
    kept = replace(sync.get("work"), every=600)
    backend.sources.keep(kept)
    assert [one.name for one in sync.due()] == ["work"]
    sync.run("work")
    assert sync.due() == []
    backend.sources.keep(replace(kept, run=SyncRun("2000-01-01", "2000-01-01T00:00:00.000Z")))
    assert [one.name for one in sync.due()] == ["work"]
    sync.pause("work")
    assert sync.due() == []


@pytest.mark.parametrize(
    ("said", "seconds"), [("", 0), ("90", 90), ("10m", 600), ("1h", 3_600), ("1 d", 86_400)]
)
def test_periods(said: str, seconds: int) -> None:
    assert seconds_of(said) == seconds
    assert seconds_of(period_of(seconds)) == seconds


def test_messages_are_found_by_author_and_not_by_conversation() -> None:
    source = Scripted()
    with Library(open_memory(), TOY, Settings()) as library:
        library.sync._make = lambda kept: source  # type: ignore[method-assign]
        library.sync.add(KeptSource("work", "test"))
        source.script = [
            message("a", "The map is here.", authors="Ada", slackChannelId="C1"),
            message("b", "The map is gone.", authors="Bob", slackChannelId="C1"),
        ]
        library.sync.run("work")

        def found(where: str) -> list[str]:
            results = library.search("map", filters=Filters(where=where))
            return sorted(one.found.document.title for one in results)

        assert found("authors:bob") == ["b"]
        assert found("slackChannelId:c1") == ["a", "b"]
        assert found("type:test authors:ada") == ["a"]


def test_where_a_message_stands_is_in_every_answer() -> None:
    from trivium.cli.results import title_and_place
    from trivium.core.access import LOCAL_OWNER
    from trivium.core.shapes import ResultsAnswer, as_json
    from trivium.integrations.found import details
    from trivium.mcp.shapes import SearchInput
    from trivium.mcp.tools import search

    source = Scripted()
    with Library(open_memory(), TOY, Settings()) as library:
        library.sync._make = lambda kept: source  # type: ignore[method-assign]
        library.sync.add(KeptSource("work", "test"))
        place = Place(authors=("Bob",), time="2026-01-01T10:00:00Z", link="https://x.org/p1")
        text = "The map is here."
        read = Extraction(text, (Element("message", 0, 16, place=place),), "a", "message/test")
        source.script = [Put("a", "a.txt", read, audience="all")]
        library.sync.run("work")
        results = library.search("map")
        (result,) = results
        told = {"authors": ("Bob",), "time": "2026-01-01T10:00:00Z", "link": "https://x.org/p1"}
        chunk = as_json(ResultsAnswer.of(results).results[0].chunk.place)
        assert chunk == {"sheet": "", "rows": None, "seconds": None, **told}
        about = details(result, weak=False)
        assert {**about, **told} == {**about, "authors": ("Bob",)}
        assert "Bob, 2026-01-01 10:00" in str(title_and_place(result.found, []))

        found = search(library, LOCAL_OWNER, SearchInput(query="map"))
        assert as_json(as_json(found)["results"][0].place)["link"] == "https://x.org/p1"
        answer = library.ask("Where is the map?")
        assert [one.link for one in answer.passages] == ["https://x.org/p1"]


def test_a_folder_that_is_added_and_synced_gives_each_document_once(tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "a.md").write_text("See [[Lamp|the lamp]].")
    (notes / "b.txt").write_text("A picture of fog.")
    with Library(open_memory(), TOY, Settings()) as library:
        library.sync.add(KeptSource("mine", "notes", {"path": str(notes)}))

        def titles() -> list[str]:
            return sorted(one.uri for one in library.documents.all())

        library.add(notes)
        seen = []
        library.sync.run("mine", on_event=lambda event: seen.append(titles()))
        synced = ["notes:mine/a.md", "notes:mine/b.txt"]
        assert seen[-1] == titles() == synced  # before the run ends
        report = library.add(notes)
        assert (titles(), dict(report.counts)) == (synced, {"duplicate": 2})
        (notes / "c.md").write_text("A new one.")
        library.add(notes)
        assert titles() == [str(notes / "c.md"), *synced]  # not synced yet: as a file, once
        library.add(notes, collection="others")
        assert len(titles()) == 6  # another collection
        library.sync.run("mine")
        assert titles() == sorted([*synced, "notes:mine/c.md", *map(str, notes.iterdir())])


def test_a_mailbox_that_is_added_and_synced_gives_each_mail_once(tmp_path: Path) -> None:
    box = tmp_path / "mail" / "in.mbox"
    box.parent.mkdir()
    mail = "From a@x Thu Jan  1 00:00:00 2026\nSubject: {0}\n\nThe {0} is here.\n\n"
    box.write_text(mail.format("lamp") + mail.format("map"))
    for place in (box.parent, box):
        with Library(open_memory(), TOY, Settings()) as library:
            library.sync.add(KeptSource("mine", "mbox", {"path": str(place)}))
            library.add(box)
            assert len(library.documents.all()) == 1  # the mailbox as a whole
            for _ in range(2):
                library.sync.run("mine")
                uris = [one.uri for one in library.documents.all()]
                assert [one[:10] for one in uris] == ["mbox:mine/", "mbox:mine/"]
                library.add(box.parent)


def test_an_unpacked_export_that_is_added_and_synced_gives_each_message_once(
    tmp_path: Path,
) -> None:
    export = tmp_path / "export"
    (export / "general").mkdir(parents=True)
    (export / "users.json").write_text('[{"id": "U1", "name": "ada"}]')
    said = [{"user": "U1", "text": "The lamp.", "ts": "1451865600.000100"}]
    (export / "general" / "2016-01-04.json").write_text(json.dumps(said))
    with Library(open_memory(), TOY, Settings()) as library:
        library.sync.add(KeptSource("chat", "slack-export", {"path": str(export)}))
        # Unpacked among other files, which stay.
        (export / "notes").mkdir()
        (export / "notes" / "plan.json").write_text('{"plan": "A bridge."}')
        (export / "letter.txt").write_text("A letter.")
        for _ in range(2):
            library.add(export)
            library.sync.run("chat")
            uris = {one.uri for one in library.documents.all()}
            files = {str(export / "letter.txt"), str(export / "notes" / "plan.json")}
            assert files < uris
            (message,) = uris - files
            assert message.startswith("slack-export:chat/")


def test_a_source_reads_the_same_folder_wherever_it_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for folder in ("here", "there"):
        (tmp_path / folder / "notes").mkdir(parents=True)
        (tmp_path / folder / "notes" / f"{folder}.md").write_text(folder)
    with Library(open_memory(), TOY, Settings()) as library:
        monkeypatch.chdir(tmp_path / "here")
        library.sync.add(KeptSource("mine", "notes", {"path": "notes"}))
        monkeypatch.chdir(tmp_path / "there")
        library.sync.run("mine")
        assert [one.uri for one in library.documents.all()] == ["notes:mine/here.md"]


def test_a_library_within_its_notes_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "lamp.md").write_text("A lamp burns.")
    with Library(open_embedded(tmp_path / "library"), TOY, Settings()) as library:
        library.sync.add(KeptSource("vault", "notes", {"path": str(tmp_path)}))
        for expected in ({"added": 1}, {}):
            assert library.sync.run("vault").counts == expected
