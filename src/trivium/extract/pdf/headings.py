"""Recognises headings by numbering, type and place, and gives them levels. Knows nothing of a
section's content."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise

from trivium.extract.pdf.characters import clean
from trivium.extract.pdf.marks import Block, Line
from trivium.extract.pdf.typography import Typography

MAX_WORDS = 18
LARGER = 1.08  # of the body's size
NUMBER = re.compile(
    r"(?P<number>(?:\d{1,2}(?:\.\d{1,2}){0,3}|[A-Z](?:\.\d{1,2}){1,3}|[A-Z]|[IVX]{1,5})\.?)"
    r"[ :]+(?=[^\W\d_a-z]|[a-z]?[A-Z]|[“\"(])"
)
KNOWN = re.compile(
    r"(?:(?:\d{1,2}|[IVX]{1,4}|[A-Z])\.? +)?(?:abstract|summary|(?:general )?introduction"
    r"|related works?|background|motivation|preliminaries|materials and methods|methods?"
    r"|methodology|experiments?(?:al (?:results|setup))?|results|evaluation|discussions?"
    r"|(?:discussions? and )?conclusions?(?: and (?:future work|discussion|outlook))?"
    r"|future work|limitations|acknowledge?ments?|references|bibliography|works cited"
    r"|literature cited|appendix|appendices|supplementary (?:materials?|information)"
    r"|(?:table of )?contents|inhaltsverzeichnis"
    r"|zusammenfassung|einleitung|literatur(?:verzeichnis)?|fazit|anhang|danksagung|quellen)[.:]?$",
    re.I,
)
LONGEST_KNOWN = 60  # characters; KNOWN matches none longer than 50
CAPTION = re.compile(
    r"(?:figure|fig\.?|table|tab\.|algorithm|listing|abbildung|abb\.|tabelle|scheme|chart)"
    r"\s*(?:\d+|[IVX]+\b|[A-Z]\d*\b)",
    re.I,
)
REFERENCES = re.compile(
    r"(?:(?:\d{1,2}|[IVX]{1,4}|[A-Z])\.? +)?(?:references(?: and notes| cited)?|bibliography"
    r"|works cited|literature cited|literatur(?:verzeichnis)?|quellen(?:verzeichnis)?)[.:]?$",
    re.I,
)
_CONTENTS = re.compile(r"(?:table of )?contents|inhalt(?:sverzeichnis)?", re.I)
_TOP = re.compile(r"(\d{1,2})((?:\.\d+)*)\.? +\S")
_LETTER = re.compile(r"[^\W\d_]")
# More than .15 of a line of 60 letters, and of one of 130: it is not in capitals.
_SMALL_LETTERS = (re.compile(r"(?:[a-z][^a-z]*){9}"), re.compile(r"(?:[a-z][^a-z]*){20}"))
_SIGNS = re.compile(r"[\W_]+")
_ROMAN = re.compile(r"(?:I{2,3}|I?V|VI{1,3}|I?X|XI{1,3}|I)\.? +\S")


@dataclass(frozen=True, slots=True)
class Bookmark:
    """An entry of the file's outline."""

    title: str
    level: int  # from 1
    page: int  # from 1; 0 when it points nowhere


class HeadingRules:
    """Decides for one line with its neighbours whether it is a heading, or part of one."""

    def __init__(self, typography: Typography, bookmarks: list[Bookmark]) -> None:
        self._type = typography
        self._marked: dict[int, set[str]] = {}
        for mark in bookmarks:
            self._marked.setdefault(mark.page, set()).add(bare(mark.title))

    def accepts(self, line: Line, above: Line | None, below: Line | None) -> bool:
        text = line.text
        if text.count(" ") >= MAX_WORDS or self._is_ordinary(line, text):
            return False
        if not text or "..." in text or ". . ." in text:
            return False
        letters = len(_LETTER.findall(text))
        if letters < 3 or letters < 0.5 * len(text) or CAPTION.match(text) or "@" in text:
            return False
        marked = self._marked.get(line.page)
        if marked and bare(text) in marked:
            return True
        spaced = self._spaced(line, above)
        if KNOWN.match(text):
            return (spaced or self._distinct(line, text)) and not _in_table(line, below)
        number = NUMBER.match(text)
        if len(line.cells) > (1 if number is None else 2) and is_parted(line):
            return False
        if number is not None:
            return self._numbered(line, text, number["number"], below, spaced=spaced)
        return self._plain(line, text, below, spaced=spaced)

    def _is_ordinary(self, line: Line, text: str) -> bool:
        """Whether a line is text beyond doubt: set as all others, in small letters, with neither
        a number nor a known name. Nine lines of ten are, and need no closer look."""
        return (
            not line.bold
            and not line.italic
            and line.peak <= LARGER * self._type.size
            and line.page not in self._marked
            and _SMALL_LETTERS[len(text) > 60].search(text) is not None
            and not NUMBER.match(text)
            and (len(text) > LONGEST_KNOWN or not KNOWN.match(text))
        )

    def _numbered(
        self, line: Line, text: str, number: str, below: Line | None, *, spaced: bool
    ) -> bool:
        if text.endswith((",", ";", ":")) or (text.endswith("-") and below is None):
            return False
        if self._distinct(line, text) or line.italic:
            return spaced or line.bold or line.peak > LARGER * self._type.size
        if number.strip(".").isalpha():  # A plain "I think" is no section
            return False
        # Plain type: the only signs are space above and a short line without a full stop.
        room = line.column.right - line.left
        short = line.right - line.left < 0.75 * room
        return spaced and short and not text.endswith(".") and len(text.split()) <= 10

    def _plain(self, line: Line, text: str, below: Line | None, *, spaced: bool) -> bool:
        """Without a number it must look different, be separate, and have text below it."""
        first = next(character for character in text if character.isalpha())
        if text[-1] in ".,;:-" or first.islower() or not self._distinct(line, text):
            return False
        if not spaced or not (text[0].isalnum() or text[0] in "“\"'¿("):
            return False
        if below is None or below.column is not line.column:
            return line.peak > LARGER * self._type.size
        if line.peak < 0.95 * self._type.size:
            return False
        body = abs(below.size - self._type.size) < 0.1 * self._type.size
        near = below.base - line.base < 4 * self._type.size
        large = line.peak > 1.15 * self._type.size
        return (body and near and len(below.text) > 20) or large or self._same(line, below)

    def _same(self, line: Line, below: Line) -> bool:
        return below.bold == line.bold and below.size == line.size and len(below.text) > 3

    def _distinct(self, line: Line, text: str) -> bool:
        if line.bold and not self._type.bold:
            return True
        letters = _LETTER.findall(text)
        caps = len(letters) >= 4 and sum(c.isupper() for c in letters) > 0.85 * len(letters)
        return caps or line.peak > LARGER * self._type.size

    def _spaced(self, line: Line, above: Line | None) -> bool:
        """Whether more than a line's distance separates it from the text above."""
        if above is None or line.first or above.column is not line.column:
            return True
        size = min(above.size, self._type.size)
        return line.base - above.base > 1.12 * self._type.leading(size)

    def continues(self, line: Line, above: Line) -> bool:
        """Whether a line continues the heading above it."""
        text = line.text
        same = (
            above.column is line.column
            and abs(line.peak - above.peak) < 0.3
            and line.bold == above.bold
            and line.italic == above.italic
        )
        if not same or NUMBER.match(text) or KNOWN.match(above.text) or is_parted(line):
            return False
        reach = 1.3 if KNOWN.match(text) else 1.6
        close = line.base - above.base < reach * max(line.size, above.size)
        distinct = self._distinct(line, text) or line.italic
        return close and distinct and len(text) < 120 and not CAPTION.match(text)


