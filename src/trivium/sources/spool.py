"""Files that were sent in and wait to be read: kept in a folder until their job is done with them.

    folder/HEX      the bytes of one file, under a name of our own making
    folder/new-HEX  being written; left behind only by a crash

Knows names and bytes, nothing of jobs or formats.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from time import time
from typing import Any, BinaryIO
from uuid import uuid4

from filelock import FileLock

from trivium.errors import FileUnreadable, ServerBusy
from trivium.ports import SourceItem

_NAME = re.compile(r"[0-9a-f]{32}")
_UNFINISHED = "new-"
_AT_ONCE = 1 << 20  # bytes copied at a time


class Spool:
    def __init__(self, folder: Path, most: int | None = None) -> None:
        """`most`: bytes that all files together may have."""
        self._folder = folder
        self._most = most

    def keep(self, file: BinaryIO, uri: str, name: str) -> bytes:
        """On the disk before it returns: a key, by which `item` finds it in any process. Raises
        ServerBusy."""
        self._folder.mkdir(parents=True, exist_ok=True)
        kept = uuid4().hex
        new = self._folder / f"{_UNFINISHED}{kept}"
        try:
            with new.open("xb") as copy:
                shutil.copyfileobj(file, copy, _AT_ONCE)
                copy.flush()
                os.fsync(copy.fileno())
            # Looking for room and taking it is one step, whoever else keeps something just now.
            with FileLock(self._folder.with_name(f"{self._folder.name}.lock")):
                self._check_room(new.stat().st_size)
                new.replace(self._folder / kept)
        except BaseException:
            new.unlink(missing_ok=True)
            raise
        folder = os.open(self._folder, os.O_RDONLY)
        try:
            os.fsync(folder)  # or the name may be lost with the power
        finally:
            os.close(folder)
        return json.dumps({"file": kept, "uri": uri, "name": name}).encode()

    def item(self, key: bytes) -> SourceItem:
        told = json.loads(key)
        path = self._path(key)
        size = path.stat().st_size if path.exists() else 0
        return SourceItem(told["uri"], told["name"], partial(_read, path), size, key=key)

    def drop(self, key: bytes) -> None:
        self._path(key).unlink(missing_ok=True)

    def sweep(self, needed: Collection[bytes], older: float) -> int:
        """Drop what no key names, and was not touched for so many seconds; how many files."""
        named = {self._path(key) for key in needed}
        dropped = 0
        for path in self._folder.glob("*"):
            with suppress(FileNotFoundError):
                if path not in named and time() - path.stat().st_mtime > older:
                    path.unlink()
                    dropped += 1
        return dropped

    def _check_room(self, size: int) -> None:
        held = size
        for path in self._folder.glob("*"):
            if _NAME.fullmatch(path.name):  # others that are being written come here after us
                with suppress(FileNotFoundError):
                    held += path.stat().st_size
        if self._most is not None and held > self._most:
            raise ServerBusy(
                f"Files that were sent in and are not added yet would take {held:,} bytes, and may"
                f" take {self._most:,} (`serve.incoming_bytes`).",
                fix="Try again when they are added. Those that failed wait for `trivium jobs retry`"
                " or go with `trivium jobs clear`.",
                on_page="Try again when they are added. Those that failed wait under Add, to be"
                " tried again.",
            )

    def _path(self, key: bytes) -> Path:
        name = str(json.loads(key)["file"])
        if not _NAME.fullmatch(name):
            raise FileUnreadable("This names no file that was sent in.")
        return self._folder / name


class SpoolSource:
    """Some of the files, as a source that any process can have again."""

    kind = "spool"

    def __init__(self, spool: Spool, keys: Sequence[bytes] = ()) -> None:
        self._spool = spool
        self._keys = keys

    def options(self) -> Mapping[str, Any]:
        return {}  # the spool is where the library is

    def again(self, key: bytes) -> SourceItem:
        return self._spool.item(key)

    def items(self) -> Iterator[SourceItem]:
        return (self._spool.item(key) for key in self._keys)


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as reason:
        raise FileUnreadable(
            "The file that was sent in is not kept any more.", fix="Send it again."
        ) from reason
