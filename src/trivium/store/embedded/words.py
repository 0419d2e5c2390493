"""The words of a folder's chunks: a few files of `segments`, and a list that says which.

    words/list.json     the files that count now, in the order of their chunks' ids
    words/*.words       one file each

Whoever adds chunks writes another file and then replaces the list; so a reader sees all of a change
or nothing. Small files are merged into the next one. Removed chunks stay in the files until
everything is rebuilt: searches mask them. Derived from the registry, so the folder can be deleted
at any time. `trivium.text` folds and stems words, so that every store counts the same ones.
"""

from __future__ import annotations

import json
import os
import threading
import uuid
import zlib
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from trivium.core.errors import IndexDamaged
from trivium.core.types import ChunkId
from trivium.store.embedded import segments
from trivium.store.embedded.database import guarded
from trivium.store.embedded.segments import Column, Segment
from trivium.store.ranking import Counts, Ids, below
from trivium.store.sql.feed import Allowed
from trivium.text.keywords import Run
from trivium.text.trigrams import Vocabulary

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from trivium.store.sql.rows import IndexedChunk

_LIST = "list.json"
_ENDING = ".words"
_COLLECTED = 20_000  # chunks collected in memory before they become a file
# A file is merged with the chunks that come after it once those are a third of it: a library of
# 100,000 chunks has about four files, and each chunk is written about seven times (.1 ms in all).
_MERGED = 3
_REMEMBERED = 8_000_000  # chunks of runs, and of rare words in several files, that a view keeps
_TOGETHER = 100  # pairs and more of words whose common chunks are kept
# Longer lists are joined each time: as fast as reading what was kept, and in large libraries the
# kept ones pushed each other out.
_COPIED = 5_000
_LOOKS = 50  # at the list, while another process replaces files
_NO_IDS: Ids = np.empty(0, dtype=np.int32)
_NO_COUNTS: Counts = np.empty(0, dtype=np.uint8)


@dataclass(frozen=True, slots=True)
class _Listed:
    """What the list says."""

    anew: str = ""  # changes whenever everything was rebuilt
    files: tuple[str, ...] = ()
    gone: tuple[tuple[ChunkId, int], ...] = ()  # removed since: first chunk and how many

    @classmethod
    def read(cls, folder: Path) -> _Listed:
        try:
            text, sum_ = (folder / _LIST).read_bytes().rsplit(b"\n", 1)
            if f"{zlib.crc32(text):08x}".encode() != sum_:
                raise IndexDamaged.of("words", f"{_LIST} doesn't match its checksum")
        except FileNotFoundError:
            return cls()
        fields = json.loads(text)
        gone = tuple((first, count) for first, count in fields["gone"])
        return cls(fields["anew"], tuple(fields["files"]), gone)

    def write(self, folder: Path) -> None:
        """Replaces the list at once."""
        fields = {"anew": self.anew, "files": self.files, "gone": self.gone}
        data = json.dumps(fields).encode()
        fresh = folder / f"{_LIST}.new"
        with fresh.open("wb") as file:
            file.write(data + b"\n%08x" % zlib.crc32(data))
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(folder / _LIST)


