"""Walks a tree of HTML and gives a composer what a reader sees. For pages, chapters of books and
bodies of e-mail. Knows nothing of files or encodings."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from trivium.core.types import ElementKind, Place
from trivium.extract.composer import NOWHERE, Composer

if TYPE_CHECKING:
    from lxml.etree import XPath, _Element

MAX_DEPTH = 150  # three calls a level; libxml2 itself stops at 256
# A main part with less than this share of a page's text isn't one.
MIN_MAIN_SHARE = 0.3
MIN_MENU_ITEMS = 15  # fewer links may well be the content: see also
MAX_SPAN = 50  # columns or rows that a cell may fill
# Characters; longer cells hold a layout, not data, unless every row has as many of them.
MAX_TABLE_CELL = 1000

_INVISIBLE = frozenset(
    {"script", "style", "noscript", "template", "svg", "head", "iframe", "object", "canvas"}
    | {"button", "select", "input", "textarea", "datalist", "nav", "dialog", "audio", "video"}
)
_FURNITURE = frozenset({"footer", "aside", "form"})  # of the page, not of an article in it
_BLOCKS = frozenset(
    {"p", "div", "section", "article", "main", "header", "footer", "aside", "address", "figure"}
    | {"figcaption", "ul", "ol", "dl", "dt", "dd", "li", "table", "tr", "td", "th", "tbody", "hr"}
    | {"thead", "tfoot", "caption", "form", "fieldset", "legend", "details", "summary", "center"}
    | {"blockquote", "body", "html", "h1", "h2", "h3", "h4", "h5", "h6", "pre"}
)
_ROLES = frozenset({"navigation", "search", "banner", "contentinfo", "dialog", "menu", "menubar"})
_MARKS = frozenset({"mw-editsection", "navbox", "noprint", "visually-hidden", "sr-only"})
_HIDDEN = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
_DECLARATION = re.compile(r"\s*<\?xml[^>]*\?>")


def parse_html(source: str) -> _Element | None:
    """The tree of a page, however broken; None if it is empty."""
    from lxml import etree

    parser = etree.HTMLParser(
        encoding="utf-8", recover=True, remove_comments=True, remove_pis=True, no_network=True
    )
    # Looking for it costs 10 ms for a page of 400 kB; few have one.
    data = _DECLARATION.sub("", source, count=1) if "<?xml" in source else source
    data = data.replace("\x00", "")
    try:
        return etree.fromstring(data.encode("utf-8", "replace"), parser)
    except (etree.XMLSyntaxError, etree.ParserError):
        return None


def main_part(root: _Element) -> _Element:
    """The part of a page that is its content: `main` or the longest article, else its body."""
    body = root.find("body")
    page = root if body is None else body
    found = [e for e in page.iter("main", "article") if not is_hidden(e)]
    found += page.xpath(".//*[@role='main']")
    weight, best = max(
        ((_weight(e), e) for e in found), key=lambda pair: pair[0], default=(0, page)
    )
    return best if weight >= max(MIN_MAIN_SHARE * _weight(page), 200) else page


def is_hidden(element: _Element) -> bool:
    if not element.items():
        return element.tag in _INVISIBLE
    return (
        element.tag in _INVISIBLE
        or element.get("hidden") is not None
        or element.get("aria-hidden") == "true"
        or element.get("role") in _ROLES
        or bool(_MARKS.intersection((element.get("class") or "").split()))
        or bool(_HIDDEN.search(element.get("style") or ""))
    )


class TreeReader:
    """Writes visible text into a composer, block by block."""

    def __init__(self, out: Composer, place: Place = NOWHERE) -> None:
        self._out = out
        self._place = place
        self._inline: list[str] = []
        self._lists: list[int] = []  # number of the next item of each open list, 0 for bullets
        self._marker = ""
        self._quotes = 0

    def read(self, element: _Element) -> None:
        self._walk(element, 0)
        self._flush()

    def _walk(self, element: _Element, depth: int) -> None:
        if is_hidden(element) and depth:
            return
        tag = element.tag
        if depth > MAX_DEPTH:
            self._inline.append(" ".join(element.itertext()))
        elif tag in ("h1", "h2", "h3", "h4", "h5", "h6"):
            self._flush()
            self._out.heading(int(tag[1]), inline_text(element), self._place)
        elif tag == "pre":
            self._flush()
            self._out.add("code", "".join(element.itertext()), place=self._place)
        elif tag == "table" and is_data(element):
            self._flush()
            self._table(element)
        elif tag in _BLOCKS:
            self._block(element, depth)
        elif tag == "br":
            self._inline.append("\n")
        elif tag == "img":
            alt = element.get("alt") or ""
            self._inline.append(f" {alt} " if " " in alt.strip() else "")
        else:
            self._inside(element, depth)

    def _block(self, element: _Element, depth: int) -> None:
        if element.tag in _FURNITURE and not _has_prose(element):
            return
        tag = element.tag
        if tag in ("ul", "ol") and is_menu(element):
            return
        self._flush()
        if tag in ("ul", "ol"):
            start = element.get("start") or "1"
            self._lists.append(int(start) if tag == "ol" and start.isdecimal() else tag == "ol")
        elif tag == "li" and self._lists:
            self._marker = f"{self._lists[-1]}. " if self._lists[-1] else ""
            self._lists[-1] += bool(self._lists[-1])
        elif tag == "blockquote":
            self._quotes += 1
        self._inside(element, depth)
        self._flush()
        if tag in ("ul", "ol"):
            self._lists.pop()
        elif tag == "blockquote":
            self._quotes -= 1

    def _inside(self, element: _Element, depth: int) -> None:
        self._inline.append((element.text or "").replace("\n", " "))
        for child in element:
            if isinstance(child.tag, str):
                self._walk(child, depth + 1)
            self._inline.append((child.tail or "").replace("\n", " "))

    def _flush(self) -> None:
        text = fold("".join(self._inline))
        self._inline.clear()
        if not text:
            return
        kind: ElementKind = "quote" if self._quotes else "paragraph"
        if self._lists:
            kind, text = "list_item", f"{self._marker}{text}"
            self._marker = ""
        self._out.add(kind, text, place=self._place)

    def _table(self, table: _Element) -> None:
        caption = table.find("caption")
        if caption is not None:
            self._out.add("paragraph", inline_text(caption), place=self._place)
        rows = []
        # Columns that a cell above fills, for so many rows more: each row repeats its words, so
        # that a row by itself says what it is about.
        taken: dict[int, tuple[int, str]] = {}
        for row in table.iter("tr"):
            cells: list[str] = []
            left = {at: (more - 1, text) for at, (more, text) in taken.items() if more > 1}
            for cell in row.iter("td", "th"):
                while len(cells) in taken:
                    cells.append(taken[len(cells)][1])
                start, wide = len(cells), _span(cell, "colspan")
                cells += [inline_text(cell), *[""] * (wide - 1)]
                if (high := _span(cell, "rowspan")) > 1:
                    left |= {at: (high - 1, cells[at]) for at in range(start, start + wide)}
            taken = left
            rows.append(cells)
        first = next(table.iter("tr"), None)
        named = first is not None and all(cell.tag == "th" for cell in first.iter("td", "th"))
        self._out.table(rows, has_header=True if named else None, place=self._place)


def _span(cell: _Element, name: str) -> int:
    span = cell.get(name) or "1"
    return min(max(int(span[:9]), 1), MAX_SPAN) if span.isdecimal() else 1


def is_data(table: _Element) -> bool:
    """Whether a table holds data; the others only arrange a page."""
    if next(table.iterdescendants("table", "h1", "h2", "h3", "form", "ul"), None) is not None:
        return next(table.iterdescendants("table", "h1", "h2", "form"), None) is None and (
            next(table.iter("th"), None) is not None
        )
    rows = list(table.iter("tr"))
    if len(rows) < 2 or max(len(row) for row in rows) < 2:
        return False
    is_even = len(rows) > 2 and len({len(row) for row in rows}) == 1 and len(rows[0]) > 2
    return is_even or all(len(inline_text(cell)) <= MAX_TABLE_CELL for cell in table.iter("td"))


def is_menu(items: _Element) -> bool:
    """Whether a list is nothing but many links: other languages, other pages."""
    return len(items) >= MIN_MENU_ITEMS and _weight(items, blank=False) == 0


def inline_text(element: _Element) -> str:
    """The visible text of an element as one paragraph."""
    parts: list[str] = []

    def collect(node: _Element, depth: int) -> None:
        if (is_hidden(node) and depth) or depth > MAX_DEPTH:
            return
        space = " " if node.tag in _BLOCKS or node.tag == "br" else ""
        parts.append(space + (node.text or ""))
        for child in node:
            if isinstance(child.tag, str):
                collect(child, depth + 1)
            parts.append(child.tail or "")
        parts.append(space)

    collect(element, 0)
    return " ".join("".join(parts).split())


def fold(text: str) -> str:
    """White space as a browser shows it: `br` broke the lines, everything else is one space."""
    lines = (" ".join(line.split()) for line in text.split("\n"))
    return "\n".join(line for line in lines if line)


def _weight(element: _Element, *, blank: bool = True) -> int:
    """Characters of a part outside its links."""
    everything, linked = _texts()
    whole, inside = "".join(everything(element)), "".join(linked(element))
    if not blank:
        whole, inside = "".join(whole.split()), "".join(inside.split())
    return len(whole) - len(inside)


@cache
def _texts() -> tuple[XPath, XPath]:
    """Of a part, and of the links in it. In C: 8,000 links of one page, asked for one by one, took
    40 of 97 ms."""
    from lxml import etree

    return (
        etree.XPath(".//text()", smart_strings=False),
        etree.XPath(".//a//text()", smart_strings=False),
    )


def _has_prose(element: _Element) -> bool:
    """Whether an aside or form holds paragraphs worth reading: whole pages can be a form."""
    return len(inline_text(element)) > 500 and _weight(element) > 500
