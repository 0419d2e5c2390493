"""Which step a document is in, how long each step took, and what became of it. Knows nothing of
documents' contents.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from time import perf_counter

from trivium.core.errors import TriviumError
from trivium.core.types import Document
from trivium.core.work import JobId, Step


class Steps:
    """A stopwatch that one document carries. Only one thread has the document at a time."""

    def __init__(self) -> None:
        self.now: str = ""
        self.seconds: dict[str, float] = {}
        self._since = 0.0
        self.heard = ""  # of a recording: seconds done, in all, and left
        self._hearing: tuple[float, float] | None = None  # when it began, and where

    def hear(self, done: float, total: float) -> None:
        """How far the transcription of a recording is."""
        now = perf_counter()
        if self._hearing is None:
            self._hearing = (now, done)
        began, first = self._hearing
        gained = done - first
        left = f" {(total - done) * (now - began) / gained:.0f}" if gained > 0 else ""
        self.heard = f"{done:.0f} {total:.0f}{left}"

    def enter(self, step: Step) -> None:
        self.leave()
        self.now, self._since = step.value, perf_counter()

    def leave(self) -> None:
        """Waiting for its turn is no step."""
        if self._since:
            self.spend(self.now, perf_counter() - self._since)
            self._since = 0.0

    @classmethod
    @contextmanager
    def together(cls, some: Sequence[Steps], step: Step) -> Iterator[None]:
        """A step done for several documents at once; each gets its share of the time."""
        started = perf_counter()
        for one in some:
            one.now = step.value
        yield
        seconds = perf_counter() - started
        for one in some:
            one.spend(step.value, seconds / len(some))

    def spend(self, step: str, seconds: float) -> None:
        """A share of a step done for several documents at once."""
        self.now = step
        self.seconds[step] = round(self.seconds.get(step, 0.0) + seconds, 6)


class Fate(StrEnum):
    """What became of an item."""

    ADDED = "added"
    UPDATED = "updated"
    RELABELLED = "relabelled"
    MOVED = "moved"  # it has another name now
    DUPLICATE = "duplicate"  # the same bytes are there: one more name of that document
    UNCHANGED = "unchanged"
    UNREAD = "unread"  # it is inside a document, which was added and mentions it
    FAILED = "failed"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True)
class Outcome:
    uri: str
    fate: Fate
    document: Document | None = None
    # Why it failed; or, with a document, why that is found by words and spelling only.
    error: TriviumError | None = None
    size: int = 0
    enclosed: bool = False  # it is inside another item
    job: JobId = 0
