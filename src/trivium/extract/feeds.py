"""Reads XML: feeds (RSS, Atom) entry by entry, books, outlines and drawings by what they show
(`xml_documents`), any other document by its text: an element with text of its own is a paragraph.
"""

from __future__ import annotations

import re
from email.utils import parsedate_to_datetime
from xml.etree.ElementTree import Element

from trivium.core.types import Extraction, Place
from trivium.extract.charsets import decode_text
from trivium.extract.code import language_of
from trivium.extract.composer import Composer, describe
from trivium.extract.html_tree import TreeReader, parse_html
from trivium.extract.package import parse_xml
from trivium.extract.properties import iso
from trivium.extract.sniff import binary_kind
from trivium.extract.xml_documents import book, diagram, drawing, outline
from trivium.ports import Blob

_BEGINNING = re.compile(
    rb"(?:\xef\xbb\xbf|\xff\xfe|\xfe\xff)?\s*"
    rb"<(?:\?xml\s|(?:rss|feed|opml|svg|mxfile|mxGraphModel|FictionBook)[\s>]|!DOCTYPE\s+(?!html))",
    re.I,
)
_DECLARATION = re.compile(r"\A\ufeff?\s*<\?xml[^>]*\?>")
_KNOWN = {
    "FictionBook": (book, "application/x-fictionbook+xml"),
    "opml": (outline, "text/x-opml"),
    "svg": (drawing, "image/svg+xml"),
    "mxfile": (diagram, "application/vnd.jgraph.mxfile"),
    "mxGraphModel": (diagram, "application/vnd.jgraph.mxfile"),
}
_BODIES = ("encoded", "content", "description", "summary")


class XmlExtractor:
    """Takes what begins as XML does, whatever its name, and is no web page or source code: list it
    after the reader of HTML."""

    version = "xml/2"

    def accepts(self, blob: Blob) -> bool:
        begins = _BEGINNING.match(blob.data[:1024].replace(b"\x00", b""))
        return bool(begins) and not language_of(blob) and not binary_kind(blob.data)

    def extract(self, blob: Blob) -> Extraction:
        root = parse_xml(_narrow(blob.data), blob.name)
        out = Composer(blob.name)
        entries = [element for element in root.iter() if element.tag in ("item", "entry")]
        if root.tag in ("rss", "feed", "RDF") and entries:
            channel = root.find("channel")
            head = root if channel is None else channel
            for entry in entries:
                _entry(out, entry)
            return out.finish(
                blob,
                titles=(head.findtext("title") or "", out.first_heading),
                media_type=f"application/{'atom' if root.tag == 'feed' else 'rss'}+xml",
                language=head.findtext("language") or "",
                metadata=describe({"entries": len(entries)}),
            )
        if root.tag in _KNOWN:
            read, media_type = _KNOWN[root.tag]
            named, known = read(out, root)
            language = str(known.pop("language", ""))
            return out.finish(
                blob,
                titles=(named, out.first_heading),
                media_type=media_type,
                language=language,
                metadata=describe(known),
            )
        _document(out, root)
        title = root.find(".//title")
        return out.finish(
            blob,
            titles=("" if title is None else "".join(title.itertext())[:200], out.first_heading),
            media_type="application/xml",
        )


def _narrow(data: bytes) -> bytes:
    """UTF-16 as UTF-8, whatever the file declares about itself."""
    if b"\x00" not in data[:64]:
        return data
    return _DECLARATION.sub("", decode_text(data), count=1).encode()


def _entry(out: Composer, entry: Element) -> None:
    author = entry.findtext("creator") or entry.findtext("author/name") or entry.findtext("author")
    address = entry_link(entry)
    place = Place(
        authors=(author.strip(),) if author and author.strip() else (),
        time=entry_time(entry),
        link=address,
    )
    out.heading(2, entry.findtext("title") or address or "Entry", place)
    bodies = (
        "".join(found.itertext()) for name in _BODIES if (found := entry.find(name)) is not None
    )
    body = max(bodies, key=len, default="")  # the summary repeats the beginning of the content
    tree = parse_html(body) if body.strip() else None
    if tree is not None:
        for heading in tree.iter("h1", "h2"):
            heading.tag = "h3"  # below the entry's own
        TreeReader(out, place).read(tree)


def _document(out: Composer, element: Element) -> None:
    """Mixed content as one paragraph; elements that only hold others are walked through."""
    own = (element.text or "").strip() or any((child.tail or "").strip() for child in element)
    if own or not len(element):
        out.add("paragraph", " ".join("".join(element.itertext()).split()))
        return
    for child in element:
        _document(out, child)


def entry_link(entry: Element) -> str:
    """The address of what an entry is about; Atom may give others beside it."""
    found = entry.findall("link")
    main = next((one for one in found if one.get("rel", "alternate") == "alternate"), None)
    link = main if main is not None else next(iter(found), None)
    return "" if link is None else (link.text or link.get("href") or "").strip()


def entry_time(entry: Element) -> str:
    for name in ("pubDate", "published", "updated", "date"):
        if text := entry.findtext(name):
            if found := iso(text):
                return found
            try:
                return parsedate_to_datetime(text).isoformat()
            except (ValueError, TypeError):
                continue
    return ""
