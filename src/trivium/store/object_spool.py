"""Files that were sent in and wait, in an object store, where any server or worker finds them.

    s3://bucket/folder/incoming/NAME

Knows nothing of jobs.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import BinaryIO
from uuid import uuid4

from trivium.core.errors import FileUnreadable, ServerBusy
from trivium.store.blobs import check_room
from trivium.store.objects import Objects, StoredObject

_FOLDER = "incoming"
_NAME = re.compile(r"[0-9a-f]{32}")


class ObjectSpool:
    def __init__(self, place: str, most: int | None = None) -> None:
        """`most`: bytes that all files together may have. Raises BadSetting, ArchiveAway and
        ArchiveRefused: now, not at the first upload."""
        self._objects = Objects(place)
        self._most = most
        self._objects.check()

    def keep(self, file: BinaryIO, *, limited: bool = True) -> str:
        name = uuid4().hex
        self._objects.put(_path(name), file)
        # Afterwards: two that come at once may both be too much, never one too many kept.
        if limited and self._most is not None:
            try:
                check_room(sum(self.sizes().values()), self._most)
            except ServerBusy:
                self._objects.delete(_path(name))
                raise
        return name

    def sizes(self) -> dict[str, int]:
        return {name: found.size for name, found in self._all()}

    def put_back(self, name: str, data: bytes) -> None:
        self._objects.put_new(_path(name), data)

    def size(self, name: str) -> int:
        head = self._objects.head(_path(name))
        return head.size if head else 0

    def read(self, name: str) -> bytes:
        data = self._objects.get(_path(name))
        if data is None:
            raise FileUnreadable("The upload is gone.", fix="Send it again.")
        return data

    def drop(self, name: str) -> None:
        self._objects.delete(_path(name))

    def sweep(self, needed: Collection[str], older: float) -> int:
        kept = set(needed)
        gone = [name for name, found in self._all() if name not in kept and found.age > older]
        for name in gone:
            self._objects.delete(_path(name))
        return len(gone)

    def _all(self) -> Iterator[tuple[str, StoredObject]]:
        for object_ in self._objects.all(_FOLDER):
            name = object_.path.rpartition("/")[2]
            if _NAME.fullmatch(name):
                yield name, object_


def _path(name: str) -> str:
    return f"{_FOLDER}/{name}"
