"""Citations count from 1, in events and in the whole answer alike."""

from dataclasses import replace

from tests.unit.answer.making import passage

from trivium.answer.numbering import Numbering
from trivium.core.answers import Answer, AnswerKind, Done, Statement, Step, Token


def test_citations_count_from_1() -> None:
    every = tuple(passage(number, "Text.", title=f"T{number}").citation for number in range(1, 6))
    statements = (Statement("One.", (4,), True, ""), Statement("Two.", (2, 4), True, ""))
    text = "One [4]. Two [2][4]."
    answer = Answer("q", "q", AnswerKind.WRITTEN, text, every[1:4:2], every, statements)
    numbering = Numbering()
    step = Step("search", "", 0.0)
    events = [step, every[3], Token("One [4]."), every[1], Token(" Two [2][4]."), Done(answer)]
    told = [numbering.told(event) for event in events]
    assert told[:3] == [step, replace(every[3], number=1), Token("One [1].")]
    done = told[-1]
    assert isinstance(done, Done)
    assert done.answer.text == "One [1]. Two [2][1]."
    assert done.answer.text == "".join(one.text for one in told if isinstance(one, Token))
    assert [(one.number, one.title) for one in done.answer.citations] == [(1, "T4"), (2, "T2")]
    assert [one.title for one in done.answer.passages] == ["T4", "T2", "T1", "T3", "T5"]
    assert [one.number for one in done.answer.passages] == [1, 2, 3, 4, 5]
    assert [one.citations for one in done.answer.statements] == [(1,), (2, 1)]
    assert Numbering().told(done) == done
