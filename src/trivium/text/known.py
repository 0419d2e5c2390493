"""What is known of a document beside its text: title, authors, year, tags, journal, file, folder,
sender, recipients, date, channel. Searched with the text, because people search with what they
remember. Pure: knows nothing of stores.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from typing import TYPE_CHECKING, TypeAlias
from urllib.parse import unquote

import numpy as np

from trivium.core.types import Document, Metadata
from trivium.text.figures import date_words
from trivium.text.normalise import clean, words
from trivium.text.stems import stem

if TYPE_CHECKING:
    from numpy.typing import NDArray

# How much a word counts in each field: one occurrence in a passage of average length counts 1, many
# at most 2.2. So a paper by Smith comes before one that mentions Smith three times (1.6). Each but
# tag, from, to and other was measured alone, held out (docs/log.md, `bench.fields`).
_WEIGHTS = {
    "title": 1.0, "author": 2.2, "year": 1.8, "tag": 1.8, "journal": 1.2, "file": 1.4,
    "folder": 1.0, "from": 2.2, "to": 2.0, "date": 1.8, "channel": 1.4, "other": 1.4,
}  # fmt: skip
_BIT = {name: 1 << place for place, name in enumerate(_WEIGHTS)}
_NAMES = sum(_BIT[name] for name in ("author", "from", "to", "channel", "other"))
_LABELS = ("tag", "file", "folder")
_OF_METADATA = {
    "authors": "author", "year": "year", "keywords": "tag", "tags": "tag", "labels": "tag",
    "collections": "tag", "container": "journal", "journal": "journal", "from": "from", "to": "to",
    "cc": "to", "date": "date", "channel": "channel", "doi": "other", "isbn": "other",
    "citation_key": "other",
}  # fmt: skip
# Filters by what people know of a document, and the fields that each looks at: `author:Smith` is
# Jane Smith and Smith, J.; `from:` and `to:` take names and addresses.
FILTERS = {
    "author": ("author", "from"), "authors": ("author", "from"), "slackAuthor": ("author",),
    "from": ("from", "author"), "to": ("to",), "tag": ("tag",), "tags": ("tag",),
    "keywords": ("tag",), "year": ("year", "date"), "channel": ("channel",),
}  # fmt: skip
# Media types of the documents that a filter is about, if not all.
ONLY_IN = {"slackAuthor": ("message/slack", "application/vnd.slack.channel+json")}
# Those that are no metadata fields themselves.
ALIASES = ("author", "slackAuthor", "tag", "tags")
LATER = 0.9  # what a later passage of the document gets of this; so its first one leads
VERSION = 3  # changes with what is indexed: libraries learn it again when they are opened
_KEPT = 1_000  # documents whose fields are kept as words, some 3 kB each
_FOLDERS = 3  # names of folders above a file: further up, all files share them
_DATE = re.compile(r"\s*(\d{4})(?:-(\d\d)(?:-(\d\d))?)?")
_SEPARATOR = re.compile(r"!/|[/\\]")


def known_words(document: Document, others: Sequence[str] = ()) -> dict[str, int]:
    """The words by which a document is known, and the fields of each, as bits. `others`: more
    metadata fields that count."""
    kinds: dict[str, int] = {}
    for kind, _, field_words in _fields(document, others):
        for word in field_words:
            kinds[word] = kinds.get(word, 0) | _BIT[kind]
    return kinds


def fields_holding(
    document: Document, run: Sequence[str], field: str, others: Sequence[str] = ()
) -> int:
    """The fields in which these spellings or stems (`field`) stand side by side, as bits."""
    fields, size = 0, len(run)
    for kind, _, field_words in _fields(document, others):
        forms = stem(field_words, document.language) if field == "stems" else field_words
        if any(forms[at : at + size] == [*run] for at in range(len(forms) - size + 1)):
            fields |= _BIT[kind]
    return fields


def fields_with(
    document: Document, typed: Sequence[str], others: Sequence[str] = ()
) -> tuple[str, ...]:
    """The fields that have one of these words, in any inflection, as people call them."""
    wanted = {*typed, *stem(list(typed), document.language)}
    every = known_in_order(document, others)
    if wanted.isdisjoint(every) and wanted.isdisjoint(stem(every, document.language)):
        return ()  # as mostly
    fields = dict.fromkeys(
        name
        for _, name, field_words in _fields(document, others)
        if not wanted.isdisjoint(field_words)
        or not wanted.isdisjoint(stem(field_words, document.language))
    )
    return tuple(fields)


def asked_of(field: str, value: object) -> tuple[list[str], int]:
    """The words that a filter by a known field asks for, and the fields that may have them, as
    bits. Initials don't count beside a name: `Smith, J.` may be Jane."""
    wanted = [*dict.fromkeys(words(clean(str(value))))]
    bits = sum(_BIT[kind] for kind in FILTERS.get(field, ()))
    return [word for word in wanted if len(word) > 1] or wanted, bits


