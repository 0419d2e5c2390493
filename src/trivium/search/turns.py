"""Limits how many searches compute at a time; the others wait.

All searches share one interpreter. If many compute, they take it from each other: on two cores,
2 threads answer 185 queries a second and 8 threads 155; with three turns, 8 threads answer 179. On
16 cores, 2 threads answer 173, 4 threads 168, 8 threads 139 and 16 threads 125; with three turns,
16 threads answer 185.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from threading import Semaphore

# In large libraries more of a search runs outside the interpreter, so one more than is best at
# 100,000 chunks.
MOST = 4


def turns_for(cores: int) -> int:
    return min(cores + 1, MOST)


class Turns:
    def __init__(self, most: int) -> None:
        """`most`: how many searches may compute at a time."""
        self._free = Semaphore(most)

    def taken(self) -> AbstractContextManager[object]:
        return self._free

    @contextmanager
    def given_up(self) -> Iterator[None]:
        """Inside `taken`, to wait for something else: a language model, another machine."""
        self._free.release()
        try:
            yield
        finally:
            self._free.acquire()
