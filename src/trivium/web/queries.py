"""For the owner: what people search for and don't find, and saved searches with their matches."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Form, Request
from starlette.responses import RedirectResponse, Response

from trivium.core.errors import InputError
from trivium.core.queries import Asked, LogPage
from trivium.http.asked import OWNERS, Here, Server
from trivium.library.queries import SLOW_MS
from trivium.operations.searching import LONGEST_QUERY
from trivium.web.pages import PageRoute, page

router = APIRouter(include_in_schema=False, route_class=PageRoute, dependencies=OWNERS)

_SHOWN = 50  # of each list
AGES = {"": "everything", "30d": "older than 30 days", "7d": "older than 7 days"}


@router.get("/settings/queries")
async def show(request: Request, server: Here) -> Response:
    return await _page(request, server)


@router.post("/settings/queries/delete")
async def delete(server: Here, age: Annotated[str, Form(pattern="^(30d|7d|)$")] = "") -> Response:
    await server.read(server.library.queries.forget, age)
    return RedirectResponse("/settings/queries", 303)


@router.post("/settings/alerts")
async def add_alert(
    request: Request,
    server: Here,
    q: Annotated[str, Form(max_length=LONGEST_QUERY)] = "",
    webhook: Annotated[str, Form(max_length=2000)] = "",
) -> Response:
    try:
        await server.read(server.library.alerts.add, q.strip(), webhook=webhook.strip())
    except InputError as error:
        typed = {"q": q, "webhook": webhook}
        return await _page(request, server, error, typed)
    return RedirectResponse("/settings/queries#alerts", 303)


@router.post("/settings/alerts/remove")
async def remove_alert(server: Here, alert: Annotated[str, Form(max_length=50)]) -> Response:
    await server.read(server.library.alerts.remove, alert)
    return RedirectResponse("/settings/queries#alerts", 303)


async def _page(
    request: Request,
    server: Server,
    error: InputError | None = None,
    typed: dict[str, str] | None = None,
) -> Response:
    library = server.library

    async def listed(which: LogPage) -> list[Asked]:
        return await server.read(library.queries.all, page=which)

    alerts = await server.read(library.alerts.all)
    values = {
        "mode": library.queries.mode,
        "asked": await listed(LogPage(_SHOWN)),
        "unfound": await listed(LogPage(_SHOWN, unfound=True)),
        "slow": await listed(LogPage(_SHOWN, slower_than=SLOW_MS)),
        "alerts": alerts,
        "hits": await server.read(library.alerts.hits, _SHOWN),
        "queries": {alert.id: alert.query for alert in alerts},
        "typed": typed or {"q": "", "webhook": ""},
        "ages": AGES,
        "longest": LONGEST_QUERY,
    }
    return page(request, "queries.html", values, error=error)
