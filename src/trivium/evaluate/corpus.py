"""The documents of a judged set, as people have them: JSON lines, tab-separated lines, or TREC's
text and web collections, in one file or many, plain or packed with gzip.

One document each, its title a heading above its text; pages of a web collection are read as any
HTML file is. Knows nothing of queries and judgments.
"""

from __future__ import annotations

import hashlib
import html
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from trivium.core.errors import DatasetInvalid
from trivium.core.types import Element, Extraction
from trivium.evaluate.lines import broken, field, lines, rows
from trivium.ports import SourceItem
from trivium.text.languages import detect_language

IDS = ("_id", "id", "docid", "doc_id", "docno", "pid")
_TEXTS = ("text", "contents", "body", "abstract")
_TITLES = ("title", "headline")
# Columns of a tab-separated corpus without a header, by their number; four is MS MARCO's.
_COLUMNS = {2: ("id", "text"), 3: ("id", "title", "text"), 4: ("id", "url", "title", "text")}
_TITLE = re.compile(r"<(title|headline|head|ti)\b[^>]*>(.*?)</\1\s*>", re.I | re.S)
_TEXT = re.compile(r"<text\b[^>]*>(.*?)</text\s*>", re.I | re.S)
_NUMBER = re.compile(r"<docno>\s*(\S+)\s*</docno>", re.I)
_HEADER = re.compile(r"<dochdr>.*?</dochdr>", re.I | re.S)
_TAG = re.compile(r"</?[a-z][^<>]*>|<!--.*?-->", re.I | re.S)


@dataclass(frozen=True, slots=True)
class CorpusDocument:
    id: str
    title: str
    text: str
    page: bool = False  # the text is HTML


@dataclass(frozen=True, slots=True)
class Corpus:
    """Read when needed, each time from its files."""

    files: tuple[Path, ...]

    def documents(self) -> Iterator[CorpusDocument]:
        for path in self.files:
            yield from _FORMS[_form(path)](path)

    def items(self) -> Iterator[SourceItem]:
        """As a source of documents; those without a word are left out. Each says its own number,
        or two with the same text would become one document with two names."""
        for document in self.documents():
            number = {"docno": document.id}
            if document.page:
                page = partial(bytes, document.text.encode())
                yield SourceItem(
                    document.id, f"{document.id}.html", page, len(document.text), metadata=number
                )
            elif document.title or document.text:
                content = _extraction(document)
                yield SourceItem(
                    document.id, document.id, content, len(document.text), metadata=number
                )

    def digest(self) -> str:
        """Of the very bytes: another text under the same name is another corpus."""
        digest = hashlib.sha256()
        for path in self.files:
            with path.open("rb") as file:
                while block := file.read(1 << 20):
                    digest.update(block)
        return digest.hexdigest()[:12]


def _extraction(document: CorpusDocument) -> Extraction:
    title, text = document.title, document.text
    whole = f"{title}\n\n{text}" if title else text
    start = len(whole) - len(text)
    elements = [Element("paragraph", start, len(whole), (title,) if title else (), paragraph=1)]
    if title:
        elements.insert(0, Element("heading", 0, len(title), level=1))
    return Extraction(whole, tuple(elements), title, "text/plain", detect_language(whole))


def _form(path: Path) -> str:
    """By its first line, not by its name: names of collections are of every kind."""
    for _, line in lines(path, any_encoding=True):
        start = line.lstrip()
        if start.startswith("{"):
            return "json"
        if start.startswith("<"):
            return "trec"
        if "\t" in line:
            return "columns"
        raise broken(path, 1, "expected JSON lines, tab-separated columns or <DOC>")
    raise DatasetInvalid(f"{path} is empty.")


def _json(path: Path) -> Iterator[CorpusDocument]:
    for number, row in rows(path):
        id_, text = field(row, IDS), field(row, _TEXTS)
        if not id_:
            raise broken(path, number, "no field `_id`")
        if text is None:
            raise broken(path, number, "no field `text`")
        yield CorpusDocument(id_, field(row, _TITLES) or "", text)


def _columns(path: Path) -> Iterator[CorpusDocument]:
    names: tuple[str, ...] = ()
    for number, line in lines(path):
        columns = [column.strip() for column in line.split("\t")]
        if number == 1 and columns[0].lower() in IDS:
            names = ("id", *(column.lower() for column in columns[1:]))
            continue
        named = names or _COLUMNS.get(len(columns), ())
        if len(columns) != len(named):
            wanted = f"{len(names)} columns" if names else "two to four columns (id, title, text)"
            raise broken(path, number, f"{wanted} are needed, there are {len(columns)}")
        row = dict(zip(named, columns, strict=True))
        text = field(row, _TEXTS)
        if not row["id"] or text is None:
            raise broken(path, number, "a document needs an id and a text")
        yield CorpusDocument(row["id"], field(row, _TITLES) or "", text)


def _trec(path: Path) -> Iterator[CorpusDocument]:
    """<DOC> and </DOC> are on lines of their own, as in every known collection."""
    body: list[str] | None = None
    begun = last = 0
    for number, line in lines(path, any_encoding=True):
        mark = line.strip().lower()
        if mark == "<doc>" or (body is None and mark.startswith("<doc>")):
            if body is not None:
                raise broken(path, begun, "this <DOC> isn't closed")
            body, begun = [line.strip()[5:]], number
        elif body is None:
            continue
        elif mark.endswith("</doc>"):
            yield _trec_document("\n".join([*body, line.strip()[:-6]]), path, begun)
            body = None
        else:
            body += ["", line] if number > last + 1 else [line]  # blank lines part paragraphs
        last = number
    if body is not None:
        raise broken(path, begun, "this <DOC> isn't closed")
    if not begun:
        raise DatasetInvalid(f"{path} has no <DOC>.")


def _trec_document(body: str, path: Path, line: int) -> CorpusDocument:
    number = _NUMBER.search(body)
    if number is None:
        raise broken(path, line, "this <DOC> has no <DOCNO>")
    if _HEADER.search(body):
        return CorpusDocument(number[1], "", _HEADER.sub("", _NUMBER.sub("", body)), page=True)
    title = _TITLE.search(body)
    texts = _TEXT.findall(body)
    rest = texts or [_TITLE.sub("", _NUMBER.sub("", body), count=1)]
    text = "\n\n".join(_plain(text) for text in rest)
    return CorpusDocument(number[1], " ".join(_plain(title[2]).split()) if title else "", text)


def _plain(marked: str) -> str:
    return html.unescape(_TAG.sub(" ", marked)).strip()


_FORMS = {"json": _json, "columns": _columns, "trec": _trec}
