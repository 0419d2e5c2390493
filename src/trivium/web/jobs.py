"""Jobs as they are shown: how far each is, what failed in it and why; followed as they move.

One stream for all of them, since a browser opens six connections to a server and no more. Whoever
may not see everything sees the jobs of their own files.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from time import monotonic
from typing import Annotated

import anyio
from fastapi import APIRouter, Path, Request
from starlette.responses import RedirectResponse, Response, StreamingResponse

from trivium.access import Caller
from trivium.errors import TriviumError
from trivium.http.asked import Adder, Here, Owner, Server, is_owner
from trivium.http.streaming import (
    HEADERS,
    LONGEST_SECONDS,
    MEDIA_TYPE,
    SIGN,
    SIGN_SECONDS,
    Admission,
    check_room,
    event,
    failure,
)
from trivium.library import Library
from trivium.web.pages import PageRoute, fragment
from trivium.work import Job, JobId, JobState, Task, TaskState

router = APIRouter(include_in_schema=False, route_class=PageRoute)

SHOWN = 15  # jobs on the page, the newest
_LOOKED_AT = 300  # newest jobs, among which those of a token's own files are found
_FAILURES = 20  # of a job that are told
_AT_WORK = 3  # documents of a job that are named while they are worked on
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
    def left(self) -> str:
        return time_left(self.job.seconds_left)

    @property
    def retriable(self) -> bool:
        ended = self.job.state in (JobState.FAILED, JobState.CANCELLED)
        return self.steerable and ended and self.job.lasting and self.job.failed > 0


def time_left(seconds: float | None) -> str:
    """As people say it; empty where nobody knows."""
    if seconds is None:
        return ""
    if seconds < 60:
        return f"{max(1, round(seconds))} s left"
    if seconds < 3600:
        return f"{round(seconds / 60)} min left"
    return f"{seconds / 3600:.1f} h left"


def shown(library: Library, caller: Caller) -> list[Job]:
    """The newest jobs that this caller may see."""
    if is_owner(caller):
        return library.jobs.all(limit=SHOWN)
    every = library.jobs.all(limit=_LOOKED_AT)
    return [job for job in every if caller.id and job.options.get("by") == caller.id][:SHOWN]


def view(library: Library, caller: Caller, job: Job) -> JobView:
    failures: list[Task] = []
    if job.failed:
        failures = library.jobs.tasks(job.id, states=[TaskState.FAILED], limit=_FAILURES)
    if not job.state.has_ended:
        at_work = library.jobs.tasks(job.id, states=[TaskState.WORKING], limit=_AT_WORK)
        return JobView(job, is_owner(caller), {}, tuple(failures), tuple(at_work))
    document = None
    if job.tasks == 1:
        ended = library.jobs.tasks(job.id, states=[TaskState.DONE], limit=1)
        document = ended[0].document if ended else None
    return JobView(
        job, is_owner(caller), library.jobs.fates(job.id), tuple(failures), document=document
    )


def views(library: Library, caller: Caller) -> list[JobView]:
    return [view(library, caller, job) for job in shown(library, caller)]


@router.get("/add/events")
async def events(request: Request, server: Here, caller: Adder) -> Response:
    """`job`, with its number and how it is shown, whenever one has moved or appeared."""
    check_room(server)
    stream = _events(server, caller, request)
    return StreamingResponse(stream, media_type=MEDIA_TYPE, headers=HEADERS)


@dataclass
class _Watch:
    """What was told of each job."""

    library: Library
    caller: Caller
    _jobs: dict[JobId, Job] = field(default_factory=dict)
    _told: dict[JobId, str] = field(default_factory=dict)

    def news(self) -> list[tuple[JobId, str]]:
        """The jobs that are shown in another way than before, the oldest first."""
        moved = []
        for job in reversed(shown(self.library, self.caller)):
            if job == self._jobs.get(job.id) and job.state.has_ended:
                continue
            html = fragment("job.html", {"view": view(self.library, self.caller, job)})
            if html != self._told.get(job.id):
                moved.append((job.id, html))
            self._jobs[job.id], self._told[job.id] = job, html
        return moved


async def _events(server: Server, caller: Caller, request: Request) -> AsyncIterator[str]:
    watch = _Watch(server.library, caller)
    until, spoken = monotonic() + LONGEST_SECONDS, monotonic()
    admission = Admission(server, request)
    with server.streams:
        while not server.closing.is_set() and monotonic() < until:
            try:
                await admission.check()
            except TriviumError as error:
                yield failure(error, request)
                return
            for number, html in await server.read(watch.news):
                yield event("job", json.dumps({"id": number, "html": html}))
                spoken = monotonic()
            if monotonic() - spoken > SIGN_SECONDS:
                yield SIGN
                spoken = monotonic()
            await anyio.sleep(_LOOK_SECONDS)
            if await request.is_disconnected():
                return


@router.post("/add/jobs/{id}/cancel")
async def cancel(server: Here, caller: Owner, id: Number) -> Response:  # noqa: A002
    await server.read(partial(server.library.jobs.cancel, id))
    return RedirectResponse("/add#jobs", 303)


@router.post("/add/jobs/{id}/retry")
async def retry(server: Here, caller: Owner, id: Number) -> Response:  # noqa: A002
    await server.read(partial(server.library.jobs.retry, id))
    server.wake()
    return RedirectResponse("/add#jobs", 303)


@router.post("/add/jobs/clear")
async def clear(server: Here, caller: Owner) -> Response:
    await server.read(server.library.jobs.clear)
    return RedirectResponse("/add#jobs", 303)
