"""Several processes change one library at the same time: nothing is lost, and nobody sees errors
about somebody else's locks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import Engine, text
from tests import postgres
from tests.database.sabotage import KILL, sabotage

from trivium.config import Settings
from trivium.core.errors import (
    DatabaseAway,
    DocumentNotFound,
    JobInterrupted,
    LibraryBusy,
    ModelChanged,
    NotEmbedded,
)
from trivium.core.places import DatabaseAddress
from trivium.core.types import OWNER, Labels, Processed
from trivium.core.work import (
    ATTENDING,
    JobState,
    Offered,
    Priority,
    TaskEnd,
    TaskState,
    worker_lease,
)
from trivium.library import Library
from trivium.ports import Backend
from trivium.sources.folder import FolderSource
from trivium.store.postgres.address import parse
from trivium.store.postgres.backend import open_postgres
from trivium.store.postgres.database import open_database
from trivium.store.postgres.leases import RowLeases
from trivium.store.sql.statements import set_setting, setting
from trivium.testing.samples import OTHER, TOY, embed_beside, sample

MODEL = TOY.fingerprint
ROUNDS = 4


@pytest.fixture(scope="module")
def place() -> Iterator[DatabaseAddress]:
    with postgres.library() as address:
        yield address


@pytest.fixture(scope="module")
def processes(place: DatabaseAddress) -> Iterator[tuple[Backend, Backend]]:
    """Two of them, as two servers would have."""
    one, other = (open_postgres(parse(place)) for _ in range(2))
    yield one, other
    one.close()
    other.close()


@pytest.fixture(autouse=True)
def empty(processes: tuple[Backend, Backend]) -> Iterator[None]:
    yield
    backend = processes[0]
    with backend.writer.writing():
        backend.writer.remove([one.id for one in backend.documents.all(OWNER)])


def together(*calls: Callable[[], object]) -> None:
    """All at once, each in a thread; the first error is raised."""
    with ThreadPoolExecutor(len(calls)) as pool:
        for done in [pool.submit(call) for call in calls]:
            done.result(timeout=240)


def put(backend: Backend, *documents: Processed) -> None:
    with backend.writer.writing():
        left = list(documents)
        while left:
            left = left[len(backend.writer.put(left, MODEL)) :]


def check(backend: Backend) -> None:
    """Every document is active exactly once, in every index."""
    backend.signals.refresh()
    assert [finding for finding in backend.upkeep.examine() if not finding.ok] == []
    uris = Counter(uri for d in backend.documents.all(OWNER) for uri in (d.uri, *d.names))
    assert [uri for uri, count in uris.items() if count > 1] == []


def test_the_same_source_put_by_two(processes: tuple[Backend, Backend]) -> None:
    one, other = processes

    def write(backend: Backend, who: str) -> None:
        for n in range(ROUNDS):
            put(backend, sample("same.md", f"Lantern {who} {n}."), sample(f"{who}{n}.md", who))

    together(lambda: write(one, "amber"), lambda: write(other, "birch"))
    [same] = [d for d in one.documents.all(OWNER) if d.uri == "same.md"]
    assert same.interpretation == 2 * ROUNDS, "every put is an interpretation"
    numbers = [i.number for i in one.documents.history(same.id, OWNER)]
    assert numbers == list(range(1, 2 * ROUNDS + 1))
    assert len(one.documents.all(OWNER)) == 1 + 2 * ROUNDS
    check(one)
    check(other)


def test_the_same_bytes_under_two_names(processes: tuple[Backend, Backend]) -> None:
    one, other = processes

    def write(backend: Backend, who: str) -> None:
        for n in range(ROUNDS):
            put(backend, sample(f"{who}{n}.md", f"The same text {n}.", reader="text 1"))

    together(lambda: write(one, "amber"), lambda: write(other, "birch"))
    found = one.documents.all(OWNER)
    assert sorted(len(d.names) for d in found) == [1] * ROUNDS, "one document with two names"
    check(one)


def test_a_setting_that_two_are_the_first_to_set(place: DatabaseAddress) -> None:
    """As the model's, by a server's worker and the first upload to it."""
    engine = open_database(parse(place))

    def also() -> None:
        with engine.begin() as connection:
            set_setting(connection, "first", "b")

    with ThreadPoolExecutor(1) as pool:
        with engine.begin() as connection:
            set_setting(connection, "first", "a")
            second = pool.submit(also)
            waits = text("SELECT 1 FROM pg_locks WHERE NOT granted AND locktype = 'transactionid'")
            while not second.done() and not connection.scalar(waits):
                pass
        second.result(timeout=240)
    with engine.begin() as connection:
        assert setting(connection, "first") == "b"
    engine.dispose()


def test_batches_in_opposite_order(processes: tuple[Backend, Backend]) -> None:
    one, other = processes
    names = [f"{n}.md" for n in range(8)]

    def write(backend: Backend, order: list[str], who: str) -> None:
        for n in range(ROUNDS):
            put(backend, *(sample(name, f"{who} {n} {name}") for name in order))

    together(lambda: write(one, names, "up"), lambda: write(other, names[::-1], "down"))
    assert {d.interpretation for d in one.documents.all(OWNER)} == {2 * ROUNDS}
    check(one)


def test_names_that_come_at_the_same_time_all_stay(processes: tuple[Backend, Backend]) -> None:
    one, other = processes
    put(one, sample("first.md", "The same text.", reader="text 1"))
    [document] = one.documents.all(OWNER)

    def add(backend: Backend, who: str) -> None:
        for n in range(ROUNDS):
            backend.writer.add_name(document.id, f"{who}{n}.md")

    def same_bytes() -> None:
        for n in range(ROUNDS):
            put(one, sample(f"put{n}.md", "The same text.", reader="text 1"))

    together(lambda: add(one, "amber"), lambda: add(other, "birch"), same_bytes)
    [document] = one.documents.all(OWNER)
    wanted = {f"{who}{n}.md" for who in ("amber", "birch", "put") for n in range(ROUNDS)}
    assert {*document.names} == wanted
    check(one)


def test_put_against_remove_relabel_rename_and_restore(
    processes: tuple[Backend, Backend],
) -> None:
    """Vectors of removed documents are shared with those that are put."""
    one, other = processes

    def write() -> None:
        for n in range(ROUNDS):
            put(
                one, *(sample(f"{k}.md", f"Shared text {k}.", f"Of its own {n}.") for k in range(4))
            )

    def disturb(change: Callable[[int], object]) -> None:
        for _ in range(ROUNDS):
            for document in other.documents.all(OWNER):
                with suppress(DocumentNotFound):
                    change(document.id)

    def remove(document: int) -> None:
        with other.writer.writing():
            other.writer.remove([document])

    def relabel(document: int) -> None:
        other.writer.relabel(document, category="lore", audience="all", metadata={"n": 1})

    def rename(document: int) -> None:
        if document != third:
            return
        with suppress(LibraryBusy):  # another document may be called so by now
            other.writer.rename(document, "3.md", "three.md")
            other.writer.rename(document, "three.md", "3.md")

    together(
        write,
        lambda: disturb(remove),
        lambda: disturb(relabel),
        lambda: disturb(lambda document: other.writer.restore(document, 1)),
    )
    check(one)
    put(one, *(sample(f"{k}.md", f"Shared text {k}.", "At the end.") for k in range(4)))
    [third] = [d.id for d in one.documents.all(OWNER) if d.uri == "3.md"]
    together(lambda: disturb(rename), write)
    check(one)
    assert {d.uri for d in one.documents.all(OWNER)} >= {f"{k}.md" for k in range(3)}
    lacking = one.models.lacking(MODEL, [d.id for d in one.documents.all(OWNER)])
    assert lacking == set(), "no vector went with another document"


def test_put_against_a_switch_of_the_model(processes: tuple[Backend, Backend]) -> None:
    one, other = processes
    put(one, *(sample(f"{n}.md", f"Lantern {n}.") for n in range(6)))
    refused: list[str] = []

    def write() -> None:
        for n in range(20):
            try:
                put(one, sample(f"new{n}.md", f"New {n}."))
            except ModelChanged:
                refused.append(f"new{n}.md")
                return

    def switch() -> None:
        other.models.begin(OTHER.fingerprint, {})
        while True:
            embed_beside(other, OTHER)
            try:
                with other.writer.writing():
                    other.models.switch(OTHER.fingerprint)
            except NotEmbedded:  # another document came meanwhile
                continue
            return

    together(write, switch)
    assert one.models.manifest().model == OTHER.fingerprint
    check(one)
    assert one.upkeep.health()["vectors"] == one.upkeep.health()["chunks"]
    one.models.begin(MODEL, {})
    embed_beside(one, TOY)
    with one.writer.writing():
        one.models.switch(MODEL)
    one.models.drop_others()
    check(other)


def test_a_search_beside_writers_is_always_whole(processes: tuple[Backend, Backend]) -> None:
    one, other = processes
    put(one, sample("a.md", "The lantern is 0."))

    def write() -> None:
        for n in range(1, 3 * ROUNDS):
            put(one, sample("a.md", f"The lantern is {n}."))

    seen: list[int] = []

    def search() -> None:
        while not seen or seen[-1] < 3 * ROUNDS - 1:
            other.signals.refresh()
            [document] = other.documents.all(OWNER)
            seen.append(document.interpretation - 1)

    together(write, search)
    assert seen == sorted(seen)


# --- leases ---------------------------------------------------------------------------------------


def test_a_lease_is_taken_over_when_its_holder_is_silent(place: DatabaseAddress) -> None:
    engine, other = (open_database(parse(place)) for _ in range(2))
    dead = RowLeases(engine, 60, life=0.3)
    heir = RowLeases(other, 60, life=0.3)
    dead.close()  # no heartbeat any more
    with dead.hold("job", "working"):
        told: list[str] = []
        with heir.hold("job", "working", waiting=told.append):
            assert told == ["Another process is working; waiting for it to finish."]
            assert heir.is_held("job")
            third = RowLeases(engine, 0, life=0.3).hold("job", "working")
            with pytest.raises(LibraryBusy), third:
                pass
    assert not heir.is_held("job")
    heir.close()
    engine.dispose()
    other.dispose()


def test_a_heartbeat_keeps_a_lease(place: DatabaseAddress) -> None:
    engine = open_database(parse(place))
    alive = RowLeases(engine, 60, life=1.2)
    with alive.hold("job", "working"):
        with pytest.raises(LibraryBusy), RowLeases(engine, 2).hold("job", "working"):
            pass
        assert alive.is_held("job")
    alive.close()
    engine.dispose()


def test_leases_of_the_dead_do_not_pile_up(place: DatabaseAddress) -> None:
    """Each run of a worker has a name of its own, which nobody takes over."""
    engine = open_database(parse(place))
    leases = RowLeases(engine, 60)
    silent = RowLeases(engine, 60, life=-3601.0)  # its row has expired an hour ago
    with silent.hold(f"{ATTENDING}dead", "taking jobs"):
        assert leases.count_held(ATTENDING) == 0
        assert rows(engine) == 1
        with leases.hold("job", "working"):
            assert rows(engine) == 2
        assert rows(engine) == 0
    for each in (silent, leases):
        each.close()
    engine.dispose()


def rows(engine: Engine) -> int:
    with engine.connect() as connection:
        return int(connection.scalar(text("SELECT count(*) FROM leases")) or 0)


def test_the_tasks_of_a_dead_worker_come_back_and_are_ended_once(
    processes: tuple[Backend, Backend], place: DatabaseAddress
) -> None:
    """One that only stalled meets that another has them, and puts nothing a second time."""
    one, other = processes
    engine = open_database(parse(place))
    stalled = RowLeases(engine, 60, life=0.2)
    stalled.close()
    offered = [Offered(f"{n}.md", f"{n}.md", 1) for n in range(2)]
    with stalled.hold(worker_lease("slow"), "working"):
        job = one.queue.create("add", "add 2", {}, Priority.BULK, offered)
        mine = one.queue.claim("slow", 10)
        assert len(mine) == 2
        until_free(other, "slow")
        other.queue.recover()
        with other.leases.hold(worker_lease("quick"), "working"):
            theirs = other.queue.claim("quick", 10) + other.queue.claim("quick", 10)
            assert {task.id for task in theirs} == {task.id for task in mine}

            def ended(task: int, worker: str) -> Processed:
                end = TaskEnd(task, TaskState.DONE, "added", worker=worker)
                text = sample(f"{task}.md", f"By {worker}.", reader="text 1")
                return replace(text, task=end)

            with pytest.raises(JobInterrupted):
                one.writer.put([ended(task.id, "slow") for task in mine], MODEL)
            one.queue.end([TaskEnd(task.id, TaskState.FAILED, worker="slow") for task in mine])
            assert one.documents.all(OWNER) == []
            other.writer.put([ended(task.id, "quick") for task in theirs], MODEL)
    kept = one.jobs.get(job)
    assert kept is not None
    assert (kept.state, kept.ended, kept.failed) == ("done", 2, 0)
    assert {d.interpretation for d in one.documents.all(OWNER)} == {1}
    engine.dispose()


def until_free(backend: Backend, worker: str) -> None:
    with backend.leases.hold(worker_lease(worker), "looking"):
        pass


def test_many_workers_get_tasks_of_their_own(processes: tuple[Backend, Backend]) -> None:
    one, other = processes
    count = 60
    offered = [Offered(f"{n}.md", f"{n}.md", 1) for n in range(count)]
    job = one.queue.create("add", "add many", {}, Priority.BULK, offered)
    done: Counter[int] = Counter()

    def work(backend: Backend, name: str) -> None:
        with backend.leases.hold(worker_lease(name), "working"):
            while tasks := backend.queue.claim(name, 5):
                done.update(task.id for task in tasks)
                backend.queue.recover()
                backend.queue.end(
                    [TaskEnd(t.id, TaskState.DONE, "added", worker=name) for t in tasks]
                )

    together(*(lambda b=b, n=n: work(b, f"w{n}") for n, b in enumerate((one, other) * 2)))
    assert len(done) == count
    assert {*done.values()} == {1}
    kept = one.jobs.get(job)
    assert kept is not None
    assert (kept.state, kept.ended) == ("done", count)


def test_a_job_goes_on_after_the_database_went_away_in_the_middle(tmp_path: Path) -> None:
    """Each document becomes active exactly once, whoever goes on with the job."""
    for n in range(4):
        (tmp_path / f"{n}.txt").write_text(f"Lantern number {n}.")
    with postgres.library() as address:
        with opened(address) as library:
            job = library.jobs.enqueue(FolderSource([tmp_path]), Labels()).id
            with (
                sabotage(parse(address).schema, "postings", KILL),
                pytest.raises(DatabaseAway),
            ):
                library.jobs.work(job)
            assert library.documents.all() == []
        with opened(address) as library:
            library.jobs.work(job)
            assert library.jobs.get(job).state is JobState.DONE
            assert library.jobs.fates(job) == {"added": 4}
            assert [d.interpretation for d in library.documents.all()] == [1] * 4
            assert [finding for finding in library.upkeep.examine() if not finding.ok] == []


def opened(address: DatabaseAddress) -> Library:
    return Library(open_postgres(parse(address)), TOY, Settings())
