"""Times, notes, vectors and passages of one search so far. Doesn't know what is searched."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from time import perf_counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from trivium.core.types import ChunkId, StoredChunk, Vector


class StageClock:
    """Milliseconds per stage, in the order in which the stages ended."""

    def __init__(self, now: Callable[[], float] = perf_counter) -> None:
        self._now = now
        self._started = self._last = now()
        self.laps: dict[str, float] = {}

    def lap(self, stage: str) -> None:
        self.note(stage, self._now() - self._last)
        self.skip()

    def skip(self) -> None:
        self._last = self._now()

    def note(self, stage: str, seconds: float) -> None:
        self.laps[stage] = round(self.laps.get(stage, 0.0) + seconds * 1000, 3)

    def total(self) -> float:
        return round((self._now() - self._started) * 1000, 3)


@dataclass(slots=True)
class SearchProgress:
    clock: StageClock = field(default_factory=StageClock)
    notes: list[str] = field(default_factory=list)
    # By text and by id: a search may need them twice.
    vectors: dict[str, Vector] = field(default_factory=dict)
    passages: dict[ChunkId, StoredChunk] = field(default_factory=dict)

    def tell(self, note: str) -> None:
        if note not in self.notes:
            self.notes.append(note)
