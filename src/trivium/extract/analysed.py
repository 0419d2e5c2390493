"""Turns a layout service's result into text with headings, paragraphs and tables.

The format is Azure Document Intelligence's `analyzeResult`; a DoclingDocument is put into that form
first. It comes from a network: missing or odd parts are left out, and an answer without any text is
refused. Knows no address.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from trivium.core.errors import FileEmpty
from trivium.core.types import Box, ElementKind, Extraction, Place
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
    if result.get("schema_name") == SCHEMA:
        result = _as_analysed(result)
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
    items = part.get(name)
    return [item for item in items if isinstance(item, dict)] if isinstance(items, list) else []


def _count(part: Mapping[str, Any], name: str) -> int:
    value = part.get(name)
    return value if isinstance(value, int) and value >= 0 else 0


def _span(span: Mapping[str, Any]) -> tuple[int, int]:
    start = _count(span, "offset")
    return start, start + _count(span, "length")


def _offset(part: Mapping[str, Any]) -> int:
    return min((_span(span)[0] for span in _list(part, "spans")), default=0)


SCHEMA = "DoclingDocument"
MAX_ITEMS = 1_000_000
_ROLES = {
    "title": "title",
    "section_header": "sectionHeading",
    "page_header": "pageHeader",
    "page_footer": "pageFooter",
}


def _as_analysed(document: Mapping[str, Any]) -> dict[str, Any]:
    """Pages, paragraphs and tables in the order of the document's body."""
    heights = _heights(document.get("pages"))
    result: dict[str, Any] = {
        "pages": [{"pageNumber": page, "unit": "point"} for page in heights],
        "paragraphs": [],
        "tables": [],
    }
    for at, item in enumerate(_in_order(document)):
        place = {
            "spans": [{"offset": at, "length": 1}],
            "boundingRegions": _regions(item.get("prov"), heights),
        }
        data = item.get("data")
        if isinstance(data, dict) and "table_cells" in data:
            result["tables"].append({**place, **_docling_table(data)})
        elif isinstance(item.get("text"), str):
            label = item.get("label")
            mark = "• " if label == "list_item" else ""
            level = item.get("level")
            result["paragraphs"].append(
                {
                    **place,
                    "content": mark + item["text"],
                    "role": _ROLES.get(label, "") if isinstance(label, str) else "",
                    "deeper": level - 1 if isinstance(level, int) and 0 < level < 10 else 0,
                }
            )
    return result


def _in_order(document: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Every item once, as the body and the items within each other name them."""
    seen: set[str] = set()
    left = ["#/body"]
    while left and len(seen) < MAX_ITEMS:
        name = left.pop()
        item = _resolved(document, name)
        if item is None or name in seen:
            continue
        seen.add(name)
        if item.get("content_layer", "body") != "body":
            continue
        within = [*_names(item.get("captions")), *_names(item.get("children"))]
        left += reversed(within)
        yield item


def _names(references: object) -> list[str]:
    items = references if isinstance(references, list) else []
    names = [item.get("$ref") for item in items if isinstance(item, dict)]
    return [name for name in names if isinstance(name, str)]


def _resolved(document: Mapping[str, Any], name: str) -> Mapping[str, Any] | None:
    """What `#/texts/3` names."""
    kind, _, index = name.removeprefix("#/").partition("/")
    item = document.get(kind)
    if index.isdecimal() and isinstance(item, list):
        item = item[int(index[:9])] if int(index[:9]) < len(item) else None
    return item if isinstance(item, dict) else None


def _docling_table(data: Mapping[str, Any]) -> dict[str, Any]:
    table_cells = data.get("table_cells")
    cells = (
        [cell for cell in table_cells if isinstance(cell, dict)]
        if isinstance(table_cells, list)
        else []
    )
    return {
        "rowCount": data.get("num_rows"),
        "columnCount": data.get("num_cols"),
        "cells": [
            {
                "rowIndex": cell.get("start_row_offset_idx"),
                "columnIndex": cell.get("start_col_offset_idx"),
                "content": cell.get("text"),
                "kind": "columnHeader" if cell.get("column_header") is True else "content",
            }
            for cell in cells
        ],
    }


def _heights(pages: object) -> dict[int, float]:
    heights: dict[int, float] = {}
    for page in pages.values() if isinstance(pages, dict) else ():
        size = page.get("size") if isinstance(page, dict) else None
        number, height = page.get("page_no") if size else None, _number(size, "height")
        if isinstance(number, int) and height is not None:
            heights[number] = height
    return heights


def _regions(origins: object, heights: Mapping[int, float]) -> list[dict[str, Any]]:
    regions = []
    for origin in origins if isinstance(origins, list) else ():
        page, box = (
            (origin.get("page_no"), origin.get("bbox")) if isinstance(origin, dict) else (0, None)
        )
        sides = [_number(box, side) for side in ("l", "t", "r", "b")]
        numbers = [side for side in sides if side is not None]
        height = heights.get(page) if isinstance(page, int) else None
        if height is None or not isinstance(box, dict) or len(numbers) < len(sides):
            continue
        left, top, right, bottom = numbers
        if box.get("coord_origin") != "TOPLEFT":  # as PDF counts: upwards
            top, bottom = height - top, height - bottom
        corners = [left, top, right, top, right, bottom, left, bottom]
        regions.append({"pageNumber": page, "polygon": corners})
    return regions


def _number(box: object, name: str) -> float | None:
    value = box.get(name) if isinstance(box, dict) else None
    usable = isinstance(value, int | float) and math.isfinite(value)
    return float(value) if usable and value is not None else None
