"""Follows the files that an entry of a reference library names: its PDF, its snapshot.

The source decides where such a file may be (`SourceItem.beside`). Knows the entry's metadata,
nothing of paths.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from trivium.core.types import Extraction, Metadata
from trivium.extract.bibliography import MEDIA_TYPES
from trivium.extract.cleaning import cleaned_metadata
from trivium.ports import SourceItem
from trivium.text.titles import placed
from trivium.text.values import clean_text

MOST = 20  # files of one entry
# What an entry knows better than the file: printed title pages are read, entries were typed.
_KEPT = ("authors", "year", "date", "citation_key", "doi", "container", "keywords", "link")


def attached(item: SourceItem, extraction: Extraction) -> list[SourceItem]:
    """The files of an entry that can be found, each with the entry's title, authors and year."""
    if item.beside is None or extraction.media_type not in MEDIA_TYPES:
        return []
    entry = extraction.metadata
    about: Metadata = {name: entry[name] for name in _KEPT if name in entry} | {"entry": item.uri}
    found = {}
    for name in _strings(entry, "file"):
        for place in (name, *(f"{folder}/{name}" for folder in _strings(entry, "file_directory"))):
            if (one := item.beside(place)) is not None:
                found[one.uri] = replace(one, enclosed=True, title=extraction.title, metadata=about)
                break
    return list(found.values())[:MOST]


def described(item: SourceItem, extraction: Extraction) -> Extraction:
    """The file's text, with the title, folder and metadata that its source knows."""
    title = clean_text(item.title) or placed(extraction.title, item.uri)
    if title == extraction.title and not item.metadata:
        return extraction
    return replace(
        extraction,
        title=title,
        metadata=cleaned_metadata({**extraction.metadata, **item.metadata}),
    )


def is_library(extraction: Extraction) -> bool:
    """Whether it contains entries, whose files are beside it."""
    return extraction.media_type in MEDIA_TYPES


def _strings(metadata: Metadata, name: str) -> Iterator[str]:
    value = metadata.get(name, ())
    for one in value if isinstance(value, tuple) else (value,):
        if isinstance(one, str) and one:
            yield one
