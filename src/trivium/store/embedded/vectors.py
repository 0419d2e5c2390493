"""Finds the nearest unit vectors of a library under any filter. Knows nothing of SQLite or chunks.

A derived index: the caller can rebuild it from the database at any time. One writer appends, any
number of processes read. Every row has a position (0, 1, 2 …) and an id; ids rise with positions.

    folder/current            names the generation below; replaced in one step
    folder/1-384/rows.f16     the vectors, and
    folder/1-384/ids.i64      their ids: written last, so its length says how many rows there are
    folder/1-384/levels.npy   the values that codes stand for, once there are codes
    folder/1-384/codes-*      the codes in faiss's own layout (hence its version): only a cache
    folder/1-384/lists-*      from a million rows on: codes of all but the last rows, in lists of
                              rows that are near each other; a cache too

The files only grow, so a reader always has a whole prefix, and a writer killed at any moment leaves
one. A change that isn't an append (`rebuild`) makes a new generation beside the old one and then
makes it current: readers see the old rows or all of the new ones, never a part.

How it searches: up to EXACT_ROWS passing rows, and up to one in EXACT_SHARE, are compared one by
one; those of a filter that is used again are kept as they are multiplied. Beyond that, faiss scans
codes of two bits per dimension of *all* rows (a flat scan has no graph that a filter could break),
and the best candidates are compared exactly. MiniLM vectors, CPU time of one core, recall@10:

    candidates from                     recall 100k / 1M   CPU ms 100k / 1M   bytes a row
    two bits, 1,000 candidates (this: 500)     1.000 / 1.000        1.8 / 14 to 18       96
    one bit, query in full, 1,000          .982 / .983         1.6 /  8             48
    one bit, Hamming, 1,000                   - / .90            - /  9             48
    four bits, 50                             - / 1.000          - / 25            192
    float16, exact                            1 / -              8 / -             768

If a model's cosines are all high (mean .77), two bits keep .993 and one bit .863 at 100k.
With filters that pass 50, 10, 1 and .1 %, one cluster, or the rows farthest from the queries: .999
or more. Opening 1M takes .15 s, adding 1,000 rows to them 80 ms; building runs at 49,000 rows per
second of CPU. 1M rows need .16 GB, and up to .8 GB of the mapped file, which all processes share.

From a million rows on, the codes are in lists, and a search reads the lists nearest to the query.
At 4M rows: 28 ms of CPU (p95), recall@10 .995; with filters that pass 50, 10 and .1 %, .998 or
more, but .966 if only one cluster far from the query passes (decision 011).
"""

from __future__ import annotations

import shutil
import threading
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from trivium.store.embedded.codes import BLOCK
from trivium.store.embedded.database import guarded
from trivium.store.embedded.generation import Generation

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from trivium.core.types import Vector, Vectors

_NONE = "none"  # a folder that never exists: a generation without rows


class VectorIndex:
    """The vectors of one model, in one folder. Threads may search while one of them writes."""

    def __init__(self, folder: Path, dimensions: int, *, damaged: bool = False) -> None:
        """The index in this folder; empty if it has none, or one with other dimensions. Doesn't
        read a damaged one, which `rebuild` replaces."""
        self._folder, self._dimensions, self._writable = folder, dimensions, False
        self._growing = threading.Lock()  # one thread at a time appends or refreshes
        self.generation = self._named("")
        if not damaged:
            self.refresh()

    @classmethod
    def open(cls, folder: Path, dimensions: int, *, writable: bool) -> VectorIndex:
        index = cls(folder, dimensions)
        if writable:
            index.start_writing()
        return index

    @guarded("vectors")
    def start_writing(self) -> None:
        """Become the writer. The caller makes sure that no other process is one."""
        with self._growing:
            self._writable = True
            self._folder.mkdir(parents=True, exist_ok=True)
            generation, name = self.generation, self._current()
            if name != generation.folder.name:  # another writer has started a generation since
                generation = self._named(name)
            if name and generation.is_whole():
                generation.cut()
                if generation.stored() < generation.count:
                    generation = self._named(name)
                generation.grow()
                self.generation = generation
                self._tidy()
            else:
                self._adopt(self._fresh())

    def stop_writing(self) -> None:
        """Save unsaved codes. Searching goes on."""
        with self._growing:
            if self._writable:
                self.generation.save(least=BLOCK)
            self._writable = False

    @property
    def count(self) -> int:
        return self.generation.count

    @property
    def ids(self) -> NDArray[np.int64]:
        """The id at every position, increasing."""
        return self.generation.ids

    def search(
        self, vector: Vector, k: int, allowed: NDArray[np.bool_] | None
    ) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """See `Generation.search`."""
        return self.generation.search(vector, k, allowed)

    def append(self, ids: NDArray[np.int64], vectors: Vectors) -> None:
        """Add rows. Their ids must increase and be greater than any here."""
        with self._growing:
            self.generation.append(ids, vectors)
        self._sort()

    def _sort(self) -> None:
        """Put rows into lists if many are in none. Without the lock, so that searches can refresh
        meanwhile; only the writer gets here."""
        generation = self.generation
        if generation.is_unsorted():
            lists = generation.sort()
            with self._growing:
                generation.adopt(lists)

    @guarded("vectors")
    def refresh(self) -> None:
        """See the rows that any process has added. Costs two `stat` calls if there are none."""
        with self._growing:
            while True:
                name = self._current()
                is_current = (name or _NONE) == self.generation.folder.name
                generation = self.generation if is_current else self._named(name)
                with suppress(FileNotFoundError):  # the generation was replaced just now
                    generation.grow()
                if self._current() == name:
                    self.generation = generation
                    return

    def rebuild(self, batches: Iterable[tuple[NDArray[np.int64], Vectors]]) -> None:
        """Replace all rows by these, with newly fitted codes. Half a minute for 1M; searches go
        on."""
        self._folder.mkdir(parents=True, exist_ok=True)
        generation = self._fresh()
        for ids, vectors in batches:
            generation.append(ids, vectors)
        if generation.is_unsorted():
            generation.adopt(generation.sort())
        generation.save(least=BLOCK)
        with self._growing:
            self._adopt(generation)

    def close(self) -> None:
        """Save unsaved codes and close the files."""
        self.stop_writing()
        self.generation = self._named("")

    def _current(self) -> str:
        """The current generation's name; empty if there is none with these dimensions."""
        try:
            name = (self._folder / "current").read_text()
        except FileNotFoundError:
            return ""
        return name if name.endswith(f"-{self._dimensions}") else ""

    def _named(self, name: str) -> Generation:
        return Generation(self._folder / (name or _NONE), self._dimensions)

    def _fresh(self) -> Generation:
        """A new generation, which readers don't see yet."""
        numbers = (path.name.split("-")[0] for path in self._folder.glob("*-*"))
        taken = [int(number) for number in numbers if number.isdecimal()]
        name = f"{max(taken, default=0) + 1}-{self._dimensions}"
        return Generation.create(self._folder / name, self._dimensions)

    def _adopt(self, generation: Generation) -> None:
        """Make it the current one. Readers of the old one keep its files."""
        (self._folder / "current.new").write_text(generation.folder.name)
        (self._folder / "current.new").replace(self._folder / "current")
        self.generation = generation
        self._tidy()

    def _tidy(self) -> None:
        """Remove every generation but the current one."""
        for path in self._folder.glob("*-*"):
            if path.name != self.generation.folder.name:
                shutil.rmtree(path, ignore_errors=True)
