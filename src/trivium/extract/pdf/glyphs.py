"""Reads the words of a PDF page with position and font through pdfium. Knows nothing of layout.

pdfium is asked once for the page's text and then only for the first and last character of every
word, by raw addresses: asking for every character took three times as long, and letting ctypes
wrap every pointer doubled what remained.
"""

from __future__ import annotations

import ctypes
import math
import re
from typing import Any, NamedTuple

import numpy as np
import pypdfium2.raw as pdfium

from trivium.extract.pdf.marks import Page, Style, Word
from trivium.extract.pdf.typography import ACCENTS, settle_accents
from trivium.text.values import clean_text, is_clean

SMALLEST = 3.0  # points; nobody reads smaller print
MAX_CHARACTERS = 200_000  # of one page; a dense newspaper page has 30,000
UNMAPPED = "\ufffe"  # pdfium's sign for a hyphen that ends a line, and for glyphs without meaning

_WORD = re.compile(r"[^\s\x00]+")
_BOLD = re.compile(r"bold|black|heavy|demi|medi\b|\bcmbx|\bsfbx|\becbx|[-,]bd?$|-bx", re.I)
_ITALIC = re.compile(r"ital|obli|\bcmti|\bcmsl|\bsfti|\becti|slant|[-,](?:it|bi)$|reguital", re.I)
_SUBSET = re.compile(r"^[A-Z]{6}\+")
_FORCE_BOLD = 1 << 18  # of the font descriptor's flags
_ITALIC_FLAG = 1 << 6


class _Run(NamedTuple):
    """A text object of the page: one font, one direction."""

    style: Style
    turn: int  # quarter turns clockwise of its direction; -1 when it runs aslant
    base: float  # baseline of its first character


# A word on its way: its characters, the first and last of them in the page's text, their run, and
# whether no space stands before it.
_Piece = tuple[str, int, int, _Run, bool]


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
    words, turns = reader.words()
    main = turns[0] if turns else 0
    if len(set(turns)) > 1:
        weights: dict[int, int] = {}
        for turn, word in zip(turns, words, strict=True):
            weights[turn] = weights.get(turn, 0) + len(word.text)
        main = max(weights, key=lambda turn: (weights[turn], -turn))
        words = [word for turn, word in zip(turns, words, strict=True) if turn == main]
    read = Page(number=number, width=frame.width, height=frame.height, turn=max(main, 0))
    read.words = settle_accents(words) if reader.has_accents else words
    if main > 0:
        _upright(read)
    return read


def _bare(function: Any, *arguments: Any, result: Any) -> Any:
    """The same function of pdfium, taking and giving addresses as numbers. It keeps the
    interpreter's lock: giving it up costs a tenth of so short a call."""
    address = ctypes.cast(function, ctypes.c_void_p).value or 0
    return ctypes.PYFUNCTYPE(result, *arguments)(address)


_ADDRESS, _INT = ctypes.c_void_p, ctypes.c_int
_text_object = _bare(pdfium.FPDFText_GetTextObject, _ADDRESS, _INT, result=_ADDRESS)
_loose_box = _bare(pdfium.FPDFText_GetLooseCharBox, _ADDRESS, _INT, _ADDRESS, result=_INT)
_char_matrix = _bare(pdfium.FPDFText_GetMatrix, _ADDRESS, _INT, _ADDRESS, result=_INT)
_char_origin = _bare(pdfium.FPDFText_GetCharOrigin, _ADDRESS, _INT, _ADDRESS, _ADDRESS, result=_INT)
_font_size = _bare(pdfium.FPDFTextObj_GetFontSize, _ADDRESS, _ADDRESS, result=_INT)
_font_of = _bare(pdfium.FPDFTextObj_GetFont, _ADDRESS, result=_ADDRESS)


