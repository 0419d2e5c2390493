"""Signing in and out, with a token in a cookie; and light or dark.

The cookie holds the token itself. The door checks it like a bearer token on every request, so a
revoked token stops working at once and the server keeps no sessions.
"""

from __future__ import annotations

from typing import Annotated

from anyio import to_thread
from fastapi import APIRouter, Form, Query, Request
from starlette.responses import RedirectResponse, Response

from trivium.core.errors import TokenRefused
from trivium.http.asked import COOKIE, Here
from trivium.web.pages import THEME, PageRoute, back_to, page

router = APIRouter(include_in_schema=False, route_class=PageRoute)

_LONGEST_TOKEN = 200
_A_YEAR = 365 * 86_400
Address = Annotated[str, Query(max_length=20_000)]
AddressField = Annotated[str, Form(max_length=20_000)]


@router.get("/login")
async def login(request: Request, next: Address = "/") -> Response:  # noqa: A002
    return page(request, None, "login.html", {"next": back_to(next), "refused": ""})


@router.post("/login")
async def enter(
    request: Request,
    server: Here,
    token: Annotated[str, Form(max_length=_LONGEST_TOKEN)] = "",
    next: AddressField = "/",  # noqa: A002
) -> Response:
    try:
        await to_thread.run_sync(server.door.enter, f"Bearer {token.strip()}")
    except TokenRefused as error:
        told = {"next": back_to(next), "refused": error.message}
        return page(request, None, "login.html", told, status=401)
    answer = RedirectResponse(back_to(next), 303)
    answer.set_cookie(
        COOKIE,
        token.strip(),
        path="/",
        httponly=True,
        samesite="strict",
        secure=request.url.scheme == "https",
    )
    return answer


@router.post("/logout")
async def leave() -> Response:
    answer = RedirectResponse("/login", 303)
    answer.delete_cookie(COOKIE, path="/")
    return answer


@router.post("/theme")
async def theme(
    theme: Annotated[str, Form(pattern="^(light|dark|)$")] = "",
    next: AddressField = "/",  # noqa: A002
) -> Response:
    """Set light or dark; without either the page follows the system."""
    answer = RedirectResponse(back_to(next), 303)
    if theme:
        answer.set_cookie(THEME, theme, path="/", max_age=_A_YEAR, samesite="strict")
    else:
        answer.delete_cookie(THEME, path="/")
    return answer
