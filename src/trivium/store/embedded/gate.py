"""A lock for things that many threads may read at once and one may change."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager


class Gate:
    """Lets any number of readers in together, or one writer alone: faiss must not grow while it is
    read."""

    def __init__(self) -> None:
        self._turn, self._inside, self._closed = threading.Condition(), 0, False

    @contextmanager
    def shared(self) -> Iterator[None]:
        with self._turn:
            self._turn.wait_for(lambda: not self._closed)
            self._inside += 1
        try:
            yield
        finally:
            with self._turn:
                self._inside -= 1
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
