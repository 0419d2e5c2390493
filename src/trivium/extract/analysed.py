"""Turns a layout service's result into text with headings, paragraphs and tables.

The format is Azure Document Intelligence's `analyzeResult`; `docling` converts a DoclingDocument to
it. It comes from a network: missing or odd parts are left out, and an answer without any text is
refused. Knows no address.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from trivium.core.errors import FileEmpty
from trivium.core.types import Box, ElementKind, Extraction, Place
from trivium.extract import docling
from trivium.extract.composer import NOWHERE, Composer, line_of
from trivium.extract.images import USUAL_DPI, image_type
from trivium.ports import Blob

MAX_CELLS = 1_000_000  # of one table
_RUNNING = frozenset({"pageHeader", "pageFooter", "pageNumber"})
_HEADINGS = {"title": 1, "sectionHeading": 2}
_MARKS = (":selected:", ":unselected:")  # check boxes
_POINTS = {"inch": 72.0, "pixel": 72.0 / USUAL_DPI, "point": 1.0}


def extraction_of(result: Mapping[str, Any], blob: Blob) -> Extraction:
    """Raises FileEmpty if there is no text in it."""
    if result.get("schema_name") == docling.SCHEMA:
        result = docling.analysed(result)
    out = Composer(blob.name)
    pages = [page for page in _list(result, "pages") if isinstance(page.get("pageNumber"), int)]
    scales = {page["pageNumber"]: _POINTS.get(page.get("unit", ""), 72.0) for page in pages}
    title = ""
    for part in sorted(_parts(result), key=_offset):
        place = _place(part, scales)
        if "cells" in part:
            _table(out, part, place)
            continue
        role, text = part.get("role", ""), _text(part)
        if role in _HEADINGS:
            out.heading(_HEADINGS[role] + _count(part, "deeper"), text, place)
            title = title or (text if role == "title" else "")
        elif role not in _RUNNING:
            kind: ElementKind = "list_item" if text.startswith(("· ", "• ")) else "paragraph"
            out.add(kind, text.removeprefix("· ").removeprefix("• "), place=place)
    if not out:
        raise FileEmpty(f"{blob.name} has no text.")
    kind_of_file = image_type(blob.data)
    metadata: dict[str, int] = {"pages": max(1, len(pages))}
    if kind_of_file:
        metadata["dpi"] = USUAL_DPI
    return out.finish(
        blob,
        titles=(title, out.first_heading),
        media_type=kind_of_file or "application/pdf",
        metadata=metadata,
    )


def _parts(result: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Tables, and the paragraphs that are no cells."""
    tables = _list(result, "tables")
    within = [_span(span) for table in tables for span in _list(table, "spans")]
    within += [
        _span(span)
        for table in tables
        for cell in _list(table, "cells")
        for span in _list(cell, "spans")
    ]
    covered = sorted(span for span in within if span[1] > span[0])
    yield from tables
    at = 0
    for paragraph in sorted(_list(result, "paragraphs"), key=_offset):
        start = _offset(paragraph)
        while at < len(covered) and covered[at][1] <= start:
            at += 1
        if not (at < len(covered) and covered[at][0] <= start < covered[at][1]):
            yield paragraph


def _table(out: Composer, table: Mapping[str, Any], place: Place) -> None:
    caption = table.get("caption")
    if isinstance(caption, dict):
        out.add("paragraph", _text(caption), place=place)
    rows, columns = _count(table, "rowCount"), _count(table, "columnCount")
    if not 0 < rows * columns <= MAX_CELLS:
        return
    grid = [[""] * columns for _ in range(rows)]
    headed = False
    for cell in _list(table, "cells"):
        row, column = _count(cell, "rowIndex"), _count(cell, "columnIndex")
        if row < rows and column < columns:
            grid[row][column] = _text(cell)
            headed |= row == 0 and cell.get("kind") == "columnHeader"
    if any(line_of(row) for row in grid):
        out.table(grid, has_header=headed, place=place)


def _place(part: Mapping[str, Any], scales: Mapping[int, float]) -> Place:
    boxes = []
    for region in _list(part, "boundingRegions"):
        page, corners = region.get("pageNumber"), region.get("polygon")
        if not isinstance(page, int) or page not in scales or not isinstance(corners, list):
            continue
        numbers = [n for n in corners if isinstance(n, int | float) and math.isfinite(n)]
        if len(numbers) == len(corners) >= 6:
            xs, ys = (
                [n * scales[page] for n in numbers[::2]],
                [n * scales[page] for n in numbers[1::2]],
            )
            boxes.append(Box(page, min(xs), min(ys), max(xs), max(ys)))
    pages = sorted({box.page for box in boxes})
    return Place(pages=tuple(pages), boxes=tuple(boxes)) if boxes else NOWHERE


def _text(part: Mapping[str, Any]) -> str:
    text = part.get("content", "")
    if not isinstance(text, str):
        return ""
    for mark in _MARKS:
        text = text.replace(mark, "")
    return " ".join(text.split())


def _list(part: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
    found = part.get(name)
    return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []


def _count(part: Mapping[str, Any], name: str) -> int:
    value = part.get(name)
    return value if isinstance(value, int) and value >= 0 else 0


def _span(span: Mapping[str, Any]) -> tuple[int, int]:
    start = _count(span, "offset")
    return start, start + _count(span, "length")


def _offset(part: Mapping[str, Any]) -> int:
    return min((_span(span)[0] for span in _list(part, "spans")), default=0)
