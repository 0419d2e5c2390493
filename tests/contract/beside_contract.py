"""What every backend must store besides documents, and its leases."""

from __future__ import annotations

from dataclasses import replace
from io import BytesIO
from pathlib import Path

import pytest
from tests.contract.part import PartContract

from trivium.core.access import mint
from trivium.core.answers import KeptTurn, Turn
from trivium.core.errors import FileUnreadable, LibraryBusy, ServerBusy
from trivium.core.queries import Alert, AlertHit, Asked, LoggedQuery, LogPage
from trivium.core.types import OWNER, Compare, Signal, Where
from trivium.core.work import ATTENDING, KeptSource, SyncFailure, SyncPoint, SyncRun, WatchedFolder
from trivium.ports import Backend
from trivium.testing.samples import found, put, sample, writer

PLAYER = Where(frozenset({"player"}))


def kept(question: str, audiences: set[str] | None = None, *documents: int) -> KeptTurn:
    labels = None if audiences is None else frozenset(audiences)
    return KeptTurn(Turn(question, f"{question}!"), labels, frozenset(documents))


def asked(backend: Backend, where: Where, name: str = "talk") -> list[str]:
    return [turn.turn.question for turn in backend.conversations.turns(name, where)]


class TokensContract(PartContract):
    """Access tokens."""

    def test_access_tokens_are_kept_whole(self, backend: Backend) -> None:
        first, _ = mint("first", audiences=["player"], collections=["rules"], expires="1d")
        second = replace(
            mint("", audiences=None, rights=["add", "manage"])[0], created_at="9999-01-01T00:00:00Z"
        )
        for token in (second, first):
            backend.tokens.keep(token)
        assert backend.tokens.all() == [first, second]
        assert backend.tokens.get(second.id) == second
        assert backend.tokens.forget(first.id)
        assert not backend.tokens.forget(first.id)
        assert backend.tokens.get(first.id) is None
        assert backend.tokens.all() == [second]


class SourcesContract(PartContract):
    """Sources that are kept in step."""

    def test_sources_are_kept_whole(self, backend: Backend) -> None:
        run = SyncRun("2026-01-03", "2026-01-04", True, {"added": 3}, 2, 5, 7.5, "c", "m", "n", "l")
        first = KeptSource(
            "work", "slack", {"channels": "a,b"}, {"token": "env:SLACK"}, "chat", "talk", "team",
            600, "2026-01-01", True, '{"at": 1}', run,
        )  # fmt: skip
        second = KeptSource("notes", "notes", added_at="2026-01-02")
        for source in (second, first):
            backend.sources.keep(source)
        assert backend.sources.all() == [first, second]
        assert backend.sources.get("work") == first
        changed = replace(first, every=60)
        backend.sources.keep(changed)
        assert backend.sources.all() == [changed, second]
        assert backend.sources.forget("notes")
        assert not backend.sources.forget("notes")
        assert backend.sources.get("notes") is None

    def test_a_source_knows_how_far_it_is(self, backend: Backend) -> None:
        backend.sources.keep(KeptSource("work", "slack", added_at="1"))
        backend.sources.advance(SyncPoint("work", "here"))
        backend.sources.record("work", SyncRun("2026-01-01", counts={"added": 1}))
        backend.sources.pause("work", True)
        for unknown in ("other", "work/else"):  # a source that was removed meanwhile is no error
            backend.sources.advance(SyncPoint(unknown, "there"))
            backend.sources.record(unknown, SyncRun())
            backend.sources.settle(unknown, [SyncFailure("a", "b", "c")], [])
        source = backend.sources.get("work")
        assert source is not None
        assert (source.cursor, source.paused, source.run.counts) == ("here", True, {"added": 1})
        assert [source.name for source in backend.sources.all()] == ["work"]

    def test_failures_stay_until_they_are_settled(self, backend: Backend) -> None:
        backend.sources.keep(KeptSource("work", "slack"))
        backend.sources.keep(KeptSource("more", "slack"))
        a, b = SyncFailure("a", "x", "first", "1"), SyncFailure("b", "x", "second", "1")
        backend.sources.settle("work", [b, a], [])
        backend.sources.settle("more", [a], [])
        again = replace(b, message="again", at="2", tries=2, not_before="3")
        backend.sources.settle("work", [again], [])
        assert backend.sources.failures("work") == [a, again]
        backend.sources.settle("work", [], ["b", "c"])
        assert backend.sources.failures("work") == [a]
        backend.sources.settle("work", [b], None)
        assert backend.sources.failures("work") == [b]
        backend.sources.forget("work")
        assert backend.sources.failures("work") == []
        assert backend.sources.failures("more") == [a]

    def test_a_cursor_moves_with_the_document_that_carries_it(self, backend: Backend) -> None:
        backend.sources.keep(KeptSource("work", "slack"))
        point = SyncPoint("work", "after b")
        first, second = sample("a", "Fog."), replace(sample("b", "Rain."), point=point)
        put(backend, first)
        assert backend.sources.all()[0].cursor == ""
        put(backend, second)
        assert backend.sources.all()[0].cursor == "after b"


