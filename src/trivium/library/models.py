"""Changes the embedding model of a library."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from secrets import token_hex

from trivium.config import Settings
from trivium.core.errors import BadSetting, ReembedStopped, TriviumError
from trivium.core.types import Manifest
from trivium.core.work import REEMBED, Job, JobState, worker_lease
from trivium.ingest.reembed import Reembedder, ReembedProgress
from trivium.library.assembly import embedder_for, token_embedder_for
from trivium.library.model import CurrentModel, description, with_model
from trivium.ports import Backend, Queue, Waiting


@dataclass(frozen=True, slots=True)
class Reembedded:
    """The result of a `reembed`."""

    before: str  # fingerprints of the models
    model: str
    passages: int  # embedded in this call; what an earlier one had done is not among them
    seconds: float


class Models:
    def __init__(self, backend: Backend, model: CurrentModel) -> None:
        self._backend = backend
        self._model = model

    def manifest(self) -> Manifest:
        """Format of the library and the model it was embedded with."""
        return self._backend.models.manifest()

    def reembed(
        self,
        settings: Settings | None = None,
        *,
        on_progress: Callable[[ReembedProgress], None] = lambda progress: None,
        on_wait: Waiting | None = None,
    ) -> Reembedded:
        """Embed everything again with the model that these settings name. Searches use the old
        vectors until all new ones are ready, then every process switches at once.

        If interrupted, call it again to resume; without settings, it resumes the unfinished
        change."""
        manifest = self._backend.models.manifest()
        if settings is None:
            settings = with_model(self._model.settings, self._begun(manifest))
        embedder, described = embedder_for(settings), description(settings)
        worker = token_hex(8)
        job = _ReembedJob(self._backend.queue, worker, embedder.fingerprint, described, on_progress)
        work = Reembedder(
            self._backend,
            embedder,
            described,
            token_embedder=token_embedder_for(settings, embedder),
            on_progress=job.tell,
        )
        with self._backend.leases.hold(worker_lease(worker), "working"), job:
            done = work.run(on_wait)
        self._model.follow()
        return Reembedded(manifest.model, embedder.fingerprint, done.done, done.seconds)

    def stop(self) -> str:
        """Cancel a change of the model, wherever it runs; the vectors in use stay. Returns the
        model of the cancelled change, or nothing if there was none."""
        model = self._backend.models.manifest().next_model
        if model:
            for job in self._reembedding():
                self._backend.jobs.cancel(job.id)
            self._backend.models.abandon()
        return model

    def _begun(self, manifest: Manifest) -> Mapping[str, str]:
        """How to load the model of an unfinished change."""
        if manifest.next_model:
            return manifest.next_settings
        for job in self._reembedding():
            described: Mapping[str, str] = job.options["settings"]
            return described
        raise BadSetting("No unfinished change of the model to resume.", fix=_HOW)

    def _reembedding(self) -> list[Job]:
        return [job for job in self._backend.jobs.all(ended=False) if job.kind == REEMBED]


class _ReembedJob:
    """The change as people see it in the list of jobs. A context for the time of the work."""

    def __init__(
        self,
        queue: Queue,
        worker: str,
        model: str,
        settings: Mapping[str, str],
        on_progress: Callable[[ReembedProgress], None],
    ) -> None:
        self._queue = queue
        self._worker = worker
        self._on_progress = on_progress
        self._job = queue.begin_reembed(model, settings)

    def tell(self, progress: ReembedProgress) -> None:
        before = self._job.ended  # by a process that did not finish it
        self._queue.advance(self._job.id, before + progress.done, before + progress.total)
        self._on_progress(progress)

    def __enter__(self) -> None:
        self._queue.take_up(self._worker, self._job.id)

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if error is None:
            self._queue.leave(self._job.id, JobState.DONE)
        elif isinstance(error, ReembedStopped):
            self._queue.leave(self._job.id, JobState.CANCELLED)
        elif isinstance(error, TriviumError):
            self._queue.leave(self._job.id, JobState.FAILED, str(error))
        else:
            self._queue.leave(self._job.id, JobState.QUEUED)


_HOW = "Name the model, or set it in the embed settings."
