"""Shared by the worlds of random histories: servers, folders, and how things go wrong."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tests.sources.imap_server import Handler, Mail, serving_mail
from tests.sources.server import Asked, Reply, Server, nothing_there, serving

from trivium.sources import feed, imap, service
from trivium.testing.sync_histories import Life, Trouble

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
    with (
        serving_mail(Mail()) as (handler, port),
        serving(nothing_there) as http,
        TemporaryDirectory(prefix="trivium-worlds-") as aside,
    ):
        yield Grounds(http, handler, port, Path(aside))


class Place:
    """What worlds share."""

    kind = ""
    runs = 1
    changes_by_itself = False
    is_joined = False  # an item has the words of several: a paper and its notes

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
# What one call answers though nothing changed at the service: whatever it is, it means "unknown".
TROUBLED: Mapping[Trouble, Callable[[], Reply]] = {
    "400": lambda: Reply({"message": "Bad request", "code": "validation_error"}, 400),
    "403": lambda: Reply({"message": "Forbidden", "code": "restricted_resource"}, 403),
    "404": lambda: Reply({"message": "Not found", "code": "object_not_found"}, 404),
    "429": lambda: Reply({"ok": False, "error": "ratelimited"}, 429, {"Retry-After": "0.01"}),
    "500": lambda: Reply(b"oops", 500),
    "cut": lambda: Reply(HALF),
    "page": lambda: Reply(
        b"<!DOCTYPE html><title>Sign in</title>", 200, {"Content-Type": "text/html"}
    ),
    "hang": lambda: Reply(b"", hangs=True),
}
ODD: tuple[Trouble, ...] = ("400", "403", "404", "page", "cut", "hang")
_HELD = 0.1  # seconds until a client gives up a call that hangs


def patience(seconds: float) -> None:
    """How long sources wait for an answer."""
    service.SECONDS = feed._SECONDS = imap._SECONDS = seconds


class Spoiler:
    """Which of the calls fails, by what they ask for; a limit is over after two answers."""

    def __init__(self, call: int, trouble: Trouble) -> None:
        self._call = call
        self._trouble = trouble
        self._limits = 2 if trouble == "429" else 1_000_000
        self.made: dict[str, int] = {}

    def trouble(self, asked: str) -> Trouble | None:
        number = self.made.setdefault(asked, len(self.made))
        if number != self._call or not self._limits:
            return None
        self._limits -= 1
        return self._trouble


class Called(Place):
    """Asked by calls, each of which can fail."""

    def __init__(self, life: Life) -> None:
        super().__init__(life)
        self._spoiler = Spoiler(-1, "500")

    def spoil(self, call: int, trouble: Trouble) -> None:
        self._spoiler = Spoiler(call, trouble)
        patience(_HELD if call >= 0 and trouble == "hang" else 60.0)

    def called(self) -> int:
        return len(self._spoiler.made)


class Served(Called):
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
        key = repr((asked.method, asked.path, asked.params, asked.body))
        if trouble := self._spoiler.trouble(key):
            return self._troubled(asked, trouble)
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
            odd = self._random.choice(ODD)
            return Reply(b"", closes=True) if odd == "hang" else self._troubled(asked, odd)
        reply = self._answer(asked)
        reply.cut = life.happens(0.01)
        return reply

    def _troubled(self, asked: Asked, trouble: Trouble) -> Reply:
        # A file that ends in the middle shows by its length, half a list by its syntax.
        if trouble == "cut" and isinstance(self._answer(asked).data, bytes):
            return Reply(b"half a file", cut=True)
        return TROUBLED[trouble]()

    def calm(self) -> None:
        self._failing = 0


class Forgetful(list):  # type: ignore[type-arg]
    """Histories have more requests than anyone looks at."""

    def append(self, _: object) -> None:
        """Forgets it."""
