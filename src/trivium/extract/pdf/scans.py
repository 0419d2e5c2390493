"""Decides which pages have to be read as images, renders them, and turns what was recognised into
words like those of a text layer. Knows no OCR program: it is given one.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias

from trivium.extract.pdf.marks import Page, Style, Word, dominant
from trivium.extract.pulse import still_working
from trivium.text.languages import language_scores

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Grey: TypeAlias = NDArray[np.uint8]

OcrMode: TypeAlias = Literal["off", "auto", "force"]
MIN_LETTERS = 16  # fewer on a page with a picture: a stamp or a page number on a scan
SCANNED = 0.5  # of a page under its picture
ENDS = 10  # objects: a scan's picture is drawn first or last
JUDGED = 100  # letters
# How sure the best guess of a language is: .89 of a page of English, .11 of the same page read by
# tesseract upside down or sideways.
NO_LANGUAGE = 0.25
MAX_PIXELS = 30_000_000  # 30 MB in grey; A3 at 300 dpi has 17 million
# Mean confidence of words below which a page may lie on its side or head: upright pages have 85 to
# 95, a line of 11 words on its head 70.
POOR = 80.0
MIN_SURE = 8  # words
# Mean confidence of a page's letters below which what was read is noise: text in a script without
# data had 49 to 54, a page upside down 54; pages that were read 85 to 96.
UNREAD = 60.0
LEAST_TILT, MOST_TILT = 1, 15  # degrees; at 2, tesseract reads .74 of a page, level .99
SHARPER = 1.5  # how much more rows must differ than on the image as it is
TILT_PIXELS = 600
HALVED = 5_000_000  # pixels, from which half the resolution still shows which way is up
# Controls, private use, what cannot be a character, pdfium's own sign for what it cannot map.
_ODD = re.compile(r"[\x00-\x1f\x7f-\x9f\ue000-\uf8ff\ufff0-\uffff\U000f0000-\U0010ffff]")
_MISREAD_BULLETS = frozenset("e¢°©®«»*·o")  # what tesseract makes of a black dot


class RecognisedWord(Protocol):
    """A word on an image, in pixels from its top left corner."""

    @property
    def text(self) -> str: ...
    @property
    def left(self) -> float: ...
    @property
    def top(self) -> float: ...
    @property
    def right(self) -> float: ...
    @property
    def bottom(self) -> float: ...
    @property
    def line(self) -> int: ...  # words of one line share it
    @property
    def confidence(self) -> float: ...  # 0..100


class Recognise(Protocol):
    """Reads the words on an image file (PNM, PNG, JPEG, TIFF), in reading order. Raises
    TimeoutError when that takes too long."""

    @property
    def name(self) -> str: ...  # program and languages: part of the extractor's version

    def __call__(self, image: bytes, *, dpi: int) -> Sequence[RecognisedWord]: ...

    def advice(self, image: bytes, text: str) -> str:
        """What would help to read a page of which it made this text, in a sentence."""
        ...


class PageUnread(Exception):
    """What was recognised on a page is noise."""

    def __init__(self, advice: str) -> None:
        super().__init__(advice)
        self.advice = advice


def needs_ocr(page: Page, raw: Any) -> bool:
    """Whether a page has no usable text but something to look at; `raw` is pdfium's."""
    if len(page.words) < MIN_LETTERS:
        letters = sum(len(word.text) for word in page.words)
        if letters < MIN_LETTERS and covered(raw) > 0.02:
            return True
    is_scan = covered(raw, ENDS) > SCANNED
    return is_garbage(page.words) or is_gibberish(page.words, certain=not is_scan)


def is_gibberish(words: Sequence[Word | RecognisedWord], *, certain: bool = False) -> bool:
    """Whether the words are none: OCR read a scan sideways or upside down. `certain`: only if there
    are more capitals than small letters too, as where a font gives its letters other codes. Few
    words are not judged."""
    text = " ".join([word.text for word in words])
    letters = sum(map(str.isalpha, text))
    if letters < JUDGED or (certain and 2 * sum(map(str.islower, text)) > letters):
        return False
    return max(language_scores(text).values(), default=0.0) < NO_LANGUAGE


def is_garbage(words: list[Word]) -> bool:
    """Whether a text layer says nothing: its font has no mapping to characters."""
    text = "".join([word.text for word in words])
    if text.isascii() and text.isprintable():  # most pages, in a tenth of the time
        return False
    return len(_ODD.findall(text)) > 0.3 * len(text)


def covered(page: Any, ends: int = 100) -> float:
    """The share of the page under its largest image or drawing, of those that the page begins or
    ends with."""
    import ctypes

    import pypdfium2.raw as pdfium

    width, height = map(float, page.get_size())
    box = [ctypes.c_float() for _ in range(4)]
    largest = 0.0
    count = pdfium.FPDFPage_CountObjects(page.raw)
    for index in {*range(min(ends, count)), *range(max(0, count - ends), count)}:
        item = pdfium.FPDFPage_GetObject(page.raw, index)
        if pdfium.FPDFPageObj_GetType(item) == pdfium.FPDF_PAGEOBJ_TEXT:
            continue
        if pdfium.FPDFPageObj_GetBounds(item, *box):
            left, bottom, right, top = (side.value for side in box)
            largest = max(largest, abs(right - left) * abs(top - bottom))
    return float(min(1.0, largest / max(1.0, width * height)))


