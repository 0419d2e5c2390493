"""One run of a worker: documents, then vectors. Exists while its lease is held.

`Readers` makes the readers and chunkers as each job asks. Another process may run a job than the
one that created it, so the job stores its labels, and the settings that affect the result, as JSON.
The caller says what to work on, and for whom.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, fields, replace
from functools import partial
from threading import Event
from time import monotonic
from typing import TYPE_CHECKING, Any

from trivium.config import Settings, names
from trivium.core.errors import ReadError, TriviumError
from trivium.core.types import Extraction, Labels, Vector
from trivium.core.work import Job, KeptSource, Priority, Step, Task, TaskEnd, TaskId, TaskState
from trivium.ingest.embedding import Embedding
from trivium.ingest.outcomes import Outcome, failure
from trivium.ingest.preparing import Preparer
from trivium.ingest.run import Pipeline
from trivium.ingest.tasks import Offer, TaskFeed, TaskRecords, clean_item
from trivium.library.assembly import (
    chunker_for,
    file_chunking,
    generator_for,
    reader_for,
    readers_for,
    reading,
    recordings_for,
    sandbox_for,
    summariser_for,
    token_embedder_for,
)
from trivium.ports import (
    Backend,
    Blob,
    Embedder,
    LastingSource,
    NotingEmbedder,
    Reader,
    Source,
    SourceItem,
    Spool,
)
from trivium.sources import kinds
from trivium.sources.folder import FolderSource
from trivium.sources.spool import SpoolSource
from trivium.text.values import clean_metadata, clean_text

if TYPE_CHECKING:
    from trivium.extract.sandbox import Sandbox

# Settings that decide what becomes of a document. The model is the library's, not the job's.
_KEPT = ("read.", "chunk.", "audio.")
_SOURCES: Mapping[str, Callable[[Mapping[str, Any], Spool], LastingSource]] = {
    FolderSource.kind: lambda description, _: FolderSource.made_again(description),
    SpoolSource.kind: lambda _, spool: SpoolSource(spool),
}


def _is_kept(name: str) -> bool:
    """Not where a key is: that is the business of the machine that works."""
    return name.startswith(_KEPT) and not name.endswith(".key_file")


def options_for(
    labels: Labels, settings: Settings, source: LastingSource | None, by: str = ""
) -> dict[str, Any]:
    """The options that a job stores. `by`: the token that asked."""
    default = Settings()
    changed = {
        name: getattr(settings, attribute)
        for name, attribute in names().items()
        if _is_kept(name) and getattr(settings, attribute) != getattr(default, attribute)
    }
    made = {"kind": source.kind, **source.options()} if source else {}
    return {"labels": asdict(labels), "settings": changed, "source": made, "by": by}


def check(settings: Settings, embedder: Embedder) -> None:
    """Raise errors now that a worker would meet at the first document."""
    from trivium.ingest.extractors import extractors

    extractors(reading(settings))
    chunker_for(settings, embedder)
    summariser_for(settings, generator_for(settings))
    reader_for(settings, generator_for(settings), lambda blobs: [])


def _twin(source: KeptSource, uri: str) -> str:
    """The beginning of the uris under which a source shows a file, if it reads the file; else
    empty."""
    place = kinds.place_of(source.kind, source.options)
    inside = uri.removeprefix(f"{place}{os.sep}").replace(os.sep, "/")
    if not place or (uri != place and not uri.startswith(f"{place}{os.sep}")):
        return ""
    if uri == place or re.fullmatch(kinds.kind_of(source.kind).members, inside):
        return source.uri_prefix.removesuffix("/")
    return source.uri_prefix + inside


def synced(backend: Backend, collection: str, uris: Sequence[str]) -> set[str]:
    """Which of these files a synced source shows already: whoever adds their folder, too, gets each
    document once."""
    if not any(map(os.path.isabs, uris)):
        return set()
    sources = [source for source in backend.sources.all() if source.collection == collection]
    twins = [(uri, twin) for source in sources for uri in uris if (twin := _twin(source, uri))]
    wanted = list(dict.fromkeys(twin for _, twin in twins))
    documents = backend.documents.find_all(wanted, collection) if wanted else {}
    shown = {
        twin
        for twin in wanted
        if twin in documents or backend.documents.below(f"{twin}/", collection)
    }
    return {uri for uri, twin in twins if twin in shown}


class Readers:
    """Use it as a context manager: it ends the processes that read files."""

    def __init__(self, backend: Backend, embedder: Embedder, settings: Settings) -> None:
        self._backend = backend
        self._embedder = embedder
        self._settings = settings
        self._generator = generator_for(settings)
        self._open = ExitStack()
        self._sandboxes: dict[str, Sandbox] = {}
        self._prepared: dict[str, tuple[Labels, Preparer]] = {}
        self._sources: dict[int, LastingSource] = {}

    def __enter__(self) -> Readers:
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    def offer(self, job: Job, task: Task) -> Offer:
        """A task of any process."""
        if job.id not in self._sources:
            described = job.options["source"]
            self._sources = {job.id: _SOURCES[described["kind"]](described, self._backend.spool)}
        item = clean_item(self._sources[job.id].again(task.key))
        offer = self.offer_here(job, item, task.id)
        return replace(offer, anew=True) if task.anew else offer

    def offer_here(self, job: Job, item: SourceItem, task: TaskId) -> Offer:
        """An item that this process has from its source."""
        labels, preparer = self._preparer(job)
        return Offer(item, labels, preparer, job.id, task, Priority(job.priority))

    def _preparer(self, job: Job) -> tuple[Labels, Preparer]:
        from trivium.ingest.extractors import extractors

        sender = job.options.get("by", "")
        key = repr((job.options["labels"], job.options["settings"], sender))
        if key not in self._prepared:
            settings = self._recalled(job.options["settings"])
            labels = replace(_labels(job.options["labels"]), sender=sender)
            chunker = self._backend.documents.chunker(labels.collection)
            preparer = Preparer(
                self._backend,
                chunker_for(settings, self._embedder, chunker),
                reader_for(settings, self._generator, self._reader(settings, chunker)),
                extractors(reading(settings)),
                max_bytes=settings.read_max_bytes,
                max_chunks=settings.chunk_limit,
                summariser=summariser_for(settings, self._generator),
                keep_originals=settings.archive_keep,
                synced=partial(synced, self._backend, labels.collection),
            )
            self._prepared = {key: (labels, preparer)}
        return self._prepared[key]

    def _reader(self, settings: Settings, chunker: str) -> Reader:
        """`chunker`: the collection's own strategy, if it has one."""
        plan = file_chunking(settings, self._embedder, chunker)
        read = partial(self._sandbox(settings).read_all, chunking=plan.as_text())

        def hear(blobs: Sequence[Blob]) -> list[Extraction | ReadError]:
            return self._sandbox(settings, hears=True).read_all(blobs, plan.as_text())

        return recordings_for(settings, read, hear)

    def _sandbox(self, settings: Settings, *, hears: bool = False) -> Sandbox:
        key = repr([hears, *(getattr(settings, f.name) for f in fields(settings))])
        if key not in self._sandboxes:
            workers = 1 if hears else readers_for(settings)
            self._sandboxes[key] = self._open.enter_context(sandbox_for(settings, workers))
        return self._sandboxes[key]

    def _recalled(self, stored: Mapping[str, Any]) -> Settings:
        """This process's settings, with those of the job."""
        default = Settings()
        values = {
            attribute: stored.get(name, getattr(default, attribute))
            for name, attribute in names().items()
            if _is_kept(name)
        }
        return replace(self._settings, **values)


