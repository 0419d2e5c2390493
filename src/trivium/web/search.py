"""The search screen."""

from __future__ import annotations

from functools import partial
from typing import Annotated

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from trivium.http.asked import Here, Reader
from trivium.results import Result
from trivium.web.pages import PageRoute, page

router = APIRouter(include_in_schema=False, route_class=PageRoute)


@router.get("/")
async def search(
    request: Request, server: Here, caller: Reader, q: Annotated[str, Query(max_length=1000)] = ""
) -> Response:
    results: tuple[Result, ...] = ()
    if q.strip():
        results = tuple(
            await server.read(partial(server.library.search, q, within=caller.within()))
        )
    return page(request, caller, "search.html", {"view": {"title": "", "results": results}})
