"""Searches go to replicas, and to the primary where these are away or behind."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from sqlalchemy import make_url, text
from tests import postgres

from trivium.config import Settings
from trivium.core.places import DatabaseAddress
from trivium.core.types import OWNER, Probe, Signal
from trivium.library import Library
from trivium.operations.searching import SearchOptions
from trivium.store.copying import copy_library
from trivium.store.opening import BackendOptions, open_backend
from trivium.store.postgres.address import parse
from trivium.store.postgres.database import open_database
from trivium.store.postgres.replicas import ReplicatedSignals, SearchServer
from trivium.testing.samples import OTHER, TOY, embed_beside, sample
from trivium.text.query import parse as parsed

KEYWORD = SearchOptions(mode="keyword")


def with_replicas(address: DatabaseAddress, *places: str) -> DatabaseAddress:
    return DatabaseAddress(f"{address.url}&replicas={','.join(places)}")


@contextmanager
def opened(address: DatabaseAddress) -> Iterator[Library]:
    with Library(open_backend(address, BackendOptions()), TOY, Settings()) as library:
        yield library


def put(library: Library, uri: str, body: str) -> None:
    with library.backend.writer.writing():
        library.backend.writer.put([sample(uri, body)], TOY.fingerprint)


def found(library: Library, query: str) -> list[str]:
    return [one.found.document.uri for one in library.search(query, options=KEYWORD)]


def test_what_was_just_changed_is_found_through_replicas() -> None:
    """The same server by two more of its addresses: never behind."""
    with postgres.library() as address:
        port = make_url(address.url).port
        with opened(with_replicas(address, f"127.0.0.1:{port}", f"localhost:{port}")) as library:
            for n in range(3):
                put(library, f"{n}.md", f"Lantern {n} burns.")
                assert found(library, f"lantern {n}")[0] == f"{n}.md"
                assert library.search("lantern")
                assert library.suggest("lant")
                assert library.similar(f"{n}.md") is not None
            assert isinstance(library.backend.signals, ReplicatedSignals)
            assert library.backend.signals._chosen is not library.backend.signals._primary


def test_replicas_that_are_away_are_passed_over(caplog: pytest.LogCaptureFixture) -> None:
    with postgres.library() as address, socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # and not listening
        away = f"127.0.0.1:{taken.getsockname()[1]}"
        with opened(with_replicas(address, away)) as library:
            put(library, "a.md", "A lantern burns.")
            assert found(library, "lantern") == ["a.md"]
            assert found(library, "lantern") == ["a.md"]
    assert caplog.text.count(f"Not searching on the replica {away}") == 1, "not asked each time"
    password = parse(address).parts["password"]
    assert f":{password}@" not in caplog.text


@pytest.fixture
def lagging(tmp_path: Path) -> Iterator[tuple[Library, ReplicatedSignals, SearchServer]]:
    """A primary, and a replica that stays where it was: a copy in another schema."""
    with postgres.library() as address, postgres.library() as copy, opened(address) as library:
        put(library, "old.md", "An old lantern burns.")
        copy_library(address, copy, BackendOptions(create=False), BackendOptions())
        engines = [open_database(parse(place)) for place in (address, copy)]
        primary, replica = (SearchServer.on(e, name) for e, name in zip(engines, "pr", strict=True))
        while primary.feed.sequence() < replica.feed.sequence():
            put(library, "fog.md", f"Fog {primary.feed.sequence()}.")  # copying took numbers too
        yield library, ReplicatedSignals(primary, [replica]), replica
        for engine in engines:
            engine.dispose()


def hits(signals: ReplicatedSignals, query: str) -> int:
    return len(signals.search(Signal.KEYWORD, Probe(parsed(query)), OWNER, 10))


def test_one_that_is_behind_what_was_seen_is_passed_over(
    lagging: tuple[Library, ReplicatedSignals, SearchServer],
) -> None:
    library, signals, replica = lagging
    signals.refresh()
    assert signals._chosen is replica
    assert hits(signals, "lantern") == 1
    put(library, "new.md", "A new lantern burns.")  # by another process: seen a little later
    signals.refresh()
    assert (signals._chosen is replica, hits(signals, "lantern")) == (True, 1)
    signals._primary.snapshots.forget()  # as the writer of this process says after a change
    signals.refresh()
    assert (signals._chosen is replica, hits(signals, "lantern")) == (False, 2)
    signals.refresh()
    assert hits(signals, "lantern") == 2, "nobody goes back to before"


def test_another_model_that_a_replica_has_not_heard_of(
    lagging: tuple[Library, ReplicatedSignals, SearchServer],
) -> None:
    library, signals, replica = lagging
    models = library.backend.models
    models.begin(OTHER.fingerprint, {})
    embed_beside(library.backend, OTHER)
    with library.backend.writer.writing():
        models.switch(OTHER.fingerprint)
    signals.refresh()
    assert signals._chosen is replica
    vector = OTHER.embed_query("An old lantern burns.")
    probe = Probe(parsed("lantern"), vector, model=OTHER.fingerprint)
    assert len(signals.search(Signal.VECTOR, probe, OWNER, 3)) == 2
    assert replica.away_until == 0.0


def test_one_that_breaks_off_in_the_middle_of_a_search(
    lagging: tuple[Library, ReplicatedSignals, SearchServer],
) -> None:
    _, signals, replica = lagging
    signals.refresh()
    with replica.feed.engine.begin() as connection:
        connection.execute(text("ALTER TABLE postings RENAME TO elsewhere"))
    try:
        assert hits(signals, "lantern") == 1, "the primary answers"
        assert replica.away_until > 0
    finally:
        with replica.feed.engine.begin() as connection:
            connection.execute(text("ALTER TABLE elsewhere RENAME TO postings"))
