"""Which chunks are active, which document each belongs to, and which pass a filter.

Arrays by id, so that a search decides about a million chunks in a millisecond. SQL decides what
passes; this caches it, and asks again only for what changed. Knows nothing of words or vectors.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from functools import cached_property
from threading import Lock
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from trivium.core.types import OWNER, DocumentId, Where
from trivium.store.sql.feed import Changes, Feed
from trivium.text.filters import looks_at_passages

if TYPE_CHECKING:
    from numpy.typing import NDArray

_T = TypeVar("_T", bound=np.generic)
_REMEMBERED = 64  # filters; each costs a byte a document


@dataclass(frozen=True, slots=True)
class Census:
    """An immutable picture at one sequence number: its arrays are never written again."""

    sequence: int
    first: NDArray[np.int64]  # by document id: its first active chunk
    count: NDArray[np.int64]  # by document id: how many it has
    owner: NDArray[np.int32]  # by chunk id: its document, 0 if it is not active
    language: NDArray[np.int32]  # by document id: which of those below it is written in
    spoken: tuple[str, ...]  # languages, in the order in which they were met

    @property
    def languages(self) -> tuple[str, ...]:
        return tuple(sorted(self.spoken))

    def languages_of(self, documents: NDArray[np.int64]) -> tuple[str, ...]:
        return tuple(sorted(self.spoken[i] for i in np.unique(self.language[documents])))

    @classmethod
    def empty(cls) -> Census:
        none = np.zeros(1, dtype=np.int64)
        small = np.zeros(1, dtype=np.int32)
        return cls(0, none, none, small, small, ())

    def after(self, changes: Changes) -> Census:
        """The picture once these changes have happened."""
        ids = np.array([c[0] for c in changes.documents], dtype=np.int64)
        firsts = np.array([c[1] for c in changes.documents], dtype=np.int64)
        counts = np.array([c[2] for c in changes.documents], dtype=np.int64)
        last_chunk = int((firsts + counts).max()) if len(ids) else 0
        last_document = max((int(ids.max()) if len(ids) else 0), *changes.removed, 0)
        first = _grown(self.first, last_document + 1)
        count = _grown(self.count, last_document + 1)
        owner = _grown(self.owner, last_chunk)
        gone = np.concatenate([ids, np.array(changes.removed, dtype=np.int64)])
        owner[ranges(first[gone], count[gone])] = 0
        first[gone] = count[gone] = 0
        first[ids], count[ids] = firsts, counts
        owner[ranges(firsts, counts)] = np.repeat(ids, counts)
        spoken = tuple(dict.fromkeys((*self.spoken, *(c[3] for c in changes.documents))))
        numbers = {name: number for number, name in enumerate(spoken)}
        language = _grown(self.language, last_document + 1)
        language[ids] = [numbers[c[3]] for c in changes.documents]
        return Census(changes.sequence, first, count, owner, language, spoken)


@dataclass(frozen=True)
class Allowed:
    """The chunks that a filter lets pass."""

    chunks: NDArray[np.bool_]  # by chunk id
    documents: NDArray[np.int64] | None  # ids of the passing documents; None: all of them
    total: int  # active chunks, passing or not

    @cached_property
    def count(self) -> int:
        return int(np.count_nonzero(self.chunks))


class Passing:
    """Caches which documents pass the last few filters, also across changes. Threads may share it;
    the database is asked without a lock."""

    def __init__(self, feed: Feed) -> None:
        self._feed = feed
        self._known: OrderedDict[Where, tuple[int, NDArray[np.bool_]]] = OrderedDict()
        self._changing = Lock()

    def allowed(self, where: Where, census: Census) -> Allowed:
        active = census.owner > 0
        total = int(np.count_nonzero(active))
        if where == OWNER:
            return Allowed(active, None, total)
        if looks_at_passages(where.condition):
            return self._passages(where, census, total)
        passes = self._documents(where, census)
        return Allowed(passes[census.owner] & active, np.flatnonzero(passes), total)

    def _passages(self, where: Where, census: Census, total: int) -> Allowed:
        """Asked anew for each picture: such filters are rare, and documents are all they narrow."""
        found = np.array(self._feed.passing_passages(where), dtype=np.int64)
        chunks = np.zeros(len(census.owner), dtype=bool)
        chunks[found[found < len(chunks)]] = True
        chunks &= census.owner > 0
        return Allowed(chunks, np.unique(census.owner[chunks]).astype(np.int64), total)

    def _documents(self, where: Where, census: Census) -> NDArray[np.bool_]:
        since, passes = self._known.get(where, (0, np.zeros(1, dtype=bool)))
        if since < census.sequence:
            passes = _grown(passes, len(census.first))
            if since:  # of a new filter nothing is known that could have changed
                changes = self._feed.changes(since)
                passes[_within([c[0] for c in changes.documents], passes)] = False
                passes[_within(changes.removed, passes)] = False
            passes[_within(self._feed.passing(where, since), passes)] = True
        with self._changing:
            if self._known.get(where, (0, passes))[0] <= census.sequence:
                self._known[where] = (max(since, census.sequence), passes)
            self._known.move_to_end(where)
            while len(self._known) > _REMEMBERED:
                self._known.popitem(last=False)
        return passes


def _within(ids: list[DocumentId], array: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Documents newer than the census are for its successor."""
    found = np.array(ids, dtype=np.int64)
    return found[found < len(array)]


def _grown(array: NDArray[_T], size: int) -> NDArray[_T]:
    """A copy with room for `size` entries."""
    bigger = np.zeros(max(size, len(array)), dtype=array.dtype)
    bigger[: len(array)] = array
    return bigger


def ranges(firsts: NDArray[np.int64], counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """All numbers of the ranges [first, first + count)."""
    ends = np.cumsum(counts)
    total = int(ends[-1]) if len(ends) else 0
    found: NDArray[np.int64] = np.arange(total) + np.repeat(firsts - (ends - counts), counts)
    return found
