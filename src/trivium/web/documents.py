"""The Documents screen: find by name, filter and sort, a page at a time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from trivium.core.errors import BadFilter
from trivium.core.types import AllOf, Compare, Condition, Document, Where
from trivium.http.asked import Here, Reader, Server
from trivium.operations.searching import LONGEST_FILTER
from trivium.text.filters import parse_filter
from trivium.web.pages import PageRoute, page, query
from trivium.web.state import corrected
from trivium.web.wording import type_name

router = APIRouter(include_in_schema=False, route_class=PageRoute)

_ON_A_PAGE = 50
_MOST_SORTED = 10_000  # documents: .2 s; of more, those that were added first
Order = Literal["title", "-title", "type", "-type", "passages", "-passages", "changed", "-changed"]
_KEYS: dict[str, Callable[[Document], Any]] = {
    "title": lambda document: document.title.casefold(),
    "type": lambda document: type_name(document.media_type).casefold(),
    "passages": lambda document: document.chunks,
    "changed": lambda document: document.updated_at,
}


@dataclass(frozen=True, slots=True)
class Listed:
    """Which documents to list and in which order, from the address."""

    find: str = ""  # part of a title or a file name
    collection: str = ""
    where: str = ""
    sort: str = "-changed"

    def address(self, **changes: object) -> str:
        fields = {"find": self.find, "collection": self.collection, "where": self.where}
        fields |= {"sort": "" if self.sort == "-changed" else self.sort}
        pairs = {name: str(value) for name, value in {**fields, **changes}.items() if value}
        return f"/documents?{query(pairs)}" if pairs else "/documents"

    def meaning(self, value: str, meant: str) -> str:
        """The address with a filter's mistyped value corrected."""
        return self.address(where=corrected(self.where, value, meant))

    def sorting(self, column: str) -> str:
        """The address sorted by this column, or reversed if it already is."""
        return self.address(sort=f"-{column}" if self.sort == column else column)

    def direction(self, column: str) -> str:
        """For `aria-sort`."""
        orders = {column: "ascending", f"-{column}": "descending"}
        return orders.get(self.sort, "none")


@router.get("/documents")
async def documents(
    request: Request,
    server: Here,
    caller: Reader,
    find: Annotated[str, Query(max_length=200)] = "",
    collection: Annotated[str, Query(max_length=200)] = "",
    where: Annotated[str, Query(max_length=LONGEST_FILTER)] = "",
    sort: Order = "-changed",
    at: Annotated[int, Query(ge=0, le=_MOST_SORTED)] = 0,
    removed: bool = False,
) -> Response:
    """One page of the documents, by name, filter and order."""
    listed, error = Listed(find.strip(), collection, where.strip(), sort), None
    collections = await server.read(server.library.documents.collections, caller.within())
    try:
        matches, slips = await server.read(_look, server, caller.within(), listed)
    except BadFilter as reason:
        matches, slips, error = [], (), reason
    values = {
        "documents": matches[at : at + _ON_A_PAGE],
        "collections": collections,
        "asked": listed,
        "count": len(matches),
        "most": _MOST_SORTED,
        "before": max(0, at - _ON_A_PAGE) if at else None,
        "next": at + _ON_A_PAGE if len(matches) > at + _ON_A_PAGE else None,
        "at": at,
        "slips": slips,
        "removed": removed,
    }
    return page(request, "documents.html", values, error=error)


def _look(server: Server, within: Where, listed: Listed) -> tuple[list[Document], tuple[str, ...]]:
    parts: list[Condition] = []
    if listed.collection:
        parts.append(Compare("collection", "eq", listed.collection))
    if listed.where:
        parts.append(parse_filter(listed.where))
    library, condition = server.library, AllOf(tuple(parts))
    matches = library.documents.all(within, where=condition, limit=_MOST_SORTED)
    slips = () if matches or not parts else library.documents.slips(within.narrowed(condition))
    words = listed.find.casefold().split()
    matches = [document for document in matches if all(word in _named(document) for word in words)]
    key, backwards = _KEYS[listed.sort.removeprefix("-")], listed.sort.startswith("-")
    # Of equal ones the newest first, whichever way round.
    matches.sort(key=lambda document: -document.id)
    matches.sort(key=key, reverse=backwards)
    return matches, slips


def _named(document: Document) -> str:
    return f"{document.title} {document.uri} {' '.join(document.names)}".casefold()
