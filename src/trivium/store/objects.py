"""An object store (S3, Azure Blob, Google) by its address, and what Trivium keeps in one:
originals, each once, under the hash of what they are, and files that were sent in and wait, where
any server or worker finds them.

    s3://bucket/folder/ab/ab34…            the bytes whose SHA-256 is ab34…
    s3://bucket/folder/incoming/NAME       a file that waits

An address names no bucket, so an archive can be moved. Keys come from the environment, as each
store's own tools read them (AWS_ACCESS_KEY_ID, AWS_ENDPOINT, AZURE_STORAGE_ACCOUNT_NAME,
GOOGLE_SERVICE_ACCOUNT and so on). Refusals come as errors of ours, what is not there as None. Knows
nothing of documents and jobs.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, BinaryIO, TypeVar
from uuid import uuid4

from trivium.core.errors import (
    ArchiveAway,
    ArchiveRefused,
    BadSetting,
    FileUnreadable,
    ServerBusy,
)
from trivium.core.plugins import needs
from trivium.store.blobs import (
    HASH,
    SCHEME,
    address_of,
    check_room,
    digest_of,
    present,
    unchanged,
)

if TYPE_CHECKING:
    from obstore.store import ObjectStore

T = TypeVar("T")
_PROBE = "trivium-check"  # written and deleted when a store is opened
SECONDS = 30.0
# How stores call a refused key, and a missing bucket, whatever the status.
_DENIED = ("AccessDenied", "InvalidAccessKeyId")
_MISSING = ("NoSuchBucket", "ContainerNotFound")


@dataclass(frozen=True, slots=True)
class StoredObject:
    """One object, without its bytes."""

    path: str
    size: int
    age: float  # seconds since it was written


class Objects:
    def __init__(self, place: str, seconds: float = SECONDS) -> None:
        """`seconds`: for one request, and for trying again. Raises BadSetting for a place that
        names no store, and ExtraMissing."""
        self.place = place
        self._store = _store(place, timedelta(seconds=seconds))

    def check(self) -> None:
        """Write and delete something, so that a wrong bucket or key is known before the first
        document. Raises ArchiveAway, ArchiveRefused."""
        path = f"{_PROBE}-{uuid4().hex}"
        self.put(path, b"")
        self.delete(path)

    def put(self, path: str, data: bytes | BinaryIO) -> None:
        """Large ones go in parts, and are seen when all parts are there."""
        import obstore

        # Links download it instead of showing it: it may be a web page.
        attributes = {"Content-Disposition": "attachment"}
        try:
            self._with_errors(lambda: obstore.put(self._store, path, data, attributes=attributes))
        except FileNotFoundError as reason:
            raise self._no_bucket() from reason

    def put_new(self, path: str, data: bytes) -> bool:
        """Whether it was not there: one of several who write the same at once is the first."""
        import obstore
        from obstore.exceptions import AlreadyExistsError

        try:
            self._with_errors(
                lambda: obstore.put(self._store, path, data, mode="create", use_multipart=False)
            )
        except AlreadyExistsError:
            return False
        return True

    def get(self, path: str) -> bytes | None:
        import obstore

        return self._unless_missing(lambda: bytes(obstore.get(self._store, path).bytes()))

    def part(self, path: str, start: int, end: int) -> bytes | None:
        import obstore

        return self._unless_missing(
            lambda: bytes(obstore.get_range(self._store, path, start=start, end=end))
        )

    def head(self, path: str) -> StoredObject | None:
        import obstore

        stored = self._unless_missing(lambda: obstore.head(self._store, path))
        if stored is None:
            return None
        age = (datetime.now(UTC) - stored["last_modified"]).total_seconds()
        return StoredObject(path, int(stored["size"]), age)

    def delete(self, path: str) -> None:
        """What is not there is no error."""
        import obstore

        self._unless_missing(lambda: obstore.delete(self._store, path))

    def all(self, prefix: str | None = None) -> Iterator[StoredObject]:
        import obstore

        now = datetime.now(UTC)
        for page in self._with_errors(
            lambda: list(obstore.list(self._store, prefix, chunk_size=1000))
        ):
            for entry in page:
                age = (now - entry["last_modified"]).total_seconds()
                yield StoredObject(entry["path"], int(entry["size"]), age)

    def link(self, path: str, seconds: int) -> str | None:
        """An address at which anyone can read the object for so long; None: this store has none."""
        import obstore
        from obstore.store import AzureStore, GCSStore, S3Store

        store, lasting = self._store, timedelta(seconds=seconds)
        if not isinstance(store, S3Store | AzureStore | GCSStore):
            return None
        return self._with_errors(lambda: obstore.sign(store, "GET", path, lasting))

    def _unless_missing(self, ask: Callable[[], T]) -> T | None:
        from obstore.exceptions import NotFoundError

        try:
            return self._with_errors(ask)
        except (NotFoundError, FileNotFoundError):
            return None

    def _with_errors(self, ask: Callable[[], T]) -> T:
        """The store's answer; its refusals become our errors. If something is missing, or exists
        already, raises FileNotFoundError or AlreadyExistsError."""
        from obstore.exceptions import (
            AlreadyExistsError,
            BaseError,
            PermissionDeniedError,
            UnauthenticatedError,
        )

        try:
            return ask()
        except (PermissionDeniedError, UnauthenticatedError, PermissionError) as reason:
            raise ArchiveRefused(f"The archive {self.place} refused the key.") from reason
        except (FileNotFoundError, AlreadyExistsError):
            raise
        except (BaseError, OSError) as reason:
            answer = _answer(str(reason))
            if answer.startswith("403") or any(sign in answer for sign in _DENIED):
                raise ArchiveRefused(f"The archive {self.place} refused the key.") from reason
            if answer.startswith("404") or any(sign in answer for sign in _MISSING):
                raise self._no_bucket() from reason
            raise ArchiveAway(f"The archive {self.place} doesn't answer.") from reason

    def _no_bucket(self) -> ArchiveRefused:
        return ArchiveRefused(f"{self.place} has no bucket.", fix="Create it, or name another.")


def _answer(reason: str) -> str:
    """The status and text that the store answered with; nothing if it didn't. What stands before
    and after can hold any number: in a hash, a port, a millisecond."""
    return reason.partition("status code: ")[2].partition("Debug source:")[0]


def _store(place: str, patience: timedelta) -> ObjectStore:
    with needs("objects", "To keep the archive in an object store, install obstore."):
        from obstore.exceptions import BaseError
        from obstore.store import from_url
    try:
        return from_url(
            place,
            client_options={"timeout": patience, "allow_http": _may_be_plain()},
            retry_config={"max_retries": 3, "retry_timeout": patience},
        )
    except (BaseError, ValueError) as reason:
        raise BadSetting(
            f"{place} isn't the address of an object store.",
            fix="Write s3://BUCKET/FOLDER, az://CONTAINER/FOLDER or gs://BUCKET/FOLDER.",
        ) from reason


def _may_be_plain() -> bool:
    """Whether the environment allows plain HTTP, as for a server on this machine."""
    values = (os.environ.get(f"{kind}_ALLOW_HTTP", "") for kind in ("AWS", "AZURE", "GOOGLE"))
    return any(flag.lower() in ("1", "true") for flag in values)


_RENEWED = 1800.0  # seconds; older ones are written again, so that nobody takes them for left


class ObjectBlobs:
    address = staticmethod(address_of)

    def __init__(self, place: str, seconds: float = SECONDS) -> None:
        """`seconds`: for one request. Raises BadSetting for a place that names no store."""
        self._objects = Objects(place, seconds)

    def check(self) -> None:
        """Raises ArchiveAway, ArchiveRefused."""
        self._objects.check()

    def put(self, data: bytes) -> str:
        address = self.address(data)
        head = self._objects.head(_hashed(address))
        if head is None or head.size != len(data) or head.age > _RENEWED:
            self._objects.put(_hashed(address), data)
        return address

    def get(self, address: str) -> bytes:
        data = self._objects.get(_hashed(address)) if _hashed(address) else None
        return unchanged(data, address, f"archive {self._objects.place}")

    def part(self, address: str, start: int, end: int) -> bytes:
        data = self._objects.part(_hashed(address), start, end) if _hashed(address) else None
        return present(data, address, f"archive {self._objects.place}")

    def size(self, address: str) -> int | None:
        stored = self._objects.head(_hashed(address)) if _hashed(address) else None
        return None if stored is None else stored.size

    def link(self, address: str, seconds: int) -> str | None:
        return self._objects.link(_hashed(address), seconds) if _hashed(address) else None

    def place(self, address: str) -> str:
        return f"{self._objects.place.rstrip('/')}/{_hashed(address)}"

    def delete(self, address: str) -> None:
        if _hashed(address):
            self._objects.delete(_hashed(address))

    def addresses(self) -> Iterator[tuple[str, float]]:
        for object_ in self._objects.all():
            name = object_.path.rpartition("/")[2]
            if HASH.fullmatch(name):
                yield SCHEME + name, object_.age


def _hashed(address: str) -> str:
    """Nothing for an address that is not of this kind."""
    digest = digest_of(address)
    return f"{digest[:2]}/{digest}" if digest else ""


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
        self._objects.put(_waiting(name), file)
        # Afterwards: two that come at once may both be too much, never one too many kept.
        if limited and self._most is not None:
            try:
                check_room(sum(self.sizes().values()), self._most)
            except ServerBusy:
                self._objects.delete(_waiting(name))
                raise
        return name

    def sizes(self) -> dict[str, int]:
        return {name: stored.size for name, stored in self._all()}

    def put_back(self, name: str, data: bytes) -> None:
        self._objects.put_new(_waiting(name), data)

    def size(self, name: str) -> int:
        head = self._objects.head(_waiting(name))
        return head.size if head else 0

    def read(self, name: str) -> bytes:
        data = self._objects.get(_waiting(name))
        if data is None:
            raise FileUnreadable("The upload is gone.", fix="Send it again.")
        return data

    def drop(self, name: str) -> None:
        self._objects.delete(_waiting(name))

    def sweep(self, needed: Collection[str], older: float) -> int:
        wanted = set(needed)
        gone = [name for name, stored in self._all() if name not in wanted and stored.age > older]
        for name in gone:
            self._objects.delete(_waiting(name))
        return len(gone)

    def _all(self) -> Iterator[tuple[str, StoredObject]]:
        for object_ in self._objects.all(_FOLDER):
            name = object_.path.rpartition("/")[2]
            if _NAME.fullmatch(name):
                yield name, object_


def _waiting(name: str) -> str:
    return f"{_FOLDER}/{name}"
