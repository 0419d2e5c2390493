"""One generation of vectors: a folder of rows that only grows, and the search for the nearest.

`vectors` describes the files and has the figures. Doesn't know which generation is the current one.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from mmap import ACCESS_READ, MADV_DONTNEED, mmap
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from trivium.core.errors import IndexDamaged
from trivium.store.embedded.codes import BLOCK, Codes, fit_levels, floats, load_faiss
from trivium.store.embedded.database import guarded
from trivium.store.embedded.lists import LEAST_SEEN, Filter, Lists, write

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from trivium.core.types import Vector, Vectors

# Up to this many passing rows are compared exactly. .4 µs a row, so 1.6 ms: as much as scanning
# codes and comparing candidates costs at 100k rows.
EXACT_ROWS = 4_096
EXACT_SHARE = 32  # and up to one row in so many: scanning all codes takes longer than comparing it
# With lists the limit is the number of rows to this power (16,000 of ten million), and at least as
# many as make a search read all lists. A row that isn't mapped takes 2.6 µs, so comparing 40,000 of
# them took 105 ms; reading lists took 17.
EXACT_POWER = 0.6
EXACT_LISTED = LEAST_SEEN**2
CANDIDATES = 500  # recall@10 1.000 at 1M; each costs 1.2 µs to widen and compare
COMPARED = 256  # rows at a time, which stay in a core's cache: 10,000 in 4 ms instead of 9
PER_RESULT = 10  # candidates for each result beyond the hundredth: recall@100 .998 at 1M
ENCODE_ROWS = 4_096  # encoded at a time (14 µs a row), and the fewest worth saving
LISTED_ROWS = 1_000_000  # from here on rows go into lists: scanning all takes 16 ns a row
UNLISTED = 32  # one row in 32 may be in no list yet; a search scans all of those
TAKEN_ROWS = 20_000  # after reading this many rows, give the mapped memory back: 1.3 GB
MAPPED_BYTES = 65_536 * TAKEN_ROWS  # a smaller file may stay mapped
FILTERS = 4  # recent ones kept with their counts and bits: 25 ms at ten million, a byte a row


class Generation:
    """Threads may search while one of them adds. A search keeps its generation: the files stay
    mapped, even if another generation has become the current one."""

    def __init__(self, folder: Path, dimensions: int) -> None:
        """Reads nothing yet; `grow` does. A missing folder counts as one without rows."""
        self.folder, self._dimensions = folder, dimensions
        self._passing = ReadWriteLock()  # searches pass together, changes pass alone
        self.ids = np.empty(0, np.int64)  # of each row, increasing
        self._rows = np.empty((0, dimensions), np.float16)
        self._mapped: mmap | None = None  # the file behind the rows
        self._taken = 0  # rows read since their memory was given back
        self._lists: Lists | None = None  # of the first rows, if there are a million
        self._codes: Codes | None = None  # of the rows after those
        self._filters: tuple[Filter, ...] = ()  # the last few

    @classmethod
    def create(cls, folder: Path, dimensions: int) -> Generation:
        folder.mkdir()
        for name in ("rows.f16", "ids.i64"):
            (folder / name).touch()
        return cls(folder, dimensions)

    @property
    def count(self) -> int:
        return len(self.ids)

    @guarded("vectors")
    def search(
        self, vector: Vector, k: int, allowed: NDArray[np.bool_] | None
    ) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """Ids and cosines of the k nearest rows, best first, then by id.

        `allowed` says for each position whether a search may find it; positions past its end may
        not be found. Never change it afterwards: its counts and bits are cached.
        """
        with self._passing.shared():
            ids, rows = self.ids, self._rows
            passing = None if allowed is None else self._filter(allowed)
            number = len(ids) if passing is None else passing.passing
            near = None
            exact = max(EXACT_ROWS, len(ids) // EXACT_SHARE)
            if self._lists is not None:
                exact = max(EXACT_LISTED, int(len(ids) ** EXACT_POWER))
            if number > exact and self._codes is not None:
                narrowed = passing if number < len(ids) else None
                positions = self._candidates(vector, max(CANDIDATES, PER_RESULT * k), narrowed)
            elif passing is None:
                positions = np.arange(len(ids))
            else:
                positions, near = passing.positions, passing.near(rows)
            vector = vector.astype(np.float32, copy=False)
            if near is None:
                scores = _cosines(rows, positions, vector)
                self._give_back(len(positions))
            else:
                scores = np.vecdot(near, vector)
            best = _highest(scores, max(k, 0))  # positions rise, and so do ids
            return ids[positions[best]], scores[best]

    def _give_back(self, read: int) -> None:
        """Reading a row maps 64 kB around it. Without this, searches would in time map a whole file
        that may be larger than the memory. The system's cache keeps it all the same."""
        self._taken += read
        if self._taken > TAKEN_ROWS and self._rows.nbytes > MAPPED_BYTES:
            self._taken = 0
            if self._mapped is not None and hasattr(mmap, "madvise"):
                self._mapped.madvise(MADV_DONTNEED)

    def _filter(self, allowed: NDArray[np.bool_]) -> Filter:
        for earlier in self._filters:
            if earlier.given is allowed and earlier.rows == len(self.ids):
                return earlier
        made = Filter(allowed, len(self.ids))
        self._filters = (made, *self._filters[: FILTERS - 1])
        return made

    def _candidates(self, vector: Vector, number: int, passing: Filter | None) -> NDArray[np.int64]:
        """The positions of the rows that seem nearest, in rising order."""
        codes, start = self._codes, self._start
        assert codes is not None
        bits = None if passing is None else passing.bits_from(start)
        positions, scores = codes.scan(vector, number, bits)
        if self._lists is not None:
            listed, theirs = self._lists.scan(vector, number, passing)
            positions, scores = np.append(listed, positions + start), np.append(theirs, scores)
            if len(positions) > number:
                positions = positions[np.argpartition(-scores, number)[:number]]
        return np.sort(positions)

    @property
    def _start(self) -> int:
        """The first row that is in no list."""
        return self._lists.count if self._lists is not None else 0

    def append(self, ids: NDArray[np.int64], vectors: Vectors) -> None:
        """Add rows, durably. Their ids must increase and be greater than any here."""
        if len(ids) != len(vectors) or vectors.shape[1:] != (self._dimensions,):
            raise ValueError(f"{len(ids)} ids do not fit vectors of shape {vectors.shape}")
        if np.any(np.diff(np.concatenate([self.ids[-1:], ids])) <= 0):
            raise ValueError("ids must increase and be greater than those in the index")
        if len(ids):
            _write(self.folder / "rows.f16", self.count, vectors.astype(np.float16))
            _write(self.folder / "ids.i64", self.count, ids.astype(np.int64))
            self.grow()
            self.save(least=ENCODE_ROWS)

    def rows_at(
        self, positions: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.float16]]:
        """Ids and vectors, for checks."""
        with self._passing.shared():
            return self.ids[positions], self._rows.take(positions, axis=0)

    @guarded("vectors")
    def check_codes(self) -> None:
        """Compute all codes again (14 µs a row) and compare them with the saved ones. Raises
        IndexDamaged."""
        with self._passing.shared():
            rows, used = self._rows[self._start :], self._codes
            if used is None:
                return
            if self._lists is not None:
                self._lists.check(self._rows)
            codes = Codes(used.levels)
            for start in range(0, len(rows), ENCODE_ROWS):
                codes.add(rows[start : start + ENCODE_ROWS])
            whole = min(codes.count, used.count) // BLOCK
            if whole and not np.array_equal(codes.blocks(0, whole), used.blocks(0, whole)):
                raise IndexDamaged.of("vectors", "its codes do not fit its rows")

    # --- files ----------------------------------------------------------------------------------

    def is_whole(self) -> bool:
        """Whether its files exist."""
        return (self.folder / "ids.i64").exists() and (self.folder / "rows.f16").exists()

    def stored(self) -> int:
        """How many whole rows the files hold."""
        rows = (self.folder / "rows.f16").stat().st_size // (2 * self._dimensions)
        return min(rows, (self.folder / "ids.i64").stat().st_size // 8)

    def cut(self) -> None:
        """Remove what a killed writer left after the last whole row, and outdated files."""
        file, stored = self.folder / "ids.i64", self.stored()
        certain = max(0, min(self.count, stored) - 1)  # `grow` has checked those
        ids = np.fromfile(file, np.int64, stored - certain, offset=8 * certain)
        falls = np.flatnonzero(np.diff(ids) <= 0)  # a power cut can leave zeros
        count = certain + int(falls[0]) + 1 if len(falls) else stored
        if count < file.stat().st_size // 8:  # rows are lost, so their codes are wrong
            for path in (*self.folder.glob("codes-*"), *self.folder.glob("lists-*")):
                path.unlink()
        self._tidy()
        os.truncate(self.folder / "rows.f16", count * 2 * self._dimensions)
        os.truncate(file, count * 8)

    def _tidy(self) -> None:
        """Remove lists with fewer rows than the largest, and codes of rows that are in a list."""
        (self.folder / "lists.new").unlink(missing_ok=True)
        counts = [*self._listed()]
        for count in counts[1:]:
            (self.folder / Lists.name(count)).unlink(missing_ok=True)
        for count in (0, *counts[1:]) if counts else ():
            (self.folder / _codes_file(count)).unlink(missing_ok=True)

    def _listed(self) -> list[int]:
        """How many rows each file of lists has, most first."""
        if self.folder.joinpath("ids.i64").stat().st_size // 8 < LISTED_ROWS:
            return []  # a small library never loads faiss here
        prefix = Lists.name(0)[:-1]
        counts = (path.name.removeprefix(prefix) for path in self.folder.glob(f"{prefix}*"))
        return sorted((int(count) for count in counts if count.isdecimal()), reverse=True)

    # --- rows and codes in memory ---------------------------------------------------------------

    @guarded("vectors")
    def grow(self) -> None:
        """Map all stored rows and compute the codes of the new ones."""
        count = self.stored()
        if count <= self.count:
            return
        shape = (count, self._dimensions)
        with (self.folder / "rows.f16").open("rb") as file:
            mapped = mmap(file.fileno(), 2 * count * self._dimensions, access=ACCESS_READ)
        rows = np.frombuffer(mapped, np.float16).reshape(shape)
        ids = np.asarray(np.memmap(self.folder / "ids.i64", np.int64, "r", shape=(count,)))
        fresh = np.concatenate([self.ids[-1:], ids[self.count :]])
        falls = np.flatnonzero(np.diff(fresh) <= 0) + 1 + self.count - len(self.ids[-1:])
        if len(falls) and not ids[falls[0] :].any():  # a power cut can leave zeros
            count = int(falls[0])
            ids, rows = ids[:count], rows[:count]
        elif len(falls) or ids[0] < 0:
            raise IndexDamaged.of("vectors", "the ids of its rows do not increase")
        lists = self._newest(count)
        codes = self._codes if lists is self._lists else None
        start = lists.count if lists is not None else 0
        if codes is None and count > EXACT_ROWS:
            codes = self._encode(rows[start:], start, lists)
        end = self.count
        while end < count:  # in steps, so that no search waits long
            with self._passing.alone():
                end = count if codes is None else min(count, end + ENCODE_ROWS)
                if codes is not None:
                    end = max(start + codes.count, end)
                    codes.add(rows[start + codes.count : end])
                self.ids, self._rows, self._codes, self._lists = ids[:end], rows[:end], codes, lists
                self._mapped = mapped

    def _newest(self, count: int) -> Lists | None:
        """The lists with the most rows, but no more than `count`."""
        while True:
            sizes = [rows for rows in self._listed() if rows <= count]
            if not sizes or sizes[0] == self._start:
                return self._lists if sizes else None
            with suppress(FileNotFoundError):  # replaced this instant
                return Lists(self.folder / Lists.name(sizes[0]))

    def is_unsorted(self) -> bool:
        """Whether so many rows are in no list that searches get slower."""
        behind = self.count - self._start
        return self.count >= LISTED_ROWS and behind > self.count // UNLISTED

    def sort(self) -> Lists:
        """Put all rows but the last few into lists, for `adopt`. Takes minutes for millions of
        rows; searches go on. Only the writer may call it."""
        codes = self._codes
        assert codes is not None
        whole = self.count // BLOCK * BLOCK
        return Lists(write(self.folder, self._rows[:whole], codes.levels, self._lists))

    def adopt(self, lists: Lists) -> None:
        """Search these lists from now on. Only the writer may call it."""
        codes = self._encode(self._rows[lists.count :], lists.count, lists)
        with self._passing.alone():
            self._lists, self._codes = lists, codes
        self._tidy()

    def _encode(self, rows: NDArray[np.float16], start: int, lists: Lists | None) -> Codes:
        """Codes of these rows, which begin at `start`: reads the saved ones (2 ms for 100k) and
        computes the others."""
        levels = self._levels() if lists is None else lists.levels
        if levels is None:
            # Fitted to the first rows alone. Fitted to one narrow cluster of 2,000 rows, codes
            # still found .998 at 100k. Levels that ignore the mean found .86 if a model's cosines
            # are high.
            levels = fit_levels(rows[:: max(1, len(rows) // ENCODE_ROWS)])
        codes = Codes(levels)
        saved = self.folder / _codes_file(start)
        if saved.exists() and saved.stat().st_size >= codes.block_bytes:
            blocks = np.memmap(saved, np.uint8, "r")
            number = min(len(blocks) // codes.block_bytes, len(rows) // BLOCK)
            codes.load(np.asarray(blocks), number)
        for first in range(codes.count, len(rows), ENCODE_ROWS):
            codes.add(rows[first : first + ENCODE_ROWS])
        return codes

    def _levels(self) -> NDArray[np.float32] | None:
        """The saved levels."""
        try:
            levels = np.load(self.folder / "levels.npy")
        except FileNotFoundError:
            return None
        except Exception as error:  # a damaged header: numpy parses it as Python
            raise IndexDamaged.of("vectors", f"levels.npy cannot be read ({error})") from error
        wide = self._dimensions + -self._dimensions % 4
        if levels.shape != (wide, 4) or not np.isfinite(levels).all():
            raise IndexDamaged.of("vectors", "levels.npy does not fit the vectors")
        return np.asarray(levels)

    def save(self, least: int) -> None:
        """Append the codes of whole blocks to their file. If they are lost, searches are slower,
        but right. Only the writer may call it."""
        if self._codes is None:
            return
        levels = self.folder / "levels.npy"
        if not levels.exists():
            np.save(levels.with_suffix(".new.npy"), self._codes.levels)
            levels.with_suffix(".new.npy").replace(levels)
        elif not np.array_equal(np.asarray(self._levels()), self._codes.levels):
            return  # computed as a reader, before the writer saved its own levels
        with (self.folder / _codes_file(self._start)).open("ab") as file:
            saved = file.tell() // self._codes.block_bytes
            whole = self._codes.count // BLOCK
            if (whole - saved) * BLOCK >= least:
                file.truncate(saved * self._codes.block_bytes)
                file.write(self._codes.blocks(saved, whole).data)


def _cosines(
    rows: NDArray[np.float16], positions: NDArray[np.int64], vector: Vector
) -> NDArray[np.float32]:
    """One dot product for each row: unlike a matrix product, it gives equal rows equal scores at
    any position, and starts no threads."""
    scores = np.empty(len(positions), np.float32)
    for first in range(0, len(positions), COMPARED):
        some = slice(first, first + COMPARED)
        near = floats(rows.take(positions[some], axis=0))
        scores[some] = np.vecdot(near, vector)
    return scores


def _highest(scores: NDArray[np.float32], k: int) -> NDArray[np.int64]:
    """The places of the k highest, best first, equal ones in order."""
    below = -scores
    if not 0 < k < len(scores):
        return np.argsort(below, kind="stable")[:k]
    # Sorting all of 10,000 takes .8 ms.
    high = np.flatnonzero(~(below > np.partition(below, k - 1)[k - 1]))
    return high[np.argsort(below[high], kind="stable")[:k]]


def _codes_file(start: int) -> str:
    """The file for the rows from `start` on. The layout is faiss's, hence its version."""
    return f"codes-{load_faiss().__version__}" + (f"-{start}" if start else "")


def _write(path: Path, place: int, rows: NDArray[Any]) -> None:
    """Write rows at this place, over what an unfinished write left there, and sync them to disk."""
    with path.open("r+b") as file:
        file.seek(place * rows.itemsize * (rows.size // len(rows)))
        file.write(np.ascontiguousarray(rows).data)
        file.truncate()
        file.flush()
        os.fsync(file.fileno())


class ReadWriteLock:
    """Lets any number of readers in together, or one writer alone: faiss must not grow while it is
    read."""

    def __init__(self) -> None:
        self._turn, self._inside, self._closed = threading.Condition(), 0, False

    def shared(self) -> AbstractContextManager[None]:
        return _Shared(self)

    def enter(self) -> None:
        with self._turn:
            while self._closed:
                self._turn.wait()
            self._inside += 1

    def leave(self) -> None:
        with self._turn:
            self._inside -= 1
            if not self._inside:
                self._turn.notify_all()

    @contextmanager
    def alone(self) -> Iterator[None]:
        with self._turn:
            self._closed = True  # otherwise a stream of searches would block the change for ever
            self._turn.wait_for(lambda: self._inside == 0)
            try:
                yield
            finally:
                self._closed = False
                self._turn.notify_all()


class _Shared:
    """Not a generator: every search enters twice, and a generator takes twice as long."""

    __slots__ = ("_lock",)

    def __init__(self, lock: ReadWriteLock) -> None:
        self._lock = lock

    def __enter__(self) -> None:
        self._lock.enter()

    def __exit__(self, *_: object) -> None:
        self._lock.leave()
