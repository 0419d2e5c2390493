"""Jobs as a caller of the library sees them: followed, cancelled, resumed, preferred."""

import os
import re
import subprocess
import sys
import threading
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
from filelock import FileLock
from numpy.typing import NDArray

from trivium.config import Settings
from trivium.core.errors import JobNotFound
from trivium.core.types import Labels
from trivium.core.work import JobState, Priority, TaskState, worker_lease
from trivium.ingest import embedding, tasks
from trivium.ingest.outcomes import Fate, Outcome
from trivium.library import Library
from trivium.models.catalogue import pace_beside_others
from trivium.ports import SourceItem
from trivium.sources.folder import FolderSource
from trivium.store.embedded.backend import open_embedded
from trivium.testing.samples import TOY, ToyEmbedder, sample

PATIENCE = 240.0  # seconds: for a machine that is busy with other things


@pytest.fixture
def one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """A batch is one document."""
    monkeypatch.setattr(embedding, "BATCH_DOCUMENTS", 1)


def write(folder: Path, *names: str) -> Path:
    folder.mkdir(exist_ok=True)
    for name in names:
        (folder / f"{name}.txt").write_text(f"A note about {name}.")
    return folder


def enqueue(library: Library, folder: Path, priority: Priority | None = None) -> int:
    return library.jobs.enqueue(FolderSource([folder]), Labels(), priority=priority).id


class Texts:
    """What only this process can offer."""

    def __init__(self, *texts: str) -> None:
        self.texts = texts

    def items(self) -> Iterator[SourceItem]:
        for text in self.texts:
            yield SourceItem(f"text:{text}", text, sample("", text).extraction)


def test_how_long_the_queue_is(library: Library, files: Path) -> None:
    job = enqueue(library, write(files, "amber", "basalt", "coral"))
    library.backend.queue.claim("one", 1)
    state = library.jobs.queue_state()
    assert state.tasks == {"waiting": 2, "working": 1, "done": 0, "failed": 0}
    assert (state.documents_left, state.workers) == (3, 0), "this one holds no lease"
    library.jobs.work(job)
    assert not any(library.jobs.queue_state().tasks.values())


def test_jobs_of_one_run_are_told_of_their_own_near_copies(library: Library, files: Path) -> None:
    words = [f"word{n}" for n in range(300)]
    texts = {"old": words, "draft": [*words[:299], "last"], "other": words[::-1]}
    jobs = {}
    for name, text in texts.items():
        (files / f"{name}.txt").write_text(" ".join(text))
        jobs[name] = library.jobs.enqueue(FolderSource([files / f"{name}.txt"]), Labels()).id
    assert library.jobs.work_next()
    told = {name: library.jobs.get(job).notes for name, job in jobs.items()}
    near = ("1 document is nearly the same as others (#1 and #2).",)
    assert told == {"old": near, "draft": near, "other": ()}


def test_before_a_long_job_the_pace_of_the_model_is_said(library: Library, files: Path) -> None:
    write(files, "amber")
    job = library.jobs.get(enqueue(library, files))
    assert library.jobs.notice(job.tasks) == ""
    told = library.jobs.notice(job.tasks, least=1)
    assert re.match(r"Embedding takes most of the time: about [\d.,]+ passages a second", told)


def test_the_pace_of_other_models_follows_from_the_measured_one() -> None:
    made = "-c96f8b89efa4-v1-512"
    small = pace_beside_others(f"all-MiniLM-L6-v2{made}", 16.0, 2)
    assert "about 16 passages a second on 2 processors" in small
    assert (
        "leaf-ir 16, bge-small 10, multilingual-e5-small 10. No model by name is smaller" in small
    )
    large = pace_beside_others(f"bge-small{made}", 10.0, 1)
    assert "on one processor" in large
    assert "all-MiniLM-L6-v2 16" in large
    assert "smaller" not in large