class _Reader:
    def __init__(self, textpage: Any, frame: Frame) -> None:
        self._page = textpage
        self._at = ctypes.cast(textpage, ctypes.c_void_p).value
        self._frame = frame
        self._runs: dict[int, _Run] = {}
        self._fonts: dict[int, tuple[str, bool, bool]] = {}  # name, bold, italic
        self._styles: dict[tuple[str, float, bool, bool], Style] = {}
        self._looks: dict[tuple[float, ...], tuple[Style, int]] = {}  # by font, size and matrix
        self._pieces: list[_Piece] = []
        self.has_accents = False  # that stand alone, as TeX's old fonts print them
        self._box, self._matrix = pdfium.FS_RECTF(), pdfium.FS_MATRIX()
        self._size, self._x, self._y = ctypes.c_float(), ctypes.c_double(), ctypes.c_double()
        self._box_at, self._matrix_at, self._size_at, self._x_at, self._y_at = map(
            ctypes.addressof, (self._box, self._matrix, self._size, self._x, self._y)
        )

    def words(self) -> tuple[list[Word], list[int]]:
        """Every word, and the quarter turns of its direction."""
        text = self._text()
        self.has_accents = any(accent in text for accent in ACCENTS)
        at, runs, unmapped = self._at, self._runs, UNMAPPED in text
        word, start, address = "", 0, -1
        for match in _WORD.finditer(text):
            here = _text_object(at, match.start()) or 0
            if word:
                # An object's characters stand together: when the next word is of the same, so is
                # the end of this one. That spares a call for most of 700 words a page.
                if here == address and not (unmapped and UNMAPPED in word):
                    run = runs.get(here) or self._measure(here, start)
                    self._pieces.append((word, start, start + len(word) - 1, run, False))
                else:
                    self._take_mapped(word, start)
            word, start, address = match[0], match.start(), here
        if word:
            self._take_mapped(word, start)
        words = self._placed()
        if not is_clean(text):
            for placed in words:
                placed.text = clean_text(placed.text)
        return words, [piece[3].turn for piece in self._pieces]

    def _take_mapped(self, text: str, start: int) -> None:
        """Hyphens that end a line and glyphs without a meaning are one sign to pdfium."""
        while (cut := text.find(UNMAPPED)) >= 0:
            if pdfium.FPDFText_IsHyphen(self._page, start + cut) == 1:
                self._take(text[:cut] + "-", start)
                text, start = text[cut + 1 :], start + cut + 1
            else:
                text = f"{text[:cut]}\ufffd{text[cut + 1 :]}"
        if text:
            self._take(text, start)

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

    def _take(self, text: str, start: int) -> None:
        """One word, or several where its style changes: a footnote's mark, an index."""
        end = start + len(text) - 1
        first = run = self._run(start)
        last = self._run(end) if end > start else first
        if first is last or (first.style is last.style and first.base == last.base):
            self._pieces.append((text, start, end, first, False))
            return
        begin, glued = start, False
        for at in range(start + 1, end + 1):
            here = self._run(at)
            if here is not run and (here.style is not run.style or here.base != run.base):
                part = text[begin - start : at - start]
                self._pieces.append((part, begin, at - 1, run, glued))
                begin, run, glued = at, here, True
        self._pieces.append((text[begin - start :], begin, end, run, glued))

    def _placed(self) -> list[Word]:
        """The pieces as words. pdfium writes the boxes of their first and last characters into one
        block of memory, so that they are compared and turned all at once."""
        if not self._pieces:
            return []
        at, box = self._at, _loose_box
        boxes = (ctypes.c_float * (8 * len(self._pieces)))()
        place = ctypes.addressof(boxes)
        texts, starts, ends, runs, glued = zip(*self._pieces, strict=True)
        for start, end in zip(starts, ends, strict=True):
            box(at, start, place)
            box(at, end, place + 16)
            place += 32
        sides = (
            np.frombuffer(memoryview(boxes).cast("B"), np.float32)
            .astype(np.float64)
            .reshape(-1, 2, 4)
        )
        left, bottom = sides[:, :, 0].min(1), sides[:, :, 3].min(1)
        top, right = sides[:, :, 1].max(1), sides[:, :, 2].max(1)
        x0, y0 = self._frame.point(left, top)
        x1, y1 = self._frame.point(right, bottom)
        return list(
            map(
                Word,
                texts,
                np.minimum(x0, x1).tolist(),
                np.minimum(y0, y1).tolist(),
                np.maximum(x0, x1).tolist(),
                np.maximum(y0, y1).tolist(),
                [run.base for run in runs],
                [run.style for run in runs],
                glued,
            )
        )

    def _run(self, index: int) -> _Run:
        address = _text_object(self._at, index) or 0
        return self._runs.get(address) or self._measure(address, index)

    def _measure(self, address: int, index: int) -> _Run:
        """The run of a text object met for the first time, by its character at `index`."""
        if not address:
            self._runs[0] = _PLAIN
            return _PLAIN
        matrix, size = self._matrix, self._size
        _char_matrix(self._at, index, self._matrix_at)
        _char_origin(self._at, index, self._x_at, self._y_at)
        _font_size(address, self._size_at)
        set_as = (_font_of(address), size.value, matrix.a, matrix.b, matrix.c, matrix.d)
        known = self._looks.get(set_as)
        if known is None:
            known = self._look(address, index)
            if known[0].size >= SMALLEST:  # else it was measured by this character's height
                self._looks[set_as] = known
        base = round(self._frame.point(self._x.value, self._y.value)[1], 1)
        run = self._runs[address] = _Run(*known, base)
        return run

    def _look(self, address: int, index: int) -> tuple[Style, int]:
        """The style and direction of the object whose matrix and size were just read."""
        matrix = self._matrix
        scale = math.hypot(matrix.c, matrix.d) or math.hypot(matrix.a, matrix.b)
        name, bold, italic = self._font(address)
        points = abs(self._size.value) * scale
        if points < SMALLEST:  # bitmap fonts call their size 1: their letters are as tall as any
            _loose_box(self._at, index, self._box_at)
            points = max(points, 0.8 * abs(self._box.top - self._box.bottom))
        look = (name, round(points, 1), bold, italic)
        style = self._styles.get(look)
        if style is None:
            style = self._styles[look] = Style(*look)
        return style, self._frame.turn(matrix.a, matrix.b)

    def _font(self, item: int) -> tuple[str, bool, bool]:
        address = _font_of(item) or 0
        if address not in self._fonts:
            font = ctypes.cast(address, pdfium.FPDF_FONT)
            name = _font_name(font)
            flags = max(pdfium.FPDFFont_GetFlags(font), 0)
            bold = bool(_BOLD.search(name)) or bool(flags & _FORCE_BOLD)
            italic = bool(_ITALIC.search(name)) or bool(flags & _ITALIC_FLAG)
            self._fonts[address] = (name, bold, italic)
        return self._fonts[address]


_PLAIN = _Run(Style("", 10.0, False, False), 0, 0.0)


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
