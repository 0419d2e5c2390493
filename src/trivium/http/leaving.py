"""Notices that a client has gone while something long is done for it, and says so to the thread
that does it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from threading import Event
from typing import TypeVar

from starlette.requests import ClientDisconnect, Request

T = TypeVar("T")


async def while_there(request: Request, start: Callable[[Event], Awaitable[T]]) -> T:
    """What `start` gives. The event is set when the client has gone or nobody waits any more. For a
    request whose body was read. Raises ClientDisconnect."""
    gone = Event()
    work = asyncio.ensure_future(start(gone))
    leaving = asyncio.ensure_future(_leaving(request))
    try:
        await asyncio.wait({work, leaving}, return_when=asyncio.FIRST_COMPLETED)
        if work.done():
            return work.result()
        raise ClientDisconnect
    finally:
        gone.set()
        work.cancel()
        leaving.cancel()


async def _leaving(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
