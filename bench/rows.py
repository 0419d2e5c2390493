"""The rows that every engine gets: passages with vectors, a block at a time.

Embedding 100,000 passages takes two hours here, so a few thousand real texts are embedded once and
each row lies between two of them, with some noise. Needs numpy and nothing of Trivium.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np

from bench.corpus import SEED, Corpus

if TYPE_CHECKING:
    from numpy.typing import NDArray

BLOCK = 2_000  # rows made and written at a time
NOISE = 0.02  # in each of 384 dimensions: a length of .4 beside the vector's 1
DOCUMENT_CHUNKS = 100  # rows of one document
SHARDS = 1_000  # `shard < n` lets n in a thousand documents pass
PASSING = 10  # the filter that every engine is given: 1 % of the documents


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows first, first + 1, …"""

    first: int
    texts: list[str]
    vectors: NDArray[np.float32]

    @property
    def ids(self) -> range:
        return range(self.first, self.first + len(self.texts))

    @property
    def shards(self) -> list[int]:
        return [shard(i // DOCUMENT_CHUNKS) for i in self.ids]


def shard(document: int) -> int:
    """Spreads the documents of a shard over the library."""
    return document * 7919 % SHARDS


@dataclass(frozen=True, slots=True)
class Prepared:
    """Computed once for a data folder and a model, then read by every engine."""

    folder: Path

    @property
    def base(self) -> NDArray[np.float32]:
        """Vectors of real texts."""
        found: NDArray[np.float32] = np.load(self.folder / "base.npy")
        return found

    @property
    def queries(self) -> list[str]:
        found: list[str] = json.loads((self.folder / "queries.json").read_text(encoding="utf-8"))
        return found

    @property
    def query_vectors(self) -> NDArray[np.float32]:
        found: NDArray[np.float32] = np.load(self.folder / "queries.npy")
        return found


def make_rows(corpus: Corpus, base: NDArray[np.float32], count: int) -> Iterator[Rows]:
    passages = corpus.passages(count)
    for first in range(0, count, BLOCK):
        size = min(BLOCK, count - first)
        vectors = vectors_of(base, first // BLOCK)[:size]
        yield Rows(first, [next(passages) for _ in range(size)], vectors)


class Digest:
    """Proves that two engines got the same rows."""

    def __init__(self) -> None:
        self._sum = hashlib.blake2b(digest_size=8)

    def add(self, rows: Rows) -> None:
        for text in rows.texts:
            self._sum.update(text.encode())
        self._sum.update(rows.vectors.tobytes())

    def __str__(self) -> str:
        return self._sum.hexdigest()


class Counted:
    """Blocks of rows, and the seconds spent on making them, which don't count for an engine."""

    def __init__(self, blocks: Iterator[Rows], digest: Digest | None = None) -> None:
        self._blocks, self._digest = blocks, digest
        self._started = perf_counter()
        self.seconds = 0.0

    def elapsed(self) -> float:
        """Seconds since this was made, without those."""
        return round(perf_counter() - self._started - self.seconds, 1)

    def __iter__(self) -> Iterator[Rows]:
        while True:
            started = perf_counter()
            block = next(self._blocks, None)
            if block is not None and self._digest is not None:
                self._digest.add(block)
            self.seconds += perf_counter() - started
            if block is None:
                return
            yield block


def vectors_of(base: NDArray[np.float32], block: int) -> NDArray[np.float32]:
    """One block of them."""
    chance = np.random.default_rng([SEED, block])
    one, other = chance.integers(len(base), size=(2, BLOCK))
    share = chance.uniform(0.5, 1.0, size=(BLOCK, 1)).astype(np.float32)
    mixed = share * base[one] + (1 - share) * base[other]
    mixed += NOISE * chance.standard_normal(mixed.shape, dtype=np.float32)
    unit: NDArray[np.float32] = mixed / np.linalg.norm(mixed, axis=1, keepdims=True)
    return unit
