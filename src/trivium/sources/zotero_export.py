"""An export of Zotero, as Better BibTeX keeps it up to date: BibTeX, BibLaTeX, CSL-JSON, RIS
or EndNote.

Every entry is an item, with the text of its PDF where that lies beside the export or in the folder
`storage`. Other files are not read, whatever an entry names.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from hashlib import sha256
from pathlib import Path

from trivium.core.errors import FileUnreadable, SourceNonsense, SourceUnreachable
from trivium.core.types import EVERYONE
from trivium.extract.bibliography import CSL, files_of, names_of, reference, references, remarks
from trivium.extract.bibtex import Item
from trivium.ports import Blob, Change, Checkpoint, Gone, Put, Wait
from trivium.ports.sync import Deletions
from trivium.sources.folder import read
from trivium.sources.listed import compared, stamp_of

MEDIA_TYPE = "text/x-zotero"  # of entries; an entry with a PDF has the PDF's
SUFFIXES = (".bib", ".bibtex", ".json", ".ris", ".enw", ".xml")


class ZoteroExportSource:
    deletions: Deletions = "told"

    def __init__(self, path: Path, storage: Path | None = None) -> None:
        self._path = path
        self._roots = [path.parent.resolve(), *([storage.resolve()] if storage else [])]

    def changes(self, cursor: str) -> Iterator[Change]:
        before = json.loads(cursor) if cursor else {}
        reported: dict[str, str] = before.get("told", {})
        stamp = stamp_of(self._path)  # taken before reading: what changes meanwhile is read again
        if stamp is None:
            raise SourceUnreachable(f"{self._path} isn't there.", fix="Is its disk?")
        if before.get("stamp") == list(stamp):
            yield Checkpoint(cursor)
            return
        entries = self._entries()
        states = {key: self._state(item) for key, item in entries.items()}
        puts = lambda key: [self._put(key, entries[key])]  # noqa: E731
        yield from compared(reported, states, puts, under="told", last={"stamp": stamp})

    def ids(self) -> Iterator[str | Wait]:
        yield from self._entries()

    def again(self, ids: Sequence[str]) -> Iterator[Change]:
        entries = self._entries()
        for key in ids:
            yield self._put(key, entries[key]) if key in entries else Gone(key)

    def _entries(self) -> dict[str, Item]:
        """By citation key."""
        try:
            blob = Blob(self._path.name, read(self._path))
        except FileUnreadable as reason:
            raise SourceUnreachable(reason.message) from reason
        items = references(blob)
        if not items and blob.data.strip() not in (b"", b"[]"):
            raise SourceNonsense(f"{self._path} holds no references.", fix="Check its format.")
        keys = (name.removesuffix(".csl.json") for name in names_of(items))
        return dict(zip(keys, items, strict=True))

    def _state(self, item: Item) -> str:
        file = self._file(item)
        # "one": since a paper's notes are read with its file. Entries reported before come again.
        state = json.dumps(
            ["one", item, str(file), stamp_of(file) if file else None], sort_keys=True
        )
        return sha256(state.encode()).hexdigest()[:16]

    def _put(self, key: str, item: Item) -> Put:
        entry = replace(reference(Blob(f"{key}.csl.json", b""), item, CSL), media_type=MEDIA_TYPE)
        file = self._file(item)
        if file is None:
            return Put(key, f"{key}.csl.json", entry, "", entry.metadata, EVERYONE)
        about = {**entry.metadata, "entry": key}
        parts = tuple(Put(key, f"{key}.csl.json", remark) for remark in remarks(item))
        content = partial(read, file)
        return Put(key, file.name, content, entry.title, about, EVERYONE, parts=parts)

    def _file(self, item: Item) -> Path | None:
        """Its first PDF that may be read."""
        folder = str(item.get("file-directory") or "")
        for name in files_of(item):
            for place in (Path(name), Path(folder) / name):
                path = (self._path.parent / place).resolve()
                allowed = any(path.is_relative_to(root) for root in self._roots)
                if allowed and path.suffix.lower() == ".pdf" and path.is_file():
                    return path
        return None
