"""Parses RIS, which most reference managers and publishers export, PubMed's format and EndNote's
(tagged and XML) into CSL items.

All are lines or elements with a tag; one table reads them by RIS's tags. Lines without a tag
continue the line before. Forgiving: unknown tags are skipped. Attached files keep their paths in
`file`. Knows nothing of documents.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import PureWindowsPath

from trivium.extract.package import parse_xml

Item = dict[str, object]
Fields = Mapping[str, list[str]]

BEGINNING = re.compile(
    rb"^(?:\xef\xbb\xbf)?[ \t]*(?:TY {1,2}- ?[A-Z]|PMID ?- ?\d|%[0T] \S)", re.MULTILINE
)
_LINE = re.compile(r"\s*([A-Z][A-Z0-9]{1,3}) *- ?(.*)")
_REFER = re.compile(r"\s*%(\S)(?: (.*)|$)")  # EndNote's tagged format
_DATE = re.compile(r"(\d{4})(?:[/-](\d{1,2}))?(?:[/-](\d{1,2}))?")
_DOI = re.compile(r"10\.\d{4,9}/\S+")
_FIRST = ("TY", "PMID")  # tags that begin an entry
_TYPES = {
    "JOUR": "article-journal", "JFULL": "article-journal", "EJOUR": "article-journal",
    "BOOK": "book", "EBOOK": "book", "CHAP": "chapter", "CONF": "paper-conference",
    "CPAPER": "paper-conference", "THES": "thesis", "RPRT": "report", "ELEC": "webpage",
    "BLOG": "webpage", "COMP": "software", "PAT": "patent", "DATA": "dataset", "UNPB": "manuscript",
    "Journal Article": "article-journal", "Electronic Article": "article-journal",
    "Edited Book": "book", "Electronic Book": "book", "Book Section": "chapter",
    "Conference Paper": "paper-conference", "Conference Proceedings": "paper-conference",
    "Web Page": "webpage", "Computer Program": "software", "Unpublished Work": "manuscript",
}  # fmt: skip
# The first tag that an entry has counts.
_FIELDS = {
    "title": ("TI", "T1", "CT", "BT"), "container-title": ("JF", "JT", "T2", "JO", "JA", "J2"),
    "volume": ("VL", "VI"), "issue": ("IS", "IP"), "publisher": ("PB",), "ISSN": ("SN",),
    "language": ("LA",), "id": ("ID", "PMID"),
}  # fmt: skip
_SEVERAL = {"abstract": ("AB", "N2"), "note": ("N1", "RN"), "keyword": ("KW", "OT", "MH")}
# Tags of EndNote's two formats, after zotero/translators (ReferBibIX.js, Endnote XML.js).
_REFER_TAGS = {
    "0": "TY", "A": "AU", "Q": "AU", "E": "ED", "T": "TI", "J": "JF", "B": "T2", "D": "PY",
    "8": "DA", "V": "VL", "N": "IS", "P": "PG", "I": "PB", "U": "UR", "@": "SN", "X": "AB",
    "Z": "N1", "G": "LA", "K": "KW", "R": "DO", "F": "ID", ">": "L1",
}  # fmt: skip
_ELEMENTS = {
    "AU": "contributors/authors/author", "ED": "contributors/secondary-authors/author",
    "TI": "titles/title", "T2": "titles/secondary-title", "JF": "periodical/full-title",
    "PG": "pages", "VL": "volume", "IS": "number", "KW": "keywords/keyword", "PY": "dates/year",
    "DA": "dates/pub-dates/date", "PB": "publisher", "SN": "isbn", "AB": "abstract",
    "N1": "notes", "RN": "research-notes", "LA": "language", "DO": "electronic-resource-num",
    "UR": "urls/related-urls/url", "L1": "urls/pdf-urls/url",
}  # fmt: skip


def parse_ris(source: str) -> list[Item]:
    """Every entry as a CSL item."""
    return [item for fields in _entries(source) if (item := _item(fields))]


def parse_endnote(data: bytes, name: str) -> list[Item]:
    """Every record of EndNote's XML as a CSL item. EndNote keeps files in a folder `NAME.Data/PDF`
    beside its library."""
    items = []
    for record in parse_xml(data, name).iter("record"):
        fields = {
            tag: ["".join(element.itertext()).strip() for element in record.findall(path)]
            for tag, path in _ELEMENTS.items()
        }
        kind, library = record.find("ref-type"), record.find("database")
        fields["TY"] = ["Journal Article" if kind is None else kind.get("name", "")]
        item = _item(fields)
        if item.get("file") and library is not None:
            stem = PureWindowsPath(library.get("name", "")).stem
            item["file-directory"] = f"{stem}.Data/PDF"
        items.append(item)
    return [item for item in items if item]


def _entries(source: str) -> Iterator[Fields]:
    refer = source.lstrip("\ufeff \t\r\n").startswith("%")
    fields: dict[str, list[str]] = {}
    last: list[str] = []
    blank = False  # the line before: EndNote puts one between entries
    for line in source.splitlines():
        match = (_REFER if refer else _LINE).match(line)
        tag = match and (_REFER_TAGS.get(match[1], match[1]) if refer else match[1])
        if tag in (*_FIRST, "ER") or (refer and tag and blank):
            yield fields
            fields = {}
        if match and tag:
            last = fields.setdefault(tag, [])
            last.append((match[2] or "").strip())
        elif line.strip() and last:
            if last is fields.get("KW"):  # a line each
                last.append(line.strip())
            else:
                last[-1] = f"{last[-1]} {line.strip()}".strip()
        blank = not line.strip()
    yield fields


def _item(fields: Fields) -> Item:
    if len(fields) < 2:  # the end of an entry, or lines before the first
        return {}

    def values_of(*tags: str) -> list[str]:
        return next((v for tag in tags if (v := [*filter(None, fields.get(tag, ()))])), [])

    kind = values_of("TY")
    dates = [value for tag in ("DA", "PY", "Y1", "DP") for value in values_of(tag)]
    date = _DATE.search(" ".join(dates))  # some write only a day and a month into DA
    doi = _DOI.search(" ".join([*values_of("DO"), *values_of("LID", "AID")]))
    item: Item = {
        "type": _TYPES.get(kind[0], kind[0].lower()) if kind else "article-journal",
        "author": [_name(name) for name in values_of("AU" if kind else "FAU", "AU", "A1")],
        "editor": [_name(name) for name in values_of("ED", "A2")],
        "issued": {"date-parts": [[int(part) for part in date.groups() if part]]} if date else {},
        "page": "–".join([*values_of("SP")[:1], *values_of("EP")[:1]]) or " ".join(values_of("PG")),
        "DOI": doi[0] if doi else "",
        "URL": next((url for url in values_of("UR", "L2") if url.startswith("http")), ""),
        "file": [
            path
            for link in values_of("L1")
            if "://" not in (path := link.removeprefix("internal-pdf://"))
        ],
    }
    item |= {name: "".join(values_of(*tags)[:1]) for name, tags in _FIELDS.items()}
    item |= {name: "; ".join(values_of(*tags)) for name, tags in _SEVERAL.items()}
    by = values_of("AU", "A1") or ["reference"]
    item["id"] = item["id"] or by[0].split(",")[0] + (date[1] if date else "")
    return {name: value for name, value in item.items() if value}


def _name(name: str) -> dict[str, str]:
    """Last, First, Suffix."""
    parts = [part.strip() for part in name.split(",", 2)]
    names = ("family", "given", "suffix") if len(parts) > 1 else ("literal",)
    return dict(zip(names, parts, strict=False))
