"""Asks a service over HTTP: JSON in, JSON out, pauses as the service wants them.

A call is a generator: it yields `Wait` where the service asks for a pause, or fails in a way that
may pass, and returns the answer. So nothing sleeps here. A token goes to the service's own hosts
only. Knows nothing of what is asked.
"""

from __future__ import annotations

import json
import math
import time
import weakref
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin, urlsplit

from trivium.core.errors import (
    FileTooLarge,
    SourceError,
    SourceNonsense,
    SourceRefused,
    SourceUnreachable,
    UrlFailed,
)
from trivium.ports import Failed, Wait

if TYPE_CHECKING:
    import httpx2

SECONDS = 60.0  # for one request
MAX_BYTES = 64 << 20  # of an answer
MAX_FILE = 512 << 20
LONGEST_WAIT = 86_400.0  # seconds; GitHub's limits last an hour, Zotero's and Slack's minutes
_TRIES = 5
# Requests in a row, each tried five times over 86 seconds: then the service is away, not an item.
_MOST_GIVEN_UP = 3
A_PAGE = "a web page, such as a sign-in page,"
_PAGES = ("text/html", "application/xhtml+xml")
_PAGE_STARTS = (b"<!doctype html", b"<html")
_PAUSES = (1.0, 5.0, 20.0, 60.0)  # after a failure that may pass
_QUOTED = 120  # characters quoted from a service's message
_MOST_REDIRECTS = 5
_REDIRECTS = (301, 302, 303, 307, 308)

Asking = Generator[Wait, None, "ServiceReply"]


@dataclass(frozen=True, slots=True)
class ServiceReply:
    status: int
    headers: Mapping[str, str]  # names in lower case
    data: bytes

    def json(self, service: str) -> Any:
        try:
            return json.loads(self.data)
        except (ValueError, RecursionError) as reason:
            is_page = is_whole_page(self.data)
            content = f"{A_PAGE} instead of an answer" if is_page else "something other than JSON"
            raise SourceNonsense(f"{service} sent {content}.") from reason

    @property
    def said(self) -> str:
        """Its message, in a line that a sentence can quote; empty if it is a web page."""
        try:
            payload = json.loads(self.data)
        except (ValueError, RecursionError):
            payload = "" if is_whole_page(self.data) else self.data.decode("utf-8", "replace")
        if isinstance(payload, dict):
            named = (payload.get(field) for field in ("message", "error", "code", "title"))
            payload = next((text for text in named if text), "")
        quoted = " ".join(str(payload).split())[:_QUOTED].rstrip(".")
        return f": {quoted}" if quoted else ""


class NotThere(SourceError):
    """The service has nothing at this address. Used only inside `sources`."""


class SwitchedOff(NotThere):
    """410: the service says that this isn't there any more. Used only inside `sources`."""


class Forbidden(SourceRefused):
    """The token is valid, but may not read this. Used only inside `sources`."""


class Refused(SourceNonsense):
    """The service doesn't answer this request: 400 and the like. Used only inside `sources`."""


