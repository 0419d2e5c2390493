"""How nearly equal two texts are, by a small sketch of each. Pure functions.

A sketch is the 128 smallest hashes of a text's distinct runs of three words (bottom-k, Broder
1997). Two of them give the share of runs that the texts have in common: exactly where both are
short, else within about .04 at .8 (one standard deviation). It takes 512 bytes, and 15 ms for
10,000 words.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING
from zlib import crc32

import numpy as np

from trivium.text.normalise import words

if TYPE_CHECKING:
    from numpy.typing import NDArray

_WINDOW = 200_000  # characters: 50 ms
_RUN = 3  # words: a changed word touches three runs of some hundreds, a moved paragraph four
_KEPT = 128
KEYS = 8  # the smallest few: texts that are .8 alike share six or seven of them
ENOUGH_KEYS = 1 / 3  # of its own, to be worth comparing; texts .8 alike share fewer once in 20,000
# A sentence that stands in every letter would have each compared with all. Copies share their other
# keys too, and the first ones are enough to find them by.
MOST_OF_A_KEY = 32
_TOLD = 1000  # texts between two words on how far it is: a tenth of a second
_STORED = np.dtype("<u4")
_WEIGHTS = np.array([0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9], dtype=np.uint64)


def sketch(text: str) -> bytes:
    """Nothing for a text without words."""
    hashes = (map(crc32, map(str.encode, words(part))) for part in _windows(text))
    parts = [np.fromiter(part, np.uint64) for part in hashes]
    all_hashes = np.concatenate(parts)
    if not len(all_hashes):
        return b""
    count = max(1, len(all_hashes) - _RUN + 1)
    runs = np.zeros(count, dtype=np.uint64)
    for at in range(min(_RUN, len(all_hashes))):
        runs += all_hashes[at : at + count] * _WEIGHTS[at]
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):  # splitmix64
        runs = (runs ^ (runs >> np.uint64(shift))) * np.uint64(factor)
    mixed = np.sort(((runs ^ (runs >> np.uint64(31))) >> np.uint64(32)).astype(_STORED))
    # np.unique would take ten times as long for a short text: a quarter of a millisecond.
    distinct: NDArray[np.uint32] = mixed[np.append(True, mixed[1:] != mixed[:-1])]
    return distinct[:_KEPT].tobytes()


def is_sketch(data: bytes) -> bool:
    """Whether `sketch` may have made it."""
    return len(data) <= _KEPT * _STORED.itemsize and len(data) % _STORED.itemsize == 0


def _windows(text: str) -> Iterator[str]:
    """The text in parts that end at a blank or a line's end, where there is one: its words as a
    list take ten times its length, and no other thread moves while they are looked for."""
    start = 0
    while len(text) - start > _WINDOW:
        middle, stop = start + _WINDOW // 2, start + _WINDOW
        end = max(text.rfind(mark, middle, stop) for mark in " \n")
        end = stop if end < 0 else end
        yield text[start:end]
        start = end
    yield text[start:]


def keys(sketched: bytes) -> list[int]:
    """The hashes for finding texts like this one."""
    return [int(hash_) for hash_ in _hashes(sketched)[:KEYS]]


def similarity(sketched: bytes, other: bytes) -> float:
    """The share of runs that both texts have, 0 to 1."""
    both = np.sort(_hashes(sketched + other))
    again = both[1:] == both[:-1]
    distinct = len(both) - int(np.count_nonzero(again))
    if distinct > _KEPT:  # the smallest of both together are a sample of both; the rest is not
        again, distinct = again[: np.flatnonzero(~again)[_KEPT - 1]], _KEPT
    return int(np.count_nonzero(again)) / max(1, distinct)


def _hashes(sketched: bytes) -> NDArray[np.uint32]:
    return np.frombuffer(sketched, dtype=_STORED)


@dataclass(slots=True)
class _ByKey:
    """Sketches, found by their keys."""

    sketches: dict[int, bytes] = field(default_factory=dict)
    names: dict[int, list[int]] = field(default_factory=dict)

    def add(self, name: int, sketched: bytes) -> None:
        self.sketches[name] = sketched
        for key in keys(sketched):
            names = self.names.setdefault(key, [])
            if len(names) < MOST_OF_A_KEY:
                names.append(name)

    def near(self, sketched: bytes, threshold: float) -> Iterator[tuple[int, float]]:
        """Texts at least this similar, the first first. Texts that only share a sentence share a
        key or two: they aren't compared."""
        own = keys(sketched)
        shared = Counter(chain.from_iterable(self.names.get(key, ()) for key in own))
        least = ENOUGH_KEYS * threshold * len(own)  # those less alike share fewer
        for name in sorted(name for name, count in shared.items() if count >= least):
            if (score := similarity(sketched, self.sketches[name])) >= threshold:
                yield name, score


def groups(
    sketches: Mapping[int, bytes],
    threshold: float,
    on_progress: Callable[[int, int], None] = lambda done, total: None,
) -> list[list[tuple[int, float]]]:
    """Texts that are at least so like the first of their group, each with how like it is. A text
    that is like none before begins a group; groups of one are left out. Compared with the first
    ones only, so a thousand copies cost a thousand comparisons."""
    leaders, members = _ByKey(), dict[int, list[tuple[int, float]]]()
    for done, (name, sketched) in enumerate(sorted(sketches.items())):
        if done % _TOLD == 0:
            on_progress(done, len(sketches))
        like = max(leaders.near(sketched, threshold), key=_how_like, default=None)
        if like is not None:
            members[like[0]].append((name, like[1]))
        elif sketched:
            leaders.add(name, sketched)
            members[name] = [(name, 1.0)]
    return [group for group in members.values() if len(group) > 1]


def near(wanted: Sequence[int], sketches: Mapping[int, bytes], threshold: float) -> dict[int, int]:
    """For each wanted text, the first other one that is at least this similar."""
    by_key = _ByKey()
    for name, sketched in sorted(sketches.items()):
        by_key.add(name, sketched)
    shared: dict[int, int] = {}
    for name in wanted:
        others = (other for other, _ in by_key.near(sketches.get(name, b""), threshold))
        first = next((other for other in others if other != name), None)
        if first is not None:
            shared[name] = first
    return shared


def _how_like(neighbour: tuple[int, float]) -> float:
    return neighbour[1]
