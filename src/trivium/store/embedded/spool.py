"""Files that were sent in, kept in a folder until their job is done with them.

folder/HEX      the bytes of one file, under a name of our own making
folder/new-HEX  being written; left behind only by a crash
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path
from time import time
from typing import BinaryIO
from uuid import uuid4

from filelock import FileLock

from trivium.core.errors import FileUnreadable, ServerBusy
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
                    self._check_room(new.stat().st_size)
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
        found = {}
        for path in self._folder.glob("*"):
            if _NAME.fullmatch(path.name):  # files that are still being written come later
                with suppress(FileNotFoundError):
                    found[path.name] = path.stat().st_size
        return found

    def put_back(self, name: str, data: bytes) -> None:
        path = self._path(name)
        if not path.exists():
            self._folder.mkdir(parents=True, exist_ok=True)
            new = self._folder / f"{_UNFINISHED}{name}"
            new.write_bytes(data)
            new.replace(path)

    def _check_room(self, size: int) -> None:
        held = size + sum(self.sizes().values())
        if self._most is not None and held > self._most:
            raise ServerBusy(
                f"Waiting uploads would take {held:,} bytes; the limit is {self._most:,}"
                " (`serve.incoming_bytes`).",
                fix="Try again when they are added. Retry failed ones with `trivium jobs retry`,"
                " or delete them with `trivium jobs clear`.",
                on_page="Try again when they are added. You can retry failed ones on Add.",
            )

    def _path(self, name: str) -> Path:
        if not _NAME.fullmatch(name):
            raise FileUnreadable("No such upload.")
        return self._folder / name
