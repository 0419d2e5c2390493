"""Reads the words of a PDF page with position and font through pdfium. Knows nothing of layout.

pdfium is asked once for the page's text and then only for the first and last character of every
word: asking for every character took three times as long.
"""

from __future__ import annotations

import ctypes
import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pypdfium2.raw as pdfium

from trivium.extract.pdf.marks import Page, Style, Word

MAX_CHARACTERS = 200_000  # of one page; a dense newspaper page has 30,000
MAX_OBJECTS = 2_000  # looked at in search of rules; a plot can have 100,000 strokes
HYPHEN = "\ufffe"  # pdfium's sign for a hyphen that ends a line

_WORD = re.compile(r"[^\s\x00]+")
_BOLD = re.compile(r"bold|black|heavy|demi|medi\b|\bcmbx|\bsfbx|\becbx|[-,]bd?$|-bx", re.I)
_ITALIC = re.compile(r"ital|obli|\bcmti|\bcmsl|\bsfti|\becti|slant|[-,](?:it|bi)$|reguital", re.I)
_SUBSET = re.compile(r"^[A-Z]{6}\+")
_FORCE_BOLD = 1 << 18  # of the font descriptor's flags
_ITALIC_FLAG = 1 << 6


@dataclass(frozen=True, slots=True)
class _Run:
    """A text object of the page: one font, one direction."""

    style: Style
    turn: int  # quarter turns clockwise of its direction; -1 when it runs aslant


class Frame:
    """Maps the file's coordinates to the page as a person sees it."""

    def __init__(self, page: Any) -> None:
        box = pdfium.FS_RECTF()
        pdfium.FPDF_GetPageBoundingBox(page, box)
        self.left, self.bottom, self.right, self.top = box.left, box.bottom, box.right, box.top
        self.rotation = pdfium.FPDFPage_GetRotation(page) % 4
        across, along = self.right - self.left, self.top - self.bottom
        self.width, self.height = (along, across) if self.rotation % 2 else (across, along)

    def point(self, x: float, y: float) -> tuple[float, float]:
        match self.rotation:
            case 0:
                return x - self.left, self.top - y
            case 1:
                return y - self.bottom, x - self.left
            case 2:
                return self.right - x, y - self.bottom
            case _:
                return self.top - y, self.right - x

    def turn(self, a: float, b: float) -> int:
        """Quarter turns clockwise, as seen, of a direction in the file; -1 when aslant."""
        quarters = -math.atan2(b, a) / (math.pi / 2) + self.rotation
        nearest = round(quarters)
        return nearest % 4 if abs(quarters - nearest) < 0.06 else -1


def read_page(page: Any, textpage: Any, number: int) -> Page:
    """The page's words in the order of the file, those that do not run with the rest left out:
    stamps in the margin, watermarks, labels of axes."""
    frame = Frame(page)
    reader = _Reader(textpage, frame)
    words = list(reader.words())
    weights: Counter[int] = Counter()
    for turn, word in words:
        weights[turn] += len(word.text)
    main = max(weights, key=lambda turn: (weights[turn], -turn)) if weights else 0
    main = max(main, 0)
    read = Page(number=number, width=frame.width, height=frame.height, turn=main)
    read.words = [word for turn, word in words if turn == main]
    if main:
        _upright(read)
    else:
        read.rules = _rules(page, frame)
    return read


