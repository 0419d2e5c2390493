"""Reads XML: feeds (RSS, Atom) entry by entry, books, outlines and drawings by what they show
(`xml_documents`), any other document by its text: an element with text of its own is a paragraph.
"""

from __future__ import annotations

import re
from contextlib import suppress
from xml.etree.ElementTree import Element

from trivium.core.errors import FileDamaged
from trivium.core.types import Extraction, Place
from trivium.extract.charsets import decode_text
from trivium.extract.code import language_of
from trivium.extract.composer import Composer, describe
from trivium.extract.feed_entries import FeedEntry, read_feed
from trivium.extract.html_tree import TreeReader, parse_html
from trivium.extract.package import parse_xml
from trivium.extract.sniff import binary_kind
from trivium.extract.xml_documents import book, diagram, drawing, outline
from trivium.ports import Blob, reads

_BEGINNING = re.compile(
    rb"(?:\xef\xbb\xbf|\xff\xfe|\xfe\xff)?\s*(?:<!--.*?-->\s*)*"
    rb"<(?:\?xml\s|(?:rss|feed|rdf:RDF|opml|svg|mxfile|mxGraphModel|FictionBook)[\s>]|!DOCTYPE\s+(?!html))",
    re.I | re.S,
)
_ELEMENT = re.compile(rb"\s*(?:<!--.*?-->\s*)*<([A-Za-z_][\w.:-]*)[\s>]", re.S)
_DECLARATION = re.compile(r"\A\ufeff?\s*<\?xml[^>]*\?>")
_KNOWN = {
    "FictionBook": (book, "application/x-fictionbook+xml"),
    "opml": (outline, "text/x-opml"),
    "svg": (drawing, "image/svg+xml"),
    "mxfile": (diagram, "application/vnd.jgraph.mxfile"),
    "mxGraphModel": (diagram, "application/vnd.jgraph.mxfile"),
}
_FEED = re.compile(rb"<(?:\w+:)?(?:rss|feed|RDF|channel)[\s>]", re.I)
_HEAD = 4096  # bytes in which a feed begins, after its comments and stylesheets


def _is_xml(blob: Blob) -> bool:
    begins = _BEGINNING.match(blob.data[:1024].replace(b"\x00", b"")) or _is_element(blob)
    return bool(begins) and not language_of(blob) and not binary_kind(blob.data)


@reads("xml/5", _is_xml)
def read_xml(blob: Blob) -> Extraction:
    """Takes what begins as XML does, whatever its name, and is no web page or source code: list it
    after the reader of HTML."""
    out = Composer(blob.name)
    head = blob.data[:_HEAD].replace(b"\x00", b"")
    feed = read_feed(blob.data) if _FEED.search(head) else None
    if feed is not None:
        if not feed.entries:
            out.add("paragraph", feed.title)
        for entry in feed.entries:
            _entry(out, entry)
        return out.finish(
            blob,
            titles=(feed.title, out.first_heading),
            media_type=feed.media_type,
            language=feed.language,
            metadata=describe({"entries": len(feed.entries)}),
        )
    root = parse_xml(_narrow(blob.data), blob.name)
    if root.tag in _KNOWN:
        read_root, media_type = _KNOWN[root.tag]
        named, metadata = read_root(out, root)
        language = str(metadata.pop("language", ""))
        return out.finish(
            blob,
            titles=(named, out.first_heading),
            media_type=media_type,
            language=language,
            metadata=describe(metadata),
        )
    _document(out, root)
    title = root.find(".//title")
    return out.finish(
        blob,
        titles=("" if title is None else "".join(title.itertext())[:200], out.first_heading),
        media_type="application/xml",
    )


def _is_element(blob: Blob) -> bool:
    """Whether it is XML that doesn't say so: one element from the first sign to the last."""
    begins = _ELEMENT.match(blob.data)
    if begins is None or not blob.data.rstrip().endswith(b"</%s>" % begins[1]):
        return False
    with suppress(FileDamaged):
        return parse_xml(blob.data, blob.name) is not None
    return False


def _narrow(data: bytes) -> bytes:
    """UTF-16 as UTF-8, whatever the file declares about itself."""
    if b"\x00" not in data[:64]:
        return data
    return _DECLARATION.sub("", decode_text(data), count=1).encode()


def _entry(out: Composer, entry: FeedEntry) -> None:
    place = Place(authors=tuple(entry.authors), time=entry.time, link=entry.link)
    out.heading(2, entry.title, place)
    tree = parse_html(entry.body) if entry.body.strip() else None
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
