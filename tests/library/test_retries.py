"""An embedding model that fails: finished work is kept, the job says why, `retry` completes it."""

from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.endpoint import HANG, Reply, ScriptedEndpoint, Seen, every_third_fails

from trivium.config import Settings
from trivium.core.types import Labels
from trivium.core.work import JobState, TaskState
from trivium.ingest.outcomes import Fate
from trivium.library import Library
from trivium.models.endpoint import Endpoint
from trivium.models.http import Client
from trivium.models.remote import RemoteEmbedder
from trivium.models.retrying import Clock
from trivium.operations.searching import SearchOptions
from trivium.ports import SourceItem
from trivium.store.embedded.backend import open_embedded
from trivium.testing.samples import TOY, sample

TEXTS = tuple(f"Lantern number {number}." for number in range(12))


class Texts:
    def items(self) -> Iterator[SourceItem]:
        for text in TEXTS:
            yield SourceItem(f"text:{text}", text, sample("", text).extraction)


class Server:
    """A scripted endpoint that remembers how often it embedded each text."""

    def __init__(self, bad: Callable[[Seen], Reply | None]) -> None:
        self.bad = bad
        self.given: Counter[str] = Counter()

    def __call__(self, seen: Seen) -> Reply:
        reply = self.bad(seen)
        if reply is not None:
            return reply
        texts = seen.body["input"]
        self.given.update(texts)
        rows = [TOY.embed_query(text).tolist() for text in texts]
        return Reply({"data": [{"index": n, "embedding": row} for n, row in enumerate(rows)]})


def opened(place: Path, url: str, seconds: float = 20.0) -> Library:
    endpoint = Endpoint("embed", url, "toy", "", seconds=seconds, patience=seconds)
    client = Client(endpoint, clock=Clock(lambda seconds: None))
    embedder = RemoteEmbedder(client, batch=2, parallel=2)
    return Library(open_embedded(place), embedder, Settings())


def check_completed(library: Library, job: int) -> None:
    """After a retry with a sound endpoint."""
    assert library.jobs.get(job).state is JobState.DONE
    assert library.jobs.get(job).failed == 0
    health = library.upkeep.health()
    assert health["vectors"] == health["chunks"] == len(TEXTS)
    assert (
        library.search(TEXTS[3], options=SearchOptions(mode="semantic"))[0].found.chunk.text
        == TEXTS[3]
    )


def test_every_third_call_fails(tmp_path: Path) -> None:
    server = Server(lambda seen: None)
    with (
        ScriptedEndpoint(every_third_fails(server)) as endpoint,
        opened(tmp_path / "l", endpoint.url) as library,
    ):
        report = library.add_from(Texts(), Labels())
        assert (report.failed, report.notes) == ((), ())
        assert report.job is not None
        assert set(server.given.values()) == {1}, "no chunk was embedded twice"
        check_completed(library, report.job.id)


BAD = {
    "model.timeout": HANG,
    "model.failing": Reply({}, 500),
    "model.dimensions": Reply({"data": [{"index": n, "embedding": [1.0, 2.0]} for n in range(2)]}),
    "model.nonsense": Reply(b"<html>"),
    "model.refused": Reply({}, 401),
}


@pytest.mark.parametrize("code", BAD)
def test_an_endpoint_turns_bad_and_sound_again(tmp_path: Path, code: str) -> None:
    """The first two calls are answered, the rest is not."""
    server = Server(lambda seen: BAD[code] if seen.number > 2 else None)
    with (
        ScriptedEndpoint(server) as endpoint,
        opened(tmp_path / "l", endpoint.url, 2.0 if BAD[code] == HANG else 20.0) as library,
    ):
        report = library.add_from(Texts(), Labels())
        assert report.count(Fate.ADDED) == len(TEXTS), "all are found by words and spelling"
        assert {o.error.code for o in report.failed if o.error} == {code}
        assert report.notes[0].startswith(
            "Added without vectors: you can search by words and spelling only. toy (`"
        )
        assert report.job is not None
        job = report.job.id
        assert report.job.state is JobState.FAILED
        failed = library.jobs.tasks(job, states=[TaskState.FAILED])
        assert {(t.step, t.fate, t.code) for t in failed} == {("embed", "added", code)}
        assert len(failed) == len(TEXTS) - server.given.total() == report.job.failed
        assert library.upkeep.health()["vectors"] == server.given.total()
        assert len(library.search("lantern number 11", options=SearchOptions(mode="keyword")))

        assert library.jobs.retry(job, failed[0].id) == 1
        library.jobs.work()
        assert library.jobs.get(job).failed == len(failed), "still bad: it says so again"
        server.bad = lambda seen: None
        assert library.jobs.retry(job) == len(failed)
        library.jobs.work()
        assert set(server.given.values()) == {1}, "no chunk was embedded twice"
        check_completed(library, job)


def test_one_text_that_is_refused_costs_itself_alone(tmp_path: Path) -> None:
    def bad(seen: Seen) -> Reply | None:
        return Reply({}, 400) if TEXTS[5] in seen.body["input"] else None

    server = Server(bad)
    with ScriptedEndpoint(server) as endpoint, opened(tmp_path / "l", endpoint.url) as library:
        report = library.add_from(Texts(), Labels())
        assert [o.uri for o in report.failed] == [f"text:{TEXTS[5]}"]
        assert library.upkeep.health()["vectors"] == len(TEXTS) - 1
    assert set(server.given.values()) == {1}


def test_the_next_add_completes_it_too(tmp_path: Path) -> None:
    server = Server(lambda seen: Reply({}, 500))
    with ScriptedEndpoint(server) as endpoint, opened(tmp_path / "l", endpoint.url) as library:
        job = library.add_from(Texts(), Labels()).job
        assert job is not None
        assert job.failed == len(TEXTS)
    server.bad = lambda seen: None
    with ScriptedEndpoint(server) as endpoint, opened(tmp_path / "l", endpoint.url) as library:
        report = library.add_from(Texts(), Labels())
        assert report.count(Fate.UNCHANGED) == len(TEXTS)
        assert f"Added {len(TEXTS)} missing vectors." in report.notes
        check_completed(library, job.id)
