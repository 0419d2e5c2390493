"""Turns blocks into text and elements: headings with their path, counted paragraphs, places. Knows
nothing of PDF beyond the blocks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import groupby

from trivium.core.types import Box, Element, ElementKind, PageStart, Place
from trivium.extract.pdf.marks import Block, Line, Page

_KINDS: dict[str, ElementKind] = {
    "heading": "heading",
    "title": "heading",
    "table": "table",
    "list_item": "list_item",
    "code": "code",
}


def assemble(blocks: list[Block], pages: Mapping[int, Page]) -> tuple[str, tuple[Element, ...]]:
    """The text a person reads, and its elements in order."""
    parts: list[str] = []
    elements: list[Element] = []
    path: list[tuple[int, str]] = []
    length = paragraphs = 0
    for block in blocks:
        if not block.text.strip():
            continue
        kind = _KINDS.get(block.role, "paragraph")
        if parts:
            parts.append("\n\n")
            length += 2
        if kind == "heading":
            while path and path[-1][0] >= block.level:
                path.pop()
        else:
            paragraphs += 1
        elements.append(
            Element(
                kind=kind,
                start=length,
                end=length + len(block.text),
                headings=tuple(text for _, text in path),
                level=block.level if kind == "heading" else 0,
                paragraph=None if kind == "heading" else paragraphs,
                header=block.header,
                place=replace(place_of(block.lines, pages), page_starts=_page_starts(block)),
            )
        )
        if kind == "heading":
            path.append((block.level, block.text))
        parts.append(block.text)
        length += len(block.text)
    return "".join(parts), tuple(elements)


def _page_starts(block: Block) -> tuple[PageStart, ...]:
    """Where in a block each of its pages begins; nothing if that isn't known of all of them."""
    starts = [(0, block.page), *block.turns]
    if not block.turns or {page for _, page in starts} != {line.page for line in block.lines}:
        return ()
    return tuple(PageStart(at, page) for at, page in starts)


def place_of(lines: list[Line], pages: Mapping[int, Page]) -> Place:
    """Pages, and one box for every run of lines in one column."""
    boxes = []
    for (number, _), group in groupby(lines, key=lambda line: (line.page, id(line.column))):
        run = list(group)
        boxes.append(
            _box(
                pages[number],
                min([line.left for line in run]),
                min([line.top for line in run]),
                max([line.right for line in run]),
                max([line.bottom for line in run]),
            )
        )
    return Place(pages=tuple(sorted({line.page for line in lines})), boxes=tuple(boxes))


def _box(page: Page, left: float, top: float, right: float, bottom: float) -> Box:
    """A rectangle in the words' frame as one on the page as seen, within the page."""
    width, height = page.width, page.height
    match page.turn:
        case 1:
            left, top, right, bottom = width - bottom, left, width - top, right
        case 2:
            left, top, right, bottom = width - right, height - bottom, width - left, height - top
        case 3:
            left, top, right, bottom = top, height - right, bottom, height - left
    return Box(
        page=page.number,
        left=round(min(max(left, 0.0), width), 1),
        top=round(min(max(top, 0.0), height), 1),
        right=round(min(max(right, 0.0), width), 1),
        bottom=round(min(max(bottom, 0.0), height), 1),
    )
