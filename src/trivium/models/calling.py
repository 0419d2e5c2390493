"""Embeds text by calls to a server: divides texts into calls, and checks everything that comes
back. Knows nothing of documents, chunks and stores, nor of the wire format."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from trivium.core.errors import BadSetting, DimensionMismatch
from trivium.models.endpoint import Endpoint

if TYPE_CHECKING:
    from trivium.core.types import Vector, Vectors

MOST_TEXTS = 100  # of one call


class ModelClient(Protocol):
    """A client: it knows whom it asks."""

    @property
    def endpoint(self) -> Endpoint: ...


_Client = TypeVar("_Client", bound=ModelClient)


class CallingEmbedder(ABC, Generic[_Client]):
    """A model behind an address. Threads may share it.

    The fingerprint names model, dimensions and prefix, not the address: the same model moved to
    another server, or served by two, gives interchangeable vectors.
    """

    def __init__(
        self,
        client: _Client,
        dimensions: int = 0,
        query_prefix: str = "",
        document_prefix: str = "",
        *,
        batch: int = MOST_TEXTS,
        parallel: int = 1,
        query_seconds: float = 5.0,
    ) -> None:
        """`dimensions`: 0 takes the model's own, otherwise asks the endpoint for this many.
        `query_seconds`: time for a query, retries included; less, because a person waits."""
        if not 1 <= batch <= MOST_TEXTS:
            raise BadSetting(f"`embed.batch` can't be {batch}.", fix=f"Give 1 to {MOST_TEXTS}.")
        if parallel < 1 or dimensions < 0:
            name, value = ("parallel", parallel) if parallel < 1 else ("dimensions", dimensions)
            raise BadSetting(f"`embed.{name}` can't be {value}.", fix="Give a positive number.")
        endpoint = client.endpoint
        # Texts per call: if a call fails, all of its texts are lost.
        self.batch = min(batch, self._most(endpoint.model))
        self.dimensions = dimensions  # 0 until the first answer, unless given
        self.fingerprint = endpoint.model
        if dimensions:
            self.fingerprint += f"-{dimensions}"
        if document_prefix:  # a query's prefix changes no stored vector
            self.fingerprint += f"-{hashlib.sha256(document_prefix.encode()).hexdigest()[:6]}"
        self._client = client
        self._endpoint = endpoint
        self._wanted = dimensions
        self._query_prefix = query_prefix
        self._document_prefix = document_prefix
        self.parallel = parallel
        self._query_seconds = query_seconds

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        import numpy as np

        prefixed = [self._document_prefix + text for text in texts]
        calls = [prefixed[i : i + self.batch] for i in range(0, len(prefixed), self.batch)]
        if not calls:
            return np.empty((0, self.dimensions), np.float32)
        if len(calls) == 1 or self.parallel == 1:
            return np.concatenate([self._embed(call) for call in calls])
        with ThreadPoolExecutor(self.parallel, thread_name_prefix="trivium-embed") as threads:
            running = [threads.submit(self._embed, call) for call in calls]
            try:
                return np.concatenate([future.result() for future in running])
            finally:
                for future in running:  # after a failure, skip the rest
                    future.cancel()

    def embed_query(self, text: str) -> Vector:
        vector: Vector = self._embed([self._query_prefix + text], hurried=True)[0]
        return vector

    def _most(self, model: str) -> int:
        """Texts that one call to the model may hold."""
        return MOST_TEXTS

    @abstractmethod
    def _rows(self, texts: Sequence[str], *, hurried: bool) -> dict[int, Any] | None:
        """Embeddings by position, from one call; None if it returned something else. `hurried`: a
        person waits for a query."""

    def _embed(self, texts: Sequence[str], *, hurried: bool = False) -> Vectors:
        return self._checked(self._rows(texts, hurried=hurried), len(texts))

    def _checked(self, rows: dict[int, Any] | None, count: int) -> Vectors:
        """Unit vectors in the order of the texts, from whatever the endpoint sent."""
        import numpy as np

        if rows is None:
            raise self._endpoint.nonsense("returned no list of embeddings")
        if sorted(rows) != list(range(count)):
            raise self._endpoint.nonsense(f"returned {len(rows)} embeddings for {count} texts")
        try:
            array = np.array([rows[i] for i in range(count)], np.float64)
        except (TypeError, ValueError, OverflowError) as reason:
            raise self._endpoint.nonsense(
                "returned embeddings that aren't lists of numbers"
            ) from reason
        if array.ndim != 2 or not array.size or not np.isfinite(array).all():
            raise self._endpoint.nonsense("returned embeddings that aren't lists of numbers")
        self._check_dimensions(array.shape[1])
        # By the largest first: the square of a large number overflows.
        array /= np.maximum(np.abs(array).max(axis=1, keepdims=True), 1e-300)
        lengths = np.linalg.norm(array, axis=1, keepdims=True)
        if (lengths < 0.5).any():  # one number of each is 1 now, unless all are 0
            raise self._endpoint.nonsense("returned an embedding of zeros")
        unit: Vectors = (array / lengths).astype(np.float32)
        return unit

    def _check_dimensions(self, count: int) -> None:
        if self.dimensions and count != self.dimensions:
            raise DimensionMismatch(
                f"{self._endpoint} returned {count} dimensions, not {self.dimensions}.",
                fix="Set `embed.model` and `embed.dimensions` to what the library was made with, or"
                " change the model with `trivium reembed`."
                if not self._wanted
                else f"Set `embed.dimensions` to {count}, or to 0 if the model has a fixed length.",
                on_page="Ask the person who runs this server to set `embed.model` and"
                " `embed.dimensions` to what the library was made with.",
            )
        self.dimensions = count
