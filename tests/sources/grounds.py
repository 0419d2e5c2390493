"""Shared by the worlds of random histories: servers, folders, and how things go wrong."""

from __future__ import annotations

import shutil
import socketserver
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread
from typing import Any

from tests.sources.imap_server import Handler, Mail
from tests.sources.server import Asked, Reply, Server, nothing_there, serving

from trivium.testing.sync_histories import Life

DAY = 86_400.0
Weighted = Mapping[Callable[[], object], int]


@dataclass
class Grounds:
    """What worlds stand on: one server for all of them, one after the other, and a folder."""

    http: Server
    mail: type[Handler]
    mail_port: int
    folder: Path
    count: int = 0

    def place(self) -> Path:
        """An empty folder."""
        shutil.rmtree(self.folder / str(self.count), ignore_errors=True)
        self.count += 1
        made = self.folder / str(self.count)
        made.mkdir()
        return made


@contextmanager
def standing() -> Iterator[Grounds]:
    handler = type("Serving", (Handler,), {"mail": Mail()})
    mail = socketserver.ThreadingTCPServer(("127.0.0.1", 0), handler)
    mail.daemon_threads = True
    thread = Thread(target=mail.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        with serving(nothing_there) as http, TemporaryDirectory(prefix="trivium-worlds-") as aside:
            yield Grounds(http, handler, mail.server_address[1], Path(aside))
    finally:
        mail.shutdown()
        thread.join()
        mail.server_close()


class Place:
    """What worlds share."""

    kind = ""
    runs = 1
    changes_by_itself = False

    def __init__(self, life: Life) -> None:
        self._life = life
        self._random = life.random

    def _do(self, ways: Weighted) -> None:
        (way,) = self._random.choices(list(ways), list(ways.values()))
        way()

    def _one(self, some: Mapping[Any, Any]) -> Any:
        """The key of one of them; None where there are none."""
        return self._random.choice(sorted(some)) if some else None

    def calm(self) -> None:
        """Nothing to mend."""


HALF = b'{"results": [{"id": "x", "na'
# One request that goes wrong, though nothing changed at the service: whatever it answers, it means
# "unknown".
ODD: tuple[Callable[[], Reply], ...] = (
    lambda: Reply({"message": "Bad request", "code": "validation_error"}, 400),
    lambda: Reply({"message": "Forbidden", "code": "restricted_resource"}, 403),
    lambda: Reply({"message": "Not found", "code": "object_not_found"}, 404),
    lambda: Reply(b"<!DOCTYPE html><title>Sign in</title>", 200, {"Content-Type": "text/html"}),
    lambda: Reply(HALF),
    lambda: Reply(b"", 200, hangs=True),
)


class Served(Place):
    """Asked over HTTP. Requests fail, tokens expire for a while, answers are cut off, and things
    change while they are listed."""

    def __init__(self, life: Life, grounds: Grounds) -> None:
        super().__init__(life)
        self.server = grounds.http
        self.server.answer = self._reply
        self.server.asked = Forgetful()
        self._failing = 0  # requests

    def _answer(self, asked: Asked) -> Reply:
        raise NotImplementedError

    def _refused(self) -> Reply:
        return Reply({"message": "expired"}, 401)

    def change(self) -> None:
        raise NotImplementedError

    def _reply(self, asked: Asked) -> Reply:
        life = self._life
        if life.happens(0.1):
            self.change()
        if life.happens(0.01):
            self._failing = self._random.choice((1, 2, 6))
        if self._failing and life.mood:
            self._failing -= 1
            return Reply(b"oops", 500)
        if life.happens(0.02):
            return Reply({"ok": False, "error": "ratelimited"}, 429, {"Retry-After": "0.01"})
        if life.happens(0.005):
            return self._refused()
        if life.happens(0.02):
            odd = self._random.choice(ODD)()
            # A file that ends in the middle shows by its length, half a list by its syntax.
            if odd.data == HALF and isinstance(self._answer(asked).data, bytes):
                return Reply(b"half a file", cut=True)
            return odd
        reply = self._answer(asked)
        reply.cut = life.happens(0.01)
        return reply

    def calm(self) -> None:
        self._failing = 0


class Forgetful(list):  # type: ignore[type-arg]
    """Histories have more requests than anyone looks at."""

    def append(self, _: object) -> None:
        """Forgets it."""
