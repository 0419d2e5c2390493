"""Puts the text around a passage beside it: the end of the chunk before, the start of the next.

Chunks overlap; what the passage itself holds is not repeated. Pure over chunks.
"""

from __future__ import annotations

from trivium.types import Neighbours, StoredChunk

CHARACTERS = 500  # on each side


def context(found: StoredChunk, around: Neighbours) -> tuple[str, str]:
    """What stands before and after a passage."""
    chunk = found.chunk
    before = after = ""
    if around.before:
        near = around.before[-1].chunk
        before = near.text[: max(0, chunk.start - near.start)][-CHARACTERS:]
    if around.after:
        near = around.after[0].chunk
        after = near.text[max(0, chunk.end - near.start) :][:CHARACTERS]
    return before, after