def _in_table(line: Line, below: Line | None) -> bool:
    """Whether the line heads a column of cells."""
    if below is None or below.column is not line.column:
        return False
    gaps = [b.left - a.right for a, b in pairwise(below.cells)]
    return sum(gap > 1.5 * below.size for gap in gaps) >= 2


def is_parted(line: Line, times: int = 1) -> bool:
    """Whether wide white parts the line, other than behind its number: then it is a row."""
    cells = line.cells[1:] if NUMBER.match(f"{line.cells[0].text} A") else line.cells
    return sum(b.left - a.right > 1.5 * b.size for a, b in pairwise(cells)) >= times


def bare(text: str) -> str:
    """Only letters and digits, for comparing headings."""
    return _SIGNS.sub("", clean(text).casefold())


def drop_items(blocks: list[Block]) -> None:
    """Numbered lines that do not follow the numbers of the sections are items of lists, unless
    they look like the sections themselves: a second part may begin again."""
    last = 0
    looks: set[tuple[float, bool]] = set()
    for block in blocks:
        match = _TOP.match(block.text) if block.role == "heading" else None
        if match is None:
            continue
        number, look = int(match[1]), (block.lines[0].peak, block.lines[0].bold)
        nearest = last if match[2] else last + 1
        follows = not last or nearest <= number <= last + 2 or look in looks
        if number > 40 or not follows:
            block.role = "body"
        else:
            last = number
            looks.add(look)


def set_levels(blocks: list[Block], bookmarks: list[Bookmark], typography: Typography) -> None:
    """Give every heading its level: by the outline, its number, a known name, or its type."""
    marked = {(mark.page, bare(mark.title)): mark.level for mark in bookmarks}
    headings = [block for block in blocks if block.role == "heading"]
    roman = sum(bool(_ROMAN.match(block.text)) for block in headings) >= 2
    by_type: dict[tuple[float, bool, bool], int] = {}
    for block in headings:
        block.level = _numbered_level(block.text, roman=roman)
        if _CONTENTS.fullmatch(block.text):
            continue
        if KNOWN.match(block.text):
            block.level = block.level or 1
        if block.level:
            by_type.setdefault(_type(block), block.level)
    sizes = sorted({_type(b) for b in headings if _type(b) not in by_type}, reverse=True)
    base = 1 if not by_type else 2
    for block in headings:
        outlined = marked.get((block.page, bare(block.text)))
        kind = _type(block)
        fallback = by_type.get(kind) or min(base + sizes.index(kind), 4)
        if not block.level and kind[0] > LARGER * typography.size and by_type:
            larger = [level for other, level in by_type.items() if other[0] <= kind[0] + 0.2]
            fallback = by_type.get(kind) or min(larger, default=1)
        block.level = block.level or outlined or fallback
    for block in headings:
        if _CONTENTS.fullmatch(block.text):  # a list of sections holds none of them
            block.level = max(block.level for block in headings)


def _numbered_level(text: str, *, roman: bool) -> int:
    match = NUMBER.match(text)
    if match is None:
        return 0
    number = match["number"].strip(".")
    if roman and number.isalpha() and not _ROMAN.match(text):
        return 2  # I., A., B., II.: as the IEEE numbers
    return number.count(".") + 1


def _type(block: Block) -> tuple[float, bool, bool]:
    line = block.lines[0]
    return (line.peak, line.bold, block.text.isupper())