class _Reader:
    def __init__(self, textpage: Any, frame: Frame) -> None:
        self._page = textpage
        self._frame = frame
        self._runs: dict[int, _Run] = {}
        self._box = pdfium.FS_RECTF()
        self._x, self._y = ctypes.c_double(), ctypes.c_double()

    def words(self) -> Iterator[tuple[int, Word]]:
        """Every word with the quarter turns of its direction."""
        for match in _WORD.finditer(self._text()):
            text, start = match[0], match.start()
            while (cut := text.find(HYPHEN)) >= 0:
                yield from self._parts(text[:cut] + "-", start)
                text, start = text[cut + 1 :], start + cut + 1
            if text:
                yield from self._parts(text, start)

    def _text(self) -> str:
        count = min(pdfium.FPDFText_CountChars(self._page), MAX_CHARACTERS)
        if count <= 0:
            return ""
        buffer = (ctypes.c_ushort * (count + 1))()
        written = pdfium.FPDFText_GetText(self._page, 0, count, buffer) - 1
        if written == count:
            text = bytes(buffer)[: 2 * count].decode("utf-16-le", "replace")
            if len(text) == count:
                return text
        # Characters without a meaning are missing in the text, but counted: ask one by one.
        codes = (pdfium.FPDFText_GetUnicode(self._page, i) for i in range(count))
        return "".join(chr(c) if 0 < c < 0x110000 else "\ufffd" for c in codes)

    def _parts(self, text: str, start: int) -> Iterator[tuple[int, Word]]:
        """One word, or several where its style changes: a footnote's mark, an index."""
        end = start + len(text) - 1
        first, last = self._run(start), self._run(end)
        if first is last or first.style == last.style:
            yield first.turn, self._word(text, start, end, first.style)
            return
        begin, run, glued = start, first, False
        for at in range(start + 1, end + 1):
            here = self._run(at)
            if here.style != run.style:
                part = text[begin - start : at - start]
                yield run.turn, self._word(part, begin, at - 1, run.style, glued=glued)
                begin, run, glued = at, here, True
        yield run.turn, self._word(text[begin - start :], begin, end, run.style, glued=glued)

    def _word(self, text: str, start: int, end: int, style: Style, *, glued: bool = False) -> Word:
        box = self._box
        pdfium.FPDFText_GetLooseCharBox(self._page, start, box)
        left, right, top, bottom = box.left, box.right, box.top, box.bottom
        if end > start:
            pdfium.FPDFText_GetLooseCharBox(self._page, end, box)
            left, right = min(left, box.left), max(right, box.right)
            top, bottom = max(top, box.top), min(bottom, box.bottom)
        pdfium.FPDFText_GetCharOrigin(self._page, start, self._x, self._y)
        x0, y0 = self._frame.point(left, top)
        x1, y1 = self._frame.point(right, bottom)
        _, base = self._frame.point(self._x.value, self._y.value)
        return Word(
            text, min(x0, x1), min(y0, y1), max(x0, x1), max(y0, y1), base, style, glued=glued
        )

    def _run(self, index: int) -> _Run:
        pointer = pdfium.FPDFText_GetTextObject(self._page, index)
        address = ctypes.cast(pointer, ctypes.c_void_p).value or 0
        run = self._runs.get(address)
        if run is None:
            run = self._runs[address] = self._measure(pointer, index) if address else _PLAIN
        return run

    def _measure(self, pointer: Any, index: int) -> _Run:
        matrix = pdfium.FS_MATRIX()
        pdfium.FPDFText_GetMatrix(self._page, index, matrix)
        size = ctypes.c_float()
        pdfium.FPDFTextObj_GetFontSize(pointer, size)
        scale = math.hypot(matrix.c, matrix.d) or math.hypot(matrix.a, matrix.b)
        font = pdfium.FPDFTextObj_GetFont(pointer)
        name = _font_name(font)
        flags = max(pdfium.FPDFFont_GetFlags(font), 0)
        style = Style(
            font=name,
            size=round(abs(size.value) * scale, 1),
            bold=bool(_BOLD.search(name)) or bool(flags & _FORCE_BOLD),
            italic=bool(_ITALIC.search(name)) or bool(flags & _ITALIC_FLAG),
        )
        return _Run(style, self._frame.turn(matrix.a, matrix.b))


_PLAIN = _Run(Style("", 10.0, False, False), 0)


def _font_name(font: Any) -> str:
    buffer = ctypes.create_string_buffer(128)
    length = pdfium.FPDFFont_GetBaseFontName(font, buffer, 128)
    name = buffer.value.decode("latin-1") if 0 < length <= 128 else ""
    return _SUBSET.sub("", name)


def _upright(page: Page) -> None:
    """Turn the words of a page that is read sideways, so that layout sees lines."""
    width, height = page.width, page.height
    for word in page.words:
        left, top, right, bottom, base = word.left, word.top, word.right, word.bottom, word.base
        match page.turn:
            case 1:  # reads downwards
                word.left, word.right = top, bottom
                word.top, word.bottom, word.base = width - right, width - left, width - left
            case 3:  # reads upwards
                word.left, word.right = height - bottom, height - top
                word.top, word.bottom, word.base = left, right, right
            case _:  # upside down
                word.left, word.right = width - right, width - left
                word.top, word.bottom, word.base = height - bottom, height - top, height - base


def _rules(page: Any, frame: Frame) -> list[tuple[float, float, float]]:
    """Horizontal strokes, as tables and footnotes have them: left, right, and how far down."""
    found = []
    box = [ctypes.c_float() for _ in range(4)]
    for index in range(min(pdfium.FPDFPage_CountObjects(page), MAX_OBJECTS)):
        item = pdfium.FPDFPage_GetObject(page, index)
        if pdfium.FPDFPageObj_GetType(item) != pdfium.FPDF_PAGEOBJ_PATH:
            continue
        if not pdfium.FPDFPageObj_GetBounds(item, *box):
            continue
        x0, y0 = frame.point(box[0].value, box[1].value)
        x1, y1 = frame.point(box[2].value, box[3].value)
        if abs(y1 - y0) <= 2.0 and abs(x1 - x0) >= 30.0:
            found.append((min(x0, x1), max(x0, x1), (y0 + y1) / 2))
    return found


def is_garbage(words: list[Word]) -> bool:
    """Whether a text layer says nothing: its font has no mapping to characters."""
    text = "".join(word.text for word in words)
    odd = sum(unicodedata.category(character) in ("Co", "Cn", "Cc", "Cs") for character in text)
    odd += text.count("\ufffd")
    return odd > 0.3 * len(text)
