"""How nearly equal two texts are, by a small sketch of each. Pure functions.

A sketch is the 128 smallest hashes of a text's distinct runs of three words (bottom-k, Broder
1997). Two of them give the share of runs that the texts have in common: exactly where both are
short, else within about .04 at .8 (one standard deviation). It takes 512 bytes, and 15 ms for
10,000 words.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from zlib import crc32

import numpy as np

from trivium.text.normalise import words

if TYPE_CHECKING:
    from numpy.typing import NDArray

_RUN = 3  # words: a changed word touches three runs of some hundreds, a moved paragraph four
_KEPT = 128
# Of these few smallest, texts worth comparing share one: those .8 alike fail to once in 400,000.
KEYS = 8
_STORED = np.dtype("<u4")
_WEIGHTS = np.array([0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9], dtype=np.uint64)


def sketch(text: str) -> bytes:
    """Nothing for a text without words."""
    held = np.array([crc32(word.encode()) for word in words(text)], dtype=np.uint64)
    if not len(held):
        return b""
    count = max(1, len(held) - _RUN + 1)
    runs = np.zeros(count, dtype=np.uint64)
    for at in range(min(_RUN, len(held))):
        runs += held[at : at + count] * _WEIGHTS[at]
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):  # splitmix64
        runs = (runs ^ (runs >> np.uint64(shift))) * np.uint64(factor)
    mixed = np.sort(((runs ^ (runs >> np.uint64(31))) >> np.uint64(32)).astype(_STORED))
    # np.unique would take ten times as long for a short text: a quarter of a millisecond.
    distinct: NDArray[np.uint32] = mixed[np.append(True, mixed[1:] != mixed[:-1])]
    return distinct[:_KEPT].tobytes()


def keys(sketched: bytes) -> list[int]:
    """The hashes by which texts like this one are looked up."""
    return [int(hash_) for hash_ in _hashes(sketched)[:KEYS]]


def similarity(one: bytes, other: bytes) -> float:
    """The share of runs that both texts have, 0 to 1."""
    a, b = (set(_hashes(sketched).tolist()) for sketched in (one, other))
    smallest = sorted(a | b)[:_KEPT]
    shared = a & b
    return sum(hash_ in shared for hash_ in smallest) / max(1, len(smallest))


def _hashes(sketched: bytes) -> NDArray[np.uint32]:
    return np.frombuffer(sketched, dtype=_STORED)


@dataclass(slots=True)
class _Leaders:
    """The first of each group, found by the keys of its sketch."""

    sketches: dict[int, bytes] = field(default_factory=dict)
    by_key: dict[int, list[int]] = field(default_factory=dict)

    def nearest(self, sketched: bytes) -> tuple[int, float]:
        near = {one for key in keys(sketched) for one in self.by_key.get(key, ())}
        found = ((similarity(sketched, self.sketches[one]), -one) for one in near)
        score, one = max(found, default=(0.0, 0))
        return -one, score

    def add(self, name: int, sketched: bytes) -> None:
        self.sketches[name] = sketched
        for key in keys(sketched):
            self.by_key.setdefault(key, []).append(name)


def groups(sketches: Mapping[int, bytes], threshold: float) -> list[list[tuple[int, float]]]:
    """Texts that are at least so like the first of their group, each with how like it is. A text
    that is like none before begins a group; groups of one are left out. Compared with the first
    ones only, so a thousand copies cost a thousand comparisons."""
    leaders, found = _Leaders(), dict[int, list[tuple[int, float]]]()
    for name, sketched in sorted(sketches.items()):
        first, score = leaders.nearest(sketched)
        if score >= threshold:
            found[first].append((name, score))
        elif sketched:
            leaders.add(name, sketched)
            found[name] = [(name, 1.0)]
    return [group for group in found.values() if len(group) > 1]


def near(wanted: Sequence[int], sketches: Mapping[int, bytes], threshold: float) -> dict[int, int]:
    """For each of those wanted the first other that is at least so like."""
    by_key: dict[int, list[int]] = {}
    for name, sketched in sorted(sketches.items()):
        for key in keys(sketched):
            by_key.setdefault(key, []).append(name)
    found: dict[int, int] = {}
    for name in wanted:
        own = sketches.get(name, b"")
        others = sorted({o for key in keys(own) for o in by_key[key] if o != name})
        alike = (o for o in others if similarity(own, sketches[o]) >= threshold)
        first = next(alike, None)
        if first is not None:
            found[name] = first
    return found
