"""A Zotero library: one paper is one item, with its PDF, its notes and its annotations.

Reads the database file of a running Zotero, or asks an API: the local one of the program, or that
of the website. Both report the same; an entry is reported again when it changes or anything that
belongs to it does.
"""

from __future__ import annotations

import html
import json
import re
import sqlite3
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from hashlib import md5, sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Protocol
from urllib.parse import urlsplit
from urllib.request import url2pathname

from trivium.core.errors import (
    BadSetting,
    FileUnreadable,
    SourceNonsense,
    SourceUnreachable,
    UrlFailed,
)
from trivium.core.types import EVERYONE, Extraction, Place
from trivium.extract.composer import describe
from trivium.ports import Change, Checkpoint, Gone, Only, Put, SourceAsked, SourceKind, Wait
from trivium.ports.sync import Deletions
from trivium.sources.folder import read
from trivium.sources.listed import compared, existing, stamp_of
from trivium.sources.service import A_PAGE, Service, is_whole_page, whole_number
from trivium.sources.texts import text_put
from trivium.sources.zotero_export import MEDIA_TYPE, SUFFIXES, ZoteroExportSource

URL = "http://127.0.0.1:23119/api/"
_PAGE = 100

Json = Mapping[str, Any]


@dataclass(slots=True)
class Entry:
    """A top-level item with everything that belongs to it, with the field names of Zotero's API."""

    data: dict[str, Any]
    children: list[dict[str, Any]] = field(default_factory=list)
    library: str = ""  # a group's name; empty: the personal library

    @property
    def key(self) -> str:
        return str(self.data["key"])


class EntrySource(Protocol):
    """Where entries come from."""

    def entries(self) -> Generator[Wait, None, dict[str, Entry]]: ...

    def unchanged(self, mark: str) -> Generator[Wait, None, bool]:
        """Whether nothing happened since this mark."""

    def mark(self) -> str: ...

    def file(self, attachment: Json) -> tuple[Callable[[], bytes], str] | None:
        """How to read an attached file, and a mark that changes when it does."""


class ZoteroSource:
    deletions: Deletions = "told"

    def __init__(self, reading: EntrySource) -> None:
        self._reading = reading

    def changes(self, cursor: str) -> Iterator[Change]:
        before = json.loads(cursor) if cursor else {}
        reported: dict[str, str] = dict(before.get("told", {}))
        if before.get("mark") and (yield from self._reading.unchanged(before["mark"])):
            yield Checkpoint(cursor)
            return
        entries = yield from self._reading.entries()
        states = {key: self._state(entry) for key, entry in sorted(entries.items())}
        mark = {"mark": self._reading.mark()}
        tell = lambda key: self._changes_of(entries[key])  # noqa: E731
        yield from compared(reported, states, tell, under="told", last=mark, below=True)

    def ids(self) -> Iterator[str | Wait]:
        entries = yield from self._reading.entries()
        for entry in entries.values():
            yield from (put.id for put in self._puts(entry))

    def again(self, ids: Sequence[str]) -> Iterator[Change]:
        entries = yield from self._reading.entries()
        for id_ in ids:
            entry = entries.get(id_.partition("/")[0])
            puts = self._puts(entry) if entry else []
            yield next((put for put in puts if put.id == id_), None) or Gone(id_)

    def _state(self, entry: Entry) -> str:
        marks = [self._reading.file(child) for child in entry.children if _is_file(child)]
        # "one": since notes are part of their paper. Entries reported before come again.
        state = ["one", entry.data, entry.children, [mark[1] if mark else "" for mark in marks]]
        return sha256(json.dumps(state, sort_keys=True).encode()).hexdigest()[:16]

    def _changes_of(self, entry: Entry) -> Iterator[Change]:
        puts = self._puts(entry)
        yield from puts
        ids = frozenset(put.id for put in puts)
        if entry.key not in ids:
            yield Gone(entry.key)
        yield Only(f"{entry.key}/", ids)

    # --- one entry

    def _puts(self, entry: Entry) -> list[Put]:
        """A paper as one item: its file, or else its entry, with everything that belongs to it."""
        files = [(child, file) for child in entry.children if _is_file(child)
                 and (file := self._reading.file(child)) is not None]  # fmt: skip
        files.sort(
            key=lambda pair: (pair[0].get("contentType") != "application/pdf", pair[0]["key"])
        )
        data, key = entry.data, entry.key
        title = str(data.get("title") or "") or "Untitled"
        about = {**_about(entry), "entry": key}
        parts = [
            Put(f"{key}/{child['key']}", str(child.get("filename") or child["key"]), content)
            for child, (content, _) in files[1:]
        ]
        for child in entry.children:
            parts += _remark(f"{key}/{child['key']}", child)
        abstract = _text(key, str(data.get("abstractNote") or ""), "Abstract")
        if files:
            first, (content, _) = files[0]
            name = str(first.get("filename") or f"{key}.pdf")
            whole = (*abstract, *parts)
            return [Put(key, name, content, title, about, EVERYONE, parts=whole)]
        if data.get("itemType") == "note":
            note = _remark(key, data)
            title = str(data.get("title") or "") or "Note"
            return [replace(put, title=title, metadata=about, audience=EVERYONE) for put in note]
        if data.get("itemType") == "attachment":
            return []
        text = str(data.get("abstractNote") or "")
        put = text_put(key, text, title=title, media_type=MEDIA_TYPE, headings=(title,))
        return [Put(key, put.name, put.content, "", about, EVERYONE, parts=tuple(parts))]


