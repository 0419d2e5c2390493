"""The model of a library's vectors, and the searcher and answerer that use it. Another process may
embed the library again at any time; callers of this class follow."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic
from typing import TypeVar

from trivium.config import Settings
from trivium.errors import ModelChanged
from trivium.library.assembly import generator_for, reranker_for
from trivium.library.grasp import kept, renew
from trivium.library.model import embedder_or_missing, with_model
from trivium.ports import Backend, Embedder
from trivium.search.grasp import Passages
from trivium.search.run import Searcher

T = TypeVar("T")
_GRASP_SECONDS = 60.0  # that a search goes by what it last read of it
_SWITCHES = 3  # of the model during one search; even two would take someone in a great hurry


class CurrentModel:
    """Settings, embedder, generator and searcher change together."""

    def __init__(self, backend: Backend, embedder: Embedder, settings: Settings) -> None:
        self._backend = backend
        self._use(embedder, settings)

    def _use(self, embedder: Embedder, settings: Settings) -> None:
        # A remote model's are known from its first answer on: here, that of an earlier day.
        manifest = self._backend.models.manifest()
        if embedder.fingerprint == manifest.model:
            embedder.dimensions = embedder.dimensions or manifest.dimensions
        self.embedder = embedder
        self.settings = settings
        self.generator = generator_for(settings)
        reranker = reranker_for(settings, embedder, self._backend)
        self._read_grasp()
        self.searcher = Searcher(
            self._backend, embedder, self.generator, reranker, self._grasp, self._passages
        )

    def renew_grasp(self) -> None:
        """After documents were added."""
        renew(self._backend, self.embedder)
        self._read_grasp()

    def _grasp(self) -> float | None:
        if monotonic() > self._stale:  # another process may have measured it
            self._read_grasp()
        return None if self._known is None else self._known.grasp

    def _passages(self) -> Passages:
        return Passages() if self._known is None else self._known.shape

    def _read_grasp(self) -> None:
        self._known = kept(self._backend, self.embedder.fingerprint)
        self._stale = monotonic() + _GRASP_SECONDS

    def follow(self) -> None:
        """Use the model that the library's vectors are of by now, whatever the settings named when
        it was opened: another process has embedded it again."""
        manifest = self._backend.models.manifest()
        if manifest.model and manifest.model != self.embedder.fingerprint:
            settings = with_model(self.settings, manifest.settings)
            self._use(embedder_or_missing(settings), settings)

    def following(self, search: Callable[[], T]) -> T:
        """Run a search; if the model changed meanwhile, run it again with the new one."""
        for _ in range(_SWITCHES):
            try:
                return search()
            except ModelChanged:
                self.follow()
        return search()