class FoldersContract(PartContract):
    """Watched folders."""

    def test_watched_folders_are_kept_whole(self, backend: Backend) -> None:
        first = WatchedFolder("b", "/notes", "default", None, "player", ("*.tmp",), "2026-01-01")
        second = WatchedFolder("a", "/more", "rules", "book", None, (), "2026-01-02")
        for folder in (second, first):
            backend.folders.keep(folder)
        assert backend.folders.all() == [first, second]
        assert backend.folders.forget("b")
        assert not backend.folders.forget("b")
        assert backend.folders.all() == [second]


class QueriesContract(PartContract):
    """The log of queries, and alerts."""

    def test_queries_are_noted_counted_and_forgotten(self, backend: Backend) -> None:
        log = backend.queries
        day = LoggedQuery("2026-11-01", "crown", 2, 1, 5.0)
        log.count([day])
        later = LoggedQuery("2026-11-02", "crown", 1, 0, 1.0)
        log.count([later, LoggedQuery("2026-11-01", "crown", 1, 0, 9.0)])
        log.note([LoggedQuery("2026-11-02T10:00:00.000Z", "axe", 1, 0, 1.0, "abc")] * 2)
        log.count([])
        log.note([])
        assert [(logged.at[:10], logged.text, logged.asked) for logged in log.all()] == [
            ("2026-11-02", "axe", 1),
            ("2026-11-02", "axe", 1),
            ("2026-11-02", "crown", 1),
            ("2026-11-01", "crown", 3),
        ]
        assert log.all()[-1] == LoggedQuery("2026-11-01", "crown", 3, 1, 9.0)
        assert len(log.all("2026-11-02")) == 3
        assert log.forget("2026-11-02") == 1
        assert len(log.all()) == 3

    def test_the_log_is_summed_by_page_and_trimmed(self, backend: Backend) -> None:
        days = ("2026-11-01", "2026-11-02", "2026-11-03")
        backend.queries.note([LoggedQuery(day, "crown", 2, 1, 7.5) for day in days])
        slow_ones = {"b": 0.0, "Zebra": 8.0, "ä": 9.0}
        backend.queries.note(
            [LoggedQuery(days[0], text, took_ms=took_ms) for text, took_ms in slow_ones.items()]
        )
        totals = backend.queries.totals()
        assert totals[0] == Asked("crown", 6, 3, 7.5, days[2])
        assert [total.text for total in totals] == ["crown", "Zebra", "b", "ä"]
        assert backend.queries.totals(page=LogPage(2, 1)) == totals[1:3]
        unfound, slow = LogPage(unfound=True), LogPage(slower_than=7.5)
        assert backend.queries.totals(page=unfound) == [total for total in totals if total.empty]
        slowest_first = [total.text for total in backend.queries.totals(page=slow)]
        assert slowest_first == ["ä", "Zebra", "crown"]
        assert backend.queries.totals(days[1]) == [Asked("crown", 4, 2, 7.5, days[2])]
        assert backend.queries.trim(10) == 0
        assert backend.queries.trim(2) == 4
        assert [query.at for query in backend.queries.all()] == [days[2], days[1]]

    def test_one_call_may_count_a_query_several_times(self, backend: Backend) -> None:
        log = backend.queries
        for took_ms in (3.0, 1.0):  # new, then known
            once = LoggedQuery("2026-11-01", "crown", 1, 0, took_ms)
            empty = replace(once, empty=1, took_ms=2.0)
            log.count([once, replace(once, caller="abc"), empty])
        assert sorted(log.all(), key=lambda logged: logged.caller) == [
            LoggedQuery("2026-11-01", "crown", 4, 2, 3.0),
            LoggedQuery("2026-11-01", "crown", 2, 0, 3.0, "abc"),
        ]

    def test_alerts_keep_their_hits(self, backend: Backend) -> None:
        first = Alert("b", "crown", "", "2026-11-01", "2026-11-01")
        second = Alert("a", "axe", "https://example.org/", "2026-11-02", "2026-11-02")
        for alert in (second, first):
            backend.alerts.keep(alert)
        assert backend.alerts.all() == [first, second]
        seen = replace(first, seen_at="2026-11-03")
        backend.alerts.keep(seen)
        assert backend.alerts.all() == [seen, second]
        hits = [AlertHit("b", 7, 0, 0.5, "2026-11-03"), AlertHit("a", 8, 2, 0.75, "2026-11-04")]
        backend.alerts.note(hits)
        backend.alerts.note([replace(hits[0], match=0.25)])
        assert backend.alerts.hits() == [hits[1], replace(hits[0], match=0.25)]
        assert backend.alerts.hits(1) == [hits[1]]
        assert backend.alerts.forget("b")
        assert not backend.alerts.forget("b")
        assert backend.alerts.hits() == [hits[1]]


