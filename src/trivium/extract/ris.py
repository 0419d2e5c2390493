"""Parses RIS, which most reference managers and publishers export, and PubMed's format into CSL
items.

Both are lines with a tag; lines without one continue the line before. Forgiving: unknown tags are
skipped. Attached files keep their paths in `file`. Knows nothing of documents.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

Item = dict[str, object]

BEGINNING = re.compile(rb"^(?:\xef\xbb\xbf)?[ \t]*(?:TY {1,2}- ?[A-Z]|PMID ?- ?\d)", re.MULTILINE)
_LINE = re.compile(r"\s*([A-Z][A-Z0-9]{1,3}) *- ?(.*)")
_DATE = re.compile(r"(\d{4})(?:[/-](\d{1,2}))?(?:[/-](\d{1,2}))?")
_DOI = re.compile(r"10\.\d{4,9}/\S+")
_FIRST = ("TY", "PMID")  # tags that begin an entry
_TYPES = {
    "JOUR": "article-journal", "JFULL": "article-journal", "EJOUR": "article-journal",
    "BOOK": "book", "EBOOK": "book", "CHAP": "chapter", "CONF": "paper-conference",
    "CPAPER": "paper-conference", "THES": "thesis", "RPRT": "report", "ELEC": "webpage",
    "BLOG": "webpage", "COMP": "software", "PAT": "patent", "DATA": "dataset", "UNPB": "manuscript",
}  # fmt: skip
# The first tag that an entry has counts.
_FIELDS = {
    "title": ("TI", "T1", "CT", "BT"), "container-title": ("JF", "JT", "T2", "JO", "JA", "J2"),
    "volume": ("VL", "VI"), "issue": ("IS", "IP"), "publisher": ("PB",), "URL": ("UR", "L2"),
    "ISSN": ("SN",), "abstract": ("AB", "N2"), "note": ("N1", "RN"), "language": ("LA",),
    "keyword": ("KW", "OT", "MH"), "id": ("ID", "PMID"),
}  # fmt: skip


def parse_ris(source: str) -> list[Item]:
    """Every entry as a CSL item."""
    return [item for fields in _entries(source) if (item := _item(fields))]


def _entries(source: str) -> Iterator[dict[str, list[str]]]:
    fields: dict[str, list[str]] = {}
    last: list[str] = []
    for line in source.splitlines():
        match = _LINE.match(line)
        if match and match[1] in (*_FIRST, "ER"):
            yield fields
            fields = {}
        if match:
            last = fields.setdefault(match[1], [])
            last.append(match[2].strip())
        elif line.strip() and last:
            if last is fields.get("KW"):  # a line each
                last.append(line.strip())
            else:
                last[-1] = f"{last[-1]} {line.strip()}".strip()
    yield fields


def _item(fields: dict[str, list[str]]) -> Item:
    if not any(first in fields for first in _FIRST):
        return {}

    def said(*tags: str) -> list[str]:
        return next((v for tag in tags if (v := [*filter(None, fields.get(tag, ()))])), [])

    kind = said("TY")
    dates = [value for tag in ("DA", "PY", "Y1", "DP") for value in said(tag)]
    date = _DATE.search(" ".join(dates))  # some write only a day and a month into DA
    doi = _DOI.search(" ".join([*said("DO"), *said("LID", "AID")]))
    item: Item = {
        "type": _TYPES.get(kind[0], kind[0].lower()) if kind else "article-journal",
        "author": [_name(name) for name in said("AU" if kind else "FAU", "AU", "A1")],
        "editor": [_name(name) for name in said("ED", "A2")],
        "issued": {"date-parts": [[int(part) for part in date.groups() if part]]} if date else {},
        "page": "–".join([*said("SP")[:1], *said("EP")[:1]]) or " ".join(said("PG")),
        "DOI": doi[0] if doi else "",
        "file": [path.removeprefix("internal-pdf://") for path in said("L1")],
    }
    item |= {name: "; ".join(said(*tags)) for name, tags in _FIELDS.items()}
    by = said("AU", "A1") or ["reference"]
    item["id"] = item["id"] or by[0].split(",")[0] + (date[1] if date else "")
    return {name: value for name, value in item.items() if value}


def _name(name: str) -> dict[str, str]:
    """Last, First, Suffix."""
    parts = [part.strip() for part in name.split(",", 2)]
    names = ("family", "given", "suffix") if len(parts) > 1 else ("literal",)
    return dict(zip(names, parts, strict=False))
