"""Signing in and out, with a token in a cookie; and light or dark.

The cookie holds the token itself. `Callers` checks it like a bearer token on every request, so a
revoked token stops working at once. Who signs in through a provider gets a token that expires: that
is the session, so it ends as every token does, in all processes.
"""

from __future__ import annotations

from typing import Annotated
from urllib.parse import quote, unquote

from anyio import to_thread
from fastapi import APIRouter, Form, Query, Request
from starlette.responses import JSONResponse, RedirectResponse, Response

from trivium.core.errors import SignInRefused, TokenRefused
from trivium.http.asked import COOKIE, Here, Server, is_foreign
from trivium.http.signin import DONE, ENDED, Attempt
from trivium.web.pages import THEME, PageRoute, back_to, page, query

router = APIRouter(include_in_schema=False, route_class=PageRoute)

_LONGEST_TOKEN = 200
_ATTEMPT = "trivium_attempt"  # the cookie of who is at the provider just now
_ATTEMPT_SECONDS = 600  # to type a password and a second factor
_ID_TOKEN = "trivium_id_token"  # the cookie for signing out; browsers keep 4 KB of one
_LONGEST_ID_TOKEN = 3_900
_LONGEST_LOGOUT_TOKEN = 20_000
_A_YEAR = 365 * 86_400
Address = Annotated[str, Query(max_length=20_000)]
AddressField = Annotated[str, Form(max_length=20_000)]


@router.get("/login")
async def login(request: Request, server: Here, next: Address = "/") -> Response:
    return _login(request, server, next)


def _login(request: Request, server: Server, following: str, refused: str = "") -> Response:
    values = {
        "next": back_to(following),
        "refused": refused,
        "provider": server.provider.name if server.provider else "",
    }
    return page(request, "login.html", values, status=401 if refused else 200)


@router.post("/login")
async def enter(
    request: Request,
    server: Here,
    token: Annotated[str, Form(max_length=_LONGEST_TOKEN)] = "",
    next: AddressField = "/",
) -> Response:
    try:
        await to_thread.run_sync(server.callers.enter, f"Bearer {token.strip()}")
    except TokenRefused as error:
        return _login(request, server, next, error.message)
    answer = RedirectResponse(back_to(next), 303)
    _keep(answer, request, token.strip())
    return answer


def _keep(
    answer: Response, request: Request, token: str, name: str = COOKIE, path: str = "/"
) -> None:
    answer.set_cookie(
        name, token, path=path, httponly=True, samesite="strict", secure=_is_https(request)
    )


def _is_https(request: Request) -> bool:
    """Of people, whatever a proxy in front speaks with us."""
    text: str = request.app.state.server.settings.signin_address
    return "https" in (request.url.scheme, text.partition(":")[0])


@router.get("/login/start")
async def start(
    request: Request, server: Here, next: Address = "/", renew: bool = False
) -> Response:
    """Send the browser to the provider. Another site's page may not: it could sign people in as
    someone else. `renew`: a session has expired; its person needn't notice."""
    if server.provider is None or is_foreign(request):
        return RedirectResponse("/login", 303)
    attempt = Attempt()
    address = await server.fetching.run(server.provider.address, attempt, silently=renew)
    answer = RedirectResponse(address, 303)
    answer.set_cookie(
        _ATTEMPT,
        f"{attempt.secret}.{quote(back_to(next), safe='')}",
        max_age=_ATTEMPT_SECONDS,
        path="/login",
        httponly=True,
        samesite="lax",  # the provider's page leads back here
        secure=_is_https(request),
    )
    return answer


@router.get(DONE)
async def done(request: Request, server: Here) -> Response:
    """Back from the provider. A page of ours leads on: a browser would send no strict cookie with a
    redirect that began at the provider's."""
    secret, _, following = request.cookies.get(_ATTEMPT, "").partition(".")
    if server.provider is None or not secret:
        raise SignInRefused(
            "You didn't begin to sign in here, or it took too long.", fix="Sign in again."
        )
    if server.provider.needs_person(request.query_params):
        return RedirectResponse(f"/login?{query({'next': back_to(unquote(following))})}", 303)
    person = await server.fetching.run(
        server.provider.person, dict(request.query_params), Attempt(secret)
    )
    _, token = await server.fetching.run(
        server.library.tokens.create,
        audiences=person.grant.audiences,
        rights=person.grant.rights,
        expires=server.settings.signin_expires,
        name=person.name,
        person=person.id,
        session=person.session,
    )
    answer = page(
        request, "leading_on.html", {"next": back_to(unquote(following)), "did": "Signed in"}
    )
    _keep(answer, request, token)
    if len(person.id_token) <= _LONGEST_ID_TOKEN:
        _keep(answer, request, person.id_token, _ID_TOKEN, "/logout")
    answer.delete_cookie(_ATTEMPT, path="/login")
    return answer


@router.post(ENDED)
async def ended(
    server: Here, logout_token: Annotated[str, Form(max_length=_LONGEST_LOGOUT_TOKEN)] = ""
) -> Response:
    """The provider says that it has ended a session (OpenID Connect Back-Channel Logout 1.0)."""
    headers = {"Cache-Control": "no-store"}
    try:
        if server.provider is None:
            raise SignInRefused("This server has no sign-in provider.")
        about = await server.fetching.run(server.provider.ended, logout_token)
    except SignInRefused as error:
        problem = {"error": "invalid_request", "error_description": error.message}
        return JSONResponse(problem, 400, headers)
    await server.fetching.run(server.library.tokens.end_sessions, *about)
    return Response(status_code=200, headers=headers)


@router.post("/logout")
async def leave(request: Request, server: Here) -> Response:
    """Ends a session, at the provider too; a token that someone pasted stays valid."""
    token = request.cookies.get(COOKIE, "")
    ended = await server.fetching.run(server.library.tokens.end_session, token)
    answer: Response = RedirectResponse("/login", 303)
    if ended and server.provider is not None:
        id_token = request.cookies.get(_ID_TOKEN, "")
        place = await server.fetching.run(server.provider.farewell, id_token)
        if place:  # from a page: a browser follows no form to another site (form-action)
            answer = page(request, "leading_on.html", {"next": place, "did": "Signed out"})
    answer.delete_cookie(COOKIE, path="/")
    answer.delete_cookie(_ID_TOKEN, path="/logout")
    return answer


@router.post("/theme")
async def theme(
    theme: Annotated[str, Form(pattern="^(light|dark|)$")] = "", next: AddressField = "/"
) -> Response:
    """Set light or dark; without either the page follows the system."""
    answer = RedirectResponse(back_to(next), 303)
    if theme:
        answer.set_cookie(THEME, theme, path="/", max_age=_A_YEAR, samesite="strict")
    else:
        answer.delete_cookie(THEME, path="/")
    return answer
