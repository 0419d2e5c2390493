"""The derived indexes of a library, as one thing: words, vocabulary and vectors.

All can be made anew from the registry at any time. An index knows by its highest chunk id what it
lacks, since ids rise and are never used again. Knows nothing of who may see what.
"""

from __future__ import annotations

import hashlib
import shutil
import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from trivium.store.embedded.generation import Generation
from trivium.store.embedded.vectors import VectorIndex
from trivium.store.embedded.vocabulary import VocabularyFile
from trivium.store.embedded.words import WordIndex, WordView
from trivium.store.sql.models import ModelRegistry
from trivium.store.sql.reader import IndexedChunk
from trivium.store.sql.statements import EMBEDDED_UPTO
from trivium.text import normalise
from trivium.text.trigrams import Vocabulary
from trivium.types import ChunkId

if TYPE_CHECKING:
    from numpy.typing import NDArray

VECTORS = "vectors"
_BATCH = 2000  # chunks read from the registry at a time


@dataclass(frozen=True, slots=True)
class IndexView:
    """What a search looks at. It stays whole whatever a writer does meanwhile."""

    words: WordView
    model: str  # of the vectors
    vectors: Generation | None


class Indexes:
    """What is written here can be found after the next `view`."""

    def __init__(self, folder: Path, registry: ModelRegistry) -> None:
        self._folder = folder
        self._registry = registry
        self._words = WordIndex(folder / "words")
        self._vocabulary = VocabularyFile(folder / "vocabulary.txt")
        self._writing = False
        self._opening = threading.Lock()
        self._model = ""
        self.vectors: VectorIndex | None = None  # until there is a first vector
        self._open_vectors()

    @staticmethod
    def discard_damaged(folder: Path) -> None:
        """Clear the way for new ones where the old cannot be opened."""
        shutil.rmtree(folder / "words", ignore_errors=True)

    @property
    def vocabulary(self) -> Vocabulary:
        return self._vocabulary.words

    def view(self) -> IndexView:
        """Refresh everything; what there is as of now."""
        words = self._words.view()
        self._vocabulary.refresh()
        self._open_vectors()
        if self.vectors is None:
            return IndexView(words, self._model, None)
        self.vectors.refresh()
        return IndexView(words, self._model, self.vectors.generation)

    def lack(self, words: WordView, last_active: ChunkId) -> bool:
        """Whether the registry calls chunks active that an index does not hold."""
        is_behind = words.last_chunk() < last_active or self._vocabulary.is_lost
        return is_behind or self._lack_vectors()

    def _lack_vectors(self) -> bool:
        held = 0 if self.vectors is None or not self.vectors.count else self.vectors.ids[-1]
        return bool(held < int(self._registry.setting(EMBEDDED_UPTO) or 0))

    # --- writing: by one process at a time

    def start_writing(self) -> None:
        self._open_vectors()
        self._writing = True
        if self.vectors is not None:
            self.vectors.start_writing()
        self._tidy()

    def stop_writing(self) -> None:
        self._writing = False
        self._words.stop_writing()
        if self.vectors is not None:
            self.vectors.stop_writing()

    def abandon(self) -> None:
        """After a failure: nothing more is written, what is not committed is dropped."""
        self._writing = False
        self._words.abandon()
        self._vocabulary.abandon()

    def add(self, chunks: Sequence[IndexedChunk]) -> None:
        """Durably, before it returns."""
        self._add_words(chunks)
        self._words.commit()
        self._add_vectors(chunks)

    def drop(self, ranges: Iterable[tuple[ChunkId, int]]) -> None:
        """Words only: vectors are masked until `rebuild_vectors`."""
        self._words.drop(ranges)
        self._words.commit()

    def catch_up(self) -> None:
        if self._vocabulary.is_lost:
            for chunks in self._registry.indexed_chunks(0, _BATCH):
                self._learn(normalise.words(chunk.text) for chunk in chunks)
        for chunks in self._registry.indexed_chunks(self._words.view().last_chunk(), _BATCH):
            self._add_words(chunks)
        self._words.commit()
        if self._lack_vectors():
            self.rebuild_vectors()

    def rebuild(self) -> None:
        """Everything anew. Readers see the old words until the end."""
        self._words.clear()
        self._vocabulary.begin_anew()
        for chunks in self._registry.indexed_chunks(0, _BATCH):
            self._add_words(chunks)
        self._words.commit()
        self._vocabulary.finish_anew()
        self.rebuild_vectors()

    def tidy(self) -> None:
        """Delete files that only views of before still looked at."""
        self._words.view()
        self._words.collect_garbage()

    def rebuild_vectors(self) -> None:
        """Readers have the old ones until the end."""
        self._open_vectors()
        if self.vectors is not None:
            self.vectors.rebuild(self._registry.vector_rows(self._model, 0))

    def build_beside(self, model: str, dimensions: int, *, anew: bool = False) -> NDArray[np.int64]:
        """Bring the vectors of a model that does not serve yet up to what is embedded by now: the
        ids of all of them. Needs no writer's lock, but no other process may do the same."""
        index = VectorIndex.open(self._vectors_of(model), dimensions, writable=True)
        if anew:
            index.rebuild(self._registry.vector_rows(model, 0))
        last = int(index.ids[-1]) if index.count else 0
        for ids, vectors in self._registry.vector_rows(model, last):
            index.append(ids, vectors)
        held = index.ids
        index.close()
        return held

    def close(self) -> None:
        self._words.abandon()
        if self.vectors is not None:
            self.vectors.close()

    def _open_vectors(self) -> None:
        """Those of the model that serves; another than before, where that changed."""
        with self._opening:
            manifest = self._registry.manifest()
            known = self.vectors is not None and self._model == manifest.model
            if known or not manifest.dimensions:
                return
            if self.vectors is not None:
                self.vectors.stop_writing()
            vectors = VectorIndex(self._vectors_of(manifest.model), manifest.dimensions)
            if self._writing:
                vectors.start_writing()
            self._model, self.vectors = manifest.model, vectors

    def _vectors_of(self, model: str) -> Path:
        return self._folder / VECTORS / _digest(model)

    def _tidy(self) -> None:
        """Remove the vectors of models that neither serve nor are to."""
        manifest = self._registry.manifest()
        kept = {_digest(manifest.model), _digest(manifest.next_model)}
        places = self._folder / VECTORS
        for path in places.iterdir() if places.is_dir() else ():
            if path.name not in kept:
                shutil.rmtree(path) if path.is_dir() else path.unlink()

    def _add_words(self, chunks: Sequence[IndexedChunk]) -> None:
        self._learn(self._words.add(chunks))

    def _learn(self, spellings: Iterable[list[str]]) -> None:
        self._vocabulary.append(sorted(set().union(*spellings)))

    def _add_vectors(self, chunks: Sequence[IndexedChunk]) -> None:
        embedded = [(c.id, c.vector) for c in chunks if c.vector is not None]
        if embedded:
            self._open_vectors()
            assert self.vectors is not None
            ids = np.array([id_ for id_, _ in embedded], dtype=np.int64)
            self.vectors.append(ids, np.stack([vector for _, vector in embedded]))


def _digest(model: str) -> str:
    """A name for a folder. A model's own name may hold anything."""
    return hashlib.blake2b(model.encode(), digest_size=6).hexdigest()
