"""Everything that changes documents: a switch in SQLite each, the indexes brought up to it first.

Part of the store in one folder; see `store` for why the order matters.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path

from trivium.ports import Waiting
from trivium.store.embedded.asof import discard
from trivium.store.embedded.indexes import Indexes
from trivium.store.originals import Originals
from trivium.store.sql.removal import Gone
from trivium.store.sql.store import SqlStore
from trivium.types import Document, DocumentId, Metadata, Processed, Where


class Changes(SqlStore):
    _folder: Path
    _indexes: Indexes
    _originals: Originals

    def writing(self, waiting: Waiting | None = None) -> AbstractContextManager[None]:
        """One process at a time."""
        raise NotImplementedError

    def _undo(self) -> None:
        """After a failure, within `writing`: as if what was staged had never been."""
        raise NotImplementedError

    def put(self, batch: Sequence[Processed], model: str) -> list[Document]:
        if not batch:
            return []
        with self.writing():
            done: list[Document] = []
            try:
                while len(done) < len(batch):
                    stage = self._registry.stage(batch[len(done) :], model)
                    self._indexes.add([chunk for one in stage.staged for chunk in one.indexed])
                    done += self._registry.activate(stage.staged, stage.documents, stage.ends)
            except BaseException:
                self._undo()
                if not done:
                    raise
            self._originals.registered(processed.original for processed in batch[: len(done)])
            return done

    def archive(self, data: bytes) -> str:
        return self._originals.keep(data)

    def rearchive(self, address: str, data: bytes) -> None:
        blobs = self._originals.blobs
        if blobs.size(address) != len(data) and blobs.address(data) == address:
            blobs.put(data)  # of a document removed this instant it is left to `compact`

    def original(self, address: str) -> bytes:
        return self._originals.blobs.get(address)

    def relabel(
        self, document: DocumentId, *, category: str, audience: str, metadata: Metadata
    ) -> None:
        with self.writing():
            self._registry.relabel(
                document, category=category, audience=audience, metadata=metadata
            )

    def remove(self, documents: Iterable[DocumentId]) -> int:
        with self.writing():
            return self._dropped(self._registry.remove(documents))

    def add_name(self, document: DocumentId, uri: str) -> Document:
        with self.writing():
            return self._registry.add_name(document, uri)

    def rename(self, document: DocumentId, old: str, new: str) -> Document:
        with self.writing():
            return self._registry.rename(document, old, new)

    def forget(self, uri: str, collection: str) -> list[Document]:
        with self.writing():
            nameless = self._registry.unname(uri, collection)
            self.remove(document.id for document in nameless)
            return nameless

    def restore(self, document: DocumentId, number: int) -> Document:
        with self.writing():
            staged = self._registry.stage_restored(document, number)
            self._indexes.add(staged.indexed)
            return self._registry.activate([staged], [document])[0]

    def prune(self, where: Where, *, keep: int = 1, before: str = "") -> int:
        with self.writing():
            return self._dropped(self._registry.prune(where, keep=keep, before=before))

    def _dropped(self, gone: Gone) -> int:
        """After the registry has let go: a crash in between leaves bytes that `compact` finds."""
        self._originals.drop(gone.originals)
        discard(self._folder)
        return gone.count

    def set_chunker(self, collection: str, chunker: str) -> None:
        with self.writing():
            self._registry.set_chunker(collection, chunker)
