"""Lets a language model write an answer from a prompt, and tells it as it comes.

Text passes through the readers of marks and refusals, so that what is shown is what the answer
holds. Knows nothing of searching.
"""

from __future__ import annotations

from collections.abc import Generator as Pieces
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import pairwise

from trivium.answer.cite import Marks, Refusal
from trivium.answer.passages import Passage
from trivium.answer.prompt import NOT_HELD, Prompt
from trivium.answer.refuse import is_excuse
from trivium.answers import AnswerEvent, Token, Usage
from trivium.errors import ModelError
from trivium.ports import Generated, Generator
from trivium.text import boundaries


@dataclass(frozen=True, slots=True)
class Written:
    """A model's answer, whole or as far as it came."""

    text: str
    cited: tuple[int, ...]
    refused: bool  # it says that the passages do not hold it
    usage: Usage
    failure: ModelError | None  # in the middle of it
    notes: tuple[str, ...]


def write(generator: Generator, prompt: Prompt) -> Pieces[AnswerEvent, None, Written]:
    """Tokens and citations; the return value is the whole. Raises ModelError as long as nothing
    was shown."""
    reader = _Reader(prompt.passages)
    failure: ModelError | None = None
    generated: Generated | None = None
    stream = generator.stream(prompt.messages, prompt.most_tokens)
    try:
        with closing(stream):
            while True:
                yield from reader.take(next(stream))
    except StopIteration as end:
        generated = end.value
    except ModelError as reason:
        if not reader.text:
            raise
        failure = reason
    yield from reader.end()
    usage = Usage()
    if generated is not None:
        usage = Usage(generated.prompt_tokens, generated.completion_tokens)
    return _written(reader, usage, failure)


def read_off(text: str, passages: Sequence[Passage]) -> Pieces[AnswerEvent, None, Written]:
    """The same of a text that is there already, sentence by sentence."""
    reader = _Reader(passages)
    cuts = [0, *boundaries.sentences(text), len(text)]
    for start, end in pairwise(cuts):
        yield from reader.take(text[start:end])
    yield from reader.end()
    return _written(reader, Usage(), None)


def _written(reader: _Reader, usage: Usage, failure: ModelError | None) -> Written:
    notes = []
    if reader.marks.unknown:
        numbers = ", ".join(f"[{number}]" for number in sorted(reader.marks.unknown))
        notes.append(f"The model cited passages that don't exist: {numbers}.")
    if failure is not None:
        notes.append(f"The answer stopped early. {failure}")
    cited = tuple(sorted(reader.marks.cited))
    refused = reader.refusal.refused or is_excuse(reader.text, cited)
    return Written(reader.text, cited, refused, usage, failure, tuple(notes))


class _Reader:
    """What of a stream can be shown, and what was shown of it."""

    def __init__(self, passages: Sequence[Passage]) -> None:
        self._citations = {passage.number: passage.citation for passage in passages}
        self._told: set[int] = set()
        self.marks = Marks(self._citations.keys())
        self.refusal = Refusal(NOT_HELD)
        self.text = ""

    def take(self, piece: str) -> Iterator[AnswerEvent]:
        yield from self._show(self.marks.feed(self.refusal.feed(piece)))

    def end(self) -> Iterator[AnswerEvent]:
        yield from self._show(self.marks.feed(self.refusal.end()) + self.marks.end())

    def _show(self, text: str) -> Iterator[AnswerEvent]:
        for number in self.marks.cited:
            if number not in self._told:
                self._told.add(number)
                yield self._citations[number]
        text = text if self.text else text.lstrip()
        if text:
            self.text += text
            yield Token(text)
