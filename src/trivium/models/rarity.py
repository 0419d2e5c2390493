"""How much a token says, from the order of its vocabulary: the later it stands, the rarer it is.

Vocabularies of language models list their words from common to rare, so a word's place stands for
its frequency (Zipf's law) without counting any text. Knows nothing of models and texts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from trivium.types import Vector

# Share of a vocabulary's words that are too common to be kept of a passage. Of 30,000 English ones
# a hundred, `the` to `music`: without them passages take a third less space.
COMMON = 1 / 300
# Letters and digits are listed by their code, not by frequency: they count as this word does.
SINGLE = 500


class Rarity:
    """Of the tokens of one vocabulary."""

    def __init__(self, vocabulary: Mapping[str, int]) -> None:
        ranks = np.zeros(max(vocabulary.values()) + 1, np.float32)
        last = 0
        for token, number in sorted(vocabulary.items(), key=lambda item: item[1]):
            spelled = token.removeprefix("##").lstrip("▁Ġ")  # tokenisers' marks of pieces, spaces
            if spelled.isalnum():
                last += len(spelled) > 1
                ranks[number] = last if len(spelled) > 1 else SINGLE
        self._ranks = ranks
        self._common = last * COMMON

    def weights(self, tokens: Sequence[int]) -> Vector:
        """The logarithm of each one's rank; 0 for punctuation and the marks around a text."""
        found: Vector = np.log1p(self._ranks[list(tokens)])
        return found

    def worth_keeping(self, tokens: Sequence[int]) -> NDArray[np.bool_]:
        """Which tokens of a passage; the first one, which opens the text, if no other is."""
        found = self._ranks[list(tokens)] > self._common
        found[0] |= not found.any()
        return found
