"""The derived indexes of a library, as one thing: words and vectors.

All can be rebuilt from the registry at any time. An index knows from its highest chunk id what it
lacks, since ids rise and are never used again. Knows nothing of who may see what.
"""

from __future__ import annotations

import hashlib
import logging
import random
import shutil
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from trivium.core.errors import IndexDamaged
from trivium.core.types import ChunkId
from trivium.store.embedded.database import guarded
from trivium.store.embedded.generation import Generation
from trivium.store.embedded.vectors import VectorIndex
from trivium.store.embedded.words import WordIndex, WordView, check
from trivium.store.sql.feed import Feed
from trivium.store.sql.rows import IndexedChunk
from trivium.store.sql.statements import slices
from trivium.text.trigrams import Vocabulary

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from trivium.core.types import Vectors

T = TypeVar("T")
WORDS, VECTORS = "words", "vectors"
_BATCH = 2000  # chunks read from the registry at a time
_ROWS = 500  # vectors compared with the database on opening: 10 ms for 4,000
_SAMPLE = 16 << 20  # bytes of words checked on opening: 8 ms
# Share of words that belong to removed chunks at which they are rebuilt, and how many chunks that
# must be: rebuilding takes .3 ms a chunk.
_DEAD, _MANY = 0.5, 5_000
_OLD = ("vocabulary.txt", "vocabulary.new", "words.new", "words.old")  # of earlier releases
log = logging.getLogger("trivium.store")


@dataclass(frozen=True, slots=True)
class IndexView:
    """What a search reads. It doesn't change, whatever a writer does meanwhile."""

    words: WordView
    model: str  # whose vectors these are
    vectors: Generation | None
    damaged: Mapping[str, IndexDamaged]  # by part: what is empty here, until a writer rebuilds it


