"""What every part of the library holds: its store, its model, its settings.

`Library` is one class to those who use it and several files to those who read it: each part is a
base class of its own and knows the others only through what stands here.
"""

from __future__ import annotations

import os

from trivium.config import Settings
from trivium.errors import DocumentNotFound
from trivium.ports import Embedder, Generator
from trivium.search.run import Searcher
from trivium.store.embedded.store import EmbeddedStore
from trivium.types import AllOf, AnyOf, Compare, Document, DocumentId, Where


class Parts:
    _store: EmbeddedStore
    _embedder: Embedder
    _settings: Settings
    _searcher: Searcher
    _generator: Generator | None

    def _one(self, document: DocumentId | str, within: Where) -> Document:
        name = f"#{document}" if isinstance(document, int) else document
        full = os.path.abspath(name)
        named = AnyOf((Compare("source", "eq", name), Compare("source", "eq", full)))
        found = self._store.documents(
            Where(within.audiences, AllOf((within.condition, named))), limit=2
        )
        if not found:
            raise DocumentNotFound(f"The library holds no document {name}.")
        if len(found) > 1:
            choices = ", ".join(f"#{d.id} {d.uri}" for d in found)
            raise DocumentNotFound(f"Several documents are called {name}: {choices}.")
        return found[0]
