"""Korean words without their particles. The sentences are everyday ones, not those of KorQuAD."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trivium.text.keywords import plan_keywords
from trivium.text.query import parse
from trivium.text.stems import stem, stems


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("학교에서", "학교"),  # at school
        ("친구에게", "친구"),  # to a friend
        ("도서관의", "도서관"),  # of the library
        ("비행기로", "비행기"),  # by plane
        ("계약서를", "계약서"),  # the contract (object)
        ("임대차계약은", "임대차계약"),
        ("서울부터", "서울"),  # from Seoul
        ("부산까지의", "부산"),
        ("변호사들이", "변호사"),  # lawyers
        ("시작했다", "시작"),  # began
        ("나이", "나이"),  # age: two syllables stay
        ("2024년", "2024년"),
        ("trivium", "trivium"),
    ],
)
def test_particles_and_endings_are_cut(written: str, meant: str) -> None:
    found = stems(written, "ko")
    assert [unicodedata.normalize("NFC", word) for word in found] == [meant]


def test_a_question_and_a_passage_meet_whatever_their_particles() -> None:
    asked = set(stems("계약서의 보증금은 얼마인가", "ko"))
    passage = set(stems("계약서에는 보증금을 두 달 안에 돌려준다고 되어 있다", "ko"))
    assert len(asked & passage) == 2


def test_words_of_older_indexes_are_still_found() -> None:
    (clause,) = plan_keywords(parse("도서관의"), ["ko"]).clauses
    assert [unicodedata.normalize("NFC", run[0]) for run in clause.runs] == ["도서관", "도서관의"]


@given(st.text(alphabet=st.characters(min_codepoint=0xAC00, max_codepoint=0xD7A3), max_size=8))
def test_a_stem_begins_its_word_and_stays(text: str) -> None:
    word = unicodedata.normalize("NFKD", text)
    (found,) = stem([word], "ko")
    assert word.startswith(found)
    assert len(unicodedata.normalize("NFC", found)) >= min(2, len(text))
