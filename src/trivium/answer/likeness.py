"""Whether two single words mean nearly the same, by the embedding model: cost and price, founded
and founder. Knows nothing of questions.

Cosines of all-MiniLM-L6-v2: weigh, weight .91; founded, founder .81; price, cost .73; stone,
moonstone .65; wrote, author .67. Of words that only belong together: wizard, monk .33; cannon,
longbow .26; mayor, magistrate .39; but trident, spear .58, so names are never compared.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from trivium.core.errors import ModelUnavailable
from trivium.ports import Embedder

if TYPE_CHECKING:
    from trivium.core.types import Vector

LEAST = 0.5  # below this, two words are different things
LONGEST_ENDING = 3  # letters; with more, it is a compound: the moon is no moonstone
MOST_WORDS = 400  # compared for one answer: .2 s on 2 cores
MOST_KEPT = 4_000  # words of all answers, 6 MB: the next question needs half of them again


class WordVectors:
    """Vectors of single words, cached between answers. Threads may share it."""

    def __init__(self) -> None:
        self._model = ""
        self._vectors: dict[str, Vector] = {}

    def of(self, some: Sequence[str], embedder: Embedder) -> dict[str, Vector]:
        """Raises ModelUnavailable."""
        if self._model != embedder.fingerprint or len(self._vectors) > MOST_KEPT:
            self._model, self._vectors = embedder.fingerprint, {}
        vectors = self._vectors
        new = [word for word in some if word not in vectors]
        if new:
            vectors.update(zip(new, embedder.embed_documents(new), strict=True))
        return {word: vectors[word] for word in some}


class Likeness:
    """Compares the words of one answer. Without a suitable model, no two words are alike."""

    def __init__(self, embedder: Embedder | None, word_vectors: WordVectors) -> None:
        self._embedder = embedder
        self._word_vectors = word_vectors
        self._vectors: dict[str, Vector] = {}

    def learn(self, some: Iterable[str]) -> None:
        """Many at once, which takes a tenth of the time."""
        new = [
            word for word in dict.fromkeys(some) if word not in self._vectors and not word.isdigit()
        ]
        new = new[: MOST_WORDS - len(self._vectors)]
        if self._embedder is None or not new:
            return
        try:
            self._vectors |= self._word_vectors.of(new, self._embedder)
        except ModelUnavailable:
            self._embedder = None

    def between(self, word: str, others: Iterable[str]) -> float:
        """The likeness of the most similar word; 0 below the limit."""
        mine = self._vectors.get(word)
        if mine is None:
            return 0.0
        vectors = (self._vectors.get(other) for other in others if not _begins(word, other))
        best = max((float(mine @ other) for other in vectors if other is not None), default=0.0)
        return best if best >= LEAST else 0.0


def _begins(word: str, other: str) -> bool:
    """Whether one is a compound that begins with the other: its vector has that word's part."""
    short, long = sorted((word, other), key=len)
    return long.startswith(short) and len(long) - len(short) > LONGEST_ENDING
