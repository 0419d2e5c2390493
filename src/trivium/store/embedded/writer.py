"""Makes every change to documents: updates the indexes first, then switches in SQLite. `writing`
says why the order matters."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path

from trivium.core.types import Document, DocumentId, Metadata, Processed, Where
from trivium.ports import Waiting
from trivium.store.blobs import KeptOriginals
from trivium.store.embedded.asof import discard
from trivium.store.embedded.indexes import Indexes
from trivium.store.embedded.writing import Writing
from trivium.store.sql.names import Names
from trivium.store.sql.removal import Gone, Removal
from trivium.store.sql.staging import Staging


class EmbeddedWriter:
    def __init__(
        self,
        folder: Path,
        writing: Writing,
        staging: Staging,
        names: Names,
        removal: Removal,
        indexes: Indexes,
        originals: KeptOriginals,
    ) -> None:
        self._folder = folder
        self._writing = writing
        self._staging = staging
        self._names = names
        self._removal = removal
        self._indexes = indexes
        self._originals = originals

    def writing(
        self, waiting: Waiting | None = None, patience: float | None = None
    ) -> AbstractContextManager[None]:
        return self._writing.writing(waiting, patience)

    def put(self, batch: Sequence[Processed], model: str) -> list[Document]:
        if not batch:
            return []
        with self.writing():
            done: list[Document] = []
            try:
                while len(done) < len(batch):
                    stage = self._staging.stage(batch[len(done) :], model)
                    self._indexes.add([chunk for one in stage.staged for chunk in one.indexed])
                    done += self._staging.activate(
                        stage.staged, stage.documents, stage.ends, stage.points
                    )
            except BaseException as reason:
                self._writing.undo()
                if not done or not isinstance(reason, Exception):  # Ctrl-C ends the run
                    raise
            finally:
                self._originals.registered(processed.original for processed in batch[: len(done)])
            return done

    def relabel(
        self, document: DocumentId, *, category: str, audience: str, metadata: Metadata
    ) -> None:
        with self.writing():
            self._names.relabel(document, category=category, audience=audience, metadata=metadata)

    def remove(self, documents: Iterable[DocumentId]) -> int:
        with self.writing():
            return self._dropped(self._removal.remove(documents))

    def add_name(self, document: DocumentId, uri: str) -> Document:
        with self.writing():
            return self._names.add_name(document, uri)

    def rename(self, document: DocumentId, old: str, new: str) -> Document:
        with self.writing():
            return self._names.rename(document, old, new)

    def forget(self, uri: str, collection: str) -> list[Document]:
        with self.writing():
            nameless = self._names.unname(uri, collection)
            self.remove(document.id for document in nameless)
            return nameless

    def restore(self, document: DocumentId, number: int) -> Document:
        with self.writing():
            staged = self._staging.stage_restored(document, number)
            self._indexes.add(staged.indexed)
            return self._staging.activate([staged], [document])[0]

    def prune(self, where: Where, *, keep: int = 1, before: str = "") -> int:
        with self.writing():
            return self._dropped(self._removal.prune(where, keep=keep, before=before))

    def set_chunker(self, collection: str, chunker: str) -> None:
        with self.writing():
            self._names.set_chunker(collection, chunker)

    def _dropped(self, gone: Gone) -> int:
        """After the registry has let go: a crash in between leaves bytes that `compact` finds."""
        self._originals.drop(gone.originals)
        discard(self._folder)
        return gone.count
