"""Limits how much runs at once: so many calls, so many in the queue, each for a limited time.
Refuses more at once, instead of letting them wait for ever. Fair to callers: who has less running
goes first, nobody takes all places, and a full queue turns away the one who fills it.
"""

from __future__ import annotations

import asyncio
import contextvars
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from time import monotonic
from typing import Any, ParamSpec, TypeVar

from trivium.core.errors import DeadlinePassed, ServerBusy

T = TypeVar("T")
P = ParamSpec("P")
# The id of the token that the current request came with. Set once it is known.
asker: contextvars.ContextVar[str] = contextvars.ContextVar("asker", default="")


class Limiter:
    """Runs calls of the library in threads. The caller of one that takes too long gets an error,
    but its place stays taken until it really ends, so that they can't pile up unseen. For the event
    loop only."""

    def __init__(
        self, parallel: int, waiting: int, seconds: float, late: str = "", share: int | None = None
    ) -> None:
        """`late`: what to tell a caller whose time is up. `share`: places that one caller can have;
        None: all of them."""
        self._late = late or None  # None: as for every deadline
        self._free = parallel
        self._share = parallel if share is None else max(1, share)
        self._most_waiting = waiting
        self._seconds = seconds
        self._line: list[tuple[str, asyncio.Future[None]]] = []  # in the order they came
        self._running: Counter[str] = Counter()
        self._pool = ThreadPoolExecutor(parallel, "trivium-serve")

    @property
    def at_work(self) -> int:
        return self._running.total()

    @property
    def waiting(self) -> int:
        return len(self._line)

    async def run(self, call: Callable[P, T], *arguments: P.args, **named: P.kwargs) -> T:
        """What the call returns. Raises ServerBusy or DeadlinePassed."""
        return await self.run_within(None, partial(call, *arguments, **named))

    async def run_within(self, seconds: float | None, call: Callable[[], T]) -> T:
        until = monotonic() + (self._seconds if seconds is None else seconds)
        who = asker.get()
        await self._enter(who, until)
        try:
            work = asyncio.wrap_future(self._pool.submit(contextvars.copy_context().run, call))
        except BaseException:
            self._leave(who)
            raise
        work.add_done_callback(lambda ended: self._leave(who, ended))
        try:
            async with asyncio.timeout(max(0.001, until - monotonic())):
                return await asyncio.shield(work)
        except TimeoutError:
            raise DeadlinePassed("The answer took too long.", fix=self._late) from None

    async def _enter(self, who: str, until: float) -> None:
        if self._free and self._running[who] < self._share:
            self._admit(who)
            return
        self._make_room(who)
        place = (who, asyncio.get_running_loop().create_future())
        self._line.append(place)
        try:
            async with asyncio.timeout(max(0.001, until - monotonic())):
                await place[1]
        except BaseException as reason:
            if place in self._line:
                self._line.remove(place)
            elif place[1].done() and not place[1].cancelled() and not place[1].exception():
                self._leave(who)  # a place came at the very moment when the caller gave up
            if isinstance(reason, TimeoutError):
                raise ServerBusy("The server was too busy to start this in time.") from None
            raise

    def _make_room(self, who: str) -> None:
        """Raises ServerBusy if the queue is full, unless another caller has more in it: then that
        one loses its last."""
        if len(self._line) < self._most_waiting:
            return
        waiting = Counter(name for name, _ in self._line)
        greediest, count = max(waiting.items(), key=lambda item: item[1], default=("", 0))
        if count <= waiting[who] + 1:
            raise ServerBusy(f"{len(self._line)} requests are already waiting.")
        last = next(place for place in reversed(self._line) if place[0] == greediest)
        self._line.remove(last)
        last[1].set_exception(ServerBusy(f"{count} of your requests are already waiting."))

    def _admit(self, who: str) -> None:
        self._free -= 1
        self._running[who] += 1

    def _leave(self, who: str, ended: asyncio.Future[Any] | None = None) -> None:
        if ended is not None and not ended.cancelled():
            ended.exception()  # whoever waited for it may have gone
        self._free += 1
        self._running[who] -= 1
        if not self._running[who]:
            del self._running[who]
        ready = [place for place in self._line if self._running[place[0]] < self._share]
        if ready:
            chosen = min(ready, key=lambda place: self._running[place[0]])
            self._line.remove(chosen)
            self._admit(chosen[0])
            if chosen[1].cancelled():
                self._leave(chosen[0])
            else:
                chosen[1].set_result(None)

    def close(self) -> None:
        """Wait for calls in progress."""
        self._pool.shutdown(wait=True)
