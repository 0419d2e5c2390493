"""The passages of an answer: search results, numbered, with the text around them. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from trivium.core.answers import Citation
from trivium.core.counting import counted
from trivium.core.results import Result
from trivium.core.types import Document, Speaker, StoredChunk

# A line of a chat that was kept as text: `[2026-02-03 09:22] Mateo: I do`, `09:22 - Mateo: I do`;
# but not of a log, where a level follows the time.
MESSAGE = re.compile(
    r"\s*[\[(<]?(?P<time>(?:\d[\d./-]+[,T ]+)?\d{1,2}:\d\d(?::\d\d)?(?:\s?[AaPp]\.?[Mm])?)[\])>]?"
    r"\s*(?:-\s*)?<?(?!(?:[A-Z]{4,})\b)(?P<who>[^\W\d][\w.’'-]*(?: [\w.’'-]+){0,2})>?:\s+(?=\S)"
)
_DAY = re.compile(r"\d{4}(?:-\d\d(?:-\d\d)?)?")
_ON_THE_WEB = re.compile(r"https?://")


@dataclass(frozen=True, slots=True)
class Passage:
    """A result with its number, and everything of it that a model may read."""

    citation: Citation
    text: str  # with the text around it
    language: str
    header: str = ""  # of a table that began in an earlier passage
    speakers: tuple[Speaker, ...] = ()  # of its messages
    date: str = ""  # of the document: 2024-05-01, a year, or "added 2026-01-31"

    @property
    def number(self) -> int:
        return self.citation.number

    @property
    def is_chat(self) -> bool:
        """Whether several people speak, so that no block of it is about one thing."""
        return len({speaker.author for speaker in self.speakers} | _authors(self.citation.text)) > 1

    def speaker(self, text: str) -> Speaker | None:
        """Who wrote the message that has this text."""
        at = self.citation.text.find(text)
        if at >= 0 and not self.speakers:
            start = self.citation.text.rfind("\n", 0, at) + 1
            message = MESSAGE.match(self.citation.text, start)
            return Speaker(start, message["who"], message["time"]) if message else None
        begun = [speaker for speaker in self.speakers if speaker.start <= at]
        return begun[-1] if at >= 0 and begun else None


@lru_cache(maxsize=64)  # asked for every sentence
def _authors(text: str) -> frozenset[str]:
    matches = map(MESSAGE.match, text.splitlines())
    return frozenset(match["who"] for match in matches if match)


def summary(results: Iterable[Result]) -> str:
    """How much a search found, for people."""
    passages = [result.found for result in results]
    if not passages:
        return "nothing that fits"
    documents = len({passage.document.id for passage in passages})
    return f"{counted(len(passages), 'passage')} in {counted(documents, 'document')}"


def numbered(results: Iterable[Result]) -> tuple[Passage, ...]:
    """In the order of the results. Leaves out text around a passage that is a passage itself."""
    ranked = list(results)
    places = {(r.found.document.id, r.found.chunk.index) for r in ranked}
    return tuple(_passage(at, result, places) for at, result in enumerate(ranked, start=1))


def _passage(number: int, result: Result, places: set[tuple[int, int]]) -> Passage:
    document, chunk = result.found.document, result.found.chunk
    before = "" if (document.id, chunk.index - 1) in places else result.before
    after = "" if (document.id, chunk.index + 1) in places else result.after
    return passage_of(number, result.found, before, after, result.match)


def passage_of(
    number: int, passage: StoredChunk, before: str = "", after: str = "", match: float | None = None
) -> Passage:
    document, chunk = passage.document, passage.chunk
    # As one text: a line break would cut a sentence that continues in the next chunk.
    whole = " ".join(part for part in (before, chunk.text, after) if part)
    place, authors = chunk.place, document.metadata.get("authors", ())
    written = authors if isinstance(authors, tuple) else (authors,)
    citation = Citation(
        number=number,
        chunk=passage.id,
        document=document.id,
        index=chunk.index,
        title=document.title,
        uri=document.uri,
        collection=document.collection,
        headings=chunk.headings,
        pages=chunk.pages,
        paragraph=chunk.paragraph,
        link=passage.link or (document.uri if _ON_THE_WEB.match(document.uri) else ""),
        text=chunk.text,
        match=match,
        seconds=place.seconds,
        sheet=place.sheet or None,
        rows=place.rows,
        header=chunk.header or None,
        authors=place.authors or tuple(map(str, written)) or None,
        time=place.time or str(document.metadata.get("date") or "") or None,
    )
    text = f"{chunk.header}\n{whole}" if chunk.header else whole
    speakers = place.speakers
    if not speakers and len(place.authors) == 1 and place.time:
        speakers = (Speaker(0, place.authors[0], place.time),)
    return Passage(citation, text, document.language, chunk.header, speakers, _date(document))


def _date(document: Document) -> str:
    """The day a document is of, or its year; otherwise when it was added."""
    for name in ("date", "modified", "created", "year"):
        match = _DAY.match(str(document.metadata.get(name, "")))
        if match:
            return match[0]
    return f"added {document.added_at[:10]}"