class Indexes:
    """Whatever is written here is found after the next `view`."""

    def __init__(self, folder: Path, feed: Feed) -> None:
        """Damage doesn't keep a library from opening: a damaged part is empty, and listed in
        `damaged`, until a writer has rebuilt it."""
        self._folder = folder
        self._feed = feed
        self._writing = False
        self._opening = threading.Lock()
        self._model = ""
        self.damaged: dict[str, IndexDamaged] = {}
        self.rebuilt: Counter[str] = Counter()  # by part: how often damage led to it
        self.vectors: VectorIndex | None = None  # until there is a first vector
        self._words = WordIndex(None)
        try:
            check(folder / WORDS, _SAMPLE)
            self._words = WordIndex(folder / WORDS)
            self._check_mark(WORDS)
        except IndexDamaged as damage:
            self.distrust(damage)
        try:
            self._open_vectors()
            self._check_mark(VECTORS)
            self._check_rows(_ROWS)
        except IndexDamaged as damage:
            self.distrust(damage)

    # --- damage

    def check(self) -> None:
        """Compare every byte of every index with its checksum or with the database. Raises
        IndexDamaged."""
        check(self._folder / WORDS)
        for part in (WORDS, VECTORS):
            self._check_mark(part)
        self._check_rows(None)
        if self.vectors is not None:
            self.vectors.generation.check_codes()

    def _check_rows(self, most: int | None) -> None:
        """Compare vectors with the database: all of them, or this many chosen at random. The
        database has the same bytes, so they need no checksums."""
        if self.vectors is None:
            return
        generation = self.vectors.generation
        places: Sequence[int] = range(generation.count)
        if most is not None and most < generation.count:
            places = sorted(random.sample(places, most))
        if generation.count and generation.ids[-1] > self._feed.last_chunk():
            raise IndexDamaged.of(VECTORS, "it has a passage that never existed")
        for some in slices(places, 1000):
            ids, rows = generation.rows_at(np.array(some, dtype=np.int64))
            true = self._feed.vectors_of(self._model, [int(i) for i in ids])
            for id_, row in zip(ids, rows, strict=True):
                vector = true.get(int(id_))  # None: the chunk was removed
                if vector is not None and vector != row.tobytes():
                    raise IndexDamaged.of(VECTORS, f"the vector of passage {id_} has changed")

    def stored_vectors(self, hashes: Sequence[str]) -> dict[str, bytes]:
        """The rows of active passages with these hashes, as the index stores them."""
        vectors: dict[str, bytes] = {}
        if self.vectors is None or not hashes:
            return vectors
        generation = self.vectors.generation
        for hash_, id_ in self._feed.chunks_embedded(hashes):
            at = int(np.searchsorted(generation.ids, id_))
            if at < generation.count and generation.ids[at] == id_:
                vectors[hash_] = generation.rows_at(np.array([at]))[1][0].tobytes()
        return vectors

    def distrust(self, damage: IndexDamaged) -> None:
        """Stop using this part, and leave a mark for the next writer, in this process or
        another."""
        self.damaged[damage.part] = damage
        with suppress(OSError):  # the disk may be read-only
            self._mark(damage.part).touch()
        if damage.part == WORDS:
            self._words = WordIndex(None)
        else:
            self.vectors = None

    def _mark(self, part: str) -> Path:
        return self._folder / f"{part}.damaged"

    def _check_mark(self, part: str) -> None:
        if self._mark(part).exists():
            raise IndexDamaged.of(part, "a search found damaged files")

    def _renew(self) -> None:
        """Rebuild every damaged index beside the old one, then put it in its place."""
        for part in (WORDS, VECTORS):
            if part in self.damaged or self._mark(part).exists():
                log.warning("%s Rebuilding it from the database.", self._damage_note(part))
                if part == WORDS:
                    self._renew_words()
                else:
                    self._renew_vectors()
                self.damaged.pop(part, None)
                self.rebuilt[part] += 1
                self._mark(part).unlink(missing_ok=True)
                log.warning("Rebuilt the index of %s. No document was lost.", part)

    def _damage_note(self, part: str) -> str:
        damage = self.damaged.get(part)
        return damage.message if damage else f"The index of {part} is damaged."

    def _renew_words(self) -> None:
        words = WordIndex(self._folder / WORDS, anew=True)
        for chunks in self._feed.indexed_chunks(0, _BATCH):
            words.add(chunks)
        words.commit()
        self._words = words

    def _renew_vectors(self) -> None:
        serving = self._feed.serving()
        if serving.dimensions:
            place = self._vectors_of(serving.model)
            vectors = VectorIndex(place, serving.dimensions, damaged=True)
            vectors.rebuild(self._feed.vector_rows(serving.model, 0))
            vectors.start_writing()
            self._model, self.vectors = serving.model, vectors

    def _surely(self, act: Callable[[], T]) -> T:
        """Do this; if the indexes turn out to be damaged, rebuild them and do it again."""
        try:
            return act()
        except IndexDamaged as damage:
            self.distrust(damage)
            self._renew()
            return act()

    @property
    def vocabulary(self) -> Vocabulary:
        return self._words.vocabulary

    def view(self) -> IndexView:
        """Refresh everything, and return the current state."""
        # First: a part that another thread rebuilds meanwhile is better called damaged than empty.
        damaged = dict(self.damaged)
        try:
            words = self._words.view()
        except IndexDamaged as damage:
            self.distrust(damage)
            damaged[damage.part] = damage
            words = self._words.view()
        try:
            self._open_vectors()
            if self.vectors is not None:
                self.vectors.refresh()
        except IndexDamaged as damage:
            self.distrust(damage)
            damaged[damage.part] = damage
        vectors = None if self.vectors is None else self.vectors.generation
        return IndexView(words, self._model, vectors, damaged)

    def lack(self, words: WordView, last_active: ChunkId) -> bool:
        """Whether an index lacks chunks that are active in the registry."""
        is_behind = words.last_chunk() < last_active and WORDS not in self.damaged
        return is_behind or self._lack_vectors()

    def _lack_vectors(self) -> bool:
        if VECTORS in self.damaged:
            return False
        last = 0 if self.vectors is None or not self.vectors.count else self.vectors.ids[-1]
        return bool(last < self._feed.embedded_upto())

    # --- writing: by one process at a time

    def start_writing(self) -> None:
        self._renew()
        self._writing = True
        self._surely(self._start_writing)
        self._tidy()

    def _start_writing(self) -> None:
        self._words.view()  # what others have written since
        self._open_vectors()
        if self.vectors is not None:
            self.vectors.start_writing()

    def stop_writing(self) -> None:
        self._writing = False
        if self.vectors is not None:
            self.vectors.stop_writing()

    def abandon(self) -> None:
        """After a failure: write nothing more, and drop what isn't committed."""
        self._writing = False
        self._words.abandon()

    def add(self, chunks: Sequence[IndexedChunk]) -> None:
        """On disk before it returns."""
        self._surely(lambda: self._write_words(chunks))
        self._surely(lambda: self._add_vectors(chunks))

    def _write_words(self, chunks: Sequence[IndexedChunk]) -> None:
        self._words.add(chunks)
        self._words.commit()

    def drop(self, ranges: Iterable[tuple[ChunkId, int]]) -> None:
        """Searches mask these chunks already. Words and vectors stay until they are rebuilt."""
        ranges = list(ranges)
        self._surely(lambda: self._drop(ranges))

    def _drop(self, ranges: Sequence[tuple[ChunkId, int]]) -> None:
        self._words.drop(ranges)
        self._words.commit()

    def catch_up(self) -> None:
        self._surely(self._catch_up)

    def _catch_up(self) -> None:
        for chunks in self._feed.indexed_chunks(self._words.view().last_chunk(), _BATCH):
            self._words.add(chunks)
        self._words.commit()
        if self._lack_vectors():
            self.rebuild_vectors()

    def rebuild(self) -> None:
        """Rebuild everything. Readers see the old words until the end."""
        self._surely(self._rebuild_words)
        self.rebuild_vectors()

    def _rebuild_words(self) -> None:
        self._words.clear()
        for chunks in self._feed.indexed_chunks(0, _BATCH):
            self._words.add(chunks)
        self._words.commit()

    def shed(self, active: int) -> None:
        """Rebuild the words if most belong to removed chunks. If the disk refuses, searches go on
        with the old ones."""
        count = self._words.view().count
        if count - active < max(_MANY, _DEAD * count):
            return
        try:
            self._surely(self._rebuild_words)
        except OSError as refused:
            log.warning("Couldn't rebuild the index of words: %s", refused)
            self._words.abandon()

    def tidy(self) -> None:
        """Delete files that only earlier views needed."""
        self._words.collect_garbage()

    def rebuild_vectors(self) -> None:
        """Readers use the old vectors until the end."""
        self._open_vectors()
        if self.vectors is not None:  # the old rows are not read
            self.vectors.rebuild(self._feed.vector_rows(self._model, 0))

    def build_beside(self, model: str, dimensions: int, *, anew: bool = False) -> NDArray[np.int64]:
        """Bring the vectors of a model that isn't in use yet up to date; returns the ids of all of
        them. Needs no writer's lock, but no other process may do the same."""
        index = VectorIndex.open(self._vectors_of(model), dimensions, writable=True)
        if anew:
            index.rebuild(self._feed.vector_rows(model, 0))
        last = int(index.ids[-1]) if index.count else 0
        for ids, vectors in self._feed.vector_rows(model, last):
            index.append(ids, vectors)
        every = index.ids
        index.close()
        return every

    def close(self) -> None:
        if self.vectors is not None:
            self.vectors.close()

    def _open_vectors(self) -> None:
        """The vectors of the model in use; a different one if that changed."""
        with self._opening:
            serving = self._feed.serving()
            is_open = self.vectors is not None and self._model == serving.model
            if is_open or VECTORS in self.damaged or not serving.dimensions:
                return
            if self.vectors is not None:
                self.vectors.stop_writing()
            vectors = VectorIndex(self._vectors_of(serving.model), serving.dimensions)
            if self._writing:
                vectors.start_writing()
            self._model, self.vectors = serving.model, vectors

    def _vectors_of(self, model: str) -> Path:
        return self._folder / VECTORS / _digest(model)

    def _tidy(self) -> None:
        """Remove the vectors of models that are neither in use nor being prepared, and files of
        earlier releases."""
        serving = self._feed.serving()
        used = {_digest(serving.model), _digest(serving.next_model)}
        places = self._folder / VECTORS
        for path in places.iterdir() if places.is_dir() else ():
            if path.name not in used:
                shutil.rmtree(path) if path.is_dir() else path.unlink()
        for path in (self._folder / name for name in _OLD):
            shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)

    def _add_vectors(self, chunks: Sequence[IndexedChunk]) -> None:
        embedded = [(c.id, c.vector) for c in chunks if c.vector is not None]
        if embedded:
            self._open_vectors()
            assert self.vectors is not None
            ids = np.array([id_ for id_, _ in embedded], dtype=np.int64)
            self._append(self.vectors, ids, np.stack([vector for _, vector in embedded]))

    @staticmethod
    @guarded(VECTORS)
    def _append(index: VectorIndex, ids: NDArray[np.int64], vectors: Vectors) -> None:
        """Ids that don't follow the existing ones mean that the existing ones are wrong."""
        index.append(ids, vectors)


def _digest(model: str) -> str:
    """A name for a folder. A model's own name may contain anything."""
    return hashlib.blake2b(model.encode(), digest_size=6).hexdigest()
