"""The same tools over streamable HTTP, as an ASGI application to mount.

Without sessions: each request is independent, so that any worker process can answer it. The
application that mounts it puts the caller into the request's state; without a caller it refuses.

The protocol's packages are loaded with the first request. They take a third of the processor time
of a server's start (.9 s of 2.8), and many servers never meet an assistant.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from anyio import TASK_STATUS_IGNORED, Lock, create_task_group, sleep_forever, to_thread
from anyio.abc import TaskGroup, TaskStatus
from starlette.types import Receive, Scope, Send

from trivium.core.access import Caller
from trivium.core.errors import TokenRefused
from trivium.library import Library

if TYPE_CHECKING:
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

    from trivium.mcp.server import Run

CALLER = "caller"  # in the request's state


class Mounted:
    """Enter `running` once, for as long as requests come."""

    def __init__(self, library: Library, run: Run, *, allow_write: bool = False) -> None:
        self._library, self._run, self._allow_write = library, run, allow_write
        self._manager: StreamableHTTPSessionManager | None = None
        self._starting = Lock()
        self._group: TaskGroup | None = None

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        async with create_task_group() as self._group:
            try:
                yield
            finally:
                self._group.cancel_scope.cancel()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        manager = self._manager or await self._started()
        await manager.handle_request(scope, receive, send)

    async def _started(self) -> StreamableHTTPSessionManager:
        assert self._group is not None, "nobody entered `running`"
        async with self._starting:
            if self._manager is None:  # who waited finds it
                self._manager = await self._group.start(self._kept)
        return self._manager

    async def _kept(
        self, *, task_status: TaskStatus[StreamableHTTPSessionManager] = TASK_STATUS_IGNORED
    ) -> None:
        manager = await to_thread.run_sync(self._made)  # other requests are answered meanwhile
        async with manager.run():
            task_status.started(manager)
            await sleep_forever()

    def _made(self) -> StreamableHTTPSessionManager:
        from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

        from trivium.mcp.server import create_server

        server = create_server(self._library, _caller, allow_write=self._allow_write, run=self._run)
        return StreamableHTTPSessionManager(server, json_response=True, stateless=True)


def _caller(context: Any) -> Caller:
    caller = getattr(context.request.state, CALLER, None) if context.request else None
    if not isinstance(caller, Caller):
        raise TokenRefused("The request has no caller.")
    return caller
