"""Learns from a library's own passages how to search it, without judgments.

Takes a few random words of a passage as a query. The separation is how much more similar this
passage is than its nearest neighbours, as a difference of cosines: .22 for short descriptions of
entities, 0 for German prose, -.06 for German law. If it is high, meaning deserves more weight; if
it is low, words do.

What a similarity means also depends on how long the passages are and how alike: how similar the
nearest passage of another document is. Pure, except that it asks the model and the store.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from math import log
from statistics import fmean
from typing import TYPE_CHECKING

from trivium.core.types import ChunkId, DocumentId, Hit, StoredChunk
from trivium.text.normalise import words
from trivium.text.stems import DEFAULT_LANGUAGE, content_words

if TYPE_CHECKING:
    from trivium.core.types import Vector

PASSAGES = 500  # to compare a query with; from a larger library, a sample
LEAST = 200  # fewer say nothing: their nearest neighbours are too far away
QUERIES = 100  # .6 s of a processor; the standard error is .01
_WORDS = 4
_NEAREST = 50  # one passage in this many, the nearest ones, counts as a neighbour
_SEED = 7
# Length of a passage, as the logarithm of its characters: as in most judged sets, and the range in
# which sets were fitted (240 to 1,100 characters).
_USUAL = 6.5
_SHORTER, _LONGER = -1.0, 0.5
_FEWEST = 50  # characters: a shorter passage says nothing anyway
# How alike the passages of judged sets are: .51 to .86, mostly about .7. With a maximum of .8 or
# .85, the mean error of the match on eight sets is .070 or .074 instead of .066.
_USUALLY_ALIKE = 0.7
_LEAST_ALIKE, _MOST_ALIKE = 0.5, 0.75
NEIGHBOURS = 20  # look among this many for a passage of another document


@dataclass(frozen=True, slots=True)
class Passages:
    """How the library's passages differ from those of most judged sets; 0: not at all."""

    length: float = 0.0  # from -1 (shorter) to .5
    alike: float = 0.0  # from -.2 to .05 (more alike)
    few: bool = False  # too few to measure: below LEAST


def measure(
    passages: Sequence[StoredChunk],
    vectors: Mapping[ChunkId, Vector],
    embed: Callable[[str], Vector],
) -> float | None:
    """The separation; None if too few passages have a vector. Raises ModelError."""
    import numpy as np

    embedded = [passage for passage in passages if passage.id in vectors]
    if len(embedded) < LEAST:
        return None
    matrix = np.stack([vectors[passage.id] for passage in embedded])
    neighbours = len(embedded) // _NEAREST
    chance = random.Random(_SEED)  # the same library gives the same figure
    leads = []
    for at in chance.sample(range(len(embedded)), QUERIES):
        query = _query(embedded[at], chance)
        if not query:
            continue
        similar = matrix @ embed(query)
        own, similar[at] = similar[at], -1.0
        leads.append(own - np.sort(similar)[-neighbours:].mean())
    return round(float(np.mean(leads)), 3) if leads else None


def usual_length(passages: Sequence[StoredChunk]) -> float:
    """How long the passages are: 0 if as in most judged sets, below 0 if shorter."""
    if not passages:
        return 0.0
    mean = fmean(log(max(_FEWEST, len(passage.chunk.text))) for passage in passages)
    return round(min(_LONGER, max(_SHORTER, mean - _USUAL)), 3)


def alike(
    passages: Sequence[StoredChunk],
    vectors: Mapping[ChunkId, Vector],
    nearest: Callable[[Vector], Sequence[Hit]],
    documents: Callable[[Collection[ChunkId]], Mapping[ChunkId, DocumentId]],
) -> float | None:
    """How similar a passage is to the nearest one of another document, on average. If all its
    neighbours are in its own document, the last of them counts. None without vectors."""
    embedded = [passage for passage in passages if passage.id in vectors]
    sample = embedded[:: max(1, len(embedded) // QUERIES)]
    neighbours = {p.id: [h for h in nearest(vectors[p.id]) if h.chunk_id != p.id] for p in sample}
    document = documents({hit.chunk_id for hits in neighbours.values() for hit in hits})
    similar = []
    for passage in sample:
        hits = neighbours[passage.id]
        others = (h.score for h in hits if document.get(h.chunk_id) != passage.document.id)
        if hits:
            similar.append(next(others, hits[-1].score))
    return round(fmean(similar), 3) if similar else None


def usual_likeness(likeness: float | None) -> float:
    """What `alike` found, compared with most judged sets: 0 if the same or unknown, above 0 if
    more alike."""
    if likeness is None:
        return 0.0
    return round(min(_MOST_ALIKE, max(_LEAST_ALIKE, likeness)) - _USUALLY_ALIKE, 3)


def _query(passage: StoredChunk, chance: random.Random) -> str:
    language = passage.document.language
    content = content_words(words(passage.chunk.text), {language, DEFAULT_LANGUAGE})
    return " ".join(chance.sample(content, min(_WORDS, len(content))))
