"""On which page a place in a passage is."""

from __future__ import annotations

from trivium.chunk.outline import Outline
from trivium.core.types import Element, Extraction, PageStart, Place

BODY, NOTE, NEXT = "It runs on over the page.", "1 A note below.", "The next one."
TEXT = f"{BODY}\n\n{NOTE}\n\n{NEXT}"
OVERLEAF = BODY.index("over")
AT_NOTE, AT_NEXT = TEXT.index(NOTE), TEXT.index(NEXT)


def outline() -> Outline:
    turns = (PageStart(0, 4), PageStart(OVERLEAF, 5))
    elements = (
        Element("paragraph", 0, len(BODY), place=Place(pages=(4, 5), page_starts=turns)),
        Element("paragraph", AT_NOTE, AT_NOTE + len(NOTE), place=Place(pages=(4,))),
        Element("paragraph", AT_NEXT, len(TEXT), place=Place(pages=(5,))),
    )
    return Outline(Extraction(TEXT, elements, title="Notes", media_type="application/pdf"))


def test_a_note_behind_a_paragraph_that_ends_overleaf_is_on_its_own_page() -> None:
    place = outline().place(0, len(TEXT))
    assert place.pages == (4, 5)
    assert [(start.start, start.number) for start in place.page_starts] == [
        (0, 4),
        (OVERLEAF, 5),
        (AT_NOTE, 4),
        (AT_NEXT, 5),
    ]


def test_a_passage_that_begins_overleaf_begins_with_that_page() -> None:
    begin = OVERLEAF + 5
    place = outline().place(begin, len(TEXT))
    assert [(start.start, start.number) for start in place.page_starts] == [
        (0, 5),
        (AT_NOTE - begin, 4),
        (AT_NEXT - begin, 5),
    ]
