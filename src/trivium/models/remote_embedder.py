"""Embeds text through an OpenAI-compatible endpoint: OpenAI, Azure, OpenRouter, Ollama, vLLM, TEI,
llama.cpp. Knows nothing of documents, chunks and stores.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from trivium.models.calling import MOST_TEXTS, CallingEmbedder
from trivium.models.http import Client
from trivium.models.retrying import HURRIED

PATH = "/embeddings"


class RemoteEmbedder(CallingEmbedder):
    """A model behind an address. Threads may share it."""

    def __init__(
        self,
        client: Client,
        dimensions: int = 0,
        query_prefix: str = "",
        document_prefix: str = "",
        *,
        batch: int = MOST_TEXTS,
        parallel: int = 1,
        query_seconds: float = 5.0,
    ) -> None:
        super().__init__(
            client.endpoint,
            dimensions,
            query_prefix,
            document_prefix,
            batch=batch,
            parallel=parallel,
            query_seconds=query_seconds,
        )
        self._client = client
        self._asked = {"dimensions": dimensions} if dimensions else {}

    def _rows(self, texts: Sequence[str], *, hurried: bool) -> dict[int, Any] | None:
        body = {"model": self._endpoint.model, "input": list(texts), **self._asked}
        if hurried:
            seconds = self._query_seconds
            return by_place(self._client.post(PATH, body, attempts=HURRIED, patience=seconds))
        return by_place(self._client.post(PATH, body))


def by_place(answer: Any) -> dict[int, Any] | None:
    """Embeddings by position; None if this is no answer to the question."""
    data = answer.get("data") if isinstance(answer, dict) else None
    if not isinstance(data, list) or not all(isinstance(one, dict) for one in data):
        return None
    # Some servers leave `index` out; then the order is meant.
    rows = {one.get("index", place): one.get("embedding") for place, one in enumerate(data)}
    whole = all(type(place) is int for place in rows) and len(rows) == len(data)
    return rows if whole else None
