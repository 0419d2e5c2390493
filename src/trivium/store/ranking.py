"""The k chunks that lists of words rank highest, without reading long lists where few chunks are
left that could still be among them.

Words count in the order of the most they can add. Once k chunks have more than all later words
together can give, only chunks that could still reach these k are looked up in the later lists: at a
million chunks the lists of frequent words hold hundreds of thousands, and rarely change anything.
The ranking is exact. Knows nothing of where lists come from or who may see what.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from trivium.store.bm25 import K1, B
from trivium.types import Hit, hits_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

# The lengths that tantivy tells apart, in one byte: all to 40, then in steps of 2, 4, 8 and so on.
# Every store reckons with them, so that a library ranks the same wherever it is kept.
_STEPS = (n if n < 8 else (8 + n % 8) << (n // 8 - 1) for n in range(232))
_LENGTHS = np.array([*range(24), *(24 + step for step in _STEPS)])
# By length: its place among these. A search among them took six times as long.
_PLACES = (np.searchsorted(_LENGTHS, np.arange(2**16), side="right") - 1).astype(np.uint8)
# Looking up one chunk in a list costs as much as reading this many entries.
_LOOK_UP = 16

Ids: TypeAlias = "NDArray[np.int32]"  # of chunks
Counts: TypeAlias = "NDArray[Any]"  # whole numbers


def kept_length(lengths: Counts) -> NDArray[np.int64]:
    """The lengths as tantivy keeps them, and so reckons with them."""
    kept: NDArray[np.int64] = _LENGTHS[_places(lengths)]
    return kept


def _places(lengths: Counts) -> NDArray[Any]:
    if lengths.max(initial=0) < len(_PLACES):
        return _PLACES[lengths]
    return np.searchsorted(_LENGTHS, lengths, side="right") - 1


class Saturation:
    """How much this number of occurrences counts in a chunk, by its length."""

    def __init__(self, lengths: Counts, average: float) -> None:
        """`lengths`: of every chunk, by its id."""
        self._places = _places(lengths)
        self._steady = K1 * (1 - B + B * _LENGTHS / (average or 1))

    def of(self, ids: Ids, counts: Counts) -> NDArray[np.float64]:
        found: NDArray[np.float64] = counts * (K1 + 1) / (counts + self._steady[self._places[ids]])
        return found


@dataclass(frozen=True, slots=True)
class Holders:
    """The chunks that hold a word or a run, rising, and how often each does."""

    factor: float  # how much they count beside other holders of the same part
    ids: Ids
    counts: Counts


@dataclass(frozen=True, slots=True)
class Part:
    """A word of a query. A chunk gets the most that one of the lists gives it."""

    weight: float
    holders: Sequence[Holders]

    @property
    def most(self) -> float:
        """More than any chunk can get."""
        return self.weight * (K1 + 1) * max((held.factor for held in self.holders), default=0.0)

    @property
    def entries(self) -> int:
        return sum(len(held.ids) for held in self.holders)


def best(
    parts: Sequence[Part], fits: NDArray[np.bool_], saturation: Saturation, k: int
) -> list[Hit]:
    """The k best of the chunks that fit, best first, then by id. `fits`: by chunk id."""
    if k < 1:
        return []
    parts = sorted(parts, key=lambda part: -part.most)
    left, later = sum(part.most for part in parts), sum(part.entries for part in parts)
    given = 0.0  # more than any chunk has so far
    scores = np.zeros(len(fits))
    # By one part of several lists; zero between parts. Arrays of a million cost a millisecond.
    gained = np.zeros(len(fits) if any(len(part.holders) > 1 for part in parts) else 0)
    among = _Among(fits)
    if among.few_of(later):
        among.narrow(np.flatnonzero(fits))
    for part in parts:
        touched = []
        for held in part.holders:
            ids, counts = among.those(held)
            gain = part.weight * held.factor * saturation.of(ids, counts)
            if len(part.holders) == 1:
                scores[ids] += gain
                break
            gained[ids] = np.maximum(gained[ids], gain)
            touched.append(ids)
        for ids in touched:  # what stands in several lists is added once: then nothing is gained
            scores[ids] += gained[ids]
            gained[ids] = 0
        left, later, given = left - part.most, later - part.entries, given + part.most
        if later > len(fits) // _LOOK_UP and (given > left or among.are_few):
            among.leave_out(scores, left, k)
    return _hits(scores, among.found(scores), k)


class _Among:
    """The chunks that can still be among the best."""

    def __init__(self, fits: NDArray[np.bool_]) -> None:
        self._fits = fits
        self._few: NDArray[np.int64] | None = None  # rising; None: all that fit

    @property
    def are_few(self) -> bool:
        return self._few is not None

    def few_of(self, entries: int) -> bool:
        return int(np.count_nonzero(self._fits)) * _LOOK_UP < entries

    def narrow(self, few: NDArray[np.int64]) -> None:
        self._few = few
        self._fits = np.zeros(len(self._fits), dtype=bool)
        self._fits[few] = True

    def those(self, held: Holders) -> tuple[Any, Any]:
        """Of the holders of a word."""
        few = self._few
        if few is not None and len(few) * _LOOK_UP < len(held.ids):
            at = np.searchsorted(held.ids, few)
            at[at == len(held.ids)] = 0
            met = held.ids[at] == few
            return few[met], held.counts[at[met]]
        within = np.searchsorted(held.ids, len(self._fits))  # later changes may have added more
        passing = self._fits[held.ids[:within]]
        return held.ids[:within][passing], held.counts[:within][passing]

    def leave_out(self, scores: NDArray[np.float64], left: float, k: int) -> None:
        """Whatever cannot reach the k best with all that is left to be had."""
        pool = np.flatnonzero(scores > 0) if self._few is None else self._few
        if len(pool) < k:
            return
        reached, left = scores[pool], left * 1.000001  # sums are rounded
        last = np.partition(reached, -k)[-k]
        if self._few is not None or last > left:
            self.narrow(pool[reached + left >= last])

    def found(self, scores: NDArray[np.float64]) -> NDArray[np.int64]:
        if self._few is None:
            return np.flatnonzero(scores > 0)
        return self._few[scores[self._few] > 0]


def _hits(scores: NDArray[np.float64], ids: NDArray[np.int64], k: int) -> list[Hit]:
    found = scores[ids]
    if k < len(ids):
        last = np.partition(found, -k)[-k]
        ids, found = ids[found >= last], found[found >= last]
    order = np.lexsort((ids, -found))[:k]
    return hits_of(ids[order], found[order])
