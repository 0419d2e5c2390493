"""Reads reference libraries: BibTeX, BibLaTeX, CSL-JSON, RIS, EndNote and PubMed.

A file with several entries becomes a short overview that contains each entry as `KEY.csl.json`; a
file with one entry becomes that entry's document, with title, authors and year. Its metadata has
the paths of attached files as `file`, for a caller that knows where the library is.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import PurePath

from trivium.core.errors import FileEmpty
from trivium.core.types import Enclosed, Extraction, Metadata
from trivium.extract.bibtex import Item, parse_bibtex, split_files
from trivium.extract.composer import Composer, describe
from trivium.extract.ris import BEGINNING, parse_endnote, parse_ris
from trivium.extract.sniff import binary_kind
from trivium.extract.text import decode
from trivium.ports import Blob

MAX_CSL_SNIFF = 4096
BIBTEX, CSL = "application/x-bibtex", "application/vnd.citationstyles.csl+json"
RIS = "application/x-research-info-systems"
MEDIA_TYPES = frozenset({BIBTEX, CSL, RIS})

_BIBTEX = re.compile(rb"^[ \t]*@\s*[A-Za-z]+\s*[{(]\s*[^\s,{}()=]*\s*,", re.MULTILINE)
_ENDNOTE = re.compile(rb"(?:\xef\xbb\xbf)?\s*(?:<\?xml[^>]*>\s*)?<xml>\s*<records>\s*<record>")
_TAG = re.compile(r"</?(?:i|b|sub|sup|span|sc|em|strong)\b[^>]*>", re.IGNORECASE)
_TELLING = ("author", "issued", "container-title", "editor", "publisher", "DOI", "citation-key")
_NAME_PARTS = ("given", "dropping-particle", "non-dropping-particle", "family", "suffix", "literal")
_EXTRA = {
    "doi": "DOI", "link": "URL", "container": "container-title", "publisher": "publisher",
    "volume": "volume", "issue": "issue", "page": "page", "isbn": "ISBN", "issn": "ISSN",
    "reference_type": "type", "file_directory": "file-directory",
}  # fmt: skip


class BibtexExtractor:
    """Takes texts with entries as BibTeX writes them."""

    version = "bibtex/5"

    def accepts(self, blob: Blob) -> bool:
        if binary_kind(blob.data):
            return False
        named = blob.suffix in (".bib", ".bibtex", ".biblatex")
        if blob.suffix and not named:
            return False
        return bool(_BIBTEX.search(blob.data))

    def extract(self, blob: Blob) -> Extraction:
        return library(blob, parse_bibtex(decode(blob)), BIBTEX)


class RisExtractor:
    """Takes texts that begin with an entry, after other lines only if the name says so, and
    EndNote's XML."""

    version = "ris/2"

    def accepts(self, blob: Blob) -> bool:
        if _ENDNOTE.match(blob.data[:MAX_CSL_SNIFF]):
            return True
        named = blob.suffix in (".ris", ".nbib", ".enw")
        match = BEGINNING.search(blob.data) if named else BEGINNING.match(blob.data.lstrip())
        return bool(match) and not binary_kind(blob.data)

    def extract(self, blob: Blob) -> Extraction:
        return library(blob, self.items(blob), RIS)

    def items(self, blob: Blob) -> list[Item]:
        if _ENDNOTE.match(blob.data[:MAX_CSL_SNIFF]):
            return parse_endnote(blob.data, blob.name)
        return parse_ris(decode(blob))


class CslExtractor:
    """Takes JSON that is a list of CSL items, or one of them."""

    version = "csl/4"

    def accepts(self, blob: Blob) -> bool:
        head = blob.data[:MAX_CSL_SNIFF].lstrip(b"\xef\xbb\xbf \t\r\n")
        if not head.startswith((b"[", b"{")) or b'"type"' not in blob.data[:65536]:
            return False
        items = _items(blob)
        return bool(items) and all(_is_reference(item) for item in items[:20])

    def extract(self, blob: Blob) -> Extraction:
        return library(blob, _items(blob), CSL)


def library(blob: Blob, items: list[Item], media_type: str) -> Extraction:
    """Entries inside a document without text, which no search finds and no list shows: people look
    for papers, not for the list of them. One entry without files is the paper itself."""
    if not items:
        raise FileEmpty(f"{blob.name} has no references.")
    is_entry = "!/" in blob.uri or not blob.uri
    if len(items) == 1 and (is_entry or not files_of(items[0])):
        return reference(blob, items[0], media_type)
    entries = tuple(
        Enclosed(name, json.dumps([item], ensure_ascii=False).encode("utf-8", "replace"))
        for name, item in zip(names_of(items), items, strict=True)
    )
    title, about = PurePath(blob.name).stem, {"references": len(items)}
    return Extraction("", (), title, media_type, metadata=about, enclosed=entries)


def reference(blob: Blob, item: Item, media_type: str) -> Extraction:
    """An entry: its citation, its abstract, its keywords and notes."""
    title = _text(item, "title")
    authors = _people(item, "author") or _people(item, "editor")
    out = Composer(blob.name)
    out.add("paragraph", _citation(item, title, authors))
    if abstract := _text(item, "abstract"):
        out.heading(2, "Abstract")
        out.add("paragraph", abstract)
        out.leave()
    for label, field in (("Keywords", "keyword"), ("Note", "note"), ("Annotation", "annote")):
        if text := _text(item, field):
            out.add("paragraph", f"{label}: {text}")
    key = _text(item, "citation-key") or _text(item, "id")
    return out.finish(
        blob,
        titles=(title, _by(item, authors), key),
        media_type=media_type,
        language=_text(item, "language"),
        metadata=_metadata(item, authors, key),
    )


