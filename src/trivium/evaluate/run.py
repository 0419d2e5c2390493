"""Runs a judged set through every signal and the fusion, and measures the rankings.

The set is indexed once, into a library of its own beside the model files, and reused as long as
corpus and pipeline stay the same. Uses the product as anyone does: through `Library`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from trivium.config import Settings
from trivium.errors import EmptyQuery
from trivium.evaluate.dataset import CORPUS, Dataset, load_dataset
from trivium.evaluate.metrics import Ranking, measure
from trivium.ingest.pipeline import Fate
from trivium.library import Library
from trivium.types import Granularity, Labels, Mode

DEPTH = 100  # documents that recall@100 looks at
RUNS = {
    "vector": Mode.SEMANTIC,
    "keyword": Mode.KEYWORD,
    "trigram": Mode.FUZZY,
    "hybrid": Mode.HYBRID,
}

Progress = Callable[[str, int, int], None]  # what is being done, how far, of how many


@dataclass(frozen=True, slots=True)
class Evaluation:
    dataset: str
    documents: int
    queries: int
    runs: dict[str, dict[str, float]]  # by signal or fusion, then by measure


def evaluate(
    folder: Path,
    settings: Settings,
    *,
    queries: Path | None = None,
    on_progress: Progress = lambda stage, done, total: None,
) -> Evaluation:
    dataset = load_dataset(folder, queries)
    with Library.open(_place(dataset, settings), settings=settings) as library:
        documents = _index(library, dataset, on_progress)
        runs = {}
        for name, mode in RUNS.items():
            ranking: Ranking = {}
            for done, (query_id, text) in enumerate(dataset.queries.items()):
                on_progress(name, done, len(dataset.queries))
                ranking[query_id] = _rank(library, text, mode)
            runs[name] = measure(dataset.judgments, ranking)
    return Evaluation(dataset.name, documents, len(dataset.queries), runs)


def _place(dataset: Dataset, settings: Settings) -> Path:
    """A library for this very corpus: another text under the same name is another library."""
    digest = hashlib.sha256((dataset.folder / CORPUS).read_bytes()).hexdigest()[:12]
    sizes = f"{settings.chunk_size}-{settings.chunk_overlap}-{settings.chunk_minimum}"
    named = f"{settings.embed_folder}{settings.embed_max_tokens}{settings.embed_document_prefix}"
    if settings.embed_url:
        named += f"{settings.embed_model}{settings.embed_dimensions}"
    model = hashlib.sha256(named.encode()).hexdigest()[:6]
    return settings.cache / "judged" / f"{dataset.name}-{digest}-{sizes}-{model}"


def _index(library: Library, dataset: Dataset, on_progress: Progress) -> int:
    with (dataset.folder / CORPUS).open("rb") as file:
        total = sum(1 for line in file if line.strip())
    done = 0

    def count(_outcome: object) -> None:
        nonlocal done
        done += 1
        on_progress("index", done, total)

    report = library.add_from(dataset, Labels(), on_outcome=count)
    return len(report.outcomes) - report.count(Fate.FAILED)


def _rank(library: Library, text: str, mode: Mode) -> dict[str, float]:
    """Documents by their best chunk."""
    try:
        results = library.search(text, DEPTH, mode=mode, by=Granularity.DOCUMENT)
    except EmptyQuery:
        return {}
    # Ranks, not scores: two documents with equal scores keep the order that a person sees.
    return {result.found.document.uri: 1.0 / result.rank for result in results}
