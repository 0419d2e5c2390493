"""Who may compute now? Only as many searches at a time as cores can serve; the others wait.

Searches share one interpreter, and more threads than cores take it from each other: on two cores 2
threads answer 185 queries a second and 8 threads 155; with three turns, 8 threads answer 179.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from threading import Semaphore


class Turns:
    def __init__(self, most: int) -> None:
        """`most`: searches at a time."""
        self._free = Semaphore(most)

    def taken(self) -> AbstractContextManager[object]:
        return self._free

    @contextmanager
    def given_up(self) -> Iterator[None]:
        """Inside `taken`, while waiting for somebody else: a language model, another machine."""
        self._free.release()
        try:
            yield
        finally:
            self._free.acquire()