def recognise_page(page: Any, number: int, recognise: Recognise, dpi: int) -> Page:
    """A page read as an image, turned upright if it lies on its side. Raises PageUnread."""
    import numpy as np

    width, height = page.get_size()
    scale = min(dpi / 72, math.sqrt(MAX_PIXELS / max(1.0, width * height)))
    bitmap = page.render(scale=scale, grayscale=True)
    image = np.array(bitmap.to_numpy(), dtype=np.uint8).reshape(bitmap.height, bitmap.width)
    bitmap.close()
    scanned = Page(number=number, width=width, height=height, recognised=True)
    words, scanned.turn = upright(image, recognise, round(scale * 72))
    check_read(words, image, recognise)
    scanned.words = as_words(words, scale)
    return scanned


def check_read(words: Sequence[RecognisedWord], image: Grey, recognise: Recognise) -> None:
    """Raises PageUnread where a page has words, and nobody would find them by what they mean."""
    if words and certainty(words) < UNREAD:
        text = " ".join(word.text for word in words)
        raise PageUnread(recognise.advice(pgm(image), text))


def certainty(words: Sequence[RecognisedWord]) -> float:
    """The mean confidence of the letters: short scraps of noise are often sure."""
    letters = sum(len(word.text) for word in words)
    return sum(word.confidence * len(word.text) for word in words) / max(1, letters)


def upright(image: Grey, recognise: Recognise, dpi: int) -> tuple[Sequence[RecognisedWord], int]:
    """The words of the image in the position that reads best, and its quarter turns clockwise."""
    import numpy as np

    image = straightened(image)
    whole, whole_dpi = image, dpi

    def words_of(image: Grey, dpi: int) -> Sequence[RecognisedWord]:
        still_working()  # up to six readings of one page, each as long as it takes
        return recognise(pgm(image), dpi=dpi)

    words = words_of(image, dpi)
    if _sure(words):
        return words, 0
    best, turn = words, 0
    if image.size >= HALVED:  # tells the right way up in a quarter of the time
        image, dpi = image[::2, ::2], dpi // 2
        best = words_of(image, dpi)
    least = 1.2 * _score(best) + 100
    # Lines of text lie along one side: then it stands on its head, or on one of the others.
    for quarters in (2, 1, 3) if _is_level(image) else (1, 3, 2):
        trial = words_of(np.rot90(image, quarters), dpi)
        if (score := _score(trial)) > least:
            best, turn, least = trial, quarters, score
            if _sure(trial):
                break
    if turn and image is not whole:
        best = words_of(np.rot90(whole, turn), whole_dpi)
    return (best, turn) if turn else (words, 0)


def straightened(image: Grey) -> Grey:
    """The image with its lines level, if they are aslant by more than OCR puts up with. The angle
    is the one at which rows of ink and rows of white differ most. Words keep the places that they
    have on the straight image."""
    import numpy as np
    from PIL import Image

    picture = Image.fromarray(255 - image)
    small = picture.reduce(max(1, max(picture.size) // TILT_PIXELS))

    def sharpness(angle: float) -> float:
        rows = np.asarray(small.rotate(angle, Image.Resampling.BILINEAR)).mean(axis=1)
        return float((np.diff(rows) ** 2).sum())

    level = sharpness(0)
    angle = max(range(-MOST_TILT, MOST_TILT + 1), key=sharpness)
    if abs(angle) < LEAST_TILT or sharpness(angle) < SHARPER * level:
        return image
    fine = max((angle + step / 4 for step in range(-3, 4)), key=sharpness)
    return 255 - np.asarray(picture.rotate(fine, Image.Resampling.BICUBIC))


def _is_level(image: Grey) -> bool:
    """Whether lines run from side to side: then rows differ more than columns do."""
    ink = 255.0 - image
    return float(ink.mean(axis=1).std()) >= float(ink.mean(axis=0).std())


def _sure(words: Sequence[RecognisedWord]) -> bool:
    return len(words) >= MIN_SURE and sum(w.confidence for w in words) >= POOR * len(words)


def _score(words: Sequence[RecognisedWord]) -> float:
    """How much was read how surely. Short scraps count little: noise is made of them."""
    return sum(word.confidence * min(1.0, len(word.text) / 4) for word in words)


def pgm(image: Grey) -> bytes:
    """The image as a portable grey map, which every OCR program reads."""
    height, width = image.shape
    return b"P5 %d %d 255\n" % (width, height) + image.tobytes()


def as_words(recognised_words: Sequence[RecognisedWord], scale: float) -> list[Word]:
    """Recognised words in points. A line's size is its height, rounded to the page's usual one:
    letters without ascenders must not look like small print."""
    lines: dict[int, list[RecognisedWord]] = defaultdict(list)
    for word in recognised_words:
        lines[word.line].append(word)
    heights = {
        line: max(w.bottom for w in words) - min(w.top for w in words)
        for line, words in lines.items()
    }
    usual = dominant((round(h / 4) * 4.0, len(lines[line])) for line, h in heights.items())
    words: list[Word] = []
    for line, members in lines.items():
        height = usual if abs(heights[line] - usual) < 0.35 * usual else heights[line]
        style = Style("", round(0.8 * height / scale, 1), bold=False, italic=False)
        base = max(word.bottom for word in members) / scale
        texts = [word.text for word in members]
        if len(texts) > 1 and texts[0] in _MISREAD_BULLETS and texts[1][0].isupper():
            texts[0] = "•"
        top = min(word.top for word in members) / scale
        words.extend(
            Word(text, w.left / scale, top, w.right / scale, base, base, style)
            for text, w in zip(texts, members, strict=True)
        )
    return words
