"""Puts together who reads which file, by the settings: formats, and OCR for pages without text.

Here and not in `extract`, which knows nothing of models. The sandbox imports it in its workers.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from trivium.errors import BadSetting, ModelUnavailable
from trivium.extract.detect import BUILT_IN
from trivium.extract.images import ImageExtractor
from trivium.extract.pdf.extractor import PdfExtractor
from trivium.extract.pdf.scans import OcrMode, Recognise
from trivium.extract.pulse import still_working
from trivium.models.ocr import Tesseract
from trivium.ports import Extractor

OCR_MODES = ("off", "auto", "force")
FACTORY = "trivium.ingest.reading:extractors"


def extractors(settings: Mapping[str, str]) -> tuple[Extractor, ...]:
    """Every format; the first that accepts a file reads it. `ocr`: off, auto or force; `languages`:
    tesseract's names, joined by +. Without tesseract images and scans are refused, and say why;
    who asks for all pages, or for a language, and cannot have it gets ModelUnavailable."""
    mode = settings.get("ocr", "auto")
    if mode not in OCR_MODES:
        raise BadSetting(f"`read.ocr` is {mode!r}.", fix=f"It takes {', '.join(OCR_MODES)}.")
    ocr = cast(OcrMode, mode)
    recognise = None if ocr == "off" else _recognise(ocr, settings.get("languages", ""))
    images = ImageExtractor(recognise, ocr=ocr, vision=settings.get("vision", ""))
    return (PdfExtractor(recognise, ocr=ocr), images, *BUILT_IN)


def _recognise(ocr: OcrMode, languages: str) -> Recognise | None:
    try:
        return Tesseract(languages, on_wait=still_working)
    except ModelUnavailable:
        if ocr == "force" or languages:
            raise
        return None
