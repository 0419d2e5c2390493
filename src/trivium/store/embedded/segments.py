"""One file of words: in which chunks each occurs, how often and at which places.

A file is written once and never changes; several are merged into one by writing another. All arrays
lie end to end and are mapped, not read, so processes share them and a search only touches the lists
of its words. A checksum of every megabyte stands at the end. Knows nothing of who may see what.
"""

from __future__ import annotations

import itertools
import json
import os
import random
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from trivium.core.errors import IndexDamaged
from trivium.store.ranking import MOST_COUNTED
from trivium.text.normalise import words
from trivium.text.stems import stem

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from trivium.store.sql.rows import IndexedChunk

FIELDS = ("spellings", "stems")
_CHECKED = 1 << 20  # bytes of one checksum
_AT_ONCE = 1 << 23  # entries merged at a time: 64 MB
_LAST_PLACE = 2**16 - 1  # places beyond count as this one
_TAIL = 22  # bytes after the description: its checksum and length
_ALIGNED = 8


@dataclass(frozen=True)
class Column:
    """The words of one field, sorted. Word i is in the entries `bounds[i]` to `bounds[i + 1]`, and
    its places in `place_bounds[i]` to `place_bounds[i + 1]`, entry by entry."""

    text: Any  # the words in UTF-8, a line each
    bounds: NDArray[np.int64]
    ids: NDArray[np.int32]  # chunks, rising within a word
    counts: NDArray[np.uint8]
    place_bounds: NDArray[np.int64]
    places: NDArray[np.uint16]

    @cached_property
    def words(self) -> list[str]:
        return bytes(self.text).decode().split("\n") if len(self.text) else []

    @cached_property
    def rows(self) -> dict[str, int]:
        return {word: row for row, word in enumerate(self.words)}

    @cached_property
    def together(self) -> dict[tuple[int, ...], NDArray[np.int32]]:
        """By words: the chunks that have them all, as far as somebody has asked."""
        return {}

    def size(self, row: int) -> int:
        """How many chunks have this word."""
        return int(self.bounds[row + 1] - self.bounds[row])


@dataclass(frozen=True)
class Segment:
    """Some chunks and their words, in memory or in a file."""

    chunks: NDArray[np.int32]  # ids, rising
    lengths: NDArray[np.int32]  # how many words each has
    columns: dict[str, Column]
    path: Path | None = None


# --- from texts


class _Numbers(dict[str, int]):
    """Words of one language by number, counted on over all of them."""

    def __init__(self, first: Iterator[int]) -> None:
        super().__init__()
        self._next = first

    def __missing__(self, word: str) -> int:
        self[word] = number = next(self._next)
        return number


def gather(chunks: Sequence[IndexedChunk]) -> Segment:
    """The words of chunks whose ids rise."""
    first = itertools.count()
    numbers_of = {language: _Numbers(first) for language in {chunk.language for chunk in chunks}}
    tokens = [
        list(map(numbers_of[chunk.language].__getitem__, words(chunk.text))) for chunk in chunks
    ]
    lengths = np.array([len(met) for met in tokens], dtype=np.int32)
    ids = np.array([chunk.id for chunk in chunks], dtype=np.int32)
    every = np.fromiter(itertools.chain.from_iterable(tokens), np.int64, int(lengths.sum()))
    owners = np.repeat(ids, lengths)
    starts = np.cumsum(lengths, dtype=np.int64) - lengths
    places = np.arange(len(every)) - np.repeat(starts, lengths)
    named = {field: [""] * sum(map(len, numbers_of.values())) for field in FIELDS}
    for language, numbers in numbers_of.items():
        spelled = list(numbers)
        for field, forms in zip(FIELDS, (spelled, stem(spelled, language)), strict=True):
            for number, form in zip(numbers.values(), forms, strict=True):
                named[field][number] = form
    columns = {field: _inverted(named[field], every, owners, places) for field in FIELDS}
    return Segment(ids, lengths, columns)