def test_a_job_and_its_documents(library: Library, files: Path) -> None:
    write(files, "amber", "birch")
    (files / "empty.txt").write_text(" ")
    report = library.add(files)
    assert report.job is not None
    job = library.jobs.get(report.job.id)
    assert (job.kind, job.state, job.tasks, job.ended, job.failed) == (
        "add", JobState.FAILED, 3, 3, 1,
    )  # fmt: skip
    assert str(files) in job.what
    assert library.jobs.fates(job.id) == {"added": 2, "failed": 1}
    amber, birch, empty = library.jobs.tasks(job.id)
    assert (amber.state, amber.fate, amber.attempts) == (TaskState.DONE, "added", 1)
    assert {"extract", "chunk", "embed"} <= set(amber.seconds)
    assert {amber.document, birch.document} == {d.id for d in library.documents.all()}
    assert (empty.state, empty.step, empty.code) == (TaskState.FAILED, "extract", "file.empty")
    assert "empty.txt is empty" in empty.message
    assert library.jobs.tasks(job.id, states=(TaskState.FAILED,)) == [empty]
    with pytest.raises(JobNotFound):
        library.jobs.get(99)


def test_unchanged_documents_are_counted_and_not_listed(library: Library, files: Path) -> None:
    write(files, "amber", "birch")
    library.add(files)
    report = library.add(files)
    assert report.count(Fate.UNCHANGED) == 2
    assert report.job is not None
    assert library.jobs.fates(report.job.id) == {"unchanged": 2}
    assert library.jobs.tasks(report.job.id) == []


def test_what_waits_is_worked_off_by_another_process(tmp_path: Path, files: Path) -> None:
    write(files, "amber", "birch")
    settings = Settings(chunk_size=60)
    with Library(open_embedded(tmp_path / "l"), TOY, settings) as library:
        labels = Labels("game", "lore", "dm-only", {"tag": ("a", "b")})
        job = library.jobs.enqueue(FolderSource([files]), labels).id
    with Library(open_embedded(tmp_path / "l"), TOY, Settings()) as library:
        assert library.jobs.work().count(Fate.ADDED) == 2
        assert library.jobs.get(job).state is JobState.DONE
        document = library.documents.all()[0]
        assert (document.collection, document.category, document.audience) == (
            "game", "lore", "dm-only",
        )  # fmt: skip
        assert document.metadata["tag"] == ("a", "b")
        assert "60" in document.fingerprint, "cut as the one who asked wanted it"


@pytest.mark.usefixtures("one_by_one")
def test_a_person_goes_before_a_bulk_import(
    library: Library, files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tasks, "MOST_DOCUMENTS", 4)  # under way when the person comes
    monkeypatch.setattr(tasks, "OFTEN", 0.0)
    write(files, *(f"bulk{n:02}" for n in range(40)))
    bulk = enqueue(library, files, Priority.BULK)
    done: list[tuple[int, str]] = []

    def on_outcome(outcome: Outcome) -> None:
        done.append((outcome.job, outcome.uri))
        if len(done) == 1:
            enqueue(library, write(tmp_path / "mine", "urgent"), Priority.INTERACTIVE)

    report = library.jobs.work(on_outcome=on_outcome)
    assert report.count(Fate.ADDED) == 41
    order = [job for job, _ in done]
    assert next(n for n, job in enumerate(order) if job != bulk) <= 8
    assert order.count(bulk) == 40


def test_cancelling_stops_at_the_next_document(
    library: Library, files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedding, "BATCH_DOCUMENTS", 1)
    monkeypatch.setattr(tasks, "OFTEN", 0.0)  # seconds: a quick machine adds all within one
    write(files, *(f"n{n:03}" for n in range(80)))
    job = enqueue(library, files)

    def on_outcome(outcome: Outcome) -> None:
        if outcome.fate is Fate.ADDED:
            library.jobs.cancel(job)

    report = library.jobs.work(job, on_outcome=on_outcome)
    kept = len(library.documents.all())
    assert 1 <= kept < 80
    assert report.count(Fate.ADDED) == kept
    ended = library.jobs.get(job)
    assert (ended.state, ended.ended) == (JobState.CANCELLED, 80)
    monkeypatch.undo()
    assert library.jobs.retry(job) == 80 - kept
    assert library.jobs.work().count(Fate.ADDED) == 80 - kept
    assert library.jobs.get(job).state is JobState.DONE


