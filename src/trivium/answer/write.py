"""Lets a language model write an answer from a prompt, and shows it sentence by sentence.

Marks and refusals are read from the stream, and each sentence is checked before it is shown.
Nothing is shown until a passage supports one sentence: if none is supported, it isn't an answer.
Unsupported sentences are left out, and notes say which. Knows nothing of searching.
"""

from __future__ import annotations

import re
from collections.abc import Generator as Pieces
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import pairwise

from trivium.answer.check import OPPOSITE, Checker, may_be_shown
from trivium.answer.cite import MARK, Marks, Refusal
from trivium.answer.passages import Passage
from trivium.answer.prompt import NOT_HELD, Prompt
from trivium.answer.refuse import is_excuse
from trivium.answer.statements import Before, Sentence, cited_as, pieces
from trivium.core.answers import AnswerEvent, Statement, Token, Usage
from trivium.core.errors import ModelError
from trivium.ports import Generated, Generator
from trivium.text import boundaries
from trivium.text.languages import detect_language

MOST_REPEATED = 3  # sentences that the answer holds already, until a model is stopped: small ones
# go round in circles until their window is full
LONGEST_TOKEN = 20  # characters, on average: stops a server that ignores its limit
MOST_LEFT_OUT = 3  # statements listed in notes
# What a small model repeats from its prompt.
_ECHO = re.compile(r"</?passage\b|^\s*Question:|^\s*\([^()\n]* › [^()\n]*\)\s*$", re.M)
_LETTER = re.compile(r"[^\W\d_]")
_NOTHING = Sentence("", (), False)


@dataclass(frozen=True, slots=True)
class Written:
    """A model's answer, complete or as far as it got."""

    text: str  # what was shown
    cited: tuple[int, ...]
    statements: tuple[Statement, ...]
    refused: bool  # it says that the passages don't have the answer
    unsupported: bool  # it says something, and no passage supports any of it
    again: bool  # everything in it was said in an earlier answer
    usage: Usage
    whole: bool  # the model finished by itself
    notes: tuple[str, ...]


def write(
    generator: Generator, prompt: Prompt, checker: Checker, before: Before
) -> Pieces[AnswerEvent, None, Written]:
    """Yields tokens and citations; returns the whole. Raises ModelError unless something was
    shown."""
    reader = _StreamChecker(prompt.passages, checker, before)
    failure: ModelError | None = None
    generated: Generated | None = None
    stream = generator.stream(prompt.messages, prompt.most_tokens)
    heard = 0
    try:
        with closing(stream):
            while not reader.circles and heard <= prompt.most_tokens * LONGEST_TOKEN:
                piece = next(stream)
                heard += len(piece)
                yield from reader.take(piece)
    except StopIteration as end:
        generated = end.value
    except ModelError as reason:
        failure = reason
    yield from reader.end()
    if failure is not None and not reader.text:
        raise failure
    usage, why = Usage(), ""
    if generated is not None:
        usage = Usage(generated.prompt_tokens, generated.completion_tokens)
    if failure is not None:
        why = f"The answer stopped early. {failure}"
    elif not reader.circles and (generated is None or generated.cut):
        why = f"The answer stopped early: it reached {prompt.most_tokens:,} tokens."
    return reader.written(usage, why)


def read_off(
    text: str, passages: Sequence[Passage], checker: Checker, before: Before
) -> Pieces[AnswerEvent, None, Written]:
    """The same for a finished text."""
    reader = _StreamChecker(passages, checker, before)
    cuts = [0, *boundaries.sentences(text), len(text)]
    for start, end in pairwise(cuts):
        if not reader.circles:
            yield from reader.take(text[start:end])
    yield from reader.end()
    return reader.written(Usage())


