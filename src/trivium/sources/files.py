"""What sources on this machine share: which files changed since a cursor.

A file counts as changed when its size or its time of change did, as with rsync and make.
"""

from __future__ import annotations

import os
from pathlib import Path

from trivium.core.errors import FileUnreadable, PathNotFound

Stamp = tuple[int, int]  # nanoseconds and bytes


def stamp_of(path: Path) -> Stamp | None:
    """None: it doesn't exist, or can't be read."""
    try:
        held = path.stat()
    except OSError:
        return None
    return held.st_mtime_ns, held.st_size


def read(path: Path) -> bytes:
    """Raises FileUnreadable."""
    try:
        return path.read_bytes()
    except OSError as reason:
        raise FileUnreadable(f"{path.name} can't be read: {reason.strerror}.") from reason


def existing(path: str) -> Path:
    """An option that names a file or folder. Raises PathNotFound."""
    found = Path(os.path.abspath(Path(path).expanduser()))
    if not found.exists():
        raise PathNotFound(f"There is no file or folder {found}.")
    return found
