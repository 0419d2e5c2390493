"""Documents that are one XML tree or a few: books (FB2), outlines (OPML), drawings (SVG, draw.io,
Visio), property lists. Gives a composer what a reader sees. Knows nothing of feeds."""

from __future__ import annotations

import base64
import binascii
import plistlib
import re
import zlib
from collections.abc import Iterator
from urllib.parse import unquote
from xml.etree.ElementTree import Element
from xml.parsers.expat import ExpatError

from trivium.core.errors import FileDamaged
from trivium.core.types import Extraction, Place
from trivium.extract.composer import Composer, describe
from trivium.extract.html_tree import inline_text, parse_html
from trivium.extract.package import MAX_XML, Package, member_names, parse_xml
from trivium.extract.structured import flatten
from trivium.ports import Blob, reads

LINES_TOGETHER = 40  # of a property list, in one paragraph
_PAGE = re.compile(r"visio/pages/page(\d+)\.xml")
_PARAGRAPHS = frozenset({"p", "v", "text-author", "subtitle", "date"})


def book(out: Composer, root: Element) -> tuple[str, dict[str, object]]:
    """A FictionBook: its bodies by sections; notes come last in the file."""
    info = root.find("description/title-info")
    names = []
    for author in info.findall("author") if info is not None else ():
        parts = (author.findtext(name) or "" for name in ("first-name", "middle-name", "last-name"))
        names.append(" ".join(part.strip() for part in parts if part.strip()))
    if info is not None and (note := info.find("annotation")) is not None:
        _section(out, note, 1)
    for body in root.findall("body"):
        if body.get("name"):
            out.heading(1, body.get("name", "").capitalize())
        _section(out, body, 1)
    metadata: dict[str, object] = {"authors": names}
    if info is not None:
        metadata |= {"date": info.findtext("date") or "", "language": info.findtext("lang") or ""}
    title = "" if info is None else info.findtext("book-title") or ""
    return title, metadata


def _section(out: Composer, section: Element, level: int) -> None:
    for child in section:
        if child.tag == "title":
            out.heading(level, " ".join(_words(line) for line in child))
        elif child.tag == "section":
            _section(out, child, level + 1)
            out.leave(level + 1)
        elif child.tag == "table":
            out.table([[_words(cell) for cell in row] for row in child.iter("tr")])
        elif child.tag in _PARAGRAPHS:
            out.add("paragraph", _words(child))
        elif child.tag != "image":  # poems, quotes and what is inside them
            _section(out, child, level)


def outline(out: Composer, root: Element) -> tuple[str, dict[str, object]]:
    """An OPML outline: what has something below it is a heading, the rest are its items."""
    for item in root.findall("body/outline"):
        _item(out, item, 1)
    metadata = {"authors": [root.findtext("head/ownerName") or ""]}
    return root.findtext("head/title") or "", {
        **metadata,
        "date": root.findtext("head/dateCreated"),
    }


def _item(out: Composer, item: Element, level: int) -> None:
    address = item.get("htmlUrl") or item.get("xmlUrl") or item.get("url") or ""
    text = " ".join(filter(None, (_html(item.get("text") or item.get("title") or ""), address)))
    if len(item):
        out.heading(level, text)
    else:
        out.add("list_item", text, place=Place(link=address))
    if note := item.get("_note"):
        out.add("paragraph", note)
    for inner in item:
        _item(out, inner, level + 1)
    out.leave(level)


def drawing(out: Composer, root: Element) -> tuple[str, dict[str, object]]:
    """An SVG drawing: its title, descriptions and labels, without fonts and scripts."""
    for element in root.iter():
        if element.tag in ("text", "desc", "title", "foreignObject"):
            out.add("paragraph", _words(element))
    return root.findtext("title") or "", {}


def diagram(out: Composer, root: Element) -> tuple[str, dict[str, object]]:
    """A draw.io file: the labels of every page; pages may be packed."""
    pages = [root] if root.tag == "mxGraphModel" else root.findall("diagram")
    for number, page in enumerate(pages, start=1):
        place = Place(pages=(number,))
        if len(pages) > 1:
            out.heading(2, page.get("name") or f"Page {number}", place)
        packed = (page.text or "").strip()
        tree = _unpacked(packed) if packed and not len(page) else page
        for cell in tree.iter() if tree is not None else ():
            out.add("paragraph", _html(cell.get("value") or cell.get("label") or ""), place=place)
    return "", {"pages": len(pages)}


def _unpacked(packed: str) -> Element | None:
    try:
        unpack = zlib.decompressobj(-15)
        xml = unpack.decompress(base64.b64decode(packed), MAX_XML).decode("utf-8", "replace")
        return parse_xml(unquote(xml).encode(), "a page")
    except (binascii.Error, zlib.error, ValueError, FileDamaged):
        return None


