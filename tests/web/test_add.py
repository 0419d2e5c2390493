"""Adding on a page without a script: forms, jobs, folders; and the stream that a script follows."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from time import monotonic, sleep

import pytest
from sqlalchemy import Engine, event
from starlette.testclient import TestClient
from tests.unit.extract.test_pdf_maker import PdfMaker, column

from trivium.core.access import LOCAL_OWNER
from trivium.core.advice import retold
from trivium.core.pace import time_left
from trivium.core.work import Offered, Priority, Task, TaskProgress, TaskState, worker_lease
from trivium.library import Library
from trivium.web.jobs import PanelWatch, _Watch, at_work, panel, view, views
from trivium.web.pages import fragment

PATIENCE = 240.0  # seconds: for a machine that is busy with other things


def until(page: TestClient, holds: Callable[[str], object]) -> str:
    """The page, once it is as it should be."""
    ends = monotonic() + PATIENCE
    while not holds(text := page.get("/add").text):
        assert monotonic() < ends, text
        sleep(0.02)
    return text


def test_files_of_a_form_become_jobs(owner: TestClient, library: Library) -> None:
    files = [
        ("file", ("lamp.md", b"# The lamp\n\nThe lamp burns whale oil.")),
        ("file", ("broken.pdf", b"%PDF-1.4 nothing")),
    ]
    answer = owner.post("/add", files=files, data={"collection": "light"}, follow_redirects=False)
    assert (answer.status_code, answer.headers["location"]) == (303, "/add#jobs")
    text = until(owner, lambda text: text.count('data-state="done"') == 1 and "/retry" in text)
    assert "broken.pdf</strong>" in text
    assert "read it: the file is damaged" in text
    (added,) = library.documents.all(where="collection:light")
    assert f'href="/documents/{added.id}"' in text
    failed = re.search(r"/add/jobs/(\d+)/retry", text)
    assert failed is not None
    owner.post(failed[0])
    until(owner, lambda text: "/retry" in text)
    owner.post("/add/jobs/clear")
    assert "data-state" not in owner.get("/add").text


def test_a_form_opens_a_locked_file_with_its_password(owner: TestClient, library: Library) -> None:
    locked = PdfMaker()
    locked.page().lines(72, 100, column("cormorants", 10, 60))
    file = {"file": ("locked.pdf", locked.build(password="heron-7"))}
    assert 'name="password"' in owner.get("/add").text
    owner.post("/add", files=file, data={"collection": "locked", "password": "heron-7"})
    text = until(owner, lambda text: 'data-state="done"' in text)
    (added,) = library.documents.all(where="collection:locked")
    assert f'href="/documents/{added.id}"' in text
    assert "heron-7" not in text
    owner.post("/add/jobs/clear")


def test_a_form_without_files_says_so(owner: TestClient) -> None:
    answer = owner.post("/add", files={"file": ("", b"")})
    assert answer.status_code == 422
    assert "You chose no file" in answer.text


def test_private_addresses_are_refused_on_a_page(owner: TestClient) -> None:
    answer = owner.post("/add/url", data={"url": "http://127.0.0.1/secret"})
    assert answer.status_code == 422
    assert answer.headers["content-type"].startswith("text/html")
    assert 'role="alert"' in answer.text


def test_a_folder_is_watched_and_let_go(
    owner: TestClient, library: Library, tmp_path: Path
) -> None:
    folder = tmp_path / "notes <1>"
    folder.mkdir()
    (folder / "lamp.md").write_text("# The lamp\n\nIt burns whale oil.")
    (folder / "draft.tmp").write_text("nothing")
    form = {"path": str(folder), "collection": "watched", "ignore": "*.tmp\n\n"}
    owner.post("/add/folders", data=form)
    text = until(owner, lambda text: ">watching</span>" in text)
    assert "notes &lt;1&gt;" in text
    assert [d.title for d in library.documents.all(where="collection:watched")] == ["The lamp"]
    (kept,) = library.folders.all()
    assert kept.ignore == ("*.tmp",)
    owner.post("/add/folders/forget", data={"folder": kept.id})
    assert "No watched folders." in owner.get("/add").text
    nowhere = owner.post("/add/folders", data={"path": str(tmp_path / "nowhere")})
    assert nowhere.status_code == 422
    assert "There is no folder" in nowhere.text


def test_news_is_told_once(owner: TestClient, library: Library) -> None:
    watch = _Watch(library, LOCAL_OWNER)
    assert watch.news() == []
    owner.post("/add", files={"file": ("lamp.md", b"# The lamp")})
    until(owner, lambda text: 'data-state="done"' in text)
    ((number, html),) = watch.news()
    assert html.strip().startswith(f'<li id="job-{number}"')
    assert watch.news() == []


def test_a_job_that_waits_can_be_cancelled(library: Library, tmp_path: Path) -> None:
    from tests.serving.shelf import client

    from trivium.web.site import furnish

    with client(library, furnish=furnish) as idle:  # nobody works the queue off
        idle.post("/add", files={"file": ("lamp.md", b"# The lamp")})
        (view,) = views(library, LOCAL_OWNER)
        assert view.running
        assert f"/add/jobs/{view.job.id}/cancel" in idle.get("/add").text
        idle.post(f"/add/jobs/{view.job.id}/cancel")
        (view,) = views(library, LOCAL_OWNER)
        assert view.job.state == "cancelled"
        assert "Cancelled: 0 of 1 files added" in idle.get("/add").text


def test_files_sent_together_are_one_panel(library: Library) -> None:
    from tests.serving.shelf import client

    from trivium.web.site import furnish

    with client(library, furnish=furnish) as idle:
        files = {"one.md": b"# One", "two.md": b"# Two", "three.pdf": b"%PDF-1.4 nothing"}
        for sent in files.items():
            idle.post("/add", files={"file": sent})
        assert (panel(library, LOCAL_OWNER).total, panel(library, LOCAL_OWNER).ended) == (3, 0)
        assert "Adding 0 of 3 files" in idle.get("/add").text
        library.jobs.work()
        now = panel(library, LOCAL_OWNER)
        assert (now.done, now.failed, [task.name for task in now.failures]) == (2, 1, ["three.pdf"])
        text = idle.get("/add").text
        assert "2 of 3 files added" in text
        assert text.index("three.pdf") < text.index("one.md"), "failures come first"
        idle.post("/add/jobs/retry")
        assert [job.state for job in panel(library, LOCAL_OWNER).running] == ["queued"]
        idle.post("/add/jobs/cancel")
        assert not panel(library, LOCAL_OWNER).running


def test_the_samples_are_added_for_a_first_search(owner: TestClient, library: Library) -> None:
    sent = owner.post("/add/samples", data={"q": "battleaxe"}, follow_redirects=False)
    assert (sent.status_code, sent.headers["location"]) == (303, "/?q=battleaxe")
    until(owner, lambda text: 'data-running="0"' in text)
    assert len(library.documents.all(where="collection:samples")) == 17
    assert "Try a search" in owner.get("/").text


def test_a_failure_does_not_repeat_the_name_above_it() -> None:
    told = {
        "a.xls has a password. Save a copy.": "It has a password. Save a copy.",
        "Couldn't read a.xls: the file is damaged.": "Couldn't read it: the file is damaged.",
        "Unknown format.": "Unknown format.",
    }
    assert {text: retold(text, "a.xls") for text in told} == told
    assert retold("a.xls is empty.") == "a.xls is empty."


def test_a_job_without_files_does_not_hide_what_was_added(library: Library, tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "one.md").write_text("# One\n\nA lamp burns.")
    library.add([tmp_path / "notes"])
    before = panel(library, LOCAL_OWNER)
    assert before.done == 1
    (tmp_path / "empty").mkdir()
    library.add([tmp_path / "empty"])
    assert [job.tasks for job in library.jobs.all()][:2] == [0, 1], "a job without files"
    assert panel(library, LOCAL_OWNER) == before


def test_a_long_run_says_how_fast_the_model_is(library: Library, tmp_path: Path) -> None:
    from tests.serving.shelf import client

    from trivium.core.types import Labels
    from trivium.web.site import furnish

    for number in range(500):
        (tmp_path / f"{number}.md").touch()
    library.jobs.enqueue(library.folders.source([tmp_path]), Labels())
    with client(library, furnish=furnish) as idle:
        assert "Adding 0 of 500 files" in (text := idle.get("/add").text)
        assert "Embedding takes most of the time: about" in text


def test_a_long_file_says_how_far_it_is(library: Library) -> None:
    queue = library.backend.queue
    number = queue.create("add", "add", {}, Priority.BULK, [Offered("/book.pdf", "book.pdf", 9)])
    (task,) = queue.claim("worker", 1)
    queue.note_progress({task.id: TaskProgress("embed", 1200, 300, 400_000)})
    now = panel(library, LOCAL_OWNER)
    html = fragment("panel.html", {"panel": now})
    assert "(300 of 1,200 passages)" in html
    assert now.share == pytest.approx(0.25, abs=0.01)
    shown = view(library, LOCAL_OWNER, library.jobs.get(number))
    assert 'value="0.250"' in fragment("job.html", {"view": shown})


def test_a_look_asks_only_about_files_that_changed(library: Library) -> None:
    """Dropped files are a job each: asking again for the document of each of 66, twice in a look,
    was a fifth of the processor time of adding them on the page."""
    statements: list[str] = []
    for name in "abc":
        library.backend.queue.create("add", "add", {}, Priority.BULK, [Offered(f"/{name}", name)])
    with library.backend.leases.hold(worker_lease("worker"), "adding"):
        (task, _) = library.backend.queue.claim("worker", 2)
        watch = PanelWatch(library, LOCAL_OWNER)
        event.listen(Engine, "after_cursor_execute", note := lambda *a: statements.append(a[2]))
        try:
            assert [one.name for one in watch.look().at_work] == []
            first = len([s for s in statements if "FROM tasks" in s])
            watch.look()
            assert len([s for s in statements if "FROM tasks" in s]) == first + 2, "none is begun"
            library.backend.queue.note_progress({task.id: TaskProgress("embed", 12, 3, 400)})
            assert [one.name for one in watch.look().at_work] == ["a"]
            before = len([s for s in statements if "FROM tasks" in s])
            assert [one.name for one in watch.look().at_work] == ["a"]
            assert len([s for s in statements if "FROM tasks" in s]) == before + 1
        finally:
            event.remove(Engine, "after_cursor_execute", note)


def test_what_waits_is_named_after_what_is_worked_on() -> None:
    def task(name: str, step: str) -> Task:
        return Task(1, 1, name, name, 1, TaskState.WORKING, step=step)

    held = [task("read.zip", "archive"), task("later.md", ""), task("big.html", "embed")]
    assert [one.name for one in at_work(held)] == ["big.html", "read.zip"]


def test_time_is_told_as_people_do() -> None:
    told = [time_left(seconds) for seconds in (None, 0.2, 59.4, 90, 7200)]
    assert told == [
        "",
        "about 1 s left",
        "about 59 s left",
        "about 2 min left",
        "about 2 h left",
    ]
