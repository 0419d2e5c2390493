"""The model of a library's vectors, and the searcher and answerer that use it. Another process may
embed the library again at any time; callers of this class follow."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from trivium.config import Settings
from trivium.core.errors import ModelChanged
from trivium.core.types import Where
from trivium.library.assembly import deep_reranker_for, generator_for, reranker_for
from trivium.library.grasp import Grasps
from trivium.library.model import embedder_or_missing, with_model
from trivium.ports import Backend, Embedder
from trivium.search.grasp import Passages
from trivium.search.run import Searcher

T = TypeVar("T")
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
        self._grasps = Grasps(self._backend, embedder)
        self.searcher = Searcher(
            self._backend,
            embedder,
            self.generator,
            reranker,
            self._grasp,
            self._passages,
            deep_reranker_for(settings),
        )

    def renew_grasp(self) -> None:
        """After documents were added."""
        self._grasps.renew()

    def _grasp(self, where: Where) -> float | None:
        found = self._grasps.of(where)
        return None if found is None else found.grasp

    def _passages(self, where: Where) -> Passages:
        found = self._grasps.of(where)
        return Passages(few=True) if found is None else found.shape

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
