"""The Sources screen: state, counts, errors and verification of synced sources."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Annotated

from fastapi import APIRouter, Form, Request
from starlette.responses import RedirectResponse, Response

from trivium.core.errors import TriviumError
from trivium.core.pace import time_left
from trivium.core.work import KeptSource
from trivium.http.asked import OWNERS, Here, Server
from trivium.http.routes.sync import LONGEST_WAIT
from trivium.library.sync import Checked, Verified, period_of, seconds_of
from trivium.sources import kinds
from trivium.web.pages import PageRoute, page

router = APIRouter(include_in_schema=False, route_class=PageRoute, dependencies=OWNERS)

SHOWN = 50  # failures and differences of a source
_PLACE = "/settings/sources"
Name = Annotated[str, Form(min_length=1, max_length=64)]
Short = Annotated[str, Form(max_length=200)]


@router.get(_PLACE)
async def show(request: Request, server: Here) -> Response:
    return await _page(request, server)


@router.post(_PLACE)
async def add(
    request: Request,
    server: Here,
    kind: Annotated[str, Form(min_length=1, max_length=64)],
    name: Short = "",
    collection: Short = "",
    audience: Short = "",
    every: Short = "",
) -> Response:
    """Each option has a field, and each secret; those left empty aren't given."""
    form = await request.form()
    filled = {key: str(value).strip() for key, value in form.items() if str(value).strip()}
    source = KeptSource(
        name.strip() or kind,
        kind,
        _named(filled, "option."),
        _named(filled, "secret."),
        collection.strip() or "default",
        None,
        audience.strip() or None,
        seconds_of(every),
    )
    await server.read(server.library.sync.receive, source, check=True)
    return RedirectResponse(_PLACE, 303)


def _named(filled: Mapping[str, str], begin: str) -> dict[str, str]:
    return {key.removeprefix(begin): text for key, text in filled.items() if key.startswith(begin)}


@router.post(f"{_PLACE}/steer")
async def steer(
    request: Request,
    server: Here,
    source: Name,
    act: Annotated[str, Form(pattern="^(run|full|pause|resume|remove|verify|check)$")],
) -> Response:
    sync = server.library.sync
    if act == "verify":
        verified = await server.read(sync.verify, source, longest_wait=LONGEST_WAIT)
        return await _page(request, server, verified=verified)
    if act == "check":
        checked = await server.read(lambda: sync.check(sync.get(source)))
        return await _page(request, server, checked=checked)
    acts: dict[str, Callable[[], object]] = {
        "run": partial(sync.ask, source),
        "full": partial(sync.ask, source, full=True),
        "pause": partial(sync.pause, source),
        "resume": partial(sync.resume, source),
        "remove": partial(sync.remove, source),
    }
    await server.read(acts[act])
    return RedirectResponse(_PLACE, 303)


async def _page(
    request: Request,
    server: Server,
    *,
    verified: Verified | None = None,
    checked: Checked | None = None,
) -> Response:
    library = server.library

    def look() -> list[dict[str, object]]:
        return [
            {
                "told": library.sync.told(source),
                "failures": library.sync.failures(source.name)[:SHOWN],
                "left": time_left(source.run.seconds_left),
                "every": period_of(source.every),
            }
            for source in library.sync.all()
        ]

    def known() -> list[object]:
        working: list[object] = []
        for name in kinds.entries():
            try:
                working.append(kinds.kind_of(name))
            except TriviumError:
                continue  # another package's, and broken
        return working

    values = {
        "sources": await server.read(look),
        "kinds": await server.read(known),
        "verified": verified,
        "checked": checked,
        "shown": SHOWN,
    }
    return page(request, "sources.html", values)
