"""Measures of a ranking, as trec_eval and BEIR compute them: gain is the judgment itself,
discounted by log2(rank + 1), against the best order there could be.

Our own few lines: the libraries for this bind trec_eval, whose package has no wheel for arm64.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import log2
from typing import TypeAlias

Ranking: TypeAlias = dict[str, dict[str, float]]  # by query, then document: its score
Judged: TypeAlias = Mapping[str, int]  # by document: how relevant; 0 or less: not at all


def ndcg(ranking: Sequence[str], judged: Judged, depth: int) -> float:
    """Discounted gain of the first k, as a share of the best possible."""
    gains = [max(0, judged.get(document, 0)) for document in ranking[:depth]]
    best = sorted((max(0, gain) for gain in judged.values()), reverse=True)[:depth]
    return _discounted(gains) / _discounted(best) if any(best) else 0.0


def recall(ranking: Sequence[str], judged: Judged, depth: int) -> float:
    """The share of relevant documents among the first k."""
    relevant = {document for document, gain in judged.items() if gain > 0}
    return len(relevant.intersection(ranking[:depth])) / len(relevant) if relevant else 0.0


def reciprocal_rank(ranking: Sequence[str], judged: Judged, depth: int) -> float:
    """One over the rank of the first relevant document; 0 if it isn't among the first k."""
    ranks = (
        rank for rank, document in enumerate(ranking[:depth], 1) if judged.get(document, 0) > 0
    )
    first = next(ranks, 0)
    return 1 / first if first else 0.0


def success(ranking: Sequence[str], judged: Judged, depth: int) -> float:
    """1 if a relevant document is among the first k, else 0."""
    return float(any(judged.get(document, 0) > 0 for document in ranking[:depth]))


MEASURES: Mapping[str, Callable[[Sequence[str], Judged], float]] = {
    "ndcg@10": lambda ranked, judged: ndcg(ranked, judged, 10),
    "recall@100": lambda ranked, judged: recall(ranked, judged, 100),
    "mrr@10": lambda ranked, judged: reciprocal_rank(ranked, judged, 10),
    "success@1": lambda ranked, judged: success(ranked, judged, 1),
    "success@5": lambda ranked, judged: success(ranked, judged, 5),
    "success@10": lambda ranked, judged: success(ranked, judged, 10),
}
MAIN = "ndcg@10"  # what runs are compared and tuned by unless someone asks for another


def measure_each(judgments: Mapping[str, Judged], ranking: Ranking) -> dict[str, list[float]]:
    """Every measure's value for each judged query, in their order; one without an answer has 0."""
    ranked = {query: ordered(ranking.get(query, {})) for query in judgments}
    return {
        name: [of(ranked[query], judged) for query, judged in judgments.items()]
        for name, of in MEASURES.items()
    }


def measure(judgments: Mapping[str, Judged], ranking: Ranking) -> dict[str, float]:
    """Means over all judged queries; a query without an answer counts 0."""
    each = measure_each(judgments, ranking)
    return {name: round(sum(values) / len(values), 5) for name, values in each.items()}


def ordered(scores: Mapping[str, float]) -> list[str]:
    """Equal scores by name, the last first, as trec_eval has it."""
    return sorted(scores, key=lambda document: (scores[document], document), reverse=True)


def _discounted(gains: Sequence[int]) -> float:
    return sum(gain / log2(rank + 1) for rank, gain in enumerate(gains, start=1))
