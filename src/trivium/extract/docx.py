"""Reads Word documents (DOCX): headings by style, lists with their numbers, tables, notes, pages.

Page numbers come from the last time Word laid out the document. Leaves out running heads, deleted
text and tables of contents. Knows nothing of old DOC files.
"""

from __future__ import annotations

import re
from itertools import zip_longest
from xml.etree.ElementTree import Element

from trivium.core.errors import FileDamaged
from trivium.core.types import ElementKind, Enclosed, Extraction, Place
from trivium.extract.composer import Composer, describe
from trivium.extract.embedded import chart, diagram, embedded
from trivium.extract.html import decode_html
from trivium.extract.html_tree import TreeReader, parse_html
from trivium.extract.mail_message import parse_message
from trivium.extract.omml import equation
from trivium.extract.package import Package, member_names
from trivium.extract.properties import office_properties
from trivium.extract.word_styles import Numbering, Style, Styles, outline_level, value
from trivium.ports import Blob, reads
from trivium.text.titles import is_cut

_MAIN = "word/document.xml"
_SKIPPED = frozenset({"del", "moveFrom", "pPr", "rPr", "sectPr", "instrText", "Fallback"})
_TYPEWRITER = frozenset(
    {"courier new", "courier", "consolas", "menlo", "monaco", "lucida console", "cascadia code"}
    | {"dejavu sans mono", "liberation mono", "source code pro", "cascadia mono", "andale mono"}
)
_SPACES = re.compile("(?<=\\S)  (?=\\S)|\u2061")  # around equations; Word's invisible function sign
_WHITE = {"tab": "\t", "cr": "\n", "noBreakHyphen": "‑", "softHyphen": ""}

MAX_BOLD_WORDS = 12  # of a heading that is only bold
_OFF = frozenset({"0", "false", "off"})


def _is_docx(blob: Blob) -> bool:
    names = member_names(blob)
    return _MAIN in names or (
        "[Content_Types].xml" in names and any(n.startswith("word/document") for n in names)
    )


@reads("docx/6", _is_docx)
def read_docx(blob: Blob) -> Extraction:
    """Takes zip archives with a Word document inside."""
    package = Package(blob)
    name = _MAIN
    if name not in package.names:
        name = min(n for n in package.names if n.startswith("word/document"))
    root = package.xml(name)
    body = None if root is None else root.find("body")
    if body is None:
        raise FileDamaged(f"{blob.name} is a Word document without a body.")
    metadata = dict(office_properties(package))
    reader = _DocxReader(blob.name, package, name, paged=_is_laid_out(body, metadata.get("pages")))
    reader.blocks(body)
    reader.flush_code()
    if reader.paged:
        metadata["pages"] = max(reader.page, int(str(metadata.get("pages", 0))))
    return reader.out.finish(
        blob,
        titles=(str(metadata.pop("title", "")), reader.out.first_heading),
        media_type="application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        language=str(metadata.pop("language", "")),
        metadata=describe(metadata),
        enclosed=[*reader.chunks, *embedded(package, charted=True)],
    )


def _is_laid_out(body: Element, pages: object) -> bool:
    """Whether page numbers are known: Word left its breaks, or there is only one page."""
    if pages == 1:
        return True
    return any(
        e.tag == "lastRenderedPageBreak" or (e.tag == "br" and e.get("type") == "page")
        for e in body.iter()
    )


