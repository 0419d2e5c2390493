"""Reports on the library's work and on single documents."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from trivium.core.history import Interpretation
from trivium.core.types import Document, DocumentId, StoredChunk
from trivium.core.work import Job
from trivium.extract.cleaning import DROPPED
from trivium.ingest.preparing import CHUNKING
from trivium.ingest.progress import Fate, Outcome

_NAMED = 5  # fields that a note lists
MOST_OUTCOMES = 10_000  # that a report lists: 15 MB, whatever is added


@dataclass(frozen=True, slots=True)
class Report:
    """What an `add` did, or the working off of the queue."""

    outcomes: tuple[Outcome, ...]  # the first ten thousand; `Library.tasks` has those of a job
    counts: Mapping[Fate, int]
    failed: tuple[Outcome, ...]  # all that failed, or are without vectors because a model failed
    chunks: int
    seconds: float
    embedding_seconds: float
    notes: tuple[str, ...] = ()
    job: Job | None = None  # as it was at the end; None if there were several

    def count(self, fate: Fate) -> int:
        return self.counts.get(fate, 0)


@dataclass(slots=True)
class Tally:
    """Counts what became of documents while they are worked on."""

    on_outcome: Callable[[Outcome], None] | None = None
    outcomes: list[Outcome] = field(default_factory=list)
    failed: list[Outcome] = field(default_factory=list)
    counts: Counter[Fate] = field(default_factory=Counter)
    chunks: int = 0
    notes: list[str] = field(default_factory=list)

    def take(self, outcome: Outcome) -> None:
        self.counts[outcome.fate] += 1
        if len(self.outcomes) < MOST_OUTCOMES:
            self.outcomes.append(outcome)
        if outcome.error is not None:
            self.failed.append(outcome)
        if outcome.document is not None and outcome.fate in (Fate.ADDED, Fate.UPDATED):
            self.chunks += outcome.document.chunks
            self._mind(outcome.document)
        if self.on_outcome is not None:
            self.on_outcome(outcome)

    @property
    def fresh(self) -> list[DocumentId]:
        """The listed documents that have a new interpretation."""
        new = (Fate.ADDED, Fate.UPDATED)
        return [o.document.id for o in self.outcomes if o.document and o.fate in new]

    def _mind(self, document: Document) -> None:
        if len(self.notes) >= MOST_OUTCOMES:
            return
        if CHUNKING in document.metadata:
            self.notes.append(f"{document.title}: {document.metadata[CHUNKING]}")
        lost = document.metadata.get(DROPPED)
        if isinstance(lost, tuple):
            names = ", ".join(map(str, lost[:_NAMED])) + (", ..." if len(lost) > _NAMED else "")
            self.notes.append(f"{document.title}: couldn't store some metadata ({names}).")

    def report(self, seconds: float, embedding_seconds: float, job: Job | None) -> Report:
        return Report(
            tuple(self.outcomes), self.counts, tuple(self.failed), self.chunks,
            seconds, embedding_seconds, tuple(self.notes), job,
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Shown:
    """One document in full."""

    document: Document
    text: str
    passages: tuple[StoredChunk, ...]
    interpretation: Interpretation  # the interpretation of text and passages
    original: str = ""  # where its file is in the archive; empty: not kept
