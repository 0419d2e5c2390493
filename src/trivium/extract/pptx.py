"""Reads PowerPoint presentations (PPTX): a slide is a page, its title a heading, notes follow it.

Tables, charts and diagrams give their words and figures. Knows nothing of old PPT files.
"""

from __future__ import annotations

from xml.etree.ElementTree import Element

from trivium.core.errors import FileDamaged
from trivium.core.types import Extraction, Place
from trivium.extract.composer import Composer, describe
from trivium.extract.embedded import chart, diagram, embedded
from trivium.extract.package import Package, member_names
from trivium.extract.properties import office_properties
from trivium.ports import Blob, reads

_MAIN = "ppt/presentation.xml"
_TITLES = frozenset({"title", "ctrTitle"})
_FURNITURE = frozenset({"dt", "ftr", "sldNum", "hdr"})  # running heads and page numbers
SLIDE_LEVEL = 2


@reads("pptx/3", lambda blob: _MAIN in member_names(blob))
def read_pptx(blob: Blob) -> Extraction:
    """Takes zip archives with a presentation inside."""
    package = Package(blob)
    slides = _slides(package)
    if not slides:
        raise FileDamaged(f"{blob.name} is a presentation without slides.")
    reader = _SlideReader(blob.name, package)
    for number, name in enumerate(slides, start=1):
        reader.slide(number, name)
    metadata = dict(office_properties(package)) | {"pages": len(slides)}
    return reader.out.finish(
        blob,
        titles=(str(metadata.pop("title", "")), reader.first_title),
        media_type="application/vnd.openxmlformats-officedocument.presentationml.presentation",
        language=str(metadata.pop("language", "")),
        metadata=describe(metadata),
        enclosed=embedded(package, charted=True),
    )


def _slides(package: Package) -> list[str]:
    """Members of the slides, in the order they are shown."""
    root = package.xml(_MAIN)
    relations = package.relations(_MAIN)
    wanted = [] if root is None else root.findall("sldIdLst/sldId")
    targets = (relations.get(slide.get("r:id", ""), ("", ""))[1] for slide in wanted)
    return [name for name in targets if name in package.names]


class _SlideReader:
    def __init__(self, name: str, package: Package) -> None:
        self.out = Composer(name)
        self.first_title = ""
        self._package = package
        self._relations: dict[str, tuple[str, str]] = {}
        self._place = Place()

    def slide(self, number: int, name: str) -> None:
        root = self._package.xml(name)
        tree = None if root is None else root.find("cSld/spTree")
        if tree is None:
            return
        self._relations = self._package.relations(name)
        self._place = Place(pages=(number,))
        title = next((s for s in tree.iter("sp") if _role(s) in _TITLES), None)
        words = "" if title is None else " ".join(" ".join(_paragraphs(title)).split())
        self.first_title = self.first_title or words
        # A slide without a title still begins a new section: it is cited by its number.
        self.out.heading(SLIDE_LEVEL, words or f"Slide {number}", self._place)
        self._shapes(tree, title)
        for kind, part in self._relations.values():
            if kind == "notesSlide":
                self._notes(part)
            elif kind == "comments":
                self._comments(part)

    def _shapes(self, tree: Element, title: Element | None) -> None:
        for shape in tree:
            if shape.tag in ("grpSp", "Choice", "AlternateContent"):
                self._shapes(shape, title)
            elif shape.tag == "sp" and shape is not title and _role(shape) not in _FURNITURE:
                lines = list(_paragraphs(shape))
                listed = _role(shape) in ("body", "obj") and len(lines) > 1
                for line in lines:
                    self.out.add("list_item" if listed else "paragraph", line, place=self._place)
            elif shape.tag == "graphicFrame":
                self._graphic(shape)

    def _graphic(self, frame: Element) -> None:
        table = frame.find(".//tbl")
        if table is not None:
            rows = [[" ".join(_paragraphs(c)) for c in row.iter("tc")] for row in table.iter("tr")]
            self.out.table(rows, place=self._place)
        for part in frame.iter():
            if part.tag == "chart":
                self._chart(self._relations.get(part.get("r:id", ""), ("", ""))[1])
            elif part.tag == "relIds":
                self._diagram(self._relations.get(part.get("r:dm", ""), ("", ""))[1])

    def _chart(self, name: str) -> None:
        title, rows = chart(self._package.xml(name))
        self.out.add("paragraph", title, place=self._place)
        self.out.table(rows, place=self._place)

    def _diagram(self, name: str) -> None:
        for line in diagram(self._package.xml(name)):
            self.out.add("list_item", line, place=self._place)

    def _notes(self, name: str) -> None:
        root = self._package.xml(name)
        for shape in root.iter("sp") if root is not None else ():
            if _role(shape) == "body":
                text = "\n".join(_paragraphs(shape))
                self.out.add("paragraph", f"Notes: {text}" if text else "", place=self._place)

    def _comments(self, name: str) -> None:
        root = self._package.xml(name)
        for comment in root if root is not None else ():
            text = comment.findtext("text") or " ".join(_paragraphs(comment))
            self.out.add("quote", f"Comment: {text}" if text else "", place=self._place)


def _role(shape: Element) -> str:
    """The purpose of a placeholder; empty for a free shape."""
    placeholder = shape.find("nvSpPr/nvPr/ph")
    return "" if placeholder is None else placeholder.get("type", "obj")


def _paragraphs(shape: Element) -> list[str]:
    paragraphs = []
    for paragraph in shape.iter("p"):
        parts = []
        for part in paragraph.iter():
            if part.tag == "t":
                parts.append(part.text or "")
            elif part.tag == "br":
                parts.append("\n")
        if text := "".join(parts).replace("\v", "\n").strip():
            paragraphs.append(text)
    return paragraphs
