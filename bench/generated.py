"""Made-up rows for measurements that need nothing outside the clone: words as rare as real ones,
vectors in clusters. The same on every machine. Speed only: nobody could judge a ranking of these.
"""

from __future__ import annotations

import random
from functools import cache
from itertools import accumulate
from typing import TYPE_CHECKING

import numpy as np

from bench.corpus import SEED, Corpus

if TYPE_CHECKING:
    from numpy.typing import NDArray

DIMENSIONS = 384
_WORDS = 20_000
_SENTENCES = 6_000
_QUESTIONS = 400
_CLUSTERS = 60
_SYLLABLES = (
    "ka",
    "lo",
    "mi",
    "ner",
    "ta",
    "vis",
    "or",
    "du",
    "san",
    "pel",
    "qui",
    "ro",
    "ge",
    "ul",
)


@cache
def generated_corpus() -> Corpus:
    chance = random.Random(SEED)
    words = list(
        dict.fromkeys("".join(chance.choices(_SYLLABLES, k=1 + n % 4)) for n in range(_WORDS))
    )
    # Zipf's law, flattened at the top. Summed up once, where `choices` would for each text: 1.8 s.
    weights = list(accumulate(1 / (rank + 3) for rank in range(len(words))))

    def text(least: int, most: int) -> str:
        return " ".join(chance.choices(words, cum_weights=weights, k=chance.randint(least, most)))

    sentences = tuple(f"{text(8, 25).capitalize()}." for _ in range(_SENTENCES))
    return Corpus(sentences, tuple(text(3, 9) for _ in range(_QUESTIONS)))


def generated_vectors(count: int, seed: int = SEED) -> NDArray[np.float32]:
    """Unit vectors around a few centres, which are the same for every seed."""
    centres = np.random.default_rng(SEED).standard_normal((_CLUSTERS, DIMENSIONS))
    chance = np.random.default_rng(seed)
    near = centres[chance.integers(_CLUSTERS, size=count)]
    mixed = near + chance.standard_normal((count, DIMENSIONS))
    unit: NDArray[np.float32] = (mixed / np.linalg.norm(mixed, axis=1, keepdims=True)).astype(
        np.float32
    )
    return unit
