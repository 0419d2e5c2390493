"""Routes for files: upload, fetch from the web, download the original, draw pages."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from functools import partial
from threading import Event
from typing import Annotated, Any
from urllib.parse import quote

from fastapi import Path, Request
from pydantic import TypeAdapter, ValidationError
from starlette.datastructures import FormData, UploadFile
from starlette.exceptions import HTTPException
from starlette.responses import RedirectResponse, Response

from trivium.core.access import Caller
from trivium.core.errors import ArchiveAway, DeadlinePassed, DocumentNotFound, RequestInvalid
from trivium.core.shapes import DocumentAnswer, JobAnswer
from trivium.core.types import Metadata, MetaScalar
from trivium.http.answers import AddedAnswer, Answered, OutcomeAnswer, TakenAnswer
from trivium.http.asked import Adder, Here, Reader, Server
from trivium.http.caching import not_modified, tag
from trivium.http.leaving import while_there
from trivium.http.problems import responses
from trivium.http.routes.documents import Id
from trivium.http.routing import Routes
from trivium.ingest.outcomes import Fate, Outcome
from trivium.library.jobs import Report
from trivium.library.uploads import Wanted, safe_name
from trivium.operations.adding import AddUrl, LabelOptions
from trivium.operations.declaring import option_of, options_of
from trivium.operations.listing import OfVersion, ShowPage, Upload
from trivium.operations.searching import MOST_NAMES

router = Routes(prefix="/v1", tags=["files"])
UPLOADS = frozenset({"/v1/documents", "/add"})  # routes that take a whole file; one is a page
OVERHEAD = 1 << 20  # bytes of a request beside the file

_FIELD_BYTES = 64 << 10
# Whatever a file holds, a browser shows it as nothing of ours and runs nothing of it.
_HARMLESS = {"Content-Security-Policy": "sandbox; default-src 'none'"}
_METADATA: TypeAdapter[dict[str, MetaScalar | list[MetaScalar]]] = TypeAdapter(
    dict[str, MetaScalar | list[MetaScalar]]
)
_FORM: dict[str, Any] = {
    "type": "object",
    "required": ["file"],
    "properties": {
        "file": {"type": "string", "format": "binary"},
        **{
            field.name: {"type": "string", "maxLength": 200, "description": option_of(field).says}
            for field in options_of(LabelOptions)
        },
        "metadata": {"type": "string", "description": "A JSON object of names and values."},
        "password": {
            "type": "string",
            "maxLength": 200,
            "description": "Password of a locked PDF, Office file or archive. It is kept nowhere.",
        },
    },
}


@router.post(
    "/documents",
    response_model=AddedAnswer,
    status_code=201,
    responses=responses(408, 409, 413)
    | {
        200: {"model": AddedAnswer, "description": "Already in the library."},
        202: {"model": TakenAnswer, "description": "Uploaded. A job adds it."},
    },
    openapi_extra={
        "requestBody": {"required": True, "content": {"multipart/form-data": {"schema": _FORM}}}
    },
)
async def add(server: Here, caller: Adder, request: Request, options: Upload) -> Answered:
    """Add a file. A file with the same name becomes a new version. Labels you don't give come from
    the token: its own audience sees what it adds."""
    # The form is read here, and not by FastAPI, which would read it before it asks who comes.
    async with form_of(request) as form:
        file = form.get("file")
        if not isinstance(file, UploadFile):
            raise RequestInvalid("body.file: the form has no file.")
        wanted, name = _wanted(form), file.filename or ""
        if not options.wait:
            receive_later = server.library.uploads.receive_later
            job = await server.read(receive_later, caller, name, file.file, wanted)
            server.wake()
            return Answered(TakenAnswer(JobAnswer.of(job)), 202)
        receive = partial(server.library.uploads.receive, caller, name, file.file, wanted)
        report = await while_there(
            request, lambda gone: server.writing.run(receive, stop=server.stop_waiting(gone))
        )
    return await _added(server, caller, report)


@router.post(
    "/documents/url",
    response_model=AddedAnswer,
    status_code=201,
    responses=responses(409)
    | {200: {"model": AddedAnswer, "description": "Already in the library."}},
)
async def add_url(server: Here, caller: Adder, request: Request, body: AddUrl) -> Answered:
    """Add a page or file from a public web address. Private addresses are refused."""
    labels = (body.collection, body.category, body.audience, _metadata(body.metadata or {}))
    report = await fetched(server, caller, request, body.url, Wanted(*labels))
    return await _added(server, caller, report)


async def fetched(
    server: Server, caller: Caller, request: Request, url: str, wanted: Wanted
) -> Report:
    """Fetch an address and add what it gives. While it comes, nobody else waits for it."""
    uploads = server.library.uploads

    async def add(gone: Event) -> Report:
        page = await server.fetching.run(uploads.fetch, caller, url, wanted, gone)
        receive = partial(uploads.receive_fetched, caller, url, page, wanted)
        return await server.writing.run(receive, stop=server.stop_waiting(gone))

    return await while_there(request, add)


@asynccontextmanager
async def form_of(
    request: Request, refusal: str = "body", max_files: int = 1
) -> AsyncIterator[FormData]:
    """The parts of a form. Files above a megabyte stay on disk, unnamed, until it closes."""
    try:
        form = await request.form(max_files=max_files, max_fields=10, max_part_size=_FIELD_BYTES)
    except HTTPException as error:
        raise RequestInvalid(f"{refusal}: {error.detail}") from error
    try:
        yield form
    finally:
        await form.close()


def _wanted(form: FormData) -> Wanted:
    fields: dict[str, str] = {}
    for name, value in form.multi_items():
        if name == "file":
            continue
        if name not in _FORM["properties"] or not isinstance(value, str):
            raise RequestInvalid(f"body.{name[:50]}: the form has no such field.")
        fields[name] = value
    try:
        sent = json.loads(fields.get("metadata") or "{}")
        metadata = _metadata(_METADATA.validate_python(sent, strict=True))
    except (ValueError, ValidationError, RecursionError) as reason:
        raise RequestInvalid("body.metadata: this isn't a JSON object of plain values.") from reason
    return Wanted(
        _label(fields, "collection"),
        _label(fields, "category"),
        _label(fields, "audience"),
        metadata,
        fields.get("password", "")[:200],
    )


def _label(fields: dict[str, str], name: str) -> str | None:
    value = fields.get(name)
    if value is not None and (not 0 < len(value) <= 200 or not value.isprintable()):
        raise RequestInvalid(f"body.{name}: give 1 to 200 printable characters.")
    return value


def _metadata(values: Mapping[str, MetaScalar | list[MetaScalar]]) -> Metadata:
    if len(values) > MOST_NAMES:
        raise RequestInvalid(f"body.metadata: there are more than {MOST_NAMES} fields.")
    return {
        name: tuple(value) if isinstance(value, list) else value for name, value in values.items()
    }


async def _added(server: Server, caller: Caller, report: Report) -> Answered:
    """The outcome of a file and the files inside it. Raises if the file itself failed."""
    first = next((outcome for outcome in report.outcomes if not outcome.enclosed), None)
    if first is not None and first.error is not None:
        raise first.error
    answers = await server.read(
        lambda: [_outcome(server, caller, outcome) for outcome in report.outcomes]
    )
    fresh = any(outcome.fate is Fate.ADDED for outcome in report.outcomes)
    return Answered(AddedAnswer(answers, report.chunks, report.notes), 201 if fresh else 200)


def _outcome(server: Server, caller: Caller, outcome: Outcome) -> OutcomeAnswer:
    document = None
    if outcome.document is not None:
        try:
            stored = server.library.documents.get(outcome.document.id, caller.within())
            document = DocumentAnswer.of(stored)
        except DocumentNotFound:  # within the file, and for others to see
            document = None
    error = outcome.error
    return OutcomeAnswer(
        uri=outcome.uri,
        fate=outcome.fate,
        document=document,
        code=error.code if error else "",
        message=str(error) if error else "",
    )


PLAYED = ("audio/", "video/")
_RANGE = re.compile(r"bytes=(\d{1,15})-(\d{1,15})?")
_PART = 4 << 20  # bytes at once; a player asks for the next
_HANGS = "The archive with the original file didn't answer in time."
_HANGS_FIX = "Try again. If it keeps happening, check the archive's disk or object store."
_NOT_MODIFIED: dict[int | str, dict[str, Any]] = {
    304: {"description": "Not changed since `If-None-Match`."}
}


@router.get(
    "/documents/{id}/original",
    response_class=Response,
    responses=_NOT_MODIFIED
    | {
        200: {"content": {"application/octet-stream": {}}, "description": "The file."},
        206: {"description": "The part of a recording that `Range` asks for."},
        416: {"description": "`Range` begins behind its end."},
        307: {"description": "A link to it in the object store, valid for some seconds."},
    },
)
async def download_original(
    server: Here, caller: Reader, request: Request, id: Id, options: OfVersion
) -> Response:
    library, within, interpretation = server.library, caller.within(), options.interpretation
    document = await server.read(library.documents.get, id, within)
    etag = tag(document, "original", interpretation or document.interpretation)
    if not_modified(request, etag):
        return Response(status_code=304, headers=etag.headers)
    name = quote(safe_name(document.uri))
    headers = {
        **etag.headers,
        **_HARMLESS,
        "Content-Disposition": f"attachment; filename*=UTF-8''{name}",
    }
    media_type = "application/octet-stream"
    if document.media_type.startswith(PLAYED):
        # Chrome plays QuickTime files under the name of MP4, which is nearly the same.
        media_type = (
            "video/mp4" if document.media_type == "video/quicktime" else document.media_type
        )
        headers["Accept-Ranges"] = "bytes"
        bounds = _RANGE.fullmatch(request.headers.get("range", ""))
        if bounds is not None and interpretation is None:
            start = int(bounds[1])
            end = min(
                int(bounds[2]) + 1 if bounds[2] else document.size, start + _PART, document.size
            )
            if start >= document.size:
                return Response(
                    status_code=416, headers={"Content-Range": f"bytes */{document.size}"}
                )
            data = await server.read(library.history.part, id, start, end, within)
            headers["Content-Range"] = f"bytes {start}-{end - 1}/{document.size}"
            return Response(data, 206, headers, media_type)
    lasting = server.settings.archive_link_seconds
    if lasting:
        link = await server.read(
            library.history.link, id, lasting, within, interpretation=interpretation
        )
        if link is not None:  # it opens the bytes to whoever has it, so nobody keeps it
            return RedirectResponse(link, status_code=307, headers={"Cache-Control": "no-store"})
    try:
        data = await server.read(
            library.history.original, id, within, interpretation=interpretation
        )
    except DeadlinePassed:
        raise ArchiveAway(_HANGS, fix=_HANGS_FIX) from None
    return Response(data, media_type=media_type, headers=headers)


@router.get(
    "/documents/{id}/pages/{page}",
    response_class=Response,
    responses=responses(413)
    | _NOT_MODIFIED
    | {200: {"content": {"image/png": {}}, "description": "The page."}},
)
async def show_page(
    server: Here,
    caller: Reader,
    request: Request,
    id: Id,
    page: Annotated[int, Path(ge=1, le=100_000, description="Page number, from 1.")],
    options: ShowPage,
) -> Response:
    """Get a page of a PDF or scan as a picture, optionally with a passage marked."""
    library, within = server.library, caller.within()
    document = await server.read(library.documents.get, id, within)
    etag = tag(document, "page", page, options.width, options.passage)
    if not_modified(request, etag):
        return Response(status_code=304, headers=etag.headers)
    drawn = await server.read(library.documents.page, id, page, **vars(options), within=within)
    return Response(drawn, media_type="image/png", headers={**etag.headers, **_HARMLESS})
