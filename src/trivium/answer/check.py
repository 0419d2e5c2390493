"""Checks every sentence of an answer against the passages it cites.

A sentence that cites nothing, or the wrong passage, gets the number of the passage that bears it
out, where there is one. What may be the same in other words is marked for the reader; what none
bears out is not shown. Knows nothing of the writer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from trivium.answer.passages import Passage
from trivium.answer.question import figures
from trivium.answer.statements import Sentence, sentences
from trivium.answer.support import (
    ADDS,
    Nearness,
    Read,
    Words,
    is_derived,
    is_opposite,
    pieces,
    strange_dates,
    strange_names,
    strange_nouns,
    strange_numbers,
)
from trivium.answers import Statement
from trivium.ports import Embedder
from trivium.text.languages import detect_language
from trivium.text.normalise import words
from trivium.text.stems import content_words, stem

# What is borne out, tried on pairs of a sentence and a text (`bench/answer_limits.py` tries a
# sample): of 100 parts of sentences with their own paragraph all, with a neighbouring one 2 %; of
# 100 claims of scifact with the abstract that they were made from, in other words, 69 %, with the
# abstract that search put first instead 14 %, with any other of the first ten 3 %. Words at .3
# accept 74, 22 and 3 %; a limit of .45 accepts 76, 30 and 6. Of 36 swapped numbers 33 were seen.
BY_WORDS = 0.5  # what words count beside meaning
LEAST = 0.5
LEAST_BY_WORDS = 0.45  # where no model says anything about meaning: 60, 16 and 4 %
COMPARED = 12  # sentences of each passage that are compared by meaning
# Below it a sentence is not shown. Between the two it may say the same in other words: it is shown,
# and marked. Of 79 sentences with a neighbouring text 5 are between the two.
LEAST_SHOWN = 0.3
# From which on a passage that the model didn't cite is cited for it: of 78 sentences of xquad_en
# among eight passages 77 got the right one; with that one taken away, none got another.
LEAST_ATTRIBUTED = 0.65
MOST_TRIED = 2  # passages, those that share the most words with the sentence
LEAST_ASKED = 0.75  # of a question's words, from which on a sentence is its answer
OPPOSITE = "its sources say the opposite"


@dataclass(frozen=True, slots=True)
class Cell:
    """The figure that a table has for a question. Of 55 questions for one, 49 were answered right
    from the cell that was found, and 1 wrong."""

    question: str
    text: str  # row, column and value
    value: str

    def differs(self, said: str) -> bool:
        """Whether a sentence answers the question with other figures."""
        mine = set(figures(said)) - set(figures(self.question))
        if not mine or mine & set(figures(self.value)):
            return False
        asked = set(stem(content_words(words(self.question), ["en"]), "en"))
        there = set(stem(words(said), "en"))
        return bool(asked) and len(asked & there) >= LEAST_ASKED * len(asked)


class Checker:
    """Checks one answer. `embedder`: one whose similarities are those that the limits were measured
    with, or None. `known`: the question and results of calculations, which need no passage.
    `cell`: what a table has for the question, where one does."""

    def __init__(
        self,
        measure: Words,
        embedder: Embedder | None,
        passages: Sequence[Passage],
        known: str = "",
        cell: Cell | None = None,
    ) -> None:
        self._measure = measure
        self._nearness = Nearness(embedder)
        self._passages = {passage.number: passage for passage in passages}
        self._known = known
        self._cell = cell
        self._told: list[str] = []  # statements that are borne out

    def check(self, text: str) -> tuple[Statement, ...]:
        """The statements of a whole answer, in order."""
        language = detect_language(text)
        return tuple(self.one(said, language) for said in sentences(text) if said.states)

    def one(self, said: Sentence, language: str) -> Statement:
        """`language`: of the whole answer, as far as it is known."""
        cited = [self._passages[n] for n in said.citations if n in self._passages]
        if not cited:
            return Statement(said.text, said.citations, False, "it cites no source")
        conflict = self._conflict(said, cited, language)
        if conflict:
            return Statement(said.text, said.citations, False, conflict)
        foreign = all(language and p.language and p.language != language for p in cited)
        if foreign:
            why = "its sources are in another language, so only numbers were compared"
            return self._supported(Statement(said.text, said.citations, True, why))
        reads = [Read(_text(one), one.language) for one in cited]
        support, least = self._measure.share(said.text, reads, self._known), LEAST_BY_WORDS
        among = {p.number: _likely(p.text, said.text) for p in cited}
        near = self._nearness.nearest([said.text], among)
        if near is not None:
            meaning = max(near.values())
            support, least = BY_WORDS * support + (1 - BY_WORDS) * max(0.0, meaning), LEAST
        nouns = strange_nouns(said.text, [*map(_text, cited), *_titles(cited), self._known])
        if language == "de" and nouns:  # one may be said in another word: shown, and marked
            why = f"its sources don't say {', '.join(nouns)}"
            return Statement(said.text, said.citations, False, why, round(support, 3))
        if support < least:
            why = "its sources don't say so"
            return Statement(said.text, said.citations, False, why, round(support, 3))
        why = "its sources support it"
        return self._supported(Statement(said.text, said.citations, True, why, round(support, 3)))

    def _conflict(self, said: Sentence, cited: Sequence[Passage], language: str) -> str:
        texts = [_text(one) for one in cited]
        strange = strange_numbers(said.text, [*texts, self._known])
        if ADDS.search(said.text):
            among = [said.text, *self._told]
            strange = [one for one in strange if not is_derived(one, among, strange)]
        if strange:
            return f"its sources don't have the number {', '.join(strange)}"
        if self._cell is not None and self._cell.differs(said.text):
            return f"your documents say {self._cell.text}"
        dates = strange_dates(said.text, [*texts, self._known])
        if dates:
            return f"its sources have another date than {', '.join(dates)}"
        told = [*texts, *_titles(cited), self._known]
        names = [] if language == "de" else strange_names(said.text, told)
        if names:
            return f"its sources don't name {', '.join(names)}"
        same = [
            t
            for t, p in zip(texts, cited, strict=True)
            if not (language and p.language and p.language != language)
        ]
        return OPPOSITE if is_opposite(said.text, same, language or "en") else ""

    def _supported(self, statement: Statement) -> Statement:
        self._told.append(statement.text)
        return statement

    def attributed(self, said: Sentence, language: str) -> Statement | None:
        """The same sentence with the one passage that bears it out best; None where none does."""
        if not words(said.text):
            return None
        shares = {
            number: self._measure.share(said.text, [Read(passage.text, passage.language)])
            for number, passage in self._passages.items()
        }
        best = sorted(shares, key=lambda number: (-shares[number], number))[:MOST_TRIED]
        tried = [self.one(replace(said, citations=(number,)), language) for number in best]
        fitting = [one for one in tried if one.supported and one.support >= LEAST_ATTRIBUTED]
        return max(fitting, key=lambda one: one.support, default=None)


def may_be_shown(statement: Statement) -> bool:
    """Whether it is borne out, or may be in other words."""
    return statement.supported or statement.support >= LEAST_SHOWN


def _text(passage: Passage) -> str:
    return f"{' '.join(passage.citation.headings)}\n{passage.text}"


def _titles(cited: Sequence[Passage]) -> list[str]:
    return [f"{one.citation.title} {one.citation.uri} {one.citation.collection}" for one in cited]


def _likely(text: str, said: str) -> list[str]:
    """The sentences that share the most words with what is said, in their order."""
    every, wanted = pieces(text), set(words(said))
    best = sorted(range(len(every)), key=lambda at: (-len(wanted & set(words(every[at]))), at))
    return [every[at] for at in sorted(best[:COMPARED])]
