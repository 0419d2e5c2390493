"""Server-sent events: passes events from a thread to a client until it leaves or the server stops.

Knows nothing of their contents.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field
from threading import Event
from time import monotonic
from typing import Any, TypeAlias

from anyio import sleep, to_thread
from starlette.requests import Request
from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from trivium.core.errors import ServerBusy, TriviumError
from trivium.core.shapes import to_json
from trivium.core.types import Told
from trivium.http.asked import Server
from trivium.http.limiter import Limiter
from trivium.http.problems import Fault, problem_of

log = logging.getLogger("trivium.serve")

MOST_STREAMS = 100  # open at once, of a process
LONGEST_SECONDS = 3600.0  # of one stream; whoever wants more asks again
LOOK_SECONDS = 0.25  # between two looks whether the server stops
# Between two looks whether the token of a stream still holds: one read of the database each, and so
# at most 100 a second for as many streams.
CHECK_SECONDS = 1.0
SIGN_SECONDS = 15.0  # without news, a sign of life: proxies close what is silent
SIGN = ": still there\n\n"
HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
MEDIA_TYPE = "text/event-stream"

# The name of an event and what it says. Raises Gone once nobody listens.
Tell: TypeAlias = Callable[[str, Mapping[str, Any] | Told], None]


class ListenerGone(Exception):
    """Nobody listens any more: the sender may stop."""


def event(name: str, data: str) -> str:
    """One server-sent event; the data is one line of JSON."""
    return f"event: {name}\ndata: {data}\n\n"


def described(description: str, *names: str) -> dict[int | str, dict[str, Any]]:
    """A stream of these events as an answer, for the API description."""
    schema = {
        "type": "object",
        "required": ["event", "data"],
        "properties": {
            "event": {"type": "string", "enum": list(names)},
            "data": {"type": "string", "contentMediaType": "application/json"},
        },
    }
    return {200: {"description": description, "content": {MEDIA_TYPE: {"schema": schema}}}}


class Admission:
    """Whether the client of a stream may still listen: its token may be revoked or expire."""

    def __init__(self, server: Server, request: Request) -> None:
        self._callers = server.callers
        self._given: str | None = request.state.authorization
        self._checked = monotonic()

    async def check(self) -> None:
        """Raises TokenRefused within CHECK_SECONDS after the token becomes invalid. Call this
        before sending anything."""
        if self._given is not None and monotonic() - self._checked >= CHECK_SECONDS:
            await to_thread.run_sync(self._callers.recognise, self._given)
            self._checked = monotonic()


def check_room(server: Server) -> None:
    if server.streams.open >= MOST_STREAMS:
        raise ServerBusy("Too many streams are open.")


async def stream(
    server: Server,
    request: Request,
    gate: Limiter,
    work: Callable[[Tell], None],
    seconds: float | None = None,
) -> StreamingResponse:
    """Streams what `work` sends from a thread of this gate. An error before the first event is the
    request's own error; later it is the last event, `error`, with the problem document."""
    check_room(server)
    line = _Line(asyncio.get_running_loop())
    task = asyncio.create_task(gate.run_within(seconds, lambda: _run(work, line)))
    task.add_done_callback(line.end)
    first = await line.events.get()
    if first is None and (error := task.exception()) is not None:
        raise error
    events = _events(server, line, task, first, request)
    return _Streaming(admitted(server, request, events), line)


@dataclass
class _Line:
    """Connects the thread that sends and the event loop that listens."""

    _loop: asyncio.AbstractEventLoop
    events: asyncio.Queue[str | None] = field(default_factory=asyncio.Queue)  # None: that was all
    gone: Event = field(default_factory=Event)

    def tell(self, name: str, data: Mapping[str, Any] | Told) -> None:
        if self.gone.is_set():
            raise ListenerGone
        text = event(name, to_json(data))
        self._loop.call_soon_threadsafe(self.events.put_nowait, text)

    def end(self, task: asyncio.Task[None]) -> None:
        task.exception()  # looked at, so that nobody complains when the client has gone
        self.events.put_nowait(None)


def _run(work: Callable[[Tell], None], line: _Line) -> None:
    try:
        work(line.tell)
    except ListenerGone:
        log.info("a stream's client has gone")


class _Streaming(StreamingResponse):
    """However the stream ends, even before it began, tell the thread that nobody listens."""

    def __init__(self, content: AsyncIterator[str], line: _Line) -> None:
        super().__init__(content, media_type=MEDIA_TYPE, headers=HEADERS)
        self._line = line

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._line.gone.set()


async def _events(
    server: Server, line: _Line, task: asyncio.Task[None], first: str | None, request: Request
) -> AsyncIterator[str]:
    text = first
    while text is not None:
        yield text
        if server.closing.is_set():
            yield failure(ServerBusy("The server is stopping."), request)
            return
        try:
            text = await asyncio.wait_for(line.events.get(), LOOK_SECONDS)
        except TimeoutError:
            text = ""  # nothing new
    if (error := task.exception()) is not None:
        yield failure(error, request)


async def admitted(
    server: Server, request: Request, texts: AsyncIterator[str]
) -> AsyncIterator[str]:
    """These events (empty: nothing new) as long as the client may listen, and signs of life."""
    spoken, admission = monotonic(), Admission(server, request)
    with server.streams:
        async for text in texts:
            try:
                await admission.check()
            except TriviumError as refused:
                yield failure(refused, request)
                return
            if text or monotonic() - spoken > SIGN_SECONDS:
                yield text or SIGN
                spoken = monotonic()


async def looks(
    server: Server, request: Request, pause: float = LOOK_SECONDS
) -> AsyncIterator[None]:
    """Now, and again after each pause, until the client leaves or the server stops."""
    until = monotonic() + LONGEST_SECONDS
    while True:
        yield
        if server.closing.is_set() or monotonic() > until:
            return
        await sleep(pause)
        if await request.is_disconnected():
            return


def watched(server: Server, request: Request, texts: AsyncIterator[str]) -> StreamingResponse:
    """Streams the events of someone who looks again and again."""
    check_room(server)
    stream = admitted(server, request, texts)
    return StreamingResponse(stream, media_type=MEDIA_TYPE, headers=HEADERS)


def failure(error: BaseException, request: Request) -> str:
    """The last event of a stream that ends early: `error`, with the problem document."""
    if not isinstance(error, TriviumError):
        log.error("a stream failed", exc_info=error)
        error = Fault(f"Something went wrong inside Trivium ({type(error).__name__}).")
    return event("error", to_json(problem_of(error, request.scope)))
