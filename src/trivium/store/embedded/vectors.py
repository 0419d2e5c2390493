"""Finds the nearest unit vectors of a library, for any filter. Knows nothing of SQLite or chunks.

A derived index: the caller can rebuild it from the truth at any time. One writer appends, any
number of processes read. Every row has a position (0, 1, 2 …) and an id; ids increase with it.

    folder/current            names the generation below; replaced in one step
    folder/1-384/rows.f16     the vectors, and
    folder/1-384/ids.i64      their ids: written last, so its length says how many rows there are
    folder/1-384/levels.npy   what the codes stand for, once there are codes
    folder/1-384/codes-*      the codes in faiss's own layout (hence its version): only a cache

The files only grow, so a reader always holds a whole prefix, and a writer killed at any instant
leaves one. What cannot be an append (`truncate`, `reset`) is a new generation.

How it searches: up to EXACT_ROWS passing rows are compared one by one. Beyond that faiss scans
codes of two bits a dimension over *all* rows (a flat scan has no graph for a filter to break) and
the best candidates are compared exactly. MiniLM vectors, CPU time of one core, recall@10:

    candidates from                     recall 100k / 1M   CPU ms 100k / 1M   bytes a row
    two bits, 1,000 candidates (this: 500)     1.000 / 1.000        1.8 / 14 to 18       96
    one bit, query in full, 1,000          .982 / .983         1.6 /  8             48
    one bit, Hamming, 1,000                   - / .90            - /  9             48
    four bits, 50                             - / 1.000          - / 25            192
    float16, exact                            1 / -              8 / -             768

If a model's cosines are all high (mean .77), two bits keep .993 and one bit .863 at 100k.
With filters of 50, 10, 1 and .1 %, of one cluster and of the rows farthest from the queries: .999
or more. Opening 1M takes .15 s, adding 1,000 rows to them 80 ms; 49,000 rows a second of CPU are
built. 1M rows need .16 GB, and up to .8 GB of the mapped file that all processes share.
"""

from __future__ import annotations

import os
import shutil
import threading
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from trivium.store.embedded.codes import BLOCK, Codes, fit_levels
from trivium.store.embedded.gate import Gate

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from trivium.types import Vector, Vectors

EXACT_ROWS = 4_096  # .7 µs a row, so 3 ms: what codes and candidates together cost at 100k rows
CANDIDATES = 500  # recall@10 1.000 at 1M; each costs 1.2 µs to widen and compare
PER_RESULT = 10  # candidates for each result beyond the hundredth: recall@100 .998 at 1M
ENCODE_ROWS = 4_096  # encoded at a time (14 µs a row), and the least worth saving