def _is_file(fields: Json) -> bool:
    return fields.get("itemType") == "attachment"


def _about(entry: Entry) -> dict[str, Any]:
    data = entry.data
    people = [
        str(who.get("name") or f"{who.get('firstName', '')} {who.get('lastName', '')}").strip()
        for who in data.get("creators") or ()
    ]
    return dict(
        describe(
            {
                "authors": people,
                "year": str(data.get("date") or ""),
                "date": data.get("date"),
                "doi": data.get("DOI"),
                "isbn": data.get("ISBN"),
                "container": data.get("publicationTitle") or data.get("bookTitle"),
                "publisher": data.get("publisher"),
                "keywords": [tag.get("tag") for tag in data.get("tags") or ()],
                "collections": list(data.get("collectionNames") or ()),
                "kind": data.get("itemType"),
                "abstract": data.get("abstractNote"),
                "link": data.get("url") or f"zotero://select/library/items/{entry.key}",
                "library": entry.library,
                "citation_key": data.get("citationKey") or _citation_key(data.get("extra")),
            }
        )
    )


def _citation_key(extra: object) -> str:
    """As Better BibTeX writes it into `extra`."""
    match = re.search(r"^Citation Key:\s*(\S+)", str(extra or ""), re.MULTILINE | re.IGNORECASE)
    return match[1] if match else ""


def _remark(id_: str, fields: Json) -> list[Put]:
    """A note, or an annotation with the page that it is on."""
    if fields.get("itemType") == "note" and str(fields.get("note") or "").strip():
        page = f'<!doctype html><meta charset="utf-8"><body>{fields["note"]}</body>'
        data = page.encode("utf-8", "replace")
        return [Put(id_, "note.html", partial(bytes, data), size=len(data))]
    if fields.get("itemType") != "annotation":
        return []
    parts = [str(fields.get("annotationText") or ""), str(fields.get("annotationComment") or "")]
    text = "\n\n".join(html.unescape(part) for part in parts if part.strip())
    with suppress(ValueError, TypeError):
        at = json.loads(fields.get("annotationPosition") or "{}")["pageIndex"]
        return _text(id_, text, "Annotation", (int(at) + 1,))
    return _text(id_, text, "Annotation")


def _text(id_: str, text: str, heading: str, pages: tuple[int, ...] = ()) -> list[Put]:
    if not text.strip():
        return []
    put = text_put(id_, text, title=heading, media_type=MEDIA_TYPE, headings=(heading,))
    assert isinstance(put.content, Extraction)
    placed = (replace(element, place=Place(pages=pages)) for element in put.content.elements)
    return [Put(id_, put.name, replace(put.content, elements=tuple(placed)))]


# --- the database file


