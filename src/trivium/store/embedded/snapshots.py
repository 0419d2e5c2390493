"""The picture that searches look at: who is there and what the indexes hold, at one instant.

Kept until something changes. Reading goes the other way round than writing: look at SQLite,
refresh the indexes, look again. Knows nothing of words or of what a search asks for.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from trivium.errors import IndexDamaged
from trivium.store.embedded.database import sequence_of
from trivium.store.embedded.indexes import Indexes, IndexView
from trivium.store.embedded.occurrences import Remembered, WordOccurrences
from trivium.store.embedded.words import WordView
from trivium.store.sql.census import Allowed, Census, Passing
from trivium.store.sql.feed import Feed
from trivium.store.visible import Visible
from trivium.types import OWNER, Where

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Everything one search looks at, as of one sequence number."""

    census: Census
    indexes: IndexView
    allowed: dict[Where, Allowed] = field(default_factory=dict)
    visible: dict[Where, Visible] = field(default_factory=dict)  # for callers who do not see all
    positions: dict[Where, NDArray[np.bool_] | None] = field(default_factory=dict)

    @property
    def words(self) -> WordView:
        return self.indexes.words


class Snapshots:
    """Threads may share one."""

    def __init__(self, feed: Feed, indexes: Indexes) -> None:
        self._feed = feed
        self._indexes = indexes
        self._passing = Passing(feed)
        self._turn = threading.Lock()
        self._last: Snapshot | None = None
        self._remembered = Remembered()

    def latest(self) -> Snapshot:
        """The last one that was looked at, if nothing has been forgotten since."""
        return self._last or self.current()

    def current(self) -> Snapshot:
        """One no older than this call."""
        last = self._last
        # Without the lock: searches that look at the same instant don't wait for each other.
        if last is not None and last.census.sequence == self._sequence():
            return last
        with self._turn:
            last = self._last
            if last is not None and last.census.sequence == self._sequence():
                return last
            census = last.census if last else Census.empty()
            while True:
                census = census.after(self._feed.changes(census.sequence))
                indexes = self._indexes.view()
                if self._feed.sequence() == census.sequence:
                    if self._indexes.damaged:
                        self._remembered = Remembered()
                    self._last = Snapshot(census, indexes)
                    return self._last

    def _sequence(self) -> int:
        """Every search asks for it."""
        found = sequence_of(self._feed.engine)
        # Else the feed says what is wrong in our words, if anything is.
        return self._feed.sequence() if found is None else found

    def forget(self) -> None:
        """The indexes are about to change, or have, without a change in SQLite."""
        self._last = None

    def forget_words(self) -> None:
        """What was learnt of an empty stand-in for a damaged index."""
        self._remembered = Remembered()

    def allowed(self, snapshot: Snapshot, where: Where) -> Allowed:
        known = snapshot.allowed.get(where)
        if known is None:
            with self._turn:
                known = snapshot.allowed[where] = self._passing.allowed(where, snapshot.census)
        return known

    def visible(self, snapshot: Snapshot, access: Where) -> Visible:
        """The words of what a caller who does not see everything may see."""
        seen = snapshot.visible.get(access)
        if seen is None:
            allowed = self.allowed(snapshot, access)
            documents = allowed.documents
            assert documents is not None  # that is the owner's
            languages = snapshot.census.languages_of(documents)
            vocabulary = self._indexes.vocabulary
            last = len(allowed.chunks) - 1
            occurrences = WordOccurrences(self._remembered, snapshot.words, last)
            seen = Visible(occurrences, vocabulary, allowed, languages)
            snapshot.visible[access] = seen
        return seen

    def positions(self, snapshot: Snapshot, where: Where) -> NDArray[np.bool_] | None:
        """Which rows of the vector index may be found; None: all of them."""
        try:
            return snapshot.positions[where]
        except KeyError:
            vectors = snapshot.indexes.vectors
            ids = np.empty(0, dtype=np.int64) if vectors is None else vectors.ids
            chunks = self.allowed(snapshot, where).chunks
            passing = chunks[np.minimum(ids, len(chunks) - 1)] & (ids < len(chunks))
            found = snapshot.positions[where] = None if passing.all() else passing
            return found

    def active_vectors(self, snapshot: Snapshot) -> int:
        positions = self.positions(snapshot, OWNER)
        if positions is not None:
            return int(np.count_nonzero(positions))
        return snapshot.indexes.vectors.count if snapshot.indexes.vectors is not None else 0

    def active_chunks(self) -> NDArray[np.int64]:
        """The ids of every active chunk."""
        return np.flatnonzero(self.current().census.owner)

    def is_behind(self) -> bool:
        """Whether an index lacks what SQLite calls active."""
        # Not by a census: that reads every document, 1 s of opening a library that has 100,000.
        last = self._feed.last_active_chunk()
        try:
            return last > 0 and self._indexes.lack(self._indexes.view().words, last)
        except IndexDamaged as damage:
            self._indexes.distrust(damage)
            self.forget()
            return False
