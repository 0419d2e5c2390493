"""Asks a service over HTTP: JSON in, JSON out, pauses as the service wants them.

A call is a generator: it yields `Wait` where the service asks for a pause, or fails in a way that
may pass, and returns the answer. So nothing sleeps here. Follows no redirect with a token. Knows
nothing of what is asked.
"""

from __future__ import annotations

import json
import time
import weakref
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin, urlsplit

from trivium.errors import (
    FileTooLarge,
    SourceError,
    SourceNonsense,
    SourceRefused,
    SourceUnreachable,
    UrlFailed,
)
from trivium.ports import Wait

if TYPE_CHECKING:
    import httpx2

SECONDS = 60.0  # for one request
MAX_BYTES = 64 << 20  # of an answer
MAX_FILE = 512 << 20
_TRIES = 5
_PAUSES = (1.0, 5.0, 20.0, 60.0)  # after a failure that may pass
_QUOTED = 200  # characters quoted from a service's message
_REDIRECTS = (301, 302, 303, 307, 308)

Asking = Generator[Wait, None, "Answer"]


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    headers: Mapping[str, str]  # names in lower case
    data: bytes

    def json(self, service: str) -> Any:
        try:
            return json.loads(self.data)
        except (ValueError, RecursionError) as reason:
            raise SourceNonsense(f"{service} returned something other than JSON.") from reason


class NotThere(SourceError):
    """The service has nothing at this address. Used only inside `sources`."""


class Service:
    """One service. `limits` reads from an answer's headers how long to wait before the next
    request."""

    def __init__(
        self,
        name: str,
        url: str,
        headers: Mapping[str, str] | None = None,
        limits: Callable[[Mapping[str, str]], float] = lambda headers: 0.0,
    ) -> None:
        self.name = name
        self.url = url.rstrip("/") + "/"
        self._headers = dict(headers or {})
        self._limits = limits
        self._pause = 0.0  # before the next request, from the last answer's budget
        self._client: httpx2.Client | None = None

    def get(self, path: str, params: Mapping[str, Any] | None = None, **more: Any) -> Asking:
        return self.ask("GET", path, params=params, **more)

    def ask(
        self,
        method: str,
        path: str,
        *,
        params: Mapping[str, Any] | None = None,
        body: Any = None,
        headers: Mapping[str, str] | None = None,
        fine: tuple[int, ...] = (),
    ) -> Asking:
        """The answer. Raises SourceUnreachable after a few failures, SourceRefused if the token
        isn't allowed to, NotThere for 404 and 410; not for a status in `fine`."""
        failures = 0
        while True:
            if self._pause > 0:
                pause, self._pause = self._pause, 0.0
                yield Wait(pause, f"{self.name} allows no more requests for now.")
            try:
                answer = self._send(method, urljoin(self.url, path), params, body, headers)
            except SourceUnreachable as reason:
                failures += 1
                if failures == _TRIES:
                    raise
                yield Wait(_PAUSES[failures - 1], f"{reason.message} Trying again.")
                continue
            self._pause = self._limits(answer.headers)
            if answer.status < 300 or answer.status in fine:
                return answer
            if asked := self._asks_to_wait(answer):
                yield Wait(
                    asked, f"{self.name} asks to wait {asked:.0f} s before the next request."
                )
                continue
            if answer.status >= 500:
                failures += 1
                if failures < _TRIES:
                    pause = _PAUSES[failures - 1]
                    yield Wait(pause, f"{self.name} answered {answer.status}. Trying again.")
                    continue
            raise self.refusal(answer)

    def _asks_to_wait(self, answer: Answer) -> float:
        told = answer.headers.get("retry-after", "")
        if answer.status == 429:
            return retry_after(told) or self._pause or 30.0
        return retry_after(told) if told and answer.status in (403, 503) else 0.0

    def refusal(self, answer: Answer) -> SourceError:
        said = " ".join(answer.data[: 4 * _QUOTED].decode("utf-8", "replace").split())[:_QUOTED]
        what = f"{self.name} answered {answer.status}: {said}"
        if answer.status in (401, 403):
            return SourceRefused(what)
        if answer.status in (404, 410):
            return NotThere(what)
        return SourceUnreachable(what) if answer.status >= 500 else SourceNonsense(what)

    def file(self, url: str, *, max_bytes: int = MAX_FILE, authorised: bool = True) -> bytes:
        """The bytes at an address of the service; tries once, without a pause. Raises UrlFailed,
        FileTooLarge. The token only goes to the service's own host."""
        for _ in range(5):
            headers = self._headers if authorised and self._is_own(url) else {}
            try:
                answer = self._send("GET", url, None, None, None, headers, max_bytes)
            except SourceError as reason:
                raise UrlFailed(f"Couldn't fetch the file: {reason.message}") from reason
            if answer.status in _REDIRECTS:
                url = urljoin(url, answer.headers.get("location", ""))
                continue
            if answer.status != 200:
                raise UrlFailed(f"Couldn't fetch the file: {self.name} answered {answer.status}.")
            return answer.data
        raise UrlFailed(f"{self.name} redirects too often.")

    def _is_own(self, url: str) -> bool:
        host, own = urlsplit(url), urlsplit(self.url)
        return (host.scheme, host.hostname, host.port) == (own.scheme, own.hostname, own.port)

    def _send(
        self,
        method: str,
        url: str,
        params: Mapping[str, Any] | None,
        body: Any,
        headers: Mapping[str, str] | None,
        base: Mapping[str, str] | None = None,
        max_bytes: int = MAX_BYTES,
    ) -> Answer:
        import httpx2

        sent = {**(self._headers if base is None else base), **(headers or {})}
        sent.setdefault("User-Agent", "trivium")
        given = {name: value for name, value in (params or {}).items() if value is not None}
        try:
            with self._opened().stream(
                method, url, params=given or None, json=body, headers=sent, timeout=SECONDS
            ) as response:
                data = bytearray()
                for piece in response.iter_bytes():
                    data += piece
                    if len(data) > max_bytes:
                        raise FileTooLarge(f"{self.name} sent more than {max_bytes:,} bytes.")
                told = {name.lower(): value for name, value in response.headers.items()}
                return Answer(response.status_code, told, bytes(data))
        except (httpx2.HTTPError, httpx2.InvalidURL, UnicodeError) as reason:
            what = str(reason) or type(reason).__name__
            raise SourceUnreachable(f"Couldn't connect to {self.name} ({what}).") from reason

    def _opened(self) -> httpx2.Client:
        import ssl

        import httpx2

        if self._client is None:
            encrypted = self.url.startswith("https:")
            self._client = httpx2.Client(
                verify=True if encrypted else ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT),
                follow_redirects=False,
            )
            weakref.finalize(self, self._client.close)  # a source lives until nobody holds it
        return self._client


def retry_after(value: str) -> float:
    """The seconds that a Retry-After header asks for: a number, or a date."""
    try:
        return max(0.0, float(value))
    except ValueError:
        pass
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - time.time())
    except (ValueError, TypeError):
        return 0.0
