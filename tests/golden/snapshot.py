"""What reading a file yields, as text that a person can check: one line for every element.

kind level ¶number  heading › path  {page 2; sheet Tides; rows 3-4; Mara Reed}  header ‖ text
"""

from __future__ import annotations

from pathlib import Path

from trivium.core.errors import ReadError
from trivium.core.types import Element, Extraction, Place
from trivium.extract.detect import read
from trivium.ingest.extractors import extractors
from trivium.ports import Blob

FOLDER = Path(__file__).parent / "snapshots"
MAX_DEPTH = 2  # of files within files


def snapshot(name: str, data: bytes) -> str:
    """Everything that matters of a file, and of the files within it."""
    return "\n".join(_lines(Blob(name, data), 0)) + "\n"


def _lines(blob: Blob, depth: int) -> list[str]:
    try:
        found = read(blob, extractors=extractors({"ocr": "auto", "languages": "eng"}))
    except ReadError as error:
        return [f"{error.code}: {error}"]
    lines = [
        f"title: {found.title}",
        f"type: {found.media_type}, {found.kind}, language {found.language or 'unknown'}",
        f"reader: {found.reader.partition('-')[0]}",
        *(f"{key}: {value!r}" for key, value in sorted(found.metadata.items())),
        *(_element(found, element) for element in found.elements),
    ]
    for inner in found.enclosed:
        lines.append(f"within: {inner.name}")
        if depth < MAX_DEPTH:
            deeper = _lines(Blob(inner.name.rpartition("/")[2], inner.data), depth + 1)
            lines += [f"    {line}" for line in deeper]
    return lines


def _element(found: Extraction, element: Element) -> str:
    parts = [
        element.kind + (f" {element.level}" if element.level else ""),
        f"¶{element.paragraph}" if element.paragraph else "",
        " › ".join(element.headings),
        _place(element.place),
        f"{element.header} ‖" if element.header else "",
        found.text[element.start : element.end].replace("\n", "⏎"),
    ]
    return "  ".join(part for part in parts if part)


def _place(place: Place) -> str:
    parts = [
        f"page {'-'.join(map(str, place.pages))}" if place.pages else "",
        f"sheet {place.sheet}" if place.sheet else "",
        f"rows {place.rows[0]}-{place.rows[1]}" if place.rows else "",
        f"{len(place.boxes)} boxes" if len(place.boxes) > 1 else "",
        ", ".join(place.authors),
        place.time,
        place.link,
    ]
    shown = "; ".join(part for part in parts if part)
    return f"{{{shown}}}" if shown else ""