@guarded("words")
def check(folder: Path, most: int | None = None) -> None:
    """Compare all files with their checksums, or about `most` bytes of them chosen at random.
    Raises IndexDamaged."""
    files = [folder / name for name in _Listed.read(folder).files]
    for path in files:
        with suppress(FileNotFoundError):  # merged away just now; a lost file fails to open
            segments.check(path, None if most is None else most // len(files))


class WordIndex:
    """The files on disk. One process writes, any number hold a `WordView`. Damaged files raise
    IndexDamaged, from every method here and of the view."""

    @guarded("words")
    def __init__(self, folder: Path | None, *, anew: bool = False) -> None:
        """Without a folder: an empty index, in place of a damaged one. `anew`: existing
        files aren't read, and the next commit replaces them."""
        self._folder = folder
        self._turn = threading.Lock()
        self._listed = _Listed()  # what the view shows
        self._open: dict[str, Segment] = {}
        self._view = WordView((), ())
        self._collected: list[IndexedChunk] = []
        self._next: list[Segment] | None = None  # the files after the next commit, if others
        self._anew = ""  # its name, if that commit replaces everything
        self._dropped: list[tuple[ChunkId, int]] = []
        self.vocabulary = Vocabulary()
        if anew:
            self._next, self._anew = [], _name()
        else:
            self.view()

    @guarded("words")
    def view(self) -> WordView:
        """What is committed now; later commits don't change it."""
        if self._folder is None:
            return self._view
        with self._turn:
            for look in range(_LOOKS):
                listed = _Listed.read(self._folder)
                if listed == self._listed:
                    break
                try:
                    self._follow(listed)
                    break
                except FileNotFoundError as lost:
                    if look == _LOOKS - 1 or _Listed.read(self._folder) == listed:
                        raise IndexDamaged.of("words", f"{lost.filename} is missing") from lost
            return self._view

    def _follow(self, listed: _Listed) -> None:
        assert self._folder is not None
        segments_open = self._open
        there = {
            name: segments_open.get(name) or segments.read(self._folder / name)
            for name in listed.files
        }
        if listed.anew != self._listed.anew:
            self.vocabulary = Vocabulary()
        for name, segment in there.items():
            if name not in segments_open or listed.anew != self._listed.anew:
                self.vocabulary.add(segment.columns["spellings"].words)
        self._open, self._listed = there, listed
        self._view = WordView(tuple(there.values()), listed.gone)

    # --- writing

    @guarded("words")
    def add(self, chunks: Sequence[IndexedChunk]) -> None:
        """Found after the next commit. Ids that don't follow those in the files mean that the files
        belong to another state of the database."""
        files = self._view.files if self._next is None else self._next
        last = self._collected[-1].id if self._collected else _last(files)
        if chunks and chunks[0].id <= last:
            raise IndexDamaged.of("words", f"it has passage {last}, which never existed")
        self._collected += chunks
        if len(self._collected) >= _COLLECTED:
            self._write_collected()

    def drop(self, ranges: Iterable[tuple[ChunkId, int]]) -> None:
        self._dropped += ranges

    @guarded("words")
    def commit(self) -> None:
        if self._folder is None:
            return
        self._folder.mkdir(parents=True, exist_ok=True)
        self._write_collected()
        if self._next is not None or self._dropped or not (self._folder / _LIST).exists():
            gone = () if self._anew else self._listed.gone
            files = self._listed.files if self._next is None else _names(self._next)
            anew = self._anew or self._listed.anew
            _Listed(anew, files, (*gone, *self._dropped)).write(self._folder)
            self._next, self._anew, self._dropped = None, "", []
            self.view()
            self.collect_garbage()

    def clear(self) -> None:
        """Forget everything with the next commit, and drop what isn't committed."""
        self.abandon()
        self._next, self._anew = [], _name()

    def abandon(self) -> None:
        """Drop what isn't committed, whatever went wrong before."""
        self._collected, self._dropped, self._next, self._anew = [], [], None, ""
        with suppress(OSError, IndexDamaged):
            self.collect_garbage()

    @guarded("words")
    def collect_garbage(self) -> None:
        """Delete files that the list doesn't name. Views that use them go on."""
        if self._folder is None or not self._folder.is_dir():
            return
        named = {_LIST, *_Listed.read(self._folder).files, *_names(self._next or ())}
        for path in self._folder.iterdir():
            if path.name not in named:
                with suppress(OSError):  # on some systems not while another process reads it
                    path.unlink()

    def _write_collected(self) -> None:
        """The chunks collected so far as a file, merged with those that they are a third of."""
        if not self._collected or self._folder is None:
            return
        self._folder.mkdir(parents=True, exist_ok=True)
        fresh = [segments.gather(self._collected)]
        older = list(self._open.values()) if self._next is None else self._next
        size = len(self._collected)
        while older and len(older[-1].chunks) < _MERGED * size:
            fresh.insert(0, older[-1])
            size += len(older[-1].chunks)
            older = older[:-1]
        written = segments.write(self._folder / f"{_name()}{_ENDING}", fresh)
        self._next, self._collected = [*older, written], []


def _name() -> str:
    return uuid.uuid4().hex[:12]


def _last(files: Sequence[Segment]) -> ChunkId:
    return int(files[-1].chunks[-1]) if files else 0


def _names(files: Iterable[Segment]) -> tuple[str, ...]:
    return tuple(file.path.name for file in files if file.path is not None)


class WordView:
    """The files at one moment. Threads may share it."""

    def __init__(self, files: tuple[Segment, ...], gone: tuple[tuple[ChunkId, int], ...]) -> None:
        self.files = files
        self._gone = gone
        self._remembered: dict[tuple[str, Run], tuple[Ids, Counts]] = {}
        self._size = 0  # entries of these

    @property
    def count(self) -> int:
        return sum(len(file.chunks) for file in self.files)

    def last_chunk(self) -> ChunkId:
        """The highest chunk id that was ever added, 0 if there is none."""
        return _last(self.files)

    def chunk_ids(self) -> NDArray[np.int64]:
        """All that aren't removed, rising: for checks and repairs."""
        ids = np.concatenate([*(file.chunks for file in self.files), _NO_IDS]).astype(np.int64)
        is_there = np.ones(len(ids), dtype=bool)
        for first, count in self._gone:
            low, high = np.searchsorted(ids, (first, first + count))
            is_there[low:high] = False
        return ids[is_there]

    @cached_property
    def _lengths(self) -> Counts:
        lengths = np.zeros(self.last_chunk() + 1, dtype=np.int32)
        for file in self.files:
            lengths[file.chunks] = file.lengths
        return lengths

    def lengths(self) -> Counts:
        """How many words every chunk has, by its id."""
        return self._lengths

    def of(self, field: str, run: Run) -> tuple[Ids, Counts]:
        """The chunks that hold a run, rising, and how often each does. Removed ones too."""
        remembered = self._remembered.get((field, run))
        if remembered is not None:
            return remembered
        parts = []
        for file in self.files:
            part = _holders(file.columns[field], run)
            if part is not None:
                parts.append(part)
        if not parts:
            return _NO_IDS, _NO_COUNTS
        if len(parts) == 1 and len(run) == 1:  # of one file, as of most words
            return parts[0]
        ids, counts = zip(*parts, strict=True)
        remembered = np.concatenate(ids), np.concatenate(counts)
        if len(run) == 1 and len(remembered[0]) > _COPIED:
            return remembered
        if self._size > _REMEMBERED:
            self._remembered, self._size = {}, 0
        self._remembered[field, run] = remembered
        self._size += len(remembered[0])
        return remembered

    def held(self, words: Sequence[str], seen: Allowed) -> set[str]:
        """The words that occur in a visible chunk."""
        present: set[str] = set()
        for file in self.files:
            column = file.columns["spellings"]
            listed = [word for word in words if word not in present and word in column.rows]
            if not listed:
                continue
            rows = [column.rows[word] for word in listed]
            first = column.ids.take(column.bounds.take(rows))  # one that is seen, mostly
            is_seen = seen.chunks.take(first, mode="clip") & (first < len(seen.chunks))
            for word, row, at_once in zip(listed, rows, is_seen.tolist(), strict=True):
                if at_once or _is_seen(_listed(column, row)[0], seen.chunks):
                    present.add(word)
        return present

    def frequency(self, word: str) -> int:
        """About how many chunks have this spelling."""
        return len(self.of("spellings", (word,))[0])


def _is_seen(ids: Ids, seen: NDArray[np.bool_]) -> bool:
    return bool(seen.take(below(ids, len(seen))).any())


def _holders(column: Column, run: Run) -> tuple[Ids, Counts] | None:
    rows = [row for word in run if (row := column.rows.get(word)) is not None]
    if len(rows) < len(run):
        return None
    return _listed(column, rows[0]) if len(run) == 1 else _side_by_side(column, rows)


def _listed(column: Column, row: int) -> tuple[Ids, Counts]:
    within = slice(column.bounds[row], column.bounds[row + 1])
    return column.ids[within], column.counts[within]


def _side_by_side(column: Column, rows: Sequence[int]) -> tuple[Ids, Counts]:
    """The chunks in which words follow each other, and how often."""
    rarest_first = sorted(range(len(rows)), key=lambda offset: column.size(rows[offset]))
    both = _together(column, tuple(rows[offset] for offset in rarest_first))
    starts: NDArray[np.int64] | None = None  # where a run may start: chunk and place
    for offset in rarest_first:
        if not len(both) or (starts is not None and not len(starts)):  # mostly, of a day's forms
            return _NO_IDS, _NO_COUNTS
        ids, counts = _listed(column, rows[offset])
        at = ids.searchsorted(both)
        sizes = counts.take(at).astype(np.int64)
        ends = _ends(column.place_bounds[rows[offset]], counts, at)
        shift = np.repeat(ends - np.cumsum(sizes), sizes)
        places = column.places.take(np.arange(len(shift)) + shift).astype(np.int64)
        here = (np.repeat(both.astype(np.int64), sizes) << 16) + places - offset
        starts = here if starts is None else np.intersect1d(starts, here, assume_unique=True)
    assert starts is not None
    chunks, times = np.unique(starts >> 16, return_counts=True)
    return chunks.astype(np.int32), times.astype(np.uint8)


def _together(column: Column, rows: tuple[int, ...]) -> Ids:
    """The chunks that have all of these words, the rarest first. Kept, because a query for a day
    asks for dozens of runs of the same few words."""
    if len(rows) == 1:
        return _listed(column, rows[0])[0]
    there = column.together.get(rows)
    if there is None:
        some, ids = _together(column, rows[:-1]), _listed(column, rows[-1])[0]
        at = ids.searchsorted(some)
        at[at == len(ids)] = 0
        there = some[ids.take(at) == some]
        if len(column.together) >= _TOGETHER:
            column.together.clear()
        column.together[rows] = there
    return there


def _ends(first: np.int64, counts: Counts, at: NDArray[np.int64]) -> NDArray[np.int64]:
    """Where the places of these entries end, of a word whose places begin at `first`. Sums between
    entries only: as many as there are, of 600,000, take a seventh of the time."""
    between = np.add.reduceat(counts, at, dtype=np.int64)  # from each entry to the next
    before = first + counts[: at[0]].sum(dtype=np.int64)
    ends: NDArray[np.int64] = before + np.cumsum(between) - between + counts.take(at)
    return ends
