"""The PDF reader's nouns for a page: words, fragments, lines, blocks. Data only. Coordinates are
points from the top left corner of the page as a person sees it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Literal

from trivium.extract.pdf.characters import clean

Role = Literal[
    "body",
    "heading",
    "caption",
    "table",
    "footnote",
    "list_item",
    "small",
    "formula",
    "title",
    "running",
    "code",
]

_LETTER = re.compile(r"[^\W\d_]")


@dataclass(frozen=True, slots=True)
class Style:
    """How a word looks, as far as structure can be read from it."""

    font: str
    size: float  # points on the page, rounded to a tenth
    bold: bool
    italic: bool


@dataclass(slots=True)
class Word:
    """Characters without a space between them."""

    text: str
    left: float
    top: float
    right: float
    bottom: float
    base: float  # baseline
    style: Style
    glued: bool = False  # no space before it

    @property
    def height(self) -> float:
        return self.bottom - self.top


@dataclass(slots=True)
class Fragment:
    """Words next to each other without a wide gap: a line of a column, a cell."""

    words: list[Word]
    left: float = 0.0
    top: float = 0.0
    right: float = 0.0
    bottom: float = 0.0
    size: float = 0.0  # most of its characters have it
    width: float = 0.0
    height: float = 0.0
    middle: float = 0.0  # between top and bottom
    even: bool = False  # its words are set alike, on one baseline, from left to right

    def __post_init__(self) -> None:
        words = self.words
        if len(words) == 1:
            word = words[0]
            self.left, self.right = word.left, word.right
            self.top, self.bottom, self.size = word.top, word.bottom, word.style.size
        else:
            self.top = min([word.top for word in words])
            self.bottom = max([word.bottom for word in words])
            if self.even:
                self.left, self.right = words[0].left, words[-1].right
                self.size = words[0].style.size
            else:
                self.left = min([word.left for word in words])
                self.right = max([word.right for word in words])
                self.size = dominant_size(words)
        self.width = self.right - self.left
        self.height = self.bottom - self.top
        self.middle = (self.top + self.bottom) / 2

    @property
    def text(self) -> str:
        return join_words(self.words)


@dataclass(slots=True)
class Column:
    """A stretch of a page that is read from top to bottom."""

    left: float
    right: float


@dataclass(slots=True)
class Line:
    """One row of a column: usually one fragment, several in a table or beside an equation."""

    page: int  # from 1
    cells: list[Fragment]
    column: Column
    first: bool = False  # of its column or band
    running: bool = False  # the first copy of a running head
    left: float = 0.0
    top: float = 0.0
    right: float = 0.0
    bottom: float = 0.0
    base: float = 0.0
    size: float = 0.0
    bold: bool = False
    italic: bool = False
    peak: float = 0.0  # the greatest size of its letters: small capitals are set in two
    text: str = ""  # as `clean` leaves it
    formula: bool | None = None  # decided once, by `paragraphs`

    def __post_init__(self) -> None:
        cell, words = self.cells[0], self.words
        if len(self.cells) == 1:
            self.left, self.right, self.top, self.bottom = (
                cell.left,
                cell.right,
                cell.top,
                cell.bottom,
            )
            size = cell.size
        else:
            self.left = min([cell.left for cell in self.cells])
            self.right = max([cell.right for cell in self.cells])
            self.top = min([cell.top for cell in self.cells])
            self.bottom = max([cell.bottom for cell in self.cells])
            size = dominant_size(words)
        self.size = size
        even = cell.even and len(self.cells) == 1
        for a, b in () if even else pairwise(words):
            _settle_blank(a, b)
        base = words[0].base
        for word in () if even else words:
            if word.base != base:
                base = dominant([(w.base, len(w.text)) for w in words if w.style.size == size])
                break
        self.base = base
        # Fonts give wrong heights, but a highlight must cover the letters.
        self.top = min(self.top, self.base - 0.85 * self.size)
        self.bottom = max(self.bottom, self.base + 0.25 * self.size)
        self.text = clean(join_words(words))
        plain = words[0].style
        for word in () if even else words:
            if word.style is not plain:
                break
        else:  # most lines are set in one style
            self.peak, self.bold, self.italic = size, plain.bold, plain.italic
            return
        letters = 0.8 * sum([len(word.text) for word in words])
        self.bold = sum([len(word.text) for word in words if word.style.bold]) > letters
        self.italic = sum([len(word.text) for word in words if word.style.italic]) > letters
        peak = 0.0
        for word in words:
            if word.style.size > peak and _LETTER.search(word.text):
                peak = word.style.size
        self.peak = peak or size

    @property
    def words(self) -> list[Word]:
        if len(self.cells) == 1:
            return self.cells[0].words
        return [word for cell in self.cells for word in cell.words]


@dataclass(slots=True)
class Block:
    """Lines that belong together: a paragraph, a heading, a table, a caption."""

    lines: list[Line]
    role: Role = "body"
    text: str = ""
    header: str = ""  # a table's first row
    level: int = 0  # of a heading
    turns: list[tuple[int, int]] = field(default_factory=list)  # where in its text pages begin

    @property
    def size(self) -> float:
        return dominant((line.size, len(line.text)) for line in self.lines)

    @property
    def page(self) -> int:
        return self.lines[0].page


@dataclass(slots=True)
class Page:
    """A page as read: its words in the order of the file, and the file's data about it."""

    number: int  # from 1
    width: float
    height: float
    words: list[Word] = field(default_factory=list)
    turn: int = 0  # quarter turns clockwise from the page as seen to the frame of the words
    recognised: bool = False  # the words come from OCR

    @property
    def across(self) -> float:
        """Its width in the frame of the words."""
        return self.height if self.turn % 2 else self.width

    @property
    def down(self) -> float:
        """Its height in the frame of the words."""
        return self.width if self.turn % 2 else self.height


def _settle_blank(word: Word, after: Word) -> None:
    """Whether a blank parts two words that are set in two sizes: none within small capitals behind
    the large letter (R ESORTS), one before the mark of a note ("charges²", but not "m²")."""
    if after.style.size >= 0.85 * word.style.size:
        return
    if len(word.text) == 1 and word.base == after.base:
        after.glued |= word.text.isupper() and len(after.text) > 1 and after.text.isupper()
    elif after.glued and after.base < word.base and after.text.isdecimal():
        after.glued = len(word.text) < 3 or not word.text[-3:].isalpha()


def dominant(weighed: Iterable[tuple[float, int]]) -> float:
    """The value with the greatest weight; the greater of equals."""
    counts: dict[float, int] = {}
    for value, weight in weighed:
        counts[value] = counts.get(value, 0) + weight
    if len(counts) <= 1:
        return next(iter(counts), 0.0)
    return max(counts, key=lambda value: (counts[value], value))


def dominant_size(words: list[Word]) -> float:
    """The size of most of the words' characters."""
    style = words[0].style
    for word in words:
        if word.style is not style:
            break
    else:  # nine lines of ten: nothing to count
        return style.size
    return dominant([(word.style.size, len(word.text)) for word in words])


def join_words(words: Sequence[Word]) -> str:
    """The words with spaces where the page has them."""
    if True not in [word.glued for word in words]:
        return " ".join([word.text for word in words])
    parts: list[str] = []
    for word in words:
        if parts and not word.glued:
            parts.append(" ")
        parts.append(word.text)
    return "".join(parts)
