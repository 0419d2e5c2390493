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
from trivium.ingest.outcomes import Fate
from trivium.library import Library
from trivium.types import Granularity, Labels, Mode

DEPTH = 100  # documents that recall@100 looks at
PAGE = 10  # results that a reranker orders anew, as for a person; hybrid's follow
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
    runs: dict[str, dict[str, float]]  # by signal, fusion or reranked, then by measure
    notes: tuple[str, ...] = ()  # what kept a search from doing what it was asked to


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
        runs: dict[str, dict[str, float]] = {}
        notes: dict[str, None] = {}  # each once, in order
        ranking: Ranking = {}
        for name in (*RUNS, "reranked"):
            hybrid, ranking = ranking, {}
            for done, (query_id, text) in enumerate(dataset.queries.items()):
                on_progress(name, done, len(dataset.queries))
                if name in RUNS:
                    found = _rank(library, text, DEPTH, RUNS[name])
                else:
                    found = _rank(library, text, PAGE, Mode.HYBRID, rerank=True)
                notes |= dict.fromkeys(found.notes)
                ranking[query_id] = found.ranking | (
                    {} if name in RUNS else _behind(hybrid[query_id], found.ranking)
                )
            runs[name] = measure(dataset.judgments, ranking)
    return Evaluation(dataset.name, documents, len(dataset.queries), runs, tuple(notes))


def _place(dataset: Dataset, settings: Settings) -> Path:
    """A library for this very corpus: another text under the same name is another library."""
    digest = hashlib.sha256((dataset.folder / CORPUS).read_bytes()).hexdigest()[:12]
    sizes = f"{settings.chunk_size}-{settings.chunk_overlap}-{settings.chunk_minimum}"
    named = f"{settings.embed_folder}{settings.embed_max_tokens}{settings.embed_document_prefix}"
    if settings.embed_url:
        named += f"{settings.embed_model}{settings.embed_dimensions}"
    model = hashlib.sha256(named.encode()).hexdigest()[:6]
    tokens = "-tokens" if settings.rerank_store else ""
    return settings.cache / "judged" / f"{dataset.name}-{digest}-{sizes}-{model}{tokens}"


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


@dataclass(frozen=True, slots=True)
class _Found:
    ranking: dict[str, float]
    notes: tuple[str, ...] = ()


def _rank(library: Library, text: str, limit: int, mode: Mode, *, rerank: bool = False) -> _Found:
    """Documents by their best chunk."""
    try:
        results = library.search(text, limit, mode=mode, by=Granularity.DOCUMENT, rerank=rerank)
    except EmptyQuery:
        return _Found({})
    # Ranks, not scores: two documents with equal scores keep the order that a person sees.
    ranking = {result.found.document.uri: 1.0 / result.rank for result in results}
    return _Found(ranking, results.notes)


def _behind(ranking: dict[str, float], first: dict[str, float]) -> dict[str, float]:
    """The rest of a ranking, in its order, behind those that come first."""
    rest = [uri for uri in ranking if uri not in first]
    return {uri: 1.0 / rank for rank, uri in enumerate(rest, start=len(first) + 1)}