class _DocxReader:
    def __init__(self, name: str, package: Package, main: str, *, paged: bool) -> None:
        self.out = Composer(name)
        self.chunks: list[Enclosed] = []  # whole documents in place of a part of this one
        self._package = package
        self._relations = package.relations(main)
        self.page = 1
        self.paged = paged
        self._styles = Styles(package.parts("word/styles.xml", "style", type="paragraph"))
        self._numbering = Numbering(package.xml("word/numbering.xml"))
        self._notes = {
            kind: _texts(package.xml(f"word/{kind}s.xml")) for kind in ("footnote", "endnote")
        }
        self._comments = _texts(package.xml("word/comments.xml"), with_author=True)
        self._after: list[
            tuple[ElementKind, str]
        ] = []  # kind and text of what hangs on a paragraph
        self._boxes: list[Element] = []  # text boxes anchored in the paragraph
        self._level = 0  # of the last heading with a style; bold lines are below it
        self._code: list[str] = []
        self._code_page = 1
        self._fresh_page = False  # a break was counted and nothing has been written since
        self._begun = 0  # page of the first character of the paragraph

    def blocks(self, parent: Element) -> None:
        for block, after in zip_longest(parent, list(parent)[1:]):
            if block.tag == "p":
                self._paragraph(block, heads=_heads(block, after))
            elif block.tag == "tbl":
                self.flush_code()
                self._table(block)
            elif block.tag == "altChunk":
                self.flush_code()
                self._foreign(block)
            elif block.tag not in _SKIPPED:
                self.blocks(block)  # content controls, insertions, custom XML

    def _paragraph(self, paragraph: Element, *, heads: bool = False) -> None:
        properties = paragraph.find("pPr")
        style = self._styles[value(properties, "pStyle")]
        if properties is not None and properties.find("pageBreakBefore") is not None:
            self._break_page()
        self._begun = 0
        text = self.text(paragraph)
        first = self._begun or self.page
        if style.is_code or (not style.level and _is_monospaced(paragraph)):
            self._code_page = self._code_page if self._code else first
            self._code.append(text)
        elif not style.is_contents:
            self.flush_code()
            self._place_text(text, style, properties, self._place(first), heads=heads)
        self._hanging(self._place(self.page))

    def _foreign(self, block: Element) -> None:
        """A part in another format: HTML is read in place, documents as enclosed files."""
        target = self._relations.get(block.get("r:id", ""), ("", ""))[1]
        data = self._package.read(target)
        if not data:
            return
        name = target.rsplit("/", 1)[-1]
        page = data
        if name.lower().endswith((".mht", ".mhtml")) or data[:13].lower() == b"mime-version:":
            letter = parse_message(data)
            page = (letter.html or letter.text).encode()
        elif not name.lower().endswith((".html", ".htm", ".xhtml", ".txt")):
            self.chunks.append(Enclosed(name, data))
            return
        root = parse_html(decode_html(Blob(name, page))) if page.strip() else None
        if root is not None:
            TreeReader(self.out, self._place(self.page)).read(root)

    def _place_text(
        self, text: str, style: Style, properties: Element | None, place: Place, *, heads: bool
    ) -> None:
        if not text.strip():
            return
        level = outline_level(properties) or style.level
        marker = self._marker(style, properties)
        numbered = f"{marker} {text}" if marker else text
        if level:
            self._level = level
            self.out.heading(level, numbered, place)
        elif heads and marker is None and not style.is_list:
            self.out.heading(self._level + 1, text, place)
        elif marker is not None or style.is_list:
            self.out.add("list_item", numbered, place=place)
        else:
            self.out.add("quote" if style.is_quote else "paragraph", text, place=place)

    def _marker(self, style: Style, properties: Element | None) -> str | None:
        """The marker of a list item: empty for a bullet, None outside lists."""
        list_id = value(properties, "numPr/numId") or style.list_id
        if not list_id or list_id == "0":
            return None
        level = value(properties, "numPr/ilvl")
        return self._numbering.marker(
            list_id, int(level) if level.isdecimal() else style.list_level
        )

    def text(self, parent: Element) -> str:
        """The visible text under an element, counting pages on the way."""
        return _SPACES.sub(" ", "".join(self._part(child) for child in parent))

    def _part(self, part: Element) -> str:
        if part.tag == "t":
            if (part.text or "").strip():
                self._begun = self._begun or self.page
                self._fresh_page = False
            return part.text or ""
        if part.tag in ("lastRenderedPageBreak", "br"):
            return self._line_or_page(part)
        if part.tag in _WHITE:
            return _WHITE[part.tag]
        if part.tag == "oMath":
            return f" {equation(part)} "
        if part.tag in ("footnoteReference", "endnoteReference"):
            return self._note(part, part.tag.removesuffix("Reference"))
        if part.tag in ("txbxContent", "relIds", "commentReference", "chart"):
            self._hang(part)
        elif part.tag not in _SKIPPED:
            return self.text(part)
        return ""

    def _hang(self, part: Element) -> None:
        """Notes and boxes beside the text, to follow its paragraph."""
        if part.tag == "txbxContent":
            self._boxes.append(part)
        elif part.tag == "commentReference":
            self._after.append(("quote", self._comments.get(part.get("id", ""), "")))
        elif part.tag == "chart":
            target = self._relations.get(part.get("r:id", ""), ("", ""))[1]
            title, rows = chart(self._package.xml(target))
            lines = "\n".join(" | ".join(row) for row in rows)
            self._after += [("paragraph", title), ("table", lines)]
        else:
            target = self._relations.get(part.get("r:dm", ""), ("", ""))[1]
            self._after += [("list_item", line) for line in diagram(self._package.xml(target))]

    def _line_or_page(self, part: Element) -> str:
        if part.tag == "br":
            if part.get("type") == "page":
                self._break_page()
            return "\n"
        if not self._fresh_page:  # Word marks a page begun by an explicit break a second time
            self._break_page()
        self._fresh_page = False
        return ""

    def _note(self, reference: Element, kind: str) -> str:
        number = reference.get("id", "")
        note = self._notes[kind].get(number, "")
        if not note:
            return ""
        self._after.append(("paragraph", f"[{number}] {note}"))
        return f"[{number}]"

    def _hanging(self, place: Place) -> None:
        """Text boxes, notes and comments follow the paragraph they hang on."""
        boxes, self._boxes = self._boxes, []
        after, self._after = self._after, []
        for box in boxes:
            self.blocks(box)
        for kind, text in after:
            self.out.add(kind, text, place=place)

    def _table(self, table: Element) -> None:
        first = self.page
        rows: list[list[str]] = []
        for row in _own(table, "tr"):
            rows.append(self._row(row, rows[-1] if rows else []))
        place = self._place(first)
        if len(rows) == 1 and len(rows[0]) == 1:  # a frame around text, not a table
            self._boxes.clear()
            self._after.clear()
            self.blocks(_own(_own(table, "tr")[0], "tc")[0])
        else:
            self.out.table(rows, place=place)
        self._hanging(place)

    def _row(self, row: Element, above: list[str]) -> list[str]:
        """Its cells; one that goes on from the row above repeats its words."""
        cells: list[str] = []
        for cell in _own(row, "tc"):
            texts = (self.text(block) for block in cell.iter("p"))
            text = " ".join(text for text in texts if text.strip())
            goes_on = (
                cell.find("tcPr/vMerge") is not None and value(cell, "tcPr/vMerge") != "restart"
            )
            at = len(cells)
            cells.append(above[at] if goes_on and not text and at < len(above) else text)
            span = value(cell, "tcPr/gridSpan")
            cells.extend([""] * (min(int(span), 100) - 1 if span.isdecimal() else 0))
        return cells

    def flush_code(self) -> None:
        if self._code:
            self.out.add("code", "\n".join(self._code), place=self._place(self._code_page))
            self._code = []

    def _break_page(self) -> None:
        self.page += 1
        self._fresh_page = True

    def _place(self, first: int) -> Place:
        return Place(pages=tuple(range(first, self.page + 1))) if self.paged else Place()


