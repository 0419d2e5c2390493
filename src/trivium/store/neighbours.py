"""Finds the chunks around others. Stores number the chunks of one document without gaps."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from trivium.core.types import ChunkId, Neighbours, StoredChunk


def neighbours(
    ids: Sequence[ChunkId],
    before: int,
    after: int,
    fetch: Callable[[Sequence[ChunkId]], Sequence[StoredChunk]],
) -> dict[ChunkId, Neighbours]:
    """`fetch` is called once, for everything."""
    wanted = sorted({i + step for i in ids for step in range(-before, after + 1)})
    found = {chunk.id: chunk for chunk in fetch(wanted)}

    def beside(middle: StoredChunk, steps: range) -> tuple[StoredChunk, ...]:
        near = (found.get(middle.id + step) for step in steps)
        return tuple(c for c in near if c and c.document.id == middle.document.id)

    return {
        i: Neighbours(beside(found[i], range(-before, 0)), beside(found[i], range(1, after + 1)))
        for i in ids
        if i in found
    }
