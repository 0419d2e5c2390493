"""The façade that everything outside uses: one library, opened, filled, searched.

Puts store, models, pipeline and searcher together by the settings. Holds no logic of its own.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from time import perf_counter
from types import TracebackType

from trivium.config import Settings, load
from trivium.errors import DocumentNotFound, ModelChanged, ModelUnavailable
from trivium.ingest.pipeline import CHUNKING, Fate, Outcome, Pipeline
from trivium.ingest.reading import extractors
from trivium.library.asking import Options, one_of, refuse_unknown_fields, request_for
from trivium.library.asking import where as filtered
from trivium.library.assembly import (
    chunker_for,
    embedder_for,
    generator_for,
    reading,
    reranker_for,
    sandbox_for,
    summariser_for,
    token_embedder_for,
)
from trivium.models.missing import MissingEmbedder
from trivium.ports import Embedder, Source, Waiting
from trivium.results import Results
from trivium.search.decide import Heard
from trivium.search.run import Searcher
from trivium.sources.folder import FolderSource
from trivium.store.embedded.store import EmbeddedStore
from trivium.types import (
    OWNER,
    AllOf,
    AnyOf,
    ChunkId,
    Collection,
    Combine,
    Compare,
    Condition,
    Document,
    DocumentId,
    Granularity,
    Labels,
    Manifest,
    Metadata,
    MetaScalar,
    Mode,
    Signal,
    StoredChunk,
    Where,
)

Paths = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]


@dataclass(frozen=True, slots=True)
class Report:
    """What an `add` did."""

    outcomes: tuple[Outcome, ...]
    chunks: int
    seconds: float
    embedding_seconds: float
    notes: tuple[str, ...] = ()

    def count(self, fate: Fate) -> int:
        return sum(outcome.fate is fate for outcome in self.outcomes)

    @property
    def failed(self) -> tuple[Outcome, ...]:
        return tuple(outcome for outcome in self.outcomes if outcome.fate is Fate.FAILED)


@dataclass(frozen=True, slots=True)
class Shown:
    """One document in full."""

    document: Document
    text: str
    passages: tuple[StoredChunk, ...]


class Library:
    """One searchable library. Use it as a context manager, or call `close`.

    >>> with Library.open("notes.library") as library:     # doctest: +SKIP
    ...     library.add("notes/")
    ...     for result in library.search("where is the crown"):
    ...         print(result.rank, result.found.document.title)
    """

    def __init__(self, store: EmbeddedStore, embedder: Embedder, settings: Settings) -> None:
        self._store = store
        self._embedder = embedder
        self._settings = settings
        self._searcher = Searcher(
            store, embedder, generator_for(settings), reranker_for(settings, embedder, store)
        )

    @classmethod
    def open(
        cls,
        path: str | os.PathLike[str] | None = None,
        *,
        settings: Settings | None = None,
        create: bool = True,
    ) -> Library:
        """The library in this folder, made if there is none. Without a path, the one that the
        settings name."""
        settings = settings or load().settings
        embedder: Embedder
        try:
            embedder = embedder_for(settings)
        except ModelUnavailable as reason:
            embedder = MissingEmbedder(reason)
        folder = settings.library if path is None else Path(path).expanduser()
        store = EmbeddedStore(folder, create=create)
        manifest = store.manifest()
        made_with = manifest.model
        if made_with and embedder.fingerprint and made_with != embedder.fingerprint:
            store.close()
            raise ModelChanged(
                f"This library was embedded with {made_with}, the settings name"
                f" {embedder.fingerprint}.",
                fix="Set embed.folder and the other embed settings back, or make a new library.",
            )
        # A remote model's are known from its first answer on: here, that of an earlier day.
        embedder.dimensions = embedder.dimensions or manifest.dimensions
        return cls(store, embedder, settings)

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
                chunker_for(self._settings, self._embedder, self._store.chunker(labels.collection)),
                sandbox.read,
                extractors(reading(self._settings)),
                max_bytes=self._settings.read_max_bytes,
                token_embedder=token_embedder_for(self._settings, self._embedder),
                summariser=summariser_for(self._settings),
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

    def _embed_missing(self, notes: list[str]) -> None:
        """What was added while the model was away."""
        try:
            self._store.embed_missing(self._embedder)
        except ModelUnavailable as reason:
            notes.append(f"Some documents are found by words and spelling only. {reason}")

    def search(
        self,
        query: str | Sequence[str],
        limit: int | None = None,
        *,
        mode: Mode | str = Mode.HYBRID,
        by: Granularity | str | None = None,
        combine: Combine | str | None = None,
        weights: Mapping[Signal, float] | None = None,
        k: float | None = None,
        threshold: float | None = None,
        expand: bool | None = None,
        hyde: bool | None = None,
        analysis: bool | None = None,
        correct: bool | None = None,
        rerank: bool | None = None,
        audiences: Iterable[str] | None = None,
        collection: str | Sequence[str] | None = None,
        source: str | Sequence[str] | None = None,
        category: str | Sequence[str] | None = None,
        metadata: Mapping[str, MetaScalar] | None = None,
        where: Condition | str = "",
    ) -> Results:
        """The best passages or documents for a query, explained. Filters hold before the search.
        What is None comes from the settings.

        `mode`: hybrid, semantic, keyword or fuzzy. `by`: passage or document. `weights` fix what
        the signals count, `k` asks for reciprocal ranks, `threshold` is the least similarity of a
        vector hit. `analysis` lets the query's own words move the weights, `correct` looks for what
        misspelled words were meant to be. `rerank` lets a reranker order the best anew, `hyde` a
        language model guess an answer to search by, `expand` adds the text around each passage.

        Two to four queries are combined: with `minimum`, `product` or `average` only what all of
        them find counts, with `maximum` whatever any of them finds.
        `audiences`: the labels the caller holds; None is the owner, who holds every one.
        `where`: any other filter, as text (`year>=2020 type:pdf`) or as a tree.
        """
        within = self._within(audiences, where, collection, source, category, metadata)
        queries = tuple(query) if isinstance(query, list | tuple) else (query,)
        options = Options(
            limit, mode, by, combine, weights, k, threshold, expand, hyde, analysis, correct, rerank
        )
        model = self._embedder.fingerprint
        return self._searcher.search(request_for(self._settings, model, queries, within, options))

    def similar(
        self,
        document: DocumentId | str,
        limit: int | None = None,
        *,
        passage: int | None = None,
        by: Granularity | str | None = None,
        audiences: Iterable[str] | None = None,
        where: Condition | str = "",
    ) -> Results:
        """Documents like this one; with the number of one of its passages, passages like that."""
        within = self._within(audiences, where)
        seen = Where(within.audiences)
        found = self._one(document, seen)
        like: Document | StoredChunk = found
        if passage is not None:
            like = self._passage(found, passage, seen)
        default = Granularity.DOCUMENT if passage is None else Granularity.PASSAGE
        return self._searcher.similar(
            like,
            within,
            self._settings.search_limit if limit is None else limit,
            one_of(Granularity, "by", by or default),
        )

    def hear(self, query: str, depth: int) -> Heard:
        """What every signal answers the owner, before anything is weighed: for tuning."""
        model = self._embedder.fingerprint
        request = request_for(self._settings, model, (query,), OWNER, Options(1, rerank=False))
        return self._searcher.hear(replace(request, candidates=depth))

    def judge(self, query: str, chunks: Sequence[ChunkId]) -> Mapping[ChunkId, float]:
        """How well passages answer a query, by the reranker; the owner asks, and waits."""
        return self._searcher.judge(query, chunks, OWNER)

    def documents(self, within: Where = OWNER) -> list[Document]:
        return self._store.documents(within)

    def collections(self, within: Where = OWNER) -> list[Collection]:
        """By name, with what of them may be seen."""
        return self._store.collections(within)

    def set_chunker(self, collection: str, chunker: str, *, on_wait: Waiting | None = None) -> None:
        """How documents are cut that are added to this collection from now on, whatever the
        settings say. One that is there is cut anew when it is added again."""
        chunker_for(self._settings, self._embedder, chunker)  # raises BadSetting
        with self._store.writing(on_wait):
            self._store.set_chunker(collection, chunker)

    def show(self, document: DocumentId | str, within: Where = OWNER) -> Shown:
        """A document by id, by `#id`, by path or by file name."""
        found = self._one(document, within)
        text = self._store.text(found.id, within)
        return Shown(found, text or "", tuple(self._store.passages(found.id, within)))

    def remove(
        self, documents: Iterable[DocumentId | str], *, on_wait: Waiting | None = None
    ) -> list[Document]:
        """Remove documents, their chunks, vectors and text. Every one must exist, or none goes."""
        found = {d.id: d for one in documents for d in (self._one(one, OWNER),)}
        with self._store.writing(on_wait):
            self._store.remove(found)
        return list(found.values())

    def manifest(self) -> Manifest:
        """Format of the library and the model it was embedded with."""
        return self._store.manifest()

    def health(self) -> Mapping[str, int]:
        """Documents, active chunks, and how many of those each index holds."""
        return self._store.health()

    def rebuild(self, *, on_wait: Waiting | None = None) -> None:
        """Make the search indexes anew from the database."""
        with self._store.writing(on_wait):
            self._store.rebuild()

    def close(self) -> None:
        self._store.close()

    def __enter__(self) -> Library:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _within(
        self,
        audiences: Iterable[str] | None,
        where: Condition | str,
        collection: str | Sequence[str] | None = None,
        source: str | Sequence[str] | None = None,
        category: str | Sequence[str] | None = None,
        metadata: Mapping[str, MetaScalar] | None = None,
    ) -> Where:
        within = filtered(
            audiences,
            collection=collection,
            source=source,
            category=category,
            metadata=metadata,
            condition=where,
        )
        refuse_unknown_fields(within, self._store)
        return within

    def _passage(self, document: Document, index: int, within: Where) -> StoredChunk:
        for chunk in self._store.passages(document.id, within):
            if chunk.chunk.index == index:
                return chunk
        raise DocumentNotFound(
            f"{document.title} has no passage {index}.", fix="They are counted from 0."
        )

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
