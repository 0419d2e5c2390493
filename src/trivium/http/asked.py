"""What every route needs: the library, the gate, and the caller.

FastAPI's `Depends(...)`. A route without one of the `may_` callers is open to everyone; a test
lists those routes.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from threading import Event
from typing import Annotated, ParamSpec, TypeVar

from anyio import to_thread
from fastapi import Depends, Request
from fastapi.security import HTTPBearer

from trivium.config import Settings
from trivium.core.access import Caller, Right
from trivium.core.errors import RequestRefused, RightMissing
from trivium.core.results import Results
from trivium.evaluate.judged_sets import JudgedSets
from trivium.http.callers import Callers
from trivium.http.guard import FOREIGN
from trivium.http.limiter import Limiter, asker
from trivium.http.metrics import Metrics
from trivium.http.signin import Provider
from trivium.library import Library
from trivium.library.background import Background

T = TypeVar("T")
P = ParamSpec("P")
COOKIE = "trivium_token"  # of a browser: holds the token that `/login` was given
_HARMLESS = ("GET", "HEAD", "OPTIONS")
# For the description of the API only: `Callers` looks at the header itself.
bearer = HTTPBearer(auto_error=False, description="A token from `trivium token create`.")


class Streams:
    """Counts the answers being streamed. Only for the event loop."""

    open = 0

    def __enter__(self) -> None:
        self.open += 1

    def __exit__(self, *_: object) -> None:
        self.open -= 1


@dataclass(frozen=True)
class Server:
    """The state of one server process."""

    library: Library
    settings: Settings
    callers: Callers
    reading: Limiter
    writing: Limiter
    fetching: Limiter
    asking: Limiter
    judging: Limiter
    metrics: Metrics
    origins: Mapping[str, str] = field(default_factory=dict)  # of settings, by name
    background: Background | None = None  # None: nobody works off the queue here
    provider: Provider | None = None  # None: people sign in with tokens only
    streams: Streams = field(default_factory=Streams)
    closing: Event = field(default_factory=Event)  # set when streams should end

    @property
    def judged_sets(self) -> JudgedSets:
        return JudgedSets(self.library.backend.shelf)

    def searched(self, results: Results, caller: Caller) -> None:
        """Log a search."""
        self.library.queries.note(results.query, results, caller.id)

    def wake(self) -> None:
        """Tell the workers that a job is waiting."""
        if self.background is not None:
            self.background.wake()

    def stop_waiting(self, gone: Event) -> Event | None:
        """What ends the wait for a job whose sender has gone; None where nobody else would run
        it."""
        return gone if self.background is not None else None

    async def read(self, call: Callable[P, T], *arguments: P.args, **named: P.kwargs) -> T:
        return await self.reading.run(call, *arguments, **named)


async def server_of(request: Request) -> Server:
    server: Server = request.app.state.server
    return server


async def _caller(request: Request, _: Annotated[object, Depends(bearer)]) -> Caller:
    return await caller_of(request)


async def caller_of(request: Request) -> Caller:
    """Who sends this request. Raises TokenRefused, RequestRefused."""
    callers = (await server_of(request)).callers
    token = request.headers.get("authorization") or _from_cookie(request)
    # Looks into the database, if it is given something.
    caller = (
        callers.enter(None) if token is None else await to_thread.run_sync(callers.enter, token)
    )
    asker.set(caller.id)
    request.state.caller = caller  # a page that says what went wrong is still theirs
    request.state.authorization = token  # a stream looks again whether it still holds
    return caller


def is_foreign(request: Request) -> bool:
    """Whether the link to this page was on a page of another site."""
    return getattr(request.state, FOREIGN, False)


def _from_cookie(request: Request) -> str | None:
    """Require a request that changes something to say which page it comes from. A browser sends
    cookies whichever page made the request; SameSite and the guard stop pages of other sites."""
    token = request.cookies.get(COOKIE)
    if not token:
        return None
    if request.method not in _HARMLESS and "origin" not in request.headers:
        raise RequestRefused("The request doesn't say which page it comes from.")
    return f"Bearer {token}"


def _may(right: Right) -> Callable[[Caller], Awaitable[Caller]]:
    async def check(caller: Annotated[Caller, Depends(_caller)]) -> Caller:
        caller.require(right)
        return caller

    return check


async def _searcher(
    request: Request, caller: Annotated[Caller, Depends(_may(Right.SEARCH))]
) -> Caller:
    (await server_of(request)).callers.count_search(caller)
    return caller


async def _owner(caller: Annotated[Caller, Depends(_may(Right.MANAGE))]) -> Caller:
    """A caller who may see everything, for answers that name documents of every audience."""
    if not caller.is_owner:
        raise RightMissing("You need a token for all audiences and collections.")
    return caller


Here = Annotated[Server, Depends(server_of)]
Anyone = Annotated[Caller, Depends(_caller)]
Reader = Annotated[Caller, Depends(_may(Right.SEARCH))]
Searcher = Annotated[Caller, Depends(_searcher)]  # counts as a search
Adder = Annotated[Caller, Depends(_may(Right.ADD))]
Keeper = Annotated[Caller, Depends(_may(Right.MANAGE))]
Owner = Annotated[Caller, Depends(_owner)]
OWNERS = (Depends(_owner),)  # of a router whose every route is for such a caller
