"""One paper is one document: the entry of a reference library, the files that it names, its notes.

The source decides where a file may be (`SourceItem.beside`). Knows entries, nothing of paths.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from hashlib import sha256
from typing import TypeAlias

from trivium.core.errors import ReadError
from trivium.core.types import Chunk, Document, Extraction, Metadata
from trivium.extract.bibliography import (
    CSL,
    MEDIA_TYPES,
    files_of,
    names_of,
    reference,
    references,
    remarks,
)
from trivium.extract.bibtex import Item
from trivium.extract.cleaning import cleaned, cleaned_metadata
from trivium.extract.composer import Composer
from trivium.ingest.outcomes import hash_of
from trivium.ports import Blob, SourceItem
from trivium.store.identity import ENTRY, WITHIN
from trivium.text.normalise import words
from trivium.text.titles import placed
from trivium.text.values import clean_text

MOST = 20  # files of one entry
# What an entry knows better than the file: printed title pages are read, entries were typed.
_KEPT = (
    "authors", "year", "date", "citation_key", "doi", "container", "keywords", "link", "publisher",
    "volume", "issue", "page", "isbn", "issn", "reference_type", "entry",
)  # fmt: skip
PARTS = "parts"  # metadata: a hash of what was read with the file
_SAID = 0.8  # of an abstract's runs of three words: then the file has it, and it isn't added again


def is_library(extraction: Extraction) -> bool:
    """Whether it contains entries, whose files are beside it."""
    return extraction.media_type in MEDIA_TYPES


def papers(library: SourceItem, extraction: Extraction) -> Iterator[SourceItem]:
    """Each entry as its file, if the source has that, with all else that belongs to it; otherwise
    as itself."""
    for inner in extraction.enclosed:
        entries = references(Blob(inner.name, inner.data))
        yield _paper(library, inner.name, inner.data, entries[0] if entries else {})


def adopted(item: SourceItem, before: Document) -> SourceItem:
    """A file of a known paper, with what its entry says today; if the library isn't there, with
    what it said before."""
    path, _, name = str(before.metadata[ENTRY]).rpartition(WITHIN)
    library = item.beside(path) if item.beside is not None and path else None
    if library is not None and not isinstance(library.content, Extraction):
        with suppress(ReadError):
            entries = references(Blob(library.name, library.content()))
            for entry_name, entry in zip(names_of(entries), entries, strict=True):
                paper = _paper(library, name, b"", entry) if entry_name == name else None
                if paper is not None and paper.uri == item.uri:
                    return replace(
                        item, title=paper.title, metadata=paper.metadata, parts=paper.parts
                    )
    return replace(item, title=before.title, metadata=paper_fields(before.metadata))


def _paper(library: SourceItem, name: str, data: bytes, entry: Item) -> SourceItem:
    uri = f"{library.uri}{WITHIN}{name}"
    alone = SourceItem(uri, name, partial(bytes, data), len(data), enclosed=True)
    if library.beside is None or not files_of(entry):
        return alone
    extraction = reference(Blob(name, data), entry, CSL)
    folders = ("", *_strings(extraction.metadata, "file_directory"))
    files: dict[str, SourceItem] = {}
    for named in files_of(entry):
        places = (f"{folder}/{named}" if folder else named for folder in folders)
        if file := next(filter(None, map(library.beside, places)), None):
            files[file.uri] = file
    if not files:
        return alone
    first, *others = sorted(files.values(), key=lambda file: not file.name.lower().endswith(".pdf"))
    own = (replace(alone, content=remark) for remark in remarks(entry))
    return replace(
        first,
        enclosed=True,
        title=extraction.title,
        metadata=paper_fields({**extraction.metadata, ENTRY: uri}),
        parts=(*own, *others[: MOST - 1]),
    )


def stand_in(item: SourceItem) -> Extraction:
    """Of a paper whose file can't be read: who wrote it, and what it is called."""
    meta = item.metadata
    by = ", ".join(_strings(meta, "authors")) + (f" ({meta['year']})" if meta.get("year") else "")
    out = Composer(item.name)
    lines = (by.strip(), item.title, *_strings(meta, "container"))
    out.add("paragraph", ". ".join(filter(None, lines)) or item.name)
    return out.finish(Blob(item.name, b""), media_type=CSL, titles=(item.title,))


def paper_fields(metadata: Metadata) -> Metadata:
    """What an entry says of its paper."""
    return {name: metadata[name] for name in _KEPT if name in metadata}


Unread: TypeAlias = list[tuple[str, BaseException]]  # names, and why


def with_parts(item: SourceItem) -> tuple[SourceItem, list[Blob | Extraction], Unread]:
    """An item whose metadata has a hash of its parts, so that it is read again when one of them
    changes; these parts; and what is wrong with those that can't be read."""
    if not item.parts and ENTRY not in item.metadata:
        return item, [], []
    texts, parts, unread = [item.title], list[Blob | Extraction](), Unread()
    for part in item.parts:
        try:
            content = part.content if isinstance(part.content, Extraction) else part.content()
        except ReadError as error:
            unread.append((part.name, error))
            continue
        if isinstance(content, Extraction):
            parts.append(cleaned(content))
            texts.append(content.text)
        else:
            parts.append(Blob(part.name, content, "", part.uri))
            texts.append(sha256(content).hexdigest())
    metadata = {**item.metadata, PARTS: hash_of("\n".join(texts))}
    return replace(item, metadata=metadata), parts, unread


def described(item: SourceItem, extraction: Extraction) -> Extraction:
    """The file's text, with the title, folder and metadata that its source knows."""
    title = clean_text(item.title) or placed(extraction.title, item.uri)
    if title == extraction.title and not item.metadata:
        return extraction
    return replace(
        extraction, title=title, metadata=cleaned_metadata({**extraction.metadata, **item.metadata})
    )


def joined(
    whole: Extraction, chunks: Sequence[Chunk], part: Extraction, more: Sequence[Chunk]
) -> tuple[Extraction, tuple[Chunk, ...]]:
    """A text with another behind it, and the passages of both."""
    offset, first = len(whole.text) + 2, len(chunks)
    moved = [
        replace(c, index=first + at, start=c.start + offset, end=c.end + offset, paragraph=None)
        for at, c in enumerate(more)
    ]
    if part.reader:  # another file, whose pages aren't this one's
        moved = [
            replace(c, place=replace(c.place, pages=(), boxes=(), page_starts=())) for c in moved
        ]
    whole = replace(whole, text=f"{whole.text}\n\n{part.text}")
    return whole, (*chunks, *moved)


def is_said(part: Extraction, text: str) -> bool:
    """Whether a text holds nearly all of this: a paper prints the abstract that its entry has."""
    runs = _runs(part.text)
    return len(runs & _runs(text)) >= _SAID * len(runs) > 0


def _runs(text: str) -> set[tuple[str, ...]]:
    spoken = words(text)
    return set(zip(spoken, spoken[1:], spoken[2:], strict=False))


def _strings(metadata: Metadata, name: str) -> Iterator[str]:
    value = metadata.get(name, ())
    for text in value if isinstance(value, tuple) else (value,):
        if isinstance(text, str) and text:
            yield text
