"""Holds every sentence of an answer against the passages it cites.

What has no citation, or cites what does not bear it out, stays in the answer and is marked for the
reader. Knows nothing of who wrote it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from trivium.answer.passages import Passage
from trivium.answer.statements import Sentence, sentences
from trivium.answer.support import (
    Read,
    Words,
    is_opposite,
    nearest,
    pieces,
    strange_dates,
    strange_names,
    strange_numbers,
)
from trivium.answers import Statement
from trivium.ports import Embedder
from trivium.text.languages import detect_language
from trivium.text.normalise import words

# What is borne out, tried on pairs of a sentence and a text (`bench/answer_limits.py` tries a
# sample): of 100 parts of sentences with their own paragraph all, with a neighbouring one 2 %; of
# 100 claims of scifact with the abstract that they were made from, in other words, 69 %, with the
# abstract that search put first instead 14 %, with any other of the first ten 3 %. Words at .3
# accept 74, 22 and 3 %; a limit of .45 accepts 76, 30 and 6. Of 36 swapped numbers 33 were seen.
BY_WORDS = 0.5  # what words count beside meaning
LEAST = 0.5
LEAST_BY_WORDS = 0.45  # where no model says anything about meaning: 60, 16 and 4 %
COMPARED = 12  # sentences of each passage that are compared by meaning

Near = Mapping[tuple[str, int], float] | None


class Checker:
    """`embedder`: one whose similarities are those that the limits were measured with, or None."""

    def __init__(self, measure: Words, embedder: Embedder | None) -> None:
        self._measure = measure
        self._embedder = embedder

    def check(self, text: str, question: str, passages: Sequence[Passage]) -> tuple[Statement, ...]:
        """The statements of an answer, in order."""
        found = [one for one in sentences(text) if one.states]
        by_number = {passage.number: passage for passage in passages}
        near = self._near(found, by_number)
        language = detect_language(text)
        return tuple(self._checked(one, question, by_number, near, language) for one in found)

    def _near(self, found: Sequence[Sentence], by_number: Mapping[int, Passage]) -> Near:
        cited = {n for one in found for n in one.citations if n in by_number}
        if self._embedder is None or not cited:
            return None
        said = {word for one in found for word in words(one.text)}
        among = {n: _likely(by_number[n].text, said) for n in sorted(cited)}
        return nearest(self._embedder, [one.text for one in found if one.citations], among)

    def _checked(
        self,
        one: Sentence,
        question: str,
        by_number: Mapping[int, Passage],
        near: Near,
        language: str,
    ) -> Statement:
        cited = [by_number[n] for n in one.citations if n in by_number]
        if not cited:
            return Statement(one.text, one.citations, False, "it cites no source")
        texts = [f"{' '.join(p.citation.headings)}\n{p.text}" for p in cited]
        strange = strange_numbers(one.text, [*texts, question])
        if strange:
            numbers = ", ".join(strange)
            why = f"its sources don't have the number {numbers}"
            return Statement(one.text, one.citations, False, why)
        dates = strange_dates(one.text, [*texts, question])
        if dates:
            why = f"its sources have another date than {', '.join(dates)}"
            return Statement(one.text, one.citations, False, why)
        names = (
            [] if language == "de" else strange_names(one.text, [*texts, *_titles(cited), question])
        )
        if names:
            why = f"its sources don't name {', '.join(names)}"
            return Statement(one.text, one.citations, False, why)
        foreign = all(language and p.language and p.language != language for p in cited)
        if foreign:
            why = "its sources are in another language, so only numbers were compared"
            return Statement(one.text, one.citations, True, why)
        if is_opposite(one.text, texts, language or "en"):
            why = "its sources say the opposite"
            return Statement(one.text, one.citations, False, why)
        reads = [Read(text, p.language) for text, p in zip(texts, cited, strict=True)]
        support, least = self._measure.share(one.text, reads), LEAST_BY_WORDS
        if near is not None:
            meaning = max(near[one.text, p.number] for p in cited)
            support, least = BY_WORDS * support + (1 - BY_WORDS) * max(0.0, meaning), LEAST
        supported = support >= least
        why = "its sources support it" if supported else "its sources don't say so"
        return Statement(one.text, one.citations, supported, why, round(support, 3))


def _titles(cited: Sequence[Passage]) -> list[str]:
    return [f"{one.citation.title} {one.citation.uri} {one.citation.collection}" for one in cited]


def _likely(text: str, said: set[str]) -> list[str]:
    """The sentences that share the most words with what is said, in their order."""
    every = pieces(text)
    best = sorted(range(len(every)), key=lambda at: (-len(said & set(words(every[at]))), at))
    return [every[at] for at in sorted(best[:COMPARED])]
