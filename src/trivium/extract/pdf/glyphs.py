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

import pypdfium2.raw as pdfium

from trivium.extract.pdf.marks import Page, Style, Word
from trivium.extract.pdf.typography import settle_accents
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
    words = reader.words()
    weights: dict[int, int] = {}
    for turn, word in words:
        weights[turn] = weights.get(turn, 0) + len(word.text)
    main = max(weights, key=lambda turn: (weights[turn], -turn)) if weights else 0
    read = Page(number=number, width=frame.width, height=frame.height, turn=max(main, 0))
    read.words = settle_accents([word for turn, word in words if turn == main])
    if main > 0:
        _upright(read)
    return read


def _bare(function: Any, *arguments: Any, result: Any) -> Any:
    """The same function of pdfium, taking and giving addresses as numbers."""
    address = ctypes.cast(function, ctypes.c_void_p).value or 0
    return ctypes.CFUNCTYPE(result, *arguments)(address)


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
        self._found: list[tuple[int, Word]] = []
        self._has_halves = False  # halves of surrogate pairs in the page's text
        self._box = pdfium.FS_RECTF()
        self._box_at = ctypes.addressof(self._box)
        self._matrix, self._size = pdfium.FS_MATRIX(), ctypes.c_float()
        self._x, self._y = ctypes.c_double(), ctypes.c_double()
        addresses = map(ctypes.addressof, (self._matrix, self._size, self._x, self._y))
        self._matrix_at, self._size_at, self._x_at, self._y_at = addresses

    def words(self) -> list[tuple[int, Word]]:
        """Every word with the quarter turns of its direction."""
        text = self._text()
        self._has_halves = not is_clean(text)
        for match in _WORD.finditer(text):
            text, start = match[0], match.start()
            while (cut := text.find(UNMAPPED)) >= 0:
                if pdfium.FPDFText_IsHyphen(self._page, start + cut) == 1:
                    self._take(text[:cut] + "-", start)
                    text, start = text[cut + 1 :], start + cut + 1
                else:
                    text = f"{text[:cut]}\ufffd{text[cut + 1 :]}"
            if text:
                self._take(text, start)
        return self._found

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
            self._found.append((first.turn, self._word(text, start, end, first)))
            return
        begin, glued = start, False
        for at in range(start + 1, end + 1):
            here = self._run(at)
            if here is not run and (here.style is not run.style or here.base != run.base):
                part = text[begin - start : at - start]
                self._found.append((run.turn, self._word(part, begin, at - 1, run, glued)))
                begin, run, glued = at, here, True
        rest = text[begin - start :]
        self._found.append((run.turn, self._word(rest, begin, end, run, glued)))

    def _word(self, text: str, start: int, end: int, run: _Run, glued: bool = False) -> Word:
        box = self._box
        _loose_box(self._at, start, self._box_at)
        left, right, top, bottom = box.left, box.right, box.top, box.bottom
        if end > start:
            _loose_box(self._at, end, self._box_at)
            # Comparing takes a third of the time of min and max, and there are 700 words a page.
            left = box.left if box.left < left else left
            right = box.right if box.right > right else right
            top = box.top if box.top > top else top
            bottom = box.bottom if box.bottom < bottom else bottom
        x0, y0 = self._frame.point(left, top)
        x1, y1 = self._frame.point(right, bottom)
        if x0 > x1:
            x0, x1 = x1, x0
        if y0 > y1:
            y0, y1 = y1, y0
        if self._has_halves:
            text = clean_text(text)
        return Word(text, x0, y0, x1, y1, run.base, run.style, glued)

    def _run(self, index: int) -> _Run:
        address = _text_object(self._at, index) or 0
        run = self._runs.get(address)
        if run is None:
            run = self._runs[address] = self._measure(address, index) if address else _PLAIN
        return run

    def _measure(self, item: int, index: int) -> _Run:
        matrix, size, x, y = self._matrix, self._size, self._x, self._y
        _char_matrix(self._at, index, self._matrix_at)
        _char_origin(self._at, index, self._x_at, self._y_at)
        _font_size(item, self._size_at)
        scale = math.hypot(matrix.c, matrix.d) or math.hypot(matrix.a, matrix.b)
        name, bold, italic = self._font(item)
        points = abs(size.value) * scale
        if points < SMALLEST:  # bitmap fonts call their size 1: their letters are as tall as any
            _loose_box(self._at, index, self._box_at)
            points = max(points, 0.8 * abs(self._box.top - self._box.bottom))
        look = (name, round(points, 1), bold, italic)
        style = self._styles.get(look)
        if style is None:
            style = self._styles[look] = Style(*look)
        base = round(self._frame.point(x.value, y.value)[1], 1)
        return _Run(style, self._frame.turn(matrix.a, matrix.b), base)

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
