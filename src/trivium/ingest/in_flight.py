"""One document being added: its offer, who prepares it, its progress. Knows nothing of threads; the
pipeline moves it along."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass, field, replace

from trivium.errors import TriviumError
from trivium.extract.archives import ARCHIVES
from trivium.ingest.attached import is_library
from trivium.ingest.outcomes import Fate
from trivium.ingest.preparing import Prepared, Preparer
from trivium.ingest.steps import Steps
from trivium.ports import SourceItem
from trivium.store.identity import is_within
from trivium.text.values import clean_text, is_clean
from trivium.types import Document, Labels
from trivium.work import JobId, Priority, TaskEnd, TaskId, TaskProgress, TaskState


@dataclass(frozen=True, slots=True)
class Offer:
    """An item, who prepares it, and the task it belongs to, if to any."""

    item: SourceItem
    labels: Labels
    preparer: Preparer
    job: JobId = 0
    task: TaskId = 0
    priority: int = Priority.BULK
    anew: bool = False  # look at the files inside it, though its bytes are known
    alone: bool = False  # nothing else is worked on meanwhile: a process ended while it had this


def clean_item(item: SourceItem) -> SourceItem:
    """A source's offer, under a name that every store can keep."""
    if is_clean(item.uri) and is_clean(item.name):
        return item
    return replace(item, uri=clean_text(item.uri), name=clean_text(item.name))


@dataclass(slots=True, eq=False)
class InFlight:
    """A document between being offered and being done."""

    offer: Offer
    parent: InFlight | None = None
    depth: int = 0
    steps: Steps = field(default_factory=Steps)
    prepared: Prepared | None = None
    number: int = 0  # in the order offered
    opened: bool = False  # the files inside it are being added, or done
    within: int = 0  # documents inside it that aren't done
    unread: list[str] = field(default_factory=list)  # files inside it that can't be read, and why
    embedded: Set[str] = frozenset()  # hashes that the model is done with; its thread adds to it

    @property
    def is_part(self) -> bool:
        """It is inside a document, as an attachment is. Members of an archive are files that
        somebody added, and so are files that a reference names."""
        if self.parent is None or not is_within(self.offer.item.uri, self.parent.offer.item.uri):
            return False
        holder = self.parent.ready.processed.extraction
        return holder.media_type not in ARCHIVES and not is_library(holder)

    @property
    def key(self) -> tuple[str, str]:
        """Of these only one may be under way at a time."""
        return self.offer.labels.collection, self.offer.item.uri

    @property
    def ready(self) -> Prepared:
        assert self.prepared is not None
        return self.prepared

    @property
    def hashes(self) -> tuple[str, ...]:
        return self.ready.processed.hashes

    @property
    def progress(self) -> TaskProgress:
        if self.prepared is None:
            return TaskProgress(self.steps.now)
        done = sum(hash_ in self.embedded for hash_ in self.hashes)
        return TaskProgress(self.steps.now, len(self.hashes), done, self.tokens)

    @property
    def fate(self) -> Fate:
        """Its outcome once the store has it."""
        return Fate.UPDATED if self.ready.before else Fate.ADDED

    @property
    def tokens(self) -> int:
        return sum(chunk.tokens for chunk in self.ready.processed.chunks)

    def ending(
        self, fate: Fate, error: TriviumError | None, document: Document | None = None
    ) -> TaskEnd:
        is_failed = error is not None and fate is not Fate.UNREAD
        state = TaskState.FAILED if is_failed else TaskState.DONE
        cancelled = fate is Fate.CANCELLED
        return TaskEnd(
            task=self.offer.task,
            state=TaskState.CANCELLED if cancelled else state,
            fate="" if cancelled else fate.value,
            step=self.steps.now if error else "",
            code=error.code if error else "",
            message=clean_text(str(error)) if error else "",
            document=document.id if document else None,
            seconds=dict(self.steps.seconds),
            passages=None if self.prepared is None else len(self.hashes),
            tokens=None if self.prepared is None else self.tokens,
        )