class ZoteroFile:
    """The database of Zotero on this machine. It is copied first: the program locks it."""

    def __init__(self, path: Path, base: Path | None = None) -> None:
        """`base`: the folder that `attachments:` paths begin at."""
        self._path = path / "zotero.sqlite" if path.is_dir() else path
        self._base = base
        self._storage = self._path.parent / "storage"
        self._mark = ""

    def mark(self) -> str:
        """Of the copy: the next run reads changes that happen meanwhile."""
        return self._mark

    def unchanged(self, mark: str) -> Generator[Wait, None, bool]:
        yield from ()
        return mark == self._stamps()

    def _stamps(self) -> str:
        return json.dumps([stamp_of(file) for file in self._files()])

    def _files(self) -> list[Path]:
        return [self._path, self._path.with_name(self._path.name + "-wal")]

    def entries(self) -> Generator[Wait, None, dict[str, Entry]]:
        yield from ()
        self._mark = self._stamps()
        with TemporaryDirectory(prefix="trivium-zotero-") as aside:
            for path in self._files():
                if path.exists():
                    (Path(aside) / path.name).write_bytes(_bytes(path))
            copy = sqlite3.connect(Path(aside) / self._path.name)
            copy.row_factory = sqlite3.Row
            try:
                return _entries(copy)
            except sqlite3.Error as reason:
                raise SourceNonsense(f"{self._path} isn't a Zotero database: {reason}.") from reason
            finally:
                copy.close()

    def file(self, attachment: Json) -> tuple[Callable[[], bytes], str] | None:
        path = str(attachment.get("path") or "")
        if path.startswith("storage:"):
            place = self._storage / str(attachment["key"]) / path.removeprefix("storage:")
            return _readable(place)
        return _linked(path, self._base)


def _readable(place: Path) -> tuple[Callable[[], bytes], str] | None:
    stamp = stamp_of(place)
    return None if stamp is None else (partial(read, place), str(stamp))


def _linked(path: str, base: Path | None) -> tuple[Callable[[], bytes], str] | None:
    """A file that Zotero only links to: by its whole path, or below the base folder."""
    if not path.startswith("attachments:"):
        return _readable(Path(path)) if path else None
    if base is None:
        return None
    place = (base / path.removeprefix("attachments:")).resolve()
    return _readable(place) if place.is_relative_to(base.resolve()) else None


def _bytes(path: Path) -> bytes:
    try:
        return read(path)
    except FileUnreadable as reason:
        raise SourceUnreachable(reason.message) from reason


_ITEMS = """
SELECT items.itemID, items.key, itemTypes.typeName, libraries.libraryID, groups.name AS groupName
FROM items JOIN itemTypes USING (itemTypeID) JOIN libraries USING (libraryID)
LEFT JOIN groups ON groups.libraryID = libraries.libraryID
WHERE items.itemID NOT IN (SELECT itemID FROM deletedItems)
AND libraries.type IN ('user', 'group')"""
_FIELDS = """
SELECT itemData.itemID, fields.fieldName, itemDataValues.value
FROM itemData JOIN fields USING (fieldID) JOIN itemDataValues USING (valueID)"""
_CREATORS = """
SELECT itemCreators.itemID, creators.firstName, creators.lastName
FROM itemCreators JOIN creators USING (creatorID) ORDER BY itemCreators.itemID, orderIndex"""
_TAGS = "SELECT itemTags.itemID, tags.name FROM itemTags JOIN tags USING (tagID) ORDER BY tags.name"
_COLLECTED = """
SELECT collectionItems.itemID, collections.collectionName
FROM collectionItems JOIN collections USING (collectionID) ORDER BY collectionName"""


_ATTACHED = "SELECT itemID, parentItemID, contentType, path FROM itemAttachments"
_NOTED = "SELECT itemID, parentItemID, note FROM itemNotes"
_MARKED = "SELECT itemID, parentItemID, text, comment, position FROM itemAnnotations"


def _entries(db: sqlite3.Connection) -> dict[str, Entry]:
    items: dict[int, dict[str, Any]] = {}
    groups: dict[int, str] = {}
    parents: dict[int, int | None] = {}
    for row in db.execute(_ITEMS):
        items[row["itemID"]] = {"key": row["key"], "itemType": row["typeName"]}
        groups[row["itemID"]] = str(row["groupName"] or "")

    def each(query: str, take: Callable[[dict[str, Any], sqlite3.Row], object]) -> None:
        for row in db.execute(query):
            if row["itemID"] in items:
                take(items[row["itemID"]], row)
                if "parentItemID" in row.keys():  # noqa: SIM118
                    parents[row["itemID"]] = row["parentItemID"]

    each(_FIELDS, lambda item, row: item.update({row["fieldName"]: row["value"]}))
    each(_CREATORS, lambda item, row: item.setdefault("creators", []).append(_named(row)))
    each(_TAGS, lambda item, row: item.setdefault("tags", []).append({"tag": row["name"]}))
    each(
        _COLLECTED,
        lambda item, row: item.setdefault("collectionNames", []).append(row["collectionName"]),
    )
    each(_ATTACHED, lambda item, row: item.update(_attached(row)))
    each(_NOTED, lambda item, row: item.update({"note": row["note"]}))
    if db.execute("SELECT 1 FROM sqlite_master WHERE name = 'itemAnnotations'").fetchone():
        each(_MARKED, lambda item, row: item.update(_marked(row)))
    return _grouped({id_: (fields, parents.get(id_), groups[id_]) for id_, fields in items.items()})


