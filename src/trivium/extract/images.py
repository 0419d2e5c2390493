"""Reads pictures of text, such as scans and screenshots, by OCR. Knows no OCR program.

A picture counts as a page: its recognised words are handled like those of a PDF page. Boxes are in
points; the metadata's `dpi` says how many pixels make 72 of them.
"""

from __future__ import annotations

import io
import math
import re
import warnings
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from trivium.core.errors import FileDamaged, FileEmpty, FileTimeout, FileTooLarge, FormatUnknown
from trivium.core.types import Extraction, MetaValue
from trivium.extract.pdf.compose import PagesRead, compose
from trivium.extract.pdf.marks import Page
from trivium.extract.pdf.scans import (
    MAX_PIXELS,
    OcrMode,
    PageUnread,
    Recognise,
    as_words,
    check_read,
    upright,
)
from trivium.extract.sniff import STILL_IMAGES
from trivium.ports import Blob

if TYPE_CHECKING:
    from PIL.Image import Image

MAX_SOURCE_PIXELS = 120_000_000  # A0 at 200 dpi has 62 million; decoding takes up to 4 bytes each
MAX_FRAMES = 500  # of a TIFF; a fax has a few
SMALLER = "Save the image with a lower resolution."
# Tesseract was made for letters some 30 pixels high. A page of 612 × 792 pixels has letters of 8:
# read as it is 439 words at 66, doubled 699 at 94; from 1275 × 1651 on nothing was gained.
ENLARGED = 1_500_000  # pixels, below which a picture is doubled
TRIPLED = 250_000
USUAL_DPI = 200  # assumed of a picture that does not say: a page of 1654 pixels across
_TYPES = (
    (b"\x89PNG\r\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"II*\x00", "image/tiff"),
    (b"MM\x00*", "image/tiff"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"\x00\x00\x00\x0cjP  \r\n\x87\n", "image/jp2"),
    (b"\xff\x4f\xff\x51", "image/jp2"),
)
_EXIF, _GPS = 0x8769, 0x8825  # numbers of the tables inside EXIF
_TAKEN, _CHANGED = 0x9003, 0x0132


class ImageExtractor:
    """Takes PNG, JPEG, TIFF, GIF, WebP, BMP, JPEG 2000, HEIC and AVIF by their first bytes."""

    def __init__(
        self, recognise: Recognise | None = None, *, ocr: OcrMode = "auto", vision: str = ""
    ) -> None:
        """`vision` names the model that describes pictures: with another one, they are worth
        reading again."""
        self._recognise = None if ocr == "off" else recognise
        self.version = "image/5"
        if self._recognise is not None:
            self.version += f"+{self._recognise.name}"
        if vision:
            self.version += f"+vision:{vision}"

    def accepts(self, blob: Blob) -> bool:
        return bool(image_type(blob.data))

    def extract(self, blob: Blob) -> Extraction:
        if self._recognise is None:
            raise FileEmpty(
                f"{blob.name} is an image.", fix="To read text in images, set `read.ocr` to auto."
            )
        pages_read = PagesRead([], 0)
        dpi = USUAL_DPI
        for number, frame in enumerate(frames(blob, "L"), start=1):
            pages_read.count = number
            try:
                page, dpi = _read(frame, number, self._recognise)
            except TimeoutError:
                pages_read.given_up += 1
                continue
            except PageUnread as reason:
                pages_read.unread += 1
                pages_read.advice = pages_read.advice or reason.advice
                continue
            pages_read.pages.append(page)
            pages_read.recognised += 1
        if pages_read.given_up and not any(page.words for page in pages_read.pages):
            raise FileTimeout(f"{blob.name} took too long to OCR.")
        if not any(page.words for page in pages_read.pages):
            fix = f"OCR found no readable text. {pages_read.advice}".rstrip()
            why = f"{blob.name} shows no readable text."
            raise FileEmpty(why, fix=fix) if pages_read.unread else FileEmpty(why)
        extraction = compose(pages_read, [], {}, blob, image_type(blob.data))
        return replace(extraction, metadata={**extraction.metadata, **taken(blob), "dpi": dpi})


def image_type(data: bytes) -> str:
    """The media type that the first bytes show; empty: no image."""
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    if data[4:8] == b"ftyp" and data[8:12] in STILL_IMAGES:
        return "image/avif" if b"avif" in data[8:32] else "image/heic"
    if data[:2] == b"BM" and data[6:10] == bytes(4) and data[14:15] in (b"\x0c", b"(", b"l", b"|"):
        return "image/bmp"
    return next((kind for magic, kind in _TYPES if data.startswith(magic)), "")


def frames(blob: Blob, colours: str) -> Iterator[Image]:
    """Each picture of the file, upright as its camera says, none larger than allowed. `colours` is
    pillow's name of a mode: L is grey."""
    from PIL import Image, ImageOps, ImageSequence, UnidentifiedImageError

    if image_type(blob.data) == "image/heic":
        _register_heif(blob.name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a large picture is no news: the limit is below
        try:
            with Image.open(io.BytesIO(blob.data)) as image:
                for index, frame in enumerate(ImageSequence.Iterator(image)):
                    if index and image.format == "GIF":
                        return  # the rest is animation
                    _check_size(blob, index + 1, frame.width, frame.height)
                    yield ImageOps.exif_transpose(frame).convert(colours)
        except Image.DecompressionBombError:
            raise FileTooLarge(f"{blob.name} has too many pixels.", fix=SMALLER) from None
        except (UnidentifiedImageError, OSError, SyntaxError, ValueError, EOFError, TypeError):
            raise FileDamaged(f"{blob.name} isn't a readable image.") from None


def _register_heif(name: str) -> None:
    try:
        import pi_heif
    except ImportError:
        raise FormatUnknown(
            f"{name} is an HEIC image, and Trivium needs pi-heif to read it.",
            fix="Run `pip install pi-heif`, or save the image as JPEG.",
            on_page="Save the image as JPEG, or ask the person who runs this server to install it.",
        ) from None
    pi_heif.register_heif_opener()


def taken(blob: Blob) -> dict[str, MetaValue]:
    """When and where a camera took the picture, as far as the file says so."""
    from PIL import Image

    metadata: dict[str, MetaValue] = {}
    try:
        with Image.open(io.BytesIO(blob.data)) as image:
            exif = image.getexif()
            time = str(exif.get_ifd(_EXIF).get(_TAKEN) or exif.get(_CHANGED) or "")
            if match := re.match(r"(\d{4}):(\d\d):(\d\d)[ T](\d\d:\d\d:\d\d)", time):
                metadata["date"] = f"{match[1]}-{match[2]}-{match[3]}T{match[4]}"
                metadata["year"] = int(match[1])
            gps = exif.get_ifd(_GPS)
            for name, sign, at in (("latitude", 1, 2), ("longitude", 3, 4)):
                if at in gps:
                    degrees, minutes, seconds = map(float, gps[at])
                    value = degrees + minutes / 60 + seconds / 3600
                    metadata[name] = round(-value if gps.get(sign) in ("S", "W") else value, 6)
    except Exception:  # EXIF is often half written; pillow raises whatever its arithmetic does
        return metadata
    return metadata


def _check_size(blob: Blob, frames: int, width: int, height: int) -> None:
    if frames > MAX_FRAMES:
        raise FileTooLarge(f"{blob.name} has more than {MAX_FRAMES} pages.")
    if width * height > MAX_SOURCE_PIXELS:
        size = f"{width:,} × {height:,}"
        raise FileTooLarge(f"{blob.name} is too large: {size} pixels.", fix=SMALLER)


def _read(frame: Image, number: int, recognise: Recognise) -> tuple[Page, int]:
    """A page from a picture, and its resolution."""
    import numpy as np

    dpi = resolution(frame)
    excess = frame.width * frame.height / MAX_PIXELS
    if excess > 1:
        shrink = math.ceil(math.sqrt(excess))
        frame, dpi = frame.reduce(shrink), dpi // shrink
    page = Page(number, frame.width * 72 / dpi, frame.height * 72 / dpi, recognised=True)
    times = enlargement(frame.width * frame.height)
    image = np.asarray(enlarged(frame, times), dtype=np.uint8)
    words, page.turn = upright(image, recognise, dpi * times)
    if times > 1 and not words:  # large letters that have become too large
        times, image = 1, np.asarray(frame, dtype=np.uint8)
        words, page.turn = upright(image, recognise, dpi)
    check_read(words, image, recognise)
    page.words = as_words(words, times * dpi / 72)
    return page, dpi


def enlargement(pixels: int) -> int:
    return 1 if pixels >= ENLARGED else 2 if pixels >= TRIPLED else 3


def enlarged(frame: Image, times: int) -> Image:
    from PIL.Image import Resampling

    if times == 1:
        return frame
    return frame.resize((frame.width * times, frame.height * times), Resampling.LANCZOS)


def resolution(frame: Image) -> int:
    """Pixels an inch: declared, or as scans usually are."""
    declared = frame.info.get("dpi")
    try:
        dpi = round(float(declared[0])) if declared else 0
    except (TypeError, ValueError, ZeroDivisionError, IndexError):
        dpi = 0
    return dpi if 70 <= dpi <= 1200 else USUAL_DPI
