"""Screens for the owner: settings and their origins, tokens, collections."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated

from fastapi import APIRouter, Form, Query, Request
from starlette.responses import RedirectResponse, Response

from trivium import __version__
from trivium.chunk.choose import STRATEGIES
from trivium.config import Effective, SettingAnswer, config_file, listed
from trivium.core.access import MOST_OF_QUOTA, Quota, Right
from trivium.core.errors import BadSetting, InputError, TriviumError
from trivium.http.asked import OWNERS, Here, Server
from trivium.http.routes.tokens import tokens_with_use
from trivium.operations.searching import MOST_NAMES
from trivium.web.pages import PageRoute, page

router = APIRouter(include_in_schema=False, route_class=PageRoute, dependencies=OWNERS)

# What people want to set, and how the names of its settings begin.
GROUPS = {
    "Library and files": ("preset", "library", "cache", "archive", "index"),
    "Reading and passages": ("read", "audio", "chunk"),
    "Searching": ("search", "analysis", "fusion", "rerank"),
    "Answering": ("ask", "generate"),
    "Models": ("embed", "models"),
    "Serving, access and quotas": ("serve", "signin", "quota"),
    "Sources and logs": ("sync", "log"),
}
PERIODS = {"": "never", "1d": "in a day", "30d": "in 30 days", "52w": "in a year"}
_Text = Annotated[str, Form(max_length=200)]
_Limit = Annotated[int, Form(ge=0, le=MOST_OF_QUOTA)]
_Names = Annotated[list[str] | None, Form(max_length=MOST_NAMES)]


@router.get("/settings")
async def settings(
    request: Request,
    server: Here,
    find: Annotated[str, Query(max_length=200)] = "",
    changed: bool = False,
) -> Response:
    """Read-only: the page can't change what a file or the environment sets."""
    matches = [
        setting
        for setting in listed(Effective(server.settings, server.origins))
        if _speaks_of(setting, find.lower().split()) and (setting.changed or not changed)
    ]
    groups = {
        heading: [setting for setting in matches if setting.name.partition(".")[0] in beginnings]
        for heading, beginnings in GROUPS.items()
    }
    values = {
        "groups": {heading: some for heading, some in groups.items() if some},
        "count": len(matches),
        "find": find,
        "changed": changed,
        "file": config_file(),
        "library": server.library.backend.folder,
        "version": __version__,
    }
    return page(request, "settings.html", values)


def _speaks_of(setting: SettingAnswer, words: Sequence[str]) -> bool:
    text = f"{setting.name} {setting.value} {setting.origin} {setting.help}".lower()
    return all(word in text for word in words)


@router.get("/settings/tokens")
async def tokens(request: Request, server: Here) -> Response:
    return await _tokens(request, server)


@router.post("/settings/tokens")
async def create_token(
    request: Request,
    server: Here,
    name: _Text = "",
    audiences: Annotated[str, Form(max_length=2000)] = "",
    every: Annotated[bool, Form()] = False,
    collection: _Names = None,
    right: _Names = None,
    expires: _Text = "",
    documents: _Limit = 0,
    bytes: _Limit = 0,
    searches: _Limit = 0,
) -> Response:
    """Show the new token in this answer only: no address leads back to it."""
    labels = [label.strip() for label in audiences.split(",") if label.strip()]
    try:
        if every and labels:
            raise BadSetting(
                "You chose all labels and named some.", fix="Clear the labels or the checkbox."
            )
        token, text = await server.read(
            server.library.tokens.create,
            audiences=None if every else labels,
            collections=collection or None,
            rights=right or (),
            expires=expires,
            name=name.strip(),
            quota=Quota(documents, bytes, searches),
        )
    except InputError as error:
        typed = {"name": name, "audiences": audiences, "every": every, "expires": expires}
        typed |= {"collection": collection or (), "right": right or ()}
        typed |= {"documents": documents, "bytes": bytes, "searches": searches}
        return await _tokens(request, server, error=error, typed=typed)
    return await _tokens(request, server, made=(token.name or token.id, text))


@router.post("/settings/tokens/revoke")
async def revoke(server: Here, token: Annotated[str, Form(max_length=50)]) -> Response:
    await server.read(server.library.tokens.revoke, token)
    return RedirectResponse("/settings/tokens", 303)


async def _tokens(
    request: Request,
    server: Server,
    *,
    made: tuple[str, str] | None = None,
    error: TriviumError | None = None,
    typed: Mapping[str, object] | None = None,
) -> Response:
    fresh = {"name": "", "audiences": "", "every": False, "expires": "30d"}
    fresh |= {"documents": 0, "bytes": 0, "searches": 0}
    values = {
        "typed": typed or {**fresh, "collection": (), "right": (Right.SEARCH,)},
        "tokens": await server.read(tokens_with_use, server),
        "collections": await server.read(server.library.documents.collections),
        "rights": list(Right),
        "periods": PERIODS,
        "open_to_all": server.callers.open_to_all,
        "made": made,
    }
    return page(request, "tokens.html", values, error=error)


@router.get("/settings/collections")
async def collections(request: Request, server: Here) -> Response:
    values = {
        "collections": await server.read(server.library.documents.collections),
        "used": (await server.read(server.library.quotas.used))[1],
        "limits": server.library.quotas.collections,
        "strategies": STRATEGIES,
        "otherwise": server.settings.chunk_strategy,
    }
    return page(request, "collections.html", values)


@router.post("/settings/collections")
async def set_chunker(
    server: Here,
    collection: Annotated[str, Form(min_length=1, max_length=200, pattern=r"\S")],
    chunker: _Text,
) -> Response:
    await server.writing.run(server.library.documents.set_chunker, collection.strip(), chunker)
    return RedirectResponse("/settings/collections", 303)
