"""A real HTTP server on loopback that answers as a test says, badly if need be.

>>> with ScriptedEndpoint(lambda seen: Reply({"data": []})) as endpoint:   # doctest: +SKIP
...     ask(endpoint.url)
"""

import json
import socket
import struct
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from time import monotonic, sleep
from types import TracebackType
from typing import Any, Literal


@dataclass(frozen=True)
class Seen:
    """A request as it arrived."""

    number: int  # from 1
    path: str  # with its query
    headers: Mapping[str, str]
    body: Any


@dataclass(frozen=True)
class Reply:
    """What to send, and what to do in the middle."""

    body: object = b""  # bytes as they are, an iterator piece by piece, else as JSON
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    then: Literal["", "hang", "reset", "close"] = ""  # instead of the rest of the body


HANG = Reply(status=0, then="hang")  # not even a status line
RESET = Reply(status=0, then="reset")


class ScriptedEndpoint:
    def __init__(self, answer: Callable[[Seen], Reply]) -> None:
        self.answer = answer
        self._lock = threading.Lock()
        self.released = threading.Event()  # hanging handlers wait for the end of the test
        self.requests: list[Seen] = []
        handler = type("Handler", (_Handler,), {"endpoint": self})
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))
        self.url = f"http://127.0.0.1:{self._server.server_port}/v1"

    def __enter__(self) -> "ScriptedEndpoint":
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.released.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def wait_for(self, requests: int) -> None:
        """Until so many have come: a client that gives up in time may be gone before they are
        read here."""
        until = monotonic() + 120
        while len(self.requests) < requests:
            assert monotonic() < until, f"{len(self.requests)} of {requests} requests"
            sleep(0.005)

    def note(self, path: str, headers: Mapping[str, str], body: object) -> Seen:
        with self._lock:
            seen = Seen(len(self.requests) + 1, path, headers, body)
            self.requests.append(seen)
            return seen


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # else every answer waits 40 ms for an acknowledgement
    endpoint: ScriptedEndpoint

    def do_POST(self) -> None:
        self._reply(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))

    def do_PUT(self) -> None:
        self._reply(self.rfile.read(int(self.headers.get("Content-Length", 0))))

    def do_GET(self) -> None:
        self._reply(None)

    def _reply(self, body: object) -> None:
        seen = self.endpoint.note(self.path, dict(self.headers), body)
        reply = self.endpoint.answer(seen)
        try:
            if reply.status:
                self._send(reply)
            self._stop(reply.then)
        except (BrokenPipeError, ConnectionResetError):  # the client had enough
            self.close_connection = True

    def _send(self, reply: Reply) -> None:
        data = reply.body
        pieces = data if isinstance(data, Iterator) else ()
        content = b"" if isinstance(data, Iterator) else data
        content = content if isinstance(content, bytes) else json.dumps(content).encode()
        self.send_response(reply.status)
        for name, value in reply.headers.items():
            self.send_header(name, value)
        if reply.then == "close":  # no length: the end of the connection is the end
            self.send_header("Connection", "close")
        elif "Transfer-Encoding" not in reply.headers:  # with it, the body marks its own end
            rest = 1000 if reply.then else 0
            self.send_header("Content-Length", str(len(content) + rest))
        self.end_headers()
        self.wfile.write(content)
        self.wfile.flush()
        for piece in pieces:
            self.wfile.write(piece)
            self.wfile.flush()

    def _stop(self, how: str) -> None:
        if how == "hang":
            self.endpoint.released.wait()
        if how == "reset":
            linger = struct.pack("ii", 1, 0)
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
            self.connection.close()
        if how:
            self.close_connection = True

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        pass


def every_third_fails(answer: Callable[[Seen], Reply]) -> Callable[[Seen], Reply]:
    """Every third thing that is asked for is refused once. Not every third request: of two clients
    one may then meet nothing but refusals, however often it asks again."""
    lock = threading.Lock()
    met: dict[str, int] = {}

    def scripted(seen: Seen) -> Reply:
        asked = json.dumps(seen.body)
        with lock:
            again = asked in met
            number = met.setdefault(asked, len(met) + 1)
        return Reply({}, 500) if number % 3 == 0 and not again else answer(seen)

    return scripted


def closed_port() -> int:
    """A port of this machine without a server."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port: int = taken.getsockname()[1]
        return port


def events(*payloads: object, done: bool = True) -> bytes:
    """Server-sent events as chat endpoints send them."""
    lines = [f"data: {json.dumps(payload)}\n\n" for payload in payloads]
    return "".join([*lines, "data: [DONE]\n\n" if done else ""]).encode()
