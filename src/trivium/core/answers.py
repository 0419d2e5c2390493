"""Answers of `ask`, and its events on the way. Frozen dataclasses like `types`.

An answer is text with marks such as `[2]`; each mark cites a passage that the caller may see. Knows
nothing of models and prompts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import ClassVar, TypeAlias

from trivium.core.types import ChunkId, DocumentId, Told, says


class AnswerKind(StrEnum):
    WRITTEN = "written"  # by a language model, from the passages
    EXTRACTED = "extracted"  # sentences of the passages themselves: no model wrote anything
    REFUSED = "refused"  # the passages do not hold it


class Depth(StrEnum):
    """How far an answer looks."""

    ONCE = "once"  # one search
    AUTO = "auto"  # one search, and more if it finds nothing relevant
    DEEP = "deep"  # as many as it takes, within limits


@dataclass(frozen=True, slots=True)
class Turn(Told):
    """An earlier question with its answer, without its marks."""

    question: str
    answer: str


@dataclass(frozen=True, slots=True)
class KeptTurn:
    """A saved turn of a conversation. Callers see it if they have all of its audiences and may see
    every document it was made from."""

    turn: Turn
    audiences: frozenset[str] | None  # that the caller held; None: the owner, who held all
    documents: frozenset[DocumentId] = frozenset()
    at: str = ""  # ISO 8601, UTC; the store says when


@dataclass(frozen=True, slots=True)
class Conversation(Told):
    """A kept conversation, as far as a caller may see it."""

    name: str
    turns: int
    began: str  # ISO 8601, UTC
    last: str


@dataclass(frozen=True, slots=True)
class Citation(Told):
    """A passage under the number by which an answer names it."""

    __pydantic_config__: ClassVar[Mapping[str, object]] = {"extra": "forbid"}  # may lack a match

    number: int = field(metadata=says("Its number in the text: [1]."))
    chunk: ChunkId
    document: DocumentId
    index: int = field(
        metadata=says("Index of the passage in its document or conversation, from 0.")
    )
    title: str
    uri: str
    collection: str
    headings: tuple[str, ...]
    pages: tuple[int, ...]
    paragraph: int | None
    link: str  # to a message or a page on the web; empty for a file
    text: str
    match: float | None = field(
        default=None,
        metadata=says("How likely it is to be relevant, 0 to 1; absent if no search found it."),
    )
    seconds: tuple[float, float] | None = field(
        default=None,
        metadata=says("Of a recording: where the passage begins and ends; absent otherwise."),
    )
    sheet: str | None = None
    rows: tuple[int, int] | None = field(
        default=None, metadata=says("First and last row of a table, from 1; absent otherwise.")
    )
    header: str | None = field(
        default=None, metadata=says("Column names, of a table that began earlier.")
    )
    authors: tuple[str, ...] | None = field(
        default=None, metadata=says("Of the message or document.")
    )
    time: str | None = field(default=None, metadata=says("Of the message, or the document's date."))


@dataclass(frozen=True, slots=True)
class QuoteChange(Told):
    """Words of a quotation that its source has differently."""

    quoted: str = field(metadata=says("As pasted; empty if words were left out."))
    source: str = field(metadata=says("As the document has it; empty if words were added."))


@dataclass(frozen=True, slots=True)
class QuotedPlace(Told):
    """Where a quotation comes from."""

    __pydantic_config__: ClassVar[Mapping[str, object]] = {"extra": "forbid"}  # may lack seconds

    document: DocumentId
    title: str
    uri: str
    collection: str
    index: int = field(metadata=says("Index of the passage in which it begins, from 0."))
    headings: tuple[str, ...]
    pages: tuple[int, ...]
    paragraph: int | None
    link: str  # to a message or a page on the web; empty for a file
    text: str = field(metadata=says("The words as the document has them."))
    kept: float = field(metadata=says("Share of the words that are unchanged, 0 to 1."))
    changes: tuple[QuoteChange, ...]
    seconds: tuple[float, float] | None = field(
        default=None,
        metadata=says("Of a recording: where the words begin and end; absent otherwise."),
    )


@dataclass(frozen=True, slots=True)
class Quotation(Told):
    """The places that a pasted text comes from; none if it is not in the documents."""

    places: tuple[QuotedPlace, ...]
    similar: tuple[QuotedPlace, ...] = field(
        default=(),
        metadata=says("If there are no places: nearly the same words with other figures or dates."),
    )


@dataclass(frozen=True, slots=True)
class Statement(Told):
    """One sentence of an answer, and whether the passages it cites bear it out."""

    text: str  # without marks
    citations: tuple[int, ...]
    supported: bool = field(metadata=says("Whether its citations support it."))
    why: str  # in a few words
    support: float = 0.0  # 0..1: how much of its words and meaning is in the passages it cites


_BEGINS = {
    "rewrite": "Rewrote the question:",
    "write": "Wrote the answer with",
    "extract": "Quoted",
    "check": "Checked:",
}


@dataclass(frozen=True, slots=True)
class Step(Told):
    """Something that was done on the way to an answer."""

    name: str = field(
        metadata=says("rewrite, plan, search, write, extract, check, or the name of a tool.")
    )
    detail: str = field(metadata=says("What happened, for people."))
    seconds: float

    @property
    def line(self) -> str:
        """What a person is shown while it goes on. Searches and tools say it in their detail."""
        return f"{_BEGINS[self.name]} {self.detail}" if self.name in _BEGINS else self.detail


@dataclass(frozen=True, slots=True)
class Token(Told):
    """The next piece of the answer's text. Joined, they are `Answer.text`."""

    text: str


