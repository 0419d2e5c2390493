"""Asks remote models over HTTP: one client for embedding, reranking and generating.

Tries again what may pass (lost connections, 408, 409, 425, 429, 5xx) with growing pauses, within a
bounded time; says the rest in typed errors. Follows no redirect, so the key goes nowhere else.
Knows nothing of what is asked: JSON goes out, JSON comes back.
"""

from __future__ import annotations

import json
import logging
import re
import secrets
import time
import weakref
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from threading import Lock
from typing import TYPE_CHECKING, Any

from trivium.core.errors import ModelBusy, ModelFailing, ModelUnavailable
from trivium.models.endpoint import Endpoint
from trivium.models.retrying import ATTEMPTS, Clock, PassingFailure, Retrying
from trivium.models.tokenising import encodable

if TYPE_CHECKING:
    import httpx2

log = logging.getLogger("trivium.models")

# A hundred vectors of 4,096 numbers are 9 MB of JSON; what is seven times as large is no answer.
MAX_BYTES = 64 << 20
MAX_REFUSAL = 64 << 10  # bytes of a refusal that are read


@dataclass(frozen=True, slots=True)
class FormUpload:
    """A form with a file, in place of a JSON body."""

    fields: Sequence[tuple[str, str]]
    name: str
    data: bytes

    def encoded(self) -> tuple[bytes, str]:
        """The body, and its content type."""
        mark = secrets.token_hex(16)
        name = re.sub(r'[^\x20-\x7e]|["\\\\]', "_", self.name)
        parts = [
            f'--{mark}\r\nContent-Disposition: form-data; name="{field}"\r\n\r\n{value}\r\n'
            for field, value in self.fields
        ]
        head = (
            f'{"".join(parts)}--{mark}\r\nContent-Disposition: form-data; name="file";'
            f' filename="{name}"\r\nContent-Type: application/octet-stream\r\n\r\n'
        )
        body = b"".join((head.encode(), self.data, f"\r\n--{mark}--\r\n".encode()))
        return body, f"multipart/form-data; boundary={mark}"


Body = Mapping[str, Any] | FormUpload