class Service:
    """One service. `limits` reads from an answer's headers how long to wait before the next
    request."""

    def __init__(
        self,
        name: str,
        url: str,
        headers: Mapping[str, str] | None = None,
        limits: Callable[[Mapping[str, str]], float] = lambda headers: 0.0,
        domains: Sequence[str] = (),
    ) -> None:
        """`domains`: of the service, beside the host in `url`. They and all hosts below them get
        the token, over HTTPS, when a file lies there."""
        self.name = name
        self.url = url.rstrip("/") + "/"
        self._headers = dict(headers or {})
        self._limits = limits
        self._domains = tuple(domains)
        self._given_up = 0  # requests in a row that failed for good
        self._pause = 0.0  # before the next request, from the last answer's budget
        self._client: httpx2.Client | None = None

    def get(self, path: str, params: Mapping[str, Any] | None = None, **more: Any) -> Asking:
        return self.ask("GET", path, params=params, **more)

    def ask(  # noqa: C901 (one loop, one story)
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
        failures = redirects = 0
        while True:
            if self._pause > 0:
                pause, self._pause = self._pause, 0.0
                yield Wait(pause, f"{self.name} allows no more requests for now.")
            try:
                answer = self._send(method, urljoin(self.url, path), params, body, headers)
            except SourceUnreachable as reason:
                failures += 1
                if failures == _TRIES:
                    self._given_up += 1
                    raise
                yield Wait(_PAUSES[failures - 1], reason.message, is_failing=True)
                continue
            self._pause = seconds_within(self._limits(answer.headers))
            if answer.status < 500:
                self._given_up = 0
            if answer.status < 300 or answer.status in fine:
                return answer
            target = self._moved(answer, path) if method == "GET" else ""
            if target and redirects < _MOST_REDIRECTS:
                path, params, redirects = target, None, redirects + 1
                continue
            if seconds := self._asks_to_wait(answer):
                self._pause = 0.0
                yield Wait(
                    seconds, f"{self.name} asks to wait {seconds:.0f} s before the next request."
                )
                continue
            if answer.status >= 500:
                failures += 1
                if failures < _TRIES:
                    problem = f"{self.name} answered {answer.status}."
                    yield Wait(_PAUSES[failures - 1], problem, is_failing=True)
                    continue
                self._given_up += 1
            raise self.refusal(answer)

    def _moved(self, answer: ServiceReply, path: str) -> str:
        """Where a redirect leads, as with a renamed repository; empty: to nowhere of its own."""
        if answer.status not in _REDIRECTS:
            return ""
        target = urljoin(urljoin(self.url, path), answer.headers.get("location", ""))
        return target if self.is_own(target) else ""

    def _asks_to_wait(self, answer: ServiceReply) -> float:
        seconds = retry_after(answer.headers.get("retry-after", ""))
        if answer.status == 429:
            return seconds or self._pause or 30.0
        if answer.status == 403:  # as GitHub's limits come, with or without a time
            is_limit = b"rate limit" in answer.data[:2_000].lower()
            return seconds or self._pause or (60.0 if is_limit else 0.0)
        return seconds if answer.status == 503 else 0.0

    def refusal(self, answer: ServiceReply) -> SourceError:
        why = f"({answer.status}{answer.said})"
        if answer.status == 403:
            return Forbidden(f"{self.name} says that the token may not read this {why}.")
        if answer.status == 401:
            return SourceRefused(f"{self.name} doesn't accept the token {why}.")
        problem = f"{self.name} answered {answer.status}{answer.said}."
        if answer.status in (404, 410):
            return SwitchedOff(problem) if answer.status == 410 else NotThere(problem)
        return SourceUnreachable(problem) if answer.status >= 500 else Refused(problem)

    def failed(self, id_: str, reason: SourceError, item: str = "", hides: str = "") -> Failed:
        """An item that the service couldn't give, while it gives others. Raises `reason` if the
        token was refused, or if the service failed several times in a row: that isn't the item's
        fault. `item`: as people know it."""
        is_refused = isinstance(reason, SourceRefused) and not isinstance(reason, Forbidden)
        is_away = isinstance(reason, SourceUnreachable) and self._given_up >= _MOST_GIVEN_UP
        if is_refused or is_away:
            raise reason
        problem = f"Couldn't read {item}: {reason.message}" if item else reason.message
        return Failed(id_, problem, hides=hides)

    def file(
        self,
        url: str,
        *,
        media_type: str = "",
        size: int = 0,
        elsewhere: bool = False,
        max_bytes: int = MAX_FILE,
    ) -> bytes:
        """The bytes at an address of the service; tries once, without a pause. `media_type`,
        `size`: as the service announced them. `elsewhere`: it may lie on another host, which gets
        no token. Raises UrlFailed, FileTooLarge."""
        for _ in range(5):
            if not elsewhere and not self.is_own(url):
                host = urlsplit(url).netloc or "no host"
                raise UrlFailed(
                    f"{self.name} sends you to {host} instead of giving the file.",
                    fix="Check that the token may read files.",
                )
            headers = self._headers if self.is_own(url) else {}
            try:
                answer = self._send("GET", url, None, None, None, headers, max_bytes)
            except Refused as reason:
                raise FileTooLarge(reason.message) from reason
            except SourceError as reason:
                raise UrlFailed(f"Couldn't fetch the file: {reason.message}") from reason
            if answer.status in _REDIRECTS:
                url = urljoin(url, answer.headers.get("location", ""))
                continue
            if answer.status != 200:
                raise UrlFailed(f"Couldn't fetch the file: {self.name} answered {answer.status}.")
            if _is_page(answer) and not _may_be_page(media_type) and len(answer.data) != size:
                raise UrlFailed(
                    f"{self.name} sent {A_PAGE} instead of the file.",
                    fix="Check that the token may read files.",
                )
            if len(answer.data) < size:
                raise UrlFailed(
                    f"{self.name} sent {len(answer.data):,} of the file's {size:,} bytes.",
                    fix="The next run tries again.",
                )
            return answer.data
        raise UrlFailed(f"{self.name} redirects too often.")

    def place(self, path: str) -> str:
        """Where the service says that a file is: the address of a redirect; empty: nowhere."""
        try:
            answer = self._send("GET", urljoin(self.url, path), None, None, None)
        except SourceError:
            return ""
        return answer.headers.get("location", "") if answer.status in _REDIRECTS else ""

    def is_own(self, url: str) -> bool:
        """Whether the token may go there."""
        try:
            there, own = urlsplit(url), urlsplit(self.url)
            if (there.scheme, there.hostname, there.port) == (own.scheme, own.hostname, own.port):
                return True
            host = there.hostname or ""
            return (
                there.scheme == "https"
                and there.port in (None, 443)
                and any(host == domain or host.endswith(f".{domain}") for domain in self._domains)
            )
        except ValueError:  # a port that isn't a number, a broken IPv6 address
            return False

    def _send(
        self,
        method: str,
        url: str,
        params: Mapping[str, Any] | None,
        body: Any,
        headers: Mapping[str, str] | None,
        base: Mapping[str, str] | None = None,
        max_bytes: int = MAX_BYTES,
    ) -> ServiceReply:
        import httpx2

        sent = {**(self._headers if base is None else base), **(headers or {})}
        sent.setdefault("User-Agent", "trivium")
        query = {name: value for name, value in (params or {}).items() if value is not None}
        try:
            with self._opened().stream(
                method, url, params=query or None, json=body, headers=sent, timeout=SECONDS
            ) as response:
                data = bytearray()
                for piece in response.iter_bytes():
                    data += piece
                    if len(data) > max_bytes:
                        raise Refused(f"{self.name} sent more than {max_bytes:,} bytes.")
                received = {name.lower(): value for name, value in response.headers.items()}
                return ServiceReply(response.status_code, received, bytes(data))
        except (httpx2.HTTPError, httpx2.InvalidURL, UnicodeError) as reason:
            cause = str(reason) or type(reason).__name__
            raise SourceUnreachable(f"Couldn't connect to {self.name} ({cause}).") from reason

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
    """The seconds that a Retry-After header asks for: a number, or a date. At most a day, so that
    a slip of the service doesn't stop a source for good; 0 if it says nothing usable."""
    try:
        return seconds_within(float(value))
    except ValueError:
        pass
    try:
        return seconds_within(parsedate_to_datetime(value).timestamp() - time.time())
    except (ValueError, TypeError, OverflowError, OSError):
        return 0.0


def seconds_within(value: float, most: float = LONGEST_WAIT) -> float:
    """From 0 to a day, or to `most`; 0 for NaN."""
    return 0.0 if math.isnan(value) else min(max(0.0, value), most)


def whole_number(value: object, most: int = 1 << 53) -> int:
    """A count or a size from outside, at most 2^53; 0 if it isn't one."""
    if isinstance(value, str) and len(value) < 20 and value.isascii() and value.isdigit():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return 0
    return int(value) if 0 <= value <= most else 0


def is_whole_page(data: bytes) -> bool:
    """A whole web page, by how it begins."""
    return data[:200].lstrip().lower().startswith(_PAGE_STARTS)


def _is_page(answer: ServiceReply) -> bool:
    text = answer.headers.get("content-type", "").partition(";")[0].strip().lower()
    return text in _PAGES if text else is_whole_page(answer.data)


def _may_be_page(media_type: str) -> bool:
    return media_type.partition(";")[0].strip().lower() in ("", *_PAGES)
