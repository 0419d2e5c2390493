"""Limits how much runs at once: so many calls, so many in the queue, each for a limited time.
Refuses more at once, instead of letting them wait for ever.
"""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from time import monotonic
from typing import TypeVar

from trivium.errors import DeadlinePassed, ServerBusy

T = TypeVar("T")


class Gate:
    """Runs calls of the library in threads. The caller of one that takes too long gets an error,
    but its place stays taken until it really ends, so that they can't pile up unseen."""

    def __init__(self, parallel: int, waiting: int, seconds: float, late: str = "") -> None:
        """`late`: what to tell a caller whose time is up."""
        self._late = late or None  # None: as for every deadline
        self._places = asyncio.Semaphore(parallel)
        self._most_waiting = waiting
        self._seconds = seconds
        self._waiting = 0
        self._at_work = 0
        self._pool = ThreadPoolExecutor(parallel, "trivium-serve")

    @property
    def at_work(self) -> int:
        return self._at_work

    @property
    def waiting(self) -> int:
        return self._waiting

    async def run(self, call: Callable[[], T], seconds: float | None = None) -> T:
        """What the call returns. Raises ServerBusy or DeadlinePassed."""
        until = monotonic() + (self._seconds if seconds is None else seconds)
        await self._enter(until)
        self._at_work += 1
        try:
            work = asyncio.wrap_future(self._pool.submit(contextvars.copy_context().run, call))
        except BaseException:
            self._leave()
            raise
        work.add_done_callback(self._leave)
        try:
            async with asyncio.timeout(max(0.001, until - monotonic())):
                return await asyncio.shield(work)
        except TimeoutError:
            raise DeadlinePassed("The answer took too long.", fix=self._late) from None

    async def _enter(self, until: float) -> None:
        if self._places.locked() and self._waiting >= self._most_waiting:
            raise ServerBusy(f"{self._waiting} requests are already waiting.")
        self._waiting += 1
        try:
            async with asyncio.timeout(max(0.001, until - monotonic())):
                await self._places.acquire()
        except TimeoutError:
            raise ServerBusy("The server was too busy to start this in time.") from None
        finally:
            self._waiting -= 1

    def _leave(self, _work: object = None) -> None:
        self._at_work -= 1
        self._places.release()

    def close(self) -> None:
        """Wait for calls in progress."""
        self._pool.shutdown(wait=True)
