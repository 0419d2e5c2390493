"""Jobs on the page: the panel that sums up everything being added, and each job by itself.

One stream serves all of them, since a browser opens only six connections to a server. Callers who
may not see everything see the jobs of their own files.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from time import monotonic
from typing import Annotated

from fastapi import APIRouter, Form, Path, Request
from starlette.responses import RedirectResponse, Response

from trivium.core.access import Caller
from trivium.core.pace import TimeLeft, time_left
from trivium.core.work import REEMBED, Job, JobId, JobState, Task, TaskState, at_work, work_of
from trivium.http.asked import Adder, Here, Owner, Server
from trivium.http.streaming import event, looks, watched
from trivium.library import Library
from trivium.web.pages import PageRoute, fragment

router = APIRouter(include_in_schema=False, route_class=PageRoute)

SHOWN = 15  # jobs on the page, the newest
_LOOKED_AT = 1000  # newest jobs: as many as the library keeps of those that went well
_FAILURES = 20  # that are listed
_AT_WORK = 3  # documents named while they are worked on
_CLAIMED = 200  # tasks that workers hold: most of them are read and wait to be embedded
_ADDED = 100  # files that went well and are listed
_GAP = 30.0  # seconds: jobs that follow each other faster look like one to people
_LOOK_SECONDS = 0.4
Number = Annotated[int, Path(ge=1, le=2**53)]


@dataclass(frozen=True, slots=True)
class JobView:
    """A job for people."""

    job: Job
    steerable: bool  # by who looks at it
    fates: Mapping[str, int] = field(default_factory=dict)
    failures: tuple[Task, ...] = ()
    at_work: tuple[Task, ...] = ()
    document: int | None = None  # of a job of one document: where it can be read

    @property
    def running(self) -> bool:
        return not self.job.state.has_ended

    @property
    def share(self) -> float:
        return work_of([self.job]).share

    @property
    def left(self) -> str:
        return time_left(self.job.seconds_left)

    @property
    def retriable(self) -> bool:
        ended = self.job.state in (JobState.FAILED, JobState.CANCELLED)
        return self.steerable and ended and self.job.lasting and self.job.failed > 0


@dataclass(frozen=True, slots=True)
class Panel:
    """Everything being added, or added last, as one: each dropped file is a job of its own, but
    people want the progress of all of them."""

    steerable: bool
    jobs: tuple[Job, ...] = ()
    done: int = 0  # files added, updated or found unchanged
    cancelled: int = 0
    failures: tuple[Task, ...] = ()
    at_work: tuple[Task, ...] = ()
    added: tuple[Task, ...] = ()
    passages: tuple[int, int] = (0, 0)  # embedded, of those known so far
    seconds_left: float | None = None
    notice: str = ""  # of a long run: how fast the model is

    @property
    def running(self) -> tuple[Job, ...]:
        return tuple(job for job in self.jobs if not job.state.has_ended)

    @property
    def total(self) -> int:
        return sum(job.tasks for job in self.jobs)

    @property
    def failed(self) -> int:
        return sum(job.failed for job in self.jobs)

    @property
    def ended(self) -> int:
        return self.done + self.failed + self.cancelled

    @property
    def share(self) -> float:
        return work_of(self.jobs).share

    @property
    def left(self) -> str:
        return time_left(self.seconds_left)

    @property
    def retriable(self) -> bool:
        return self.steerable and any(job.failed and job.lasting for job in self.jobs)


@dataclass(frozen=True, slots=True)
class _Looked:
    """What the panel knows of one job."""

    job: Job
    done: int
    failures: list[Task]
    at_work: list[Task]
    added: list[Task]
    passages: tuple[int, int]


class PanelWatch:
    """Builds the panel again and again: asks only about jobs that may have changed, and keeps the
    clock so that the time left falls steadily."""

    def __init__(self, library: Library, caller: Caller) -> None:
        self._library = library
        self._caller = caller
        self._known: dict[JobId, _Looked] = {}
        self._jobs: set[JobId] = set()
        self._clock = TimeLeft()

    def look(self) -> Panel:
        jobs = shown(self._library, self._caller, _LOOKED_AT)
        # A look at a watched folder or a source that finds nothing new is a job without files.
        adding = [j for j in jobs if j.kind != REEMBED and (j.tasks or not j.state.has_ended)]
        looks = [self._looked(job) for job in _batch(adding)]
        self._known = {look.job.id: look for look in looks if _is_settled(look.job, look.at_work)}
        failures = [task for look in looks for task in look.failures]
        working = at_work(task for look in looks for task in look.at_work)
        added = [task for look in looks for task in look.added]
        status = Panel(
            self._caller.is_owner,
            tuple(look.job for look in looks),
            sum(look.done for look in looks),
            sum(
                look.job.tasks - look.done - look.job.failed
                for look in looks
                if look.job.state is JobState.CANCELLED
            ),
            tuple(failures[:_FAILURES]),
            tuple(working[:_AT_WORK]),
            tuple(added[:_ADDED]),
            (sum(look.passages[0] for look in looks), sum(look.passages[1] for look in looks)),
        )
        if not status.running:
            return status
        now, work = monotonic(), work_of(status.jobs)
        if {job.id for job in status.jobs} - self._jobs:
            self._jobs = {job.id for job in status.jobs}
            self._clock.expect_more()
        left = self._clock.after(now, work.done, work.left)
        if left is None and len(status.running) == 1:  # of several, none knows of the others
            left = self._clock.expect(now, status.running[0].seconds_left)
        notice = self._library.jobs.notice(status.total)
        return replace(status, seconds_left=left, notice=notice)

    def _looked(self, job: Job) -> _Looked:
        earlier = self._known.get(job.id)
        if earlier is not None and _counts(earlier.job) == _counts(job):
            return replace(earlier, job=job)
        of = self._library.jobs
        failed, done = TaskState.FAILED, TaskState.DONE
        claimed = _claimed(self._library, job)
        stored = of.passages(job.id) if job.ended else 0
        embedded = stored + sum(task.embedded for task in claimed)
        return _Looked(
            job,
            of.worked(job) - job.failed,
            of.tasks(job.id, states=[failed], limit=_FAILURES) if job.failed else [],
            at_work(claimed),
            of.tasks(job.id, states=[done], limit=_ADDED) if job.ended else [],
            (embedded, stored + sum(task.passages or 0 for task in claimed)),
        )


def _claimed(library: Library, job: Job) -> list[Task]:
    """The tasks of a job that workers have claimed: none before it starts."""
    if job.state.has_ended or (job.state is JobState.QUEUED and not job.tokens):
        return []
    return library.jobs.tasks(job.id, states=[TaskState.WORKING], limit=_CLAIMED)


def _counts(job: Job) -> Job:
    """All but what changes with the clock."""
    return replace(job, rate=0.0, seconds_left=None)


def _is_settled(job: Job, working: Sequence[Task]) -> bool:
    """Whether it looks the same until its counts change: a dropped file is a job of its own, and
    asking for the document of each took 1 ms, twice in each look."""
    return job.state.has_ended or (job.tasks == 1 and len(working) == 1)


def panel(library: Library, caller: Caller) -> Panel:
    """The panel now, for a page rendered once."""
    return PanelWatch(library, caller).look()


def _batch(newest_first: list[Job]) -> list[Job]:
    """The newest jobs that belong together: each started before another of them ended, or soon
    after."""
    together: list[Job] = []
    for job in newest_first:
        until = job.ended_at or job.created_at
        if together and job.state.has_ended and _seconds(until, together[-1].created_at) > _GAP:
            break
        together.append(job)
    return together


def _seconds(earlier: str, later: str) -> float:
    return (datetime.fromisoformat(later) - datetime.fromisoformat(earlier)).total_seconds()


def shown(library: Library, caller: Caller, most: int = SHOWN) -> list[Job]:
    """The newest jobs that this caller may see."""
    if caller.is_owner:
        return library.jobs.all(limit=most)
    every = library.jobs.all(limit=_LOOKED_AT)
    return [job for job in every if caller.id and job.options.get("by") == caller.id][:most]


def view(library: Library, caller: Caller, job: Job) -> JobView:
    failures: list[Task] = []
    if job.failed:
        failures = library.jobs.tasks(job.id, states=[TaskState.FAILED], limit=_FAILURES)
    if not job.state.has_ended:
        named = at_work(_claimed(library, job))[:_AT_WORK]
        return JobView(job, caller.is_owner, {}, tuple(failures), tuple(named))
    document = None
    if job.tasks == 1:
        ended = library.jobs.tasks(job.id, states=[TaskState.DONE], limit=1)
        document = ended[0].document if ended else None
    return JobView(
        job, caller.is_owner, library.jobs.fates(job.id), tuple(failures), document=document
    )


def views(library: Library, caller: Caller) -> list[JobView]:
    return [view(library, caller, job) for job in shown(library, caller)]


@router.get("/add/events")
async def events(request: Request, server: Here, caller: Adder) -> Response:
    """Streams `panel` (its HTML and whether anything runs) and `job` (its number and HTML) whenever
    one changes or appears."""
    return watched(server, request, _events(server, caller, request))


@dataclass
class _Watch:
    """What the browser was last sent for each job."""

    library: Library
    caller: Caller
    _jobs: dict[JobId, JobView] = field(default_factory=dict)
    _told: dict[JobId, str] = field(default_factory=dict)
    _panel: str = ""

    def __post_init__(self) -> None:
        self._panels = PanelWatch(self.library, self.caller)

    def panel(self) -> tuple[str, bool] | None:
        """The panel and whether anything runs; None if nothing changed."""
        now = self._panels.look()
        html = fragment("panel.html", {"panel": now})
        if html == self._panel:
            return None
        self._panel = html
        return html, bool(now.running)

    def news(self) -> list[tuple[JobId, str]]:
        """The jobs whose display changed, oldest first."""
        moved = []
        for job in reversed(shown(self.library, self.caller)):
            if self._is_as_sent(job):
                continue
            now = self._jobs[job.id] = view(self.library, self.caller, job)
            html = fragment("job.html", {"view": now})
            if html != self._told.get(job.id):
                moved.append((job.id, html))
            self._told[job.id] = html
        return moved

    def _is_as_sent(self, job: Job) -> bool:
        earlier = self._jobs.get(job.id)
        if earlier is None or _counts(earlier.job) != _counts(job):
            return False
        return _is_settled(job, earlier.at_work)


async def _events(server: Server, caller: Caller, request: Request) -> AsyncIterator[str]:
    watch = _Watch(server.library, caller)
    async for _ in looks(server, request, _LOOK_SECONDS):
        panel = await server.read(watch.panel)
        texts = (
            [event("panel", json.dumps({"html": panel[0], "running": panel[1]}))] if panel else []
        )
        for number, html in await server.read(watch.news):
            texts.append(event("job", json.dumps({"id": number, "html": html})))
        yield "".join(texts)


@router.post("/add/jobs/{id}/cancel")
async def cancel(server: Here, caller: Owner, id: Number) -> Response:
    await server.read(server.library.jobs.cancel, id)
    return RedirectResponse("/add#jobs", 303)


@router.post("/add/jobs/{id}/retry")
async def retry(
    server: Here,
    caller: Owner,
    id: Number,
    task: Annotated[int | None, Form(ge=1, le=2**53)] = None,
) -> Response:
    """Retry what failed in a job, or one file of it."""
    await server.read(server.library.jobs.retry, id, task)
    server.wake()
    return RedirectResponse("/add#jobs", 303)


@router.post("/add/jobs/retry")
async def retry_all(server: Here, caller: Owner) -> Response:
    """Retry every failed file in the panel."""
    for job in (await server.read(panel, server.library, caller)).jobs:
        if job.failed:
            await server.read(server.library.jobs.retry, job.id)
    server.wake()
    return RedirectResponse("/add#jobs", 303)


@router.post("/add/jobs/cancel")
async def cancel_all(server: Here, caller: Owner) -> Response:
    """Cancel every running job in the panel."""
    for job in (await server.read(panel, server.library, caller)).running:
        await server.read(server.library.jobs.cancel, job.id)
    return RedirectResponse("/add#jobs", 303)


@router.post("/add/jobs/clear")
async def clear(server: Here, caller: Owner) -> Response:
    await server.read(server.library.jobs.clear)
    return RedirectResponse("/add#jobs", 303)
