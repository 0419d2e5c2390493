"""Reads the words of a PDF page with position and font through pdfium. Knows nothing of layout.

pdfium is asked once for the page's text and then only for the first and last character of every
word, by raw addresses: asking for every character took three times as long, letting ctypes wrap
every pointer doubled what remained, and converting the arguments of each call doubled it again.
"""

from __future__ import annotations

import ctypes
import math
import re
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise, repeat
from typing import Any

import numpy as np
import pypdfium2.raw as pdfium

from trivium.extract.pdf.characters import ACCENTS
from trivium.extract.pdf.direction import runs_left
from trivium.extract.pdf.marks import Page, Style, Word
from trivium.extract.pdf.typography import settle_accents
from trivium.text.values import clean_text, is_clean

SMALLEST = 3.0  # points; nobody reads smaller print
TURNED = 120  # characters that run another way: the stamps of arXiv have 40
MAX_CHARACTERS = 200_000  # of one page; a dense newspaper page has 30,000
UNMAPPED = "\ufffe"  # pdfium's sign for a hyphen that ends a line, and for glyphs without meaning

_BLANK = np.array([code == 0 or chr(code).isspace() for code in range(0x3002)])
_BOLD = re.compile(r"bold|black|heavy|demi|medi\b|\bcmbx|\bsfbx|\becbx|[-,]bd?$|-bx", re.I)
_ITALIC = re.compile(r"ital|obli|\bcmti|\bcmsl|\bsfti|\becti|slant|[-,](?:it|bi)$|reguital", re.I)
_SUBSET = re.compile(r"^[A-Z]{6}\+")
_FORCE_BOLD = 1 << 18  # of the font descriptor's flags
_ITALIC_FLAG = 1 << 6


@dataclass(slots=True)
class _TextRun:
    """A text object of the page: one font, one direction."""

    style: Style
    turn: int  # quarter turns clockwise of its direction; -1 when it runs aslant
    base: float  # baseline of its first character


_Look = tuple[int, float, float, float, float, float]  # font, size and matrix
# A word on its way: its characters, the first and last of them in the page's text, their run, and
# whether no space stands before it.
_Piece = tuple[str, int, int, _TextRun, bool]


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
    """The page's words in the order of the file. Those that run another way than most come last, a
    page's height below the others, where they are more than a label: a table set sideways. Stamps
    in the margin, watermarks and labels of axes are left out."""
    frame = Frame(page)
    reader = _GlyphReader(textpage, frame)
    words, turns = reader.words()
    parts: dict[int, list[Word]] = {turns[0]: words} if len(set(turns)) == 1 else {}
    for turn, word in () if parts else zip(turns, words, strict=True):
        parts.setdefault(turn, []).append(word)
    sizes = {turn: sum([len(word.text) for word in part]) for turn, part in parts.items()}
    ordered = sorted(sizes, key=lambda turn: (-sizes[turn], turn))
    whole = Page(number, frame.width, frame.height, turn=max(ordered[0], 0) if ordered else 0)
    for place, turn in enumerate(ordered):
        if place and (turn < 0 or sizes[turn] < TURNED):
            continue
        part = Page(number, frame.width, frame.height, parts[turn], max(turn, 0))
        if turn > 0:
            _upright(part)
        for word in part.words if place else ():
            word.top, word.bottom = word.top + whole.down, word.bottom + whole.down
            word.base += whole.down
        whole.words += part.words
    if reader.has_accents:
        whole.words = settle_accents(whole.words)
    return whole


def _bare(function: Any, result: Any = ctypes.c_int) -> Any:
    """The same function of pdfium, without a list of the types it takes: addresses must be given
    as `_address`es, numbers are C integers. ctypes then converts nothing: .25 instead of .6 µs a
    call. It keeps the interpreter's lock: giving it up costs a tenth of so short a call."""
    return ctypes.PYFUNCTYPE(result)(ctypes.cast(function, ctypes.c_void_p).value or 0)


_address = ctypes.c_void_p.from_param
_text_object = _bare(pdfium.FPDFText_GetTextObject, ctypes.c_void_p)
_loose_box = _bare(pdfium.FPDFText_GetLooseCharBox)
_char_matrix = _bare(pdfium.FPDFText_GetMatrix)
_char_origin = _bare(pdfium.FPDFText_GetCharOrigin)
_is_hyphen = _bare(pdfium.FPDFText_IsHyphen)
_font_size = _bare(pdfium.FPDFTextObj_GetFontSize)
_font_of = _bare(pdfium.FPDFTextObj_GetFont, ctypes.c_void_p)


def _stretches(text: str) -> tuple[list[int], list[int]]:
    """The first and the last characters of the stretches without blanks."""
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
    blank = np.ones(len(codes) + 2, bool)
    blank[1:-1] = _BLANK[np.minimum(codes, len(_BLANK) - 1)]
    return (
        np.flatnonzero(blank[:-2] & ~blank[1:-1]).tolist(),
        np.flatnonzero(~blank[1:-1] & blank[2:]).tolist(),
    )


