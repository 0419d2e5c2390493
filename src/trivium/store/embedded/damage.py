"""Notices damaged index files, at the one place where native code is called.

tantivy answers damage with a ValueError or with a panic. A panic is a BaseException and not an
Exception: unguarded it ends the program past every handler. Here both become `IndexDamaged`, and
whoever holds the index sets it aside and rebuilds it from the database.
"""

from __future__ import annotations

import errno
import re
import zlib
from collections.abc import Callable, Iterable
from functools import wraps
from pathlib import Path
from typing import ParamSpec, TypeVar

from trivium.errors import IndexDamaged

P = ParamSpec("P")
T = TypeVar("T")

_PANIC = "PanicException"  # pyo3 makes one type per native module and exports none of them
_OS_ERROR = re.compile(r"(?:os error|code:) (\d+)")
_REFUSALS = (
    errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EPERM, errno.EMFILE, errno.ENFILE,
)  # fmt: skip
_FOOTER_MAGIC = 1337  # the last four bytes of every file that tantivy finished
_READ = 1 << 20  # bytes at a time


def guarded(part: str) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Turn what native code says about damaged files into an `IndexDamaged` of this part, and what
    it says about the disk into an `OSError`."""

    def guard(method: Callable[P, T]) -> Callable[P, T]:
        @wraps(method)
        def call(*given: P.args, **named: P.kwargs) -> T:
            try:
                return method(*given, **named)
            except IndexDamaged:
                raise
            except BaseException as error:
                is_panic = type(error).__name__ == _PANIC
                if not is_panic and not isinstance(
                    error, ValueError | ArithmeticError | LookupError
                ):
                    raise
                refused = _refusal(str(error))
                if refused is not None:
                    raise refused from error
                if "LockBusy" in str(error):
                    raise
                raise IndexDamaged.of(part, _first_line(error)) from error

        return call

    return guard


def _refusal(said: str) -> OSError | None:
    """What the operating system refused, if the message says so. A full disk or missing permission
    says nothing about the files."""
    if "StorageFull" in said or "space left" in said:
        return OSError(errno.ENOSPC, said)
    found = _OS_ERROR.search(said)
    if found and int(found[1]) in _REFUSALS:
        return OSError(int(found[1]), said)
    return None


def _first_line(error: BaseException) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0][:200]


def check_sums(files: Iterable[Path]) -> None:
    """Compare tantivy's files with the checksums at their ends. Python checks 2 GB/s this way;
    tantivy itself never checks, and may abort on a damaged file."""
    for path in files:
        try:
            sound = _is_sound(path)
        except FileNotFoundError:  # merged away just now; a lost file fails to open
            continue
        if not sound:
            raise IndexDamaged.of("words", f"{path.name} doesn't match its checksum")


def _is_sound(path: Path) -> bool:
    """tantivy writes the contents, then `{"version": …, "crc": …}`, its length and a magic
    number."""
    with path.open("rb") as file:
        size = file.seek(0, 2)
        if size < 8:
            return False
        file.seek(size - 8)
        length = int.from_bytes(file.read(4), "little")
        magic = int.from_bytes(file.read(4), "little")
        start = size - 8 - length
        if magic != _FOOTER_MAGIC or start < 0:
            return False
        file.seek(start)
        wanted = re.search(rb'"crc":(\d+)', file.read(length))
        file.seek(0)
        crc, left = 0, start
        while left and (block := file.read(min(_READ, left))):
            crc = zlib.crc32(block, crc)
            left -= len(block)
    return wanted is not None and int(wanted[1]) == crc
