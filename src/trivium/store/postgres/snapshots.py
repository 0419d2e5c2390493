"""The state that searches read, kept in memory until something changes: the documents, the distinct
words, whose vectors are in use. Words and vectors themselves stay in the database."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field

from sqlalchemy import Engine

from trivium.core.types import OWNER, Where
from trivium.store.postgres.database import direct, one_read, rows_of
from trivium.store.postgres.occurrences import Remembered, RowOccurrences
from trivium.store.postgres.shards import shards_of
from trivium.store.postgres.vectors import ServedModel
from trivium.store.postgres.words import generation
from trivium.store.sql.feed import SEQUENCE, ActiveChunks, Allowed, Feed, FilterCache, Serving
from trivium.store.sql.known import KnownDocuments, KnownWords, learn_missing
from trivium.store.sql.statements import one_state, wait_for_changes
from trivium.store.visible import Visible
from trivium.text.trigrams import Vocabulary

_MASKS = 64 << 20  # bytes of filters' masks that a snapshot keeps; one takes 1 ms at a million
_CALLERS = 64  # sets of labels and collections whose words a snapshot keeps


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Everything one search reads, as of one sequence number."""

    active_chunks: ActiveChunks
    serving: Serving
    vocabulary: Vocabulary
    occurrences: RowOccurrences
    known: KnownDocuments
    allowed: dict[Where, Allowed] = field(default_factory=dict)
    visible: dict[Where, Visible] = field(default_factory=dict)

    @property
    def served(self) -> ServedModel:
        return ServedModel(self.serving.model, self.active_chunks.sequence)


class Snapshots:
    """Threads may share it."""

    def __init__(self, engine: Engine, feed: Feed) -> None:
        self._engine = engine
        self._feed = feed
        self._passing = FilterCache(feed)
        self._turn = threading.Lock()  # of whoever reads what changed
        self._keeping = threading.Lock()  # of whoever adds to what a snapshot caches
        self._last: Snapshot | None = None
        self.forgotten = 0  # how often
        self._active_chunks = ActiveChunks.empty()
        self._remembered = Remembered(engine, feed)
        self._vocabulary = Vocabulary()
        self._generation = 0  # of the words and occurrences that are cached
        self._last_word = 0  # the highest known number
        self._known_words = KnownWords(engine, rows_of)
        self._last_term = 0  # of those by which documents are known

    def latest(self) -> Snapshot:
        """The latest one, if nothing has been forgotten since."""
        return self._last or self.current()

    def current(self) -> Snapshot:
        """A snapshot no older than this call."""
        last, sequence = self._last, self._sequence()
        # Without the lock: searches at the same time don't wait for each other.
        if last is not None and last.active_chunks.sequence == sequence:
            return last
        with self._turn:
            last, sequence = self._last, self._sequence()
            if last is not None and last.active_chunks.sequence == sequence:
                return last
            if (
                sequence < self._active_chunks.sequence
            ):  # restored from a backup: nothing known is true
                self._active_chunks, self._passing = ActiveChunks.empty(), FilterCache(self._feed)
                self._generation = -1
            if self._active_chunks.sequence != sequence:
                learn_missing(self._engine)
                self._wait_for_nodes()
                self._active_chunks = self._active_chunks.after(
                    self._feed.changes(self._active_chunks.sequence)
                )
            serving = self._feed.serving()
            self._learn_words()
            active_chunks = self._active_chunks
            occurrences = RowOccurrences(
                self._remembered, active_chunks.sequence, len(active_chunks.owner)
            )
            documents = KnownDocuments(self._known_words, active_chunks)
            self._last = Snapshot(active_chunks, serving, self._vocabulary, occurrences, documents)
            return self._last

    def _sequence(self) -> int:
        with one_read(self._engine) as cursor:
            row = cursor.execute(SEQUENCE).fetchone()
        return row[0] if row else 0

    def cached(self) -> tuple[int, int]:
        """How many words a search found in memory, and how many it had to read."""
        return self._remembered.hits, self._remembered.misses

    def forget(self) -> None:
        """This process has changed something: the next search reads the state again."""
        self._last = None
        self.forgotten += 1

    def allowed(self, snapshot: Snapshot, where: Where) -> Allowed:
        allowed = snapshot.allowed.get(where)
        if allowed is None:
            allowed = self._passing.allowed(where, snapshot.active_chunks)
            with self._keeping:
                _keep(snapshot.allowed, where, allowed)
        return allowed

    def visible(self, snapshot: Snapshot, access: Where) -> Visible:
        """The words that a caller may see."""
        visible = snapshot.visible.get(access)
        if visible is None:
            allowed = self.allowed(snapshot, access)
            visible = Visible(snapshot.occurrences, snapshot.vocabulary, allowed, snapshot.known)
            with self._keeping:
                if len(snapshot.visible) >= _CALLERS:
                    snapshot.visible.pop(next(iter(snapshot.visible)))
                snapshot.visible[access] = visible
        return visible

    def _wait_for_nodes(self) -> None:
        """The coordinator sees a change some milliseconds before its rows are on the nodes; its
        writer holds a lock until they are."""
        with self._engine.connect() as connection:
            if shards_of(connection):
                wait_for_changes(connection)

    def _learn_words(self) -> None:
        """Numbers rise in the order of changes; a rebuild begins another generation. The vocabulary
        stays: searches leave out words that nobody has any more, and to make it anew would stop
        them for a second at 100,000 passages."""
        with one_state(self._engine) as connection:
            now = generation(connection)
            if now != self._generation:
                self._remembered = Remembered(self._engine, self._feed)
                self._generation, self._last_word, self._last_term = now, 0, 0
            with direct(connection) as cursor:
                newer = "SELECT id, word FROM words WHERE id > %s ORDER BY id"
                rows = cursor.execute(newer, (self._last_word,)).fetchall()
        if rows:
            self._vocabulary.add(word for _, word in rows)
            self._last_word = rows[-1][0]
        terms = self._known_words.newer(self._last_term)
        if terms:
            self._vocabulary.add(word for _, word in terms)
            self._last_term = terms[-1][0]


def _keep(masks: dict[Where, Allowed], where: Where, allowed: Allowed) -> None:
    """In place of those that were added first, if there are many. The owner's stays: most searches
    have no filter."""
    masks[where] = allowed
    most = max(2, _MASKS // max(1, len(allowed.chunks)))
    for earlier in list(masks)[: max(0, len(masks) - most)]:
        if earlier not in (OWNER, where):
            del masks[earlier]
