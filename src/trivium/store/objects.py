"""An object store (S3, Azure Blob, Google) by its address: put, get, list, delete, sign.

Keys come from the environment, as each store's own tools read them (AWS_ACCESS_KEY_ID,
AWS_ENDPOINT, AZURE_STORAGE_ACCOUNT_NAME, GOOGLE_SERVICE_ACCOUNT and so on). Refusals come as errors
of ours, what is not there as None. Knows nothing of what the bytes are.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, BinaryIO, TypeVar
from uuid import uuid4

from trivium.core.errors import ArchiveAway, ArchiveRefused, BadSetting, ExtraMissing, install

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
        kept = {"Content-Disposition": "attachment"}
        try:
            self._asked(lambda: obstore.put(self._store, path, data, attributes=kept))
        except FileNotFoundError as reason:
            raise self._no_bucket() from reason

    def put_new(self, path: str, data: bytes) -> bool:
        """Whether it was not there: one of several who write the same at once is the first."""
        import obstore
        from obstore.exceptions import AlreadyExistsError

        try:
            self._asked(
                lambda: obstore.put(self._store, path, data, mode="create", use_multipart=False)
            )
        except AlreadyExistsError:
            return False
        return True

    def get(self, path: str) -> bytes | None:
        import obstore

        return self._held(lambda: bytes(obstore.get(self._store, path).bytes()))

    def part(self, path: str, start: int, end: int) -> bytes | None:
        import obstore

        return self._held(lambda: bytes(obstore.get_range(self._store, path, start=start, end=end)))

    def head(self, path: str) -> StoredObject | None:
        import obstore

        found = self._held(lambda: obstore.head(self._store, path))
        if found is None:
            return None
        age = (datetime.now(UTC) - found["last_modified"]).total_seconds()
        return StoredObject(path, int(found["size"]), age)

    def delete(self, path: str) -> None:
        """What is not there is no error."""
        import obstore

        self._held(lambda: obstore.delete(self._store, path))

    def all(self, prefix: str | None = None) -> Iterator[StoredObject]:
        import obstore

        now = datetime.now(UTC)
        for page in self._asked(lambda: list(obstore.list(self._store, prefix, chunk_size=1000))):
            for one in page:
                age = (now - one["last_modified"]).total_seconds()
                yield StoredObject(one["path"], int(one["size"]), age)

    def link(self, path: str, seconds: int) -> str | None:
        """An address at which anyone can read the object for so long; None: this store has none."""
        import obstore
        from obstore.store import AzureStore, GCSStore, S3Store

        store, lasting = self._store, timedelta(seconds=seconds)
        if not isinstance(store, S3Store | AzureStore | GCSStore):
            return None
        return self._asked(lambda: obstore.sign(store, "GET", path, lasting))

    def _held(self, ask: Callable[[], T]) -> T | None:
        from obstore.exceptions import NotFoundError

        try:
            return self._asked(ask)
        except (NotFoundError, FileNotFoundError):
            return None

    def _asked(self, ask: Callable[[], T]) -> T:
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
            if answer.startswith("403") or any(one in answer for one in _DENIED):
                raise ArchiveRefused(f"The archive {self.place} refused the key.") from reason
            if answer.startswith("404") or any(one in answer for one in _MISSING):
                raise self._no_bucket() from reason
            raise ArchiveAway(f"The archive {self.place} doesn't answer.") from reason

    def _no_bucket(self) -> ArchiveRefused:
        return ArchiveRefused(f"{self.place} has no bucket.", fix="Create it, or name another.")


def _answer(said: str) -> str:
    """The status and text that the store answered with; nothing if it didn't. What stands before
    and after can hold any number: in a hash, a port, a millisecond."""
    return said.partition("status code: ")[2].partition("Debug source:")[0]


def _store(place: str, patience: timedelta) -> ObjectStore:
    try:
        from obstore.exceptions import BaseError
        from obstore.store import from_url
    except ImportError as reason:
        raise ExtraMissing(
            "To keep the archive in an object store, install obstore.",
            fix=install("objects"),
            on_page="Ask the person who runs this server to install it.",
        ) from reason
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
    said = (os.environ.get(f"{kind}_ALLOW_HTTP", "") for kind in ("AWS", "AZURE", "GOOGLE"))
    return any(one.lower() in ("1", "true") for one in said)
