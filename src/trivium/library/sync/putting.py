"""Adds items of a source to the library, through the same pipeline as every document."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack

from trivium.core.types import Labels
from trivium.core.work import Job, JobState, KeptSource, Priority, SyncPoint
from trivium.ingest.embedding import Embedding
from trivium.ingest.outcomes import Outcome
from trivium.ingest.run import Pipeline
from trivium.ingest.tasks import Offer
from trivium.library.assembly import readers_for, token_embedder_for
from trivium.library.model import CurrentModel, description
from trivium.library.worker import Readers, options_for
from trivium.ports import Backend, SourceItem, Waiting


class Putting:
    """For one run. Use it as a context manager: leaving it ends the processes that read files."""

    def __init__(self, backend: Backend, model: CurrentModel, source: KeptSource) -> None:
        model.follow()
        self._backend = backend
        self._model = model
        self._embedder, self._settings = model.embedder, model.settings
        backend.models.describe(self._embedder.fingerprint, description(self._settings))
        tokens = token_embedder_for(self._settings, self._embedder)
        self._embedding = Embedding(backend, self._embedder, tokens)
        labels = Labels(source.collection, source.category, None, {})
        self._job = _job(options_for(labels, self._settings, None))
        self._reading = ExitStack()
        self._readers: Readers | None = None

    def __enter__(self) -> Putting:
        return self

    def __exit__(self, *_: object) -> None:
        self.rest()

    def put(self, items: Sequence[SourceItem], point: SyncPoint | None) -> Iterator[Outcome]:
        """The cursor advances in the transaction that shows the last of them."""
        threads = readers_for(self._settings) + 1
        with Pipeline(self._backend, self._embedding, readers=threads, point=point) as pipeline:
            yield from pipeline.run(self._offers(items))

    def rest(self) -> None:
        """End the processes that read files; the next item starts them again."""
        self._reading.close()
        self._readers = None

    def embed_missing(self, on_wait: Waiting | None) -> None:
        """At the end: embed what was left out because the model failed for a while."""
        embedding = self._embedding
        if embedding.texts and not embedding.is_failing:
            with self._backend.writer.writing(on_wait):
                self._backend.models.embed_missing(
                    embedding.model, lambda texts: embedding.embed(texts).vectors
                )
            self._model.renew_separation()

    def _offers(self, items: Sequence[SourceItem]) -> Iterator[Offer]:
        if self._readers is None:
            made = Readers(self._backend, self._embedder, self._settings)
            self._readers = self._reading.enter_context(made)
        for item in items:
            yield self._readers.offer_here(self._job, item, 0)


def _job(options: Mapping[str, object]) -> Job:
    """Tells the readers of a run what to do. It isn't in any queue: only the cursor is stored."""
    return Job(0, "sync", "", JobState.RUNNING, Priority.BULK, "", options=options)