@dataclass(frozen=True, slots=True)
class Usage(Told):
    """Tokens that the language model took, all its calls together; 0 where nobody counted."""

    prompt: int = 0
    answer: int = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(self.prompt + other.prompt, self.answer + other.answer)


@dataclass(frozen=True, slots=True)
class Answer(Told):
    """The whole answer, as in the event `done`."""

    question: str  # as asked
    asked: str = field(
        metadata=says("The question as searched for; a follow-up is rewritten to stand alone.")
    )
    kind: AnswerKind = field(metadata=says("written, extracted or refused."))
    text: str = field(metadata=says("The answer, with marks such as [1]."))
    citations: tuple[Citation, ...] = field(metadata=says("Passages that the text cites."))
    passages: tuple[Citation, ...] = field(metadata=says("All passages that were read."))
    statements: tuple[Statement, ...]
    steps: tuple[Step, ...] = ()
    usage: Usage = Usage()
    notes: tuple[str, ...] = ()  # what people should know: left out, cut off, unknown marks
    complete: bool = True  # the model finished by itself
    model: str = field(default="", metadata=says("Model that wrote it; empty: none."))
    conversation: str = ""
    timings_ms: Mapping[str, float] = field(default_factory=dict)  # of the search
    took_ms: float = 0.0

    @property
    def refused(self) -> bool:
        return self.kind is AnswerKind.REFUSED

    @property
    def turn(self) -> Turn:
        """For the history of the next question: without marks, which count for this one alone."""
        return Turn(self.question, re.sub(r" ?\[\d+\]", "", self.text))

    @property
    def unsupported(self) -> tuple[Statement, ...]:
        """Statements that their sources don't support."""
        return tuple(statement for statement in self.statements if not statement.supported)


@dataclass(frozen=True, slots=True)
class Done(Told):
    """The last event: the whole answer."""

    answer: Answer


AnswerEvent: TypeAlias = Step | Token | Citation | Usage | Done


def whole(events: Iterable[AnswerEvent]) -> Answer:
    """The answer with which these events end."""
    *_, last = events
    assert isinstance(last, Done)
    return last.answer
