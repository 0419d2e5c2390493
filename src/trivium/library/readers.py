"""The readers and chunkers for a job's documents, made as the job asks.

Another process may run a job than the one that created it. So the job stores its labels, and the
settings that affect the result, as JSON.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import asdict, fields, replace
from functools import partial
from typing import Any

from trivium.config import Settings
from trivium.extract.sandbox import Sandbox
from trivium.ingest.extractors import extractors
from trivium.ingest.in_flight import Offer, clean_item
from trivium.ingest.preparing import Preparer
from trivium.library.assembly import (
    chunker_for,
    file_chunking,
    generator_for,
    reader_for,
    reading,
    sandbox_for,
    summariser_for,
)
from trivium.ports import Backend, Embedder, LastingSource, Reader, SourceItem, Spool
from trivium.sources.folder import FolderSource
from trivium.sources.spool import SpoolSource
from trivium.text.values import clean_metadata, clean_text
from trivium.types import Labels
from trivium.work import Job, Priority, Task, TaskId

# Settings that decide what becomes of a document. The model is the library's, not the job's.
_KEPT = ("read.", "chunk.")
_SOURCES: Mapping[str, Callable[[Mapping[str, Any], Spool], LastingSource]] = {
    FolderSource.kind: lambda told, _: FolderSource.made_again(told),
    SpoolSource.kind: lambda _, spool: SpoolSource(spool),
}


def options_for(
    labels: Labels, settings: Settings, source: LastingSource | None, by: str = ""
) -> dict[str, Any]:
    """The options that a job stores. `by`: the token that asked."""
    default = Settings()
    changed = {
        f.metadata["name"]: getattr(settings, f.name)
        for f in fields(Settings)
        if f.metadata["name"].startswith(_KEPT)
        and getattr(settings, f.name) != getattr(default, f.name)
    }
    made = {"kind": source.kind, **source.options()} if source else {}
    return {"labels": asdict(labels), "settings": changed, "source": made, "by": by}


def check(settings: Settings, embedder: Embedder) -> None:
    """Raise errors now that a worker would meet at the first document."""
    extractors(reading(settings))
    chunker_for(settings, embedder)
    summariser_for(settings, generator_for(settings))
    reader_for(settings, generator_for(settings), lambda blobs: [])


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
            told = job.options["source"]
            self._sources = {job.id: _SOURCES[told["kind"]](told, self._backend.spool)}
        item = clean_item(self._sources[job.id].again(task.key))
        return replace(self.offer_here(job, item, task.id), anew=task.anew)

    def offer_here(self, job: Job, item: SourceItem, task: TaskId) -> Offer:
        """An item that this process has from its source."""
        labels, preparer = self._preparer(job)
        return Offer(item, labels, preparer, job.id, task, Priority(job.priority))

    def _preparer(self, job: Job) -> tuple[Labels, Preparer]:
        sender = job.options.get("by", "")
        asked = repr((job.options["labels"], job.options["settings"], sender))
        if asked not in self._prepared:
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
            )
            self._prepared = {asked: (labels, preparer)}
        return self._prepared[asked]

    def _reader(self, settings: Settings, chunker: str) -> Reader:
        """`chunker`: the collection's own strategy, if it has one."""
        plan = file_chunking(settings, self._embedder, chunker)
        return partial(self._sandbox(settings).read_all, chunking=plan.as_text())

    def _sandbox(self, settings: Settings) -> Sandbox:
        asked = repr([getattr(settings, f.name) for f in fields(settings)])
        if asked not in self._sandboxes:
            self._sandboxes[asked] = self._open.enter_context(sandbox_for(settings))
        return self._sandboxes[asked]

    def _recalled(self, kept: Mapping[str, Any]) -> Settings:
        """This process's settings, with those of the job."""
        default = Settings()
        values = {
            f.name: kept.get(f.metadata["name"], getattr(default, f.name))
            for f in fields(Settings)
            if f.metadata["name"].startswith(_KEPT)
        }
        return replace(self._settings, **values)


def _labels(kept: Mapping[str, Any]) -> Labels:
    """Cleaned: a job of before may hold what no door lets in any more."""
    texts = {name: clean_text(v) for name, v in kept.items() if isinstance(v, str)}
    return Labels(**{**kept, **texts, "metadata": clean_metadata(kept["metadata"])[0]})