def _named(row: sqlite3.Row) -> dict[str, str]:
    return {"firstName": row["firstName"] or "", "lastName": row["lastName"] or ""}


def _attached(row: sqlite3.Row) -> dict[str, Any]:
    path = str(row["path"] or "")
    name = path.removeprefix("storage:").rpartition("/")[2]
    return {"contentType": row["contentType"], "path": path, "filename": name}


def _marked(row: sqlite3.Row) -> dict[str, Any]:
    return {
        "annotationText": row["text"],
        "annotationComment": row["comment"],
        "annotationPosition": row["position"],
    }


def _grouped(items: Mapping[Any, tuple[dict[str, Any], Any, str]]) -> dict[str, Entry]:
    """Children by top-level item; an annotation belongs to a file that belongs to one."""

    def top(id_: Any) -> Any:
        for _ in range(5):
            if id_ not in items or items[id_][1] is None:
                break
            id_ = items[id_][1]
        return id_

    entries = {
        id_: Entry(data, library=library)
        for id_, (data, parent, library) in items.items()
        if parent is None
    }
    for id_, (data, parent, _) in sorted(items.items(), key=lambda pair: str(pair[1][0]["key"])):
        above = top(id_) if parent is not None else None
        if above in entries:
            entries[above].children.append(data)
    for entry in entries.values():  # a file that belongs to no entry counts as one
        if _is_file(entry.data):
            entry.children.insert(0, entry.data)
    return {entry.key: entry for entry in entries.values()}


# --- the API