@reads("visio/2", lambda blob: "visio/document.xml" in member_names(blob))
def read_visio(blob: Blob) -> Extraction:
    """Takes zip archives with the pages of a Visio drawing. A shape without words of its own shows
    those of its master; pages behind others come last."""
    package = Package(blob)
    index = package.xml("visio/pages/pages.xml")
    listed = [] if index is None else sorted(index.iter("Page"), key=_is_behind)
    relations = package.relations("visio/pages/pages.xml")
    pages = []
    for page in listed:
        relation = page.find("Rel")
        target = "" if relation is None else relations.get(relation.get("r:id", ""), ("", ""))[1]
        pages.append((page.get("Name", ""), target))
    if not all(target for _, target in pages) or not pages:  # pages that the list doesn't place
        numbered = sorted((int(m[1]), m[0]) for m in map(_PAGE.fullmatch, package.names) if m)
        names = [page.get("Name", "") for page in listed]
        names += [f"Page {number}" for number in range(len(names) + 1, len(numbered) + 1)]
        pages = [(name, target) for name, (_, target) in zip(names, numbered, strict=False)]
    masters = _masters(package)
    out = Composer(blob.name)
    for number, (name, target) in enumerate(pages, start=1):
        root = package.xml(target)
        if len(pages) > 1:
            out.heading(2, name or f"Page {number}")
        for shapes in root.findall("Shapes") if root is not None else ():
            _shapes(out, shapes, Place(pages=(number,)), masters, {})
    return out.finish(
        blob,
        media_type="application/vnd.ms-visio.drawing.main+xml",
        metadata=describe({"pages": len(pages)}),
    )


def _is_behind(page: Element) -> bool:
    return page.get("Background") == "1"


def _masters(package: Package) -> dict[str, dict[str, str]]:
    """The words of every master by its number: its shapes by theirs, the first also as the empty
    one, since a shape of a page names only the master."""
    index = package.xml("visio/masters/masters.xml")
    relations = package.relations("visio/masters/masters.xml")
    masters: dict[str, dict[str, str]] = {}
    for master in index.iter("Master") if index is not None else ():
        relation = master.find("Rel")
        target = "" if relation is None else relations.get(relation.get("r:id", ""), ("", ""))[1]
        root = package.xml(target) if target else None
        shapes = [] if root is None else list(root.iter("Shape"))
        texts = [(shape.get("ID", ""), shape.find("Text")) for shape in shapes]
        words = {number: "" if text is None else _words(text) for number, text in texts}
        masters[master.get("ID", "")] = {**words, "": next(iter(words.values()), "")}
    return masters


def _shapes(
    out: Composer,
    shapes: Element,
    place: Place,
    masters: dict[str, dict[str, str]],
    master: dict[str, str],
) -> None:
    for shape in shapes.findall("Shape"):
        own = masters.get(shape.get("Master", ""), {}) if "Master" in shape.attrib else master
        text = shape.find("Text")
        if text is not None:
            out.add("paragraph", _words(text), place=place)
        elif {"Master", "MasterShape"} & shape.attrib.keys():
            out.add("paragraph", own.get(shape.get("MasterShape", ""), ""), place=place)
        for inner in shape.findall("Shapes"):
            _shapes(out, inner, place, masters, own)


def _is_property_list(blob: Blob) -> bool:
    if blob.data.startswith(b"bplist0"):
        return True
    return b"<plist" in blob.data[:1024] and blob.data.lstrip()[:2] in (b"<?", b"<p", b"<!")


@reads("plist/1", _is_property_list)
def read_property_list(blob: Blob) -> Extraction:
    """Takes property lists of Apple's programs, as XML or packed: `name: value` lines."""
    try:
        value = plistlib.loads(blob.data)
        lines = list(flatten(_plain(value)))  # a packed list may be inside itself
    except (plistlib.InvalidFileException, ExpatError, ValueError, RecursionError) as reason:
        raise FileDamaged(f"{blob.name} is a damaged property list.") from reason
    out = Composer(blob.name)
    for start in range(0, len(lines), LINES_TOGETHER):
        out.add("paragraph", "\n".join(lines[start : start + LINES_TOGETHER]))
    title = str(value.get("Title", "")) if isinstance(value, dict) else ""
    return out.finish(blob, titles=(title,), media_type="application/x-plist")


def _plain(value: object) -> object:
    """Without packed bytes, which nobody searches for."""
    if isinstance(value, dict):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_plain(inner) for inner in value]
    is_text = isinstance(value, str | int | float | bool)
    return value if is_text else "" if isinstance(value, bytes) else str(value)


def _words(element: Element) -> str:
    return " ".join("".join(_texts(element)).split())


def _texts(element: Element) -> Iterator[str]:
    if element.tag in ("script", "style"):
        return
    yield element.text or ""
    for child in element:
        yield " " if child.tag in ("tspan", "p", "div", "br") else ""
        yield from _texts(child)
        yield child.tail or ""


def _html(text: str) -> str:
    """The words of a label, which may be HTML."""
    if "<" not in text and "&" not in text:
        return text
    root = parse_html(text.replace("<br", " <br"))
    return "" if root is None else inline_text(root)
