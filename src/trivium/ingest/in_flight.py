"""The documents being added: what each one carries, how much room they take, which waits for which.

    next      to start: files inside others, files that had to wait
    here      being read, embedded or written
    parked    read, and stored after the files inside them
    waiting   offered while the same document was being added

Only the thread that writes uses `InFlightDocuments`. Knows nothing of threads or stores; `run`
moves documents along.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, field, replace
from itertools import count

from trivium.core.errors import TriviumError
from trivium.core.types import Document, DocumentId, Labels
from trivium.core.work import JobId, Priority, TaskEnd, TaskId, TaskProgress, TaskState
from trivium.extract.archives import ARCHIVES
from trivium.extract.recordings import has_ending
from trivium.ingest.attached import is_library
from trivium.ingest.preparing import Prepared, Preparer
from trivium.ingest.progress import Fate, Steps
from trivium.ports import SourceItem
from trivium.store.identity import is_within
from trivium.text.values import clean_text, is_clean


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
    gone: Sequence[DocumentId] = ()  # entries of a reference library that are papers' no longer
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
    def is_recording(self) -> bool:
        """By its name: hours of work for a thread of its own, beside which others go on."""
        return has_ending(self.offer.item.name)

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
            return TaskProgress(self.steps.now, heard=self.steps.heard)
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


BATCH_DOCUMENTS = 256
# At once: one batch being written, one being embedded, one waiting, one being read.
MOST_DOCUMENTS = 4 * BATCH_DOCUMENTS
MOST_BYTES = 32 << 20  # of files; a larger one is added alone
# Given to each reader before the writer looks again: it may be busy for .3 s.
READ_AHEAD = 64


class InFlightDocuments:
    def __init__(self, readers: int = 1) -> None:
        self._ahead = readers * READ_AHEAD
        self._next: list[InFlight] = []
        self._here: dict[tuple[str, str], InFlight] = {}
        self._parked: dict[tuple[str, str], InFlight] = {}
        self._waiting: dict[tuple[str, str], list[InFlight]] = {}
        self._numbers = count(1)
        self._bytes = 0
        self._alone = 0  # documents that must be added alone
        self.reading = 0

    @property
    def is_empty(self) -> bool:
        """Nothing is being worked on just now."""
        return not self._here

    @property
    def is_tied(self) -> bool:
        """Some wait for others, and nothing is being worked on."""
        return bool(self._waiting) and not self._here

    @property
    def is_done(self) -> bool:
        return not self._here and not self._next and not self._waiting

    @property
    def has_room(self) -> bool:
        if not self._here:
            return True
        if self._alone:
            return False
        few = self.reading < self._ahead and len(self._here) < MOST_DOCUMENTS
        return few and self._bytes < MOST_BYTES

    def all(self) -> Iterator[InFlight]:
        """Documents that were started."""
        yield from self._here.values()
        yield from self._parked.values()

    def unfinished(self) -> Iterator[InFlight]:
        """Everything that was offered and has not ended."""
        yield from self.all()
        yield from self._next
        for flights in self._waiting.values():
            yield from flights

    # --- beginning

    def put_first(self, flights: Iterable[InFlight]) -> None:
        """The first of these is begun next."""
        self._next += reversed(list(flights))

    def take_first(self) -> InFlight | None:
        return self._next.pop() if self._next else None

    def begin(self, flight: InFlight) -> bool:
        """False: the same document is being added, and this one waits for it."""
        if flight.key in self._here or flight.key in self._parked:
            self._waiting.setdefault(flight.key, []).append(flight)
            return False
        flight.number = next(self._numbers)
        self._enter(flight)
        return True

    def park(self, flight: InFlight, inner: list[InFlight]) -> None:
        """It is stored after the files inside it."""
        flight.opened, flight.within = True, len(inner)
        self._leave(flight)
        self._parked[flight.key] = flight
        self.put_first(inner)

    # --- ending

    def end(self, flight: InFlight) -> InFlight | None:
        """It takes no more room. Documents that waited for it are next. Returns its container if
        this was the last file inside it."""
        self._leave(flight)
        waiting = self._waiting.get(flight.key)
        if waiting:
            self.put_first([waiting.pop(0)])
            if not waiting:
                del self._waiting[flight.key]
        holder = flight.parent
        if holder is None:
            return None
        holder.within -= 1
        if holder.within:
            return None
        del self._parked[holder.key]
        self._enter(holder)
        return holder

    def untie(self) -> InFlight:
        """One of two that name each other: the other has been looked at already."""
        key = next(iter(self._waiting))
        flight = self._waiting[key].pop()
        if not self._waiting[key]:
            del self._waiting[key]
        return flight

    def _enter(self, flight: InFlight) -> None:
        self._here[flight.key] = flight
        self._bytes += 0 if flight.is_recording else flight.offer.item.size
        self._alone += flight.offer.alone
        self.reading += not flight.is_recording

    def _leave(self, flight: InFlight) -> None:
        if self._here.get(flight.key) is flight:
            del self._here[flight.key]
            self._bytes -= 0 if flight.is_recording else flight.offer.item.size
            self._alone -= flight.offer.alone
