"""Bytes in an object store (S3, Azure Blob, Google), each once, under the hash of what they are.

    s3://bucket/folder/ab/ab34…      the bytes whose SHA-256 is ab34…

Keys come from the environment, as each store's own tools read them (AWS_ACCESS_KEY_ID,
AWS_ENDPOINT, AZURE_STORAGE_ACCOUNT_NAME, GOOGLE_SERVICE_ACCOUNT and so on). An address names no
bucket, so an archive can be moved. Knows nothing of documents.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, TypeVar
from uuid import uuid4

from trivium.errors import (
    ArchiveAway,
    ArchiveRefused,
    BadSetting,
    ExtraMissing,
    OriginalDamaged,
    OriginalMissing,
)

if TYPE_CHECKING:
    from obstore.store import ObjectStore

T = TypeVar("T")
_SCHEME = "sha256:"
_HASH = re.compile(r"[0-9a-f]{64}")
_RENEWED = timedelta(minutes=30)  # older ones are written again, so that nobody takes them for left
_PROBE = "trivium-check"  # written and deleted when the archive is opened
_SECONDS = "30s"  # for one request
_MISSING = ("NoSuchBucket", "404", "ContainerNotFound")


class ObjectBlobs:
    def __init__(self, place: str) -> None:
        """Raises BadSetting for a place that names no store."""
        self._place = place
        self._store = _store(place)

    def check(self) -> None:
        """Write and delete something, so that a wrong bucket or key is known before the first
        document. Raises ArchiveAway, ArchiveRefused."""
        import obstore

        path = f"{_PROBE}-{uuid4().hex}"
        self._asked(lambda: obstore.put(self._store, path, b""))
        self._asked(lambda: obstore.delete(self._store, path))

    def address(self, data: bytes) -> str:
        return _SCHEME + hashlib.sha256(data).hexdigest()

    def put(self, data: bytes) -> str:
        import obstore

        address = self.address(data)
        found = self._head(address)
        is_there = found is not None and found["size"] == len(data)
        if found is None or not is_there or datetime.now(UTC) - found["last_modified"] > _RENEWED:
            # Large ones go in parts, and are seen when all parts are there.
            self._asked(lambda: obstore.put(self._store, _path(address), data))
        return address

    def get(self, address: str) -> bytes:
        import obstore
        from obstore.exceptions import NotFoundError

        missing = OriginalMissing(f"The archive {self._place} doesn't have {address}.")
        if not _path(address):
            raise missing
        try:
            data = self._asked(lambda: bytes(obstore.get(self._store, _path(address)).bytes()))
        except (NotFoundError, FileNotFoundError):
            raise missing from None
        if self.address(data) != address:
            raise OriginalDamaged(f"The file {address} in the archive has changed.")
        return data

    def size(self, address: str) -> int | None:
        found = self._head(address)
        return None if found is None else int(found["size"])

    def delete(self, address: str) -> None:
        import obstore
        from obstore.exceptions import NotFoundError

        if _path(address):
            try:
                self._asked(lambda: obstore.delete(self._store, _path(address)))
            except (NotFoundError, FileNotFoundError):
                return

    def addresses(self) -> Iterator[tuple[str, float]]:
        import obstore

        now = datetime.now(UTC)
        for page in self._asked(lambda: list(obstore.list(self._store, chunk_size=1000))):
            for found in page:
                name = found["path"].rpartition("/")[2]
                if _HASH.fullmatch(name):
                    yield _SCHEME + name, (now - found["last_modified"]).total_seconds()

    def _head(self, address: str) -> Any:
        import obstore
        from obstore.exceptions import NotFoundError

        if not _path(address):
            return None
        try:
            return self._asked(lambda: obstore.head(self._store, _path(address)))
        except (NotFoundError, FileNotFoundError):
            return None

    def _asked(self, ask: Callable[[], T]) -> T:
        """What the store answers, its refusals as errors of ours. What is not there stays
        FileNotFoundError."""
        from obstore.exceptions import BaseError, PermissionDeniedError, UnauthenticatedError

        try:
            return ask()
        except (PermissionDeniedError, UnauthenticatedError, PermissionError) as reason:
            raise ArchiveRefused(f"The archive {self._place} refused the key.") from reason
        except FileNotFoundError:
            raise
        except (BaseError, OSError) as reason:
            said = str(reason)
            if any(one in said for one in ("403", "AccessDenied", "InvalidAccessKeyId")):
                raise ArchiveRefused(f"The archive {self._place} refused the key.") from reason
            if any(one in said for one in _MISSING):
                raise ArchiveRefused(
                    f"{self._place} has no bucket.", fix="Create it, or name another."
                ) from reason
            raise ArchiveAway(f"The archive {self._place} doesn't answer.") from reason


def _store(place: str) -> ObjectStore:
    try:
        from obstore.exceptions import BaseError
        from obstore.store import from_url
    except ImportError as reason:
        raise ExtraMissing(
            "To keep the archive in an object store, install obstore.",
            fix="pip install 'trivium[objects]'",
            on_page="Ask the person who runs this server to install it.",
        ) from reason
    try:
        return from_url(
            place,
            client_options={"timeout": _SECONDS, "allow_http": _may_be_plain()},
            retry_config={"max_retries": 3, "retry_timeout": timedelta(seconds=30)},
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


def _path(address: str) -> str:
    """Nothing for an address that is not of this kind."""
    digest = address.removeprefix(_SCHEME)
    if not address.startswith(_SCHEME) or not _HASH.fullmatch(digest):
        return ""
    return f"{digest[:2]}/{digest}"
