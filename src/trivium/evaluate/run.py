"""Runs the queries of a judged set by every signal, fused and reranked, and measures the results.
Documents count once, by their best chunk. Also measures runs of other programs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from trivium import __version__
from trivium.config import Settings, names, shown
from trivium.core.errors import EmptyQuery, QueryTooLong
from trivium.core.results import Results
from trivium.core.types import Granularity, Mode, Signal
from trivium.evaluate.dataset import Dataset, Files, load_dataset
from trivium.evaluate.metrics import MAIN, Ranking, measure_each
from trivium.evaluate.statistics import Interval, RunDifference, compare, intervals
from trivium.evaluate.subject import Progress, opened
from trivium.evaluate.trec_run import read_run
from trivium.library import Library
from trivium.operations.searching import SearchOptions

DEPTH = 100  # documents that recall@100 looks at
PAGE = 10  # results that a reranker sorts, as for a person; hybrid's follow
TIMED = 200  # queries whose page is timed, spread evenly: enough for a 95th percentile
RUNS = {
    "vector": Mode.SEMANTIC,
    "keyword": Mode.KEYWORD,
    "trigram": Mode.FUZZY,
    "hybrid": Mode.HYBRID,
}
FUSED = "hybrid"
RERANKED = "reranked"
EVERY = (*RUNS, RERANKED)
_TOLD = {**{signal.value: signal.told for signal in Signal}, FUSED: "all three"}
_GROUPS = ("analysis", "chunk", "embed", "fusion", "rerank", "search")  # that move a ranking
_UNSAID = ("key_file", "key_header", "url", "threads", "batch", "parallel", "seconds")


@dataclass(frozen=True, slots=True)
class Run:
    """How one way of searching did. A list holds a value for each query, in the set's order."""

    each: dict[str, list[float]]  # by measure
    intervals: dict[str, Interval]
    latency_ms: dict[str, float] = field(default_factory=dict)  # p50 and p95 of a page of ten
    ranking: Ranking = field(default_factory=dict)

    @property
    def means(self) -> dict[str, float]:
        return {name: round(sum(of) / len(of), 5) for name, of in self.each.items()}


@dataclass(frozen=True, slots=True)
class Evaluation:
    dataset: str
    synthetic: bool
    documents: int
    queries: dict[str, str]  # by id
    runs: dict[str, Run]  # by signal, fusion or reranked, or the name of another program's run
    settings: dict[str, str]  # those that move a ranking
    version: str = __version__
    notes: tuple[str, ...] = ()  # reasons why a search couldn't do what it should


def run_title(run: str) -> str:
    """What people call a run, as on the search screen; that of another program has its own name."""
    return _TOLD.get(run, run)


def evaluate(
    files: Files | Path,
    settings: Settings,
    *,
    own_library: bool = False,
    library: Library | None = None,
    only: Iterable[str] = EVERY,
    foreign: Sequence[Path] = (),
    on_progress: Progress = lambda stage, done, total: None,
) -> Evaluation:
    """`only`: which of `EVERY` to run. `foreign`: TREC run files of other programs. `library`: the
    judged one, if it is open already."""
    dataset = load_dataset(files, own_library=own_library or library is not None)
    wanted = [name for name in EVERY if name in set(only)]
    with opened(dataset, settings, on_progress, library) as subject:
        dataset = subject.dataset
        others = [read_run(path, dataset.judgments) for path in foreign]
        asker = _Asker(subject.library, dataset, on_progress)
        runs = {name: asker.run(name) for name in wanted}
        for path, (name, ranking) in zip(foreign, others, strict=True):
            called = name if name not in runs else path.stem
            runs[called] = _measured(dataset, ranking)
        notes = (*subject.notes, *asker.notes)
        return Evaluation(
            dataset.name,
            dataset.synthetic,
            subject.documents,
            dataset.queries,
            runs,
            described(settings),
            notes=notes,
        )


def beside(evaluation: Evaluation, measure: str = MAIN) -> dict[str, RunDifference]:
    """How far the fusion is ahead of each other run on the same queries."""
    if FUSED not in evaluation.runs:
        return {}
    ours = evaluation.runs[FUSED].each[measure]
    return {
        name: compare(ours, run.each[measure])
        for name, run in evaluation.runs.items()
        if name != FUSED
    }


