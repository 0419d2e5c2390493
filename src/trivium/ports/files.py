"""The bytes of a library: originals, uploads that wait, judged sets."""

from __future__ import annotations

from collections.abc import Collection as Some
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import BinaryIO, Protocol


class Blobs(Protocol):
    """Stores bytes, each once, under an address that a document refers to."""

    def address(self, data: bytes) -> str:
        """The address of these bytes, stored or not. The same bytes have the same address."""

    def put(self, data: bytes) -> str:
        """Store them durably, then return their address."""

    def get(self, address: str) -> bytes:
        """The bytes, checked. Raises OriginalMissing, OriginalDamaged."""

    def part(self, address: str, start: int, end: int) -> bytes:
        """The bytes from `start` up to `end`, unchecked: for players, which ask for a few seconds
        of a recording. Raises OriginalMissing."""

    def size(self, address: str) -> int | None:
        """How many bytes are stored; None: nothing."""

    def link(self, address: str, seconds: int) -> str | None:
        """A URL that lets anyone read the bytes for this long; None: not supported."""

    def place(self, address: str) -> str:
        """Where the operator finds them: a path, or an address in an object store."""

    def delete(self, address: str) -> None:
        """What is not there is no error."""

    def addresses(self) -> Iterator[tuple[str, float]]:
        """All addresses, each with the seconds since it was last put."""


class Originals(Protocol):
    """The files of documents. Any thread may call it at any time."""

    def keep(self, data: bytes) -> str:
        """Store the file of a document that is about to be put; returns its `original`. It is
        deleted with the last interpretation that refers to it."""

    def put_back(self, address: str, data: bytes) -> None:
        """Replace a missing or damaged original with the same bytes."""

    def get(self, address: str) -> bytes:
        """The bytes at a document's `original`. Raises OriginalMissing, OriginalDamaged."""

    def part(self, address: str, start: int, end: int) -> bytes:
        """The bytes from `start` up to `end`, unchecked. Raises OriginalMissing."""

    def link(self, address: str, seconds: int) -> str | None:
        """A URL that lets anyone read them for this long; None: use `get`."""

    def place(self, address: str) -> str:
        """Where the operator finds them: a path, or an address in an object store."""


class Spool(Protocol):
    """Uploads that wait to be read."""

    def keep(self, file: BinaryIO, *, limited: bool = True) -> str:
        """Store it durably, then return a name that any process can read it by. Raises ServerBusy
        if all uploads together would take too much space, unless it isn't `limited`."""

    def size(self, name: str) -> int:
        """In bytes; 0 if it no longer exists."""

    def read(self, name: str) -> bytes:
        """Raises FileUnreadable if it no longer exists."""

    def drop(self, name: str) -> None:
        """What is not there is no error."""

    def sweep(self, needed: Some[str], older: float) -> int:
        """Delete all others not touched for `older` seconds; returns how many."""

    def sizes(self) -> dict[str, int]:
        """Bytes of all uploads, by name."""

    def put_back(self, name: str, data: bytes) -> None:
        """Store what another library had under this name. Does nothing if it exists already."""


class Shelf(Protocol):
    """Judged sets and their saved evaluations: a few files for each, by its name."""

    def names(self) -> list[str]: ...

    def reading(self, name: str) -> AbstractContextManager[Path]:
        """A folder with the files of a set, for reading inside the block; empty if there is no such
        set."""

    def writing(self, name: str) -> AbstractContextManager[Path]:
        """The same for writing, while nobody else writes. Raises LibraryBusy."""
