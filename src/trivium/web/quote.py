"""The Quote screen: where a pasted text comes from."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Form, Request
from starlette.responses import Response

from trivium.core.answers import Quotation
from trivium.core.errors import InputError
from trivium.http.asked import Here, Reader
from trivium.operations.quoting import LONGEST_QUOTE
from trivium.web.pages import PageRoute, page

router = APIRouter(include_in_schema=False, route_class=PageRoute)


@router.get("/quote")
async def show(request: Request, caller: Reader) -> Response:
    return _page(request)


@router.post("/quote")
async def find(
    request: Request,
    server: Here,
    caller: Reader,
    text: Annotated[str, Form(max_length=LONGEST_QUOTE)] = "",
) -> Response:
    try:
        quotation = await server.read(server.library.quote, text, within=caller.within())
    except InputError as error:
        return _page(request, text, error=error)
    return _page(request, text, quotation)


def _page(
    request: Request,
    text: str = "",
    quotation: Quotation | None = None,
    error: InputError | None = None,
) -> Response:
    values = {"text": text, "found": quotation, "longest": LONGEST_QUOTE}
    return page(request, "quote.html", values, error=error)
