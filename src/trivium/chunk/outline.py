"""Says where in a document's structure a range of its text is. Knows nothing of sizes or tokens:
every chunker may ask it."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TypedDict

from trivium.core.types import Element, Extraction, HeadingStart, PageStart, Place, Speaker
from trivium.text import boundaries

# What is repeated with every chunk below it is cut here: a heading of 1 MB above 1,000 chunks would
# be 1 GB. No real heading comes near.
MOST_HEADING = 500  # characters
MOST_HEADER = 2_000
MOST_ANNOUNCED = 400  # characters of what leads on to a list or a table
MOST_LINE = 120  # characters of a line that may be a heading
# "The following table shows sales by region (in millions)."
_LEADS_ON = re.compile(
    r"(?i)\b(?:following|below|(?:nach)?folgende[nrms]?|unten|suivant\w*|siguiente\w*)\b"
)
# "20. Venue and Governing Law."
_NUMBERED = re.compile(r"\d{1,2}\.(?:\d{1,2}\.?)* [^\W\da-z][^.;:,]{2,60}\.")
_NOTE = re.compile(r"\(?\w{1,2}\)|[*†‡]")  # below the table above
MOST_TITLES = 5  # lines of a table's title
TOP_LEVEL = 2  # headings down to this level part a document for good


UNSURE = 0.2  # of a paragraph on two pages: how far its text may be off the boxes


class Outline:
    """The elements of one extraction, found by position."""

    def __init__(self, extraction: Extraction) -> None:
        self._text = extraction.text
        self._title = extraction.title.strip()
        self._elements = sorted(extraction.elements, key=lambda element: element.start)
        self._starts = [element.start for element in self._elements]
        self._headings = [e.start for e in self._elements if e.kind == "heading"]

    def sections(self) -> list[tuple[int, int]]:
        """Ranges that cover the text, each from a top heading to the next. Headings without text
        between them begin a section together: one alone would be a bare title."""
        starts = [0]
        first, end = 0, -1  # of the headings that have no text between them
        for element in self._elements:
            if element.kind != "heading":
                continue
            if end < 0 or self._text[end : element.start].strip():
                first = element.start
            end = element.end
            if element.level <= TOP_LEVEL and first != starts[-1]:
                starts.append(first)
        ends = [*starts[1:], len(self._text)]
        return [(start, end) for start, end in zip(starts, ends, strict=True) if start < end]

    def blocks(self, start: int, end: int) -> Iterator[tuple[int, int, bool]]:
        """Ranges that cover start..end, one per element, and whether it belongs to what follows: a
        heading, a line that announces a table or a list, the names over a table's columns."""
        first = bisect_right(self._starts, start)
        element = self._elements[first - 1] if first else None
        begin = start
        for position in range(first, bisect_left(self._starts, end)):
            following = self._elements[position]
            if following.start > begin:
                yield from self._parts(begin, following.start, element, following)
                begin = following.start
            element = following
        yield from self._parts(begin, end, element, None)

    def _parts(
        self, begin: int, end: int, element: Element | None, following: Element | None
    ) -> Iterator[tuple[int, int, bool]]:
        if element is not None and element.kind == "table" and element.start == begin:
            rows = self._below_names(element)
            if begin < rows < end:
                yield begin, rows, True
                begin = rows
        lead = None if element is None else self._lead(element, following)
        if lead is not None and lead > begin:
            yield begin, lead, False
            begin = lead
        yield begin, end, lead is not None

    def _below_names(self, element: Element) -> int:
        """Where the rows of a table begin below the names of its columns: its header, or the rows
        that say the same over several lines."""
        at, header = element.start, element.header
        if self._text.startswith(f"{header}\n", at):
            return at + len(header) + 1 if header else at
        while (stop := self._text.find("\n", at, element.end)) > 0:
            cells = [cell for cell in self._text[at:stop].split(" | ") if cell.strip(" –")]
            if not header or not all(cell in header for cell in cells):
                break
            at = stop + 1
        return at

    def _lead(self, element: Element, following: Element | None) -> int | None:
        """Where an element announces what follows: at its beginning; a long paragraph at its last
        sentence, before a table or a list."""
        if element.kind not in ("paragraph", "list_item"):
            return element.start if element.kind == "heading" else None
        start, text = element.start, self._text[element.start : element.end].rstrip()
        if len(text) > MOST_ANNOUNCED:
            if following is None or following.kind not in ("table", "list_item"):
                return None
            start += next(reversed(boundaries.sentences(text)), 0)
            text = self._text[start : element.end].strip()
        is_lead = len(text) <= MOST_ANNOUNCED and self._announces(element, text, following)
        return start if is_lead else None

    def _announces(self, element: Element, text: str, following: Element | None) -> bool:
        if following is None or text.endswith(":"):
            return following is not None and text.endswith(":")
        if following.kind == "table" and _LEADS_ON.search(text):
            return True
        is_numbered = _NUMBERED.fullmatch(text) is not None
        if element.kind == "list_item" and not is_numbered:
            return False
        lines = text.split("\n")
        if following.kind == "table" and not is_numbered:
            # What it is called, by lines: the company, the statement, "(in thousands)".
            short = len(lines) <= MOST_TITLES and max(map(len, lines)) <= MOST_LINE
            return short and text[-1:] not in ".;," and not _NOTE.match(text)
        # A line without a stop over more than a line: a heading that looks like text.
        is_longer = following.kind == "table" or following.end - following.start > MOST_LINE
        is_title = text[-1:].isalnum() or is_numbered
        return len(text) <= MOST_LINE and is_longer and is_title and len(lines) == 1

    def touched(self, start: int, end: int) -> Iterator[Element]:
        """The elements that share at least a character with the range, in order."""
        position = max(bisect_right(self._starts, start) - 1, 0)
        while position < len(self._elements) and self._starts[position] < end:
            if self._elements[position].end > start:
                yield self._elements[position]
            position += 1

    def headings(self, start: int, end: int) -> tuple[str, ...]:
        """The document's title and the path above the first thing in the range that is no heading;
        of a range of headings only, the path to the last."""
        path: tuple[str, ...] = ()
        for element in self.touched(start, end):
            path = element.headings
            if element.kind != "heading":
                break
            path = (*path, self._text[element.start : element.end])
        return self._titled(path)

    def last_heading(self, position: int) -> int:
        """Where the last heading at or before a position begins; 0 if there is none."""
        at = bisect_right(self._headings, position)
        return self._headings[at - 1] if at else 0

    def _titled(self, path: tuple[str, ...]) -> tuple[str, ...]:
        path = path if not self._title or self._title in path else (self._title, *path)
        return tuple(heading[:MOST_HEADING] for heading in path)

    def _heading_starts(self, elements: Sequence[Element], start: int) -> Iterator[HeadingStart]:
        first = next((e.start for e in elements if e.kind != "heading"), None)
        for element in elements:
            if element.kind == "heading" and first is not None and element.start > first:
                path = (*element.headings, self._text[element.start : element.end])
                yield HeadingStart(element.start - start, self._titled(path))

    def header(self, start: int, end: int) -> str:
        """The header row of the first table in the range that has none of its own there."""
        for element in self.touched(start, end):
            printed = self._text.startswith(element.header, element.start)
            if element.header and not (printed and start <= element.start):
                return element.header[:MOST_HEADER]
        return ""

    def paragraph(self, start: int, end: int) -> int | None:
        """The number of the first paragraph that the range touches."""
        numbers = (element.paragraph for element in self.touched(start, end))
        return next((number for number in numbers if number), None)

    def place(self, start: int, end: int) -> Place:
        """Every place of the range: all its pages, boxes and authors, its rows from first to last,
        and the sheet, time and link it begins with."""
        elements = list(self.touched(start, end))
        places = [element.place for element in elements]
        rows = [place.rows for place in places if place.rows]
        pages = sorted({page for place in places for page in place.pages})
        return Place(
            pages=tuple(pages),
            boxes=tuple(box for place in places for box in place.boxes),
            sheet=next((place.sheet for place in places if place.sheet), ""),
            rows=(min(r[0] for r in rows), max(r[1] for r in rows)) if rows else None,
            authors=tuple(dict.fromkeys(author for place in places for author in place.authors)),
            time=next((place.time for place in places if place.time), ""),
            link=next((place.link for place in places if place.link), ""),
            speakers=tuple(
                Speaker(max(0, element.start - start), element.place.authors[0], element.place.time)
                for element in elements
                if element.kind == "message" and element.place.authors
            ),
            page_starts=_page_starts(elements, start) if len(pages) > 1 else (),
            heading_starts=tuple(self._heading_starts(elements, start)),
            **_spoken(elements, start, end),
        )


