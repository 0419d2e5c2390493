"""Bytes in a folder, each once, under the hash of what they are. Knows nothing of documents.

    folder/ab/ab34…      the bytes whose SHA-256 is ab34…
    folder/new-*         being written; left behind only by a crash

An address is `sha256:` and the hash, whatever the folder is called: it can be moved.
"""

from __future__ import annotations

import hashlib
import os
import re
import threading
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from time import time
from uuid import uuid4

from trivium.core.errors import OriginalDamaged, OriginalMissing, ServerBusy
from trivium.ports import Blobs
from trivium.store.embedded.database import translated

SCHEME = "sha256:"
HASH = re.compile(r"[0-9a-f]{64}")
_UNFINISHED = "new-"
_LEFT = re.compile(rf"{_UNFINISHED}\w+")


def address_of(data: bytes) -> str:
    return SCHEME + hashlib.sha256(data).hexdigest()


def digest_of(address: str) -> str:
    """Nothing for an address that is not of this kind: no name from outside reaches the disk."""
    digest = address.removeprefix(SCHEME)
    return digest if address.startswith(SCHEME) and HASH.fullmatch(digest) else ""


def present(data: bytes | None, address: str, archive: str) -> bytes:
    """What an archive, as people call it, has under an address. Raises OriginalMissing."""
    if data is None:
        raise OriginalMissing(f"The {archive} doesn't have {address}.")
    return data


def unchanged(data: bytes | None, address: str, archive: str) -> bytes:
    """The same, if they are the bytes of that address. Raises OriginalDamaged too."""
    stored = present(data, address, archive)
    if address_of(stored) != address:
        raise OriginalDamaged(f"The file {address} in the {archive} has changed.")
    return stored


class FolderBlobs:
    address = staticmethod(address_of)

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def put(self, data: bytes) -> str:
        """On the disk before it returns (3 ms; .1 without the promise)."""
        address = self.address(data)
        path = self._path(digest_of(address))
        with translated(self._folder):
            if not _renewed(path, data):
                self._write(path, data)
        return address

    def get(self, address: str) -> bytes:
        digest = digest_of(address)
        try:
            data = self._path(digest).read_bytes() if digest else None
        except FileNotFoundError:
            data = None
        return unchanged(data, address, f"archive {self._folder}")

    def part(self, address: str, start: int, end: int) -> bytes:
        digest = digest_of(address)
        try:
            with open(self._path(digest) if digest else "", "rb") as file:
                file.seek(start)
                return file.read(end - start)
        except FileNotFoundError:
            why = f"The archive {self._folder} doesn't have {address}."
            raise OriginalMissing(why) from None

    def size(self, address: str) -> int | None:
        digest = digest_of(address)
        try:
            return os.stat(self._path(digest)).st_size if digest else None
        except FileNotFoundError:
            return None

    def link(self, address: str, seconds: int) -> str | None:
        return None

    def place(self, address: str) -> str:
        return str(self._path(digest_of(address)))

    def delete(self, address: str) -> None:
        digest = digest_of(address)
        name = address.removeprefix(SCHEME)
        with translated(self._folder):
            if digest:
                self._path(digest).unlink(missing_ok=True)
            elif _LEFT.fullmatch(name):
                (self._folder / name).unlink(missing_ok=True)

    def addresses(self) -> Iterator[tuple[str, float]]:
        """Includes files that a killed writer left unfinished, by file name."""
        now = time()
        for path in (*self._folder.glob("??/*"), *self._folder.glob(f"{_UNFINISHED}*")):
            if HASH.fullmatch(path.name) or _LEFT.fullmatch(path.name):
                with suppress(FileNotFoundError):  # deleted, or finished, this instant
                    yield SCHEME + path.name, now - path.stat().st_mtime

    def _path(self, digest: str) -> Path:
        return self._folder / digest[:2] / digest

    def _write(self, path: Path, data: bytes) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        new = self._folder / f"{_UNFINISHED}{uuid4().hex}"
        try:
            with open(new, "xb", opener=_private) as file:
                file.write(data)
                file.flush()
                new.replace(path)
                # After it has its name: ext4, XFS and btrfs then write the name down with the file.
                # Before it, the folder would have to be synced too, for as much time again.
                os.fsync(file.fileno())
        except BaseException:
            new.unlink(missing_ok=True)
            raise


def _renewed(path: Path, data: bytes) -> bool:
    """Whether it exists; marks it as used now. Compares the bytes: after a power failure a file may
    keep its name and lose its contents."""
    try:
        if os.stat(path).st_size != len(data) or path.read_bytes() != data:
            return False
        os.utime(path)
        return True
    except FileNotFoundError:  # never there, or deleted this instant
        return False


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


class KeptOriginals:
    """The originals of a store's documents: stored before the document is registered, deleted with
    the last use.

    In between, any thread may prepare a document whose bytes are already in the archive, while the
    writer removes the last document that refers to them. So an original stays pinned until its
    document is registered. Knows nothing of tables."""

    def __init__(self, blobs: Blobs) -> None:
        self.blobs = blobs
        self._pinned: Counter[str] = Counter()
        self._turn = threading.Lock()

    def keep(self, data: bytes) -> str:
        """Bytes that are about to be registered; their address comes back."""
        address = self.blobs.address(data)
        with self._turn:  # pinned first, so that nobody deletes it meanwhile
            self._pinned[address] += 1
        try:
            return self.blobs.put(data)
        except BaseException:
            self.registered([address])
            raise

    def put_back(self, address: str, data: bytes) -> None:
        if self.blobs.size(address) != len(data) and self.blobs.address(data) == address:
            self.blobs.put(data)  # of a document removed this instant it is left to `compact`

    def get(self, address: str) -> bytes:
        return self.blobs.get(address)

    def part(self, address: str, start: int, end: int) -> bytes:
        return self.blobs.part(address, start, end)

    def link(self, address: str, seconds: int) -> str | None:
        return self.blobs.link(address, seconds)

    def place(self, address: str) -> str:
        return self.blobs.place(address)

    def registered(self, addresses: Iterable[str]) -> None:
        """They are referred to now, or never will be."""
        with self._turn:
            self._pinned -= Counter(address for address in addresses if address)

    def drop(self, addresses: Iterable[str]) -> None:
        """Delete originals that nothing refers to, except pinned ones."""
        for address in addresses:
            with self._turn:
                if address not in self._pinned:
                    self.blobs.delete(address)


def check_room(used: int, most: int | None) -> None:
    """`used`: bytes of all waiting uploads, with a new one. Raises ServerBusy."""
    if most is not None and used > most:
        raise ServerBusy(
            f"Waiting uploads would take {used:,} bytes; the limit is {most:,}"
            " (`serve.incoming_bytes`).",
            fix="Try again when they are added. Retry failed ones with `trivium jobs retry`,"
            " or delete them with `trivium jobs clear`.",
            on_page="Try again when they are added. You can retry failed ones on Add.",
        )
