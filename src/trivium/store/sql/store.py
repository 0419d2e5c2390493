"""What every store over the registry answers alike: all that SQL alone decides.

A store adds how it finds chunks by a signal, and what a write means to its indexes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

from trivium.access import AccessToken
from trivium.history import Interpretation
from trivium.ports import Summarised, Unembedded
from trivium.store.neighbours import neighbours
from trivium.store.sql.conversations import ConversingStore
from trivium.store.sql.registry import Registry
from trivium.types import (
    ChunkId,
    Collection,
    Document,
    DocumentId,
    Label,
    Manifest,
    Neighbours,
    StoredChunk,
    TokenVectors,
    Where,
)
from trivium.work import WatchedFolder

if TYPE_CHECKING:
    from trivium.types import Vector


class SqlStore(ConversingStore):
    _registry: Registry

    def _translated(self) -> AbstractContextManager[None]:
        """Errors of the database as errors of Trivium."""
        raise NotImplementedError

    def manifest(self) -> Manifest:
        with self._translated():
            return self._registry.manifest()

    def embeddings(
        self, model: str, hashes: Sequence[str], sender: str = ""
    ) -> Mapping[str, Vector]:
        with self._translated():
            return self._registry.embeddings(model, hashes, sender)

    def summary(self, content_hash: str, summariser: str, sender: str = "") -> str | None:
        with self._translated():
            return self._registry.summary(content_hash, summariser, sender)

    def lacking(self, model: str, documents: Sequence[DocumentId]) -> set[DocumentId]:
        """Those of the documents that have a chunk without a vector of this model."""
        with self._translated():
            return self._registry.lacking(model, documents)

    def chunker(self, collection: str) -> str:
        with self._translated():
            return self._registry.chunker(collection)

    def collections(self, where: Where) -> list[Collection]:
        with self._translated():
            return self._registry.collections(where)

    def counts(self, label: Label, where: Where) -> dict[str, int]:
        with self._translated():
            return self._registry.counts(label, where)

    def find(self, uri: str, collection: str) -> Document | None:
        with self._translated():
            return self._registry.find(uri, collection)

    def documents(
        self, where: Where, *, after: DocumentId = 0, limit: int | None = None
    ) -> list[Document]:
        with self._translated():
            return self._registry.documents(where, after=after, limit=limit)

    def find_all(self, uris: Sequence[str], collection: str) -> Mapping[str, Document]:
        with self._translated():
            return self._registry.find_all(uris, collection)

    def alike(self, hashes: Sequence[str], collection: str) -> list[Document]:
        with self._translated():
            return self._registry.alike(hashes, collection)

    def summarised(self, document: DocumentId) -> Summarised | None:
        with self._translated():
            return self._registry.summarised(document)

    def below(self, prefix: str, collection: str) -> list[str]:
        with self._translated():
            return self._registry.below(prefix, collection)

    def within(self, uri: str, collection: str) -> list[Document]:
        with self._translated():
            return self._registry.within(uri, collection)

    def sketches(
        self, where: Where, like: Sequence[DocumentId] | None = None
    ) -> Mapping[DocumentId, bytes]:
        with self._translated():
            return self._registry.sketches(where, like)

    def history(self, document: DocumentId, where: Where) -> list[Interpretation]:
        with self._translated():
            return self._registry.history(document, where)

    def text(
        self, document: DocumentId, where: Where, interpretation: int | None = None
    ) -> str | None:
        with self._translated():
            return self._registry.text(document, where, interpretation)

    def passages(
        self, document: DocumentId, where: Where, interpretation: int | None = None
    ) -> list[StoredChunk]:
        with self._translated():
            return self._registry.passages(document, where, interpretation)

    def chunks(self, ids: Sequence[ChunkId], where: Where) -> list[StoredChunk]:
        with self._translated():
            return self._registry.chunks(ids, where)

    def around(
        self, ids: Sequence[ChunkId], before: int, after: int, where: Where
    ) -> dict[ChunkId, Neighbours]:
        return neighbours(ids, before, after, lambda wanted: self.chunks(wanted, where))

    def vectors(self, ids: Sequence[ChunkId], where: Where) -> dict[ChunkId, Vector]:
        with self._translated():
            return self._registry.vectors(ids, where)

    def field_names(self, where: Where) -> frozenset[str]:
        with self._translated():
            return self._registry.field_names(where)

    def token_vectors(
        self, ids: Sequence[ChunkId], where: Where, model: str
    ) -> Mapping[ChunkId, TokenVectors]:
        with self._translated():
            return self._registry.token_vectors(ids, where, model)

    # --- changing the model

    def describe_model(self, model: str, settings: Mapping[str, str]) -> None:
        with self._translated():
            self._registry.describe_model(model, settings)

    def begin_model(self, model: str, settings: Mapping[str, str]) -> None:
        with self._translated():
            self._registry.begin_model(model, settings)

    def count_unembedded(self, model: str) -> int:
        with self._translated():
            return self._registry.count_unembedded(model)

    def unembedded(self, model: str, after: ChunkId, limit: int) -> list[Unembedded]:
        with self._translated():
            return self._registry.unembedded(model, after, limit)

    def keep_beside(
        self, model: str, vectors: Mapping[str, Vector], tokens: Mapping[str, TokenVectors]
    ) -> None:
        with self._translated():
            self._registry.keep_beside(model, vectors, tokens)

    def abandon_model(self) -> None:
        with self._translated():
            self._registry.abandon_model()

    def keep_token(self, token: AccessToken) -> None:
        with self._translated():
            self._registry.keep_token(token)

    def access_token(self, id_: str) -> AccessToken | None:
        with self._translated():
            return self._registry.access_token(id_)

    def access_tokens(self) -> list[AccessToken]:
        with self._translated():
            return self._registry.access_tokens()

    def forget_token(self, id_: str) -> bool:
        with self._translated():
            return self._registry.forget_token(id_)

    def keep_folder(self, folder: WatchedFolder) -> None:
        with self._translated():
            self._registry.keep_folder(folder)

    def folders(self) -> list[WatchedFolder]:
        with self._translated():
            return self._registry.folders()

    def forget_folder(self, id_: str) -> bool:
        with self._translated():
            return self._registry.forget_folder(id_)