class ZoteroApi:
    """The local API of the program, or the website's with a key."""

    def __init__(
        self,
        service: Service,
        library: str = "users/0",
        storage: str = "",
        base: Path | None = None,
        *,
        local: bool = False,
    ) -> None:
        """`library`: users/ID or groups/ID. `storage`: the folder where Zotero keeps files.
        `base`: the folder that `attachments:` paths begin at. `local`: it is the program on this
        machine, which says where files are."""
        self._service = service
        self._base = base
        self._is_local = local
        self._library = library
        self._storage = Path(storage).expanduser() if storage else None
        self._version = ""

    def mark(self) -> str:
        return self._version

    def unchanged(self, mark: str) -> Generator[Wait, None, bool]:
        """The version of a library rises with every change, including deletions. That of the
        program counts only what was synced with the website: it is always read."""
        if self._is_local:
            return False
        answer = yield from self._service.get(
            f"{self._library}/items",
            {"limit": 1, "format": "keys", "since": mark},
            headers={"If-Modified-Since-Version": mark},
            fine=(304,),
        )
        return answer.status == 304 or answer.headers.get("last-modified-version") == mark

    def entries(self) -> Generator[Wait, None, dict[str, Entry]]:
        names = {}
        listed, _ = yield from self._all("collections")
        for fields in listed:
            names[str(fields.get("key"))] = str((fields.get("data") or {}).get("name") or "")
        objects, version = yield from self._all("items")
        items = {}
        for fields in objects:
            if not isinstance(fields.get("data"), dict) or "key" not in fields:
                raise SourceNonsense("Zotero returned an incomplete item.")
            data = {name: value for name, value in fields["data"].items() if name != "version"}
            if data.get("deleted"):
                continue
            enclosure = (fields.get("links") or {}).get("enclosure") or {}
            if self._is_local and str(enclosure.get("href") or "").startswith("file:"):
                data["place"] = enclosure["href"]
            data["key"] = fields["key"]
            data["collectionNames"] = [names[c] for c in data.pop("collections", ()) if c in names]
            library = fields.get("library") or {}
            group = str(library.get("name") or "") if library.get("type") == "group" else ""
            items[str(fields["key"])] = (data, data.get("parentItem") or None, group)
        self._version = version
        return _grouped(items)

    def _all(self, part: str) -> Generator[Wait, None, tuple[list[dict[str, Any]], str]]:
        """Starts again if the library changed between two pages."""
        while True:
            items: list[dict[str, Any]] = []
            version = ""
            while True:
                params = {"format": "json", "limit": _PAGE, "start": len(items)}
                answer = yield from self._service.get(f"{self._library}/{part}", params)
                payload = answer.json("Zotero")
                now = answer.headers.get("last-modified-version", "")
                if version and now != version:
                    break
                version = now
                items += [item for item in payload if isinstance(item, dict)]
                total = whole_number(answer.headers.get("total-results", ""))
                if not payload or (total and len(items) >= total):
                    return items, version

    def file(self, attachment: Json) -> tuple[Callable[[], bytes], str] | None:
        if attachment.get("linkMode") not in ("imported_file", "imported_url", "linked_file", None):
            return None
        key, name = str(attachment["key"]), str(attachment.get("filename") or "")
        if attachment.get("place"):
            return _readable(_local(str(attachment["place"])))
        if attachment.get("linkMode") == "linked_file":
            # Paths of another machine mean nothing here; the website has no such files.
            path = str(attachment.get("path") or "")
            return _linked(path, self._base) if self._is_local or self._base else None
        if self._storage is not None:
            return _readable(self._storage / key / name) if name else None
        if self._is_local:
            return self._looked_up(key)
        if not attachment.get("md5"):  # the website has no file for it
            return None
        url = f"{self._service.url}{self._library}/items/{key}/file"
        return partial(self._fetched, url, str(attachment["md5"])), str(attachment["md5"])

    def _fetched(self, url: str, digest: str) -> bytes:
        """A page of another hash than the website knows isn't the file. (The bytes of a saved web
        page may come packed, so others aren't compared.)"""
        data = self._service.file(url, elsewhere=True)
        if is_whole_page(data) and md5(data, usedforsecurity=False).hexdigest() != digest:
            raise UrlFailed(f"Zotero sent {A_PAGE} instead of the file.")
        return data

    def _looked_up(self, key: str) -> tuple[Callable[[], bytes], str] | None:
        """Where the program keeps a file: it answers with a redirect to `file:`."""
        place = self._service.place(f"{self._library}/items/{key}/file")
        return _readable(_local(place)) if place.startswith("file:") else None


def _local(url: str) -> Path:
    return Path(url2pathname(urlsplit(url).path))


def _make(request: SourceAsked) -> ZoteroSource | ZoteroExportSource:
    storage = request.option("storage")
    base = existing(request.option("attachments")) if request.option("attachments") else None
    if path := request.option("path"):
        place = existing(path)
        if place.suffix.lower() in SUFFIXES:
            return ZoteroExportSource(place, existing(storage) if storage else None)
        return ZoteroSource(ZoteroFile(place, base))
    library = request.option("library", "users/0")
    if not re.fullmatch(r"(users|groups)/\d+", library):
        raise BadSetting("`library` must be users/ID or groups/ID.", fix="Correct it.")
    headers = {"Zotero-API-Version": "3"}
    if key := request.secrets.get("key", ""):
        headers["Authorization"] = f"Bearer {key}"
    service = Service("Zotero", request.option("url", URL), headers, backoff)
    local = urlsplit(service.url).hostname in ("127.0.0.1", "localhost", "::1")
    return ZoteroSource(ZoteroApi(service, library, storage, base, local=local))


def backoff(headers: Mapping[str, str]) -> float:
    """The seconds between requests that the website asks for."""
    return float(whole_number(headers.get("backoff", "")))


KIND = SourceKind(
    "zotero",
    "a Zotero library: entries with their PDFs, notes and annotations",
    _make,
    {
        "path": "Zotero's folder, or an export (.bib, .json, .ris, .enw, .xml); empty: use the API",
        "url": "address of the API; default: the program on this machine",
        "library": "users/ID or groups/ID; default: users/0 (your own)",
        "storage": "Zotero's folder `storage`, to read PDFs from with an export or the API",
        "attachments": "base directory of linked attachments, as set in Zotero",
    },
    secrets=("key",),
    own=(URL, "https://api.zotero.org"),
    files=("path", "storage", "attachments"),
)
