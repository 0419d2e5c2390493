"""How well the embedding model tells the passages of a library apart, found without judgments.

A few random words of a passage are the query. The grasp is how much more similar that passage is
than its nearest neighbours, as a difference of cosines: .22 for short descriptions of entities, 0
for German prose, -.06 for German law. Where it is high, meaning deserves more weight; where it is
low, words do. Pure, apart from asking the model.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from math import log
from statistics import fmean
from typing import TYPE_CHECKING

from trivium.text.normalise import words
from trivium.text.stems import DEFAULT_LANGUAGE, content_words
from trivium.types import ChunkId, StoredChunk

if TYPE_CHECKING:
    from trivium.types import Vector

PASSAGES = 500  # that a query is compared with, in a larger library a sample
LEAST = 200  # fewer say nothing: their nearest neighbours are too far away
QUERIES = 100  # .6 s of a processor; the standard error is .01
_WORDS = 4
_NEAREST = 50  # of each so many passages one, the nearest, is a neighbour
_SEED = 7
# Characters of a passage, as a logarithm: those of most judged sets, and how far from that sets
# were fitted: 240 to 1,100 characters.
_USUAL = 6.5
_SHORTER, _LONGER = -1.0, 0.5
_FEWEST = 50  # characters: below, a passage says nothing anyway


def measure(
    passages: Sequence[StoredChunk],
    vectors: Mapping[ChunkId, Vector],
    embed: Callable[[str], Vector],
) -> float | None:
    """None where too few passages have a vector. Raises ModelError."""
    import numpy as np

    held = [passage for passage in passages if passage.id in vectors]
    if len(held) < LEAST:
        return None
    matrix = np.stack([vectors[passage.id] for passage in held])
    neighbours = len(held) // _NEAREST
    chance = random.Random(_SEED)  # the same library gives the same figure
    leads = []
    for at in chance.sample(range(len(held)), QUERIES):
        query = _query(held[at], chance)
        if not query:
            continue
        similar = matrix @ embed(query)
        own, similar[at] = similar[at], -1.0
        leads.append(own - np.sort(similar)[-neighbours:].mean())
    return round(float(np.mean(leads)), 3) if leads else None


def usual_length(passages: Sequence[StoredChunk]) -> float:
    """How long the passages are: 0 as in most judged sets, below 0 shorter."""
    if not passages:
        return 0.0
    mean = fmean(log(max(_FEWEST, len(passage.chunk.text))) for passage in passages)
    return round(min(_LONGER, max(_SHORTER, mean - _USUAL)), 3)


def _query(passage: StoredChunk, chance: random.Random) -> str:
    language = passage.document.language
    content = content_words(words(passage.chunk.text), {language, DEFAULT_LANGUAGE})
    return " ".join(chance.sample(content, min(_WORDS, len(content))))
