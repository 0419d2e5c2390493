"""The store in one folder, with no server: SQLite is the truth, tantivy and faiss are derived.

    library.db        registry, interpretations, chunks, vectors
    words/            tantivy: stems and spellings of the active chunks
    vectors/          float16 rows and their codes
    archive/          the bytes of documents, by their hash
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
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from filelock import FileLock

from trivium.errors import (
    DiskFull,
    IndexDamaged,
    LibraryBusy,
    LibraryNotFound,
    LibraryReadOnly,
    ModelChanged,
)
from trivium.ports import Blobs, Waiting
from trivium.store.blobs import FolderBlobs
from trivium.store.embedded import asof
from trivium.store.embedded.asof import AS_OF, Chosen
from trivium.store.embedded.backup import DATABASE
from trivium.store.embedded.census import Allowed, Census, Passing
from trivium.store.embedded.database import check_not_lost, open_database, translated
from trivium.store.embedded.indexes import VECTORS, WORDS, Indexes, IndexView
from trivium.store.embedded.locks import LOCK, held
from trivium.store.embedded.upkeep import Upkeep
from trivium.store.embedded.visible import Occurrences, Visible
from trivium.store.embedded.words import WordView
from trivium.store.originals import Originals
from trivium.store.sql.conversations import Conversations
from trivium.store.sql.migrations import SCHEMA
from trivium.store.sql.queue import JobQueue
from trivium.store.sql.reader import check_schema
from trivium.store.sql.registry import Registry
from trivium.text.completing import LOOKED_AT, complete
from trivium.text.keywords import KeywordPlan, Run, plan_keywords
from trivium.text.misspelling import spell
from trivium.text.spelling import plan_spellings
from trivium.text.trigrams import WordList
from trivium.types import OWNER, Hit, Probe, Signal, Spelled, Where

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from trivium.types import Vector

T = TypeVar("T")
ARCHIVE = "archive"
# Chunks that hold a word for it to be common: bounds the cost of large libraries (1M chunks:
# trigram p95 36 ms without, 16 with). Tried on small ones, for words in 5 % of the chunks, it lost
# .002 nDCG@10 of the signal.
_COMMON = 20_000
_MISSING = 256  # chunks whose vectors are made at a time, where they were missing
_DEAD = 0.3  # share of vectors without an active chunk at which they are written anew


@dataclass(frozen=True, slots=True)
class _View:
    """Everything one search looks at, as of one sequence number."""

    census: Census
    indexes: IndexView
    allowed: dict[Where, Allowed] = field(default_factory=dict)
    visible: dict[Where, Visible] = field(default_factory=dict)  # for callers who do not see all
    positions: dict[Where, NDArray[np.bool_] | None] = field(default_factory=dict)

    @property
    def words(self) -> WordView:
        return self.indexes.words


class EmbeddedStore(Upkeep):
    """See the module's docstring. Threads may share one; processes open their own."""

    def __init__(
        self,
        folder: Path,
        *,
        create: bool = True,
        wait: float = 3600,
        blobs: Blobs | None = None,
    ) -> None:
        """`blobs` keep the originals; without, a folder of the library does."""
        self._folder = folder
        self._originals = Originals(blobs or FolderBlobs(folder / ARCHIVE))
        self._wait = wait  # seconds to wait for another writer
        check_not_lost(folder / DATABASE)
        if not (folder / DATABASE).exists() and not create:
            raise LibraryNotFound(f"There is no library in {folder}.")
        with translated(folder):
            folder.mkdir(parents=True, exist_ok=True)
            self._engine = open_database(folder / DATABASE)
            self._registry = Registry(self._engine)
            self._conversations = Conversations(self._engine)
            self.queue = JobQueue(self._engine)
            self._lock = FileLock(folder / LOCK, thread_local=False)
            self._writers = threading.RLock()  # threads of this process take turns too
            self._depth = 0
            self._reading = threading.Lock()
            self._view: _View | None = None
            self._occurrences = Occurrences()
            check_schema(self._registry.schema())
            self._prepare()

    def _prepare(self) -> None:
        if self._registry.schema() < SCHEMA:
            with self._exclusive(None):
                self._registry.migrate()
        self._passing = Passing(self._registry)
        self._indexes = Indexes(self._folder, self._registry)
        if self._behind():
            # On a disk that cannot be written, what there is can be searched.
            with suppress(LibraryReadOnly, DiskFull), self.writing():
                pass  # entering catches up, and rebuilds what is damaged
        for damage in [*self._indexes.damaged.values()]:
            with suppress(IndexDamaged):  # the other signals serve
                self._mend(damage)

    @property
    def folder(self) -> Path:
        return self._folder

    def _translated(self) -> AbstractContextManager[None]:
        return translated(self._folder)

    # --- writing --------------------------------------------------------------------------------

    @contextmanager
    def writing(
        self, waiting: Waiting | None = None, patience: float | None = None
    ) -> Iterator[None]:
        with self._turn(patience), self._translated():
            if self._depth:
                yield
                return
            with self._exclusive(waiting, patience):
                self._depth = 1
                try:
                    self._recover()
                    yield
                    self._settle()
                except BaseException:
                    self._indexes.abandon()
                    raise
                finally:
                    self._depth = 0
                    self._view = None

    @contextmanager
    def _turn(self, patience: float | None) -> Iterator[None]:
        """Threads of this process write one after another."""
        if not self._writers.acquire(timeout=-1 if patience is None else patience):
            raise LibraryBusy("Another thread is writing to this library.")
        try:
            yield
        finally:
            self._writers.release()

    @contextmanager
    def _exclusive(self, waiting: Waiting | None, patience: float | None = None) -> Iterator[None]:
        wait = self._wait if patience is None else patience
        self.check_there()  # taking the lock would make the folder again
        with held(self._lock, wait, waiting, "writing to this library"):
            yield

    def check_there(self) -> None:
        """Raises LibraryNotFound where the folder of an open library was moved or deleted."""
        if not (self._folder / DATABASE).exists():
            raise LibraryNotFound(
                f"The library's folder {self._folder} is gone.",
                fix="Put it back, or open the library where the folder is now.",
            )

    def _recover(self) -> None:
        """Undo what a dead writer left half done, and index what the indexes lack."""
        if self._indexes.damaged:
            self._occurrences = Occurrences()  # what was learnt of an empty stand-in
        self._indexes.start_writing()
        self._registry.discard_staged()
        self._registry.drop_other_models()
        self._drop_leftovers()
        if self._behind():
            self._indexes.catch_up()
            self._view = None

    def _undo(self) -> None:
        self._indexes.abandon()
        self._recover()
        self._view = None

    def _settle(self) -> None:
        """Leave the indexes tidy for readers."""
        self._drop_leftovers()
        vectors = self._indexes.vectors
        if vectors is not None and vectors.count:
            active = self._active_vectors(self._current())
            if 1 - active / vectors.count > _DEAD:
                self._indexes.rebuild_vectors()
        self._indexes.stop_writing()

    def _drop_leftovers(self) -> None:
        ranges = self._registry.leftovers()
        if ranges:
            self._indexes.drop(ranges)
            self._registry.clear_leftovers(ranges)

    def _active_chunks(self) -> NDArray[np.int64]:
        return np.flatnonzero(self._current().census.owner)

    def _behind(self) -> bool:
        view = self._current()
        active = np.flatnonzero(view.census.owner)
        try:
            return len(active) > 0 and self._indexes.lack(view.words, int(active[-1]))
        except IndexDamaged as damage:
            self._indexes.distrust(damage)
            self._view = None
            return False

    def _mend(self, damage: IndexDamaged) -> None:
        """Rebuild a damaged index here and now; raises the damage where that cannot be, because
        another process writes, or nobody can."""
        self._indexes.distrust(damage)
        self._view = None
        try:
            with self.writing(patience=0):
                pass  # entering rebuilds it
        except (LibraryBusy, LibraryReadOnly, DiskFull) as reason:
            raise damage from reason

    def _mended(self, look: Callable[[], T]) -> T:
        """What a look at the indexes gives, on rebuilt ones where they turn out to be damaged, and
        on an empty one in their place where they cannot be rebuilt now."""
        try:
            return look()
        except IndexDamaged as damage:
            with suppress(IndexDamaged):
                self._mend(damage)
            return look()

    def rebuild(self) -> None:
        """Make every derived index anew from SQLite."""
        with self.writing():
            self._indexes.rebuild()
            self._view = None
            self._indexes.tidy()

    def embed_missing(
        self, model: str, embed: Callable[[Mapping[str, str]], Mapping[str, Vector]]
    ) -> int:
        """Give vectors to chunks that were added while the model gave none. `embed` gets texts by
        hash and returns what vectors it can; how many there were comes back. They are kept batch
        by batch, whatever happens later."""
        done, after = 0, 0
        with self.writing():
            serving = self._registry.manifest().model
            if model and serving not in ("", model):
                raise ModelChanged(f"The vectors of this library are of {serving}.")
            held = self._active_vectors(self._current())
            if held == np.count_nonzero(self._current().census.owner):
                return 0
            try:
                while chunks := self._registry.unembedded(model, after, _MISSING):
                    after = chunks[-1].id
                    found = embed({chunk.hash: chunk.text for chunk in chunks})
                    if found:
                        self._registry.keep_vectors(model, found)
                    done += len(found)
            finally:
                if self._registry.embedded(model) > held:
                    self._indexes.rebuild_vectors()
                    self._view = None
        return done

    def keep_vectors(self, model: str, vectors: Mapping[str, Vector]) -> None:
        with self.writing():
            if vectors:
                self._registry.keep_vectors(model, vectors)

    def health(self) -> dict[str, int]:
        """How many active chunks the truth and each derived index hold: equal when all is well."""
        with self._translated():
            return self._mended(self._health)

    def _health(self) -> dict[str, int]:
        view = self._current()
        active = np.flatnonzero(view.census.owner)
        words = np.isin(view.words.chunk_ids(), active)
        return {
            "documents": int(np.count_nonzero(view.census.count)),
            "chunks": len(active),
            "words": int(words.sum()),
            "vectors": self._active_vectors(view),
            "leftovers": int((~words).sum()),  # indexed, not active: the next writer drops them
            "vocabulary": len(self._indexes.vocabulary),
        }

    # --- searching ------------------------------------------------------------------------------

    def search(self, signal: Signal, probe: Probe, where: Where, k: int) -> list[Hit]:
        """Raises IndexDamaged where this signal's index is damaged and cannot be rebuilt now."""
        with self._translated():
            try:
                return self._search(signal, probe, where, k)
            except IndexDamaged as damage:
                self._mend(damage)
                return self._search(signal, probe, where, k)

    def _search(self, signal: Signal, probe: Probe, where: Where, k: int) -> list[Hit]:
        view = self._view or self._current()
        damage = self._indexes.damaged.get(VECTORS if signal is Signal.VECTOR else WORDS)
        if damage is not None:
            raise damage
        vocabulary, languages, index = self._seen(view, where)
        words = plan_keywords(probe.query, languages)
        if signal is Signal.VECTOR:
            return self._nearest(view, probe, words, where, k)
        allowed = self._allowed(view, where)
        if signal is Signal.KEYWORD:
            return index.keyword(words, allowed, k)
        common = index.rarity_of(_COMMON)
        plan = plan_spellings(probe.query.words, vocabulary, languages, index.rarity, common)
        return index.trigram(plan, words, allowed, k)

    def rarities(self, words: Sequence[str], where: Where) -> Sequence[float]:
        def look() -> list[float]:
            _, _, index = self._seen(self._view or self._current(), where)
            return [index.rarity((word,)) for word in words]

        with self._translated():
            return self._mended(look)

    def spellings(self, words: Sequence[str], where: Where) -> Mapping[str, tuple[Spelled, ...]]:
        def look() -> Mapping[str, tuple[Spelled, ...]]:
            view, holding = self._counting(where)
            vocabulary, languages, _ = self._seen(view, where)
            return spell(words, vocabulary, languages, holding)

        with self._translated():
            return self._mended(look)

    def completions(self, beginning: str, where: Where, most: int) -> tuple[Spelled, ...]:
        def look() -> tuple[Spelled, ...]:
            view, holding = self._counting(where)
            vocabulary, _, _ = self._seen(view, where)
            looked_at = LOOKED_AT if where.access == OWNER else None
            held = view.words.held
            return complete(beginning, vocabulary, held, holding, most, looked_at=looked_at)

        with self._translated():
            return self._mended(look)

    def _seen(
        self, view: _View, where: Where
    ) -> tuple[WordList, tuple[str, ...], WordView | Visible]:
        """The words, the languages and the index that answer this caller. What a filter leaves out
        counts all the same, what the caller may not see does not. Whether anything is hidden does
        not matter, so that nobody can tell by the time it takes."""
        access = where.access
        if access == OWNER:
            return self._indexes.vocabulary, view.census.languages, view.words
        seen = view.visible.get(access)
        if seen is None:
            allowed = self._allowed(view, access)
            documents = allowed.documents
            assert documents is not None  # that is the owner's
            languages = view.census.languages_of(documents)
            vocabulary = self._indexes.vocabulary
            seen = Visible(view.words, self._occurrences, vocabulary, allowed, languages)
            view.visible[access] = seen
        return seen.words, seen.languages, seen

    def _counting(self, where: Where) -> tuple[_View, Callable[[Run, int], int]]:
        """What counts the passing chunks that hold a run of words, up to a bound."""
        view = self._view or self._current()
        allowed = self._allowed(view, where)
        return view, lambda run, most: view.words.count_holding(run, allowed, most)

    def _nearest(
        self, view: _View, probe: Probe, plan: KeywordPlan, where: Where, k: int
    ) -> list[Hit]:
        vectors = view.indexes.vectors
        if vectors is None or probe.vector is None:
            return []
        if probe.model != view.indexes.model:
            raise ModelChanged(
                f"The vectors of this library are of {view.indexes.model}, the one it was asked for"
                f" of {probe.model or 'an unnamed model'}."
            )
        passing = self._positions(view, where)
        masks = [np.isin(vectors.ids, view.words.holding(runs)) for runs in plan.required]
        if plan.excluded:
            masks.append(~np.isin(vectors.ids, view.words.holding(plan.excluded)))
        for mask in masks:  # rows may have been added since the other mask was made
            passing = mask if passing is None else passing & mask[: len(passing)]
        ids, scores = vectors.search(probe.vector, k, passing)
        found = zip(ids, scores, strict=True)
        return [Hit(int(i), float(score)) for i, score in found if score >= probe.threshold]

    def _allowed(self, view: _View, where: Where) -> Allowed:
        known = view.allowed.get(where)
        if known is None:
            with self._reading:
                known = view.allowed[where] = self._passing.allowed(where, view.census)
        return known

    def _positions(self, view: _View, where: Where) -> NDArray[np.bool_] | None:
        """Which rows of the vector index may be found; None: all of them."""
        if where not in view.positions:
            vectors = view.indexes.vectors
            ids = np.empty(0, dtype=np.int64) if vectors is None else vectors.ids
            chunks = self._allowed(view, where).chunks
            passing = chunks[np.minimum(ids, len(chunks) - 1)] & (ids < len(chunks))
            view.positions[where] = None if passing.all() else passing
        return view.positions[where]

    def _active_vectors(self, view: _View) -> int:
        positions = self._positions(view, OWNER)
        if positions is not None:
            return int(np.count_nonzero(positions))
        return view.indexes.vectors.count if view.indexes.vectors is not None else 0

    # --- as it was ------------------------------------------------------------------------------

    def as_of(self, when: int | str, where: Where) -> tuple[str, Callable[[], EmbeddedStore]]:
        """The documents that pass `where` as they were: in the interpretation of this number (or
        the last before it), or at an instant. What tells this view from others comes back, and
        what opens it as a store of its own."""
        with self._translated():
            chosen = Chosen(self._engine, when, where)
        return chosen.digest, lambda: self._open_as_of(when, where, chosen)

    def _open_as_of(self, when: int | str, where: Where, chosen: Chosen) -> EmbeddedStore:
        with self._translated():
            while True:
                target = self._folder / AS_OF / chosen.digest
                if not target.exists():
                    with asof.place(self._folder) as made:
                        EmbeddedStore(made).close()
                        asof.fill(made / DATABASE, self._folder / DATABASE, chosen)
                        EmbeddedStore(made).close()  # opening makes the indexes
                        asof.settle(made, target)
                # A removal since then was not seen: it must not live on in a view.
                again = Chosen(self._engine, when, where)
                if again.digest == chosen.digest:
                    return EmbeddedStore(target, create=False)
                shutil.rmtree(target, ignore_errors=True)
                chosen = again

    def refresh(self) -> None:
        with self._translated():
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
                indexes = self._indexes.view()
                if self._registry.sequence() == census.sequence:
                    if self._indexes.damaged:
                        self._occurrences = Occurrences()
                    self._view = _View(census, indexes)
                    return self._view

    def close(self) -> None:
        self._indexes.close()
        self._engine.dispose()
