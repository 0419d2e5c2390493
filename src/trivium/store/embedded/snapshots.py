"""The state that searches read: the documents and what the indexes have, at one instant.

Kept until something changes. Reading goes in the opposite order of writing: read SQLite, refresh
the indexes, read SQLite again. Knows nothing of words or of what a search asks for.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from trivium.core.errors import IndexDamaged
from trivium.core.types import OWNER, Where
from trivium.store.embedded.database import rows_of, sequence_of
from trivium.store.embedded.indexes import VECTORS, WORDS, Indexes, IndexView
from trivium.store.embedded.words import WordView
from trivium.store.sql.feed import ActiveChunks, Allowed, Feed, FilterCache
from trivium.store.sql.known import KnownDocuments, KnownWords
from trivium.store.visible import Visible
from trivium.text.trigrams import Vocabulary

if TYPE_CHECKING:
    from numpy.typing import NDArray

_MASKS = 256 << 20  # bytes of masks that a snapshot keeps: 25 filters at ten million chunks
_SET_BACK = "the database was set back to an earlier state"
_Kept = TypeVar("_Kept")


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Everything one search reads, as of one sequence number."""

    active_chunks: ActiveChunks
    indexes: IndexView
    known: KnownDocuments
    allowed: dict[Where, Allowed] = field(default_factory=dict)
    visible: dict[Where, Visible] = field(default_factory=dict)  # by caller
    positions: dict[Where, NDArray[np.bool_] | None] = field(default_factory=dict)

    @property
    def words(self) -> WordView:
        return self.indexes.words


class Snapshots:
    """Threads may share it."""

    def __init__(self, feed: Feed, indexes: Indexes) -> None:
        self._feed = feed
        self._indexes = indexes
        self._passing = FilterCache(feed)
        self._turn = threading.Lock()
        self._last: Snapshot | None = None
        self._known_words = KnownWords(feed.engine, rows_of)
        self._learned: tuple[Vocabulary | None, int] = (None, 0)  # which one, and its last term

    def latest(self) -> Snapshot:
        """The latest one, if nothing has been forgotten since."""
        return self._last or self.current()

    def current(self) -> Snapshot:
        """A snapshot no older than this call."""
        last = self._last
        # Without the lock: searches at the same time don't wait for each other.
        if last is not None and last.active_chunks.sequence == self._sequence():
            return last
        with self._turn:
            last = self._last
            if last is not None and last.active_chunks.sequence == self._sequence():
                return last
            active_chunks = last.active_chunks if last else ActiveChunks.empty()
            if self._sequence() < active_chunks.sequence:  # nothing known is true any more
                active_chunks, self._passing = ActiveChunks.empty(), FilterCache(self._feed)
                self._learned = (None, 0)
                for part in (WORDS, VECTORS):
                    self._indexes.distrust(IndexDamaged.of(part, _SET_BACK))
            while True:
                active_chunks = active_chunks.after(self._feed.changes(active_chunks.sequence))
                indexes = self._indexes.view()
                if self._feed.sequence() == active_chunks.sequence:
                    self._learn_terms()
                    self._last = Snapshot(
                        active_chunks, indexes, KnownDocuments(self._known_words, active_chunks)
                    )
                    return self._last

    def _learn_terms(self) -> None:
        """The words by which documents are known belong to the vocabulary too."""
        vocabulary = self._indexes.vocabulary
        last = self._learned[1] if self._learned[0] is vocabulary else 0
        newer = self._known_words.newer(last)
        vocabulary.add(word for _, word in newer)
        self._learned = (vocabulary, newer[-1][0] if newer else last)

    def _sequence(self) -> int:
        """Every search asks for it."""
        sequence = sequence_of(self._feed.engine)
        # Otherwise the feed raises one of our errors, if something is wrong.
        return self._feed.sequence() if sequence is None else sequence

    def forget(self) -> None:
        """The indexes are about to change, or have changed, without a change in SQLite."""
        self._last = None

    def allowed(self, snapshot: Snapshot, where: Where) -> Allowed:
        allowed = snapshot.allowed.get(where)
        if allowed is None:
            with self._turn:
                allowed = self._passing.allowed(where, snapshot.active_chunks)
                _keep(snapshot.allowed, where, allowed, len(allowed.chunks))
        return allowed

    def visible(self, snapshot: Snapshot, access: Where) -> Visible:
        """The words that a caller may see."""
        words = snapshot.visible.get(access)
        if words is None:
            allowed, vocabulary = self.allowed(snapshot, access), self._indexes.vocabulary
            words = Visible(snapshot.words, vocabulary, allowed, snapshot.known)
            snapshot.visible[access] = words
        return words

    def positions(self, snapshot: Snapshot, where: Where) -> NDArray[np.bool_] | None:
        """Which rows of the vector index may be found; None: all of them."""
        try:
            return snapshot.positions[where]
        except KeyError:
            vectors = snapshot.indexes.vectors
            ids = np.empty(0, dtype=np.int64) if vectors is None else vectors.ids
            allowed = self.allowed(snapshot, where)
            passing = np.zeros(len(ids), dtype=bool)
            few = allowed.fitting.few
            if few is not None and len(ids):
                places = np.minimum(ids.searchsorted(few), len(ids) - 1)
                passing[places[ids.take(places) == few]] = True
            else:
                findable = ids[: np.searchsorted(ids, len(allowed.chunks))]  # they rise
                passing[: len(findable)] = allowed.chunks.take(findable)
            positions = None if passing.all() else passing
            with self._turn:
                _keep(snapshot.positions, where, positions, len(passing))
            return positions

    def active_vectors(self, snapshot: Snapshot) -> int:
        positions = self.positions(snapshot, OWNER)
        if positions is not None:
            return int(np.count_nonzero(positions))
        return snapshot.indexes.vectors.count if snapshot.indexes.vectors is not None else 0

    def active_chunks(self) -> NDArray[np.int64]:
        """The ids of all active chunks."""
        return np.flatnonzero(self.current().active_chunks.owner)

    def is_behind(self) -> bool:
        """Whether an index lacks chunks that are active in SQLite."""
        # Not with `ActiveChunks`: that reads every document, 1 s on opening a library with 100,000.
        last = self._feed.last_active_chunk()
        try:
            return last > 0 and self._indexes.lack(self._indexes.view().words, last)
        except IndexDamaged as damage:
            self._indexes.distrust(damage)
            self.forget()
            return False


def _keep(masks: dict[Where, _Kept], where: Where, mask: _Kept, each: int) -> None:
    """Add what a filter lets pass, in place of the one that was added first if there are many. The
    owner's stays: most searches have no filter."""
    if len(masks) * each >= _MASKS:
        first = next((earlier for earlier in masks if earlier != OWNER), None)
        if first is not None:
            del masks[first]
    masks[where] = mask
