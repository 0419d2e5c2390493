"""Checks every request before anything else does, and every answer after: plain ASGI.

Host and origin (so that no web page can reach a server on your own machine under a made-up name),
size and speed of bodies, request ids, the access log, metrics. Knows no routes.
"""

from __future__ import annotations

import asyncio
import logging
import re
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from trivium.core.errors import (
    RequestRefused,
    RequestTooLarge,
    RequestTooSlow,
    TriviumError,
    as_input_error,
)
from trivium.http.metrics import Metrics
from trivium.http.problems import CODE, REFUSED, Fault, problem
from trivium.http.tracing import describe, span

log = logging.getLogger("trivium.serve")

LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
FOREIGN = "foreign"  # in a request's state: the link was on a page of another site
BODY_BYTES = 1 << 20  # of a request that is no upload: a thousand times the usual
SILENT_SECONDS = 30.0  # that a client may take between two pieces of a body
# For browsers: no other site embeds, frames or opens what we answer, nor guesses what it is.
_ISOLATED = (
    (b"x-content-type-options", b"nosniff"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"same-origin"),
)
_REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
_HOST = re.compile(r"(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::\d{1,5})?", re.IGNORECASE)


@dataclass(frozen=True)
class GuardRules:
    """What the guard lets pass."""

    hosts: frozenset[str] = LOOPBACK
    origins: frozenset[str] = frozenset()  # of other sites that may ask
    upload_paths: frozenset[str] = frozenset()
    upload_bytes: int = BODY_BYTES
    body_bytes: int = BODY_BYTES
    silent_seconds: float = SILENT_SECONDS

    def most_bytes(self, scope: Scope) -> int:
        return self.upload_bytes if scope["path"] in self.upload_paths else self.body_bytes


class Guard:
    def __init__(self, app: ASGIApp, rules: GuardRules, metrics: Metrics) -> None:
        self._app = app
        self._rules = rules
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = {name: value.decode("latin-1") for name, value in scope["headers"]}
        scope.setdefault("state", {})["request_id"] = _request_id(headers)
        answer = _SentResponse(send, scope["state"]["request_id"])
        body = _Body(receive, scope, self._rules.most_bytes(scope), self._rules.silent_seconds)
        with span(headers) as begun:
            await self._answer(scope, headers, receive, answer, body, begun)

    async def _answer(
        self,
        scope: Scope,
        headers: dict[bytes, str],
        receive: Receive,
        answer: _SentResponse,
        body: _Body,
        begun: Any,
    ) -> None:
        started = perf_counter()
        try:
            self._check(headers, scope)
            await self._app(scope, body.receive, answer.send)
        except TriviumError as error:
            await self._refuse(error, scope, receive, answer)
        except asyncio.CancelledError:
            raise
        except ClientDisconnect:
            pass  # the client broke off its own upload: status 499, and nothing of ours failed
        except Exception as error:
            input_error = as_input_error(error)
            if input_error is not None:
                await self._refuse(input_error, scope, receive, answer)
                return
            log.exception("request %s failed", answer.request_id)
            fault = Fault(f"Something went wrong inside Trivium ({type(error).__name__}).")
            await self._refuse(fault, scope, receive, answer)
        finally:
            self._note(scope, answer, perf_counter() - started, begun)

    def _check(self, headers: dict[bytes, str], scope: Scope) -> None:
        host = headers.get(b"host", "")
        match = _HOST.fullmatch(host)
        name = match[1].strip("[]").lower() if match else ""
        if name not in self._rules.hosts and "*" not in self._rules.hosts:
            raise RequestRefused(
                f"This server doesn't answer to the name {host[:100]!r}.",
                fix="If it should, add the name to serve.hosts.",
            )
        origin = headers.get(b"origin")
        if origin is not None and not self._knows(origin, host):
            raise RequestRefused(
                f"Pages from {origin[:100]!r} may not send requests.",
                fix="If they should, add the origin to serve.origins.",
            )
        self._check_page(headers, scope)
        length = headers.get(b"content-length", "0")
        if length.isdecimal() and int(length) > self._rules.most_bytes(scope):
            raise _too_large(self._rules.most_bytes(scope))

    def _check_page(self, headers: dict[bytes, str], scope: Scope) -> None:
        """Refuse what a page of another site makes a browser fetch, such as a picture: whether it
        comes, and how large it is, would tell which documents exist. A link that a person follows
        is fine, but it isn't their search."""
        site = headers.get(b"sec-fetch-site", "none")
        if site in ("none", "same-origin") or headers.get(b"origin") in self._rules.origins:
            return
        is_followed = (
            scope["method"] in ("GET", "HEAD")
            and headers.get(b"sec-fetch-mode") == "navigate"
            and headers.get(b"sec-fetch-dest") == "document"
        )
        if not is_followed:
            raise RequestRefused(
                "Pages of other sites may not send requests.",
                fix="If they should, add their origin to serve.origins.",
            )
        scope["state"][FOREIGN] = True

    def _knows(self, origin: str, host: str) -> bool:
        """Whether the request comes from the server's own page or an allowed origin."""
        return origin in self._rules.origins or urlsplit(origin).netloc.lower() == host.lower()

    async def _refuse(
        self, error: TriviumError, scope: Scope, receive: Receive, answer: _SentResponse
    ) -> None:
        if not answer.started:
            await problem(error, scope)(scope, receive, answer.send)

    def _note(self, scope: Scope, answer: _SentResponse, seconds: float, begun: Any) -> None:
        route = scope.get("route")
        path = getattr(route, "path", "") or "(other)"
        self._metrics.answered(scope["method"], path, answer.status, seconds)
        if CODE in scope["state"]:
            self._metrics.failed(scope["state"][CODE])
        # The path alone: what people search for is theirs.
        fields = {
            "request": answer.request_id,
            "caller": getattr(scope["state"].get("caller"), "id", ""),
            "method": scope["method"],
            "path": scope["path"],
            "route": path,
            "status": answer.status,
            "ms": round(1000 * seconds, 1),
            "code": scope["state"].get(CODE, ""),
        }
        describe(begun, fields)
        log.info("%(method)s %(path)s %(status)d %(ms).1f ms id=%(request)s", fields, extra=fields)


