"""BM25's two factors, with the usual constants (k1 1.2, b .75), and the k chunks that lists
of words rank highest, for every store and every caller.

Words count in the order of the most they can add. Where much is left to read, the best chunks so
far are scored in full: chunks that can't reach the k-th of them any more are not looked up in the
later lists. At a million chunks the lists of frequent words hold hundreds of thousands, and rarely
change anything. The ranking is exact. Knows nothing of where lists come from or who may see what.

Arrays are read with `take` and added to with `add.at`: 1.5 and 3 ns an entry, where indexing with
32-bit ids takes 5 and 12.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from math import log
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, overload

import numpy as np

from trivium.core.types import Hit, hits_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

K1 = 1.2
B = 0.75


def idf(holding: int, total: int) -> float:
    """How telling a term is that `holding` of `total` chunks hold."""
    return log(1 + (total - holding + 0.5) / (holding + 0.5))


@overload
def saturation(frequency: float, length: int, average: float) -> float: ...
@overload
def saturation(
    frequency: NDArray[Any], length: NDArray[Any], average: float
) -> NDArray[np.float64]: ...
def saturation(frequency: Any, length: Any, average: float) -> Any:
    """How much `frequency` occurrences in a chunk of `length` words count: 0 .. K1 + 1."""
    return frequency * (K1 + 1) / (frequency + K1 * (1 - B + B * length / average))


# Lengths in one byte: all to 40, then in steps of 2, 4, 8 and so on, as tantivy and Lucene have
# them. Every store reckons with them, so that a library ranks the same wherever it is kept.
_STEPS = (n if n < 8 else (8 + n % 8) << (n // 8 - 1) for n in range(232))
_LENGTHS = np.array([*range(24), *(24 + step for step in _STEPS)])
# By length: its place among these. A search among them took six times as long.
_PLACES = (np.searchsorted(_LENGTHS, np.arange(2**16), side="right") - 1).astype(np.uint8)
MOST_COUNTED = 255  # times that a word counts in a chunk: more would change a score by .5 %
# Looking up one chunk in a list costs as much as asking of this many entries whether they are open.
_LOOK_UP = 20
# Leaving chunks out pays once this many entries are left, and half as many as were read, and the
# words that are left can add at most this part of a score. At 100,000 chunks rankings take 43 %
# less time than if it began with 100,000 entries, and those of the slow tenth 55 % less.
_MUCH = 3_000
_LITTLE = 0.4
# If at most one chunk in so many fits, and fewer than entries are left to read, lists are cut to
# those first, 1.5 ns an entry; otherwise what doesn't fit is dropped at the end, 10 ns an entry.
FEW = 8
_GROUP = 32  # entries of which only the best counts in a first look for the k best
# Scores of so many chunks are blanked and kept: .1 ms less than making them anew at 300,000 chunks.
_LARGE = 200_000
_KEPT = 2  # arrays of scores, 8 bytes a chunk: one for each word signal
_ROUNDED = 1e-6  # sums of the same numbers in another order differ by less
_ABOVE_NOTHING = 1e-300

Ids: TypeAlias = "NDArray[np.int32]"  # of chunks
Counts: TypeAlias = "NDArray[Any]"  # whole numbers


def kept_length(lengths: Counts) -> NDArray[np.int64]:
    """The lengths as scores reckon with them."""
    rounded: NDArray[np.int64] = _LENGTHS[_places(lengths)]
    return rounded


def _places(lengths: Counts) -> NDArray[np.uint8]:
    if lengths.max(initial=0) < len(_PLACES):
        return _PLACES.take(lengths)
    return (np.searchsorted(_LENGTHS, lengths, side="right") - 1).astype(np.uint8)


class Saturation:
    """How much this number of occurrences counts in a chunk, by its length."""

    def __init__(self, lengths: Counts, average: float) -> None:
        """`lengths`: of every chunk, by its id."""
        self._places = _places(lengths)
        steady = K1 * (1 - B + B * _LENGTHS / (average or 1))
        counts = np.arange(MOST_COUNTED + 1)[:, None]
        self._table = (counts * (K1 + 1) / (counts + steady)).ravel()  # by count and length
        self._blank: list[NDArray[np.float64]] = []

    def of(self, ids: NDArray[Any], counts: Counts) -> NDArray[np.float64]:
        if counts.dtype != np.uint8:
            counts = np.minimum(counts, MOST_COUNTED)
        code = counts.astype(np.uint16)
        code <<= 8
        code |= self._places.take(ids)
        return self._table.take(code)

    def blank(self, size: int) -> NDArray[np.float64]:
        """A score of 0 for each chunk; may be given back as it was."""
        try:
            scores = self._blank.pop()
        except IndexError:
            return np.zeros(size)
        return scores if len(scores) == size else np.zeros(size)

    def give_back(self, scores: NDArray[np.float64]) -> None:
        if len(self._blank) < _KEPT:
            self._blank.append(scores)


class Holders(NamedTuple):
    """The chunks that hold a word or a run, rising, and how often each does."""

    factor: float  # how much they count beside other holders of the same part
    ids: Ids
    counts: Counts


class KnownBy(NamedTuple):
    """The chunks of documents that are known by a word, rising, and how much that counts."""

    ids: Ids
    counts: NDArray[np.float64]  # beside what occurrences count: from 0 to K1 + 1


def beyond_text(known_by: KnownBy, text: Holders, saturation: Saturation) -> KnownBy:
    """Those to which their text doesn't give as much. A chunk gets the most, so no score changes,
    and of frequent words little is left: most documents that are known by them hold them too."""
    if not len(text.ids) or not len(known_by.ids):
        return known_by
    at, met = _looked_up(text.ids, known_by.ids)
    of_text = np.zeros(len(known_by.ids))
    of_text[met] = saturation.of(known_by.ids[met], text.counts.take(at[met])) * (1 - _ROUNDED)
    more = known_by.counts > of_text
    return KnownBy(known_by.ids[more], known_by.counts[more])


class QueryWord:
    """A word of a query. A chunk gets the most that one of the lists gives it."""

    __slots__ = ("entries", "holders", "known", "most", "weight")

    def __init__(
        self, weight: float, holders: Sequence[Holders], known_by: Sequence[KnownBy] = ()
    ) -> None:
        self.weight = weight
        self.holders = [holder for holder in holders if len(holder.ids)]
        self.known = [holder for holder in known_by if len(holder.ids)]
        self.entries = sum([len(holder.ids) for holder in self.holders])
        self.entries += sum([len(holder.ids) for holder in self.known])
        # More than any chunk can get.
        most = (K1 + 1) * max([holder.factor for holder in self.holders], default=0.0)
        self.most = weight * max([most, *(float(holder.counts.max()) for holder in self.known)])


class Fitting:
    """The chunks that may be found."""

    def __init__(self, mask: NDArray[np.bool_]) -> None:
        """`mask`: by chunk id. Never change it afterwards."""
        self.mask = mask

    @cached_property
    def few(self) -> Ids | None:
        """Rising; None unless they are few."""
        if int(np.count_nonzero(self.mask)) * FEW > len(self.mask):
            return None
        return np.flatnonzero(self.mask).astype(np.int32)


def best(parts: Sequence[QueryWord], fitting: Fitting, saturation: Saturation, k: int) -> list[Hit]:
    """The k best of the chunks that fit, best first, then by id."""
    parts = sorted([part for part in parts if part.entries], key=lambda part: -part.most)
    if k < 1 or not parts:
        return []
    return _Ranking(parts, fitting, saturation, k).hits()


class _Ranking:
    def __init__(
        self, parts: Sequence[QueryWord], fitting: Fitting, saturation: Saturation, k: int
    ) -> None:
        self._parts = parts
        self._fits = fits = fitting.mask
        self._saturation = saturation
        self._k = k
        self._scores = saturation.blank(len(fits))
        self._read: list[NDArray[np.int64]] = []  # the lists that were read as a whole
        self._lists = 0  # how many lists a chunk may have been read from
        few = fitting.few
        if few is not None and len(few) > sum([part.entries for part in parts]):
            few = None
        self._given = few
        self._few = few  # rising: the chunks that can still be among the best
        # The same by chunk id, once it is needed.
        self._open: NDArray[np.bool_] | None = None if few is None else fits
        self._least = 0.0  # at least k chunks reach this

    def hits(self) -> list[Hit]:
        total = left = sum(part.most for part in self._parts)
        later = sum(part.entries for part in self._parts)
        read = 0
        for number, part in enumerate(self._parts, start=1):
            left, later, read = left - part.most, later - part.entries, read + part.entries
            self._add(part)
            if later > read / 2 + _MUCH and left < _LITTLE * total:
                self._leave_out(self._parts[number:], left)
        few = self._first() if self._few is None else self._few
        scores = self._scores.take(few)
        if self._k < len(few):
            enough = scores >= np.partition(scores, -self._k)[-self._k]
            few, scores = few[enough], scores[enough]
        order = np.lexsort((few, -scores))[: self._k]
        order = order[scores[order] > 0]
        if len(self._scores) >= _LARGE:
            for ids in self._read if self._given is None else (self._given,):
                self._scores[ids] = 0
            self._saturation.give_back(self._scores)
        return hits_of(few[order].astype(np.int64), scores[order])

    def _first(self) -> Ids:
        """At least the k best, once everything was read. They are in the first lists if more can't
        be had from the later ones alone."""
        left, so_far = sum([part.most for part in self._parts]), 0.0
        lists = read = tried = 0
        for number, part in enumerate(self._parts[:-1], start=1):
            left, so_far = left - part.most, so_far + part.most
            lists = lists + len(part.holders) + len(part.known)
            read += part.entries
            if read < max(2 * self._k, 4 * tried) or so_far < left:
                continue
            tried = read
            few = self._strongest(*self._scored(number), lists)
            if self._k <= len(few) and self._reached(self._scores.take(few)) > left:
                return few
        return self._strongest(*self._scored(len(self._read)), self._lists)

    def _add(self, part: QueryWord) -> None:
        lists = [self._those(holder) for holder in part.holders]
        factors = [part.weight * holder.factor for holder in part.holders]
        ids, gain = np.empty(0, np.int64), np.empty(0)
        if lists:
            ids = _joined([some for some, _ in lists]).astype(np.int64)
            gain = self._saturation.of(ids, _joined([counts for _, counts in lists]))
            gain *= (
                factors[0]
                if len(lists) == 1
                else np.repeat(factors, [len(some) for some, _ in lists])
            )
        if part.known:
            known_by = [self._those(holders) for holders in part.known]
            lists += known_by
            ids = np.concatenate([ids, *(some for some, _ in known_by)])
            gain = np.concatenate([gain, *(counts * part.weight for _, counts in known_by)])
        if len(lists) == 1:
            np.add.at(self._scores, ids, gain)
        else:
            # The most that one list adds to what a chunk had before: no gain is below 0.
            np.maximum.at(self._scores, ids, self._scores.take(ids) + gain)
        if self._few is None:
            self._read.append(ids)
            self._lists += len(lists)

    def _those(self, holders: Holders | KnownBy) -> tuple[Any, Counts]:
        """Holders of a word: all, or only those that can still be among the best."""
        ids, counts, few = holders.ids, holders.counts, self._few
        if few is not None and len(few) * _LOOK_UP < len(ids):
            at, met = _looked_up(ids, few)
            return few[met], counts.take(at[met])
        ids = below(ids, len(self._fits))  # later changes may have added more
        counts = counts[: len(ids)]
        if few is not None:
            if self._open is None:
                self._open = np.zeros(len(self._fits), dtype=bool)
                self._open[few] = True
            open_ones = np.flatnonzero(self._open.take(ids))
            ids, counts = ids.take(open_ones), counts.take(open_ones)
        return ids, counts

    def _leave_out(self, later: Sequence[QueryWord], left: float) -> None:
        """Whatever cannot reach the k best with all that is left to be had."""
        few, left = self._few, max(0.0, left) * (1 + _ROUNDED)
        self._open = None
        if few is not None:
            scores = self._scores.take(few)
            if self._k < len(few):
                self._least = max(self._least, self._reached(scores))
            self._few = few[scores >= self._least - left]
        elif not self._least or self._least > left:
            ids, scores = self._scored(len(self._read))
            if not self._least:
                few = self._strongest(ids, scores, self._lists)
                self._least = self._completed(few, later)
            if self._least > left:
                self._few = _distinct(ids[scores >= self._least - left])

    def _scored(self, parts: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """The chunks of the first parts, some of them repeatedly, and their scores; 0 if one
        doesn't fit."""
        ids = _joined(self._read[:parts])
        scores = self._scores.take(ids)
        scores *= self._fits.take(ids)
        return ids, scores

    def _strongest(self, ids: NDArray[np.int64], scores: NDArray[np.float64], lists: int) -> Ids:
        """At least the k best of these, and few others, rising. Each may be there once for every
        list."""
        last, wanted = 0.0, self._k * lists
        if len(ids) >= 4 * wanted:
            group = min(_GROUP, len(ids) // (2 * wanted))
            tops = scores[: len(ids) // group * group].reshape(group, -1).max(axis=0)
            last = float(np.partition(tops, -wanted)[-wanted])
        return _distinct(ids[scores >= max(last, _ABOVE_NOTHING)])

    def _completed(self, few: Ids, later: Sequence[QueryWord]) -> float:
        """What at least k chunks reach: these, with what the likeliest spelling of every later word
        adds; 0 if there are fewer."""
        scores = self._scores.take(few)
        if len(few) > 3 * self._k:
            few = few[scores >= np.partition(scores, -2 * self._k)[-2 * self._k]]
            scores = self._scores.take(few)
        for part in later:
            if not part.holders:
                continue
            holders = max(part.holders, key=lambda holders: holders.factor)
            at, met = _looked_up(holders.ids, few)
            gain = self._saturation.of(few[met], holders.counts.take(at[met]))
            scores[met] += part.weight * holders.factor * gain
        return self._reached(scores) if self._k <= len(few) else 0.0

    def _reached(self, scores: NDArray[np.float64]) -> float:
        """What the k best of these reach, for certain."""
        return float(np.partition(scores, -self._k)[-self._k]) * (1 - _ROUNDED)


def _joined(arrays: Sequence[NDArray[Any]]) -> NDArray[Any]:
    return arrays[0] if len(arrays) == 1 else np.concatenate(arrays)


def below(ids: Ids, end: int) -> Ids:
    """Those before this id, of ids that rise. The end is as wide as they are: for a plain number
    numpy first copies all of them into 64 bits (50,000: 41 µs instead of 2)."""
    return ids[: ids.searchsorted(np.int32(end))] if len(ids) and ids[-1] >= end else ids


def _looked_up(ids: Ids, few: Ids) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Where each of the few is among the ids, and whether it is there."""
    at = ids.searchsorted(few)
    at[at == len(ids)] = 0
    return at, ids.take(at) == few


def _distinct(ids: NDArray[np.int64]) -> Ids:
    """Rising. `np.unique` takes five times as long."""
    sort = np.sort(ids.astype(np.int32))
    first = np.ones(len(sort), dtype=bool)
    np.not_equal(sort[1:], sort[:-1], out=first[1:])
    return sort[first]
