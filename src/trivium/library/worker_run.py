"""One run of a worker: documents, then vectors. Exists while its lease is held. The caller says
what to work on, and for whom."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from threading import Event
from time import monotonic
from typing import TYPE_CHECKING

from trivium.config import Settings
from trivium.errors import TriviumError
from trivium.ingest.embedding import Embedding
from trivium.ingest.faults import failure
from trivium.ingest.in_flight import Offer
from trivium.ingest.ledger import Ledger
from trivium.ingest.outcomes import Outcome
from trivium.ingest.pipeline import Pipeline
from trivium.ingest.task_feed import TaskFeed
from trivium.library.assembly import readers_for, token_embedder_for
from trivium.library.readers import Readers
from trivium.models.local import LocalEmbedder
from trivium.ports import Backend, Embedder, Source
from trivium.work import Job, Step, Task, TaskEnd, TaskState

if TYPE_CHECKING:
    from trivium.types import Vector

_SETTLE = 5.0  # seconds between two entries about vectors that were missing


class WorkerRun:
    def __init__(
        self,
        backend: Backend,
        worker: str,
        embedder: Embedder,
        settings: Settings,
        on_outcome: Callable[[Outcome], None],
        on_note: Callable[[str], None],
        halt: Event,
    ) -> None:
        """`worker`: its name, under which it holds a lease. `halt`: once set, no further document
        is begun."""
        self._backend = backend
        self._worker = worker
        self._embedder = embedder
        self._settings = settings
        self._on_outcome = on_outcome
        self._on_note = on_note
        self._halt = halt
        self._embedding = Embedding(backend, embedder, token_embedder_for(settings, embedder))

    @property
    def embedding_seconds(self) -> float:
        return self._embedding.seconds

    def work_off(self, last: Job | None) -> None:
        """Run the queue to the end of this job; None: all of it."""
        readers = self._readers()
        feed = TaskFeed(self._backend, self._worker, readers.offer, self._halt)
        again = partial(feed.until, last)
        self._run(feed, again(), again, Ledger(self._backend.queue, self._worker), readers)

    def work_on(self, job: Job, source: Source) -> None:
        """What only this process can offer."""
        queue = self._backend.queue
        queue.start(self._worker, job.id)
        ledger = Ledger(queue, self._worker)
        readers = self._readers()
        feed = TaskFeed(self._backend, self._worker, readers.offer, self._halt)

        def offers() -> Iterator[Offer]:
            yield from feed.stream(
                job, ledger, source.items(), lambda item, task: readers.offer_here(job, item, task)
            )
            ledger.settle(now=True)
            queue.complete(job.id)

        self._run(feed, offers(), partial(feed.ahead_of, job), ledger, readers)

    def _readers(self) -> Readers:
        return Readers(self._backend, self._embedder, self._settings)

    def _run(
        self,
        feed: TaskFeed,
        offers: Iterator[Offer],
        more: Callable[[], Iterator[Offer]],
        ledger: Ledger,
        readers: Readers,
    ) -> None:
        threads = readers_for(self._settings) + 1  # one chunks while the others read
        pipeline = Pipeline(
            self._backend, self._embedding, readers=threads, ledger=ledger, on_note=self._on_note
        )
        try:
            with pipeline, readers:  # the readers end first, then the threads that wait for them
                for outcome in pipeline.run(offers, more):
                    self._on_outcome(outcome)
            if not self._halt.is_set():
                self._embed_missing(feed.unembedded)
            if isinstance(self._embedder, LocalEmbedder) and self._embedder.gpu_fault:
                self._on_note(self._embedder.gpu_fault)
        finally:
            self._backend.queue.release(feed.left)

    # --- vectors of documents that were added while the model gave none

    def _embed_missing(self, waiting: Sequence[Task]) -> None:
        if self._embedding.is_failing and not waiting:
            return  # that was said already
        reasons: list[TriviumError] = []
        settled, late = monotonic(), 0

        def embed(texts: Mapping[str, str]) -> Mapping[str, Vector]:
            nonlocal settled, late
            if monotonic() - settled > _SETTLE:
                self._end_embedded()
                settled = monotonic()
            made = self._embedding.embed(texts)
            reasons.extend(made.reasons.values())
            reasons.extend(failure("a passage", Step.EMBED, one) for one in made.faults.values())
            late += len(made.vectors)
            return made.vectors

        self._backend.models.embed_missing(self._embedding.model, embed)
        self._end_embedded()
        if late:
            self._on_note(f"Added {late:,} missing vectors.")
        if reasons:
            self._on_note(f"You can find some documents by words and spelling only. {reasons[0]}")
            self._give_up(waiting, reasons[0])

    def _end_embedded(self) -> None:
        """Tasks that lacked nothing but vectors, and have them now, are done."""
        queue = self._backend.queue
        tasks = queue.unembedded()
        documents = [task.document for task in tasks if task.document is not None]
        lacking = self._backend.models.lacking(self._embedding.model, documents)
        queue.end_again(
            [
                TaskEnd(task.id, TaskState.DONE, task.fate, "", "", "", task.document, task.seconds)
                for task in tasks
                if task.document not in lacking
            ]
        )

    def _give_up(self, waiting: Sequence[Task], reason: TriviumError) -> None:
        left = {task.id for task in self._backend.queue.unembedded()}
        self._backend.queue.end(
            [
                TaskEnd(
                    task.id, TaskState.FAILED, task.fate, task.step, reason.code, str(reason),
                    task.document, task.seconds,
                )
                for task in waiting
                if task.id in left
            ]
        )  # fmt: skip