def _inverted(
    named: list[str],
    tokens: NDArray[np.int64],
    owners: NDArray[np.int32],
    places: NDArray[np.int64],
) -> Column:
    """`named`: by number of a token, what it is in this field."""
    names = sorted(set(named))
    rows = {name: row for row, name in enumerate(names)}
    terms = np.array([rows[name] for name in named], dtype=np.int64).take(tokens)
    # Sorted with their order below them, so that chunks and places stay in order: `argsort` takes
    # six times as long.
    terms = np.sort((terms << 32) | np.arange(len(terms)))
    order = terms & (2**32 - 1)
    terms, owners, places = terms >> 32, owners.take(order), places.take(order)
    first = np.ones(len(terms), dtype=bool)  # an entry is a word in a chunk
    first[1:] = (terms[1:] != terms[:-1]) | (owners[1:] != owners[:-1])
    starts = np.flatnonzero(first)
    counts = np.diff(np.append(starts, len(terms)))
    if counts.max(initial=0) > MOST_COUNTED:
        counted = np.arange(len(terms)) - np.repeat(starts, counts) < MOST_COUNTED
        places, counts = places[counted], np.minimum(counts, MOST_COUNTED)
    bounds = np.searchsorted(terms[starts], np.arange(len(names) + 1))
    ends = np.append(0, np.cumsum(counts))
    return Column(
        "\n".join(names).encode(),
        bounds,
        owners[starts],
        counts.astype(np.uint8),
        ends[bounds],
        np.minimum(places, _LAST_PLACE).astype(np.uint16),
    )


# --- files


def read(path: Path) -> Segment:
    """Maps a file. Raises IndexDamaged if it doesn't describe itself."""
    with path.open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        if size < _TAIL:
            raise _damaged(path)
        mapped = mmap(file.fileno(), 0, access=ACCESS_READ)
    arrays = {
        name: np.frombuffer(mapped, kind, count, start)
        for name, (kind, start, count) in _described(mapped, path)["arrays"].items()
    }
    columns = {
        field: Column(
            **{
                name.removeprefix(f"{field}."): array
                for name, array in arrays.items()
                if name.startswith(f"{field}.")
            }
        )
        for field in FIELDS
    }
    return Segment(arrays["chunks"], arrays["lengths"], columns, path)


def check(path: Path, most: int | None = None) -> None:
    """Compare a file with its checksums: all of it, or up to `most` bytes chosen at random."""
    with path.open("rb") as file:
        described = _described(_end_of(file), path)
        sums = described["sums"]
        blocks = list(range(len(sums)))
        if most is not None and most < len(sums) * _CHECKED:
            blocks = random.sample(blocks, max(1, most // _CHECKED))
        for block in blocks:
            file.seek(block * _CHECKED)
            size = min(_CHECKED, described["size"] - block * _CHECKED)
            if zlib.crc32(file.read(size)) != sums[block]:
                raise _damaged(path)


def _end_of(file: Any) -> bytes:
    """Enough of a file to read its description."""
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - _TAIL))
    tail = file.read()
    length = int(tail[9:]) if tail[9:].strip().isdigit() else 0
    file.seek(max(0, size - _TAIL - length))
    return bytes(file.read())


def _described(data: Any, path: Path) -> dict[str, Any]:
    tail = bytes(data[-_TAIL:])
    length = int(tail[9:]) if tail[9:].strip().isdigit() else 0
    text = bytes(data[-_TAIL - length : -_TAIL]) if length else b""
    if f"{zlib.crc32(text):08x}".encode() != tail[:8]:
        raise _damaged(path)
    described: dict[str, Any] = json.loads(text)
    return described


def _damaged(path: Path) -> IndexDamaged:
    return IndexDamaged.of("words", f"{path.name} doesn't match its checksum")


