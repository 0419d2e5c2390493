"""Access: turns a token into a caller or refuses it, and limits how often each may ask.

Knows the library's tokens, nothing of routes.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Callable
from dataclasses import dataclass
from threading import Lock
from time import monotonic

from trivium.core.access import LOCAL_OWNER, Caller
from trivium.core.errors import RateExceeded, TokenRefused
from trivium.library import Library

_SCHEME = "bearer "
_BURST = 2.0  # seconds' worth of requests that may come at once
_MINUTE = 60.0  # seconds
_REMEMBERED = 10_000  # callers; who was not seen for so long has a full bucket anyway


@dataclass(slots=True)
class _Bucket:
    left: float
    seen: float


class Buckets:
    """A token bucket for each caller. Threads may share it."""

    def __init__(self, rate: float, now: Callable[[], float] = monotonic) -> None:
        self._rate = rate
        self._now = now
        self._lock = Lock()
        self._known: OrderedDict[str, _Bucket] = OrderedDict()

    def take(self, who: str) -> float:
        """0 if one more request is fine now, else the seconds to wait."""
        if self._rate <= 0:
            return 0.0
        most, now = max(1.0, self._rate * _BURST), self._now()
        with self._lock:
            bucket = self._known.pop(who, None) or _Bucket(most, now)
            bucket.left = min(most, bucket.left + (now - bucket.seen) * self._rate)
            bucket.seen = now
            self._known[who] = bucket
            while len(self._known) > _REMEMBERED:
                self._known.popitem(last=False)
            if bucket.left < 1:
                return (1 - bucket.left) / self._rate
            bucket.left -= 1
            return 0.0


class Minutes:
    """Counts the searches of each caller in the last minute, of callers with a limit. Threads may
    share it."""

    def __init__(self, now: Callable[[], float] = monotonic) -> None:
        self._now = now
        self._lock = Lock()
        self._known: dict[str, deque[float]] = {}

    def take(self, who: str, most: int) -> float:
        """0 if one more search is fine now, else the seconds to wait."""
        with self._lock:
            seen = self._recent(who)
            if len(seen) >= most:
                return seen[-most] + _MINUTE - self._now()
            seen.append(self._now())
            return 0.0

    def used(self) -> dict[str, int]:
        with self._lock:
            return {who: len(self._recent(who)) for who in list(self._known)}

    def _recent(self, who: str) -> deque[float]:
        seen = self._known.setdefault(who, deque())
        while seen and seen[0] <= self._now() - _MINUTE:
            seen.popleft()
        return seen


class Callers:
    """`open_to_all`: anyone who reaches the server is its owner. For loopback, or on command."""

    def __init__(
        self, library: Library, *, open_to_all: bool, rate: float, processes: int = 1
    ) -> None:
        """`processes`: that share the callers' searches among them."""
        self._library = library
        self._processes = max(1, processes)
        self.searches = Minutes()
        self._buckets = Buckets(rate)
        self.open_to_all = open_to_all

    def enter(self, authorization: str | None) -> Caller:
        """The caller behind an Authorization header. Raises TokenRefused or RateExceeded."""
        if authorization is None:
            if self.open_to_all:
                return LOCAL_OWNER
            raise TokenRefused(
                "This server requires a token.",
                fix="Send `Authorization: Bearer TOKEN`.",
                on_page="Sign in with your token.",
            )
        caller = self.recognise(authorization)
        wait = self._buckets.take(caller.id)
        if wait:
            error = RateExceeded("This token sends too many requests.")
            error.retry_after = wait
            raise error
        return caller

    def count_search(self, caller: Caller) -> None:
        """One more of a caller's searches in this minute. Raises RateExceeded."""
        most = self._library.quotas.of(caller).searches
        if most and (wait := self.searches.take(caller.id, max(1, most // self._processes))):
            error = RateExceeded(f"You may search {most:,} times a minute.", fix="Wait a moment.")
            error.retry_after = wait
            raise error

    def recognise(self, authorization: str) -> Caller:
        """The owner of the token in the header; doesn't count as a request. Raises TokenRefused."""
        if not authorization[: len(_SCHEME)].lower() == _SCHEME:
            raise TokenRefused(
                "The Authorization header has no token.",
                fix="Send `Authorization: Bearer TOKEN`.",
                on_page="Sign in with your token.",
            )
        return self._library.tokens.caller(authorization[len(_SCHEME) :].strip())
