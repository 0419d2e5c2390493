"""The documents and questions that the reader is trained and judged with are whole."""

from pathlib import Path

import pytest
from bench.reader.documents import DOCUMENTS, HELD_OUT, documents

FILES = sorted(DOCUMENTS.glob("*.txt"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_answers_stand_in_their_document_once(path: Path) -> None:
    faults, names = [], []
    for document in documents(path):
        names.append(document.name)
        for asked in document.questions:
            where = asked.line or document.text
            if where not in document.text or any(where.count(one) != 1 for one in asked.answers):
                faults.append((document.name, asked.text))
    assert faults == []
    assert len(set(names)) == len(names)


def test_no_held_out_document_is_trained_on() -> None:
    texts = {path.stem: {one.text for one in documents(path)} for path in FILES}
    held_out = texts.pop(HELD_OUT)
    assert held_out
    assert texts
    assert all(held_out.isdisjoint(others) for others in texts.values())


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_third_of_the_questions_or_more_have_no_answer(path: Path) -> None:
    every = [asked for one in documents(path) for asked in one.questions]
    unanswered = sum(not asked.answers for asked in every)
    assert 0.3 < unanswered / len(every) < 0.6
