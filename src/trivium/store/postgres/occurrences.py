"""Which chunks contain a word, read from PostgreSQL and cached between searches.

A cached list only reads the rows of later changes. Threads may share it.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sqlalchemy import Engine, text

from trivium.core.machine import memory
from trivium.store.postgres.database import rows_of
from trivium.store.postgres.words import LENGTHS, MOST
from trivium.store.ranking import Counts, Ids, below
from trivium.store.sql.feed import Allowed, Feed
from trivium.store.sql.statements import one_statement
from trivium.text.keywords import Run
from trivium.text.normalise import words
from trivium.text.stems import stem

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Chunks of words kept in memory, 6 bytes each: for a large library more, or searches read their
# words again (at 3 million chunks 114 ms of processor time at the 95th percentile instead of 20),
# but not more than a sixteenth of the machine's memory.
_REMEMBERED, _FOR_EACH_CHUNK, _BYTES, _SHARE = 40_000_000, 100, 6, 16
_TEXT = 200  # reading a chunk's text costs as much as the positions of a word in this many chunks
_COLUMN = {"spellings": "word", "stems": "stem"}
_NEWER = """
SELECT k.key, p.since, p.upto, p.ids, p.counts
FROM unnest(%s::text[], %s::bigint[]) AS k(key, after)
JOIN words w ON w.{column} = k.key JOIN postings p ON p.word = w.id AND p.upto > k.after
"""
_PLACES = """
SELECT w.{column} AS key, p.ids, p.counts, p.positions
FROM words w JOIN postings p ON p.word = w.id WHERE w.{column} = ANY(%s)
"""
_LENGTHS = "SELECT since, upto, ids, counts FROM postings WHERE word = %s AND upto > %s"
_HELD = (
    "SELECT w.word, sum(length(p.ids)) / 4 AS held FROM words w JOIN postings p ON p.word = w.id"
    " WHERE w.word = ANY(:words) GROUP BY w.word"
)


@dataclass(frozen=True, slots=True)
class _Entry:
    upto: int  # the last change whose rows are included
    ids: Ids  # ascending
    counts: Counts


_UNKNOWN = _Entry(0, np.empty(0, dtype=np.int32), np.empty(0, dtype=np.uint16))


class Remembered:
    def __init__(self, engine: Engine, feed: Feed) -> None:
        self._engine = engine
        self._feed = feed
        self._entries: OrderedDict[tuple[str, Run], _Entry] = OrderedDict()
        self._lengths: tuple[int, Counts] = (0, np.zeros(1, dtype=np.int32))
        self._size = 0
        self._changing = threading.Lock()
        self.hits = self.misses = 0

    def of(
        self, field: str, run: Run, sequence: int, *, read_texts: bool = True
    ) -> tuple[Ids, Counts]:
        """`read_texts`: where it takes less time, look for several words in the texts."""
        remembered = self._entries.get((field, run))
        if remembered is None or remembered.upto < sequence:
            if len(run) == 1:
                self.expect(field, run, sequence)
            else:
                occurrences = self._phrase(field, run, sequence, read_texts=read_texts)
                self._keep((field, run), _Entry(sequence, *occurrences))
            remembered = self._entries.get((field, run), _UNKNOWN)
        else:
            with self._changing:  # the least recently used one is forgotten first
                if (field, run) in self._entries:
                    self._entries.move_to_end((field, run))
        return remembered.ids, remembered.counts

    def expect(self, field: str, wanted: Sequence[str], sequence: int) -> None:
        """Read what will be needed, in one round trip."""
        after = {}
        distinct = dict.fromkeys(wanted)
        for word in distinct:
            remembered = self._entries.get((field, (word,)), _UNKNOWN)
            if remembered.upto < sequence or (field, (word,)) not in self._entries:
                after[word] = remembered.upto
        self.hits += len(distinct) - len(after)
        self.misses += len(after)
        if not after:
            return
        rows = self._newer(field, after)
        # Rows that were merged since contain what we already have: read these words from the start.
        joined = {word for word, newer in rows.items() if any(r[1] <= after[word] for r in newer)}
        if joined:
            rows |= self._newer(field, dict.fromkeys(joined, 0))
        for word, known_upto in after.items():
            before = _UNKNOWN if word in joined else self._entries.get((field, (word,)), _UNKNOWN)
            if word not in joined and before.upto != known_upto:
                continue  # another thread was faster
            newer = rows.get(word, [])
            upto = max((sequence, *(row[2] for row in newer)))
            self._keep((field, (word,)), _Entry(upto, *_joined(before, newer)))

    def _newer(self, field: str, after: dict[str, int]) -> dict[str, list[Any]]:
        statement = _NEWER.format(column=_COLUMN[field])
        by_key: dict[str, list[Any]] = {}
        for row in self._rows(statement, (list(after), list(after.values()))):
            by_key.setdefault(row[0], []).append(row)
        return by_key

    def lengths(self, sequence: int, size: int) -> Counts:
        """By chunk id, for at least `size` of them: a rebuild leaves out the last ones if they are
        gone."""
        upto, lengths = self._lengths
        if upto < sequence or len(lengths) < size:
            rows = self._rows(_LENGTHS, (LENGTHS, upto))
            ids = _array(b"".join(row[2] for row in rows), "<i4")
            grown = np.zeros(max(len(lengths), size, int(ids.max(initial=0)) + 1), dtype=np.int32)
            grown[: len(lengths)] = lengths
            grown[ids] = _array(b"".join(row[3] for row in rows), "<u2")
            upto = max((sequence, *(row[1] for row in rows)))
            self._lengths, lengths = (upto, grown), grown
        return lengths

    def held(self, words: Sequence[str]) -> dict[str, int]:
        """About how many chunks contain each word, removed ones included."""
        with one_statement(self._engine) as connection:
            rows = connection.execute(text(_HELD), {"words": list(words)})
            return {row.word: int(row.held) for row in rows}

    def _phrase(
        self, field: str, run: Run, sequence: int, *, read_texts: bool
    ) -> tuple[Ids, Counts]:
        """Where the words of a run are side by side."""
        self.expect(field, run, sequence)
        lists = [self.of(field, (word,), sequence)[0] for word in run]
        both = lists[0]
        for ids in lists[1:]:
            both = np.intersect1d(both, ids, assume_unique=True)
        if not len(both):
            return both, _UNKNOWN.counts
        if read_texts and len(both) * _TEXT <= sum(map(len, lists)):
            return self._read(field, run, both)
        return self._beside(field, run)

    def _read(self, field: str, run: Run, chunks: Ids) -> tuple[Ids, Counts]:
        """Using the texts of a few chunks. Of 171 runs that 250 queries at 100,000 chunks looked
        for, 109 had no chunk with both words, and 50 others at most 100."""
        times = {}
        for chunk in self._feed.searched_texts(chunks.tolist()):
            tokens = words(chunk.text)
            tokens = tokens if field == "spellings" else stem(tokens, chunk.language)
            starts = range(len(tokens) - len(run) + 1)
            if count := sum(tuple(tokens[at : at + len(run)]) == run for at in starts):
                times[chunk.id] = count
        ids = np.array(sorted(times), dtype=np.int32)
        return ids, np.array([times[i] for i in ids.tolist()], dtype=np.uint16)

    def _beside(self, field: str, run: Run) -> tuple[Ids, Counts]:
        """Using the positions of all their words."""
        statement = _PLACES.format(column=_COLUMN[field])
        places: dict[str, list[NDArray[np.int64]]] = {word: [] for word in run}
        for key, ids, counts, positions in self._rows(statement, (list(set(run)),)):
            owners = np.repeat(_array(ids, "<i4").astype(np.int64), _array(counts, "<u2"))
            places[key].append((owners << 16) + _array(positions, "<u2"))
        starts: NDArray[np.int64] | None = None
        for at, word in enumerate(run):
            here = np.concatenate([*places[word], np.empty(0, dtype=np.int64)]) - at
            starts = np.unique(here) if starts is None else np.intersect1d(starts, here)
        assert starts is not None
        ids, counts = np.unique(starts >> 16, return_counts=True)
        return ids.astype(np.int32), counts.astype(np.uint16)

    def _rows(self, statement: str, values: tuple[Any, ...]) -> list[Any]:
        # Raw bytes: as text they would be twice as long.
        return rows_of(self._engine, statement, values)

    def _keep(self, key: tuple[str, Run], entry: _Entry) -> None:
        with self._changing:
            before = self._entries.pop(key, None)
            self._size += len(entry.ids) - (len(before.ids) if before else 0)
            self._entries[key] = entry
            most = most_remembered(len(self._lengths[1]), memory())
            while self._size > most and len(self._entries) > 1:
                self._size -= len(self._entries.popitem(last=False)[1].ids)


def most_remembered(chunks: int, memory: int) -> int:
    """How many chunks of words are kept, where the machine has so many bytes of memory."""
    return max(_REMEMBERED, min(_FOR_EACH_CHUNK * chunks, memory // _SHARE // _BYTES))


@dataclass(frozen=True, slots=True)
class RowOccurrences:
    """The cache, as of one change."""

    remembered: Remembered
    sequence: int
    chunks: int  # one more than the highest id
    read_texts: bool = True  # they are all there

    def of(self, field: str, run: Run) -> tuple[Ids, Counts]:
        return self.remembered.of(field, run, self.sequence, read_texts=self.read_texts)

    def expect(self, field: str, wanted: Sequence[str]) -> None:
        self.remembered.expect(field, wanted, self.sequence)

    def lengths(self) -> Counts:
        return self.remembered.lengths(self.sequence, self.chunks)

    def held(self, words: Sequence[str], seen: Allowed) -> set[str]:
        self.expect("spellings", words)
        present = set()
        for word in words:
            ids, _ = self.of("spellings", (word,))
            if seen.chunks[below(ids, len(seen.chunks))].any():
                present.add(word)
        return present


def _joined(before: _Entry, rows: Sequence[Any]) -> tuple[Ids, Counts]:
    """Several words may have one stem, and several of them may be in one chunk."""
    parts = [(before.ids, before.counts)] if len(before.ids) else []
    parts += [(_array(row[3], "<i4"), _array(row[4], "<u2")) for row in rows]
    if not parts:
        return _UNKNOWN.ids, _UNKNOWN.counts
    ids, counts = parts[0]
    if len(parts) > 1:
        ids = np.concatenate([row[0] for row in parts])
        counts = np.concatenate([row[1] for row in parts])
    if (ids[1:] <= ids[:-1]).any():
        order = np.argsort(ids, kind="stable")
        ids, counts = ids[order], counts[order]
        again = ids[1:] == ids[:-1]
        if again.any():
            firsts = np.flatnonzero(np.append(True, ~again))
            together = np.add.reduceat(counts.astype(np.int32), firsts)
            ids, counts = ids[firsts], np.minimum(together, MOST).astype(np.uint16)
    return ids, counts


def _array(data: bytes, kind: str) -> NDArray[Any]:
    return np.frombuffer(data, dtype=kind)
