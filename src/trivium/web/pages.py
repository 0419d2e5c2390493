"""Renders templates: a whole page, or the parts of one that a script asks for by name.

A part is a block of the page's template, so each thing is rendered in one place. An error becomes a
page that explains it. Knows nothing of particular screens.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from trivium.core.access import Caller, Right
from trivium.core.advice import advice, retold
from trivium.core.errors import RequestInvalid, SessionExpired, TokenRefused, TriviumError
from trivium.http.asked import COOKIE
from trivium.http.problems import PART, status_of
from trivium.text.times import place_parts, span
from trivium.text.titles import file_of
from trivium.web.assets import address
from trivium.web.wording import fact_name, slip_of, type_name

THEME = "trivium_theme"  # the cookie of who prefers light or dark, whatever their system does
_HEADERS = {
    # A page and its parts have one address; and what a caller may see is for nobody's cache.
    "Vary": "X-Part, Cookie",
    "Cache-Control": "no-store",
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:;"
        " media-src 'self';"
        " connect-src 'self'; font-src 'self'; form-action 'self'; base-uri 'none';"
        " frame-ancestors 'none'"
    ),
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
}


@cache
def _templates() -> Environment:
    made = Environment(
        loader=FileSystemLoader(Path(__file__).parent / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    # A block alone does not see what its template imports, so the macros are everybody's.
    made.globals.update(static=address, query=query, type_name=type_name, fact_name=fact_name)
    made.globals.update(advice=advice, retold=retold, span=span, file_of=file_of)
    made.globals.update(place_parts=place_parts, slip_of=slip_of)
    made.globals.update(pieces=made.get_template("pieces.html").module)
    return made


def query(pairs: Mapping[str, object] | list[tuple[str, str]]) -> str:
    """An address's query, for links made in templates."""
    return urlencode(pairs, doseq=True, quote_via=quote)


def page(
    request: Request,
    template: str,
    values: Mapping[str, object],
    *,
    error: TriviumError | None = None,
    status: int = 200,
) -> HTMLResponse:
    """The page, or the blocks that the request names. Escapes every value. With an error, the page
    explains it above the form, which keeps what was typed."""
    made = _templates().get_template(template)
    shown = {**_frame(request), "error": error, **values}
    status = status_of(error) if error else status
    wanted = request.headers.get(PART, "").split()
    if not wanted:
        return HTMLResponse(made.render(shown), status, headers=_HEADERS)
    context = made.new_context(shown)
    parts = [block for name in wanted if (block := made.blocks.get(name))]
    text = "".join(piece for block in parts for piece in block(context))
    return HTMLResponse(text, status, headers=_HEADERS)


def fragment(template: str, values: Mapping[str, object]) -> str:
    """A piece of a page, for a stream. Escapes every value."""
    return _templates().get_template(template).render(values)


def _frame(request: Request) -> dict[str, object]:
    """The values every page's frame needs."""
    caller: Caller | None = getattr(request.state, "caller", None)
    theme = request.cookies.get(THEME, "")
    rights = caller.rights if caller else frozenset()
    return {
        "caller": caller,
        "may_search": Right.SEARCH in rights,
        "may_add": Right.ADD in rights,
        "may_manage": Right.MANAGE in rights,
        "is_owner": bool(caller and caller.is_owner),
        "signed_in": bool(caller and caller.id and COOKIE in request.cookies),
        "theme": theme if theme in ("light", "dark") else "",
        "path": request.url.path,
        "here": here(request),
        "most_bytes": request.app.state.server.settings.read_max_bytes,
    }


def here(request: Request) -> str:
    """This page's own address, for coming back."""
    return request.url.path + (f"?{request.url.query}" if request.url.query else "")


def back_to(address: str) -> str:
    """Where to go after a form, if it is on this server; `//host` isn't."""
    ours = address.startswith("/") and not address.startswith(("//", "/\\"))
    return address if ours and address.isprintable() else "/"


def failed(request: Request, error: TriviumError) -> Response:
    """An error as a page. Asks callers without access for a token first."""
    whole = PART not in request.headers
    if isinstance(error, TokenRefused) and whole and request.method == "GET":
        place, following = "/login", {"next": here(request)}
        if isinstance(error, SessionExpired) and request.app.state.server.provider:
            place, following = "/login/start", {**following, "renew": "1"}
        answer = RedirectResponse(f"{place}?{query(following)}", 303)
        if COOKIE in request.cookies:
            answer.delete_cookie(COOKIE, path="/")
        return answer
    status = status_of(error)
    if whole:
        return page(request, "error.html", {"status": status}, error=error)
    text = _templates().get_template("base.html")
    context = text.new_context({"error": error})
    return HTMLResponse("".join(text.blocks["alert"](context)), status, headers=_HEADERS)


class PageRoute(APIRoute):
    """A route for browsers: its errors are pages."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()

        async def handled(request: Request) -> Response:
            try:
                return await handle(request)
            except TriviumError as error:
                return failed(request, error)
            except RequestValidationError as error:
                first = error.errors()[0]
                where = ".".join(str(part) for part in first["loc"][1:])
                return failed(request, RequestInvalid(f"{where}: {first['msg']}."))

        return handled
