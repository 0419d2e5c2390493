"""Keeps the files of vectors in step with the models in the database: see `store.sql.models`."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from trivium.core.types import ChunkId
from trivium.store.embedded.database import translated
from trivium.store.embedded.indexes import Indexes
from trivium.store.embedded.snapshots import Snapshots
from trivium.store.embedded.writing import Writing


class FolderVectors:
    def __init__(
        self, folder: Path, indexes: Indexes, snapshots: Snapshots, writing: Writing
    ) -> None:
        self._folder = folder
        self._indexes = indexes
        self._snapshots = snapshots
        self._writing = writing

    def holds_all(self) -> bool:
        return self.held() == len(self._snapshots.active_chunks())

    def held(self) -> int:
        return self._snapshots.active_vectors(self._snapshots.current())

    def catch_up(self) -> None:
        self._indexes.rebuild_vectors()
        self._snapshots.forget()

    def prepare(self, model: str, dimensions: int) -> None:
        with translated(self._folder):
            self._indexes.build_beside(model, dimensions)

    def finish(self, model: str, dimensions: int) -> ChunkId:
        indexed = self._indexes.build_beside(model, dimensions)
        # Rows rise by id, so it can't add a chunk below its last one. If one is missing, build
        # everything again.
        if not np.isin(self._snapshots.active_chunks(), indexed).all():
            indexed = self._indexes.build_beside(model, dimensions, anew=True)
        return int(indexed[-1]) if len(indexed) else 0

    def switched(self) -> None:
        self._snapshots.current()

    def drop_others(self) -> None:
        with self._writing.writing():
            pass  # entering removes the files of other models
