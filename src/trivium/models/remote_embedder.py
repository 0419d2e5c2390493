"""Embeds text through an OpenAI-compatible endpoint: OpenAI, Azure, OpenRouter, Ollama, vLLM, TEI,
llama.cpp. Knows nothing of documents, chunks and stores.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from trivium.errors import BadSetting, DimensionMismatch
from trivium.models.http import HURRIED, Client

if TYPE_CHECKING:
    from trivium.types import Vector, Vectors

MOST_TEXTS = 100  # of one call


class RemoteEmbedder:
    """A model behind an address. Threads may share it.

    The fingerprint names model, dimensions and prefix, not the address: the same model moved to
    another server, or served by two, gives interchangeable vectors.
    """

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
        """`dimensions` 0 takes what the model gives, else the endpoint is asked for so many.
        `query_seconds`: a person waits, so there is less time for a query, retries included."""
        if not 1 <= batch <= MOST_TEXTS:
            raise BadSetting(f"`embed.batch` is {batch}.", fix=f"It takes 1 to {MOST_TEXTS}.")
        if parallel < 1 or dimensions < 0:
            name, given = ("parallel", parallel) if parallel < 1 else ("dimensions", dimensions)
            raise BadSetting(f"`embed.{name}` is {given}.", fix="It takes a positive number.")
        self.batch = batch  # texts of one call: whoever asks for more loses all of it on a failure
        self.dimensions = dimensions  # 0 until the first answer, unless given
        self.fingerprint = client.endpoint.model
        if dimensions:
            self.fingerprint += f"-{dimensions}"
        if document_prefix:  # a query's prefix changes no stored vector
            self.fingerprint += f"-{hashlib.sha256(document_prefix.encode()).hexdigest()[:6]}"
        self._client = client
        self._asked = {"dimensions": dimensions} if dimensions else {}
        self._query_prefix = query_prefix
        self._document_prefix = document_prefix
        self.parallel = parallel
        self._query_seconds = query_seconds

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        import numpy as np

        given = [self._document_prefix + text for text in texts]
        calls = [given[i : i + self.batch] for i in range(0, len(given), self.batch)]
        if not calls:
            return np.empty((0, self.dimensions), np.float32)
        if len(calls) == 1 or self.parallel == 1:
            return np.concatenate([self._embed(call) for call in calls])
        with ThreadPoolExecutor(self.parallel, thread_name_prefix="trivium-embed") as threads:
            running = [threads.submit(self._embed, call) for call in calls]
            try:
                return np.concatenate([one.result() for one in running])
            finally:
                for one in running:  # after a failure there is no point in the rest
                    one.cancel()

    def embed_query(self, text: str) -> Vector:
        vector: Vector = self._embed([self._query_prefix + text], hurried=True)[0]
        return vector

    def load(self) -> None:
        """Ask it for a vector. Raises ModelUnavailable where there is none."""
        self._embed(["ready"], hurried=True)

    def _embed(self, texts: Sequence[str], *, hurried: bool = False) -> Vectors:
        body = {"model": self._client.endpoint.model, "input": list(texts), **self._asked}
        if hurried:
            seconds = self._query_seconds
            answer = self._client.post("/embeddings", body, attempts=HURRIED, patience=seconds)
        else:
            answer = self._client.post("/embeddings", body)
        return self._checked(_rows(answer), len(texts))

    def _checked(self, rows: dict[int, Any] | None, count: int) -> Vectors:
        """Unit vectors in the order of the texts, from whatever the endpoint sent."""
        import numpy as np

        if rows is None:
            raise self._client.nonsense("answers without a list of embeddings")
        if sorted(rows) != list(range(count)):
            raise self._client.nonsense(f"gives {len(rows)} embeddings for {count} texts")
        try:
            found = np.array([rows[i] for i in range(count)], np.float64)
        except (TypeError, ValueError, OverflowError) as reason:
            raise self._client.nonsense("gives embeddings that are no lists of numbers") from reason
        if found.ndim != 2 or not found.size or not np.isfinite(found).all():
            raise self._client.nonsense("gives embeddings that are no lists of numbers")
        self._check_dimensions(found.shape[1])
        # By the largest first: the square of a large number overflows.
        found /= np.maximum(np.abs(found).max(axis=1, keepdims=True), 1e-300)
        lengths = np.linalg.norm(found, axis=1, keepdims=True)
        if (lengths < 0.5).any():  # one number of each is 1 now, unless all are 0
            raise self._client.nonsense("gives an embedding of zeros")
        unit: Vectors = (found / lengths).astype(np.float32)
        return unit

    def _check_dimensions(self, given: int) -> None:
        if self.dimensions and given != self.dimensions:
            raise DimensionMismatch(
                f"{self._client.endpoint} gives {given} dimensions, not {self.dimensions}.",
                fix="Set `embed.model` and `embed.dimensions` to what the library was made with, or"
                " make a new library."
                if not self._asked
                else f"Set `embed.dimensions` to {given}, or to 0 if it cannot be chosen.",
            )
        self.dimensions = given


def _rows(answer: Any) -> dict[int, Any] | None:
    """Embeddings by position; None if this is no answer to the question."""
    data = answer.get("data") if isinstance(answer, dict) else None
    if not isinstance(data, list) or not all(isinstance(one, dict) for one in data):
        return None
    # Some servers leave `index` out; then the order is meant.
    rows = {one.get("index", place): one.get("embedding") for place, one in enumerate(data)}
    whole = all(type(place) is int for place in rows) and len(rows) == len(data)
    return rows if whole else None
