"""Retries failures that may pass, with growing pauses, within a limited time. Knows nothing of what
it retries: an attempt raises `PassingFailure` if its failure may pass."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from dataclasses import dataclass
from typing import Any, TypeVar

from trivium.core.errors import ModelUnavailable

ATTEMPTS = 5
# While a person waits, once more and no oftener: one pause of half a second, then a search goes on
# without the endpoint; five attempts pause for up to 7.5.
HURRIED = 2
FIRST_PAUSE, LONGEST_PAUSE = 0.5, 20.0  # seconds: .5 1 2 4, less a random part of up to a half

_Answer = TypeVar("_Answer")


class PassingFailure(Exception):
    """A failure that another attempt may not meet."""

    def __init__(self, error: ModelUnavailable, after: float = 0.0) -> None:
        super().__init__(error.message)
        self.error = error
        self.after = after  # seconds that the server asks to wait


@dataclass(frozen=True, slots=True)
class Clock:
    """The time, for those who wait and try again."""

    wait: Callable[[float], None] = time.sleep
    now: Callable[[], float] = time.monotonic


class Retrying:
    """An attempt gets the seconds it may take: `seconds`, or the rest of the patience."""

    def __init__(self, seconds: float, clock: Clock) -> None:
        self._seconds = seconds
        self._wait, self._now = clock.wait, clock.now

    def persist(
        self, attempt: Callable[[float], _Answer], attempts: int, patience: float
    ) -> _Answer:
        """Try until it works, as long as that makes sense. `patience`: seconds for all attempts
        together."""
        deadline = self._now() + patience
        tried = 0
        while True:
            try:
                left = max(0.001, deadline - self._now())
                return attempt(min(self._seconds, left))
            except PassingFailure as problem:
                tried += 1
                pause = min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** (tried - 1))
                # Many callers that failed together must not come back together.
                pause = max(problem.after, pause * random.uniform(0.5, 1.0))
                if tried == attempts or self._now() + pause >= deadline:
                    raise _final(problem, tried) from problem.__cause__
                self._wait(pause)

    def stream(
        self, begin: Callable[[float], Generator[Any, None, None]], patience: float
    ) -> Iterator[Any]:
        """The generator's items as they come. Retries until the first one, as for a person who
        waits."""

        def first_of(seconds: float) -> tuple[Any, Generator[Any, None, None]]:
            events = begin(seconds)
            return next(events, None), events

        first, events = self.persist(first_of, HURRIED, patience)
        with closing(events):
            if first is not None:
                yield first
            try:
                yield from events
            except PassingFailure as problem:
                raise problem.error from problem.__cause__


def _final(problem: PassingFailure, tried: int) -> ModelUnavailable:
    error = problem.error
    sentences = [error.message]
    if tried > 1:
        sentences.append(f"That was attempt {tried}.")
    if problem.after:
        sentences.append(f"It asks to wait {problem.after:,.0f} seconds.")
    return type(error)(" ".join(sentences), fix=error.fix)