def remarks(item: Item) -> Iterator[Extraction]:
    """What an entry says that its file may not: its abstract and its notes, each by itself."""
    for label, field in (("Abstract", "abstract"), ("Note", "note"), ("Annotation", "annote")):
        if text := _text(item, field):
            blob, out = Blob(label, b""), Composer(label)
            out.heading(2, label)
            out.add("paragraph", text)
            yield out.finish(blob, media_type=CSL)


def _by(item: Item, authors: list[str]) -> str:
    """What to call an entry without a title: its authors, what it is part of, its year."""
    parts = (", ".join(authors[:2]), _text(item, "container-title"), str(_year(item) or ""))
    return ", ".join(part for part in parts if part)


def _metadata(item: Item, authors: list[str], key: str) -> Metadata:
    return describe(
        {
            "authors": authors,
            "year": _year(item) or "",
            "date": _date(item),
            "citation_key": key,
            "keywords": [word.strip() for word in re.split(r"[,;]", _text(item, "keyword"))],
            "file": files_of(item),
            **{name: _text(item, field) for name, field in _EXTRA.items()},
        }
    )


def references(blob: Blob) -> list[Item]:
    """The entries of a file in any of the formats."""
    if (tagged := RisExtractor()).accepts(blob):
        return tagged.items(blob)
    return _items(blob) or parse_bibtex(decode(blob))


def files_of(item: Item) -> list[str]:
    """The paths of attached files: a list, BibTeX's string, or Zotero's `attachments`."""
    listed = item.get("file")
    paths = split_files(listed) if isinstance(listed, str) else listed
    files = [path for path in (paths if isinstance(paths, list) else ()) if isinstance(path, str)]
    attachments = item.get("attachments")
    for attachment in attachments if isinstance(attachments, list) else ():
        path = (
            (attachment.get("path") or attachment.get("localPath"))
            if isinstance(attachment, dict)
            else attachment
        )
        if isinstance(path, str):
            files.append(path.removeprefix("attachments:").removeprefix("storage:"))
    return list(dict.fromkeys(files))


def _citation(item: Item, title: str, authors: list[str]) -> str:
    year = _year(item)
    container = _text(item, "container-title")
    issue, page = _text(item, "issue"), _text(item, "page")
    wanted = (_text(item, "volume"), issue and f"({issue})", page and f"pp. {page}")
    numbers = " ".join(part for part in wanted if part)
    by = ", ".join(authors) + (f" ({year})" if year else "")
    parts = (by, title, f"{container} {numbers}".strip(), _text(item, "publisher"))
    return ". ".join(part.strip().rstrip(".") for part in parts if part.strip()) + "."


def _people(item: Item, role: str) -> list[str]:
    people = item.get(role)
    names = (
        " ".join(part for field in _NAME_PARTS if (part := _text(person, field)))
        for person in (people if isinstance(people, list) else ())
        if isinstance(person, Mapping)
    )
    return [name for name in names if name]


def _date(item: Item) -> str:
    """Date of publication, as far as known: 2016, 2016-02, 2016-02-19."""
    issued = item.get("issued")
    if not isinstance(issued, Mapping):
        return ""
    dates = issued.get("date-parts")
    first = dates[0] if isinstance(dates, list) and dates else None
    if not isinstance(first, list) or not first:
        return str(issued.get("raw") or issued.get("literal") or "")
    parts = [str(part) for part in first[:3]]
    return "-".join(part.zfill(4 if at == 0 else 2) for at, part in enumerate(parts))


def _year(item: Item) -> int:
    match = re.search(r"\b(1[0-9]\d\d|20\d\d)\b", _date(item))
    return int(match[1]) if match else 0


def _text(item: Mapping[str, object], field: str) -> str:
    value = item.get(field)
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return ""
    return " ".join(_TAG.sub("", str(value)).split())


def names_of(items: list[Item]) -> list[str]:
    """A file name for each entry, none twice."""
    seen: Counter[str] = Counter()
    names = []
    for item in items:
        key = _text(item, "citation-key") or _text(item, "id") or "reference"
        base = re.sub(r"[^\w.,+-]", "_", key.rsplit("/", 1)[-1])[:100] or "reference"
        seen[base.lower()] += 1
        count = seen[base.lower()]
        names.append(f"{base}.csl.json" if count == 1 else f"{base}-{count}.csl.json")
    return names


def _items(blob: Blob) -> list[Item]:
    try:
        loaded = json.loads(blob.data)
    except (ValueError, RecursionError):
        return []
    if isinstance(loaded, dict):
        loaded = [loaded]
    if not isinstance(loaded, list) or not all(isinstance(item, dict) for item in loaded):
        return []
    return loaded


def _is_reference(item: Item) -> bool:
    return isinstance(item.get("type"), str) and (
        ("id" in item or "citation-key" in item) and any(field in item for field in _TELLING)
    )
