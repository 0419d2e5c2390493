"""Reads OpenDocument files: texts (ODT), sheets (ODS) and presentations (ODP). Knows the pages of a
text if the program marked its soft page breaks. Knows nothing of styles."""

from __future__ import annotations

from collections.abc import Iterator
from xml.etree.ElementTree import Element

from trivium.core.errors import FileTooLarge, FormatUnknown
from trivium.core.types import Extraction, Kind, Place
from trivium.extract.composer import NOWHERE, Composer, describe
from trivium.extract.ole import locked
from trivium.extract.package import Package, member_names
from trivium.extract.pptx import SLIDE_LEVEL
from trivium.extract.properties import document_properties
from trivium.extract.sheets import MAX_CELLS, MAX_COLUMNS
from trivium.extract.xlsx import write_sheet
from trivium.ports import Blob, reads

_PREFIX = "application/vnd.oasis.opendocument"
_SKIPPED = frozenset(
    {"text:tracked-changes", "office:annotation", "text:table-of-content", "office:forms"}
    | {"text:sequence-decls", "text:variable-decls", "text:alphabetical-index", "svg:title"}
    | {"presentation:notes", "svg:desc", "text:list-header", "text:illustration-index"}
)
_CELLS = frozenset({"table:table-cell", "table:covered-table-cell"})
_BREAK = "text:soft-page-break"
MAX_REPEATED = 1_000  # equal rows or cells that hold something; more of them are padding
MAX_SPACES = 100


def _is_odf(blob: Blob) -> bool:
    names = member_names(blob)
    return "content.xml" in names and bool(names & {"mimetype", "meta.xml"})


@reads("odf/5", _is_odf)
def read_odf(blob: Blob) -> Extraction:
    """Takes zip archives that name an OpenDocument type, or have its content."""
    package = Package(blob)
    manifest = package.read("META-INF/manifest.xml") or b""
    if b"encryption-data" in manifest:
        raise locked(blob.name, "Save a copy without a password in LibreOffice.")
    root = package.xml("content.xml")
    body = None if root is None else root.find("office:body")
    if root is None or body is None or not len(body):
        raise FormatUnknown(
            f"{blob.name} is no text, table or presentation in OpenDocument format.",
            fix="Open it in LibreOffice and save it as ODT, ODS, ODP or PDF.",
        )
    metadata = dict(document_properties(package.xml("meta.xml")))
    content = body[0]
    out = Composer(blob.name)
    kind = Kind.TEXT
    title = str(metadata.pop("title", ""))
    if content.tag == "office:spreadsheet":
        kind = Kind.TABLE
        metadata = {**metadata, "pages": 0, "sheets": _sheets(out, blob.name, content)}
    elif content.tag == "office:presentation":
        metadata["pages"] = _slides(out, content)
    else:
        paged = any(True for _ in content.iter(_BREAK)) or metadata.get("pages") == 1
        _TextReader(out, paged=paged, titles=_title_styles(root)).blocks(content)
    return out.finish(
        blob,
        titles=(title,) if kind is Kind.TABLE else (title, out.first_heading),
        media_type=_media_type(package, content),
        language=str(metadata.pop("language", "")),
        metadata=describe(metadata),
        kind=kind,
    )


class _TextReader:
    def __init__(
        self,
        out: Composer,
        *,
        paged: bool,
        place: Place = NOWHERE,
        titles: frozenset[str] = frozenset(),
    ) -> None:
        self._out = out
        self._titles = titles  # the styles of paragraphs that are the document's title
        self._paged = paged
        self._page = 1
        self._fixed = place
        self._after: list[Element] = []  # notes and boxes that follow their paragraph

    def blocks(self, parent: Element, *, listed: bool = False) -> None:
        for block in parent:
            self.block(block, listed=listed)

    def block(self, block: Element, *, listed: bool = False) -> None:
        first = self._page
        if block.tag == "text:h":
            level = block.get("text:outline-level", "1")
            depth = max(int(level), 1) if level.isdecimal() else 1
            self._out.heading(depth, self.text(block), self._place(first))
        elif block.get("text:style-name") in self._titles:
            self._out.heading(1, self.text(block), self._place(first))
        elif block.tag == "text:p":
            text = self.text(block)
            self._out.add("list_item" if listed else "paragraph", text, place=self._place(first))
        elif block.tag == "table:table":
            self._out.table(list(self._rows(block)), place=self._place(first))
        elif block.tag == _BREAK:
            self._page += 1
        elif block.tag == "text:list":
            self.blocks(block, listed=True)
        elif block.tag not in _SKIPPED:
            self.blocks(block, listed=listed)
        self._hanging()

    def text(self, parent: Element) -> str:
        parts = [parent.text or ""]
        for child in parent:
            if child.tag == "text:s":
                count = child.get("text:c", "1")
                parts.append(" " * min(int(count) if count.isdecimal() else 1, MAX_SPACES))
            elif child.tag in ("text:tab", "text:line-break"):
                parts.append("\t" if child.tag == "text:tab" else "\n")
            elif child.tag == _BREAK:
                self._page += 1
            elif child.tag == "text:note":
                parts.append(f"[{child.findtext('text:note-citation') or ''}]")
                self._after.append(child)
            elif child.tag in ("draw:frame", "draw:custom-shape", "draw:g"):
                self._after.append(child)
            elif child.tag not in _SKIPPED:
                parts.append(self.text(child))
            parts.append(child.tail or "")
        return "".join(parts)

    def _hanging(self) -> None:
        after, self._after = self._after, []
        for element in after:
            if element.tag == "text:note":
                mark = element.findtext("text:note-citation") or ""
                paragraphs = (self.text(p) for p in element.iter("text:p"))
                note = "\n".join(paragraphs)
                self._out.add("paragraph", f"[{mark}] {note}", place=self._place(self._page))
            else:
                self.blocks(element)

    def _rows(self, table: Element) -> Iterator[list[str]]:
        for row in _own_rows(table):
            yield [
                " ".join(self.text(paragraph) for paragraph in cell.iter("text:p"))
                for cell in row
                if cell.tag in _CELLS
            ]

    def _place(self, first: int) -> Place:
        if not self._paged:
            return self._fixed
        return Place(pages=tuple(range(first, self._page + 1)))


