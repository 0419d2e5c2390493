"""A bonus for passages that say the query word for word.

Who types or pastes a phrase that they remember means the passage that says it, but BM25, trigrams
and vectors don't know in which order words stand. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from trivium.core.results import OrderPart
from trivium.core.types import ChunkId, Query, StoredChunk
from trivium.search.fuse import Fused
from trivium.text.normalise import spaced_passage

LOOKED_AT = 10  # fused passages, however many results the caller asks for
# Words side by side; three are in many passages. Function words count: of the first five words of
# a sentence often four are some, and with two others demanded a third of the gain was lost.
_RUN = 4
_MOST = 32  # words of a query: of a longer text, its beginning
# A passage that says all of the query gains as much as the best one has; else that, times the share
# of the words it says to this power. So a question that begins as a passage does gains little:
# nDCG@10 of xquad_en -.0015 with 2, the same as without a bonus with 3.
_POWER = 3


def in_order(query: Query, passages: Iterable[StoredChunk]) -> dict[ChunkId, OrderPart]:
    """The passages that say at least four words of the query side by side."""
    words = query.words[:_MOST]
    apart = [f" {word} " for word in words]
    parts: dict[ChunkId, OrderPart] = {}
    for passage in passages if len(words) >= _RUN else ():
        if part := _matched_part(words, apart, spaced_passage(passage.chunk.text)):
            parts[passage.id] = OrderPart(part, len(words), 0.0)
    return parts


def with_bonus(fused: Sequence[Fused], parts: Mapping[ChunkId, OrderPart]) -> list[Fused]:
    """The list in its new order. Only the first few may gain: a passage further down has little of
    the query."""
    ranked = [*fused]
    for at, passage in enumerate(fused[:LOOKED_AT]):
        if part := parts.get(passage.chunk_id):
            added = fused[0].score * (part.words / part.of) ** _POWER
            added_part = replace(part, contribution=added)
            ranked[at] = replace(passage, score=passage.score + added, in_order=added_part)
    return sorted(ranked, key=lambda passage: (-passage.score, passage.chunk_id))


def _matched_part(words: Sequence[str], apart: Sequence[str], text: str) -> int:
    """How many words of the query are in a run of four that the spaced text has. `apart`: the words
    with a blank before and behind."""
    there = [word in text for word in apart]
    starts = [at for at in range(len(words) - _RUN + 1) if all(there[at : at + _RUN])]
    if not starts:  # nearly always, and a third of the time
        return 0
    text = f" {' '.join(text.split())} "
    runs = [at for at in starts if f" {' '.join(words[at : at + _RUN])} " in text]
    return len({at + step for at in runs for step in range(_RUN)})