class _Spoken(TypedDict, total=False):
    seconds: tuple[float, float]
    spoken: tuple[tuple[int, float], ...]


def _spoken(elements: Sequence[Element], start: int, end: int) -> _Spoken:
    """Of a recording: when a range begins and ends, and when each of its words is said."""
    timed = [element for element in elements if element.place.seconds]
    words = [(e.start + at, second) for e in timed for at, second in e.place.spoken]
    inside = [(at - start, second) for at, second in words if start <= at < end]
    if not timed:
        return {}
    # A range that begins within a word begins with it; it ends where the next word begins.
    before = [second for at, second in words if at <= start]
    after = [second for at, second in words if at >= end]
    first, last = timed[0].place.seconds, timed[-1].place.seconds
    assert first is not None
    assert last is not None
    begins = before[-1] if before else inside[0][1] if inside else first[0]
    return {"seconds": (begins, after[0] if after else last[1]), "spoken": tuple(inside)}


def _page_starts(elements: Sequence[Element], start: int) -> tuple[PageStart, ...]:
    """Where a range goes on on another page, in the order of its text."""
    starts: list[PageStart] = []
    for element in elements:
        for page in element.place.page_starts or _by_height(element):
            begin = replace(page, start=max(0, element.start + page.start - start))
            if starts and starts[-1].start == begin.start:
                starts.pop()  # it ends before the range
            if not starts or starts[-1].number != begin.number:
                starts.append(begin)
    return tuple(starts)


def _by_height(element: Element) -> Iterator[PageStart]:
    """The pages of an element of which only the boxes are known: its text is divided by their
    heights."""
    heights: dict[int, float] = dict.fromkeys(element.place.pages, 0.0)
    for box in element.place.boxes:
        heights[box.page] = heights.get(box.page, 0.0) + max(0.0, box.bottom - box.top)
    total = sum(heights.values())
    above = 0.0
    length = element.end - element.start
    for at, (page, height) in enumerate(sorted(heights.items())):
        share = above / total if total else at / len(heights)
        yield PageStart(int(share * length), page, int(length * UNSURE) if at else 0)
        above += height