def described(settings: Settings) -> dict[str, str]:
    """The settings that move a ranking, as they would be typed."""
    named = {name: shown(getattr(settings, attribute)) for name, attribute in names().items()}
    return {
        name: value
        for name, value in named.items()
        if name.startswith(_GROUPS) and not name.endswith(_UNSAID)
    }


class _Asker:
    """Runs the queries of one set in one library, and keeps its notes."""

    def __init__(self, library: Library, dataset: Dataset, on_progress: Progress) -> None:
        self._library = library
        self._dataset = dataset
        self._on_progress = on_progress
        self._hybrid: Ranking = {}
        self._notes: dict[str, None] = {}  # each once, in order

    @property
    def notes(self) -> tuple[str, ...]:
        return tuple(self._notes)

    def run(self, name: str) -> Run:
        if name == RERANKED:
            return self._reranked()
        ranking: Ranking = {}
        for done, (query, text) in enumerate(self._dataset.queries.items()):
            self._on_progress(name, done, len(self._dataset.queries))
            ranking[query] = _ranks(self._search(text, DEPTH, RUNS[name]))
        if RUNS[name] is Mode.HYBRID:
            self._hybrid = ranking
        return _measured(self._dataset, ranking, self._times(RUNS[name]))

    def _reranked(self) -> Run:
        """The first page; what hybrid found besides comes behind it."""
        ranking: Ranking = {}
        took: list[float] = []
        for done, (query, text) in enumerate(self._dataset.queries.items()):
            self._on_progress(RERANKED, done, len(self._dataset.queries))
            results = self._search(text, PAGE, Mode.HYBRID, rerank=True)
            took += [results.took_ms] if results is not None else []
            first = _ranks(results)
            rest = self._hybrid.get(query)
            if rest is None:
                rest = _ranks(self._search(text, DEPTH, Mode.HYBRID))
            ranking[query] = first | _behind(rest, first)
        return _measured(self._dataset, ranking, took)

    def _times(self, mode: Mode) -> list[float]:
        texts = list(self._dataset.queries.values())
        step = -(-len(texts) // TIMED)
        searches = (self._search(text, PAGE, mode) for text in texts[::step])
        return [results.took_ms for results in searches if results is not None]

    def _search(self, text: str, limit: int, mode: Mode, *, rerank: bool = False) -> Results | None:
        """None for a query that cannot be asked."""
        try:
            results = self._library.search(
                text,
                limit,
                options=SearchOptions(
                    mode=mode, by=Granularity.DOCUMENT, rerank=rerank, expand=False
                ),
            )
        except (EmptyQuery, QueryTooLong) as reason:
            self._notes[f"A query failed and counts as unanswered: {reason.message}"] = None
            return None
        self._notes |= dict.fromkeys(results.notes)
        return results


def _measured(dataset: Dataset, ranking: Ranking, took: Sequence[float] = ()) -> Run:
    each = measure_each(dataset.judgments, ranking)
    return Run(each, intervals(each), _percentiles(took), ranking)


def _percentiles(took: Sequence[float]) -> dict[str, float]:
    if not took:
        return {}
    import numpy as np

    middle, late = np.percentile(took, (50, 95))
    return {"p50": round(float(middle), 2), "p95": round(float(late), 2)}


def _ranks(results: Results | None) -> dict[str, float]:
    """Ranks, not scores: two documents with equal scores keep the order that a person sees."""
    ranks: dict[str, float] = {}
    for result in results or ():  # one path may be in two collections: the better place counts
        ranks.setdefault(result.found.document.uri, 1.0 / result.rank)
    return ranks


def _behind(ranking: dict[str, float], first: dict[str, float]) -> dict[str, float]:
    """The rest of a ranking, in order, after the first ones."""
    rest = [uri for uri in ranking if uri not in first]
    return {uri: 1.0 / rank for rank, uri in enumerate(rest, start=len(first) + 1)}
