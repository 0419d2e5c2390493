"""Files that people sent in, kept until their job is done with them, and judged sets with saved
evaluations: the work of people, not derived.

incoming/HEX      the bytes of one file, under a name of our own making
incoming/new-HEX  being written; left behind only by a crash
evaluation/NAME/  what `trivium judge` writes
evaluation/.lock  held by whoever writes to one
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from time import time
from typing import BinaryIO
from uuid import uuid4

from filelock import FileLock, Timeout

from trivium.core.errors import FileUnreadable, LibraryBusy, LibraryNotFound
from trivium.store.blobs import check_room
from trivium.store.embedded.backup import EVALUATION
from trivium.store.embedded.database import translated
from trivium.store.embedded.leases import check_there

_NAME = re.compile(r"[0-9a-f]{32}")
_UNFINISHED = "new-"
_AT_ONCE = 1 << 20  # bytes copied at a time


class FolderSpool:
    def __init__(self, library: Path, most: int | None = None) -> None:
        """`most`: how many bytes all files may have together."""
        self._library = library
        self._folder = library / "incoming"
        self._most = most

    def keep(self, file: BinaryIO, *, limited: bool = True) -> str:
        check_there(self._library)  # storing the file would create the folder again
        with translated(self._library):  # a full disk isn't our fault
            return self._keep(file, limited)

    def _keep(self, file: BinaryIO, limited: bool) -> str:
        self._folder.mkdir(parents=True, exist_ok=True)
        name = uuid4().hex
        new = self._folder / f"{_UNFINISHED}{name}"
        try:
            with new.open("xb") as copy:
                shutil.copyfileobj(file, copy, _AT_ONCE)
                copy.flush()
                os.fsync(copy.fileno())
            # Finding room and reserving it is one step, whoever else stores something at the same
            # time.
            with FileLock(self._folder.with_name(f"{self._folder.name}.lock")):
                if limited:
                    check_room(new.stat().st_size + sum(self.sizes().values()), self._most)
                new.replace(self._folder / name)
        except BaseException:
            new.unlink(missing_ok=True)
            raise
        folder = os.open(self._folder, os.O_RDONLY)
        try:
            os.fsync(folder)  # or a power cut may lose the name
        finally:
            os.close(folder)
        return name

    def size(self, name: str) -> int:
        path = self._path(name)
        return path.stat().st_size if path.exists() else 0

    def read(self, name: str) -> bytes:
        try:
            return self._path(name).read_bytes()
        except OSError as reason:
            raise FileUnreadable("The upload is gone.", fix="Send it again.") from reason

    def drop(self, name: str) -> None:
        self._path(name).unlink(missing_ok=True)

    def sweep(self, needed: Collection[str], older: float) -> int:
        dropped = 0
        for path in self._folder.glob("*"):
            with suppress(FileNotFoundError):
                if path.name not in needed and time() - path.stat().st_mtime > older:
                    path.unlink()
                    dropped += 1
        return dropped

    def sizes(self) -> dict[str, int]:
        sizes = {}
        for path in self._folder.glob("*"):
            if _NAME.fullmatch(path.name):  # files that are still being written come later
                with suppress(FileNotFoundError):
                    sizes[path.name] = path.stat().st_size
        return sizes

    def put_back(self, name: str, data: bytes) -> None:
        path = self._path(name)
        if not path.exists():
            self._folder.mkdir(parents=True, exist_ok=True)
            new = self._folder / f"{_UNFINISHED}{name}"
            new.write_bytes(data)
            new.replace(path)

    def _path(self, name: str) -> Path:
        if not _NAME.fullmatch(name):
            raise FileUnreadable("No such upload.")
        return self._folder / name


_PATIENCE = 5.0  # seconds for another judgment to be written


class FolderShelf:
    def __init__(self, library: Path) -> None:
        self._folder = library / EVALUATION

    def names(self) -> list[str]:
        folders = self._folder.iterdir() if self._folder.is_dir() else ()
        return sorted(path.name for path in folders if path.is_dir())

    @contextmanager
    def reading(self, name: str) -> Iterator[Path]:
        yield self._folder / name

    @contextmanager
    def writing(self, name: str) -> Iterator[Path]:
        try:
            self._folder.mkdir(exist_ok=True)
        except FileNotFoundError as reason:
            raise LibraryNotFound(
                f"The library's folder {self._folder.parent} no longer exists."
            ) from reason
        try:
            with FileLock(self._folder / ".lock").acquire(timeout=_PATIENCE):
                yield self._folder / name
        except Timeout as reason:
            raise LibraryBusy("Another process is writing judgments.") from reason
