"""Waiting for another process, with a word about it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from filelock import FileLock, Timeout

from trivium.errors import LibraryBusy
from trivium.ports import Waiting

LOCK = "writer.lock"  # in the library's folder


@contextmanager
def held(lock: FileLock, seconds: float, waiting: Waiting | None, doing: str) -> Iterator[None]:
    """Alone with this lock. `doing` is what the other process does, for whoever waits so long."""
    try:
        lock.acquire(timeout=0)
    except Timeout:
        if waiting:
            waiting(f"Another process is {doing}; waiting for it to finish.")
        try:
            lock.acquire(timeout=seconds)
        except Timeout as reason:
            raise LibraryBusy(f"Another process has been {doing} for {seconds:.0f} s.") from reason
    try:
        yield
    finally:
        lock.release()


def is_held(lock: FileLock) -> bool:
    """Whether some process has it just now, this one included."""
    if lock.is_locked:
        return True
    other = FileLock(lock.lock_file)  # the same one could be taken twice by this process
    try:
        other.acquire(timeout=0)
    except Timeout:
        return True
    other.release()
    return False
