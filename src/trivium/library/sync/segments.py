"""Cuts the changes of a source into segments: each is put as one, and the cursor advances with
it."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from dataclasses import dataclass, field
from time import monotonic

from trivium.ports import Change, Checkpoint, Failed, Gone, Only, Put, Wait

# Items per segment: as many as the pipeline puts in one transaction. A commit takes 30 ms.
SEGMENT = 256
_GATHER = 2.0  # seconds after which fewer are put, so that people can find them
_MOST_PENDING = 4 * SEGMENT  # items, if a source gives no checkpoint for a long time
_MOST_HELD = 32 << 20  # bytes of items that a source has already read


@dataclass(slots=True)
class Segment:
    changes: dict[str, Put | Gone | Failed] = field(default_factory=dict)
    only: list[Only] = field(default_factory=list)
    checkpoint: Checkpoint | None = None

    @property
    def is_empty(self) -> bool:
        return not self.changes and not self.only and self.checkpoint is None

    def take(self, change: Put | Gone | Only | Failed) -> None:
        """The last change of an item counts."""
        if isinstance(change, Gone | Only):
            for id_ in [one for one in self.changes if change.drops(one)]:
                del self.changes[id_]
        if isinstance(change, Only):
            self.only.append(change)
            return
        self.changes.pop(change.id, None)
        self.changes[change.id] = change


def segments(changes: Iterable[Change]) -> Generator[Segment | Wait, None, None]:
    segment, since, held = Segment(), monotonic(), 0
    for change in changes:
        if isinstance(change, Wait):
            if not segment.is_empty:
                yield segment
            yield change
            segment, since, held = Segment(), monotonic(), 0
            continue
        if isinstance(change, Checkpoint):
            segment.checkpoint = change
            is_due = len(segment.changes) >= SEGMENT or monotonic() - since > _GATHER
        else:
            segment.take(change)
            held += change.size if isinstance(change, Put) else 0
            is_due = len(segment.changes) >= _MOST_PENDING or held >= _MOST_HELD
        if is_due:
            yield segment
            segment, since, held = Segment(), monotonic(), 0
    if not segment.is_empty:
        yield segment
