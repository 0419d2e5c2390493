"""Takes the place of a missing model, and says why it is missing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from trivium.core.errors import ModelUnavailable

if TYPE_CHECKING:
    from trivium.core.types import Vector, Vectors


class MissingEmbedder:
    """Everything but the vector signal works; asking for a vector raises the reason."""

    fingerprint = ""
    dimensions = 0

    def __init__(self, reason: ModelUnavailable) -> None:
        self._reason = reason

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        raise self._reason

    def embed_query(self, text: str) -> Vector:
        raise self._reason