def _own(parent: Element, tag: str) -> list[Element]:
    """The rows of a table or cells of a row, without those of tables in its cells."""
    elements: list[Element] = []
    for child in parent:
        if child.tag == tag:
            elements.append(child)
        elif child.tag in ("sdt", "sdtContent", "ins", "customXml"):
            elements.extend(_own(child, tag))
    return elements


def _heads(paragraph: Element, after: Element | None) -> bool:
    """Whether a paragraph without a style is a heading: a few words, all bold, no sentence, over
    text that isn't."""
    if after is None or not _is_bold(paragraph) or (after.tag == "p" and _is_bold(after)):
        return False
    words = "".join(t.text or "" for t in paragraph.iter("t")).split()
    is_short = 0 < len(words) <= MAX_BOLD_WORDS and paragraph.find("pPr/numPr") is None
    follows = after.tag == "tbl" or any((t.text or "").strip() for t in after.iter("t"))
    is_part = is_short and (
        words[0][0].islower() or words[-1][-1] in ".,;:" or is_cut(" ".join(words))
    )
    return is_short and follows and not is_part


def _is_bold(paragraph: Element) -> bool:
    """Whether every run with text is bold."""
    runs = [run for run in paragraph.iter("r") if (run.findtext("t") or "").strip()]
    bold = (run.find("rPr/b") for run in runs)
    return bool(runs) and all(b is not None and b.get("val", "1") not in _OFF for b in bold)


def _is_monospaced(paragraph: Element) -> bool:
    """Whether every run with text is set in a typewriter face: code without a style."""
    runs = [run for run in paragraph.iter("r") if run.find("t") is not None]
    fonts = (run.find("rPr/rFonts") for run in runs)
    faces = [font is not None and font.get("ascii", "").lower() in _TYPEWRITER for font in fonts]
    return bool(faces) and all(faces)


def _texts(root: Element | None, *, with_author: bool = False) -> dict[str, str]:
    """Notes or comments by their id."""
    texts: dict[str, str] = {}
    for note in root if root is not None else ():
        if note.get("type") in ("separator", "continuationSeparator", "continuationNotice"):
            continue
        paragraphs = ("".join(t.text or "" for t in p.iter("t")) for p in note.iter("p"))
        text = "\n".join(line.strip() for line in paragraphs if line.strip())
        if text and with_author:
            text = f"{note.get('author') or 'Comment'}: {text}"
        texts[note.get("id", "")] = text
    return texts
