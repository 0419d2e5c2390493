"""The documents of the library, a page at a time, and the collections they are in."""

from __future__ import annotations

from functools import partial
from typing import Annotated

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from trivium.http.asked import Here, Reader, Server
from trivium.http.routes.documents import Cursor, Filter, after
from trivium.text.filters import parse_filter
from trivium.types import AllOf, Collection, Compare, Condition, Document, Where
from trivium.web.pages import PageRoute, page

router = APIRouter(include_in_schema=False, route_class=PageRoute)

_ON_A_PAGE = 50


@router.get("/documents")
async def documents(
    request: Request,
    server: Here,
    caller: Reader,
    collection: Annotated[str, Query(max_length=200)] = "",
    where: Filter = "",
    cursor: Cursor = "",
    removed: bool = False,
) -> Response:
    """By id: a page goes on where the one before ended."""
    call = partial(_look, server, caller.within(), collection, where, after(cursor))
    listed, collections = await server.read(call)
    shown = listed[:_ON_A_PAGE]
    values = {
        "documents": shown,
        "collections": collections,
        "collection": collection,
        "where": where,
        "first": not cursor,
        "next": shown[-1].id if len(listed) > _ON_A_PAGE else None,
        "removed": removed,
    }
    return page(request, caller, "documents.html", values)


def _look(
    server: Server, within: Where, collection: str, where: str, behind: int
) -> tuple[list[Document], list[Collection]]:
    parts: list[Condition] = []
    if collection:
        parts.append(Compare("collection", "eq", collection))
    if where:
        parts.append(parse_filter(where))
    library = server.library
    found = library.documents.all(
        within, where=AllOf(tuple(parts)), after=behind, limit=_ON_A_PAGE + 1
    )
    return found, library.documents.collections(within)
