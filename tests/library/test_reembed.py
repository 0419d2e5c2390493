"""A library comes to another embedding model while it is searched and filled."""

import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.endpoint import Reply, ScriptedEndpoint, Seen
from tests.models import answer, embedded, settings

from trivium.config import Settings
from trivium.core.errors import BadSetting, ModelChanged, ModelUnavailable, ReembedStopped
from trivium.core.types import Labels, Signal
from trivium.core.work import JobState, worker_lease
from trivium.ingest.reembed import ReembedProgress
from trivium.library import Library
from trivium.operations.searching import SearchOptions
from trivium.ports import SourceItem
from trivium.testing.samples import OTHER, sample

MANY = 150  # more than one batch


class Texts:
    def __init__(self, *texts: str) -> None:
        self._texts = texts

    def items(self) -> Iterator[SourceItem]:
        for text in self._texts:
            yield SourceItem(f"text:{text}", text, sample("", text).extraction)


def add(library: Library, *texts: str) -> None:
    assert library.add_from(Texts(*texts), Labels()).notes == ()


@pytest.fixture
def endpoint() -> Iterator[ScriptedEndpoint]:
    with ScriptedEndpoint(answer) as server:
        yield server


@pytest.fixture
def filled(endpoint: ScriptedEndpoint, tmp_path: Path) -> Iterator[Library]:
    with Library.open(tmp_path / "l", settings=settings(endpoint.url, "toy")) as library:
        add(library, *(f"Lantern number {n} burns." for n in range(MANY)))
        yield library


def nearest(library: Library, text: str) -> str:
    found = library.search(text, options=SearchOptions(mode="semantic"))
    assert found.notes == ()
    assert found[0].signals[Signal.VECTOR].score == pytest.approx(1, abs=1e-3)
    return found[0].found.chunk.text


def models_in(place: Path) -> set[str]:
    connection = sqlite3.connect(place / "library.db")
    found = {row[0] for row in connection.execute("SELECT model FROM embeddings")}
    connection.close()
    return found


def test_from_one_model_to_another(
    filled: Library, endpoint: ScriptedEndpoint, tmp_path: Path
) -> None:
    told: list[ReembedProgress] = []
    report = filled.models.reembed(settings(endpoint.url, "other"), on_progress=told.append)
    assert (report.before, report.model, report.passages) == ("toy", "other", MANY)
    assert [p.done for p in told] == sorted(p.done for p in told)
    assert told[-1].switched
    assert {p.total for p in told[1:]} == {MANY}
    manifest = filled.models.manifest()
    assert (manifest.model, manifest.dimensions) == ("other", OTHER.dimensions)
    assert nearest(filled, "Lantern number 7 burns.") == "Lantern number 7 burns."
    assert filled.similar(1, by="passage")
    assert models_in(tmp_path / "l") == {"other"}
    assert len(list((tmp_path / "l" / "vectors").iterdir())) == 1
    assert filled.upkeep.health()["vectors"] == MANY
    add(filled, "A new one.")
    assert embedded(endpoint.requests, "toy").count("A new one.") == 0
    assert nearest(filled, "A new one.") == "A new one."


def test_every_later_opening_uses_it_without_settings(
    filled: Library, endpoint: ScriptedEndpoint, tmp_path: Path
) -> None:
    with Library.open(tmp_path / "l", settings=Settings()) as plain:  # of the first model too
        assert nearest(plain, "Lantern number 7 burns.") == "Lantern number 7 burns."
    filled.models.reembed(settings(endpoint.url, "other"))
    with Library.open(tmp_path / "l", settings=Settings()) as plain:
        assert nearest(plain, "Lantern number 7 burns.") == "Lantern number 7 burns."
        add(plain, "A new one.")
        assert plain.models.manifest().model == "other"
    with pytest.raises(ModelChanged, match="trivium reembed"):
        Library.open(tmp_path / "l", settings=settings(endpoint.url, "toy"))
    with Library.open(
        tmp_path / "l", settings=settings(endpoint.url, "toy"), as_made=True
    ) as anyway:
        assert nearest(anyway, "Lantern number 7 burns.") == "Lantern number 7 burns."


def test_who_has_it_open_follows(
    filled: Library, endpoint: ScriptedEndpoint, tmp_path: Path
) -> None:
    with Library.open(tmp_path / "l", settings=settings(endpoint.url, "toy")) as beside:
        during: list[str] = []

        def search(progress: ReembedProgress) -> None:
            if not progress.switched:
                during.append(nearest(beside, "Lantern number 7 burns."))

        filled.models.reembed(settings(endpoint.url, "other"), on_progress=search)
        assert set(during) == {"Lantern number 7 burns."}
        assert set(embedded(endpoint.requests, "other")[MANY:]) == set()  # no query, until now
        assert nearest(beside, "Lantern number 7 burns.") == "Lantern number 7 burns."
        assert embedded(endpoint.requests, "other")[MANY:] == ["Lantern number 7 burns."]
        add(beside, "A new one.")
        assert beside.models.manifest().model == "other"
        assert beside.similar(1, by="passage")[0].found.chunk.text.startswith("Lantern")


def test_a_search_in_the_middle_of_the_switch_is_of_one_model(
    endpoint: ScriptedEndpoint, filled: Library, tmp_path: Path
) -> None:
    with Library.open(tmp_path / "l", settings=settings(endpoint.url, "toy")) as beside:

        def switching(seen: Seen) -> Reply:
            if seen.body["input"] == ["Lantern number 7 burns."]:
                endpoint.answer = answer
                filled.models.reembed(settings(endpoint.url, "other"))
            return answer(seen)

        endpoint.answer = switching
        assert nearest(beside, "Lantern number 7 burns.") == "Lantern number 7 burns."
        assert endpoint.requests[-1].body["model"] == "other"


