"""Which chunks of a folder's word index contain a word, cached between searches."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from trivium.store.embedded.words import WordView
from trivium.store.ranking import Counts, Ids
from trivium.store.sql.census import Allowed
from trivium.text.keywords import Run
from trivium.types import ChunkId

_REMEMBERED = 8_000_000  # chunks of words kept in memory: 64 MB
_NOTHING: Ids = np.empty(0, dtype=np.int32)


class Remembered:
    """Which chunks contain a word and how often, cached between searches. Chunks never change and
    their ids rise, so a later view only adds chunks above the last id. Threads may share it."""

    def __init__(self) -> None:
        self._known: OrderedDict[tuple[str, Run], tuple[ChunkId, Ids, Counts]] = OrderedDict()
        self._lengths: tuple[ChunkId, Counts] = (0, np.zeros(1, dtype=np.int32))
        self._size = 0
        self._changing = threading.Lock()

    def of(self, view: WordView, field: str, run: Run, last: ChunkId) -> tuple[Ids, Counts]:
        """Up to the chunk `last`, and perhaps more; all of them must be in the view."""
        key = (field, run)
        upto, ids, counts = self._known.get(key, (0, _NOTHING, _NOTHING))
        if upto < last:
            newer, more = view.occurrences(field, run, upto)
            inside = newer <= last
            ids = np.concatenate([ids, newer[inside]])
            counts = np.concatenate([counts, more[inside]])
            self._keep(key, (last, ids, counts))
        return ids, counts

    def lengths(self, view: WordView, last: ChunkId) -> Counts:
        """The number of words of every chunk, by id."""
        upto, lengths = self._lengths
        if upto < last:
            newer, more = view.lengths(upto)
            inside = newer <= last
            grown = np.zeros(last + 1, dtype=np.int32)
            grown[: len(lengths)] = lengths
            grown[newer[inside]] = more[inside]
            self._lengths, lengths = (last, grown), grown
        return lengths

    def _keep(self, key: tuple[str, Run], found: tuple[ChunkId, Ids, Counts]) -> None:
        with self._changing:
            before = self._known.pop(key, None)
            self._size += len(found[1]) - (len(before[1]) if before else 0)
            self._known[key] = found
            while self._size > _REMEMBERED and len(self._known) > 1:
                self._size -= len(self._known.popitem(last=False)[1][1])


@dataclass(frozen=True, slots=True)
class WordOccurrences:
    """The cache as one view of the index sees it: up to the chunk `last`, and perhaps more. All of
    them must be in the view."""

    remembered: Remembered
    view: WordView
    last: ChunkId

    def of(self, field: str, run: Run) -> tuple[Ids, Counts]:
        return self.remembered.of(self.view, field, run, self.last)

    def lengths(self) -> Counts:
        return self.remembered.lengths(self.view, self.last)

    def held(self, words: Sequence[str], seen: Allowed) -> set[str]:
        return {word for word in words if self.view.count_holding((word,), seen, 1) > 0}
