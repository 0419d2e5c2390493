"""A temporary folder that is deleted with its process, or by the next one after a kill. Its owner
holds a lock in it while it lives; a folder whose lock is free has no owner."""

from __future__ import annotations

import os
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path
from time import time

from filelock import FileLock, Timeout

_LOCK = "owner.lock"
_SETTLED = 60.0  # seconds: microseconds pass between making a folder and locking it


class Scratch:
    def __init__(self, prefix: str) -> None:
        """Makes a folder, and deletes those of the same prefix that killed processes left."""
        _sweep(prefix)
        self.path = Path(tempfile.mkdtemp(prefix=prefix))
        self._lock = FileLock(self.path / _LOCK)
        self._lock.acquire()

    def cleanup(self) -> None:
        self._lock.release()
        shutil.rmtree(self.path, ignore_errors=True)


def _sweep(prefix: str) -> None:
    for folder in Path(tempfile.gettempdir()).glob(f"{prefix}*"):
        with suppress(OSError):  # another process sweeps too, or it is someone else's
            found = folder.lstat()
            mine = hasattr(os, "getuid") and found.st_uid == os.getuid() and not folder.is_symlink()
            if mine and folder.is_dir() and time() - found.st_mtime > _SETTLED:
                _delete_ownerless(folder)


def _delete_ownerless(folder: Path) -> None:
    lock = FileLock(folder / _LOCK)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        return
    shutil.rmtree(folder, ignore_errors=True)
    lock.release()
