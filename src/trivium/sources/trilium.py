"""Notes of Trilium by its ETAPI: what changed since the last run is read again.

One request lists all notes with the time of their last change, so deletions show at once. A label
`audience` on a note says who may see it; protected notes are left out, for the server can't read
them either.
"""

from __future__ import annotations

import json
from collections.abc import Generator, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from trivium.core.errors import SourceError, SourceNonsense
from trivium.extract.composer import describe
from trivium.ports import Change, Failed, Gone, Put, SourceAsked, SourceKind, Wait
from trivium.ports.sync import Deletions
from trivium.sources.kinds import needed_secret
from trivium.sources.listed import compared
from trivium.sources.service import A_PAGE, Service, is_whole_page

URL = "http://127.0.0.1:8080/etapi/"
_ALL = "note.isProtected = false"
# Kinds of notes with text; the others only show these.
_KINDS = {"text": ".html", "code": "", "mermaid": ".txt", "file": "", "image": "", "book": ".html"}

Json = Mapping[str, Any]


class TriliumSource:
    deletions: Deletions = "told"

    def __init__(self, service: Service, search: str = "") -> None:
        """`search`: which notes, in Trilium's search syntax, such as #lore; empty: all."""
        self._service = service
        self._search = search

    def changes(self, cursor: str) -> Iterator[Change]:
        before: dict[str, str] = json.loads(cursor) if cursor else {}
        notes = yield from self._notes()
        changed = {id_: _changed(note) for id_, note in notes.items()}
        yield from compared(before, changed, lambda id_: self._changes_of(id_, notes[id_]))

    def ids(self) -> Iterator[str | Wait]:
        yield from (yield from self._notes())

    def again(self, ids: Sequence[str]) -> Iterator[Change]:
        notes = yield from self._notes()
        for id_ in ids:
            if id_ in notes:
                yield from self._changes_of(id_, notes[id_])
            else:
                yield Gone(id_)

    def _notes(self) -> Generator[Wait, None, dict[str, Json]]:
        """By id, with the titles of their parents."""
        wanted = f"({self._search}) AND {_ALL}" if self._search else _ALL
        answer = yield from self._service.get(
            "notes", {"search": wanted, "includeArchivedNotes": "true", "fastSearch": "false"}
        )
        payload = answer.json("Trilium").get("results")
        if not isinstance(payload, list):
            raise SourceNonsense("Trilium returned no list of notes.")
        notes = [
            note for note in payload if not note.get("isProtected") and not note.get("isDeleted")
        ]
        titles = {str(note["noteId"]): str(note.get("title") or "") for note in notes}
        return {
            str(note["noteId"]): {
                **note,
                "above": [titles[p] for p in note.get("parentNoteIds") or () if p in titles],
            }
            for note in notes
            if note.get("type") in _KINDS
            and not str(note["noteId"]).startswith("_")
            and "disableSearch" not in _labels(note)
        }

    def _changes_of(self, id_: str, note: Json) -> Iterator[Change]:
        kind, title = str(note["type"]), str(note.get("title") or id_)
        labels = _labels(note)
        about = {name: values for name, values in labels.items() if name.isidentifier()}
        metadata = describe(
            {
                **about,
                "labels": list(labels),
                "parents": note["above"],
                "date": note.get("utcDateCreated"),
                "edited": note.get("utcDateModified"),
                "link": f"{self._service.url.partition('/etapi')[0]}/#{id_}",
                "triliumNoteId": id_,
            }
        )
        label = labels.get("audience", [None])[0]
        try:
            answer = yield from self._service.get(f"notes/{id_}/content")
        except SourceError as reason:  # listed just now, so it isn't gone for good
            yield self._service.failed(id_, reason, title)
            return
        data = answer.data
        if kind in ("text", "book") and is_whole_page(data):
            # Notes are parts of pages: this is a sign-in page, or a proxy's.
            yield Failed(id_, f"Trilium sent {A_PAGE} instead of a note.")
            return
        if kind in ("text", "book"):
            data = b'<!doctype html><meta charset="utf-8"><body>' + (
                data if data.strip() else title.encode()
            )
        elif not data.strip():
            data = title.encode()
        yield Put(
            id_,
            title if kind in ("file", "image") else f"{title}{_KINDS[kind]}",
            partial(bytes, data),
            title=title,
            metadata=metadata,
            audience=label,
            size=len(data),
        )


def _labels(note: Json) -> dict[str, list[str]]:
    labels: dict[str, list[str]] = {}
    for attr in note.get("attributes") or ():
        if attr.get("type") == "label":
            labels.setdefault(str(attr["name"]), []).append(str(attr.get("value") or "yes"))
    return labels


def _changed(note: Json) -> str:
    """A mark that changes when a note, its labels or its place does."""
    attributes = sorted(
        (str(attr.get("name")), str(attr.get("value"))) for attr in note.get("attributes") or ()
    )
    marks = [note.get("utcDateModified"), note.get("blobId"), note.get("title"), note["above"]]
    return json.dumps([*marks, attributes])


def _make(request: SourceAsked) -> TriliumSource:
    token = needed_secret(request, "trilium", "token")
    url = request.option("url", URL)
    url = url if url.rstrip("/").endswith("/etapi") else url.rstrip("/") + "/etapi/"
    return TriliumSource(
        Service("Trilium", url, {"Authorization": token}), request.option("search")
    )


KIND = SourceKind(
    "trilium",
    "Trilium notes, through its ETAPI",
    _make,
    {
        "url": "address of the server; default: http://127.0.0.1:8080",
        "search": "which notes, as a Trilium search such as #lore; empty: all",
    },
    secrets=("token",),
)
