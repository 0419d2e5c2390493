"""Counts the citations of an answer from 1, in the order in which it names them: of eight passages
it may use the third and the seventh. Pure over events.
"""

from __future__ import annotations

import re
from dataclasses import replace

from trivium.answer.cite import MARK
from trivium.core.answers import Answer, AnswerEvent, Citation, Done, Token


class Numbering:
    """For the events of one answer, in order."""

    def __init__(self) -> None:
        self._new: dict[int, int] = {}  # by the number of the passage

    def told(self, event: AnswerEvent) -> AnswerEvent:
        match event:
            case Citation():
                return replace(event, number=self._number(event.number))
            case Token():
                return Token(MARK.sub(self._mark, event.text))
            case Done():
                return Done(self._answer(event.answer))
        return event

    def _number(self, old: int) -> int:
        return self._new.setdefault(old, len(self._new) + 1)

    def _mark(self, mark: re.Match[str]) -> str:
        return f"[{self._number(int(mark[1]))}]"

    def _answer(self, answer: Answer) -> Answer:
        """Passages that it doesn't cite are numbered after those that it does."""
        text = MARK.sub(self._mark, answer.text)
        citations, passages = (
            tuple(
                sorted(
                    (replace(citation, number=self._number(citation.number)) for citation in some),
                    key=lambda citation: citation.number,
                )
            )
            for some in (answer.citations, answer.passages)
        )
        statements = tuple(
            replace(statement, citations=tuple(map(self._number, statement.citations)))
            for statement in answer.statements
        )
        return replace(
            answer, text=text, citations=citations, passages=passages, statements=statements
        )