class ConversationsContract(PartContract):
    """Saved questions and answers."""

    def test_turns_come_back_in_order_and_by_name(self, backend: Backend) -> None:
        for name, question in (("talk", "one"), ("other", "two"), ("talk", "three")):
            backend.conversations.keep(name, kept(question))
        assert asked(backend, OWNER) == ["one", "three"]
        assert backend.conversations.turns("nobody", OWNER) == []
        first, last = backend.conversations.turns("talk", OWNER)
        assert first.turn == Turn("one", "one!")
        assert first.audiences is None
        assert "" < first.at <= last.at
        listed = [(c.name, c.turns, c.began, c.last) for c in backend.conversations.all(OWNER)]
        assert listed[1] == ("talk", 2, first.at, last.at)
        assert [name for name, *_ in listed] == ["other", "talk"]

    def test_a_turn_is_seen_by_those_who_hold_all_its_audiences(self, backend: Backend) -> None:
        backend.conversations.keep("talk", kept("of the owner"))
        backend.conversations.keep("talk", kept("of all", set()))
        backend.conversations.keep("talk", kept("of players", {"player"}))
        backend.conversations.keep("talk", kept("of both", {"player", "dm-only"}))
        assert asked(backend, Where(frozenset())) == ["of all"]
        assert asked(backend, PLAYER) == ["of all", "of players"]
        assert asked(backend, Where(frozenset({"player", "dm-only"})))[-1] == "of both"
        assert len(asked(backend, OWNER)) == 4
        assert [c.turns for c in backend.conversations.all(PLAYER)] == [2]

    def test_a_turn_is_seen_by_those_who_may_see_what_it_was_made_from(
        self, backend: Backend
    ) -> None:
        (open_,) = put(backend, sample("a.md", "Amber bell."))
        (secret,) = put(backend, sample("b.md", "Copper bell.", audience="dm-only"))
        backend.conversations.keep("talk", kept("amber", {"player"}, open_))
        backend.conversations.keep("talk", kept("both", {"player"}, open_, secret))
        assert asked(backend, PLAYER) == ["amber"]
        assert asked(backend, OWNER) == ["amber", "both"]
        assert asked(backend, Where(None, Compare("source", "eq", "b.md"))) == []
        writer(backend).relabel(open_, category="", audience="dm-only", metadata={})
        assert asked(backend, PLAYER) == []
        assert backend.conversations.all(PLAYER) == []

    def test_what_was_said_of_a_removed_document_goes_with_it(self, backend: Backend) -> None:
        amber, copper = put(backend, sample("a.md", "Amber."), sample("b.md", "Copper."))
        backend.conversations.keep("talk", kept("amber", None, amber))
        backend.conversations.keep("talk", kept("both", None, copper, amber))
        backend.conversations.keep("talk", kept("copper", None, copper))
        writer(backend).remove([amber])
        assert asked(backend, OWNER) == ["copper"]

    def test_only_what_may_be_seen_is_forgotten(self, backend: Backend) -> None:
        backend.conversations.keep("talk", kept("of the owner"))
        backend.conversations.keep("talk", kept("of players", {"player"}))
        backend.conversations.keep("other", kept("of players", {"player"}))
        assert backend.conversations.forget("talk", PLAYER) == 1
        assert backend.conversations.forget("talk", PLAYER) == 0
        assert asked(backend, OWNER) == ["of the owner"]
        assert asked(backend, PLAYER, "other") == ["of players"]


