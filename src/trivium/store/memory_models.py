"""The memory store's vectors, and how it comes to those of another model.

Part of `memory`, and as plain: what it answers is what the other stores must answer.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from trivium.errors import ModelChanged, NotEmbedded, ReembedStopped
from trivium.ports import Unembedded, Waiting
from trivium.types import Chunk, ChunkId, DocumentId, TokenVectors

if TYPE_CHECKING:
    from trivium.types import Vector


@dataclass(frozen=True, slots=True)
class Entry:
    """An active chunk with everything the signals look at."""

    document: DocumentId
    chunk: Chunk
    embedded: str
    vector: Vector | None
    stems: list[str]
    spellings: list[str]


class MemoryModels:
    def __init__(self) -> None:
        super().__init__()
        self._entries: dict[ChunkId, Entry] = {}
        self._last_chunk = 0
        self._embeddings: dict[tuple[str, str], Vector] = {}  # by model and hash
        self._embedded_texts: dict[str, str] = {}  # by hash
        self._tokens: dict[tuple[str, str], TokenVectors] = {}
        self._model = ""
        self._dimensions = 0
        self._model_settings: tuple[str, Mapping[str, str]] = ("", {})  # how to load which
        self._next: tuple[str, Mapping[str, str]] = ("", {})

    def describe_model(self, model: str, settings: Mapping[str, str]) -> None:
        self._model_settings = (model, settings)

    def changing_model(self, waiting: Waiting | None = None) -> AbstractContextManager[None]:
        return nullcontext()

    def begin_model(self, model: str, settings: Mapping[str, str]) -> None:
        self._next = (model, settings)
        self.drop_other_models()

    def count_unembedded(self, model: str) -> int:
        return len({one.hash for one in self.unembedded(model, 0, self._last_chunk)})

    def unembedded(self, model: str, after: ChunkId, limit: int) -> list[Unembedded]:
        lacking = [
            Unembedded(i, entry.embedded, self._embedded_texts[entry.embedded])
            for i, entry in sorted(self._entries.items())
            if i > after and (model, entry.embedded) not in self._embeddings
        ]
        return lacking[:limit]

    def keep_beside(
        self, model: str, vectors: Mapping[str, Vector], tokens: Mapping[str, TokenVectors]
    ) -> None:
        if model != self._next[0]:
            raise ReembedStopped("Another process has stopped it.")
        needed = {entry.embedded for entry in self._entries.values()}
        self._embeddings |= {(model, h): v for h, v in vectors.items() if h in needed}
        self._tokens |= {(model, h): t for h, t in tokens.items() if h in needed}

    def prepare_model(self, model: str) -> None:
        """Nothing to do: there is no derived index."""

    def switch_model(self, model: str) -> None:
        lacking = self.count_unembedded(model)
        if lacking:
            raise NotEmbedded(f"{lacking:,} passages have no vector of {model}.", fix="")
        if model != self._next[0]:
            raise ReembedStopped("Another process has stopped it.")
        for i, entry in self._entries.items():
            self._entries[i] = replace(entry, vector=self._embeddings[model, entry.embedded])
        held = [v for (of, _), v in self._embeddings.items() if of == model]
        self._model, self._dimensions = model, len(held[0]) if held else 0
        self._model_settings, self._next = self._next, ("", {})

    def abandon_model(self) -> None:
        self._next = ("", {})
        self.drop_other_models()

    def drop_other_models(self) -> None:
        if self._model:
            kept = (self._model, self._next[0])
            self._embeddings = {k: v for k, v in self._embeddings.items() if k[0] in kept}
            self._tokens = {k: t for k, t in self._tokens.items() if k[0] in kept}

    def _refuse_other(self, model: str) -> None:
        if self._model and model != self._model:
            raise ModelChanged(f"The vectors are of {self._model}, not of {model}.")
