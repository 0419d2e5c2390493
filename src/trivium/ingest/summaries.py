"""Which summary a document's chunks are embedded under when its text has changed.

The summary stands in front of every chunk, so a new one means embedding all of them again: 523
chunks instead of 1 where the first paragraph of a 200-page book was edited. It says what a document
is about, which an edit hardly changes. So the one before stays while it saves at least half of the
work, unless there was none.
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
