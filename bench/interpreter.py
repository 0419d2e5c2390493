"""How much processor time a call takes beside native code: what holds the interpreter's lock.

Threads of one process share one interpreter, so this time bounds how many queries it answers a
second, however many cores there are. Measured as processor time of all threads less that inside the
calls that let go of the lock: faiss with the exact comparison after it, SQLite and the
embedding model. Whatever else is native (numpy, tokenising) counts as interpreter.
Processor time, so that others on the machine do not count.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import wraps
from time import process_time, thread_time
from typing import Any, TypeVar

from trivium.models.local import LocalEmbedder
from trivium.store.embedded.generation import Generation

_T = TypeVar("_T")


@dataclass
class Native:
    """Processor seconds inside native calls, of all threads."""

    seconds: float = 0.0
    _changing: threading.Lock = field(default_factory=threading.Lock)
    _inside: threading.local = field(default_factory=threading.local)

    def timed(self, call: Callable[..., _T]) -> Callable[..., _T]:
        @wraps(call)
        def counted(*given: Any, **named: Any) -> _T:
            if getattr(self._inside, "now", False):
                return call(*given, **named)
            self._inside.now, began = True, thread_time()
            try:
                return call(*given, **named)
            finally:
                spent, self._inside.now = thread_time() - began, False
                with self._changing:
                    self.seconds += spent

        return counted


@contextmanager
def native_time() -> Iterator[Native]:
    """Counts within libraries that are opened inside."""
    native = Native()
    compare, connect = Generation.search, sqlite3.connect
    embed = LocalEmbedder.embed_query

    class TimedCursor(sqlite3.Cursor):
        execute = native.timed(sqlite3.Cursor.execute)
        fetchall = native.timed(sqlite3.Cursor.fetchall)
        fetchone = native.timed(sqlite3.Cursor.fetchone)

    class TimedConnection(sqlite3.Connection):
        def cursor(self, *_: Any) -> Any:
            return super().cursor(TimedCursor)

    def timed_connect(*given: Any, **named: Any) -> Any:
        return connect(*given, **{"factory": TimedConnection} | named)

    Generation.search = native.timed(compare)  # type: ignore[method-assign]
    LocalEmbedder.embed_query = native.timed(embed)  # type: ignore[method-assign]
    sqlite3.connect = timed_connect
    try:
        yield native
    finally:
        Generation.search = compare  # type: ignore[method-assign]
        LocalEmbedder.embed_query = embed  # type: ignore[method-assign]
        sqlite3.connect = connect


@dataclass(frozen=True, slots=True)
class Spent:
    """Mean milliseconds of processor time a call."""

    interpreter: float
    native: float


def spent(native: Native, call: Callable[[_T], object], asked: Sequence[_T]) -> Spent:
    """Calls once for each item, one after the other."""
    inside, began = native.seconds, process_time()
    for item in asked:
        call(item)
    whole, inside = process_time() - began, native.seconds - inside
    each = 1000 / len(asked)
    return Spent(round((whole - inside) * each, 3), round(inside * each, 3))
