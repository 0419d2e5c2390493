"""The History screen: a document's interpretations, compared and restored."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Form, Request
from starlette.responses import RedirectResponse, Response

from trivium.core.history import Difference, Interpretation
from trivium.core.types import Document, Where
from trivium.http.asked import Here, Keeper, Reader, Server
from trivium.http.routes.documents import Id
from trivium.http.routing import in_query
from trivium.operations.listing import Diff
from trivium.web.pages import PageRoute, page

router = APIRouter(include_in_schema=False, route_class=PageRoute)

_MOST_LINES = 2_000  # of a comparison: more is not read


@dataclass(frozen=True, slots=True)
class HistoryView:
    document: Document
    past: list[Interpretation]  # newest first
    difference: Difference | None

    @property
    def lines(self) -> list[tuple[str, str, str]]:
        """The comparison line by line: kind, sign, text."""
        kinds = {"+": "added", "-": "removed", "@": "place"}
        shown = self.difference.lines[:_MOST_LINES] if self.difference else ()
        return [
            (kinds.get(line[:1], "same"), line[:1] if line[:1] in "+-" else "", _bare(line))
            for line in shown
        ]

    @property
    def left_out(self) -> int:
        return max(0, len(self.difference.lines) - _MOST_LINES) if self.difference else 0


def _bare(line: str) -> str:
    return "⋯" if line.startswith("@@") else line[1:]


@router.get("/documents/{id}/history")
async def history(
    request: Request,
    server: Here,
    caller: Reader,
    id: Id,
    compared: Annotated[Diff, in_query(Diff)],
) -> Response:
    """Every interpretation, and a comparison of two, by default the last two."""
    view = await server.read(_look, server, id, caller.within(), compared)
    return page(request, "history.html", {"view": view})


def _look(server: Server, id_: int, within: Where, diff: Diff) -> HistoryView:
    document = server.library.documents.get(id_, within)
    past = server.library.history.of(id_, within)
    several = len(past) > 1
    difference = server.library.history.diff(id_, diff.old, diff.new, within) if several else None
    return HistoryView(document, past[::-1], difference)


@router.post("/documents/{id}/restore")
async def restore(
    server: Here, caller: Keeper, id: Id, number: Annotated[int, Form(ge=1, le=2**31)]
) -> Response:
    """Make an old interpretation's text the active one again, as a new interpretation."""
    await server.writing.run(server.library.restore, id, number, within=caller.within())
    return RedirectResponse(f"/documents/{id}/history", 303)