class LeasesContract(PartContract):
    """A name has one owner at a time."""

    def test_a_name_is_held_by_one(self, backend: Backend) -> None:
        notes: list[str] = []
        assert not backend.leases.is_held("cleaning")
        with backend.leases.hold("cleaning", "cleaning up"):
            assert backend.leases.is_held("cleaning")
            assert not backend.leases.is_held("other")
            again = backend.leases.hold("cleaning", "cleaning up", waiting=notes.append, patience=0)
            with pytest.raises(LibraryBusy, match="cleaning up"), again:
                pass
            with backend.leases.hold("other", "something else", patience=0):
                pass
        assert notes == ["Another process is cleaning up; waiting for it to finish."]
        assert not backend.leases.is_held("cleaning")

    def test_names_are_counted_by_their_beginning(self, backend: Backend) -> None:
        leases = backend.leases
        with leases.hold(f"{ATTENDING}1", "taking jobs"), leases.hold("cleaning", "cleaning"):
            with leases.hold(f"{ATTENDING}2", "taking jobs"):
                assert leases.count_held(ATTENDING) == 2
            assert leases.count_held(ATTENDING) == 1
        assert leases.count_held(ATTENDING) == 0

    def test_who_fails_lets_go(self, backend: Backend) -> None:
        with pytest.raises(ZeroDivisionError), backend.leases.hold("cleaning", "cleaning"):
            1 / 0  # noqa: B018
        with backend.leases.hold("cleaning", "cleaning", patience=0):
            pass


