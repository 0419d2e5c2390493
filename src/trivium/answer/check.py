"""Checks every sentence of an answer against the passages it cites.

A sentence that cites nothing, or the wrong passage, gets the number of the passage that bears it
out, where there is one. What may be the same in other words is marked for the reader; what none
bears out is not shown. Knows nothing of the writer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from trivium.answer.passages import Passage
from trivium.answer.statements import Sentence, sentences
from trivium.answer.support import (
    Nearness,
    SourceText,
    Words,
    is_derived,
    is_opposite,
    pieces,
    strange_names,
    strange_nouns,
    strange_quantities,
)
from trivium.core.answers import Statement
from trivium.ports import Embedder
from trivium.text.languages import detect_language
from trivium.text.lexicon.dates import unmatched as strange_dates
from trivium.text.lexicon.measures import ADDS
from trivium.text.lexicon.quantities import quantities
from trivium.text.normalise import words
from trivium.text.stems import content_words, stem

# When a passage supports a sentence, measured on pairs of a sentence and a text
# (`bench/answer_limits.py` repeats a sample): of 100 parts of sentences, all with their own
# paragraph and 2 % with a neighbouring one; of 100 claims of scifact, in other words, 69 % with the
# abstract they were made from, 14 % with the abstract that search ranked first instead, 3 % with
# any other of the first ten. Words at .3 accept 74, 22 and 3 %; a limit of .45 accepts 76, 30 and
# 6. Of 36 swapped numbers 33 were noticed.
BY_WORDS = 0.5  # the weight of words, beside meaning
LEAST = 0.5
LEAST_BY_WORDS = 0.45  # if no model can compare meaning: 60, 16 and 4 %
COMPARED = 12  # sentences of each passage whose meaning is compared
# Below this a sentence isn't shown. Between the two limits it may say the same in other words: it
# is shown and marked. Of 79 sentences with a neighbouring text, 5 are in between.
LEAST_SHOWN = 0.3
# From here on, a passage that the model didn't cite is cited for it: of 78 sentences of xquad_en
# among eight passages, 77 got the right one; without that one, none got another.
LEAST_ATTRIBUTED = 0.65
MOST_TRIED = 2  # passages: those that share the most words with the sentence
LEAST_ASKED = 0.75  # share of a question's words that makes a sentence its answer
OPPOSITE = "its sources say the opposite"


@dataclass(frozen=True, slots=True)
class Cell:
    """The figure that a table gives for a question. Of 55 questions, 49 were answered correctly
    from the cell found, and 1 wrongly."""

    question: str
    text: str  # row, column and value
    value: str

    def differs(self, sentence: str) -> bool:
        """Whether a sentence answers the question with other figures."""
        asked_with = quantities(self.question, "en")
        mine = [q for q in quantities(sentence, "en") if not any(map(q.same, asked_with))]
        if not mine or any(a.same(b) for a in mine for b in quantities(self.value, "en")):
            return False
        question_stems = set(stem(content_words(words(self.question), ["en"]), "en"))
        there = set(stem(words(sentence), "en"))
        return bool(question_stems) and len(question_stems & there) >= LEAST_ASKED * len(
            question_stems
        )


class Checker:
    """Checks one answer. `embedder`: one with the similarities that the limits were measured with,
    or None. `known_text`: the question and results of calculations, which need no passage. `cell`:
    the figure that a table gives for the question, if one does."""

    def __init__(
        self,
        measure: Words,
        embedder: Embedder | None,
        passages: Sequence[Passage],
        known_text: str = "",
        cell: Cell | None = None,
    ) -> None:
        self._measure = measure
        self._nearness = Nearness(embedder)
        self._passages = {passage.number: passage for passage in passages}
        self._known_text = known_text
        self._cell = cell
        self._stated: list[str] = []  # supported statements

    def check(self, text: str) -> tuple[Statement, ...]:
        """The statements of a whole answer, in order."""
        language = detect_language(text)
        return tuple(
            self.check_one(sentence, language) for sentence in sentences(text) if sentence.states
        )

    def check_one(self, sentence: Sentence, language: str) -> Statement:
        """`language`: of the whole answer, if known."""
        cited = [self._passages[n] for n in sentence.citations if n in self._passages]
        if not cited:
            return Statement(sentence.text, sentence.citations, False, "it cites no source")
        conflict = self._conflict(sentence, cited, language)
        if conflict:
            return Statement(sentence.text, sentence.citations, False, conflict)
        foreign = all(language and p.language and p.language != language for p in cited)
        if foreign:
            why = "its sources are in another language, so only numbers were compared"
            return self._supported(Statement(sentence.text, sentence.citations, True, why))
        reads = [SourceText(_text(passage), passage.language) for passage in cited]
        support, least = self._measure.share(sentence.text, reads, self._known_text), LEAST_BY_WORDS
        among = {p.number: _likely(p.text, sentence.text) for p in cited}
        near = self._nearness.nearest([sentence.text], among)
        if near is not None:
            meaning = max(near.values())
            support, least = BY_WORDS * support + (1 - BY_WORDS) * max(0.0, meaning), LEAST
        nouns = strange_nouns(
            sentence.text, [*map(_text, cited), *_titles(cited), self._known_text]
        )
        if language == "de" and nouns:  # it may be said in another word: shown and marked
            why = f"its sources don't say {', '.join(nouns)}"
            return Statement(sentence.text, sentence.citations, False, why, round(support, 3))
        if support < least:
            why = "its sources don't say so"
            return Statement(sentence.text, sentence.citations, False, why, round(support, 3))
        why = "its sources support it"
        return self._supported(
            Statement(sentence.text, sentence.citations, True, why, round(support, 3))
        )

    def _conflict(self, sentence: Sentence, cited: Sequence[Passage], language: str) -> str:
        texts = [_text(passage) for passage in cited]
        among = [(text, passage.language) for text, passage in zip(texts, cited, strict=True)]
        among.append((self._known_text, language))
        strange = strange_quantities(sentence.text, language, among)
        if strange and ADDS.search(sentence.text):
            stated = [(text, language) for text in (sentence.text, *self._stated)]
            strange = [
                quantity for quantity in strange if not is_derived(quantity, stated, strange)
            ]
        if strange:
            named = ", ".join(dict.fromkeys(quantity.text for quantity in strange))
            return f"its sources don't have the number {named}"
        if self._cell is not None and self._cell.differs(sentence.text):
            return f"your documents say {self._cell.text}"
        dates = strange_dates(sentence.text, language, among)
        if dates:
            return f"its sources have another date than {', '.join(dates)}"
        names = (
            []
            if language == "de"
            else strange_names(sentence.text, [*texts, *_titles(cited), self._known_text])
        )
        if names:
            return f"its sources don't name {', '.join(names)}"
        same = [
            t
            for t, p in zip(texts, cited, strict=True)
            if not (language and p.language and p.language != language)
        ]
        return OPPOSITE if is_opposite(sentence.text, same, language or "en") else ""

    def _supported(self, statement: Statement) -> Statement:
        self._stated.append(statement.text)
        return statement

    def attributed(self, sentence: Sentence, language: str) -> Statement | None:
        """The same sentence with the one passage that supports it best; None if none does."""
        if not words(sentence.text):
            return None
        shares = {
            number: self._measure.share(sentence.text, [SourceText(passage.text, passage.language)])
            for number, passage in self._passages.items()
        }
        best = sorted(shares, key=lambda number: (-shares[number], number))[:MOST_TRIED]
        tried = [
            self.check_one(replace(sentence, citations=(number,)), language) for number in best
        ]
        fitting = [
            statement
            for statement in tried
            if statement.supported and statement.support >= LEAST_ATTRIBUTED
        ]
        return max(fitting, key=lambda statement: statement.support, default=None)


def may_be_shown(statement: Statement) -> bool:
    """Whether it is supported, or may be in other words."""
    return statement.supported or statement.support >= LEAST_SHOWN


def _text(passage: Passage) -> str:
    return f"{' '.join(passage.citation.headings)}\n{passage.text}"


def _titles(cited: Sequence[Passage]) -> list[str]:
    return [
        f"{passage.citation.title} {passage.citation.uri} {passage.citation.collection}"
        for passage in cited
    ]


def _likely(text: str, statement: str) -> list[str]:
    """The sentences that share the most words with the statement, in order."""
    every, wanted = pieces(text), set(words(statement))
    best = sorted(range(len(every)), key=lambda at: (-len(wanted & set(words(every[at]))), at))
    return [every[at] for at in sorted(best[:COMPARED])]
