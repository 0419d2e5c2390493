"""Contradictions with a language model: what it rejects is left out, what fails stays a hint."""

from dataclasses import replace
from pathlib import Path

import pytest
from tests.endpoint import Reply
from tests.library.chat import Chat, asked

from trivium.core.types import Where
from trivium.extract.bibliography import CSL
from trivium.testing.samples import sample

AXE = sample("axe.md", "The battle axe of the guard deals 8 points of damage.", title="Axe")
MORE = sample("more.md", "The battle axe of the guard deals 10 points of damage.", title="Axes")
SECRET = sample(
    "secret.md",
    "The battle axe of the guard deals 12 points of damage.",
    title="Secret",
    audience="dm-only",
)


def said(text: str) -> Reply:
    return Reply({"choices": [{"message": {"content": text}, "finish_reason": "stop"}]})


@pytest.mark.parametrize(
    ("reply", "expected"),
    [(said("Yes."), [True]), (said("No, they agree."), []), (Reply({}, 400), [False])],
)
def test_a_language_model_judges(tmp_path: Path, reply: Reply, expected: list[bool]) -> None:
    chat = Chat()
    chat.answer = reply
    with asked(tmp_path, chat, [AXE, MORE]) as library:
        assert [one.judged for one in library.contradictions.find()] == expected


def test_nobody_learns_of_what_they_may_not_see(tmp_path: Path) -> None:
    chat = Chat()
    chat.answer = said("Yes.")
    with asked(tmp_path, chat, [AXE, SECRET]) as library:
        assert library.contradictions.find(Where(frozenset())) == []
        assert len(library.contradictions.find()) == 1


def test_entries_of_a_bibliography_are_not_compared(tmp_path: Path) -> None:
    entries = [
        replace(one, extraction=replace(one.extraction, media_type=CSL)) for one in (AXE, MORE)
    ]
    with asked(tmp_path, Chat(), entries) as library:
        assert library.contradictions.find() == []
