"""Puts the server together: routes under /v1, the guard in front, MCP, the API description."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, nullcontext
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from starlette.middleware.cors import CORSMiddleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.routing import Route

from trivium import __version__
from trivium.config import Settings
from trivium.http.asked import Server
from trivium.http.assistants import PATH, Assistants
from trivium.http.callers import Callers
from trivium.http.guard import LOOPBACK, Guard, GuardRules
from trivium.http.limiter import Limiter
from trivium.http.metrics import Metrics
from trivium.http.problems import Problem, explained
from trivium.http.routes import (
    about,
    documents,
    evaluations,
    files,
    jobs,
    query,
    search,
    sources,
    sync,
    tokens,
)
from trivium.http.routing import Described, attach
from trivium.http.signin import Provider
from trivium.http.streaming import LONGEST_SECONDS
from trivium.library import Library
from trivium.library.background import Background
from trivium.mcp.http import Mounted
from trivium.operations.catalogue import OPERATIONS

_COMPRESSED = 1_000  # bytes: less fits into one packet anyway
# Threads that write, or wait until another writes: waiting costs a look every .2 s. The library
# itself lets few run.
_WRITING = 32
_FETCHING = 8  # addresses at once: each may bring a whole file into memory
_ASKING = 8  # questions answered at once: each holds a thread, mostly while a model writes
_MODEL_CALLS = 3  # of one answer: to stand alone, to guess, to write
_DESCRIPTION = """Search your own documents by meaning, words and spelling at once, with explained
results. A token gives access only to documents with its labels (audiences) and in its collections.
Errors are problem documents (RFC 9457) with stable codes."""


def create_app(
    library: Library,
    settings: Settings,
    *,
    open_to_all: bool = False,
    any_host: bool = False,
    allow_write: bool = False,
    origins: Mapping[str, str] | None = None,
    tend: bool = False,
    on_close: Callable[[], None] | None = None,
    furnish: Callable[[FastAPI], None] | None = None,
) -> FastAPI:
    """The server over an opened library, as an ASGI application.

    `open_to_all`: requests without a token count as the owner's. `any_host`: accept any host name;
    safe if every request needs a token, which no foreign page has. `allow_write`: assistants may
    write if their token allows it. `origins`: where each setting's value comes from, by name.
    `tend`: run jobs and follow watched folders here. `furnish` adds the pages of `web`, which this
    package doesn't know.
    """
    background = Background(library) if tend else None
    server = _server(library, settings, open_to_all, origins or {}, background)
    assistants = Mounted(library, server.read, allow_write=allow_write)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        async with assistants.running():
            with background or nullcontext():
                yield
        server.judging.close()
        server.asking.close()
        server.reading.close()
        server.fetching.close()
        server.writing.close()
        if on_close:
            on_close()

    app = FastAPI(
        title="Trivium",
        version=__version__,
        description=_DESCRIPTION,
        lifespan=lifespan,
        docs_url=None,  # its page would fetch scripts from another host
        redoc_url=None,
        separate_input_output_schemas=False,
    )
    app.state.server = server
    explained(app)
    for part in (search, query, documents, files, jobs, sources, sync, evaluations, tokens, about):
        attach(app, part.router)
    attach(app, about.health)
    app.router.routes.append(Route(PATH, Assistants(assistants, server.callers)))
    app.openapi = lambda: _described(app)  # type: ignore[method-assign]
    if furnish:
        furnish(app)
    _protect(app, server, any_host)
    return app


def _server(
    library: Library,
    settings: Settings,
    open_to_all: bool,
    origins: Mapping[str, str],
    background: Background | None,
) -> Server:
    s = settings
    parallel = s.serve_parallel or 4 * (os.cpu_count() or 1)
    server = Server(
        library=library,
        settings=s,
        # Each worker sees its share of the requests only.
        callers=Callers(
            library,
            open_to_all=open_to_all,
            rate=s.serve_rate / max(1, s.serve_workers),
            processes=s.serve_workers,
        ),
        # No token takes all places, however slow its requests are.
        reading=Limiter(parallel, s.serve_waiting, s.serve_seconds, share=parallel * 3 // 4),
        writing=Limiter(
            _WRITING,
            s.serve_waiting,
            max(s.serve_seconds, s.read_seconds),
            "The server is still working on it. Check again later.",
            share=_WRITING // 4,
        ),
        fetching=Limiter(
            _FETCHING, s.serve_waiting, s.serve_seconds + s.read_seconds, share=_FETCHING // 4
        ),
        asking=Limiter(
            _ASKING, s.serve_waiting, s.serve_seconds + _MODEL_CALLS * s.generate_seconds
        ),
        judging=Limiter(1, 0, LONGEST_SECONDS),  # it takes all there is: one at a time, or not now
        metrics=Metrics(),
        origins=origins,
        background=background,
        provider=Provider(s) if s.signin_issuer else None,
    )
    library.observe_searches(server.metrics.searched)
    watch = server.metrics.watch
    watch("trivium_at_work", "Requests in progress.", lambda: server.reading.at_work)
    watch("trivium_answering", "Questions in progress.", lambda: server.asking.at_work)
    watch("trivium_streams", "Open streams.", lambda: server.streams.open)
    watch("trivium_waiting", "Requests in the queue.", lambda: server.reading.waiting)
    meters = library.backend.upkeep.meters
    watch("trivium_connections_open", "To the database.", lambda: meters().connections_open)
    watch("trivium_connections_used", "Of those, in use.", lambda: meters().connections_used)
    watch("trivium_cache_hits", "Words found in memory.", lambda: meters().cache_hits)
    watch("trivium_cache_misses", "Words read again.", lambda: meters().cache_misses)
    return server


def _protect(app: FastAPI, server: Server, any_host: bool) -> None:
    s = server.settings
    origins = listed(s.serve_origins)
    hosts = {s.serve_host.strip("[]").lower(), *(h.lower() for h in listed(s.serve_hosts))}
    rules = GuardRules(
        hosts=frozenset({"*"}) if any_host else LOOPBACK | hosts,
        origins=frozenset(origins),
        upload_paths=files.UPLOADS,
        upload_bytes=s.read_max_bytes + files.OVERHEAD,
    )
    app.add_middleware(GZipMiddleware, minimum_size=_COMPRESSED)
    if origins:
        app.add_middleware(
            CORSMiddleware,
            allow_origins=origins,
            allow_methods=["GET", "POST", "DELETE"],
            allow_headers=["Authorization", "Content-Type", "If-None-Match", "X-Request-ID"],
            expose_headers=["ETag", "Retry-After", "X-Request-ID"],
        )
    app.add_middleware(Guard, rules=rules, metrics=server.metrics)


def listed(text: str) -> list[str]:
    """Split a comma-separated list."""
    return [part.strip() for part in text.split(",") if part.strip()]


def _described(app: FastAPI) -> dict[str, Any]:
    """FastAPI's description, with the catalogue's line for each operation and our problem documents
    instead of its validation errors."""
    if app.openapi_schema is None:
        for route in app.routes:
            if isinstance(route, Described):
                route.describe()
        fields = get_openapi(
            title=app.title, version=app.version, description=app.description, routes=app.routes
        )
        schemas = fields.setdefault("components", {}).setdefault("schemas", {})
        for name in ("HTTPValidationError", "ValidationError"):
            schemas.pop(name, None)
        schemas["Problem"] = Problem.model_json_schema()
        for described in (item for path in fields["paths"].values() for item in path.values()):
            if operation := OPERATIONS.get(described["operationId"]):
                described["summary"] = operation.says
                described.setdefault("description", operation.says)
        app.openapi_schema = fields
    return app.openapi_schema
