"""What every part of the library holds: its store, its model, its settings.

`Library` is one class to those who use it and several files to those who read it: each part is a
base class of its own and knows the others only through what stands here.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from threading import Event
from typing import TypeVar

from trivium.config import Settings
from trivium.errors import DocumentNotFound, ModelChanged
from trivium.library.assembly import generator_for, reranker_for
from trivium.library.model import embedder_or_missing, with_model
from trivium.ports import Embedder, Generator
from trivium.search.run import Searcher
from trivium.store.embedded.store import EmbeddedStore
from trivium.text.values import check_text
from trivium.types import AnyOf, Compare, Document, DocumentId, Where

T = TypeVar("T")
_SWITCHES = 3  # of the model during one search; even two would take someone in a great hurry


class Parts:
    _store: EmbeddedStore
    _embedder: Embedder
    _settings: Settings
    _searcher: Searcher
    _generator: Generator | None
    _halt: Event  # set: no further document is begun

    def _use(self, embedder: Embedder, settings: Settings) -> None:
        # A remote model's are known from its first answer on: here, that of an earlier day.
        manifest = self._store.manifest()
        if embedder.fingerprint == manifest.model:
            embedder.dimensions = embedder.dimensions or manifest.dimensions
        self._embedder = embedder
        self._settings = settings
        self._generator = generator_for(settings)
        self._searcher = Searcher(
            self._store,
            embedder,
            self._generator,
            reranker_for(settings, embedder, self._store),
        )

    def _follow(self) -> None:
        """Use the model that the library's vectors are of by now, whatever the settings named when
        it was opened: another process has embedded it anew."""
        manifest = self._store.manifest()
        if manifest.model and manifest.model != self._embedder.fingerprint:
            settings = with_model(self._settings, manifest.settings)
            self._use(embedder_or_missing(settings), settings)

    def _following(self, search: Callable[[], T]) -> T:
        """What a search gives, begun anew with the new model where that changed on the way."""
        for _ in range(_SWITCHES):
            try:
                return search()
            except ModelChanged:
                self._follow()
        return search()

    def _one(self, document: DocumentId | str, within: Where) -> Document:
        name = f"#{document}" if isinstance(document, int) else document
        check_text("document", name)
        full = os.path.abspath(name)
        named = AnyOf((Compare("source", "eq", name), Compare("source", "eq", full)))
        found = self._store.documents(within.narrowed(named), limit=2)
        if not found:
            raise DocumentNotFound(f"The library holds no document {name}.")
        if len(found) > 1:
            choices = ", ".join(f"#{d.id} {d.uri}" for d in found)
            raise DocumentNotFound(f"Several documents are called {name}: {choices}.")
        return found[0]
