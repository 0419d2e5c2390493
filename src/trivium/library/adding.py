"""How documents get into a library, are labelled, and leave it again."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from time import perf_counter

from trivium.errors import ModelUnavailable
from trivium.extract.sandbox import Sandbox
from trivium.ingest.outcomes import Fate, Outcome
from trivium.ingest.pipeline import Pipeline
from trivium.ingest.preparing import CHUNKING, Preparer
from trivium.ingest.reading import extractors
from trivium.library.assembly import (
    chunker_for,
    reader_for,
    reading,
    sandbox_for,
    summariser_for,
    token_embedder_for,
)
from trivium.library.parts import Parts
from trivium.library.report import Report
from trivium.ports import Source, Waiting
from trivium.sources.folder import FolderSource
from trivium.types import (
    OWNER,
    Document,
    DocumentId,
    Labels,
    Metadata,
)

Paths = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]


class Adding(Parts):
    def add(
        self,
        paths: Paths,
        *,
        collection: str = "default",
        category: str | None = None,
        audience: str | None = None,
        metadata: Metadata | None = None,
        on_outcome: Callable[[Outcome], None] | None = None,
        on_wait: Waiting | None = None,
    ) -> Report:
        """Add files, folders or patterns. What is there already and unchanged costs no work.

        A label that is not given is taken from the document's front matter, else from what it had.
        """
        listed = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
        labels = Labels(collection, category, audience, metadata or {})
        return self.add_from(FolderSource(listed), labels, on_outcome=on_outcome, on_wait=on_wait)

    def add_from(
        self,
        source: Source,
        labels: Labels,
        *,
        on_outcome: Callable[[Outcome], None] | None = None,
        on_wait: Waiting | None = None,
    ) -> Report:
        """Add whatever a source offers."""
        started = perf_counter()
        notes: list[str] = []
        outcomes: list[Outcome] = []
        with sandbox_for(self._settings) as sandbox, self._store.writing(on_wait):
            pipeline = Pipeline(
                self._store,
                self._embedder,
                self._preparer(sandbox, labels.collection),
                token_embedder=token_embedder_for(self._settings, self._embedder),
                on_note=notes.append,
            )
            for outcome in pipeline.run(source, labels):
                outcomes.append(outcome)
                if on_outcome:
                    on_outcome(outcome)
            if not notes:
                self._embed_missing(notes)
        fresh = (Fate.ADDED, Fate.UPDATED)
        new = [o.document for o in outcomes if o.document and o.fate in fresh]
        notes += [f"{d.title}: {d.metadata[CHUNKING]}" for d in new if CHUNKING in d.metadata]
        return Report(
            outcomes=tuple(outcomes),
            chunks=sum(document.chunks for document in new),
            seconds=perf_counter() - started,
            embedding_seconds=pipeline.embedding_seconds,
            notes=tuple(notes),
        )

    def _preparer(self, sandbox: Sandbox, collection: str) -> Preparer:
        return Preparer(
            self._store,
            chunker_for(self._settings, self._embedder, self._store.chunker(collection)),
            reader_for(self._settings, self._generator, sandbox.read),
            extractors(reading(self._settings)),
            max_bytes=self._settings.read_max_bytes,
            summariser=summariser_for(self._settings, self._generator),
            keep_originals=self._settings.archive_keep,
        )

    def _embed_missing(self, notes: list[str]) -> None:
        """What was added while the model was away."""
        try:
            self._store.embed_missing(self._embedder)
        except ModelUnavailable as reason:
            notes.append(f"Some documents are found by words and spelling only. {reason}")

    def set_chunker(self, collection: str, chunker: str, *, on_wait: Waiting | None = None) -> None:
        """How documents are cut that are added to this collection from now on, whatever the
        settings say. One that is there is cut anew when it is added again."""
        chunker_for(self._settings, self._embedder, chunker)  # raises BadSetting
        with self._store.writing(on_wait):
            self._store.set_chunker(collection, chunker)

    def remove(
        self, documents: Iterable[DocumentId | str], *, on_wait: Waiting | None = None
    ) -> list[Document]:
        """Remove documents, their chunks, vectors and text. Every one must exist, or none goes."""
        found = {d.id: d for one in documents for d in (self._one(one, OWNER),)}
        with self._store.writing(on_wait):
            self._store.remove(found)
        return list(found.values())
