"""What the PDF reader speaks of on a page: words, fragments, lines, blocks. Data only.

Coordinates are points from the top left corner of the page as a person sees it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

Role = Literal[
    "body", "heading", "caption", "table", "footnote", "list_item", "small", "formula", "title"
]


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
    glued: bool = False  # no space stands before it

    @property
    def height(self) -> float:
        return self.bottom - self.top


@dataclass(slots=True)
class Fragment:
    """Words that stand beside each other without a wide gap: a line of a column, a cell."""

    words: list[Word]
    left: float = 0.0
    top: float = 0.0
    right: float = 0.0
    bottom: float = 0.0

    def __post_init__(self) -> None:
        self.left = min(word.left for word in self.words)
        self.right = max(word.right for word in self.words)
        self.top = min(word.top for word in self.words)
        self.bottom = max(word.bottom for word in self.words)

    @property
    def text(self) -> str:
        return join_words(self.words)

    @property
    def width(self) -> float:
        return self.right - self.left

    @property
    def height(self) -> float:
        return self.bottom - self.top

    @property
    def middle(self) -> float:
        return (self.top + self.bottom) / 2

    @property
    def size(self) -> float:
        """The size most of its characters have."""
        return dominant((word.style.size, len(word.text)) for word in self.words)


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
    left: float = 0.0
    top: float = 0.0
    right: float = 0.0
    bottom: float = 0.0
    base: float = 0.0
    size: float = 0.0
    bold: bool = False
    italic: bool = False
    text: str = ""

    def __post_init__(self) -> None:
        words = [word for cell in self.cells for word in cell.words]
        self.left = self.cells[0].left
        self.right = max(cell.right for cell in self.cells)
        self.top = min(cell.top for cell in self.cells)
        self.bottom = max(cell.bottom for cell in self.cells)
        self.size = dominant((word.style.size, len(word.text)) for word in words)
        self.base = dominant(
            (word.base, len(word.text)) for word in words if word.style.size == self.size
        )
        letters = sum(len(word.text) for word in words)
        self.bold = sum(len(w.text) for w in words if w.style.bold) > 0.8 * letters
        self.italic = sum(len(w.text) for w in words if w.style.italic) > 0.8 * letters
        self.text = join_words(words)

    @property
    def words(self) -> list[Word]:
        return [word for cell in self.cells for word in cell.words]


@dataclass(slots=True)
class Block:
    """Lines that belong together: a paragraph, a heading, a table, a caption."""

    lines: list[Line]
    role: Role = "body"
    text: str = ""
    header: str = ""  # a table's first row
    level: int = 0  # of a heading

    @property
    def size(self) -> float:
        return dominant((line.size, len(line.text)) for line in self.lines)

    @property
    def page(self) -> int:
        return self.lines[0].page


@dataclass(slots=True)
class Page:
    """A page as read: its words in the order of the file, and what the file says of it."""

    number: int  # from 1
    width: float
    height: float
    words: list[Word] = field(default_factory=list)
    rules: list[tuple[float, float, float]] = field(default_factory=list)  # left, right, y
    turn: int = 0  # quarter turns clockwise from the page as seen to the frame of the words
    recognised: bool = False  # the words come from OCR


def dominant(weighed: Iterable[tuple[float, int]]) -> float:
    """The value with the greatest weight; the greater of equals."""
    counts: Counter[float] = Counter()
    for value, weight in weighed:
        counts[value] += weight
    return max(counts, key=lambda value: (counts[value], value)) if counts else 0.0


def join_words(words: Iterable[Word]) -> str:
    """The words with spaces where the page has them."""
    parts: list[str] = []
    for word in words:
        if parts and not word.glued:
            parts.append(" ")
        parts.append(word.text)
    return "".join(parts)
