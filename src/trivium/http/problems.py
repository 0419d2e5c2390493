"""Errors as RFC 9457 problem documents: the stable code of `errors`, a status, and what to do.

Details of our own bugs stay in the log; the request id leads there.
"""

from __future__ import annotations

import errno
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import JSONResponse

from trivium.core import errors
from trivium.core.advice import advice, over_http
from trivium.core.errors import TriviumError
from trivium.operations.declaring import faults
from trivium.text.values import clean_text

if TYPE_CHECKING:
    from fastapi import FastAPI
    from starlette.requests import Request
    from starlette.types import Scope

REFUSED = "refused"  # in a request's state: why its body was not read to the end
CODE = "code"  # in a request's state: of the error that it was answered with
PART = "x-part"  # the header by which a page's script names the blocks it wants
MEDIA_TYPE = "application/problem+json"
RETRY_SECONDS = 1.0  # where nothing says how long

# The first that fits: special ones stand before what they are a kind of.
_STATUS: tuple[tuple[type[TriviumError], int], ...] = (
    (errors.DocumentNotFound, 404),
    (errors.PageNotFound, 404),
    (errors.OriginalMissing, 404),
    (errors.JobNotFound, 404),
    (errors.AlertNotFound, 404),
    (errors.SourceNotFound, 404),
    (errors.EvaluationNotFound, 404),
    (errors.TokenNotFound, 404),
    (errors.ConversationNotFound, 404),
    (errors.NoSuchRoute, 404),
    (errors.TokenRefused, 401),
    (errors.RightMissing, 403),
    (errors.RequestRefused, 403),
    (errors.SignInRefused, 403),
    (errors.QuotaExceeded, 403),
    (errors.RequestTooSlow, 408),
    (errors.DocumentExists, 409),
    (errors.SourceExists, 409),
    (errors.SourcePaused, 409),
    (errors.NotEmbedded, 409),
    (errors.RequestTooLarge, 413),
    (errors.FileTooLarge, 413),
    (errors.RateExceeded, 429),
    (errors.UrlFailed, 422),
    (errors.InputError, 422),
    (errors.ReadError, 422),
    (errors.SourceError, 502),
    (errors.ServingError, 503),
    (errors.LibraryBusy, 503),
    (errors.DatabaseError, 503),
    (errors.ArchiveAway, 503),
    (errors.ArchiveRefused, 503),
    (errors.LibraryNotFound, 503),
    (errors.LibraryTooNew, 503),
    (errors.ModelError, 503),
    (errors.LibraryReadOnly, 503),
    (errors.DatabaseAway, 503),
    (errors.DatabaseSlow, 503),
    (errors.DatabaseRefused, 503),
    (errors.DatabaseUnsuitable, 503),
    (errors.DiskFull, 507),
)
_LATER = (429, 503)


