"""What the library tells of its own work and of one document."""

from __future__ import annotations

from dataclasses import dataclass

from trivium.history import Interpretation
from trivium.ingest.outcomes import Fate, Outcome
from trivium.types import Document, StoredChunk


@dataclass(frozen=True, slots=True)
class Report:
    """What an `add` did."""

    outcomes: tuple[Outcome, ...]
    chunks: int
    seconds: float
    embedding_seconds: float
    notes: tuple[str, ...] = ()

    def count(self, fate: Fate) -> int:
        return sum(outcome.fate is fate for outcome in self.outcomes)

    @property
    def failed(self) -> tuple[Outcome, ...]:
        return tuple(outcome for outcome in self.outcomes if outcome.fate is Fate.FAILED)


@dataclass(frozen=True, slots=True)
class Shown:
    """One document in full."""

    document: Document
    text: str
    passages: tuple[StoredChunk, ...]
    interpretation: Interpretation  # the one that text and passages are of
