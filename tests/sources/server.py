"""A small HTTP server for services: a test gives it the answers, and may let it fail."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any
from urllib.parse import parse_qsl, urlsplit


def at(minute: float) -> str:
    """Of a day in 2026, as services write times."""
    return f"2026-01-01T{int(minute) // 60:02}:{int(minute) % 60:02}:00Z"


@dataclass(frozen=True)
class Asked:
    method: str
    path: str  # without the query
    params: dict[str, str]
    headers: dict[str, str]  # names in small letters
    body: Any


@dataclass
class Reply:
    data: Any  # as JSON, unless bytes
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    cut: bool = False  # the connection ends in the middle
    hangs: bool = False  # no answer comes
    closes: bool = False  # the connection ends before an answer


@dataclass
class Server:
    """`answer` says what comes back; `troubles` are answered first, one request each."""

    answer: Callable[[Asked], Reply]
    url: str = ""
    asked: list[Asked] = field(default_factory=list)
    troubles: list[Reply] = field(default_factory=list)

    def reply(self, asked: Asked) -> Reply:
        self.asked.append(asked)
        return self.troubles.pop(0) if self.troubles else self.answer(asked)


def nothing_there(asked: Asked) -> Reply:
    return Reply({"message": "Not Found"}, 404)


@contextmanager
def serving(answer: Callable[[Asked], Reply]) -> Iterator[Server]:
    server = Server(answer)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True
        wbufsize = -1  # an answer in one piece

        def _any(self) -> None:
            split = urlsplit(self.path)
            length = int(self.headers.get("Content-Length") or 0)
            raw = self.rfile.read(length)
            body = json.loads(raw) if raw else None
            headers = {name.lower(): value for name, value in self.headers.items()}
            params = dict(parse_qsl(split.query, keep_blank_values=True))
            reply = server.reply(Asked(self.command, split.path, params, headers, body))
            if reply.closes:
                self.close_connection = True
                return
            if reply.hangs:  # until the client gives up
                self.rfile.read(1)
                self.close_connection = True
                return
            data = reply.data if isinstance(reply.data, bytes) else json.dumps(reply.data).encode()
            self.send_response(reply.status)
            for name, value in reply.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data[: len(data) // 2] if reply.cut else data)
            self.wfile.flush()
            self.close_connection = self.close_connection or reply.cut

        do_GET = do_POST = _any  # noqa: N815

        def log_message(self, *_: object) -> None:
            """Tests say nothing."""

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    http.daemon_threads = True
    server.url = f"http://127.0.0.1:{http.server_port}/"
    thread = Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server
    finally:
        http.shutdown()
        thread.join()
        http.server_close()