def test_texts_of_a_process_that_died_have_to_be_offered_again(tmp_path: Path) -> None:
    # A process of its own, not a fork: this one has threads, whose locks a fork may hold for ever.
    died = subprocess.run(
        [sys.executable, "-c", DYING, str(tmp_path / "l")],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        check=False,
    )
    assert died.returncode == 9
    with Library(open_embedded(tmp_path / "l"), TOY, Settings()) as library:
        (before,) = library.jobs.all()
        assert (before.state, before.seconds_left) == (JobState.QUEUED, None), "nobody is at it"
        with library.backend.leases.hold(worker_lease(before.worker), "working"):
            assert library.jobs.get(before.id).state is JobState.RUNNING, "someone is, again"
        library.jobs.work()
        (job,) = library.jobs.all()
        assert (job.state, job.lasting) == (JobState.FAILED, False)
        assert "Add it again." in job.notes[0]
        assert library.jobs.retry(job.id) == 0, "nobody has them any more"
        again = library.add_from(Texts("amber", "birch"), Labels())
        assert again.count(Fate.ADDED) + again.count(Fate.UNCHANGED) == 2


DYING = """
import os, sys
from pathlib import Path
from tests.library.test_jobs import Labels, Library, Settings, Texts, TOY, open_embedded
class Deadly(Texts):
    def items(self):
        yield from super().items()
        os._exit(9)
library = Library(open_embedded(Path(sys.argv[1])), TOY, Settings())
library.add_from(Deadly("amber", "birch"), Labels())
"""


def test_a_second_process_follows_and_takes_over(tmp_path: Path, files: Path) -> None:
    """While another one writes, a job is followed; when that one is gone, it is worked on here."""
    write(files, "amber")
    said: list[str] = []
    with Library(open_embedded(tmp_path / "l"), TOY, Settings()) as library:
        other = FileLock(tmp_path / "l" / "writer.lock", thread_local=False)
        other.acquire()

        def on_wait(text: str) -> None:
            said.append(text)
            threading.Timer(0.3, other.release).start()

        assert library.add(files, on_wait=on_wait).count(Fate.ADDED) == 1
    assert len(said) == 1
    assert "waiting" in said[0]


def test_a_job_that_another_process_worked_off_is_reported(tmp_path: Path, files: Path) -> None:
    write(files, "amber", "birch")
    (files / "empty.txt").write_text(" ")
    with Library(open_embedded(tmp_path / "l"), TOY, Settings()) as library:
        done = threading.Event()
        entered = threading.Event()
        threading.Thread(target=_hold_and_work, args=(tmp_path / "l", entered, done)).start()
        assert entered.wait(PATIENCE)
        report = library.add(files, on_wait=lambda text: done.set())
    assert report.count(Fate.ADDED) == 2
    assert [o.error.code for o in report.failed if o.error] == ["file.empty"]
    assert report.chunks == 2


def _hold_and_work(place: Path, entered: threading.Event, go: threading.Event) -> None:
    with (
        Library(open_embedded(place), TOY, Settings()) as library,
        library.backend.writer.writing(),
    ):
        entered.set()
        go.wait(PATIENCE)
        library.jobs.work()


def test_following_ends_with_the_job(library: Library, files: Path) -> None:
    write(files, "amber", "birch")
    job = enqueue(library, files)
    states = []
    worker = threading.Thread(target=library.jobs.work, args=(job,))
    for seen in library.jobs.follow(job, 0.01):
        states.append((seen.state, seen.ended))
        if len(states) == 1:
            worker.start()
    worker.join()
    assert states[0] == (JobState.QUEUED, 0)
    assert states[-1] == (JobState.DONE, 2)


