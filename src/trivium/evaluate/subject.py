"""The library that a judged set is asked of: its corpus, indexed once and kept, or a library that
exists. Uses the product as anyone does: through `Library`.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from trivium.config import Settings
from trivium.core.errors import DatasetInvalid
from trivium.core.types import Document, Labels
from trivium.evaluate.corpus import Corpus
from trivium.evaluate.dataset import Dataset
from trivium.ingest.outcomes import Fate
from trivium.library import Library

Progress = Callable[[str, int, int], None]  # what is being done, done so far, total


@dataclass(frozen=True, slots=True)
class Subject:
    """An open library, and the judged set in the words of that library."""

    library: Library
    dataset: Dataset
    documents: int
    notes: tuple[str, ...] = ()


@contextmanager
def opened(
    dataset: Dataset, settings: Settings, on_progress: Progress, library: Library | None = None
) -> Iterator[Subject]:
    """`library`: the judged one, if it is open already; it stays open."""
    if library is not None:
        yield _own(library, dataset)
        return
    if dataset.corpus is None:
        with Library.open(settings=settings, create=False) as own:
            yield _own(own, dataset)
        return
    place = _place(dataset.corpus, dataset.name, settings)
    with Library.open(place, settings=settings) as made:
        documents = _index(made, dataset.corpus, on_progress)
        yield Subject(made, dataset, documents)


def _own(library: Library, dataset: Dataset) -> Subject:
    """A library that exists: judged documents are called by uri, path, file name or #id."""
    documents = library.documents.all()
    judged = {document for of_query in dataset.judgments.values() for document in of_query}
    uris = resolve(judged, documents)
    missing = judged - uris.keys()
    if len(missing) == len(judged):
        example = min(missing)
        raise DatasetInvalid(
            f"The library has none of the judged documents, such as {example}.",
            fix="Name another with --library, or the judged documents with --corpus.",
            on_page="Judge some queries again, or add the documents again.",
        )
    notes: tuple[str, ...] = ()
    if missing:
        text = f"{len(missing)} of {len(judged)} judged documents are not in the library"
        notes = (f"{text}, such as {min(missing)}; they count as not found.",)
    return Subject(library, dataset.among(uris), len(documents), notes)


def resolve(names: set[str], documents: list[Document]) -> dict[str, str]:
    """The uri of each name that means one document: a uri, a path, the end of one, or #id."""
    by_name: dict[str, set[str]] = {}
    for document in documents:
        for uri in (document.uri, *document.names):
            parts = Path(uri).parts
            ends = {"/".join(parts[-size:]) for size in range(1, len(parts))}
            for name in {uri, f"#{document.id}", *ends}:
                by_name.setdefault(name, set()).add(document.uri)
    uris: dict[str, str] = {}
    for name in sorted(names):
        matches = by_name.get(name) or by_name.get(os.path.abspath(name)) or set()
        matches = {name} if name in matches else matches
        if len(matches) > 1:
            raise DatasetInvalid(
                f"The judged document {name} could be any of {', '.join(sorted(matches))}.",
                fix="Name it in the judgments by its full path or as #id.",
            )
        if matches:
            uris[name] = next(iter(matches))
    return uris


def _place(corpus: Corpus, name: str, settings: Settings) -> Path:
    """A library for this very corpus: another text under the same name is another library."""
    sizes = f"{settings.chunk_size}-{settings.chunk_overlap}-{settings.chunk_minimum}"
    named = f"{settings.embed_folder}{settings.embed_max_tokens}{settings.embed_document_prefix}"
    if settings.embed_url or settings.embed_model or settings.embed_dimensions:
        named += f"{settings.embed_model}{settings.embed_dimensions}"
    model = hashlib.sha256(named.encode()).hexdigest()[:6]
    tokens = "-tokens" if settings.rerank_store else ""
    return settings.cache / "judged" / f"{name}-{corpus.digest()}-{sizes}-{model}{tokens}"


def _index(library: Library, corpus: Corpus, on_progress: Progress) -> int:
    total = sum(1 for _ in corpus.documents())
    done = 0

    def count(_outcome: object) -> None:
        nonlocal done
        done += 1
        on_progress("index", done, total)

    report = library.add_from(corpus, Labels(), on_outcome=count)
    return sum(report.counts.values()) - report.count(Fate.FAILED)
