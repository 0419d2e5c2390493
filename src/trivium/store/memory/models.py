"""The reference's vectors, and the change to another model's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from trivium.core.errors import ModelChanged, NotEmbedded, ReembedStopped
from trivium.core.types import ChunkId, DocumentId, Manifest, TokenVectors
from trivium.ports import Embed, Unembedded
from trivium.store.memory.held import Held

if TYPE_CHECKING:
    from trivium.core.types import Vector


class MemoryModels:
    def __init__(self, held: Held) -> None:
        self._held = held

    def manifest(self) -> Manifest:
        described, settings = self._held.model_settings
        return Manifest(
            schema=0,
            model=self._held.model,
            dimensions=self._held.dimensions,
            settings=settings if described == self._held.model else {},
            next_model=self._held.next[0],
            next_settings=self._held.next[1],
        )

    def describe(self, model: str, settings: Mapping[str, str]) -> None:
        self._held.model_settings = (model, settings)

    def grasp(self) -> str:
        return self._held.grasp

    def keep_grasp(self, found: str) -> None:
        self._held.grasp = found

    def known(self, model: str, hashes: Sequence[str], sender: str = "") -> Mapping[str, Vector]:
        if sender:
            mine = [d.id for d in self._held.documents.values() if d.sender == sender]
            own = {hash_ for id_ in mine for one in self._held.past[id_] for _, hash_ in one.chunks}
            hashes = [hash_ for hash_ in hashes if hash_ in own]
        return {
            h: self._held.embeddings[model, h]
            for h in hashes
            if (model, h) in self._held.embeddings
        }

    def keep(self, model: str, vectors: Mapping[str, Vector]) -> None:
        self._held.embeddings |= {(model, hash_): vector for hash_, vector in vectors.items()}
        if vectors and not self._held.model:
            self._held.model, self._held.dimensions = model, len(next(iter(vectors.values())))

    def embed_missing(self, model: str, embed: Embed) -> int:
        if model and self._held.model not in ("", model):
            raise ModelChanged(f"The vectors come from {self._held.model}.")
        found = embed(
            {one.hash: one.text for one in self.unembedded(model, 0, self._held.last_chunk)}
        )
        self.keep(model, found)
        for i, entry in self._held.entries.items():
            vector = self._held.embeddings.get((model, entry.embedded))
            self._held.entries[i] = replace(entry, vector=vector)
        return len(found)

    def lacking(self, model: str, documents: Sequence[DocumentId]) -> set[DocumentId]:
        without = {one.id for one in self.unembedded(model, 0, self._held.last_chunk)}
        return {self._held.entries[i].document for i in without} & set(documents)

    def begin(self, model: str, settings: Mapping[str, str]) -> None:
        self._held.next = (model, settings)
        self.drop_others()

    def count_unembedded(self, model: str) -> int:
        return len({one.hash for one in self.unembedded(model, 0, self._held.last_chunk)})

    def unembedded(self, model: str, after: ChunkId, limit: int) -> list[Unembedded]:
        lacking = [
            Unembedded(i, entry.embedded, self._held.embedded_texts[entry.embedded])
            for i, entry in sorted(self._held.entries.items())
            if i > after and (model, entry.embedded) not in self._held.embeddings
        ]
        return lacking[:limit]

    def keep_beside(
        self, model: str, vectors: Mapping[str, Vector], tokens: Mapping[str, TokenVectors]
    ) -> None:
        if model != self._held.next[0]:
            raise ReembedStopped("Another process stopped the change of the model.")
        needed = {entry.embedded for entry in self._held.entries.values()}
        self._held.embeddings |= {(model, h): v for h, v in vectors.items() if h in needed}
        self._held.tokens |= {(model, h): t for h, t in tokens.items() if h in needed}

    def prepare(self, model: str) -> None:
        """Nothing to do: there is no derived index."""

    def switch(self, model: str) -> None:
        lacking = self.count_unembedded(model)
        if lacking:
            raise NotEmbedded(f"{lacking:,} passages have no vector from {model}.", fix="")
        if model != self._held.next[0]:
            raise ReembedStopped("Another process stopped the change of the model.")
        for i, entry in self._held.entries.items():
            self._held.entries[i] = replace(
                entry, vector=self._held.embeddings[model, entry.embedded]
            )
        held = [v for (of, _), v in self._held.embeddings.items() if of == model]
        self._held.model, self._held.dimensions = model, len(held[0]) if held else 0
        self._held.model_settings, self._held.next = self._held.next, ("", {})

    def abandon(self) -> None:
        self._held.next = ("", {})
        self.drop_others()

    def drop_others(self) -> None:
        if self._held.model:
            kept = (self._held.model, self._held.next[0])
            self._held.embeddings = {k: v for k, v in self._held.embeddings.items() if k[0] in kept}
            self._held.tokens = {k: t for k, t in self._held.tokens.items() if k[0] in kept}