def test_what_comes_and_goes_meanwhile(
    filled: Library, endpoint: ScriptedEndpoint, tmp_path: Path
) -> None:
    with Library.open(tmp_path / "l", settings=Settings()) as beside:
        add(beside, "Gone soon.")

        def change(progress: ReembedProgress) -> None:
            if progress.done == 128:
                add(beside, "A new one.")
                beside.remove(["text:Gone soon."])

        filled.models.reembed(settings(endpoint.url, "other"), on_progress=change)
        assert nearest(beside, "A new one.") == "A new one."
        assert filled.upkeep.health()["vectors"] == filled.upkeep.health()["chunks"] == MANY + 1
        assert "Gone soon." not in {r.found.chunk.text for r in beside.search("gone soon")}


def fail_at(number: int) -> Callable[[Seen], Reply]:
    """An endpoint whose other model refuses from its n-th call on."""
    calls = Counter[str]()

    def scripted(seen: Seen) -> Reply:
        calls[seen.body["model"]] += 1
        bad = seen.body["model"] == "other" and calls["other"] >= number
        return Reply({}, 401) if bad else answer(seen)

    return scripted


def test_interrupted_it_goes_on_where_it_was(
    filled: Library, endpoint: ScriptedEndpoint, tmp_path: Path
) -> None:
    endpoint.answer = fail_at(28)
    with pytest.raises(ModelUnavailable):
        filled.models.reembed(settings(endpoint.url, "other"))
    assert filled.models.manifest().model == "toy"
    assert filled.models.manifest().next_model == "other"
    assert nearest(filled, "Lantern number 7 burns.") == "Lantern number 7 burns."
    kept = 128  # one batch
    refused = len(embedded(endpoint.requests, "other")) - kept
    endpoint.answer = answer
    with Library.open(tmp_path / "l", settings=Settings()) as again:
        report = again.models.reembed()
    assert report.passages == MANY - kept
    assert len(embedded(endpoint.requests, "other")) == MANY + refused
    assert nearest(filled, "Lantern number 7 burns.") == "Lantern number 7 burns."
    with pytest.raises(BadSetting, match="to resume"):
        filled.models.reembed()


def test_given_up_nothing_is_left_of_it(
    filled: Library, endpoint: ScriptedEndpoint, tmp_path: Path
) -> None:
    with Library.open(tmp_path / "l", settings=Settings()) as beside:

        def stop(progress: ReembedProgress) -> None:
            if progress.done == 128:
                assert beside.models.stop() == "other"

        with pytest.raises(ReembedStopped):
            filled.models.reembed(settings(endpoint.url, "other"), on_progress=stop)
        assert beside.models.stop() == ""
    assert models_in(tmp_path / "l") == {"toy"}
    assert nearest(filled, "Lantern number 7 burns.") == "Lantern number 7 burns."


def job_of(library: Library) -> tuple[JobState, int, int]:
    (job,) = [job for job in library.jobs.all() if job.kind == "reembed"]
    return job.state, job.ended, job.tasks


def test_it_is_a_job_that_people_see_cancel_and_take_up_again(
    filled: Library, endpoint: ScriptedEndpoint, tmp_path: Path
) -> None:
    seen: list[tuple[JobState, int, int]] = []
    endpoint.answer = fail_at(28)
    with Library.open(tmp_path / "l", settings=Settings()) as beside:
        with pytest.raises(ModelUnavailable):
            filled.models.reembed(
                settings(endpoint.url, "other"), on_progress=lambda _: seen.append(job_of(beside))
            )
        assert seen[0] == (JobState.RUNNING, 0, MANY)
        assert job_of(beside) == (JobState.FAILED, 128, MANY)
        (job,) = [job for job in beside.jobs.all() if job.kind == "reembed"]
        assert "TRIVIUM_EMBED_KEY" in job.notes[0]
        assert beside.jobs.retry(job.id) == 1
        assert job_of(beside)[0] is JobState.QUEUED
        add(beside, "Adding leaves it alone.")
        assert job_of(beside)[0] is JobState.QUEUED
        endpoint.answer = answer

        def cancel(progress: ReembedProgress) -> None:
            if not progress.switched:
                beside.jobs.cancel(job.id)

        with pytest.raises(ReembedStopped):
            filled.models.reembed(on_progress=cancel)
        assert job_of(beside)[0] is JobState.CANCELLED
        assert models_in(tmp_path / "l") == {"toy"}
        assert beside.jobs.retry(job.id) == 1
        assert filled.models.reembed().passages == MANY + 1
        assert job_of(beside)[0] is JobState.DONE
        assert beside.jobs.retry(job.id) == 0


def test_a_change_whose_process_was_killed_waits(filled: Library) -> None:
    queue = filled.backend.queue
    queue.take_up("one", queue.begin_reembed("other", {}).id)
    assert job_of(filled)[0] is JobState.QUEUED
    with filled.backend.leases.hold(worker_lease("one"), "working"):
        assert job_of(filled)[0] is JobState.RUNNING


def test_another_choice_drops_the_first(
    filled: Library, endpoint: ScriptedEndpoint, tmp_path: Path
) -> None:
    endpoint.answer = fail_at(28)
    with pytest.raises(ModelUnavailable):
        filled.models.reembed(settings(endpoint.url, "other"))
    assert models_in(tmp_path / "l") == {"toy", "other"}
    endpoint.answer = answer
    assert filled.models.reembed(settings(endpoint.url, "toy")).passages == 0  # it serves already
    assert models_in(tmp_path / "l") == {"toy"}
    assert filled.models.manifest().next_model == ""
    assert nearest(filled, "Lantern number 7 burns.") == "Lantern number 7 burns."
