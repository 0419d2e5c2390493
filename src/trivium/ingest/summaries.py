"""Which summary to embed a document's chunks with after its text has changed.

The summary is part of every chunk's embedding, so a new one means embedding all of them again: 523
chunks instead of 1 after an edit of the first paragraph of a 200-page book. An edit hardly changes
what a document is about. So the old summary stays while it saves at least half of the work.
"""

from __future__ import annotations

from collections.abc import Sequence

from trivium.ingest.hashes import hash_of
from trivium.ports import Summarised
from trivium.types import Chunk

KEPT = 0.5  # share of the chunks that must be the same; below it is another text


def steady(fresh: str, chunks: Sequence[Chunk], before: Summarised | None) -> str:
    """The summary of before, or the fresh one."""
    if before is None or not before.summary or before.summary == fresh:
        return fresh
    under = (hash_of(chunk.embedded_under(before.summary)) for chunk in chunks)
    same = sum(hash_ in before.hashes for hash_ in under)
    return before.summary if same >= KEPT * len(chunks) else fresh
