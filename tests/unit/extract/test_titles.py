"""Titles identify a document: one that could be on a thousand others is no title."""

import pytest

from trivium.extract.composer import naming
from trivium.extract.pdf.front import is_generic


@pytest.mark.parametrize("title", ["CHAPTER 1 – INTRODUCTION", "Chapter 1", "FORM 8-K", "Contents"])
def test_a_part_or_a_form_names_no_document(title: str) -> None:
    assert naming(title) == ""


@pytest.mark.parametrize("title", ["Chapter 2 – The Harbour", "The Drowned Crown", "Adobe Inc."])
def test_a_name_stays(title: str) -> None:
    assert naming(title) == title
    assert not is_generic(title)


def test_a_form_is_generic_on_the_first_page_of_a_pdf() -> None:
    assert is_generic("FORM 8-K")
