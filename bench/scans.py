"""How well OCR reads the scans that have a text beside them. Part of `bench.extraction --ocr`."""

from __future__ import annotations

import re
import time
from pathlib import Path
from typing import Any

from trivium.extract.images import ImageExtractor
from trivium.extract.pdf import PdfExtractor
from trivium.models.ocr import Tesseract
from trivium.ports import Blob


def scans(folder: Path) -> list[Path]:
    """The scans with a text file beside them."""
    return sorted(
        path
        for path in folder.iterdir()
        if path.suffix in (".pdf", ".png", ".jpg", ".tif") and path.with_suffix(".txt").exists()
    )


def recognise(path: Path, languages: str = "") -> dict[str, Any]:
    """A scan read by OCR against the text beside it."""
    ocr = Tesseract(languages)
    extractor = PdfExtractor(ocr) if path.suffix == ".pdf" else ImageExtractor(ocr)
    begin = time.perf_counter()
    read = extractor.extract(Blob(path.name, path.read_bytes()))
    given = re.findall(r"\w{2,}", path.with_suffix(".txt").read_text(encoding="utf-8").casefold())
    ours = re.findall(r"\w{2,}", read.text.casefold())
    wrong = edit_distance(given, ours)
    return {
        "name": f"{path.name} ({ocr.name})",
        "words": len(given),
        "accuracy": round(1 - wrong / len(given), 4),
        "seconds": round(time.perf_counter() - begin, 1),
    }


def edit_distance(a: list[str], b: list[str]) -> int:
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, start=1):
        last, row[0] = row[0], i
        for j, y in enumerate(b, start=1):
            last, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, last + (x != y))
    return row[-1]
