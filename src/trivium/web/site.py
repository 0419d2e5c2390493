"""Adds the pages to the server: after the API's routes, behind the same guard and tokens."""

from __future__ import annotations

from contextlib import suppress

from fastapi import FastAPI, Request
from starlette.exceptions import HTTPException
from starlette.responses import Response

from trivium.core.errors import NoSuchRoute, TriviumError
from trivium.http.asked import caller_of
from trivium.http.routing import attach
from trivium.web import (
    add,
    ask,
    assets,
    document,
    documents,
    entry,
    evaluate,
    history,
    jobs,
    judge,
    queries,
    quote,
    search,
    settings,
    sources,
)
from trivium.web.pages import failed

# Everything that has routes; the screens in the order of the navigation.
PARTS = (
    *(assets, entry, search, ask, quote, add, jobs),
    *(documents, document, history, evaluate, judge, settings, sources, queries),
)


def furnish(app: FastAPI) -> None:
    """Add every page to an application that serves a library."""
    for part in PARTS:
        attach(app, part.router)
    _say_what_is_not_there(app)


def _say_what_is_not_there(app: FastAPI) -> None:
    """An unknown address gets a page for people and a problem document for programs."""
    otherwise = app.exception_handlers[HTTPException]

    @app.exception_handler(HTTPException)
    async def http(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        person = "text/html" in request.headers.get("accept", "")
        if error.status_code == 404 and person and not request.url.path.startswith("/v1/"):
            gone = NoSuchRoute(f"No page at {request.url.path[:200]}.", fix="")
            with suppress(TriviumError):  # without a token, the page has no navigation
                await caller_of(request)
            return failed(request, gone)
        answer: Response = await otherwise(request, error)  # type: ignore[misc]
        return answer
