"""Bytes in an object store, each once, under the hash of what they are.

    s3://bucket/folder/ab/ab34…      the bytes whose SHA-256 is ab34…

An address names no bucket, so an archive can be moved. Knows nothing of documents.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator

from trivium.core.errors import OriginalDamaged, OriginalMissing
from trivium.store.objects import SECONDS, Objects

_SCHEME = "sha256:"
_HASH = re.compile(r"[0-9a-f]{64}")
_RENEWED = 1800.0  # seconds; older ones are written again, so that nobody takes them for left


class ObjectBlobs:
    def __init__(self, place: str, seconds: float = SECONDS) -> None:
        """`seconds`: for one request. Raises BadSetting for a place that names no store."""
        self._objects = Objects(place, seconds)

    def check(self) -> None:
        """Raises ArchiveAway, ArchiveRefused."""
        self._objects.check()

    def address(self, data: bytes) -> str:
        return _SCHEME + hashlib.sha256(data).hexdigest()

    def put(self, data: bytes) -> str:
        address = self.address(data)
        head = self._objects.head(_path(address))
        if head is None or head.size != len(data) or head.age > _RENEWED:
            self._objects.put(_path(address), data)
        return address

    def get(self, address: str) -> bytes:
        data = self._objects.get(_path(address)) if _path(address) else None
        if data is None:
            raise OriginalMissing(f"The archive {self._objects.place} doesn't have {address}.")
        if self.address(data) != address:
            raise OriginalDamaged(f"The file {address} in the archive has changed.")
        return data

    def part(self, address: str, start: int, end: int) -> bytes:
        data = self._objects.part(_path(address), start, end) if _path(address) else None
        if data is None:
            raise OriginalMissing(f"The archive {self._objects.place} doesn't have {address}.")
        return data

    def size(self, address: str) -> int | None:
        found = self._objects.head(_path(address)) if _path(address) else None
        return None if found is None else found.size

    def link(self, address: str, seconds: int) -> str | None:
        return self._objects.link(_path(address), seconds) if _path(address) else None

    def place(self, address: str) -> str:
        return f"{self._objects.place.rstrip('/')}/{_path(address)}"

    def delete(self, address: str) -> None:
        if _path(address):
            self._objects.delete(_path(address))

    def addresses(self) -> Iterator[tuple[str, float]]:
        for object_ in self._objects.all():
            name = object_.path.rpartition("/")[2]
            if _HASH.fullmatch(name):
                yield _SCHEME + name, object_.age


def _path(address: str) -> str:
    """Nothing for an address that is not of this kind."""
    digest = address.removeprefix(_SCHEME)
    if not address.startswith(_SCHEME) or not _HASH.fullmatch(digest):
        return ""
    return f"{digest[:2]}/{digest}"