def is_asked(document: Document, field: str, value: object) -> bool:
    """Whether a known field has all words of a filter's value."""
    wanted, bits = asked_of(field, value)
    if field in ONLY_IN and document.media_type not in ONLY_IN[field]:
        return False
    if not wanted or not bits:
        return False
    fields_of_words = known_words(document)
    return all(fields_of_words.get(word, 0) & bits for word in wanted)


def known_text(document: Document, others: Sequence[str] = (), *, labels: bool = True) -> str:
    """All of it, a line for each field; without `labels`, no tags and names of files and folders,
    which say what kind of document it is."""
    fields = _fields(document, others)
    return "\n".join(
        " ".join(field_words) for kind, _, field_words in fields if labels or kind not in _LABELS
    )


def known_in_order(document: Document, others: Sequence[str] = ()) -> list[str]:
    """All words of it, field by field."""
    return [word for _, _, field_words in _fields(document, others) for word in field_words]


def weights(fields: NDArray[np.int64], *, alike: bool = False) -> NDArray[np.float64]:
    """How much words in these fields count: in each case the field that counts most. `alike`: words
    that are only spelled like the query's, which count in names alone. With others, "rulers" found
    every document with the tag "rules" before the one about rulers."""
    return _table()[fields & _NAMES if alike else fields]


@cache
def _table() -> NDArray[np.float64]:
    table = np.zeros(1 << len(_WEIGHTS))
    every = np.arange(len(table))
    for name, weight in _WEIGHTS.items():
        np.maximum(table, weight * ((every & _BIT[name]) > 0), out=table)
    return table


_Fields: TypeAlias = tuple[tuple[str, str, list[str]], ...]
_entries: dict[int, tuple[Document, tuple[str, ...], _Fields]] = {}  # by the identity of the object


def _fields(document: Document, others: Sequence[str]) -> _Fields:
    """Kind, name and words of each field. A search asks for those of each result five times."""
    entry = _entries.get(id(document))
    if entry is None or entry[0] is not document or entry[1] != tuple(others):
        if len(_entries) >= _KEPT:
            _entries.clear()
        entry = document, tuple(others), tuple(_split(document, others))
        _entries[id(document)] = entry
    return entry[2]


def _split(document: Document, others: Sequence[str]) -> Iterator[tuple[str, str, list[str]]]:
    yield "title", "title", words(clean(document.title))
    for uri in (document.uri, *document.names):
        path = unquote(uri) if "://" in uri else uri
        *folders, name = [part for part in _SEPARATOR.split(clean(path)) if part] or [""]
        yield "file", "file", words(name)
        for folder in folders[-_FOLDERS:]:
            yield "folder", "folder", _words_of_folder(folder)
    for field, texts in _texts(document.metadata):
        if field in _OF_METADATA or field in others:
            kind = _OF_METADATA.get(field, "other")
            name = field if kind == "other" else kind
            for text in texts:
                date_words = _dated(text, document) if kind == "date" else words(text)
                yield (
                    kind,
                    name,
                    [*date_words, "".join(date_words)] if field == "isbn" else date_words,
                )


_words_of_folder = lru_cache(1_000)(words)  # of many files each


def _texts(metadata: Metadata) -> Iterator[tuple[str, list[str]]]:
    for name, value in metadata.items():
        yield name, [clean(str(item)) for item in (value if isinstance(value, tuple) else (value,))]


def _dated(text: str, document: Document) -> list[str]:
    """A date in the ways people write it: 2024-03-05, 5.3.2024, 5 March 2024, Mar 2024."""
    date = _DATE.match(text)
    if date is None:
        return words(text)
    return date_words(document.language, *(int(part or 0) for part in date.groups()))
