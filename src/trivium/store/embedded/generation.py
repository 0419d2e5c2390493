"""One generation of vectors: rows in a folder that only grow, and how the nearest are found.

See `vectors` for the files and the figures. Knows nothing of which generation is the current one.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from trivium.errors import IndexDamaged
from trivium.store.embedded.codes import BLOCK, Codes, fit_levels
from trivium.store.embedded.damage import guarded
from trivium.store.embedded.gate import Gate

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from trivium.types import Vector, Vectors

EXACT_ROWS = 4_096  # .7 µs a row, so 3 ms: what codes and candidates together cost at 100k rows
CANDIDATES = 500  # recall@10 1.000 at 1M; each costs 1.2 µs to widen and compare
PER_RESULT = 10  # candidates for each result beyond the hundredth: recall@100 .998 at 1M
ENCODE_ROWS = 4_096  # encoded at a time (14 µs a row), and the least worth saving


class Generation:
    """Threads may search while one of them adds. A search that holds one finds its rows for ever,
    whatever has become the current one since: the files stay mapped."""

    def __init__(self, folder: Path, dimensions: int) -> None:
        """Nothing is read yet: `grow` does that. A folder that is not there holds no rows."""
        self.folder, self._dimensions = folder, dimensions
        self._gate = Gate()  # searches pass together, changes pass alone
        self.ids = np.empty(0, np.int64)  # at every position, increasing
        self._rows = np.empty((0, dimensions), np.float16)
        self._codes: Codes | None = None

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

        `allowed` says for each position whether it may be found; positions past its end may not.
        """
        with self._gate.shared():
            ids, rows, codes = self.ids, self._rows, self._codes
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
        with self._gate.shared():
            return self.ids[positions], self._rows.take(positions, axis=0)

    @guarded("vectors")
    def check_codes(self) -> None:
        """Compute all codes once more (14 µs a row) and compare the saved ones. Raises
        IndexDamaged."""
        with self._gate.shared():
            rows, used = self._rows, self._codes
            if used is None:
                return
            codes = Codes(used.levels)
            for start in range(0, len(rows), ENCODE_ROWS):
                codes.add(rows[start : start + ENCODE_ROWS])
            whole = min(codes.count, used.count) // BLOCK
            if not np.array_equal(codes.blocks(0, whole), used.blocks(0, whole)):
                raise IndexDamaged.of("vectors", "its codes do not fit its rows")

    # --- files ----------------------------------------------------------------------------------

    def is_whole(self) -> bool:
        """Whether its files are there."""
        return (self.folder / "ids.i64").exists() and (self.folder / "rows.f16").exists()

    def stored(self) -> int:
        """How many whole rows the files hold."""
        rows = (self.folder / "rows.f16").stat().st_size // (2 * self._dimensions)
        return min(rows, (self.folder / "ids.i64").stat().st_size // 8)

    def cut(self) -> None:
        """Take off what a killed writer left behind the last whole row."""
        file = self.folder / "ids.i64"
        ids = np.fromfile(file, np.int64, self.stored())
        falls = np.flatnonzero(np.diff(ids) <= 0)  # a power cut can leave zeros
        count = int(falls[0]) + 1 if len(falls) else len(ids)
        if count < file.stat().st_size // 8:  # rows are lost, so codes are wrong
            for path in self.folder.glob("codes-*"):
                path.unlink()
        os.truncate(self.folder / "rows.f16", count * 2 * self._dimensions)
        os.truncate(file, count * 8)

    # --- rows and codes in memory ---------------------------------------------------------------

    @guarded("vectors")
    def grow(self) -> None:
        """Map the rows that are stored by now and bring the codes up to them."""
        count = self.stored()
        if count <= self.count:
            return
        shape = (count, self._dimensions)
        rows = np.asarray(np.memmap(self.folder / "rows.f16", np.float16, "r", shape=shape))
        ids = np.asarray(np.memmap(self.folder / "ids.i64", np.int64, "r", shape=(count,)))
        fresh = np.concatenate([self.ids[-1:], ids[self.count :]])
        falls = np.flatnonzero(np.diff(fresh) <= 0) + 1 + self.count - len(self.ids[-1:])
        if len(falls) and not ids[falls[0] :].any():  # a power cut can leave zeros
            count = int(falls[0])
            ids, rows = ids[:count], rows[:count]
        elif len(falls) or ids[0] < 0:
            raise IndexDamaged.of("vectors", "the ids of its rows do not increase")
        codes = self._codes
        if codes is None and count > EXACT_ROWS:
            codes = self._encode(rows)
        end = self.count
        while end < count:  # in steps, so that no search waits long
            with self._gate.alone():
                end = count if codes is None else max(codes.count, min(count, end + ENCODE_ROWS))
                if codes is not None:
                    codes.add(rows[codes.count : end])
                self.ids, self._rows, self._codes = ids[:end], rows[:end], codes

    def _encode(self, rows: NDArray[np.float16]) -> Codes:
        """Codes for all rows: the saved ones read back (2 ms for 100k), the others computed."""
        levels = self._levels()
        if levels is None:
            # From the first rows alone. Codes fitted to one narrow cluster of 2,000 still found
            # .998 of 100k, but levels blind to the mean only .86 if the model's cosines are high.
            levels = fit_levels(rows[:: max(1, len(rows) // ENCODE_ROWS)])
        codes = Codes(levels)
        saved = self.folder / codes.file
        if saved.exists() and saved.stat().st_size >= codes.block_bytes:
            blocks = np.memmap(saved, np.uint8, "r")
            number = min(len(blocks) // codes.block_bytes, len(rows) // BLOCK)
            codes.load(np.asarray(blocks), number)
        for start in range(codes.count, len(rows), ENCODE_ROWS):
            codes.add(rows[start : start + ENCODE_ROWS])
        return codes

    def _levels(self) -> NDArray[np.float32] | None:
        """The saved ones."""
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
        """Append the codes of whole blocks to their file. Lost ones cost time, not answers. Only
        for the one that appends."""
        if self._codes is None:
            return
        levels = self.folder / "levels.npy"
        if not levels.exists():
            np.save(levels.with_suffix(".new.npy"), self._codes.levels)
            levels.with_suffix(".new.npy").replace(levels)
        elif not np.array_equal(np.asarray(self._levels()), self._codes.levels):
            return  # made as a reader, before the writer of that time saved its own
        with (self.folder / self._codes.file).open("ab") as file:
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
