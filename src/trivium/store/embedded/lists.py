"""The same codes in lists of rows that are near each other: a search reads the nearest lists only.

For libraries with a million rows and more; `vectors` has the figures. The file is mapped, so
processes share it, and opening it reads almost nothing. It holds the first rows of a generation and
never changes. Knows no ids, and nothing of the rows added after it was written.

    eight numbers               magic, width, number of lists and rows, a checksum
    levels, centroids, lengths, sizes    float32, float32, float32, int64
    list of each row            uint16, by position
    then for each list          its codes in faiss's layout, and the positions of its rows
"""

from __future__ import annotations

import math
import os
import zlib
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from trivium.core.errors import IndexDamaged
from trivium.store.embedded.codes import (
    BLOCK,
    Codes,
    block_bytes,
    floats,
    load_faiss,
    make_index,
    widen,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from trivium.core.types import Vector

PER_ROOT = 6  # lists = 6 × the square root of the number of rows: 6,000 for a million
MOST_LISTS = 16_384  # from 7.5 million rows on; reading a list costs 2.5 µs beside its rows
SAMPLED = 20  # rows per list to fit centroids to
ROUNDS = 6  # of fitting
NEAR_GROUPS = 4  # groups of centroids to look in for a row's list
GROWN = 4  # with four times the rows that centroids were fitted to, fit them again
BATCH = 16_384  # rows put into lists at a time
# A search reads this share of all rows, and at least 100 × the square root of the number of passing
# ones. Of 43,000 real vectors, .99 of the ten nearest to real queries are in the first .25 to .4 of
# all rows, depending on the number of lists; of those nearest to a passage, in the first .05. With
# more rows a smaller share is enough.
SEEN, LEAST_SEEN = 0.3, 100
SPREAD = 0.2  # bonus for lists whose rows are spread out: saves a fifth of the rows to read
KEPT_BYTES = 16 << 20  # of the rows that pass a filter: 10,000 of 384 dimensions
_MAGIC = 0x5453494C_31495254
_NUMBERS = 8


class Filter:
    """Which rows a search may find, with cached counts, positions and bits."""

    def __init__(self, allowed: NDArray[np.bool_], count: int) -> None:
        """Rows past the end of `allowed` can't be found. `count`: rows in the index."""
        self.given, self.rows = allowed, count
        self.mask = allowed[:count]
        self.passing = int(np.count_nonzero(self.mask))
        self._was_used = False
        self._near: NDArray[np.float32] | None = None
        self._bits_by_count: dict[int, tuple[NDArray[np.uint8], NDArray[np.int64]]] = {}

    @cached_property
    def positions(self) -> NDArray[np.int64]:
        return np.flatnonzero(self.mask)

    def near(self, rows: NDArray[np.float16]) -> NDArray[np.float32] | None:
        """The passing rows as numbers to multiply, if they aren't large and the filter is used
        again: 10,000 in 1.2 ms instead of 4.4."""
        if self._near is None and 4 * self.passing * rows.shape[1] <= KEPT_BYTES:
            if self._was_used:
                self._near = floats(rows.take(self.positions, axis=0))
            self._was_used = True
        return self._near

    def bits_from(self, start: int) -> NDArray[np.uint8]:
        """The bits of the rows from `start` on."""
        return np.packbits(self.mask[start:], bitorder="little")

    def in_lists(self, lists: Lists) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
        """The bits of the rows in these lists, and how many rows of each list pass."""
        if lists.count not in self._bits_by_count:
            mask = self.mask[: lists.count]
            passing = np.bincount(lists.list_of[np.flatnonzero(mask)], minlength=lists.number)
            self._bits_by_count[lists.count] = np.packbits(mask, bitorder="little"), passing
        return self._bits_by_count[lists.count]


@dataclass(frozen=True, slots=True)
class _Tables:
    """What a file holds besides codes and positions."""

    levels: NDArray[np.float32]
    centroids: NDArray[np.float32]  # directions
    lengths: NDArray[np.float32]  # mean cosine of a list's rows with its direction
    sizes: NDArray[np.int64]
    fitted: int  # number of rows when the centroids were fitted

    @property
    def checksum(self) -> int:
        return zlib.crc32(b"".join(part.tobytes() for part in self.parts))

    @property
    def parts(self) -> tuple[NDArray[Any], ...]:
        """In the order of the file."""
        return self.levels, self.centroids, self.lengths, self.sizes

    @property
    def end(self) -> int:
        """Where they end in the file."""
        return 8 * _NUMBERS + sum(part.nbytes for part in self.parts)

    @property
    def capacities(self) -> NDArray[np.int64]:
        """How many rows each list has room for: whole blocks."""
        return -(-self.sizes // BLOCK) * BLOCK

    def offsets(self) -> NDArray[np.int64]:
        """Where each list begins, and where the last one ends."""
        first = -(-(self.end + 2 * int(self.sizes.sum())) // 64) * 64
        row = block_bytes(self.levels) // BLOCK + 8
        ends: NDArray[np.int64] = first + np.cumsum(self.capacities * row)
        return np.concatenate([[first], ends]).astype(np.int64)


class Lists:
    """The first `count` rows of a generation. Threads may share it."""

    def __init__(self, path: Path) -> None:
        """Raises IndexDamaged."""
        self._faiss = load_faiss()
        data = np.memmap(path, np.uint8, "r")
        self.tables = tables = _read(data)
        self.count, self.number = int(tables.sizes.sum()), len(tables.sizes)
        offsets = tables.offsets()
        of_rows = data[tables.end : tables.end + 2 * self.count]
        self.list_of = np.asarray(of_rows).view(np.uint16)
        self._spreads = SPREAD * np.sqrt(np.maximum(0, 1 - tables.lengths**2))
        unused = self._faiss.IndexFlatIP(len(tables.levels))  # we choose the lists ourselves
        self._index = make_index(tables.levels, unused, self.number)
        mapped = self._faiss.OnDiskInvertedLists()
        mapped.nlist, mapped.code_size = self.number, block_bytes(tables.levels) // BLOCK
        mapped.filename, mapped.totsize, mapped.read_only = str(path), len(data), True
        entry = self._faiss.OnDiskOneList()
        places = (tables.sizes, tables.capacities, offsets[:-1])
        for entry.size, entry.capacity, entry.offset in zip(
            *(place.tolist() for place in places), strict=True
        ):
            mapped.lists.push_back(entry)
        mapped.do_mmap()
        self._index.replace_invlists(mapped, True)
        mapped.this.disown()

    @staticmethod
    def name(rows: int) -> str:
        """The name of the file with this many rows."""
        return f"lists-{load_faiss().__version__}-{rows}"

    @property
    def levels(self) -> NDArray[np.float32]:
        return self.tables.levels

    def scan(
        self, vector: Vector, number: int, passing: Filter | None
    ) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """Positions and rough scores of the rows that seem nearest.

        Skips lists without a passing row and reads the nearest of the others, until they hold
        SEEN of all rows. So if a filter leaves few lists, all of them are read. With a share of the
        *passing* rows instead, a search within one cluster of 4M found only .942.
        """
        bits, sizes = (None, self.tables.sizes) if passing is None else passing.in_lists(self)
        query = widen(vector[None])
        towards = np.vecdot(self.tables.centroids, query[0])  # unlike a matrix product: no threads
        near = np.argsort(-(towards * self.tables.lengths + self._spreads))
        near = near[sizes[near] > 0]
        ends = np.cumsum(sizes[near])
        if not len(ends):
            return np.empty(0, np.int64), np.empty(0, np.float32)
        read = np.cumsum(self.tables.sizes[near])
        share = np.searchsorted(read, SEEN * self.count)
        enough = int(max(share, np.searchsorted(ends, LEAST_SEEN * math.sqrt(ends[-1])))) + 1
        probed = np.ascontiguousarray(near[:enough], np.int64)
        # faiss's Python wrapper takes chosen lists or a selector, not both.
        pointer = self._faiss.swig_ptr
        selector = None if bits is None else self._faiss.IDSelectorBitmap(bits)
        options = self._faiss.SearchParametersIVF(sel=selector, nprobe=len(probed))
        unused = np.zeros(len(probed), np.float32)
        scores, positions = np.empty(number, np.float32), np.empty(number, np.int64)
        arrays = (probed, unused, scores, positions)
        self._index.search_preassigned_c(
            1, pointer(query), number, *map(pointer, arrays), False, options
        )
        there = positions >= 0
        return positions[there], scores[there]

    def check(self, rows: NDArray[np.float16]) -> None:
        """Compute every code again and compare. Raises IndexDamaged."""
        seen = np.zeros(self.count, bool)
        for number in range(self.number):
            positions, blocks = self._list(number)
            codes = Codes(self.levels)
            codes.add(rows[positions])
            seen[positions] = True
            if (self.list_of[positions] != number).any() or not np.array_equal(
                codes.blocks(0, -(-len(positions) // BLOCK)), blocks
            ):
                raise IndexDamaged.of("vectors", "its lists don't match its rows")
        if not seen.all():
            raise IndexDamaged.of("vectors", "a row is in no list")

    def _list(self, number: int) -> tuple[NDArray[np.int64], NDArray[np.uint8]]:
        return _list_of(self._faiss, self._index.invlists, number, block_bytes(self.levels))

    def fits(self, rows: int) -> bool:
        """Whether the centroids still suit this many rows."""
        return rows < GROWN * self.tables.fitted

    def load_into(self, index: Any) -> None:
        """Copy every list."""
        pointer = self._faiss.swig_ptr
        for number in range(self.number):
            positions, blocks = self._list(number)
            if len(positions):
                index.invlists.add_entries(
                    number, len(positions), pointer(positions), pointer(blocks)
                )
        index.ntotal = self.count


def write(
    folder: Path, rows: NDArray[np.float16], levels: NDArray[np.float32], before: Lists | None
) -> Path:
    """Put these rows into lists: only those that `before` lacks, or all of them if it is time to
    fit the centroids again. The file appears whole or not at all."""
    if before is not None and before.fits(len(rows)):
        tables = before.tables
        index = make_index(tables.levels, _finder(tables.centroids), before.number)
        before.load_into(index)
    else:
        tables = _fit(rows, levels)
        index = make_index(levels, _finder(tables.centroids), len(tables.centroids))
    for start in range(index.ntotal, len(rows), BATCH):
        some = widen(rows[start : start + BATCH])
        index.add_with_ids(some, np.arange(start, start + len(some)))
    sizes = [index.invlists.list_size(number) for number in range(index.nlist)]
    tables = replace(tables, sizes=np.array(sizes, np.int64))
    path = folder / Lists.name(len(rows))
    aside = folder / "lists.new"
    with aside.open("wb") as file:
        _write(file, index, tables)
        file.flush()
        os.fsync(file.fileno())
    aside.replace(path)
    return path


def _fit(rows: NDArray[np.float16], levels: NDArray[np.float32]) -> _Tables:
    """Fit the centroids, in two steps: groups, then the lists of each group. Fitting all lists at
    once takes seven times as long for 840 lists and finds .001 more."""
    number = max(1, min(MOST_LISTS, int(PER_ROOT * np.sqrt(len(rows)))))
    sample = widen(rows[:: max(1, len(rows) // (SAMPLED * number))])
    groups = _means(sample, _groups(number))
    nearest = np.argmax(sample @ groups.T, axis=1)
    parts = []
    for group in range(len(groups)):
        members = sample[nearest == group]
        if len(members):
            share = max(1, round(number * len(members) / len(sample)))
            parts.append(_means(members, min(share, len(members))))
    centroids = np.concatenate(parts)
    along, lists = _finder(centroids).search(sample, 1)
    members = np.bincount(lists[:, 0], minlength=len(centroids))
    sums = np.bincount(lists[:, 0], along[:, 0], minlength=len(centroids))
    lengths = np.where(members > 0, sums / np.maximum(members, 1), along.mean())
    return _Tables(
        levels, centroids, lengths.astype(np.float32), np.zeros(len(centroids), np.int64), len(rows)
    )


def _groups(number: int) -> int:
    return max(1, round(math.sqrt(number)))


def _means(sample: NDArray[np.float32], number: int) -> NDArray[np.float32]:
    means = load_faiss().Kmeans(
        sample.shape[1],
        number,
        niter=ROUNDS,
        spherical=True,
        min_points_per_centroid=1,
        max_points_per_centroid=len(sample),
    )
    means.train(sample)
    array: NDArray[np.float32] = np.array(means.centroids, np.float32)
    return array


def _finder(centroids: NDArray[np.float32]) -> Any:
    """Finds a row's list among the nearest groups of centroids only: 20 µs with 4,000 lists instead
    of 100 µs, with the same recall."""
    faiss = load_faiss()
    wide, number = centroids.shape[1], _groups(len(centroids))
    groups = faiss.IndexFlatIP(wide)
    finder = faiss.IndexIVFFlat(groups, wide, number, faiss.METRIC_INNER_PRODUCT)
    groups.this.disown()
    finder.own_fields, finder.nprobe, finder.cp.min_points_per_centroid = True, NEAR_GROUPS, 1
    finder.train(centroids)
    finder.add(centroids)
    return finder


def _write(file: Any, index: Any, tables: _Tables) -> None:
    faiss, size = load_faiss(), block_bytes(tables.levels)
    list_of = np.empty(int(tables.sizes.sum()), np.uint16)
    for number in range(len(tables.sizes)):
        list_of[_list_of(faiss, index.invlists, number, size)[0]] = number
    numbers = np.zeros(_NUMBERS, np.int64)
    numbers[:6] = (
        *(_MAGIC, len(tables.levels), len(tables.sizes), len(list_of)),
        *(tables.fitted, tables.checksum),
    )
    for part in (numbers, *tables.parts, list_of):
        file.write(np.ascontiguousarray(part).data)
    for number, (at, room) in enumerate(
        zip(tables.offsets().tolist(), tables.capacities.tolist(), strict=False)
    ):
        file.seek(at)
        positions, blocks = _list_of(faiss, index.invlists, number, size)
        file.write(blocks.data)
        file.write(np.pad(positions, (0, room - len(positions))).data)
    file.truncate(int(tables.offsets()[-1]))


def _read(data: NDArray[np.uint8]) -> _Tables:
    numbers = np.asarray(data[: 8 * _NUMBERS]).view(np.int64).tolist()
    if len(numbers) < _NUMBERS or numbers[0] != _MAGIC:
        raise IndexDamaged.of("vectors", "the header of its lists is wrong")
    _, wide, number, rows, fitted, checksum, *_ = numbers
    bytes_ = (8 * _NUMBERS, 16 * wide, 4 * wide * number, 4 * number, 8 * number)
    ends = np.cumsum(bytes_).tolist()
    if min(wide, number, rows) < 1 or ends[-1] > len(data):
        raise IndexDamaged.of("vectors", "its lists are cut off")
    parts = [np.array(data[a:b]) for a, b in pairwise(ends)]
    tables = _Tables(
        parts[0].view(np.float32).reshape(wide, 4),
        parts[1].view(np.float32).reshape(number, wide),
        parts[2].view(np.float32),
        parts[3].view(np.int64),
        fitted,
    )
    sound = tables.checksum == checksum and int(tables.sizes.sum()) == rows
    if not sound or int(tables.offsets()[-1]) != len(data):
        raise IndexDamaged.of("vectors", "its lists don't match their checksum")
    return tables


def _list_of(
    faiss: Any, lists: Any, number: int, size: int
) -> tuple[NDArray[np.int64], NDArray[np.uint8]]:
    """The positions in a list and its codes, as faiss holds them."""
    rows = lists.list_size(number)
    if not rows:
        return np.empty(0, np.int64), np.empty(0, np.uint8)
    positions = faiss.rev_swig_ptr(lists.get_ids(number), rows)
    blocks = faiss.rev_swig_ptr(lists.get_codes(number), -(-rows // BLOCK) * size)
    return np.asarray(positions), np.asarray(blocks)
