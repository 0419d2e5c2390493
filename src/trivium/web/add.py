"""The Add screen: files, web addresses, watched folders, and their jobs."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Form, Request
from starlette.datastructures import FormData, UploadFile
from starlette.responses import RedirectResponse, Response

from trivium.core.access import Caller
from trivium.core.errors import RequestInvalid, TriviumError
from trivium.core.types import Labels
from trivium.core.work import WatchedFolder
from trivium.http.asked import Adder, Here, Owner, Server
from trivium.http.routes.files import fetched, form_of
from trivium.library.uploads import Wanted
from trivium.operations.searching import LONGEST_QUERY
from trivium.web import jobs
from trivium.web.pages import PageRoute, page, query
from trivium.web.samples import SAMPLES, sample_folder

router = APIRouter(include_in_schema=False, route_class=PageRoute)

_MOST_FILES = 200  # of one form; a script sends each file by itself
_MOST_RULES = 50
_Label = Annotated[str, Form(max_length=200)]


def _chosen(collection: _Label = "", category: _Label = "", audience: _Label = "") -> Wanted:
    labels = [label.strip() or None for label in (collection, category, audience)]
    return Wanted(labels[0], labels[1], labels[2])


Chosen = Annotated[Wanted, Depends(_chosen)]


def _typed(wanted: Wanted) -> dict[str, str]:
    """The labels as their fields show them again."""
    labels = {name: getattr(wanted, name) for name in ("collection", "category", "audience")}
    return {name: label or "" for name, label in labels.items()}


@router.get("/add")
async def show(request: Request, server: Here, caller: Adder) -> Response:
    return await _page(request, server, caller)


@router.post("/add")
async def upload(request: Request, server: Here, caller: Adder) -> Response:
    """The files of a form. Read here, after the caller is known, and not before."""
    async with form_of(request, "Couldn't read the form", _MOST_FILES) as form:
        files = [
            file for file in form.getlist("file") if isinstance(file, UploadFile) and file.size
        ]
        if not files:
            raise RequestInvalid(
                "You chose no file, or only empty files.", fix="Choose a file first."
            )
        wanted = Wanted(
            _given(form, "collection"),
            _given(form, "category"),
            _given(form, "audience"),
            password=_given(form, "password") or "",
        )
        for file in sorted(files, key=lambda sized: sized.size or 0):  # many can be searched soon
            await server.read(
                server.library.uploads.receive_later, caller, file.filename or "", file.file, wanted
            )
            server.wake()
    return RedirectResponse("/add#jobs", 303)


def _given(form: FormData, name: str) -> str | None:
    value = form.get(name)
    if not isinstance(value, str) or not value.strip():
        return None
    if len(value) > 200 or not value.isprintable():
        raise RequestInvalid(f"{name} can have at most 200 printable characters.")
    return value.strip()


@router.post("/add/url")
async def add_url(
    request: Request,
    server: Here,
    caller: Adder,
    url: Annotated[str, Form(min_length=1, max_length=2000)],
    wanted: Chosen,
) -> Response:
    typed = {"url": url} | _typed(wanted)
    try:
        report = await fetched(server, caller, request, url.strip(), wanted)
    except TriviumError as error:
        return await _page(request, server, caller, error, {"url": typed})
    failed = next(
        (outcome.error for outcome in report.outcomes if outcome.error and not outcome.enclosed),
        None,
    )
    if failed is not None:
        return await _page(request, server, caller, failed, {"url": typed})
    return RedirectResponse("/add#jobs", 303)


@router.post("/add/samples")
async def add_samples(
    server: Here, caller: Owner, q: Annotated[str, Form(max_length=LONGEST_QUERY)] = ""
) -> Response:
    """Add the sample documents for a first look, then open a search in them."""
    await server.read(_add_samples, server)
    server.wake()
    return RedirectResponse(f"/?{query({'q': q})}" if q else "/", 303)


def _add_samples(server: Server) -> None:
    library = server.library
    labels = Labels(collection=SAMPLES)
    library.jobs.enqueue(library.folders.source([sample_folder()]), labels, what="add the samples")


@router.post("/add/folders")
async def watch_folder(
    request: Request,
    server: Here,
    caller: Owner,
    path: Annotated[str, Form(min_length=1, max_length=4000)],
    wanted: Chosen,
    ignore: Annotated[str, Form(max_length=10_000)] = "",
) -> Response:
    rules = [line.strip() for line in ignore.splitlines() if line.strip()]
    try:
        await server.read(
            server.library.folders.add,
            path.strip(),
            collection=wanted.collection or "default",
            category=wanted.category,
            audience=wanted.audience,
            ignore=rules[:_MOST_RULES],
        )
    except TriviumError as error:
        typed = {"path": path, "ignore": ignore} | _typed(wanted)
        return await _page(request, server, caller, error, {"folder": typed})
    return RedirectResponse("/add#folders", 303)


@router.post("/add/folders/forget")
async def unwatch_folder(
    server: Here, caller: Owner, folder: Annotated[str, Form(max_length=50)]
) -> Response:
    await server.read(server.library.folders.remove, folder)
    return RedirectResponse("/add#folders", 303)


async def _page(
    request: Request,
    server: Server,
    caller: Caller,
    error: TriviumError | None = None,
    typed: Mapping[str, Mapping[str, str]] | None = None,
) -> Response:
    """`typed`: the values of the form that failed, by form."""
    library = server.library
    views = await server.read(jobs.views, library, caller)
    collections = await server.read(library.documents.collections, caller.within())
    folders: list[dict[str, Any]] = []
    if caller.is_owner:
        watched = await server.read(library.folders.all)
        folders = [_folder(server, folder) for folder in watched]
    values = {
        "jobs": views,
        "panel": await server.read(jobs.panel, library, caller),
        "folders": folders,
        "collections": [collection.name for collection in collections],
        "typed": {"url": {}, "folder": {}, **(typed or {})},
    }
    return page(request, "add.html", values, error=error)


def _folder(server: Server, folder: WatchedFolder) -> dict[str, Any]:
    state, message = server.background.state_of(folder.id) if server.background else ("", "")
    if not os.path.isdir(folder.path):
        state, message = "vanished", "The folder is missing. Its documents stay in the library."
    return {"folder": folder, "state": state, "message": message}
