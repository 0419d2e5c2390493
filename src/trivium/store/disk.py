"""Turns a disk's refusals into errors of Trivium: it is full, or read-only."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from trivium.core.errors import DiskFull, LibraryReadOnly, StoreError

_ROOM = 64 << 10  # bytes: SQLite's shared memory alone takes 32 KB


def disk_refusal(folder: Path) -> StoreError | None:
    """What keeps anyone from writing here: a full disk, a read-only one, a lack of permission."""
    try:
        disk = os.statvfs(folder)
    except OSError:
        return None
    if disk.f_flag & os.ST_RDONLY or not os.access(folder, os.W_OK):
        return read_only(folder)
    return full(folder) if disk.f_bavail * disk.f_frsize < _ROOM else None


@contextmanager
def translated_disk(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise of_disk(error, folder) from error


def of_disk(error: OSError, folder: Path) -> StoreError:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return full(folder)
    if error.errno in (errno.EROFS, errno.EACCES, errno.EPERM):
        return read_only(folder)
    return StoreError(f"Couldn't use the library {folder}: {error}.")


def full(folder: Path) -> DiskFull:
    return DiskFull(f"The disk that holds {folder} is full.")


def read_only(folder: Path) -> LibraryReadOnly:
    return LibraryReadOnly(
        f"The library {folder} is read-only: you can search it, but not change it.",
        fix="Check its permissions and how its disk is mounted, or copy it.",
    )