class VectorIndex:
    """The vectors of one library, in one folder. Threads may search while one of them writes."""

    def __init__(self, folder: Path, dimensions: int) -> None:
        """The index in this folder; empty if there is none, or one of other dimensions."""
        self._folder, self._dimensions, self._writable = folder, dimensions, False
        self._growing = threading.Lock()  # one thread at a time appends or refreshes
        self._gate = Gate()  # searches pass together, changes pass alone
        self._name = ""
        self._clear()
        self.refresh()

    @classmethod
    def open(cls, folder: Path, dimensions: int, *, writable: bool) -> VectorIndex:
        index = cls(folder, dimensions)
        if writable:
            index.start_writing()
        return index

    def start_writing(self) -> None:
        """Become the one that appends; the caller sees to it that no other process does."""
        with self._growing:
            self._writable = True
            self._folder.mkdir(parents=True, exist_ok=True)
            if self._current() != self._name:  # another writer began a generation since
                self._clear()
            self._name = self._current()
            if self._name and self._file("ids.i64").exists() and self._file("rows.f16").exists():
                self._cut()
                if self._stored() < self.count:
                    self._clear()
            else:
                self._clear()
                self._begin(0)
        self.refresh()

    def stop_writing(self) -> None:
        """Save what codes are unsaved. Searching goes on."""
        with self._growing:
            self._save(least=BLOCK)
            self._writable = False

    @property
    def count(self) -> int:
        return len(self._ids)

    @property
    def ids(self) -> NDArray[np.int64]:
        """The id at every position, increasing."""
        return self._ids

    def search(
        self, vector: Vector, k: int, allowed: NDArray[np.bool_] | None
    ) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """Ids and cosines of the k nearest rows, best first, then by id.

        `allowed` says for each position whether it may be found; positions past its end may not.
        """
        with self._gate.shared():
            ids, rows, codes = self._ids, self._rows, self._codes
            if allowed is not None:
                allowed = allowed[: len(ids)]
            passing = len(ids) if allowed is None else int(np.count_nonzero(allowed))
            if passing > EXACT_ROWS and codes is not None:
                mask = None if passing == len(ids) else allowed
                positions = codes.scan(vector, max(CANDIDATES, PER_RESULT * k), mask)
            elif allowed is None:
                positions = np.arange(len(ids))
            else:
                positions = np.flatnonzero(allowed)
            # One dot product a row: unlike a matrix product it gives equal rows equal scores
            # wherever they stand, and starts no threads.
            near = rows.take(positions, axis=0).astype(np.float32)
            scores = np.vecdot(near, vector.astype(np.float32, copy=False))
            best = np.argsort(-scores, kind="stable")[: max(k, 0)]  # positions rise, so ids do
            return ids[positions[best]], scores[best]

    def append(self, ids: NDArray[np.int64], vectors: Vectors) -> None:
        """Add rows. Their ids must increase and be greater than any here."""
        if len(ids) != len(vectors) or vectors.shape[1:] != (self._dimensions,):
            raise ValueError(f"{len(ids)} ids do not fit vectors of shape {vectors.shape}")
        known = self._ids[-1:]
        if np.any(np.diff(np.concatenate([known, ids])) <= 0):
            raise ValueError("ids must increase and be greater than those in the index")
        if not len(ids):
            return
        with self._growing:
            _write(self._file("rows.f16"), self.count, vectors.astype(np.float16))
            _write(self._file("ids.i64"), self.count, ids.astype(np.int64))
            self._grow()

    def refresh(self) -> None:
        """See the rows that any process has added. Costs two `stat` calls when there are none."""
        with self._growing:
            while True:
                name = self._current()
                if name != self._name:
                    self._clear()
                    self._name = name
                with suppress(FileNotFoundError):  # the generation was replaced this instant
                    self._grow()
                if self._current() == name:
                    return

    def truncate(self, count: int) -> None:
        """Forget the rows from this position on. New codes for those left: half a minute for 1M."""
        with self._growing:
            self._begin(count)
        self.refresh()

    def reset(self) -> None:
        """Forget everything; the next codes fit the rows that come then."""
        self.truncate(0)

    def close(self) -> None:
        """Save what codes are unsaved and let go of the files."""
        with self._growing:
            self._save(least=BLOCK)
            self._clear()
            self._name = ""

    # --- files ----------------------------------------------------------------------------------

    def _current(self) -> str:
        """The generation's name, or nothing if there is none of these dimensions."""
        try:
            name = (self._folder / "current").read_text()
        except FileNotFoundError:
            return ""
        return name if name.endswith(f"-{self._dimensions}") else ""

    def _file(self, name: str) -> Path:
        return self._folder / self._name / name

    def _begin(self, count: int) -> None:
        """Start a generation with the first rows of this one. Readers of the old keep its files."""
        taken = [int(path.name.split("-")[0]) for path in self._folder.glob("*-*")]
        name = f"{max(taken, default=0) + 1}-{self._dimensions}"
        (self._folder / name).mkdir()
        self._rows[:count].tofile(self._folder / name / "rows.f16")
        self._ids[:count].tofile(self._folder / name / "ids.i64")
        (self._folder / "current.new").write_text(name)
        (self._folder / "current.new").replace(self._folder / "current")
        for path in self._folder.glob("*-*"):
            if path.name != name:
                shutil.rmtree(path, ignore_errors=True)

    def _cut(self) -> None:
        """Take off what a killed writer left behind the last whole row."""
        ids = np.fromfile(self._file("ids.i64"), np.int64, self._stored())
        falls = np.flatnonzero(np.diff(ids) <= 0)  # a power cut can leave zeros
        count = int(falls[0]) + 1 if len(falls) else len(ids)
        if count < self._file("ids.i64").stat().st_size // 8:  # rows are lost, so codes are wrong
            for path in self._file("").glob("codes-*"):
                path.unlink()
        os.truncate(self._file("rows.f16"), count * 2 * self._dimensions)
        os.truncate(self._file("ids.i64"), count * 8)

    def _stored(self) -> int:
        """How many whole rows the files hold."""
        if not self._name:
            return 0
        rows = self._file("rows.f16").stat().st_size // (2 * self._dimensions)
        return min(rows, self._file("ids.i64").stat().st_size // 8)

    # --- rows and codes in memory ---------------------------------------------------------------

    def _clear(self) -> None:
        with self._gate.alone():
            self._ids = np.empty(0, np.int64)
            self._rows = np.empty((0, self._dimensions), np.float16)
            self._codes: Codes | None = None

    def _grow(self) -> None:
        """Map the rows that are stored by now and bring the codes up to them."""
        count = self._stored()
        if count <= self.count:
            return
        shape = (count, self._dimensions)
        rows = np.asarray(np.memmap(self._file("rows.f16"), np.float16, "r", shape=shape))
        ids = np.asarray(np.memmap(self._file("ids.i64"), np.int64, "r", shape=(count,)))
        codes = self._codes
        if codes is None and count > EXACT_ROWS:
            codes = self._encode(rows)
        end = self.count
        while end < count:  # in steps, so that no search waits long
            with self._gate.alone():
                end = count if codes is None else max(codes.count, min(count, end + ENCODE_ROWS))
                if codes is not None:
                    codes.add(rows[codes.count : end])
                self._ids, self._rows, self._codes = ids[:end], rows[:end], codes
        self._save(least=ENCODE_ROWS)

    def _encode(self, rows: NDArray[np.float16]) -> Codes:
        """Codes for all rows: the saved ones read back (2 ms for 100k), the others computed."""
        try:
            levels = np.load(self._file("levels.npy"))
        except FileNotFoundError:
            # From the first rows alone. Codes fitted to one narrow cluster of 2,000 still found
            # .998 of 100k, but levels blind to the mean only .86 if the model's cosines are high.
            levels = fit_levels(rows[:: max(1, len(rows) // ENCODE_ROWS)])
        codes = Codes(levels)
        saved = self._file(codes.file)
        if saved.exists() and saved.stat().st_size >= codes.block_bytes:
            blocks = np.memmap(saved, np.uint8, "r")
            number = min(len(blocks) // codes.block_bytes, len(rows) // BLOCK)
            codes.load(np.asarray(blocks), number)
        for start in range(codes.count, len(rows), ENCODE_ROWS):
            codes.add(rows[start : start + ENCODE_ROWS])
        return codes

    def _save(self, least: int) -> None:
        """Append the codes of whole blocks to their file. Lost ones cost time, not answers."""
        if self._codes is None or not self._writable:
            return
        levels = self._file("levels.npy")
        if not levels.exists():
            np.save(levels.with_suffix(".new.npy"), self._codes.levels)
            levels.with_suffix(".new.npy").replace(levels)
        elif not np.array_equal(np.load(levels), self._codes.levels):
            return  # made as a reader, before the writer of that time saved its own
        with self._file(self._codes.file).open("ab") as file:
            saved = file.tell() // self._codes.block_bytes
            whole = self._codes.count // BLOCK
            if (whole - saved) * BLOCK >= least:
                file.truncate(saved * self._codes.block_bytes)
                file.write(self._codes.blocks(saved, whole).data)


def _write(path: Path, place: int, rows: NDArray[Any]) -> None:
    """Put rows at this place and on the disk, over whatever an unfinished write left there."""
    with path.open("r+b") as file:
        file.seek(place * rows.itemsize * (rows.size // len(rows)))
        file.write(np.ascontiguousarray(rows).data)
        file.truncate()
        file.flush()
        os.fsync(file.fileno())
