"""A lock for things that many threads may read at once and one may change."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager


class Gate:
    """Lets any number of readers in together, or one writer alone: faiss must not grow while it is
    read."""

    def __init__(self) -> None:
        self._turn, self._inside, self._closed = threading.Condition(), 0, False

    def shared(self) -> AbstractContextManager[None]:
        return _Shared(self)

    def enter(self) -> None:
        with self._turn:
            while self._closed:
                self._turn.wait()
            self._inside += 1

    def leave(self) -> None:
        with self._turn:
            self._inside -= 1
            if not self._inside:
                self._turn.notify_all()

    @contextmanager
    def alone(self) -> Iterator[None]:
        with self._turn:
            self._closed = True  # otherwise a stream of searches would block the change for ever
            self._turn.wait_for(lambda: self._inside == 0)
            try:
                yield
            finally:
                self._closed = False
                self._turn.notify_all()


class _Shared:
    """Not a generator: every search enters twice, and a generator takes twice as long."""

    __slots__ = ("_gate",)

    def __init__(self, gate: Gate) -> None:
        self._gate = gate

    def __enter__(self) -> None:
        self._gate.enter()

    def __exit__(self, *_: object) -> None:
        self._gate.leave()
