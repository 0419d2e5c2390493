"""The store in one folder, with no server: SQLite is the truth, tantivy and faiss are derived.

    library.db        registry, interpretations, chunks, vectors
    words/            tantivy: stems and spellings of the active chunks
    vectors/          float16 rows and their codes
    vocabulary.txt    the distinct spellings
    writer.lock       held by the one process that writes

Order is what makes it safe. A write stages rows in SQLite, brings the derived indexes up to date,
and only then switches in SQLite; so whatever SQLite calls active is in the indexes. Reading goes
the other way round: look at SQLite, refresh the indexes, look again. What the indexes hold beyond
that (`leftovers`) is masked by the census and dropped later.
"""

from __future__ import annotations

import shutil
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from filelock import FileLock, Timeout

from trivium.errors import LibraryBusy, LibraryNotFound
from trivium.ports import Embedder, Waiting
from trivium.store.embedded.census import Allowed, Census, Passing
from trivium.store.embedded.database import open_database, translated
from trivium.store.embedded.vectors import VectorIndex
from trivium.store.embedded.vocabulary import VocabularyFile
from trivium.store.embedded.words import WordIndex, WordView
from trivium.store.sql.reader import IndexedChunk, check_schema, searched_text
from trivium.store.sql.registry import Registry, Staged
from trivium.store.sql.statements import EMBEDDED_UPTO
from trivium.text.keywords import plan_keywords
from trivium.text.spelling import plan_spellings
from trivium.types import (
    OWNER,
    ChunkId,
    Document,
    DocumentId,
    Hit,
    Manifest,
    Metadata,
    Probe,
    Processed,
    Signal,
    StoredChunk,
    Where,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from trivium.types import Vector

DATABASE = "library.db"
_CATCH_UP = 2000  # chunks a commit while an index is rebuilt
_DEAD = 0.3  # share of vectors without an active chunk at which they are written anew


@dataclass(frozen=True, slots=True)
class _View:
    """Everything one search looks at, as of one sequence number."""

    census: Census
    words: WordView
    allowed: dict[Where, Allowed] = field(default_factory=dict)
    positions: dict[Where, NDArray[np.bool_]] = field(default_factory=dict)


class EmbeddedStore:
    """See the module's docstring. Threads may share one; processes open their own."""

    def __init__(self, folder: Path, *, create: bool = True, wait: float = 3600) -> None:
        self._folder = folder
        self._wait = wait  # seconds to wait for another writer
        if not (folder / DATABASE).exists() and not create:
            raise LibraryNotFound(f"There is no library in {folder}.")
        with translated(folder):
            folder.mkdir(parents=True, exist_ok=True)
            self._engine = open_database(folder / DATABASE)
            self._registry = Registry(self._engine)
            self._lock = FileLock(folder / "writer.lock", thread_local=False)
            self._writers = threading.RLock()  # threads of this process take turns too
            self._depth = 0
            self._reading = threading.Lock()
            self._view: _View | None = None
            check_schema(self._registry.schema())
            self._prepare()

    def _prepare(self) -> None:
        if self._registry.schema() == 0:
            with self._exclusive(None):
                self._registry.migrate()
        self._words = self._open_words()
        self._vocabulary = VocabularyFile(self._folder / "vocabulary.txt")
        self._vectors: VectorIndex | None = None
        self._passing = Passing(self._registry)
        if self._behind():
            with self.writing():
                pass  # entering catches up

    def _open_words(self) -> WordIndex:
        folder = self._folder / "words"
        try:
            return WordIndex(folder)
        except ValueError:  # damaged beyond opening: it is only derived
            with self._exclusive(None):
                shutil.rmtree(folder)
                return WordIndex(folder)

    # --- writing --------------------------------------------------------------------------------

    @contextmanager
    def writing(self, waiting: Waiting | None = None) -> Iterator[None]:
        with self._writers, translated(self._folder):
            if self._depth:
                yield
                return
            with self._exclusive(waiting):
                self._depth = 1
                try:
                    self._recover()
                    yield
                    self._settle()
                except BaseException:
                    self._words.abandon()
                    raise
                finally:
                    self._depth = 0
                    self._view = None

    @contextmanager
    def _exclusive(self, waiting: Waiting | None) -> Iterator[None]:
        try:
            self._lock.acquire(timeout=0)
        except Timeout:
            if waiting:
                waiting("Another process is writing to this library; waiting for it to finish.")
            try:
                self._lock.acquire(timeout=self._wait)
            except Timeout as reason:
                raise LibraryBusy(
                    f"Another process has been writing to {self._folder} for {self._wait:.0f} s."
                ) from reason
        try:
            yield
        finally:
            self._lock.release()

    def put(self, batch: Sequence[Processed], model: str) -> list[Document]:
        if not batch:
            return []
        with self.writing():
            staged = self._registry.stage(batch, model)
            self._open_vectors()
            self._index(list(_indexed(batch, staged)))
            return self._registry.activate(staged)

    def relabel(
        self, document: DocumentId, *, category: str, audience: str, metadata: Metadata
    ) -> None:
        with self.writing():
            self._registry.relabel(
                document, category=category, audience=audience, metadata=metadata
            )

    def remove(self, documents: Iterable[DocumentId]) -> int:
        with self.writing():
            return self._registry.remove(documents)

    def _index(self, chunks: Sequence[IndexedChunk]) -> None:
        """Bring chunks into all derived indexes, durably."""
        self._add_words(chunks)
        self._words.commit()
        self._append_vectors(chunks)

    def _add_words(self, chunks: Sequence[IndexedChunk]) -> None:
        spellings = self._words.add(chunks)
        self._vocabulary.append(word for words in spellings for word in words)

    def _append_vectors(self, chunks: Sequence[IndexedChunk]) -> None:
        embedded = [(c.id, c.vector) for c in chunks if c.vector is not None]
        if embedded and self._vectors is not None:
            ids = np.array([id_ for id_, _ in embedded], dtype=np.int64)
            self._vectors.append(ids, np.stack([vector for _, vector in embedded]))

    def _recover(self) -> None:
        """Undo what a dead writer left half done, and index what the indexes lack."""
        if self._vectors is not None:
            self._vectors.start_writing()
        self._registry.discard_staged()
        self._drop_leftovers()
        if self._behind():
            self._catch_up()

    def _settle(self) -> None:
        """Leave the indexes tidy for readers."""
        self._drop_leftovers()
        self._words.stop_writing()
        if self._vectors is None:
            return
        active = np.count_nonzero(self._positions(self._current(), OWNER))
        if self._vectors.count and 1 - active / self._vectors.count > _DEAD:
            self._rebuild_vectors()
        self._vectors.stop_writing()

    def _drop_leftovers(self) -> None:
        ranges = self._registry.leftovers()
        if ranges:
            self._words.drop(ranges)
            self._words.commit()
            self._registry.clear_leftovers(ranges)

    # --- derived indexes ------------------------------------------------------------------------

    def _open_vectors(self) -> None:
        dimensions = self._registry.manifest().dimensions
        if self._vectors is None and dimensions:
            self._vectors = VectorIndex(self._folder / "vectors", dimensions)
            if self._depth:
                self._vectors.start_writing()

    def _behind(self) -> bool:
        """Whether SQLite calls chunks active that an index does not hold."""
        view = self._current()
        active = np.flatnonzero(view.census.owner)
        if not len(active):
            return False
        return view.words.last_chunk() < active[-1] or self._lacks_vectors()

    def _lacks_vectors(self) -> bool:
        held = 0 if self._vectors is None or not self._vectors.count else self._vectors.ids[-1]
        return bool(held < int(self._registry.setting(EMBEDDED_UPTO) or 0))

    def _catch_up(self) -> None:
        for chunks in self._registry.indexed_chunks(self._words.view().last_chunk(), _CATCH_UP):
            self._add_words(chunks)
        self._words.commit()
        if self._lacks_vectors():
            self._rebuild_vectors()
        self._view = None

    def _rebuild_vectors(self) -> None:
        self._open_vectors()
        if self._vectors is not None:
            self._vectors.reset()
            for chunks in self._registry.indexed_chunks(0, _CATCH_UP):
                self._append_vectors(chunks)
            self._view = None

    def rebuild(self) -> None:
        """Make every derived index anew from SQLite. Readers see the old words until the end."""
        with self.writing():
            self._words.clear()
            self._vocabulary.reset()
            for chunks in self._registry.indexed_chunks(0, _CATCH_UP):
                self._add_words(chunks)
            self._words.commit()
            self._rebuild_vectors()

    def embed_missing(self, embedder: Embedder, batch: int = 256) -> int:
        """Embed the chunks that were added while no model was at hand."""
        done = 0
        with self.writing():
            while chunks := self._registry.unembedded(embedder.fingerprint, batch):
                texts = dict(chunks)
                vectors = embedder.embed_documents(list(texts.values()))
                found = dict(zip(texts, vectors, strict=True))
                self._registry.keep_vectors(embedder.fingerprint, found)
                done += len(chunks)
            if done:
                self._rebuild_vectors()
        return done

    def health(self) -> dict[str, int]:
        """How many active chunks the truth and each derived index hold: equal when all is well."""
        view = self._current()
        active = np.flatnonzero(view.census.owner)
        words = np.isin(view.words.chunk_ids(), active)
        vectors = 0 if self._vectors is None else np.count_nonzero(self._positions(view, OWNER))
        return {
            "documents": int(np.count_nonzero(view.census.count)),
            "chunks": len(active),
            "words": int(words.sum()),
            "vectors": int(vectors),
            "leftovers": int((~words).sum()),  # indexed, not active: the next writer drops them
            "vocabulary": len(self._vocabulary.words),
        }

    # --- the registry ---------------------------------------------------------------------------

    def manifest(self) -> Manifest:
        return self._registry.manifest()

    def embeddings(self, model: str, hashes: Sequence[str]) -> Mapping[str, Vector]:
        return self._registry.embeddings(model, hashes)

    def find(self, uri: str, collection: str) -> Document | None:
        return self._registry.find(uri, collection)

    def documents(
        self, where: Where, *, offset: int = 0, limit: int | None = None
    ) -> list[Document]:
        return self._registry.documents(where, offset=offset, limit=limit)

    def text(self, document: DocumentId, where: Where) -> str | None:
        return self._registry.text(document, where)

    def passages(self, document: DocumentId, where: Where) -> list[StoredChunk]:
        return self._registry.passages(document, where)

    def chunks(self, ids: Sequence[ChunkId], where: Where) -> list[StoredChunk]:
        return self._registry.chunks(ids, where)

    # --- searching ------------------------------------------------------------------------------

    def search(self, signal: Signal, probe: Probe, where: Where, k: int) -> list[Hit]:
        with translated(self._folder):
            view = self._current()
            if signal is Signal.VECTOR:
                return self._nearest(view, probe, where, k)
            allowed = self._allowed(view, where)
            languages = view.census.languages
            if signal is Signal.KEYWORD:
                return view.words.keyword(plan_keywords(probe.query, languages), allowed, k)
            plan = plan_spellings(
                probe.query.words, self._vocabulary.words, languages, view.words.rarity
            )
            return view.words.trigram(plan, allowed, k)

    def _nearest(self, view: _View, probe: Probe, where: Where, k: int) -> list[Hit]:
        if self._vectors is None or probe.vector is None:
            return []
        ids, scores = self._vectors.search(probe.vector, k, self._positions(view, where))
        return [
            Hit(int(i), float(score))
            for i, score in zip(ids, scores, strict=True)
            if score >= probe.threshold
        ]

    def _allowed(self, view: _View, where: Where) -> Allowed:
        known = view.allowed.get(where)
        if known is None:
            with self._reading:
                known = view.allowed[where] = self._passing.allowed(where, view.census)
        return known

    def _positions(self, view: _View, where: Where) -> NDArray[np.bool_]:
        """Which rows of the vector index may be found."""
        known = view.positions.get(where)
        if known is None:
            assert self._vectors is not None
            ids = self._vectors.ids
            chunks = self._allowed(view, where).chunks
            known = chunks[np.minimum(ids, len(chunks) - 1)] & (ids < len(chunks))
            view.positions[where] = known
        return known

    def refresh(self) -> None:
        with translated(self._folder):
            self._current()

    def _current(self) -> _View:
        """A view no older than this call. See the module's docstring for why it looks twice."""
        with self._reading:
            view = self._view
            if view is not None and view.census.sequence == self._registry.sequence():
                return view
            census = view.census if view else Census.empty()
            while True:
                census = census.after(self._registry.changes(census.sequence))
                words = self._words.view()
                self._vocabulary.refresh()
                self._open_vectors()
                if self._vectors is not None:
                    self._vectors.refresh()
                if self._registry.sequence() == census.sequence:
                    self._view = _View(census, words)
                    return self._view

    def close(self) -> None:
        self._words.stop_writing()
        if self._vectors is not None:
            self._vectors.close()
        self._engine.dispose()


def _indexed(batch: Sequence[Processed], staged: Sequence[Staged]) -> Iterator[IndexedChunk]:
    for processed, one in zip(batch, staged, strict=True):
        for at, chunk in enumerate(processed.chunks):
            yield IndexedChunk(
                one.first_chunk + at,
                one.document,
                processed.extraction.language,
                searched_text(chunk),
                None if processed.vectors is None else processed.vectors[at],
            )