class _StreamChecker:
    """Which parts of a stream can be shown, and which were."""

    def __init__(self, passages: Sequence[Passage], checker: Checker, before: Before) -> None:
        self._citations = {passage.number: passage.citation for passage in passages}
        self._checker = checker
        self._before = before
        self._marks = Marks(self._citations.keys())
        self._refusal = Refusal(NOT_HELD)
        self._open = ""  # the sentence that hasn't ended
        self._bullet = ""  # of an item that is still to come
        self._pending = ""  # finished sentences, while none of them is supported
        self._texts: list[str] = []  # sentences, each once
        self._repeated = 0
        self._statements: list[Statement] = []
        self._left_out: list[str] = []  # statements that no passage supports, and why
        self._excuses = False  # it says what the passages lack
        self._again = False  # something was left out that an earlier answer says
        self._excused = False
        self._cited: list[int] = []
        self.text = ""

    @property
    def circles(self) -> bool:
        """Whether the model repeats itself again and again."""
        return self._repeated >= MOST_REPEATED

    def take(self, piece: str) -> Iterator[AnswerEvent]:
        self._open += self._marks.feed(self._refusal.feed(piece))
        if self._refusal.refused:
            yield from self._show()
            return
        *ended, (self._open, _) = pieces(self._open) or [(self._open, _NOTHING)]
        for part, sentence in ended:
            yield from self._ended(part, sentence)

    def end(self) -> Iterator[AnswerEvent]:
        self._open += self._marks.feed(self._refusal.end()) + self._marks.end()
        self._open = "" if self.circles else self._open
        if self._refusal.refused:
            yield from self._show()
            return
        for part, sentence in pieces(self._open):
            yield from self._ended(part, sentence)
        self._open = ""
        if not (self._statements or self._left_out or self._again or self._excuses):
            self._pending += self._bullet
            yield from self._whole()  # "Twelve cranes": too short to be a sentence
        excuse = self._excuses or is_excuse(self._pending, MARK.findall(self._pending))
        if not self.text and excuse:
            self._excused = True
            yield from self._show()

    def _ended(self, part: str, sentence: Sentence) -> Iterator[AnswerEvent]:
        if _ECHO.search(part):
            self._bullet = ""
            return
        if not sentence.states and not _LETTER.search(
            part
        ):  # the number of an item: it may be left out
            self._bullet = part
            return
        part, self._bullet = self._bullet + part, ""
        if sentence.text in self._texts:
            self._repeated += 1
            return
        self._texts.append(sentence.text)
        if sentence.states:
            if self._before.says(sentence.text):
                self._again = True
                return
            if is_excuse(sentence.text, sentence.citations):  # it says what is missing
                self._excuses = True
            else:
                part = self._checked(part, sentence)
        self._pending += part
        if self._statements:
            yield from self._show()

    def _checked(self, part: str, sentence: Sentence) -> str:
        """A sentence as shown, with the passages that support it; empty: it isn't shown."""
        language = detect_language(" ".join(self._texts))
        statement = self._checker.check_one(sentence, language)
        if not (statement.supported or statement.why == OPPOSITE):
            better = self._checker.attributed(sentence, language)
            if better is not None:
                part, statement = cited_as(part, better.citations), better
        if may_be_shown(statement):
            self._statements.append(statement)
            return part
        self._left_out.append(f"“{sentence.text}” ({statement.why})")
        return ""

    def _whole(self) -> Iterator[AnswerEvent]:
        parts = pieces(self._pending)
        self._pending = ""
        self._texts.clear()
        for part, sentence in parts:
            yield from self._ended(part, Sentence(sentence.text, sentence.citations, True))

    def _show(self) -> Iterator[AnswerEvent]:
        text = self._pending + self._open if self._refusal.refused else self._pending
        if self._refusal.refused:
            self._open = ""
        self._pending = ""
        for number in map(int, MARK.findall(text)):
            if number not in self._cited:
                self._cited.append(number)
                yield self._citations[number]
        text = text if self.text else text.lstrip()
        if text:
            self.text += text
            yield Token(text)

    def written(self, usage: Usage, cut: str = "") -> Written:
        """`cut`: why the model didn't finish."""
        notes = []
        if self._marks.unknown:
            numbers = ", ".join(f"[{number}]" for number in sorted(self._marks.unknown))
            notes.append(f"The model cited passages that don't exist: {numbers}.")
        if self.circles:
            notes.append("The model repeated itself, so Trivium stopped it.")
        if self.text:
            notes += [f"Left out: {reason}." for reason in self._left_out[:MOST_LEFT_OUT]]
            more = len(self._left_out) - MOST_LEFT_OUT
            notes += [f"Left out {more} more like these."] if more > 0 else []
        notes += [cut] if cut else []
        refused = self._refusal.refused or self._excused
        return Written(
            text=self.text,
            cited=tuple(sorted(self._cited)),
            statements=() if refused else tuple(self._statements),
            refused=refused,
            unsupported=not self.text and not refused and bool(self._statements or self._left_out),
            again=not self.text and not refused and self._again and not self._statements,
            usage=usage,
            whole=not cut and not self.circles,
            notes=tuple(notes),
        )
