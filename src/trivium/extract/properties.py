"""Reads the properties of Office and OpenDocument files: title, authors, dates, pages. Knows
nothing of their text."""

from __future__ import annotations

import re
from xml.etree import ElementTree

from trivium.core.errors import FileDamaged
from trivium.core.types import Metadata
from trivium.extract.composer import describe, people
from trivium.extract.package import Package

_DATE = re.compile(r"\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d)?)?")
_NO_DATE = frozenset(
    {"2013-12-23T23:15:00", "2013-01-27T09:14:16"}
)  # python-docx's and -pptx's own
_PROGRAMS = frozenset({"python-docx", "openpyxl", "microsoft office user", "unknown", "user"})


def office_properties(package: Package) -> Metadata:
    """From docProps of a DOCX, PPTX or XLSX. A damaged part costs its fields, not the document."""
    core = _fields(package, "docProps/core.xml")
    app = _fields(package, "docProps/app.xml")
    pages = app.get("Pages", "")
    return describe(
        {
            "title": core.get("title", ""),
            "authors": real_authors(core.get("creator", "")),
            "subject": core.get("subject", ""),
            "keywords": _keywords(core.get("keywords", "")),
            "date": iso(core.get("created", "")) or iso(core.get("modified", "")),
            "modified": iso(core.get("modified", "")),
            "category": "",
            "language": core.get("language", ""),
            "pages": int(pages) if pages.isdecimal() else 0,
        }
    )


def document_properties(root: ElementTree.Element | None) -> Metadata:
    """From meta.xml of an OpenDocument file."""
    values: dict[str, str] = {}
    keywords: list[str] = []
    for element in root.iter() if root is not None else ():
        name = element.tag.rsplit(":", 1)[-1]
        if name == "keyword":
            keywords.append(element.text or "")
        elif name == "document-statistic":
            values["pages"] = element.get("meta:page-count", "")
        elif element.text:
            values.setdefault(name, element.text)
    pages = values.get("pages", "")
    return describe(
        {
            "title": values.get("title", ""),
            "authors": real_authors(values.get("initial-creator", values.get("creator", ""))),
            "subject": values.get("subject", ""),
            "keywords": tuple(keywords),
            "date": iso(values.get("creation-date", "")) or iso(values.get("date", "")),
            "modified": iso(values.get("date", "")),
            "language": values.get("language", ""),
            "pages": int(pages) if pages.isdecimal() else 0,
        }
    )


def real_authors(line: str) -> tuple[str, ...]:
    return tuple(name for name in people(line) if name.lower() not in _PROGRAMS)


def iso(date: str) -> str:
    """The date at the beginning of a timestamp, down to the second; empty when it is none."""
    match = _DATE.match(date.strip())
    return match[0] if match and match[0][:4] > "1601" and match[0] not in _NO_DATE else ""


def _keywords(line: str) -> tuple[str, ...]:
    return tuple(word.strip() for word in re.split(r"[,;]", line) if word.strip())


def _fields(package: Package, name: str) -> dict[str, str]:
    try:
        root = package.xml(name)
    except FileDamaged:
        return {}
    if root is None:
        return {}
    return {e.tag: e.text.strip() for e in root if isinstance(e.tag, str) and e.text}
