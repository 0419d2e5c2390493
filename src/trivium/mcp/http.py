"""The same tools over streamable HTTP, as an ASGI application to mount.

Without sessions: each request is independent, so that any worker process can answer it. The
application that mounts it puts the caller into the request's state; without a caller it refuses.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.types import Receive, Scope, Send

from trivium.access import Caller
from trivium.errors import TokenRefused
from trivium.library import Library
from trivium.mcp.server import Run, create_server

CALLER = "caller"  # in the request's state


class Mounted:
    """Enter `running` once, for as long as requests come."""

    def __init__(self, library: Library, run: Run, *, allow_write: bool = False) -> None:
        server = create_server(library, _caller, allow_write=allow_write, run=run)
        self._manager = StreamableHTTPSessionManager(server, json_response=True, stateless=True)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        async with self._manager.run():
            yield

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._manager.handle_request(scope, receive, send)


def _caller(context: Any) -> Caller:
    found = getattr(context.request.state, CALLER, None) if context.request else None
    if not isinstance(found, Caller):
        raise TokenRefused("The request has no caller.")
    return found
