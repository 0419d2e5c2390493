"""Whether passages support a sentence: by its numbers, dates, names, negation, words and meaning.

It finds what is made up, reversed, cited wrongly or not in the passages at all. It doesn't reason.
Knows embedders by their port, and nothing of prompts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, pairwise
from typing import TYPE_CHECKING

from trivium.core.errors import ModelUnavailable
from trivium.ports import Embedder
from trivium.text import boundaries
from trivium.text.lexicon.dates import dates
from trivium.text.lexicon.negation import denies, negation
from trivium.text.lexicon.quantities import Quantity, quantities, unmatched
from trivium.text.normalise import fold, words
from trivium.text.stems import content_words, stem

if TYPE_CHECKING:
    from trivium.core.types import Vector

Rarities = Callable[[Sequence[str]], Sequence[float]]

LONGEST = 400  # characters of a sentence that are compared
# The share of a sentence's content words in another one that makes both about the same thing.
NEARLY_THE_SAME = 0.75
FEWEST_SHARED = 3
LONGEST_STEM = 5  # letters that two German words share if one is part of the other
MOST_FIGURES = 40  # of an answer, added and subtracted in pairs
_NAME = re.compile(r"(?<=[\w,;:(“\"] )[A-Z][\w’'-]*[a-z][\w’'-]*")


@dataclass(frozen=True, slots=True)
class SourceText:
    """A text that may support a sentence, and its language."""

    text: str
    language: str


class Words:
    """How much of a text's content is in other texts; rare words count more."""

    def __init__(self, rarities: Rarities) -> None:
        self.rarities = rarities

    def share(self, text: str, among: Sequence[SourceText], known_text: str = "") -> float:
        """0..1, the share of the text's content words by rarity; 1 if it has none. A word that only
        `known_text`, the question, says counts half: "It costs 40 €"."""
        languages = sorted({reading.language for reading in among})
        content = list(dict.fromkeys(content_words(words(text), languages or [""])))
        if not content:
            return 1.0
        weights = dict(zip(content, self.rarities(content), strict=True))
        in_texts = dict.fromkeys(content, False)
        for reading in among:
            there = set(stem(words(reading.text), reading.language))
            stems = stem(content, reading.language)
            in_texts |= {w: True for w, s in zip(content, stems, strict=True) if s in there}
        known_stems = {
            stemmed for language in languages for stemmed in stem(words(known_text), language)
        }
        from_question = {
            word for word in content if not known_stems.isdisjoint(_stems(word, languages))
        }
        others = [weights[word] for word in content if in_texts[word] or word not in from_question]
        if len(from_question) < len(content):  # something new is said
            half = sum(others) / len(others) / 2
            weights |= {
                word: min(weights[word], half) for word in from_question if not in_texts[word]
            }
        whole = sum(weights.values())
        return (
            sum(weights[word] for word, is_in in in_texts.items() if is_in) / whole
            if whole
            else 1.0
        )


def _stems(word: str, languages: Sequence[str]) -> set[str]:
    return {stemmed for language in languages for stemmed in stem([word], language)}


def strange_quantities(
    text: str, language: str, among: Sequence[tuple[str, str]]
) -> list[Quantity]:
    """Quantities of a text that none of the others (text and language) has; dates apart."""
    date_spans = [(date.start, date.end) for date in dates(text, language)]
    return unmatched(text, language, among, date_spans)


def is_derived(
    quantity: Quantity, among: Sequence[tuple[str, str]], strange: Sequence[Quantity]
) -> bool:
    """Whether a quantity is the sum or difference of two others that the texts have and that aren't
    strange themselves."""
    every = [other for text, code in among for other in quantities(text, code) if other.readings]
    sourced = [other for other in every if not any(other.same(odd) for odd in strange)]
    return any(
        replace(quantity, sign=0, readings=(abs(result),), scales=()).same(quantity)
        for a, b in combinations(sourced[:MOST_FIGURES], 2)
        for result in (a.value + b.value, a.value - b.value)
    )


def strange_names(text: str, among: Sequence[str]) -> list[str]:
    """Capitalised words within a sentence that none of the other texts has. For languages that
    capitalise only names."""
    other_words = {word for other in among for word in words(other)}
    date_spans = [(date.start, date.end) for date in dates(text)]
    capitalised = dict.fromkeys(
        m[0] for m in _NAME.finditer(text) if not any(a <= m.start() < b for a, b in date_spans)
    )
    return [name for name in capitalised if not set(words(name)) <= other_words]


def strange_nouns(text: str, among: Sequence[str]) -> list[str]:
    """The same for German, which capitalises every noun: nouns that share no part with any other
    text (`Lampenwerk`, `Lampen`)."""
    beginnings = {word[:LONGEST_STEM] for other in among for word in words(other)}
    every = "\n".join(fold(other) for other in among)
    return [
        name
        for name in strange_names(text, among)
        if not any(
            word[:LONGEST_STEM] in beginnings or word[-LONGEST_STEM:] in every
            for word in words(name)
        )
    ]


def is_opposite(text: str, among: Sequence[str], language: str) -> bool:
    """Whether it denies what the other texts say in nearly the same words, or the reverse."""
    mine = set(stem(content_words(words(negation(language).sub(" ", text)), [language]), language))
    if len(mine) < FEWEST_SHARED:
        return False
    denied = denies(text, language)
    near = [
        denies(piece, language)
        for other in among
        for piece in pieces(other)
        if len(mine & set(stem(words(piece), language))) >= NEARLY_THE_SAME * len(mine)
    ]
    return bool(near) and denied not in near


def pieces(text: str) -> list[str]:
    """The sentences of a passage, each short enough to compare."""
    cuts = [0, *boundaries.sentences(text), len(text)]
    parts = (text[a:b].strip()[:LONGEST] for a, b in pairwise(cuts))
    return [part for part in parts if any(c.isalnum() for c in part)]


class Nearness:
    """How near sentences are in meaning, by the embedding model. Caches the sentences of one
    answer, so none is embedded twice."""

    def __init__(self, embedder: Embedder | None) -> None:
        self._embedder = embedder
        self._vectors: dict[str, Vector] = {}

    def alike(self, text: str, other: str, least: float) -> bool:
        """Whether two texts are at least so similar; never without a model."""
        near = self.nearest([text], {0: [other]})
        return near is not None and near[text, 0] >= least

    def nearest(
        self, statements: Sequence[str], among: Mapping[int, Sequence[str]]
    ) -> Mapping[tuple[str, int], float] | None:
        """For each statement and passage, the similarity of the nearest sentence; None without a
        model. Statements are sentences too, so both are embedded as documents."""
        texts = dict.fromkeys([*statements, *(text for some in among.values() for text in some)])
        new = [text for text in texts if text not in self._vectors]
        if self._embedder is None:
            return None
        try:
            vectors = self._embedder.embed_documents(new) if new else ()
            self._vectors.update(zip(new, vectors, strict=True))
        except ModelUnavailable:
            self._embedder = None
            return None
        return {
            (statement, number): max(
                (float(self._vectors[statement] @ self._vectors[o]) for o in some), default=0.0
            )
            for number, some in among.items()
            for statement in statements
        }
