"""Opens a library's SQLite file, and turns errors of SQLite, of the disk and of damaged index files
into Trivium's.

A damaged index file gives numbers that make no sense, and whatever uses them fails in one way or
another. That becomes `IndexDamaged`: whoever holds the index sets it aside and rebuilds it.
"""

from __future__ import annotations

import errno
import json
import os
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from functools import partial, wraps
from pathlib import Path
from typing import Any, ParamSpec, TypeVar
from urllib.parse import quote

from sqlalchemy import Engine, ExceptionContext, create_engine, event
from sqlalchemy.exc import (
    DataError,
    DBAPIError,
    IntegrityError,
    InterfaceError,
    NotSupportedError,
    ProgrammingError,
)

from trivium.core.errors import (
    DiskFull,
    IndexDamaged,
    LibraryBusy,
    LibraryDamaged,
    LibraryReadOnly,
    StoreError,
)
from trivium.store.sql.feed import SEQUENCE

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


P = ParamSpec("P")
T = TypeVar("T")


def guarded(part: str) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Turn what damaged files lead to into an `IndexDamaged` of this part."""

    def guard(method: Callable[P, T]) -> Callable[P, T]:
        @wraps(method)
        def call(*args: P.args, **named: P.kwargs) -> T:
            try:
                return method(*args, **named)
            except IndexDamaged:
                raise
            except (ValueError, ArithmeticError, LookupError) as error:
                text = (str(error).splitlines() or [type(error).__name__])[0][:200]
                raise IndexDamaged.of(part, text) from error

        return call

    return guard


_PRAGMAS = (
    "PRAGMA journal_mode = WAL",  # readers never wait for the writer
    "PRAGMA synchronous = FULL",  # acknowledged changes survive a power cut too
    "PRAGMA foreign_keys = ON",
    "PRAGMA busy_timeout = 30000",
    "PRAGMA secure_delete = ON",  # removed text is overwritten, not just unlinked
    # No mmap_size: 256 MB changed no search at 100,000 chunks (11.3 / 19 ms either way), and the
    # pages of every connection counted as the process's memory.
)
_WRONG_VALUE = (DataError, IntegrityError, InterfaceError, NotSupportedError, ProgrammingError)


def check_not_lost(path: Path) -> None:
    """If the file is missing or empty, SQLite would start a new database. Beside the old one's
    indexes that isn't a new library, but one that has lost its documents."""
    parts = (path, path.with_name(f"{path.name}-wal"))
    is_there = any(part.exists() and part.stat().st_size for part in parts)
    if not is_there and (path.parent / "words").exists():
        raise LibraryDamaged(
            f"{path} is gone or empty, but the rest of the library is there.",
            fix="Restore a backup with `trivium recover`; to start over, delete the folder.",
            on_page="Ask the person who runs this server to restore a backup.",
        )


class _ReadOnly(sqlite3.Connection):
    """Reads a database that nobody can write, without the files that SQLite puts beside it."""


def open_database(path: Path) -> Engine:
    """SQLite's errors are raised as Trivium's. A database on a full or read-only disk can still be
    read."""
    # The parameters of a statement are text of documents: keep them out of errors and logs.
    engine = create_engine(
        f"sqlite:///{path}",
        creator=lambda: _connect(path),
        pool_size=8,
        max_overflow=24,
        hide_parameters=True,
        json_deserializer=partial(_read_json, folder=path.parent),
    )

    @event.listens_for(engine, "handle_error")
    def translate(context: ExceptionContext) -> None:
        error = context.sqlalchemy_exception
        if isinstance(error, DBAPIError) and not isinstance(error, _WRONG_VALUE):
            raise _of_sqlite(error.orig, path.parent) from error

    @event.listens_for(engine, "checkin")
    def drop(connection: Any, record: Any) -> None:
        if isinstance(connection, _ReadOnly):  # by the next time, the disk may be writable
            record.invalidate()

    return engine


def read_rows(engine: Engine, text: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
    """The rows of a statement that only reads, without SQLAlchemy, which takes .1 ms or more per
    statement: for what every search asks. Raises sqlite3.Error."""
    with closing(engine.raw_connection()) as connection:
        cursor = connection.cursor()
        cursor.execute(text, values)
        return list(cursor.fetchall())


def rows_of(engine: Engine, text: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
    """The same, with Trivium's errors."""
    try:
        return read_rows(engine, text, values)
    except sqlite3.Error:
        with engine.connect() as connection:  # raises one of our errors, if it fails again
            return [tuple(row) for row in connection.exec_driver_sql(text, tuple(values))]


def sequence_of(engine: Engine) -> int | None:
    """The number of the last change, in .03 ms; None if it can't be read this way."""
    try:
        return int(read_rows(engine, SEQUENCE)[0][0])
    except (sqlite3.Error, LookupError):
        return None


def _connect(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, check_same_thread=False)
    try:
        for pragma in _PRAGMAS:
            connection.execute(pragma)
    except sqlite3.OperationalError:
        connection.close()
        # Before it reads, SQLite makes a file of shared memory, which needs room on the disk.
        # Without a log of recent changes, the database file has everything.
        if disk_refusal(path.parent) is None or _size(path.with_name(f"{path.name}-wal")):
            raise
        place = f"file:{quote(str(path.absolute()))}?mode=ro&immutable=1"
        return sqlite3.connect(place, uri=True, check_same_thread=False, factory=_ReadOnly)
    return connection


def _read_json(text: str, folder: Path) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise LibraryDamaged(
            f"The library {folder} has a value that can't be read: {error}.",
            fix="`trivium doctor --deep` names the documents.",
            on_page="Ask the person who runs this server which documents are damaged.",
        ) from error


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


class translated:  # noqa: N801 - reads as the function it replaces: `with translated(folder)`
    """Errors of SQLite and the file system as Trivium's. If only a value or a statement is wrong,
    the error stays as it is: the library isn't damaged.

    Not a generator: a search enters seven of these, at 1.2 µs each instead of 6.5."""

    __slots__ = ("_folder",)

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def __enter__(self) -> None: ...

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, OSError):
            raise of_disk(error, self._folder) from error
        if isinstance(error, DBAPIError) and not isinstance(error, _WRONG_VALUE):
            raise _of_sqlite(error.orig, self._folder) from error
        if isinstance(error, sqlite3.Error):
            raise _of_sqlite(error, self._folder) from error


def _of_sqlite(error: BaseException | None, folder: Path) -> StoreError:
    message, kind = str(error), getattr(error, "sqlite_errorname", "")
    if kind == "SQLITE_FULL":
        return full(folder)
    if kind.startswith(("SQLITE_BUSY", "SQLITE_LOCKED", "SQLITE_PROTOCOL")):
        return LibraryBusy(f"The library {folder} is locked by another process.")
    if kind.startswith(("SQLITE_READONLY", "SQLITE_IOERR", "SQLITE_CANTOPEN")):
        refusal = disk_refusal(folder)
        if refusal is not None:
            return refusal
        if kind.startswith("SQLITE_READONLY"):
            return read_only(folder)
    if kind.startswith("SQLITE_CANTOPEN") or not isinstance(error, sqlite3.DatabaseError):
        return StoreError(f"Couldn't use the library {folder}: {message}.")
    return LibraryDamaged(f"Couldn't use the library {folder}: {message}.")
