"""Reads the main part of HTML pages: headings, paragraphs, lists, tables, code.

Leaves out menus, footers, forms and hidden parts; reads a page without a main part whole.
`html_tree` walks the tree; this file knows bytes, encodings and meta tags.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from trivium.core.errors import FileEmpty
from trivium.core.types import Extraction, Metadata
from trivium.extract.charsets import named
from trivium.extract.composer import Composer, describe
from trivium.extract.cover import cover_title
from trivium.extract.html_tree import TreeReader, inline_text, main_part, parse_html, with_menus
from trivium.extract.properties import iso
from trivium.extract.sniff import BOMS, binary_kind
from trivium.extract.text import decode
from trivium.ports import Blob, reads

if TYPE_CHECKING:
    from lxml.etree import _Element

SUFFIXES = frozenset({".html", ".htm", ".xhtml", ".xht", ".shtml"})

_HEAD_BYTES = 4096
_BEGINNING = re.compile(
    rb"(?:\xef\xbb\xbf)?(?:\s|<!--.{0,2000}?-->|<\?xml[^>]{0,200}\?>)*"
    rb"<(?:!doctype\s+html|html|head|body)[\s>]",
    re.IGNORECASE | re.DOTALL,
)
_CHARSET = re.compile(rb"""(?:charset|encoding)\s*=\s*["']?\s*([\w.:-]{2,40})""", re.IGNORECASE)
_COVER = 6000  # characters
MIN_TEXT = 200  # characters; a page with less may be its menus
MIN_SHARE = 0.2  # of its text with them
_PROGRAM = re.compile(r"\S*\d{4}\S*|(?:form )?(?:10-?[kq]|8-?k)", re.IGNORECASE)  # "abc-20231231"
_TAGGED = ("dei:EntityRegistrantName", "dei:DocumentType", "dei:DocumentPeriodEndDate")
_AUTHORS = ("citation_author", "author", "article:author", "dc.creator", "dcterms.creator")
_DATES = (
    "citation_publication_date",
    "article:published_time",
    "date",
    "dc.date",
    "dcterms.date",
    "datepublished",
    "article:modified_time",
)


def _is_html(blob: Blob) -> bool:
    if _BEGINNING.match(_narrow(blob.data[:_HEAD_BYTES])):
        return True
    is_named = blob.suffix in SUFFIXES
    return is_named and not binary_kind(blob.data)


@reads("html/8", _is_html)
def read_html(blob: Blob) -> Extraction:
    """Takes files that begin as HTML does, and texts named so."""
    root = parse_html(decode_html(blob))
    if root is None:
        raise FileEmpty(f"{blob.name} has no visible text.")
    out = _content(root, blob)
    if len(out.text) < MIN_TEXT:
        whole = _content(with_menus(root), blob)
        if len(out.text) < MIN_SHARE * len(whole.text):
            out = whole  # a page of hardly anything but menus: they are what it says
    metadata = dict(meta_tags(root))
    declared = str(metadata.pop("title", ""))
    cover = _tagged_title(root) or cover_title(
        [line for line in out.text[:_COVER].splitlines() if line]
    )
    return out.finish(
        blob,
        titles=("" if _PROGRAM.fullmatch(declared) else declared, cover, out.first_heading),
        media_type="text/html",
        language=root.get("lang") or "",
        metadata=metadata,
    )


def _content(root: _Element, blob: Blob) -> Composer:
    out = Composer(blob.name)
    TreeReader(out, printed=True).read(main_part(root))
    return out


def _tagged_title(root: _Element) -> str:
    """What a report with inline XBRL says of itself: company, form and end of the period."""
    values = dict.fromkeys(_TAGGED, "")
    for tag in root.iter("ix:nonnumeric"):
        name = tag.get("name") or ""
        if name in values and not values[name]:
            values[name] = inline_text(tag)
    company, form, period = values.values()
    named = [company, f"Form {form}" if form else "", period]
    return ", ".join(filter(None, named)) if company else ""


def decode_html(blob: Blob) -> str:
    """The characters of a page: by its mark, its declaration, else as any text."""
    declared = _CHARSET.search(blob.data[:_HEAD_BYTES])
    if declared and not blob.data.startswith(BOMS):
        name = named(declared[1].decode("ascii"))
        # "utf-16" in readable bytes is a mistake.
        if not name.startswith(("utf-8", "utf8", "utf-16", "utf-32")):
            try:
                return blob.data.decode(name, "replace")
            except LookupError:
                pass
    return decode(blob)


def meta_tags(root: _Element) -> Metadata:
    """Title, authors, date and description from the head of a page."""
    tags: dict[str, list[str]] = {}
    for tag in root.iter("meta"):
        name = (tag.get("name") or tag.get("property") or tag.get("itemprop") or "").lower()
        content = (tag.get("content") or "").strip()
        if name and content:
            tags.setdefault(name, []).append(content)
    title = root.find(".//title")
    link = root.find(".//link[@rel='canonical']")
    authors = next((tags[name] for name in _AUTHORS if name in tags), [])
    dates = (iso(tags[name][0].replace("/", "-")) for name in _DATES if name in tags)
    return describe(
        {
            "title": (tags.get("citation_title") or [""])[0]
            or ("".join(title.itertext()) if title is not None else "")
            or (tags.get("og:title") or [""])[0],
            "authors": [name for name in authors if not name.startswith("http")],
            "date": next((date for date in dates if date), ""),
            "description": (tags.get("description") or tags.get("og:description") or [""])[0],
            "link": "" if link is None else link.get("href") or "",
            "keywords": [
                word.strip() for line in tags.get("keywords", [])[:1] for word in line.split(",")
            ],
        }
    )


def _narrow(head: bytes) -> bytes:
    """UTF-16, with a mark or without, as bytes that can be looked at."""
    if head.startswith(BOMS):
        return head[2:].replace(b"\x00", b"")
    return head.replace(b"\x00", b"") if b"\x00" in head[:2] else head
