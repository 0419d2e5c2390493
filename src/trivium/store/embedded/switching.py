"""How the store in one folder comes to the vectors of another model.

They are kept in SQLite as they are made, their index is built in a folder of its own, and one
transaction makes both serve: a reader that notices opens the other folder. Part of the store.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from filelock import FileLock

from trivium.errors import NotEmbedded
from trivium.ports import Waiting
from trivium.store.embedded.changes import Changes
from trivium.store.embedded.locks import held, is_held

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Switching(Changes):
    _folder: Path
    _wait: float

    @contextmanager
    def changing_model(self, waiting: Waiting | None = None) -> Iterator[None]:
        lock = self._switch_lock()
        with self._translated(), held(lock, self._wait, waiting, "embedding this library anew"):
            yield

    def is_changing_model(self) -> bool:
        """Whether a process is at it just now."""
        return is_held(self._switch_lock())

    def _switch_lock(self) -> FileLock:
        return FileLock(self._folder / "reembed.lock", thread_local=False)

    def prepare_model(self, model: str) -> None:
        with self._translated():
            dimensions = self._registry.dimensions_of(model)
            if dimensions:
                self._indexes.build_beside(model, dimensions)

    def switch_model(self, model: str) -> None:
        with self.writing():
            lacking = self._registry.count_unembedded(model)
            if lacking:
                raise NotEmbedded(f"{lacking:,} passages have no vector of {model}.", fix="")
            dimensions = self._registry.dimensions_of(model)
            indexed = np.empty(0, dtype=np.int64)
            if dimensions:
                indexed = self._indexes.build_beside(model, dimensions)
                # Its rows rise by id, so it cannot take up one that it passed: none should be.
                if not np.isin(self._active_chunks(), indexed).all():
                    indexed = self._indexes.build_beside(model, dimensions, anew=True)
            upto = int(indexed[-1]) if len(indexed) else 0
            self._registry.switch_model(model, dimensions, upto)
            self.refresh()

    def drop_other_models(self) -> None:
        with self._translated():
            self._registry.drop_other_models()  # in short transactions: others write between them
        with self.writing():
            pass  # entering removes their files

    def _active_chunks(self) -> NDArray[np.int64]:
        """The ids of every active chunk."""
        raise NotImplementedError

    def refresh(self) -> None:
        """See what is there by now."""
        raise NotImplementedError
