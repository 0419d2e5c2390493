"""Embeds text through an OpenAI-compatible endpoint: OpenAI, Azure, OpenRouter, Ollama, vLLM, TEI,
llama.cpp. Knows nothing of documents, chunks and stores.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from trivium.models.calling import CallingEmbedder
from trivium.models.http import Client
from trivium.models.retrying import HURRIED

PATH = "/embeddings"


class RemoteEmbedder(CallingEmbedder[Client]):
    """A model behind an address. Threads may share it."""

    def _rows(self, texts: Sequence[str], *, hurried: bool) -> dict[int, Any] | None:
        body: dict[str, Any] = {"model": self._endpoint.model, "input": list(texts)}
        if self._wanted:
            body["dimensions"] = self._wanted
        if hurried:
            seconds = self._query_seconds
            return by_place(self._client.post(PATH, body, attempts=HURRIED, patience=seconds))
        return by_place(self._client.post(PATH, body))


def by_place(answer: Any) -> dict[int, Any] | None:
    """Embeddings by position; None if this is no answer to the question."""
    data = answer.get("data") if isinstance(answer, dict) else None
    if not isinstance(data, list) or not all(isinstance(row, dict) for row in data):
        return None
    # Some servers leave `index` out; then the rows are in the order of the texts.
    rows = {row.get("index", place): row.get("embedding") for place, row in enumerate(data)}
    whole = all(type(place) is int for place in rows) and len(rows) == len(data)
    return rows if whole else None