def _labels(stored: Mapping[str, Any]) -> Labels:
    """Cleaned: a job of an earlier release may hold values that are refused today."""
    texts = {name: clean_text(v) for name, v in stored.items() if isinstance(v, str)}
    return Labels(**{**stored, **texts, "metadata": clean_metadata(stored["metadata"])[0]})


_SETTLE = 5.0  # seconds between two entries about vectors that were missing


@dataclass(eq=False)
class WorkerRun:
    _backend: Backend
    _worker: str  # its name, under which it holds a lease
    _embedder: Embedder
    _settings: Settings
    _on_outcome: Callable[[Outcome], None]
    _on_note: Callable[[str], None]
    _halt: Event  # once set, no further document is started
    _on_look: Callable[[], None]  # now and then, while a document takes long

    def __post_init__(self) -> None:
        self._embedding = Embedding(
            self._backend, self._embedder, token_embedder_for(self._settings, self._embedder)
        )

    @property
    def embedding_seconds(self) -> float:
        return self._embedding.seconds

    def work_off(self, last: Job | None) -> None:
        """Run the queue to the end of this job; None: all of it."""
        readers = self._readers()
        feed = TaskFeed(self._backend, self._worker, readers.offer, self._halt)
        again = partial(feed.until, last)
        self._run(feed, again(), again, TaskRecords(self._backend.queue, self._worker), readers)

    def work_on(self, job: Job, source: Source) -> None:
        """What only this process can offer."""
        queue = self._backend.queue
        queue.start(self._worker, job.id)
        records = TaskRecords(queue, self._worker)
        readers = self._readers()
        feed = TaskFeed(self._backend, self._worker, readers.offer, self._halt)

        def offers() -> Iterator[Offer]:
            yield from feed.stream(
                job, records, source.items(), lambda item, task: readers.offer_here(job, item, task)
            )
            records.settle(now=True)
            queue.complete(job.id)

        self._run(feed, offers(), partial(feed.ahead_of, job), records, readers)

    def _readers(self) -> Readers:
        return Readers(self._backend, self._embedder, self._settings)

    def _run(
        self,
        feed: TaskFeed,
        offers: Iterator[Offer],
        more: Callable[[], Iterator[Offer]],
        records: TaskRecords,
        readers: Readers,
    ) -> None:
        threads = readers_for(self._settings) + 1  # one chunks while the others read
        pipeline = Pipeline(
            self._backend, self._embedding, readers=threads, records=records, on_note=self._on_note
        )

        def further(hears: bool) -> Iterator[Offer]:
            self._on_look()
            return feed.beside() if hears else more()

        try:
            with pipeline, readers:  # the readers end first, then the threads that wait for them
                for outcome in pipeline.run(offers, further):
                    self._on_outcome(outcome)
            if not self._halt.is_set():
                self._embed_missing(feed.unembedded)
            if isinstance(self._embedder, NotingEmbedder) and self._embedder.note:
                self._on_note(self._embedder.note)
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
            reasons.extend(
                failure("a passage", Step.EMBED, fault) for fault in made.faults.values()
            )
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
