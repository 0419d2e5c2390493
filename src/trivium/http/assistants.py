"""MCP at /mcp: the same tokens, the same limits."""

from __future__ import annotations

from anyio import to_thread
from starlette.types import Receive, Scope, Send

from trivium.core.errors import NoSuchRoute, TriviumError
from trivium.http.callers import Callers
from trivium.http.limiter import asker
from trivium.http.problems import problem
from trivium.mcp.http import CALLER, Mounted

PATH = "/mcp"


class Assistants:
    def __init__(self, mounted: Mounted, callers: Callers) -> None:
        self._mounted = mounted
        self._callers = callers

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = {name: value.decode("latin-1") for name, value in scope["headers"]}
        token = headers.get(b"authorization")
        try:
            caller = await to_thread.run_sync(self._callers.enter, token)
        except TriviumError as error:
            await problem(error, scope)(scope, receive, send)
            return
        if scope["method"] != "POST":
            # A GET would open a stream that stays empty, since each call gets its own answer, and
            # that outlives its token. The protocol lets a server refuse it like this.
            refused = problem(NoSuchRoute("MCP only accepts POST here."), scope, status=405)
            refused.headers["Allow"] = "POST"
            await refused(scope, receive, send)
            return
        try:
            self._callers.count_search(caller)
        except TriviumError as error:
            await problem(error, scope)(scope, receive, send)
            return
        asker.set(caller.id)
        scope.setdefault("state", {})[CALLER] = caller
        await self._mounted(scope, receive, send)