class Gated(ToyEmbedder):
    """Embeds one part, then waits."""

    def __init__(self) -> None:
        self.begun, self.go = threading.Event(), threading.Event()

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        if self.begun.is_set():
            assert self.go.wait(PATIENCE)
        self.begun.set()
        return super().embed_documents(texts)


def test_a_long_document_says_how_far_it_is(
    tmp_path: Path, files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedding, "PART", 400)  # characters
    monkeypatch.setattr(tasks, "OFTEN", 0.0)
    pages = [f"# Bell {n}\n\nThe bell of tower {n} rang at dawn." for n in range(60)]
    (files / "bells.md").write_text("\n\n".join(pages))
    gated = Gated()
    with Library(open_embedded(tmp_path / "l"), gated, Settings(chunk_size=60)) as library:
        job = enqueue(library, files)
        worker = threading.Thread(target=library.jobs.work, args=(job,))
        for seen in library.jobs.follow(job, 0.01):
            if seen.state is JobState.QUEUED:
                worker.start()
            if seen.tokens_done and not gated.go.is_set():
                (task,) = library.jobs.tasks(job)
                assert task.passages is not None
                assert 0 < task.embedded < task.passages
                assert 0 < seen.tokens_done < seen.tokens == task.tokens
                assert "passages" in task.passages_done
                assert seen.ended == 0
                gated.go.set()
        worker.join()
        (task,), (document,) = library.jobs.tasks(job), library.documents.all()
        assert (task.passages, task.embedded) == (document.chunks, document.chunks)
        assert (seen.state, seen.tokens_done) == (JobState.DONE, task.tokens)


def test_jobs_are_forgotten_with_their_documents(library: Library, files: Path) -> None:
    write(files, "amber", "birch")
    one = library.add(files / "amber.txt").job
    both = library.add(files).job
    assert one is not None
    assert both is not None
    (amber,) = [d for d in library.documents.all() if "amber" in d.uri]
    library.remove([amber.id])
    assert [job.id for job in library.jobs.all()] == [both.id]
    assert not [
        t for job in library.jobs.all() for t in library.jobs.tasks(job.id) if "amber" in t.uri
    ]
    assert library.jobs.clear() == 1
    assert library.jobs.all() == []


@pytest.mark.usefixtures("one_by_one")
def test_members_of_an_archive_survive_an_interruption(library: Library, files: Path) -> None:
    """It is put after them: whoever finds it there need not look into it again."""
    with zipfile.ZipFile(files / "box.zip", "w") as box:
        for name in ("amber", "birch", "cedar"):
            box.writestr(f"{name}.txt", f"A note about {name}.")

    def stop(outcome: Outcome) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        library.add(files, on_outcome=stop)
    assert len(library.documents.all()) == 1
    (job,) = library.jobs.all()
    assert (job.state, job.ended, job.tasks) == (JobState.QUEUED, 1, 2)
    report = library.jobs.work()
    assert [Path(o.uri).name for o in report.outcomes][-1] == "box.zip"
    assert len(library.documents.all()) == 4
    assert library.jobs.get(job.id).state is JobState.DONE


def test_a_member_that_failed_is_tried_again(library: Library, files: Path) -> None:
    with zipfile.ZipFile(files / "box.zip", "w") as box:
        box.writestr("amber.txt", "A note about amber.")
        box.writestr("empty.txt", " ")
    job = library.add(files).job
    assert job is not None
    assert (job.tasks, job.failed) == (3, 1)
    assert library.jobs.retry(job.id) == 1
    again = library.jobs.work()
    fates = {Path(o.uri).name: o.fate for o in again.outcomes}
    assert fates == {
        "box.zip": Fate.UNCHANGED,
        "amber.txt": Fate.UNCHANGED,
        "empty.txt": Fate.FAILED,
    }
    ended = library.jobs.get(job.id)
    assert (ended.state, ended.tasks, ended.ended, ended.failed) == (JobState.FAILED, 3, 3, 1)
    assert [d.interpretation for d in library.documents.all()] == [1, 1]