class _GlyphReader:
    def __init__(self, textpage: Any, frame: Frame) -> None:
        self._page = textpage
        self._at = _address(ctypes.cast(textpage, ctypes.c_void_p).value)
        self._frame = frame
        self._runs: dict[int | None, _TextRun] = {}  # by the address of the object
        self._fonts: dict[int, tuple[str, bool, bool]] = {}  # name, bold, italic
        self._styles: dict[tuple[str, float, bool, bool], Style] = {}
        self._looks: dict[_Look, tuple[Style, int]] = {}  # by font, size and matrix
        self._steps: list[float] = []  # across, from each word's first character to its last
        self.has_accents = False  # that stand alone, as TeX's old fonts print them
        self._set_as = (ctypes.c_float * 7)()  # an object's size, then a character's matrix
        self._x, self._y = ctypes.c_double(), ctypes.c_double()
        self._size_at = _address(ctypes.addressof(self._set_as))
        self._matrix_at = _address(ctypes.addressof(self._set_as) + 4)
        self._x_at, self._y_at = (_address(ctypes.addressof(x)) for x in (self._x, self._y))

    def words(self) -> tuple[list[Word], list[int]]:
        """Every word, and the quarter turns of its direction."""
        text = self._text()
        if runs_left(text):
            text = self._unfolded(text)
        self.has_accents = any(accent in text for accent in ACCENTS)
        starts, ends = _stretches(text)
        runs, last = self._runs_at(starts), self._runs_at(ends)
        pieces = [
            (text[start : end + 1], start, end, run, False)
            for start, end, run in zip(starts, ends, runs, strict=True)
        ]
        odd = {at for at, (a, b) in enumerate(zip(runs, last, strict=True)) if not _alike(a, b)}
        if UNMAPPED in text:
            odd |= {at for at, piece in enumerate(pieces) if UNMAPPED in piece[0]}
        for at in sorted(odd, reverse=True):
            pieces[at : at + 1] = self._mapped(*pieces[at][:2])
        words = self._placed(pieces)
        if not is_clean(text):
            for placed in words:
                placed.text = clean_text(placed.text)
        turns = [piece[3].turn for piece in pieces]
        if 2 in turns and self._forward(turns):
            turns = [0 if turn == 2 else turn for turn in turns]
        return words, turns

    def _forward(self, turns: list[int]) -> bool:
        """Whether most of the words that are upside down by their matrix run from left to right:
        their font is turned too."""
        steps = [step for step, turn in zip(self._steps, turns, strict=True) if turn == 2 and step]
        return 2 * sum(step > 0 for step in steps) > len(steps)

    def _mapped(self, text: str, start: int) -> list[_Piece]:
        """The parts of a word. Hyphens that end a line and glyphs without a meaning are one sign
        to pdfium."""
        parts: list[_Piece] = []
        while (cut := text.find(UNMAPPED)) >= 0:
            if _is_hyphen(self._at, start + cut) == 1:
                parts += self._parted(text[:cut] + "-", start)
                text, start = text[cut + 1 :], start + cut + 1
            else:
                text = f"{text[:cut]}\ufffd{text[cut + 1 :]}"
        return parts + self._parted(text, start) if text else parts

    def _text(self) -> str:
        """One character for each of pdfium's, which are units of UTF-16. A character above U+FFFF
        is two of them, so that offsets count as pdfium does; `_word` joins them."""
        count = min(pdfium.FPDFText_CountChars(self._page), MAX_CHARACTERS)
        if count <= 0:
            return ""
        buffer = (ctypes.c_ushort * (count + 1))()
        written = pdfium.FPDFText_GetText(self._page, 0, count, buffer) - 1
        if written == count:
            text = bytes(buffer)[: 2 * count].decode("utf-16-le", "replace")
            if len(text) == count:
                return text
            return "".join(map(chr, buffer[:count]))
        # Characters without a meaning are missing in the text, but counted: ask one by one.
        codes = (pdfium.FPDFText_GetUnicode(self._page, i) for i in range(count))
        return "".join(chr(c) if 0 < c < 0x110000 else "\ufffd" for c in codes)

    def _unfolded(self, text: str) -> str:
        """With the letters of ligatures that run left (lam and alef) in the order they are typed:
        pdfium turns a line around letter by letter, also inside a glyph, whose letters share its
        box."""
        signs = list(text)
        box, last = pdfium.FS_RECTF(), (0.0, 0.0)
        at = _address(ctypes.addressof(box))
        start = 0
        for index in range(len(signs) + 1):
            here = (0.0, 0.0)
            if index < len(signs) and runs_left(signs[index]) and signs[index].isalpha():
                _loose_box(self._at, index, at)
                here = (box.left, box.right)
            if here != last or here[0] == here[1]:
                signs[start:index] = signs[start:index][::-1]
                start, last = index, here
        return "".join(signs)

    def _parted(self, text: str, start: int) -> list[_Piece]:
        """One word, or several where its style changes: a footnote's mark, an index."""
        end = start + len(text) - 1
        first, last = self._runs_at((start, end))
        if _alike(first, last):
            return [(text, start, end, first, False)]
        runs = self._runs_at(range(start, end + 1))
        cuts = [at for at, (a, b) in enumerate(pairwise(runs), 1) if not _alike(a, b)]
        return [
            (text[a:b], start + a, start + b - 1, runs[a], a > 0)
            for a, b in pairwise([0, *cuts, len(text)])
        ]

    def _placed(self, pieces: list[_Piece]) -> list[Word]:
        """The pieces as words. pdfium writes the boxes of their first and last characters into one
        block of memory, so that they are compared and turned all at once."""
        if not pieces:
            return []
        boxes = np.zeros((len(pieces), 2, 4), np.float32)
        begin, step = boxes.ctypes.data, boxes.itemsize * 4
        for side in (0, 1):
            indexes = [piece[side + 1] for piece in pieces]
            places = range(begin + side * step, begin + boxes.nbytes, 2 * step)
            deque(map(_loose_box, repeat(self._at), indexes, map(_address, places)), maxlen=0)
        sides: Any = boxes.astype(np.float64)
        low, high = np.minimum(sides[:, 0], sides[:, 1]), np.maximum(sides[:, 0], sides[:, 1])
        x0, y0 = self._frame.point(low[:, 0], high[:, 1])  # left, top
        x1, y1 = self._frame.point(high[:, 2], low[:, 3])  # right, bottom
        first, last = (self._frame.point(sides[:, at, 0], sides[:, at, 1])[0] for at in (0, 1))
        steps: Any = last - first
        self._steps = steps.tolist()
        return list(
            map(
                Word,
                [piece[0] for piece in pieces],
                np.minimum(x0, x1).tolist(),
                np.minimum(y0, y1).tolist(),
                np.maximum(x0, x1).tolist(),
                np.maximum(y0, y1).tolist(),
                [piece[3].base for piece in pieces],
                [piece[3].style for piece in pieces],
                [piece[4] for piece in pieces],
            )
        )

    def _runs_at(self, indexes: Sequence[int]) -> list[_TextRun]:
        runs = self._runs
        return [
            runs.get(item) or self._measure(item, index)
            for index, item in zip(
                indexes, map(_text_object, repeat(self._at), indexes), strict=True
            )
        ]

    def _measure(self, address: int | None, index: int) -> _TextRun:
        """The run of a text object met for the first time, by its character at `index`."""
        if not address:
            self._runs[address] = _PLAIN
            return _PLAIN
        item = _address(address)
        _char_matrix(self._at, index, self._matrix_at)
        _font_size(item, self._size_at)
        size, a, b, c, d, x, y = self._set_as[:]
        look = (_font_of(item) or 0, size, a, b, c, d)
        measured = self._looks.get(look)
        if measured is None:
            measured = self._look(index, *look)
            if measured[0].size >= SMALLEST:  # else it was measured by this character's height
                self._looks[look] = measured
        if b:  # it does not run straight across: its characters stand at other heights
            _char_origin(self._at, index, self._x_at, self._y_at)
            x, y = self._x.value, self._y.value
        base = round(10 * self._frame.point(x, y)[1]) / 10
        run = self._runs[address] = _TextRun(*measured, base)
        return run

    def _look(
        self, index: int, font: int, size: float, a: float, b: float, c: float, d: float
    ) -> tuple[Style, int]:
        """The style and direction of an object by its font, size and matrix."""
        scale = math.hypot(c, d) or math.hypot(a, b)
        name, bold, italic = self._font(font)
        points = abs(size) * scale
        if points < SMALLEST:  # bitmap fonts call their size 1: their letters are as tall as any
            box = pdfium.FS_RECTF()
            _loose_box(self._at, index, _address(ctypes.addressof(box)))
            points = max(points, 0.8 * abs(box.top - box.bottom))
        look = (name, round(points, 1), bold, italic)
        style = self._styles.get(look)
        if style is None:
            style = self._styles[look] = Style(*look)
        return style, self._frame.turn(a, b)

    def _font(self, address: int) -> tuple[str, bool, bool]:
        if address not in self._fonts:
            font = ctypes.cast(address, pdfium.FPDF_FONT)
            name = _font_name(font)
            flags = max(pdfium.FPDFFont_GetFlags(font), 0)
            bold = bool(_BOLD.search(name)) or bool(flags & _FORCE_BOLD)
            italic = bool(_ITALIC.search(name)) or bool(flags & _ITALIC_FLAG)
            self._fonts[address] = (name, bold, italic)
        return self._fonts[address]


def _alike(a: _TextRun, b: _TextRun) -> bool:
    return a is b or (a.style is b.style and a.base == b.base)


_PLAIN = _TextRun(Style("", 10.0, False, False), 0, 0.0)


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
