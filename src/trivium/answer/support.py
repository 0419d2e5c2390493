"""Whether passages bear out a sentence: by its numbers, its words and its meaning.

It finds what is made up, cited wrongly or not in the passages at all. It does not reason: a
sentence that turns a passage into its opposite with the same words passes. Knows embedders by
their port, and nothing of prompts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from trivium.errors import ModelUnavailable
from trivium.ports import Embedder
from trivium.text import boundaries
from trivium.text.normalise import fold, words
from trivium.text.stems import content_words, stem

if TYPE_CHECKING:
    from trivium.types import Vectors

Rarities = Callable[[Sequence[str]], Sequence[float]]

LONGEST = 400  # characters of a sentence that are compared
_NUMBER = re.compile(r"\d+(?:[.,   ]\d+)*")
_COUNTED = {
    word: str(number)
    for number, names in enumerate(
        ("zero null", "one eins", "two zwei", "three drei", "four vier", "five fünf", "six sechs",
         "seven sieben", "eight acht", "nine neun", "ten zehn", "eleven elf", "twelve zwölf")
    )
    for word in map(fold, names.split())
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Read:
    """A text that may bear something out, in its language."""

    text: str
    language: str


class Words:
    """How much of a text's content stands in other texts, rare words counting more."""

    def __init__(self, rarities: Rarities) -> None:
        self.rarities = rarities

    def share(self, text: str, among: Sequence[Read]) -> float:
        """0..1, of the text's content words by their rarity; 1 where it has none."""
        languages = sorted({read.language for read in among})
        content = list(dict.fromkeys(content_words(words(text), languages or [""])))
        if not content:
            return 1.0
        weights = dict(zip(content, self.rarities(content), strict=True))
        held = dict.fromkeys(content, False)
        for read in among:
            there = set(stem(words(read.text), read.language))
            stems = stem(content, read.language)
            held |= {w: True for w, s in zip(content, stems, strict=True) if s in there}
        whole = sum(weights.values())
        return sum(weights[word] for word, found in held.items() if found) / whole if whole else 1.0


def strange_numbers(text: str, among: Sequence[str]) -> list[str]:
    """Numbers of a text that none of the others holds, in figures or, up to twelve, in words."""
    known = {number for other in among for number in _numbers(other)}
    known |= {_COUNTED[w] for other in among for w in words(other) if w in _COUNTED}
    return [number for number in dict.fromkeys(_numbers(text)) if number not in known]


def _numbers(text: str) -> list[str]:
    """Without what separates thousands: 1,000 and 1 000 are 1000; 3.5 and 3,5 are 35 to both."""
    return [re.sub(r"\D", "", found) for found in _NUMBER.findall(text)]


def pieces(text: str) -> list[str]:
    """The sentences of a passage, each short enough to compare."""
    cuts = [0, *boundaries.sentences(text), len(text)]
    found = (text[a:b].strip()[:LONGEST] for a, b in pairwise(cuts))
    return [one for one in found if any(c.isalnum() for c in one)]


def nearest(
    embedder: Embedder, statements: Sequence[str], among: Mapping[int, Sequence[str]]
) -> Mapping[tuple[str, int], float] | None:
    """For each statement and each passage the similarity of its nearest sentence; None where no
    model says. Statements are sentences too, so both are embedded as documents are."""
    texts = list(dict.fromkeys([*statements, *(one for some in among.values() for one in some)]))
    try:
        vectors: Vectors = embedder.embed_documents(texts)
    except ModelUnavailable:
        return None
    at = {text: row for row, text in enumerate(texts)}
    found: dict[tuple[str, int], float] = {}
    for number, some in among.items():
        rows = vectors[[at[one] for one in some]]
        for statement in statements:
            near = rows @ vectors[at[statement]]
            found[statement, number] = float(near.max()) if len(some) else 0.0
    return found
