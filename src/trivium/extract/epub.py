"""Reads EPUB books: the chapters of the spine in order, through the reader of HTML.

Knows containers and tables of contents; locked books are refused with a sentence.
"""

from __future__ import annotations

import posixpath
from xml.etree.ElementTree import Element

from trivium.core.errors import FileDamaged
from trivium.core.types import Extraction, Metadata
from trivium.extract.composer import Composer, describe
from trivium.extract.html import decode_html
from trivium.extract.html_tree import TreeReader, parse_html
from trivium.extract.package import Package, member_names, resolve
from trivium.extract.properties import iso
from trivium.ports import Blob, reads

_CONTAINER = "META-INF/container.xml"
_FONTS = ("http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#RC")  # only obfuscated
MAX_CHAPTERS = 20_000


@reads("epub/2", lambda blob: _CONTAINER in member_names(blob))
def read_epub(blob: Blob) -> Extraction:
    """Takes zip archives with the container of a book."""
    package = Package(blob)
    _refuse_locked(blob, package)
    container = package.xml(_CONTAINER)
    rootfile = None if container is None else container.find(".//rootfile")
    name = "" if rootfile is None else resolve("", rootfile.get("full-path", ""))
    book = package.xml(name) if name else None
    if book is None:
        raise FileDamaged(f"{blob.name} is an EPUB book without a list of its chapters.")
    folder = posixpath.dirname(name)
    titles = _titles(package, book, folder)
    out = Composer(blob.name)
    for chapter in _spine(book, folder)[:MAX_CHAPTERS]:
        _chapter(out, package, chapter, titles.get(chapter, ""))
    metadata = dict(_metadata(book))
    return out.finish(
        blob,
        titles=(str(metadata.pop("title", "")), out.first_heading),
        media_type="application/epub+zip",
        language=str(metadata.pop("language", "")),
        metadata=metadata,
    )


def _chapter(out: Composer, package: Package, name: str, title: str) -> None:
    data = package.read(name)
    root = parse_html(decode_html(Blob(name, data))) if data and data.strip() else None
    if root is None:
        return
    body = root.find("body")
    body = root if body is None else body
    if title and next(body.iter("h1", "h2", "h3"), None) is None:
        out.heading(1, title)  # the table of contents names a chapter that doesn't name itself
    TreeReader(out).read(body)


def _spine(book: Element, folder: str) -> list[str]:
    """Members of the chapters, in reading order; the table of contents left out."""
    manifest = {
        item.get("id", ""): item for item in book.iter("item") if item.get("href") is not None
    }
    members = []
    for reference in book.iter("itemref"):
        item = manifest.get(reference.get("idref", ""))
        if item is not None and "nav" not in item.get("properties", "").split():
            members.append(resolve(folder, item.get("href", "")))
    return members


def _titles(package: Package, book: Element, folder: str) -> dict[str, str]:
    """Each chapter's name in the table of contents."""
    titles: dict[str, str] = {}
    for item in book.iter("item"):
        if item.get("media-type") != "application/x-dtbncx+xml":
            continue
        name = resolve(folder, item.get("href", ""))
        try:
            contents = package.xml(name)
        except FileDamaged:
            continue
        for point in contents.iter("navPoint") if contents is not None else ():
            target, label = point.find("content"), point.find("navLabel/text")
            if target is not None and label is not None and label.text:
                chapter = resolve(posixpath.dirname(name), target.get("src", ""))
                titles.setdefault(chapter, label.text.strip())
    return titles


def _metadata(book: Element) -> Metadata:
    fields: dict[str, list[str]] = {}
    metadata = book.find("metadata")
    for element in metadata if metadata is not None else ():
        if isinstance(element.tag, str) and element.text and element.text.strip():
            fields.setdefault(element.tag, []).append(element.text.strip())

    def first(name: str) -> str:
        return fields.get(name, [""])[0]

    return describe(
        {
            "title": first("title"),
            "authors": fields.get("creator", []),
            "publisher": first("publisher"),
            "date": iso(first("date")) or first("date")[:4],
            "language": first("language"),
            "description": first("description")[:2000],
            "keywords": fields.get("subject", []),
            "identifier": first("identifier"),
        }
    )


def _refuse_locked(blob: Blob, package: Package) -> None:
    root = package.xml("META-INF/encryption.xml")
    for method in root.iter("EncryptionMethod") if root is not None else ():
        if method.get("Algorithm", "") not in _FONTS:
            raise FileDamaged(f"{blob.name} is locked by DRM.", fix="Get a copy without DRM.")
