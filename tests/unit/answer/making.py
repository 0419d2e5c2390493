"""Passages as a search would give them."""

from trivium.answer.passages import Passage
from trivium.core.answers import Citation


def passage(
    number: int,
    text: str,
    *,
    title: str = "Weather",
    headings: tuple[str, ...] = (),
    language: str = "en",
    pages: tuple[int, ...] = (),
) -> Passage:
    citation = Citation(
        number=number,
        chunk=number,
        index=0,
        document=number,
        title=title,
        uri=f"{number}.md",
        collection="default",
        headings=headings,
        pages=pages,
        paragraph=1,
        link="",
        text=text,
    )
    return Passage(citation, text, language)
