"""Reranks through a /rerank endpoint as Cohere made it: Cohere, Jina, OpenRouter, vLLM, llama.cpp,
and in its own dialect TEI. Knows nothing of how scores are used.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from trivium.core.errors import ModelRefused
from trivium.core.types import StoredChunk
from trivium.models.endpoint import Endpoint
from trivium.models.http import Client
from trivium.models.retrying import HURRIED
from trivium.ports import LONGEST_PASSAGE


class RemoteReranker:
    """A model behind an address. Threads may share it."""

    def __init__(self, client: Client) -> None:
        self.fingerprint = client.endpoint.model
        self._client = client
        self._speaks_tei = False  # known once it has refused the other dialect

    def scores(self, query: str, passages: Sequence[StoredChunk]) -> Sequence[float]:
        """One for each passage, in order, higher is better, 0..1. Raises ModelError."""
        texts = [passage.chunk.embedded_text[:LONGEST_PASSAGE] for passage in passages]
        if not texts:
            return []
        return in_order(_scores(self._ask(query, texts)), len(texts), self._client.endpoint)

    def _ask(self, query: str, texts: list[str]) -> Any:
        if not self._speaks_tei:
            request = {"query": query, "documents": texts, "top_n": len(texts)}
            try:
                return self._post({"model": self._client.endpoint.model, **request})
            except ModelRefused as refused:
                if "`texts`" not in refused.message:  # TEI: "missing field `texts`"
                    raise
            self._speaks_tei = True
        return self._post({"query": query, "texts": texts, "truncate": True})

    def _post(self, body: Mapping[str, Any]) -> Any:
        return self._client.post("/rerank", body, attempts=HURRIED)


def _scores(answer: Any) -> dict[int, float] | None:
    """Scores by position; None if this is no answer to the question."""
    listed = answer.get("results") if isinstance(answer, dict) else answer
    if not isinstance(listed, list):
        return None
    scores: dict[int, float] = {}
    for entry in listed:
        if not isinstance(entry, dict):
            return None
        place, score = entry.get("index"), entry.get("relevance_score", entry.get("score"))
        if type(place) is not int or place in scores:
            return None
        if not isinstance(score, int | float) or not math.isfinite(score):
            return None
        scores[place] = float(score)
    return scores


def in_order(found: dict[int, float] | None, count: int, endpoint: Endpoint) -> list[float]:
    """Scores in the form that a search needs, or an error that says what is wrong with them."""
    if found is None:
        raise endpoint.nonsense("returned no list of scores")
    if sorted(found) != list(range(count)):
        raise endpoint.nonsense(f"returned {len(found)} scores for {count} passages")
    return scaled([found[i] for i in range(count)])


def scaled(scores: Sequence[float]) -> list[float]:
    """Scores from 0 to 1, in the same order. Most endpoints return that; llama.cpp, and others if
    told so, return values from before the logistic function."""
    if all(0.0 <= score <= 1.0 for score in scores):
        return list(scores)
    return [0.5 * (1.0 + math.tanh(score / 2)) for score in scores]