class Client:
    """Asks one endpoint. Threads may share it; connections are kept open between calls."""

    def __init__(
        self, endpoint: Endpoint, *, clock: Clock = Clock(), max_bytes: int = MAX_BYTES
    ) -> None:
        self.endpoint = endpoint
        self.clock = clock
        self._retrying = Retrying(endpoint.seconds, clock)
        self._max_bytes = max_bytes
        self._lock = Lock()
        self._opened: httpx2.Client | None = None

    def post(
        self, path: str, body: Body, *, attempts: int = ATTEMPTS, patience: float | None = None
    ) -> Any:
        """The endpoint's answer, as parsed JSON. `patience`: seconds for all attempts together, if
        not the endpoint's own."""
        patience = self.endpoint.patience if patience is None else patience
        with self._logged():
            return self._retrying.persist(
                lambda seconds: self._ask(path, body, seconds), attempts, patience
            )

    def begin(self, address: str, body: Body, *, answer: str) -> tuple[str, float]:
        """Send what takes longer than one request: where to ask for it, as the header `answer`
        says, and how many seconds to wait before."""

        def attempt(seconds: float) -> tuple[str, float]:
            with self._sent("POST", address, body, seconds) as response:
                text = response.headers.get("Retry-After", "")
                return response.headers.get(answer, ""), retry_after(text)

        return self._retrying.persist(attempt, ATTEMPTS, self.endpoint.patience)

    def get(self, address: str) -> tuple[Any, float]:
        """The answer at an address of the endpoint, as parsed JSON, and how many seconds it asks to
        wait before the next request."""
        return self._retrying.persist(
            lambda seconds: self._read("GET", address, None, seconds),
            ATTEMPTS,
            self.endpoint.patience,
        )

    def stream(self, path: str, body: Body) -> Iterator[Any]:
        """Server-sent events as they come, as parsed JSON. Tries again until the first one."""
        with self._logged():
            yield from self._retrying.stream(
                lambda seconds: self._events(path, body, seconds), self.endpoint.patience
            )

    @contextmanager
    def _logged(self) -> Iterator[None]:
        """What went wrong for good, with the address, which the error itself does not tell."""
        try:
            yield
        except ModelUnavailable as error:
            log.info("the model at %s: %s", self.endpoint.place, error.message)
            raise

    def _ask(self, path: str, body: Body, seconds: float) -> Any:
        return self._read("POST", self.endpoint.address(path), body, seconds)[0]

    def _read(
        self, method: str, address: str, body: Body | None, seconds: float
    ) -> tuple[Any, float]:
        until = self.clock.now() + seconds
        data = bytearray()
        with self._sent(method, address, body, seconds) as response:
            text = response.headers.get("Retry-After", "")
            for piece in response.iter_bytes():
                data += piece
                if len(data) > self._max_bytes:
                    raise self.endpoint.nonsense(f"returned more than {self._max_bytes:,} bytes")
                if self.clock.now() > until:  # a read's own limit counts from one piece to the next
                    raise PassingFailure(self.endpoint.late(seconds))
        return self._parsed(bytes(data)), retry_after(text)

    def _events(self, path: str, body: Body, seconds: float) -> Generator[Any, None, None]:
        until = self.clock.now() + seconds
        with self._sent("POST", self.endpoint.address(path), body, seconds) as response:
            for line in self._lines(response):
                name, _, value = line.partition(b":")
                if name == b"data" and value.strip() == b"[DONE]":
                    return
                if name == b"data":
                    yield self._parsed(value)
                    until = self.clock.now() + seconds
                elif self.clock.now() > until:  # comments keep a connection open, and say nothing
                    raise PassingFailure(self.endpoint.late(seconds))

    def _lines(self, response: httpx2.Response) -> Iterator[bytes]:
        rest = b""
        for piece in response.iter_bytes():
            *lines, rest = (rest + piece).split(b"\n")
            if len(rest) > self._max_bytes:
                raise self.endpoint.nonsense(f"sent a line of more than {self._max_bytes:,} bytes")
            yield from lines
        yield rest

    def _parsed(self, data: bytes) -> Any:
        try:
            return json.loads(data)
        except (ValueError, RecursionError) as reason:
            raise self.endpoint.nonsense("returned something other than JSON") from reason

    @contextmanager
    def _sent(
        self, method: str, address: str, body: Body | None, seconds: float
    ) -> Iterator[httpx2.Response]:
        """The answer to one request, its body still to be read. Every error of the library that
        asks becomes one of ours here."""
        import httpx2

        content, headers = b"", self.endpoint.headers()
        if isinstance(body, FormUpload):
            content, kind = body.encoded()
            headers = {"Content-Type": kind, **headers}
        elif body is not None:
            content = encodable(json.dumps(body, ensure_ascii=False)).encode()
            headers = {"Content-Type": "application/json", **headers}
        try:
            with self._client().stream(
                method, address, content=content, headers=headers, timeout=seconds
            ) as response:
                if not response.is_success:
                    self._refuse(response)
                yield response
        except httpx2.TimeoutException as reason:
            raise PassingFailure(self.endpoint.late(seconds)) from reason
        except httpx2.DecodingError as reason:
            raise self.endpoint.nonsense(
                "answers with something that can't be unpacked"
            ) from reason
        except httpx2.HTTPError as reason:
            cause = str(reason) or type(reason).__name__
            raise PassingFailure(self.endpoint.unreachable(cause)) from reason
        except (httpx2.InvalidURL, UnicodeError) as reason:  # a host that no server can have
            raise self.endpoint.unreachable(str(reason)) from reason

    def _refuse(self, response: httpx2.Response) -> None:
        body = b""
        for piece in response.iter_bytes():
            body += piece
            if len(body) > MAX_REFUSAL:
                break
        error = self.endpoint.refusal(response.status_code, body[:MAX_REFUSAL])
        if isinstance(error, ModelBusy | ModelFailing):
            raise PassingFailure(error, retry_after(response.headers.get("Retry-After", "")))
        raise error

    def _client(self) -> httpx2.Client:
        import ssl

        import httpx2

        with self._lock:
            if self._opened is None:
                # Proxies and certificates as the environment says, but no proxy to this machine.
                # Without TLS no certificate is needed: loading them is left out of a first search.
                encrypted = self.endpoint.url.startswith("https:")
                self._opened = httpx2.Client(
                    verify=True if encrypted else ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT),
                    trust_env=not self.endpoint.is_local,
                    follow_redirects=False,
                )
                weakref.finalize(self, self._opened.close)
            return self._opened


def retry_after(value: str) -> float:
    """Seconds that a Retry-After header asks for: a number, or a date."""
    try:
        return max(0.0, float(value))
    except ValueError:
        pass
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - time.time())
    except ValueError:
        return 0.0
