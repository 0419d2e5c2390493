"""How a library comes to another embedding model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from trivium.config import Settings
from trivium.errors import BadSetting
from trivium.ingest.reembed import Progress, Reembedder
from trivium.library.assembly import embedder_for, token_embedder_for
from trivium.library.model import description, with_model
from trivium.library.parts import Parts
from trivium.ports import Waiting


@dataclass(frozen=True, slots=True)
class Reembedded:
    """What a `reembed` did."""

    before: str  # fingerprints of the models
    model: str
    passages: int  # embedded in this call; what an earlier one had done is not among them
    seconds: float


class Reembedding(Parts):
    def reembed(
        self,
        settings: Settings | None = None,
        *,
        on_progress: Callable[[Progress], None] = lambda progress: None,
        on_wait: Waiting | None = None,
    ) -> Reembedded:
        """Embed everything anew with the model that these settings name. Searches go on with the
        old vectors until all of the new ones are there, then every process uses those at once.

        Interrupted, it goes on where it was when it is called again; without settings, with the
        model that was begun."""
        manifest = self._store.manifest()
        if settings is None:
            if not manifest.next_model:
                raise BadSetting("There is no change of the model to go on with.", fix=_HOW)
            settings = with_model(self._settings, manifest.next_settings)
        embedder = embedder_for(settings)
        work = Reembedder(
            self._store,
            embedder,
            description(settings),
            token_embedder=token_embedder_for(settings, embedder),
            on_progress=on_progress,
        )
        done = work.run(on_wait)
        self._follow()
        return Reembedded(manifest.model, embedder.fingerprint, done.done, done.seconds)

    def stop_reembedding(self) -> str:
        """Give up a change of the model, wherever it is running; the vectors that serve stay. The
        model that was to come comes back, or nothing where there was none."""
        model = self._store.manifest().next_model
        if model:
            self._store.abandon_model()
        return model


_HOW = "Name the model, or set the embed settings to it."