class SpoolContract(PartContract):
    """Files that were sent in. `backend` allows 100 bytes of them."""

    def test_bytes_come_back_until_they_are_dropped(self, backend: Backend) -> None:
        name = backend.spool.keep(BytesIO(b"sent in"))
        assert (backend.spool.read(name), backend.spool.size(name)) == (b"sent in", 7)
        backend.spool.drop(name)
        backend.spool.drop(name)
        assert backend.spool.size(name) == 0
        with pytest.raises(FileUnreadable):
            backend.spool.read(name)

    def test_together_they_have_a_limit(self, backend: Backend) -> None:
        first = backend.spool.keep(BytesIO(b"x" * 60))
        with pytest.raises(ServerBusy):
            backend.spool.keep(BytesIO(b"x" * 60))
        second = backend.spool.keep(BytesIO(b"x" * 60), limited=False)
        assert backend.spool.sizes() == {first: 60, second: 60}
        backend.spool.drop(second)
        backend.spool.drop(first)
        backend.spool.keep(BytesIO(b"x" * 60))

    def test_what_nobody_needs_is_swept(self, backend: Backend) -> None:
        needed, left = (backend.spool.keep(BytesIO(b"x")) for _ in range(2))
        assert backend.spool.sweep([needed], 3600) == 0, "too young"
        assert backend.spool.sweep([needed], -1) == 1
        assert (backend.spool.size(needed), backend.spool.size(left)) == (1, 0)

    def test_what_another_library_kept_can_be_put_back(self, backend: Backend) -> None:
        name = "0123456789abcdef" * 2
        for data in (b"first", b"second"):
            backend.spool.put_back(name, data)
        assert (backend.spool.sizes(), backend.spool.read(name)) == ({name: 5}, b"first")


class ShelfContract(PartContract):
    """Judged sets."""

    def test_what_is_written_can_be_read(self, backend: Backend) -> None:
        assert backend.shelf.names() == []
        with backend.shelf.writing("mine") as folder:
            (folder / "runs").mkdir(parents=True)
            (folder / "qrels.tsv").write_text("1")
            (folder / "runs" / "one.json").write_text("{}")
        assert backend.shelf.names() == ["mine"]
        with backend.shelf.reading("mine") as folder:
            assert folder.name == "mine"
            files = sorted(p.relative_to(folder) for p in folder.rglob("*") if p.is_file())
            assert files == [Path("qrels.tsv"), Path("runs/one.json")]
        with backend.shelf.writing("mine") as folder:
            (folder / "qrels.tsv").unlink()
        with backend.shelf.reading("mine") as folder:
            assert not (folder / "qrels.tsv").exists()

    def test_a_set_that_is_not_there(self, backend: Backend) -> None:
        with backend.shelf.reading("none") as folder:
            assert not folder.exists() or not list(folder.iterdir())


class UpkeepContract(PartContract):
    """Whether all is well."""

    def test_a_library_that_is_well(self, backend: Backend) -> None:
        put(backend, sample("a.md", "A lantern burns."), sample("b.md", "Fog."))
        backend.upkeep.check_there()
        health = backend.upkeep.health()
        assert (health["documents"], health["chunks"], health["vectors"]) == (2, 2, 2)
        assert all(finding.ok for finding in backend.upkeep.examine())
        backend.upkeep.repair()

    @pytest.mark.parametrize("act", ["rebuild", "compact"])
    def test_everything_is_found_afterwards(self, backend: Backend, act: str) -> None:
        put(backend, sample("a.md", "A lantern burns."), sample("b.md", "Fog."))
        with backend.writer.writing():
            backend.writer.remove([2])
            getattr(backend.upkeep, act)()
        for signal in Signal:
            assert found(backend, signal, "lantern") == ["A lantern burns."]


class ViewsContract(PartContract):
    """Documents as they were, if a backend can show that."""

    def test_an_earlier_interpretation_is_searched(self, backend: Backend) -> None:
        if backend.views is None:
            pytest.skip("it shows no earlier day")
        put(backend, sample("a.md", "A lantern burns."))
        put(backend, sample("a.md", "A candle burns."))
        digest, make = backend.views.as_of(1, OWNER)
        view = make()
        try:
            assert found(view, Signal.KEYWORD, "lantern") == ["A lantern burns."]
            assert found(view, Signal.KEYWORD, "candle") == []
        finally:
            view.close()
        assert backend.views.as_of(1, OWNER)[0] == digest
        assert found(backend, Signal.KEYWORD, "candle") == ["A candle burns."]
