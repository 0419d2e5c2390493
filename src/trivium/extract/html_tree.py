"""Walks a tree of HTML and gives a composer what a reader sees. For pages, chapters of books and
bodies of e-mail. Knows nothing of files or encodings."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING

from trivium.core.types import ElementKind, Place
from trivium.extract.composer import NOWHERE, Composer
from trivium.extract.divisions import CONTENTS, DIVISION
from trivium.extract.html_grid import Cell, aligned
from trivium.extract.html_style import Style, look_of, main_look, style_of
from trivium.extract.printed import Block, Look, as_printed

if TYPE_CHECKING:
    from lxml.etree import XPath, _Element

MAX_DEPTH = 150  # three calls a level; libxml2 itself stops at 256
# A main part with less than this share of a page's text isn't one.
MIN_MAIN_SHARE = 0.3
MIN_MENU_ITEMS = 15  # fewer links may well be the content: see also
MAX_SPAN = 50  # columns or rows that a cell may fill
PER_HEADING = 50  # paragraphs; where a heading has more, others only look like one
MIN_CONTENTS = 8  # rows that are links within their page
# Characters; longer cells hold a layout, not data, unless every row has as many of them.
MAX_TABLE_CELL = 1000

_INVISIBLE = frozenset(
    {"script", "style", "noscript", "template", "svg", "head", "iframe", "object", "canvas"}
    | {"button", "select", "input", "textarea", "datalist", "nav", "dialog", "audio", "video"}
)
_FURNITURE = frozenset({"footer", "aside", "form"})  # of the page, not of an article in it
_TITLES = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
_BLOCKS = frozenset(
    {"p", "div", "section", "article", "main", "header", "footer", "aside", "address", "figure"}
    | {"figcaption", "ul", "ol", "dl", "dt", "dd", "li", "table", "tr", "td", "th", "tbody", "hr"}
    | {"thead", "tfoot", "caption", "form", "fieldset", "legend", "details", "summary", "center"}
    | {"blockquote", "body", "html", "h1", "h2", "h3", "h4", "h5", "h6", "pre"}
)
_ROLES = frozenset({"navigation", "search", "banner", "contentinfo", "dialog", "menu", "menubar"})
_MARKS = frozenset({"mw-editsection", "navbox", "noprint", "visually-hidden", "sr-only"})
MIN_LABEL = 4  # characters of a link to a heading; shorter ones are page numbers
_SIGN = "[•●◦▪■○∙·⁃❖➢✓➤\uf0b7–—*-]"
BULLET = re.compile(r"[•●◦▪■○⁃❖➢➤\uf0b7]\s*(?=\S)|[·∙–—-]\s+(?=\S)")
# What a cell by itself has before a paragraph: a bullet, a number, the mark of a note.
MARKER = re.compile(rf"{_SIGN}|\(?(?:\d{{1,2}}|[A-Za-z]|[ivx]{{1,4}})[.)]|[*†‡]{{1,3}}|\d{{1,2}}")
NOTE = 40  # characters of a text behind its mark; behind a number shorter ones may be data
_NOTED = re.compile(r"(?:\d|[^\W\d_]{3})[.,;:)”\"]?$")  # what a note's number may stand behind
_RULE = re.compile(r"[_=\s-]{3,}|[.,;:]")
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
    candidates = [e for e in page.iter("main", "article") if not is_hidden(e)]
    candidates += page.xpath(".//*[@role='main']")
    weight, best = max(
        ((_weight(e), e) for e in candidates), key=lambda pair: pair[0], default=(0, page)
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
        or style_of(element.get("style") or "").hidden
    )


def with_menus(root: _Element) -> _Element:
    """The page with its menus as text."""
    for element in root.iter():
        if element.get("role") in _ROLES:
            del element.attrib["role"]
        if element.tag == "nav":
            element.tag = "div"
    return root


class TreeReader:
    """Writes visible text into a composer, block by block."""

    def __init__(self, out: Composer, place: Place = NOWHERE, *, printed: bool = False) -> None:
        """`printed`: a whole page, which may have been laid out for paper."""
        self._out = out
        self._place = place
        self._printed = printed
        self._bare = False  # a printed page with few headings of its own
        self._blocks: list[Block] = []
        self._inline: list[str] = []
        self._runs: Counter[Look] = Counter()  # letters by their look
        self._look = Look()
        self._opening = ""  # of a block, in the look of its first letter
        self._linked = 0  # letters that lead to another place in the page
        self._in_link = False
        # What links within the page say of the places they lead to.
        self._labels: dict[str, list[str]] = {}
        self._labelled: list[str] = []  # labels of a place that the next block has
        self._lists: list[int] = []  # number of the next item of each open list, 0 for bullets
        self._marker = ""
        self._lead = ""  # a bullet, a number or "Item 1." in a cell by itself
        self._lead_look = Look()
        self._rows = 0  # of tables that only arrange the page
        self._quotes = 0

    def read(self, element: _Element) -> None:
        self._bare = self._printed and _is_bare(element)
        if self._bare:
            self._labels = _labels(element)
        self._walk(element, 0)
        self._flush()
        blocks = as_printed(self._blocks, bare=self._bare) if self._printed else self._blocks
        for block in blocks:
            self._write(block)
        self._blocks.clear()

    def _write(self, block: Block) -> None:
        if block.kind == "heading":
            self._out.heading(block.level, block.text, self._place)
        elif block.kind == "table":
            self._out.table(
                block.rows, names=block.names, has_header=block.named, place=self._place
            )
        elif not block.ends_page:
            self._out.add(block.kind, block.text, place=self._place)

    def _walk(self, element: _Element, depth: int) -> None:
        if is_hidden(element) and depth:
            return
        style = style_of(element.get("style") or "")
        if style.page == "before":
            self._end_page()
        around = self._look
        if self._bare:
            self._look = look_of(element, style, around)
            if self._labels and (name := element.get("id") or element.get("name")):
                self._labelled += self._labels.get(name, ())
        if depth > MAX_DEPTH:
            self._say(" ".join(element.itertext()))
        elif not self._whole(element):
            self._parts(element, style, depth)
        self._look = around
        if style.page == "after":
            self._end_page()

    def _whole(self, element: _Element) -> bool:
        """Reads headings, code and tables, which are one block each; whether it was one."""
        tag = element.tag
        is_table = tag == "table" and (is_contents(element) or is_data(element))
        if tag not in _TITLES and tag != "pre" and not is_table:
            return False
        self._flush()
        if is_table:
            if not is_contents(element):
                self._table(element)
        elif tag == "pre":
            self._blocks.append(Block("code", "".join(element.itertext())))
        else:
            text = inline_text(element)
            if not self._bare or not CONTENTS.fullmatch(text):  # a link on each page
                self._blocks.append(Block("heading", text, level=int(tag[1])))
        return True

    def _parts(self, element: _Element, style: Style, depth: int) -> None:
        tag = element.tag
        if tag in _BLOCKS and not (tag == "div" and style.inline):
            self._block(element, depth)
        elif tag == "br":
            self._inline.append("\n")
        elif tag == "img":
            alt = element.get("alt") or ""
            self._say(f" {alt} " if " " in alt.strip() else "")
        else:
            outside = self._in_link
            self._in_link |= tag == "a" and (element.get("href") or "").startswith("#")
            is_apart = style.apart or style.inline or _is_note(element, style, self._inline)
            self._inline.append(" " if is_apart else "")
            self._inside(element, depth)
            self._in_link = outside

    def _end_page(self) -> None:
        self._flush()
        self._blocks.append(Block("paragraph", "", ends_page=True))

    def _block(self, element: _Element, depth: int) -> None:
        if element.tag in _FURNITURE and not _has_prose(element):
            return
        tag = element.tag
        if tag in ("ul", "ol") and is_menu(element):
            return
        self._flush()
        self._rows += tag == "tr"
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
        if tag == "tr":
            self._rows -= 1
            self._end_row()
        elif tag in ("ul", "ol"):
            self._lists.pop()
        elif tag == "blockquote":
            self._quotes -= 1

    def _end_row(self) -> None:
        if self._lead:  # with nothing behind it
            self._blocks.append(Block("paragraph", self._lead, self._lead_look))
            self._lead = ""

    def _inside(self, element: _Element, depth: int) -> None:
        self._say(element.text)
        for child in element:
            if isinstance(child.tag, str):
                self._walk(child, depth + 1)
            self._say(child.tail)

    def _say(self, text: str | None) -> None:
        if not text:
            return
        self._inline.append(text.replace("\n", " "))
        if letters := len(text.strip()):
            if len(self._runs) == 0 or (self._look in self._runs and len(self._runs) == 1):
                self._opening += text
            self._runs[self._look] += letters
            self._linked += letters if self._in_link else 0

    def _flush(self) -> None:
        if not self._runs:
            self._inline.clear()
            return
        opening, first = fold(self._opening), next(iter(self._runs))
        self._opening = ""
        text = fold("".join(self._inline))
        look, linked = main_look(self._runs, text), self._linked > 0.9 * self._runs.total()
        self._inline.clear()
        self._runs.clear()
        self._linked = 0
        if not text or _RULE.fullmatch(text):
            return
        kind: ElementKind = "quote" if self._quotes else "paragraph"
        if self._lists:
            kind, text = "list_item", f"{self._marker}{text}"
            self._marker = ""
        elif self._rows and not self._lead and _is_lead(text):
            self._lead, self._lead_look = text, look
            return
        else:
            text, self._lead = f"{self._lead} {text}".lstrip(), ""
            if bullet := BULLET.match(text):
                kind, text = "list_item", text[bullet.end() :]
            elif first != look and opening != text and _opens_division(first, opening):
                self._blocks.append(Block(kind, opening, first))  # "Note 5. Debt. We owe …"
                text = text.removeprefix(opening).lstrip()
        self._blocks.append(Block(kind, text, look, linked=linked, labels=self._taken_labels()))

    def _taken_labels(self) -> tuple[str, ...]:
        labels = tuple(self._labelled)
        self._labelled.clear()
        return labels

    def _table(self, table: _Element) -> None:
        caption = table.find("caption")
        if caption is not None:
            self._blocks.append(Block("paragraph", inline_text(caption)))
        rows: list[list[Cell]] = []
        # Cells above that fill this row too, for so many rows more: each row repeats their words,
        # so that a row by itself says what it is about.
        taken: dict[int, tuple[int, Cell]] = {}
        for row in table.iter("tr"):
            cells: list[Cell] = []
            left = {at: (more - 1, cell) for at, (more, cell) in taken.items() if more > 1}
            start = 0
            for element in row.iter("td", "th"):
                while start in taken:
                    cells.append(taken[start][1])
                    start = taken[start][1].end
                cell = Cell(start, start + _span(element, "colspan"), inline_text(element))
                cells.append(cell)
                if (high := _span(element, "rowspan")) > 1:
                    left[start] = (high - 1, cell)
                start = cell.end
            cells += [cell for at, (_, cell) in sorted(taken.items()) if at >= start]
            taken = left
            rows.append(cells)
        first = next(table.iter("tr"), None)
        named = first is not None and all(cell.tag == "th" for cell in first.iter("td", "th"))
        grid = aligned(rows)
        for text in grid.captions:
            self._line(table, text)
        if len(grid.rows) == 1:  # a head or foot of a page may be set so, or a heading
            texts = [text for text in grid.rows[0] if text]
            between = " " if _is_lead(texts[0]) else " | "
            self._line(table, between.join(texts))
        elif grid.rows:
            self._blocks.append(
                Block("table", "", rows=grid.rows, names=grid.names, named=named or None)
            )

    def _line(self, table: _Element, text: str) -> None:
        """A line that is set as a table."""
        if not self._bare:
            self._blocks.append(Block("paragraph", text))
            return
        for place in table.iter("a", "div", "span", "td", "tr"):
            if name := place.get("id") or place.get("name"):
                self._labelled += self._labels.get(name, ())
        row = next(row for row in table.iter("tr") if inline_text(row))
        runs = Counter[Look]()
        linked = _count_looks(row, self._look, runs)
        look = main_look(runs, text)
        self._blocks.append(
            Block(
                "paragraph",
                text,
                look,
                linked=linked > 0.9 * runs.total(),
                labels=self._taken_labels(),
            )
        )


def _count_looks(element: _Element, around: Look, runs: Counter[Look]) -> int:
    """Counts the letters of each look; returns how many are links within the page."""
    linked = 0
    look = look_of(element, style_of(element.get("style") or ""), around)
    before = runs.total()
    runs[look] += len((element.text or "").strip())
    for child in element:
        if isinstance(child.tag, str) and not is_hidden(child):
            linked += _count_looks(child, look, runs)
        runs[look] += len((child.tail or "").strip())
    is_link = element.tag == "a" and (element.get("href") or "").startswith("#")
    return runs.total() - before if is_link else linked


def _labels(page: _Element) -> dict[str, list[str]]:
    """By the name of a place in the page, what links to it say."""
    labels: dict[str, list[str]] = {}
    for link in page.iter("a"):
        target = link.get("href") or ""
        if len(target) > 1 and target[0] == "#":
            text = inline_text(link)
            if len(text) >= MIN_LABEL:
                labels.setdefault(target[1:], []).append(text)
    return labels


def _is_lead(text: str) -> bool:
    return MARKER.fullmatch(text) is not None or DIVISION.fullmatch(text.rstrip(" :")) is not None


def _opens_division(look: Look, text: str) -> bool:
    return look.bold and text.endswith((".", ":", "–", "—")) and DIVISION.match(text) is not None


def _is_bare(page: _Element) -> bool:
    """Whether a page has few headings for its paragraphs; the same on each page are one."""
    enough = sum(1 for _ in page.iter("p", "div", "li")) / PER_HEADING
    headings: set[str] = set()
    for heading in page.iter(*_TITLES):
        headings.add(inline_text(heading))
        if len(headings) >= enough:
            return False
    return len(headings) < enough


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
    if _is_listing(rows):
        return False
    is_even = len(rows) > 2 and len({len(row) for row in rows}) == 1 and len(rows[0]) > 2
    return is_even or all(len(inline_text(cell)) <= MAX_TABLE_CELL for cell in table.iter("td"))


def _is_listing(rows: Sequence[_Element]) -> bool:
    """Whether rows are bullets, numbers or marks with their texts, and lines over all of it."""
    items = 0
    for row in rows:
        texts = [text for cell in row.iter("td") if (text := inline_text(cell))]
        if len(texts) < 2:
            continue
        if len(texts) > 2 or not MARKER.fullmatch(texts[0]):
            return False
        if texts[0].isdecimal() and len(texts[1]) < NOTE:
            return False
        items += 1
    return items > 0


def is_contents(table: _Element) -> bool:
    """Whether a table is a list of places in its own page, with their page numbers: the headings
    say the same."""
    linked = sum(_leads_inside(row) for row in table.iter("tr"))
    if linked < MIN_CONTENTS:
        return False
    return linked >= 0.7 * sum(bool(inline_text(row)) for row in table.iter("tr"))


def _leads_inside(row: _Element) -> bool:
    return any((link.get("href") or "").startswith("#") for link in row.iter("a"))


def is_menu(items: _Element) -> bool:
    """Whether a list is nothing but many links: other languages, other pages."""
    return len(items) >= MIN_MENU_ITEMS and _weight(items, blank=False) == 0


def _is_note(element: _Element, style: Style, parts: list[str]) -> bool:
    """Whether a raised number is none of the word or number that the parts end with: "35.9 billion
    gallons¹" and "$1.66²/₃", but not "m²"."""
    if element.tag != "sup" and not style.raised:
        return False
    before = next((part for part in reversed(parts) if part), "")
    mark = "".join(element.itertext()).lstrip()
    return mark[:1].isdecimal() and _NOTED.search(before) is not None


def inline_text(element: _Element) -> str:
    """The visible text of an element as one paragraph."""
    parts: list[str] = []

    def collect(node: _Element, depth: int) -> None:
        if (is_hidden(node) and depth) or depth > MAX_DEPTH:
            return
        space = " " if node.tag in _BLOCKS or node.tag == "br" else ""
        if not space and (node.tag == "sup" or node.get("style")):
            style = style_of(node.get("style") or "")
            if style.apart or _is_note(node, style, parts):
                parts.append(" ")
        alt = node.get("alt") or "" if node.tag == "img" else ""
        parts.append(space + (node.text or "") + (f" {alt} " if " " in alt.strip() else ""))
        for child in node:
            if isinstance(child.tag, str):
                collect(child, depth + 1)
            parts.append(child.tail or "")
        parts.append(space)

    collect(element, 0)
    return " ".join("".join(parts).replace("\u200b", "").split())


def fold(text: str) -> str:
    """White space as a browser shows it: `br` broke the lines, everything else is one space."""
    lines = (" ".join(line.replace("\u200b", "").split()) for line in text.split("\n"))
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
