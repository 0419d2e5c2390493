"""What became of an item that a source offered."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from trivium.errors import TriviumError
from trivium.types import Document
from trivium.work import JobId


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