class _File:
    """Arrays of known sizes, written piece by piece into a file that its caller closes."""

    def __init__(self, file: BinaryIO, sizes: dict[str, tuple[str, int]]) -> None:
        self._file = file
        self._arrays: dict[str, tuple[str, int, int]] = {}
        self._at: dict[str, int] = {}
        self._size = 0
        for name, (kind, count) in sizes.items():
            self._arrays[name] = (kind, self._size, count)
            self._at[name] = self._size
            used = np.dtype(kind).itemsize * count
            self._size += used + -used % _ALIGNED

    def put(self, name: str, array: Any) -> None:
        """After what was put into this array before."""
        data = np.ascontiguousarray(array, dtype=self._arrays[name][0])
        self._file.seek(self._at[name])
        self._file.write(data.data)
        self._at[name] += data.nbytes

    def finish(self) -> None:
        """On disk when it returns."""
        file = self._file
        file.truncate(self._size)
        file.seek(0)
        sums = [zlib.crc32(file.read(_CHECKED)) for _ in range(-(-self._size // _CHECKED))]
        fields = {"arrays": self._arrays, "size": self._size, "sums": sums}
        told_bytes = json.dumps(fields).encode()
        file.seek(self._size)
        file.write(told_bytes + b"%08x %12d\n" % (zlib.crc32(told_bytes), len(told_bytes)))
        file.flush()
        os.fsync(file.fileno())


def write(path: Path, segments: Sequence[Segment]) -> Segment:
    """All of these in one file, in memory for 64 MB at a time. Their chunks' ids rise from one to
    the next."""
    unions = {field: _Union([s.columns[field] for s in segments]) for field in FIELDS}
    chunks = sum(len(segment.chunks) for segment in segments)
    sizes = {"chunks": ("<i4", chunks), "lengths": ("<i4", chunks)}
    for field, union in unions.items():
        sizes |= {f"{field}.{name}": size for name, size in union.sizes.items()}
    with path.open("w+b") as opened:
        file = _File(opened, sizes)
        for segment in segments:
            file.put("chunks", segment.chunks)
            file.put("lengths", segment.lengths)
        for field, union in unions.items():
            for name, array in union.arrays():
                file.put(f"{field}.{name}", array)
        file.finish()
    return read(path)


class _Union:
    """Several columns as one."""

    def __init__(self, columns: Sequence[Column]) -> None:
        self._columns = columns
        if len(columns) == 1:
            self._text = columns[0].text
            count = len(columns[0].bounds) - 1
            self._numbers = [np.arange(count)]
        else:
            names = sorted(set().union(*(column.words for column in columns)))
            count = len(names)
            rows = {name: row for row, name in enumerate(names)}
            self._text = "\n".join(names).encode()
            self._numbers = [
                np.array([rows[name] for name in column.words], dtype=np.int64)
                for column in columns
            ]
        self._bounds = self._joined([column.bounds for column in columns], count)
        self._place_bounds = self._joined([column.place_bounds for column in columns], count)

    @property
    def sizes(self) -> dict[str, tuple[str, int]]:
        entries, places = int(self._bounds[-1]), int(self._place_bounds[-1])
        return {
            "text": ("u1", len(self._text)),
            "bounds": ("<i8", len(self._bounds)),
            "ids": ("<i4", entries),
            "counts": ("u1", entries),
            "place_bounds": ("<i8", len(self._place_bounds)),
            "places": ("<u2", places),
        }

    def arrays(self) -> Iterator[tuple[str, NDArray[Any]]]:
        yield "text", np.frombuffer(self._text, np.uint8)
        yield "bounds", self._bounds
        yield "place_bounds", self._place_bounds
        bounds = [column.bounds for column in self._columns]
        for name in ("ids", "counts"):
            yield from self._pieces(name, self._bounds, bounds)
        bounds = [column.place_bounds for column in self._columns]
        yield from self._pieces("places", self._place_bounds, bounds)

    def _joined(self, bounds: Iterable[NDArray[np.int64]], count: int) -> NDArray[np.int64]:
        sizes = np.zeros(count + 1, dtype=np.int64)
        for numbers, its in zip(self._numbers, bounds, strict=True):
            sizes[numbers + 1] += np.diff(its)
        return np.cumsum(sizes)

    def _pieces(
        self, name: str, whole: NDArray[np.int64], bounds: Sequence[NDArray[np.int64]]
    ) -> Iterator[tuple[str, NDArray[Any]]]:
        """One array, a run of words at a time."""
        first, count = 0, len(whole) - 1
        while first < count:
            last = int(np.searchsorted(whole, whole[first] + _AT_ONCE, side="right")) - 1
            last = max(first + 1, last)
            filled = whole[first:last] - whole[first]
            parts = [getattr(column, name) for column in self._columns]
            piece = np.empty(int(whole[last] - whole[first]), dtype=parts[0].dtype)
            for numbers, its, part in zip(self._numbers, bounds, parts, strict=True):
                low, high = np.searchsorted(numbers, (first, last))
                rows, starts = numbers[low:high] - first, its[low : high + 1]
                sizes, source = np.diff(starts), part[starts[0] : starts[-1]]
                shift = np.repeat(filled[rows] - (starts[:-1] - starts[0]), sizes)
                piece[np.arange(len(source)) + shift] = source
                filled[rows] += sizes
            yield name, piece
            first = last
