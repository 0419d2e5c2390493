"""The façade that everything outside uses: one library, opened, filled, searched.

Puts store, models, pipeline and searcher together by the settings. Holds no logic of its own.
"""

from __future__ import annotations

import os
from pathlib import Path
from types import TracebackType

from trivium.config import Settings, load
from trivium.errors import ModelChanged, ModelUnavailable
from trivium.library.adding import Adding
from trivium.library.answering import Answering
from trivium.library.assembly import blobs_for, embedder_for, generator_for, reranker_for
from trivium.library.care import Care
from trivium.library.past import Past
from trivium.models.missing import MissingEmbedder
from trivium.ports import Embedder
from trivium.search.run import Searcher
from trivium.store.embedded.store import EmbeddedStore


class Library(Adding, Answering, Past, Care):
    """One searchable library. Use it as a context manager, or call `close`.

    >>> with Library.open("notes.library") as library:     # doctest: +SKIP
    ...     library.add("notes/")
    ...     for result in library.search("where is the crown"):
    ...         print(result.rank, result.found.document.title)
    """

    def __init__(self, store: EmbeddedStore, embedder: Embedder, settings: Settings) -> None:
        self._store = store
        self._embedder = embedder
        self._settings = settings
        self._generator = generator_for(settings)
        self._searcher = Searcher(
            store, embedder, self._generator, reranker_for(settings, embedder, store)
        )

    @classmethod
    def open(
        cls,
        path: str | os.PathLike[str] | None = None,
        *,
        settings: Settings | None = None,
        create: bool = True,
    ) -> Library:
        """The library in this folder, made if there is none. Without a path, the one that the
        settings name."""
        settings = settings or load().settings
        embedder: Embedder
        try:
            embedder = embedder_for(settings)
        except ModelUnavailable as reason:
            embedder = MissingEmbedder(reason)
        folder = settings.library if path is None else Path(path).expanduser()
        store = EmbeddedStore(folder, create=create, blobs=blobs_for(settings))
        manifest = store.manifest()
        made_with = manifest.model
        if made_with and embedder.fingerprint and made_with != embedder.fingerprint:
            store.close()
            raise ModelChanged(
                f"This library was embedded with {made_with}, the settings name"
                f" {embedder.fingerprint}.",
                fix="Set embed.folder and the other embed settings back, or make a new library.",
            )
        # A remote model's are known from its first answer on: here, that of an earlier day.
        embedder.dimensions = embedder.dimensions or manifest.dimensions
        return cls(store, embedder, settings)

    def close(self) -> None:
        self._store.close()

    def __enter__(self) -> Library:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