class Problem(BaseModel):
    """What went wrong, by RFC 9457."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "type": "urn:trivium:error:document.not_found",
                    "title": "DocumentNotFound",
                    "status": 404,
                    "detail": "There is no document #7.",
                    "code": "document.not_found",
                    "fix": advice(errors.DocumentNotFound("")),
                    "request_id": "4f1c9a0e5b7d4f6c",
                }
            ]
        }
    )

    type: str = Field(description="A URN that ends in the code.")
    title: str = Field(description="The type of error.")
    status: int
    detail: str = Field(description="What happened.")
    code: str = Field(description="Stable code for programs. docs/errors.md lists all codes.")
    fix: str = Field(default="", description="What to do about it.")
    request_id: str = Field(default="", description="Id of this request in the server's log.")
    errors: list[dict[str, Any]] = Field(
        default=[], description="For an invalid request: where, and what is wrong."
    )


def status_of(error: TriviumError) -> int:
    return next((status for kind, status in _STATUS if isinstance(error, kind)), 500)


def problem_of(
    error: TriviumError,
    scope: Scope,
    *,
    status: int | None = None,
    details: list[dict[str, Any]] | None = None,
) -> dict[str, Any]:
    """The problem document, also for a stream that has started. A page's script shows it to a
    person, so it says what to do on the page."""
    on_page = any(name.decode("latin-1").lower() == PART for name, _ in scope.get("headers", ()))
    body = Problem(
        type=f"urn:trivium:error:{error.code}",
        title=type(error).__name__,
        status=status or status_of(error),
        detail=clean_text(error.message),
        code=error.code,
        fix=clean_text((advice if on_page else over_http)(error)),
        request_id=scope.get("state", {}).get("request_id", ""),
        errors=details or [],
    )
    return body.model_dump(exclude=set() if details else {"errors"})


def problem(
    error: TriviumError,
    scope: Scope,
    *,
    retry_after: float = RETRY_SECONDS,
    status: int | None = None,
    details: list[dict[str, Any]] | None = None,
) -> JSONResponse:
    status = status or status_of(error)
    scope.setdefault("state", {})[CODE] = error.code
    headers = {"Cache-Control": "no-store"}
    if status in _LATER:
        headers["Retry-After"] = str(max(1, round(retry_after)))
    if status in (408, 413):
        headers["Connection"] = "close"  # what is still to come is not read
    if status == 401:
        headers["WWW-Authenticate"] = 'Bearer realm="trivium"'
    body = problem_of(error, scope, status=status, details=details)
    return JSONResponse(body, status, headers=headers, media_type=MEDIA_TYPE)


class Fault(TriviumError):
    """A bug in Trivium. Reveals no details: the log has them."""

    code = "internal"
    fix = "Please report it, with the request id."


def explained(app: FastAPI) -> None:
    """Every error of a route becomes a problem document."""
    from fastapi.exceptions import RequestValidationError
    from starlette.exceptions import HTTPException

    @app.exception_handler(TriviumError)
    async def ours(request: Request, error: Exception) -> JSONResponse:
        assert isinstance(error, TriviumError)
        after = getattr(error, "retry_after", RETRY_SECONDS)
        return problem(error, request.scope, retry_after=after)

    @app.exception_handler(OSError)
    async def disk(request: Request, error: Exception) -> JSONResponse:
        if not _is_full(error):
            raise error
        return problem(errors.DiskFull("The server's disk is full."), request.scope)

    @app.exception_handler(RequestValidationError)
    async def invalid(request: Request, error: Exception) -> JSONResponse:
        assert isinstance(error, RequestValidationError)
        wrong = [
            {"where": clean_text(where), "what": clean_text(problem)}
            for where, problem in faults(error.errors())
        ]
        first = f"{wrong[0]['where']}: {wrong[0]['what']}" if wrong else "The request is invalid"
        return problem(errors.RequestInvalid(f"{first}."), request.scope, details=wrong)

    @app.exception_handler(HTTPException)
    async def http(request: Request, error: Exception) -> JSONResponse:
        assert isinstance(error, HTTPException)
        refused = request.scope.get("state", {}).get(REFUSED)
        if refused is not None:  # FastAPI calls whatever happens to a body a bad request
            return problem(refused, request.scope)
        if _is_full(error.__cause__):  # where the server keeps the body meanwhile
            return problem(errors.DiskFull("The server's disk is full."), request.scope)
        kind = errors.NoSuchRoute if error.status_code in (404, 405) else errors.RequestInvalid
        where = f"{request.method} {request.url.path}"
        message = f"No route {where}." if kind is errors.NoSuchRoute else str(error.detail)
        status = 422 if error.status_code == 400 else error.status_code
        answer = problem(kind(message), request.scope, status=status)
        answer.headers.update(error.headers or {})
        return answer


def _is_full(error: BaseException | None) -> bool:
    return isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT)


def responses(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The problems a route may answer with, for the API description. Every route has: no access,
    not allowed, invalid, too many requests, server busy."""
    meant = {
        401: "The token is missing, unknown, revoked or expired.",
        403: "The token doesn't allow this, or the request comes from an unknown host or page.",
        404: "Not found, or this caller may not see it.",
        408: "The body arrived too slowly.",
        409: "The request conflicts with the current state.",
        413: "The body is too large.",
        422: "The request is invalid.",
        429: "This token asks too often.",
        502: "A source or service doesn't answer now.",
        503: "The server is busy, or the answer took too long. Retry-After says when to try again.",
    }
    always = (401, 403, 422, 429, 503)
    return {
        status: {
            "description": meant[status],
            "content": {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}},
        }
        for status in sorted({*always, *statuses})
    }
