"""Reads iWork documents from before 2013, which are one XML tree: the pages of Pages, the slides of
Keynote, the tables of all three. Knows nothing of the packed parts of later ones (`iwork`)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime, timedelta
from xml.etree.ElementTree import Element

from trivium.core.types import Place
from trivium.extract.composer import Composer
from trivium.extract.xlsx import write_sheet

OLD_PARTS = ("index.xml", "index.apxl")
_ROW = 256  # a cell's place is 256 times its row and its column, told as a step from the one before
_MAX_ROWS = 65_536  # Numbers had no more
_EPOCH = datetime(2001, 1, 1)
_HEADING = re.compile(r"(?:Heading|Überschrift|Titre|Título|Titolo|Kop)(?: (\d))?\Z")
_SILENT = frozenset({"stylesheet", "theme-list", "headers", "footers", "thumbnails", "calc-engine"})
_SILENT |= {
    "section-prototypes",
    "menu-choices",
    "version-history",
    "publication-info",
    "metadata",
    "ui-state",
}
_NO_TEXT = frozenset({"attachments", "footnotebr", "footnote-mark"})


class OldDocument:
    """One tree."""

    def __init__(self, out: Composer, root: Element, name: str) -> None:
        self._out = out
        self._root = root
        self._name = name
        self._by_id = {e.get("ID", ""): e for e in root.iter() if "ID" in e.attrib}
        self._levels = self._headings()
        self._place = Place()
        self._shown: set[str] = set()  # tables that stand in a text
        self._open: list[Element] = []  # those that are being written
        self.sheets = 0

    @property
    def known(self) -> dict[str, object]:
        """Authors, as Pages asks for them."""
        path = "metadata/authors/string"
        return {"authors": [author.get("string", "") for author in self._root.findall(path)]}

    @property
    def title(self) -> str:
        title = self._root.find("metadata/title/string")
        return "" if title is None else title.get("string", "")

    def read(self) -> None:
        slides = self._root.findall("slide-list/slide")
        workspaces = [e for e in self._root.iter() if e.tag == "workspace"]
        for number, slide in enumerate(slides, start=1):
            self._slide(slide, Place(pages=(number,)))
        if workspaces:
            alone = sum(e.tag == "tabular-model" for e in self._root.iter()) == 1
            for workspace in workspaces:
                self._sheet(workspace, workspace.get("workspace-name", ""), alone)
        elif not slides:
            # The text first, then what floats beside it.
            storage = self._root.find("text-storage")
            if storage is not None:
                self._storage(storage)
            for child in self._root:
                if child is not storage:
                    self._contents(child)
        if not self._out:  # words that are only on a master
            self._contents(self._root, silent=frozenset({"stylesheet"}))

    def _slide(self, slide: Element, place: Place) -> None:
        self._place = place
        title = slide.find("title-placeholder")
        words = "" if title is None else " ".join(self._words(title).split())
        if words:
            self._out.heading(2, words, place)
        for child in slide:
            if child is not title:
                self._contents(child)

    def _sheet(self, workspace: Element, name: str, alone: bool) -> None:
        for table in workspace.iter("tabular-model"):
            self.sheets += 1
            own = table.get("name", "")
            rows = enumerate(self._rows(table), start=1)
            full = ": ".join(filter(None, (name, own)))
            write_sheet(self._out, self._name, full, rows, alone=alone)
        self._contents(workspace, silent=_SILENT | {"tabular-info", "tabular-model"})

    def _contents(self, element: Element, silent: frozenset[str] = _SILENT) -> None:
        """The texts and tables inside, in the file's order."""
        if element.tag in silent or element.get("ID", "-") in self._shown:
            return
        if element.tag == "text-storage":
            self._storage(element)
        elif element.tag == "tabular-model":
            self._out.table(self._rows(element), place=self._place)
        else:
            for child in element:
                self._contents(child, silent)

    def _storage(self, storage: Element) -> None:
        for element in _within(storage.find("text-body")):
            if element.tag == "page-start" and not self._root.tag.startswith("presentation"):
                self._place = Place(pages=(_integer(element.get("page-index", ""), 0) + 1,))
            elif element.tag in ("p", "attachment-ref"):
                self._paragraph(element)

    def _paragraph(self, paragraph: Element) -> None:
        for line in self._words(paragraph).splitlines():
            words = " ".join(line.split())
            level = self._levels.get(paragraph.get("style", ""), 0)
            if words and level:
                self._out.heading(level, words, self._place)
            elif words:
                self._out.add("paragraph", words, place=self._place)
        for reference in paragraph.iter("attachment-ref"):
            attachment = self._by_id.get(reference.get("IDREF", ""))
            if attachment is not None and attachment not in self._open:
                self._open.append(attachment)  # in a damaged file one may hold itself
                self._contents(attachment)
                self._open.pop()
                self._shown.add(attachment.get("ID", ""))

    def _words(self, element: Element, inside: bool = False) -> str:
        """The words of paragraphs; between other elements there is only white space."""
        if element.tag in _NO_TEXT:
            return ""
        inside = inside or element.tag == "p"
        parts = [(element.text or "") if inside else ""]
        for child in element:
            parts.append("\n" if child.tag in ("br", "lnbr", "p") else "")
            parts.append(" " if child.tag == "tab" else self._words(child, inside))
            parts.append((child.tail or "") if inside else "")
        return "".join(parts)

    def _rows(self, table: Element) -> list[list[str]]:
        grid = table.find("grid")
        source = None if grid is None else grid.find("datasource")
        cells: dict[tuple[int, int], str] = {}
        at = 0
        for number, cell in enumerate(source if source is not None else ()):
            at += _integer(cell.get("ct", ""), 1 if number else 0)
            if 0 <= at < _MAX_ROWS * _ROW:
                cells[divmod(at, _ROW)] = self._value(cell)
        height = max((row for (row, _), text in cells.items() if text), default=-1) + 1
        width = max((column for (_, column), text in cells.items() if text), default=-1) + 1
        return [[cells.get((row, column), "") for column in range(width)] for row in range(height)]

    def _value(self, cell: Element) -> str:
        """What a person sees in it, but for the form of numbers."""
        if cell.tag == "pm":
            chosen = cell.find("proxied-cell-ref")
            cell = self._by_id.get("" if chosen is None else chosen.get("IDREF", ""), cell)
        for element in cell.iter():
            if element.tag == "ct":
                return element.get("s", "")
            if element.tag == "text-storage":
                return " ".join(self._words(element).split())
            if element.tag in ("n", "rn", "sl", "st") and element.get("v"):
                return _number(element.get("v", ""))
            if date := element.get("cell-date"):
                return _date(date)
            if element.tag == "rt" and element.get("s"):
                return element.get("s", "")
        return ""

    def _headings(self) -> dict[str, int]:
        """The levels of styles that are headings, by every name that a paragraph may use."""
        styles = [e for e in self._root.iter() if e.tag == "paragraphstyle"]
        levels: dict[str, int] = {}
        for style in styles:
            name = style.get("name", "")
            match = _HEADING.match(name)
            level = 1 if name in ("Title", "Titel") else int(match[1] or 1) if match else 0
            if level:
                levels |= {style.get(key, ""): level for key in ("ID", "ident")}
        for style in styles:
            parent = style.get("parent-ident", "")
            if not style.get("name") and parent in levels:
                levels.setdefault(style.get("ID", ""), levels[parent])
        levels.pop("", None)
        return levels


def _within(body: Element | None) -> Iterator[Element]:
    """A body's paragraphs and marks, whatever layout they are in."""
    for child in body if body is not None else ():
        if child.tag in ("p", "page-start", "attachment-ref"):
            yield child
        else:
            yield from _within(child)


def _integer(text: str, default: int) -> int:
    return int(text) if re.fullmatch(r"-?\d{1,9}", text) else default


def _number(text: str) -> str:
    """`-872.39999999999998` as `-872.4`."""
    try:
        return f"{float(text):.12g}"
    except ValueError:
        return text


def _date(text: str) -> str:
    try:
        return (_EPOCH + timedelta(seconds=float(text))).isoformat(" ").removesuffix(" 00:00:00")
    except (OverflowError, ValueError):
        return text