def _title_styles(root: Element) -> frozenset[str]:
    """The style called Title, and those made from it for single paragraphs."""
    made = [
        style
        for style in root.iter("style:style")
        if style.get("style:parent-style-name") == "Title"
    ]
    return frozenset({"Title", *(style.get("style:name", "") for style in made)})


def _own_rows(table: Element) -> Iterator[Element]:
    """A table's rows without those of tables in its cells, whose words the cells have."""
    for child in table:
        if child.tag == "table:table-row":
            yield child
        elif child.tag.startswith("table:table-") and child.tag.endswith(("rows", "row-group")):
            yield from _own_rows(child)


def _slides(out: Composer, content: Element) -> int:
    """Every slide under its title, its notes after it; how many there are."""
    pages = content.findall("draw:page")
    for number, page in enumerate(pages, start=1):
        place = Place(pages=(number,))
        frames = page.findall("draw:frame")
        title = next((f for f in frames if f.get("presentation:class") == "title"), None)
        words = "" if title is None else " ".join(_plain(title).split())
        out.heading(SLIDE_LEVEL, words or f"Slide {number}", place)
        reader = _TextReader(out, paged=False, place=place)
        for shape in page:
            if shape is not title and shape.tag not in _SKIPPED:
                reader.block(shape)
        notes = page.find("presentation:notes")
        text = "" if notes is None else _plain(notes)
        out.add("paragraph", f"Notes: {text}" if text else "", place=place)
    return len(pages)


def _plain(element: Element) -> str:
    lines = ("".join(p.itertext()) for p in element.iter("text:p"))
    return "\n".join(line.strip() for line in lines if line.strip())


def _sheets(out: Composer, name: str, content: Element) -> int:
    tables = content.findall("table:table")
    for table in tables:
        sheet = table.get("table:name", "")
        write_sheet(out, name, sheet, _sheet_rows(name, table), alone=len(tables) == 1)
    return len(tables)


def _sheet_rows(name: str, table: Element) -> Iterator[tuple[int, list[str]]]:
    """Rows by number. Repeated empty ones are only counted; repeated full ones up to a limit."""
    number = 1
    for row in table.iter("table:table-row"):
        repeated = _repeated(row, "table:number-rows-repeated")
        cells = _sheet_cells(name, row)
        if any(cells):
            if len(cells) * min(repeated, MAX_REPEATED) > MAX_CELLS:
                raise FileTooLarge(f"{name} has more than {MAX_CELLS:,} cells.")
            for step in range(min(repeated, MAX_REPEATED)):
                yield number + step, cells
        number += repeated


def _sheet_cells(name: str, row: Element) -> list[str]:
    cells: list[str] = []
    blank = 0
    for cell in row:
        if cell.tag not in _CELLS:
            continue
        repeated = _repeated(cell, "table:number-columns-repeated")
        text = " ".join("".join(p.itertext()) for p in cell.findall("text:p"))
        text = text or (cell.get("office:value") or "")
        if not text.strip():
            blank += repeated
            continue
        if len(cells) + blank + repeated > MAX_COLUMNS:
            raise FileTooLarge(f"{name} has more than {MAX_COLUMNS:,} columns.")
        cells.extend([""] * blank)
        blank = 0
        cells.extend([text] * min(repeated, MAX_REPEATED))
    return cells


def _repeated(element: Element, name: str) -> int:
    count = element.get(name, "1")
    return max(int(count), 1) if count.isdecimal() and len(count) < 9 else 1


def _media_type(package: Package, content: Element) -> str:
    declared = (package.read("mimetype", 200) or b"").decode("ascii", "replace").strip()
    if declared.startswith(_PREFIX):
        return declared
    return f"{_PREFIX}.{content.tag.rsplit(':', 1)[-1]}"
