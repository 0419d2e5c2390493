"""Puts a DoclingDocument into the form of Azure Document Intelligence, which `analysed` reads.

It comes from a network: whatever is missing or odd is left out. Knows no address.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

SCHEMA = "DoclingDocument"
MAX_ITEMS = 1_000_000
_ROLES = {
    "title": "title",
    "section_header": "sectionHeading",
    "page_header": "pageHeader",
    "page_footer": "pageFooter",
}


def analysed(document: Mapping[str, Any]) -> dict[str, Any]:
    """Pages, paragraphs and tables in the order of the document's body."""
    heights = _heights(document.get("pages"))
    result: dict[str, Any] = {
        "pages": [{"pageNumber": page, "unit": "point"} for page in heights],
        "paragraphs": [],
        "tables": [],
    }
    for at, item in enumerate(_in_order(document)):
        found = {
            "spans": [{"offset": at, "length": 1}],
            "boundingRegions": _regions(item.get("prov"), heights),
        }
        data = item.get("data")
        if isinstance(data, dict) and "table_cells" in data:
            result["tables"].append({**found, **_table(data)})
        elif isinstance(item.get("text"), str):
            label = item.get("label")
            mark = "• " if label == "list_item" else ""
            level = item.get("level")
            result["paragraphs"].append(
                {
                    **found,
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
    found = references if isinstance(references, list) else []
    names = [one.get("$ref") for one in found if isinstance(one, dict)]
    return [name for name in names if isinstance(name, str)]


def _resolved(document: Mapping[str, Any], name: str) -> Mapping[str, Any] | None:
    """What `#/texts/3` names."""
    kind, _, index = name.removeprefix("#/").partition("/")
    found = document.get(kind)
    if index.isdecimal() and isinstance(found, list):
        found = found[int(index[:9])] if int(index[:9]) < len(found) else None
    return found if isinstance(found, dict) else None


def _table(data: Mapping[str, Any]) -> dict[str, Any]:
    given = data.get("table_cells")
    cells = [cell for cell in given if isinstance(cell, dict)] if isinstance(given, list) else []
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
    found: dict[int, float] = {}
    for page in pages.values() if isinstance(pages, dict) else ():
        size = page.get("size") if isinstance(page, dict) else None
        number, height = page.get("page_no") if size else None, _number(size, "height")
        if isinstance(number, int) and height is not None:
            found[number] = height
    return found


def _regions(given: object, heights: Mapping[int, float]) -> list[dict[str, Any]]:
    regions = []
    for one in given if isinstance(given, list) else ():
        page, box = (one.get("page_no"), one.get("bbox")) if isinstance(one, dict) else (0, None)
        sides = [_number(box, side) for side in ("l", "t", "r", "b")]
        known = [side for side in sides if side is not None]
        height = heights.get(page) if isinstance(page, int) else None
        if height is None or not isinstance(box, dict) or len(known) < len(sides):
            continue
        left, top, right, bottom = known
        if box.get("coord_origin") != "TOPLEFT":  # as PDF counts: upwards
            top, bottom = height - top, height - bottom
        corners = [left, top, right, top, right, bottom, left, bottom]
        regions.append({"pageNumber": page, "polygon": corners})
    return regions


def _number(given: object, name: str) -> float | None:
    value = given.get(name) if isinstance(given, dict) else None
    usable = isinstance(value, int | float) and math.isfinite(value)
    return float(value) if usable and value is not None else None