def _request_id(headers: dict[bytes, str]) -> str:
    id_ = headers.get(b"x-request-id", "")
    return id_ if _REQUEST_ID.fullmatch(id_) else uuid4().hex


def _too_large(most: int) -> RequestTooLarge:
    return RequestTooLarge(f"The body has more than {most:,} bytes.")


@dataclass
class _SentResponse:
    """Watches what is sent."""

    _send: Send
    request_id: str
    status: int = 499  # of a client that went away before an answer
    started: bool = False

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.started, self.status = True, message["status"]
            headers = [(name.lower(), value) for name, value in message.get("headers", [])]
            names = {name for name, _ in headers}
            extra = [pair for pair in _ISOLATED if pair[0] not in names]
            extra.append((b"x-request-id", self.request_id.encode()))
            message = {**message, "headers": [*headers, *extra]}
        await self._send(message)


@dataclass
class _Body:
    """Reads a body under limits. Also notes in the request's state why it gave up: a framework may
    turn the error into another one."""

    _receive: Receive
    _scope: Scope
    most: int
    silent_seconds: float
    _read: int = field(default=0, init=False)
    _whole: bool = field(default=False, init=False)

    async def receive(self) -> dict[str, Any]:
        if self._whole:  # now only a disconnect can come, whenever it does
            return dict(await self._receive())
        try:
            async with asyncio.timeout(self.silent_seconds):
                message = await self._receive()
        except TimeoutError:
            raise self._given_up(
                RequestTooSlow(f"No data arrived for {self.silent_seconds:.0f} seconds.")
            ) from None
        if message["type"] == "http.request":
            self._read += len(message.get("body", b""))
            self._whole = not message.get("more_body", False)
            if self._read > self.most:
                raise self._given_up(_too_large(self.most))
        return dict(message)

    def _given_up(self, error: TriviumError) -> TriviumError:
        self._scope["state"][REFUSED] = error
        return error
