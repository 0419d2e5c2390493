"""Which documents are being added, how much room they take, and which waits for which.

    next      to start: files inside others, files that had to wait
    here      being read, embedded or written
    parked    read, and stored after the files inside them
    waiting   offered while the same document was being added

Only the thread that writes uses it. Knows nothing of steps or stores.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import count

from trivium.ingest.batches import BATCH_DOCUMENTS
from trivium.ingest.in_flight import InFlight

# At once: one batch being written, one being embedded, one waiting, one being read.
MOST_DOCUMENTS = 4 * BATCH_DOCUMENTS
MOST_BYTES = 32 << 20  # of files; a larger one is added alone
# Given to each reader before the writer looks again: it may be busy for .3 s.
READ_AHEAD = 64


class UnderWay:
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
        self._bytes += flight.offer.item.size
        self._alone += flight.offer.alone
        self.reading += 1

    def _leave(self, flight: InFlight) -> None:
        if self._here.get(flight.key) is flight:
            del self._here[flight.key]
            self._bytes -= flight.offer.item.size
            self._alone -= flight.offer.alone
