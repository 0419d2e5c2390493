"""Routes for jobs: show, follow, cancel, retry.

Jobs name documents of every audience, so only callers who may see everything can list them; but
anyone who uploads a file may look at the job that adds it.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import replace
from typing import Annotated

from fastapi import Path, Request
from starlette.responses import StreamingResponse

from trivium.core.access import Caller
from trivium.core.advice import retold
from trivium.core.errors import JobNotFound, RightMissing
from trivium.core.shapes import JobAnswer, TaskAnswer, to_json
from trivium.core.work import Job
from trivium.http.answers import JobsAnswer, TasksAnswer
from trivium.http.asked import Anyone, Here, Owner, Server
from trivium.http.routes.documents import after
from trivium.http.routing import Routes
from trivium.http.streaming import described, event, looks, watched
from trivium.operations.listing import ListJobs, ListTasks

router = Routes(prefix="/v1", tags=["jobs"])

Number = Annotated[int, Path(ge=1, le=2**53)]


@router.get("/jobs")
async def list_jobs(server: Here, caller: Owner, options: ListJobs) -> JobsAnswer:
    jobs = await server.read(server.library.jobs.all, ended=options.ended, limit=options.limit)
    return JobsAnswer([JobAnswer.of(job) for job in jobs])


@router.get("/jobs/{id}")
async def show_job(server: Here, caller: Anyone, id: Number) -> JobAnswer:
    return _told(await _seen(server, caller, id), caller)


async def _seen(server: Server, caller: Caller, id_: int) -> Job:
    """A job that this caller may see. Others can't tell whether it exists."""
    if caller.is_owner:
        return await server.read(server.library.jobs.get, id_)
    with suppress(JobNotFound):
        job = await server.read(server.library.jobs.get, id_)
        if caller.id and job.options.get("by") == caller.id:
            return job
    raise RightMissing("You need a token for all audiences and collections.")


def _told(job: Job, caller: Caller) -> JobAnswer:
    """Leave out the notes, which may name documents that only the owner sees."""
    return JobAnswer.of(job if caller.is_owner else replace(job, notes=()))


@router.get("/jobs/{id}/tasks")
async def list_tasks(server: Here, caller: Anyone, id: Number, options: ListTasks) -> TasksAnswer:
    """List the documents of a job in order, a page at a time."""
    first, limit = after(options.cursor), options.limit
    await _seen(server, caller, id)
    tasks = await server.read(
        server.library.jobs.tasks, id, states=options.state, offset=first, limit=limit + 1
    )
    more = str(first + limit) if len(tasks) > limit else None
    tasks = [replace(task, message=retold(task.message)) for task in tasks[:limit]]
    if not caller.is_owner:  # how long a step took depends on documents that they may not see
        tasks = [replace(task, seconds={}) for task in tasks]
    return TasksAnswer([TaskAnswer.of(task) for task in tasks], more)


@router.post("/jobs/{id}/cancel")
async def cancel_job(server: Here, caller: Owner, id: Number) -> JobAnswer:
    """Stop a job at its next document. Documents already added stay."""
    return JobAnswer.of(await server.read(server.library.jobs.cancel, id))


@router.post("/jobs/{id}/retry")
async def retry_job(server: Here, caller: Owner, id: Number) -> JobAnswer:
    await server.read(server.library.jobs.retry, id)
    server.wake()
    return JobAnswer.of(await server.read(server.library.jobs.get, id))


@router.get(
    "/jobs/{id}/events",
    response_class=StreamingResponse,
    responses=described(
        "Server-sent events: `job` whenever the job changes, until it ends, or `error` with a"
        " problem document.",
        "job",
        "error",
    ),
)
async def follow_job(
    server: Here, caller: Anyone, request: Request, id: Number
) -> StreamingResponse:
    """Follow a job as server-sent events: now, and whenever it changes."""
    first = await _seen(server, caller, id)
    return watched(server, request, _events(server, first, request, caller))


async def _events(server: Server, job: Job, request: Request, caller: Caller) -> AsyncIterator[str]:
    text, last = "", False
    async for _ in looks(server, request):
        if text:
            job = await server.read(server.library.jobs.get, job.id)
        now = to_json(_told(job, caller))
        yield event("job", now) if now != text else ""
        if last:
            return
        text, last = now, job.state.has_ended  # its notes are written a moment later
