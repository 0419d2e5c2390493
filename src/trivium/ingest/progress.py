"""Which step a document is in, how long each step took, and what became of it; whether
a fault concerns only that document, and how it reports it. Knows nothing of documents' contents;
the program decides where the log goes.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from time import perf_counter
from uuid import uuid4

from trivium.core.errors import DocumentFailed, ReadError, TriviumError
from trivium.core.types import Document
from trivium.core.work import JobId, Step
from trivium.text.values import clean_text


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


log = logging.getLogger("trivium.ingest")

_LONGEST = 300  # characters of a library's error message; the log has all of it


class Dropped(BaseException):
    """Somebody cancelled the job of a document while it was being read."""


def is_of_one_document(error: BaseException) -> bool:
    """Whether the other documents can continue. Not if the store or a model can't be used (every
    error of ours but read errors), and not if someone ends the program. Everything else is a fault,
    including what isn't an `Exception`, such as a panic in a Rust library."""
    if isinstance(error, TriviumError):
        return isinstance(error, ReadError)
    return not isinstance(error, KeyboardInterrupt | SystemExit | GeneratorExit | Dropped)


def is_refused(error: BaseException | None) -> bool:
    """Whether a file can't be read, and not through a fault of ours."""
    return isinstance(error, ReadError) and not isinstance(error, DocumentFailed)


def failure(name: str, step: str, error: BaseException) -> ReadError:
    """The document's error, with the entry of the log that shows where it happened."""
    if isinstance(error, ReadError) and is_refused(error):
        return error
    entry = uuid4().hex[:8]
    fix = f"Please report it with entry {entry} of the log."
    if isinstance(error, DocumentFailed):  # in a process that reads files: its notes say where
        where = "\n".join(getattr(error, "__notes__", ()))
        log.error("[%s] %s %s", entry, error.message, where)
        return DocumentFailed(error.message, fix=fix)
    log.error("[%s] %s failed at the step %s", entry, name, step or "read", exc_info=error)
    said = " ".join(clean_text(_said(error)).split())
    said = said if len(said) <= _LONGEST else f"{said[: _LONGEST - 3]}..."
    return DocumentFailed(
        f"Couldn't add {name}: something went wrong at the step {step or 'read'} ({said}).",
        fix=fix,
    )


def _said(error: BaseException) -> str:
    kind = type(error).__name__
    try:
        return f"{kind}: {error}" if str(error) else kind
    except Exception:  # an error that cannot even be written
        return kind
