"""The façade that everything outside uses: one library, opened, filled, searched.

Puts store, models, pipeline and searcher together by the settings. Holds no logic of its own.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from time import perf_counter
from types import TracebackType
from typing import TypeVar

from trivium.chunk.choose import AutoChunker
from trivium.config import Settings, load
from trivium.errors import BadSetting, DocumentNotFound, ModelChanged, ModelUnavailable
from trivium.extract.sandbox import Sandbox
from trivium.ingest.pipeline import Fate, Outcome, Pipeline
from trivium.ingest.reading import FACTORY, extractors
from trivium.models.local import LocalEmbedder
from trivium.models.missing import MissingEmbedder
from trivium.ports import Chunker, Embedder, Source, Tokens, Waiting
from trivium.search.fuse import Fusion
from trivium.search.request import SearchRequest
from trivium.search.run import Searcher
from trivium.search.weigh import MINILM, Evidence
from trivium.sources.folder import FolderSource
from trivium.store.embedded.store import EmbeddedStore
from trivium.text.tokens import Cl100kTokens
from trivium.types import (
    OWNER,
    AllOf,
    AnyOf,
    Compare,
    Condition,
    Document,
    DocumentId,
    Labels,
    Manifest,
    Metadata,
    MetaScalar,
    Mode,
    Results,
    Signal,
    StoredChunk,
    Where,
)

DEFAULT_MODEL = "all-MiniLM-L6-v2"
_Choice = TypeVar("_Choice", bound=StrEnum)


class Switch(StrEnum):
    ON = "on"
    OFF = "off"


# What the headings in front of a chunk may take of the tokens that the model reads.
_CONTEXT_TOKENS = 48

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
        self._searcher = Searcher(store, embedder)

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
        made_with = store.manifest().model
        if made_with and embedder.fingerprint and made_with != embedder.fingerprint:
            store.close()
            raise ModelChanged(
                f"This library was embedded with {made_with}, the settings name"
                f" {embedder.fingerprint}.",
                fix="Set embed.folder and the other embed settings back, or make a new library.",
            )
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
        with self._sandbox() as sandbox, self._store.writing(on_wait):
            pipeline = Pipeline(
                self._store,
                self._embedder,
                self._chunker(),
                sandbox.read,
                extractors(self._reading()),
                max_bytes=self._settings.read_max_bytes,
                on_note=notes.append,
            )
            for outcome in pipeline.run(source, labels):
                outcomes.append(outcome)
                if on_outcome:
                    on_outcome(outcome)
            if not notes:
                self._embed_missing(notes)
        new = (o.document for o in outcomes if o.fate in (Fate.ADDED, Fate.UPDATED))
        return Report(
            outcomes=tuple(outcomes),
            chunks=sum(document.chunks for document in new if document),
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
        query: str,
        limit: int | None = None,
        *,
        mode: Mode | str = Mode.HYBRID,
        weights: Mapping[Signal, float] | None = None,
        k: float | None = None,
        threshold: float | None = None,
        audiences: Iterable[str] | None = None,
        collection: str | Sequence[str] | None = None,
        source: str | Sequence[str] | None = None,
        category: str | Sequence[str] | None = None,
        metadata: Mapping[str, MetaScalar] | None = None,
    ) -> Results:
        """The best chunks for a query, explained. Filters hold before the search.

        `audiences`: the labels the caller holds; None is the owner, who holds every one.
        """
        s = self._settings
        default = {
            Signal.VECTOR: s.fusion_vector,
            Signal.KEYWORD: s.fusion_keyword,
            Signal.TRIGRAM: s.fusion_trigram,
        }
        request = SearchRequest(
            query=query,
            where=where(
                audiences,
                collection=collection,
                source=source,
                category=category,
                metadata=metadata,
            ),
            limit=s.search_limit if limit is None else limit,
            mode=_one_of(Mode, "mode", mode),
            weights=default if weights is None else weights,
            # A rank constant makes sense for ranks only: whoever gives one asks for them.
            fusion=Fusion.RANKS
            if k is not None
            else _one_of(Fusion, "fusion.method", s.fusion_method),
            evidence=self._evidence() if weights is None else None,
            k=s.fusion_k if k is None else k,
            threshold=s.search_threshold if threshold is None else threshold,
        )
        return self._searcher.search(request)

    def documents(self, within: Where = OWNER) -> list[Document]:
        return self._store.documents(within)

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

    def _chunker(self) -> Chunker:
        """Measures by cl100k, or by the model itself where that one cannot read a whole chunk."""
        s = self._settings
        size = s.chunk_size
        tokens: Tokens = Cl100kTokens()
        room = s.embed_max_tokens - _CONTEXT_TOKENS
        if size > room and isinstance(self._embedder, LocalEmbedder):
            size = room
            with suppress(ModelUnavailable):
                tokens = self._embedder.tokens()
        return AutoChunker(
            tokens,
            size,
            min(s.chunk_overlap, size // 4),
            min(s.chunk_minimum, size // 4),
            # What the model does not read it does not find: no ceiling beyond its room.
            ceiling=max(16, min(s.chunk_ceiling, room)),
            most=s.chunk_most,
            strategy=s.chunk_strategy,
        )

    def _sandbox(self) -> Sandbox:
        s = self._settings
        return Sandbox(
            1,
            s.read_seconds,
            s.read_memory,
            max_bytes=s.read_max_bytes,
            extractors=FACTORY,
            settings=self._reading(),
        )

    def _reading(self) -> dict[str, str]:
        return {"ocr": self._settings.read_ocr, "languages": self._settings.read_languages}

    def _evidence(self) -> Evidence | None:
        """Weights move only for the model whose cosines they were fitted to."""
        adaptive = _one_of(Switch, "fusion.adaptive", self._settings.fusion_adaptive)
        fitted = self._embedder.fingerprint.startswith(DEFAULT_MODEL)
        return MINILM if fitted and adaptive is Switch.ON else None

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


def embedder_for(settings: Settings) -> LocalEmbedder:
    """The embedding model that the settings name. Its weights are not looked for yet; a folder
    that is named but is no model raises ModelUnavailable."""
    return LocalEmbedder(
        settings.embed_folder,
        settings.cache,
        settings.embed_threads,
        settings.embed_max_tokens,
        settings.embed_query_prefix,
        settings.embed_document_prefix,
    )


def where(
    audiences: Iterable[str] | None = None,
    *,
    collection: str | Sequence[str] | None = None,
    source: str | Sequence[str] | None = None,
    category: str | Sequence[str] | None = None,
    metadata: Mapping[str, MetaScalar] | None = None,
) -> Where:
    """A filter from plain values. Several values of one field: any of them."""
    parts = [
        _any_of(name, values)
        for name, values in (
            ("collection", collection),
            ("source", source),
            ("category", category),
        )
        if values is not None
    ]
    parts += [Compare(f"metadata.{name}", "eq", v) for name, v in (metadata or {}).items()]
    labels = None if audiences is None else frozenset(audiences)
    return Where(labels, AllOf(tuple(parts)))


def _any_of(name: str, values: str | Sequence[str]) -> Condition:
    listed = [values] if isinstance(values, str) else values
    return AnyOf(tuple(Compare(name, "eq", value) for value in listed))


def _one_of(kind: type[_Choice], name: str, value: str) -> _Choice:
    try:
        return kind(value)
    except ValueError as reason:
        known = ", ".join(kind)
        raise BadSetting(f"`{name}` is {value!r}.", fix=f"It takes one of: {known}.") from reason
