"""Measures of a ranking, by ir-measures: graded nDCG as BEIR and trec_eval compute it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

Ranking: TypeAlias = dict[str, dict[str, float]]  # by query, then document: its score


def measure(judgments: Mapping[str, Mapping[str, int]], ranking: Ranking) -> dict[str, float]:
    """Means over all judged queries; a query without an answer counts 0."""
    from ir_measures import RR, R, calc_aggregate, nDCG

    measures = {"ndcg@10": nDCG @ 10, "recall@100": R @ 100, "mrr@10": RR @ 10}
    found = calc_aggregate(list(measures.values()), judgments, ranking)
    return {name: round(float(found[of]), 5) for name, of in measures.items()}
