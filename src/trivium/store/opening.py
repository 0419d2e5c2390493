"""Which backend an address means. The only place that knows all of them.

A path is a folder, the embedded one; `postgresql://…` is a schema of a database.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from trivium.core.errors import BadSetting
from trivium.core.places import DatabaseAddress, LibraryPlace
from trivium.core.plugins import needs
from trivium.core.upkeep import Backup, Progress, Salvaged
from trivium.ports import Backend, Blobs, Spool, Waiting
from trivium.store.blobs import FolderBlobs


@dataclass(frozen=True, slots=True, kw_only=True)
class BackendOptions:
    """The settings that a backend needs besides its address."""

    create: bool = True  # create it if there is none
    wait: float | None = None  # seconds of patience with another writer; None: an hour
    archive: Path | str | None = None  # where originals are kept; None: where the rest is
    incoming: int | None = None  # bytes that files that were sent in may take together
    fields: tuple[str, ...] | None = None  # metadata fields to search too; None: as before
    incoming_folder: str = ""  # an object store for those files; empty: where the rest is

    @property
    def blobs(self) -> Blobs | None:
        """Raises ArchiveAway, ArchiveRefused and BadSetting: now, not at the hundredth file."""
        if isinstance(self.archive, str):
            from trivium.store.objects import ObjectBlobs

            blobs = ObjectBlobs(self.archive)
            blobs.check()
            return blobs
        return FolderBlobs(self.archive) if self.archive else None

    @property
    def spool(self) -> Spool | None:
        """Raises what `blobs` does."""
        if not self.incoming_folder:
            return None
        from trivium.store.objects import ObjectSpool

        return ObjectSpool(self.incoming_folder, self.incoming)


def open_backend(where: LibraryPlace, options: BackendOptions) -> Backend:
    """Raises LibraryNotFound, LibraryTooNew, LibraryDamaged and other errors of stores."""
    if isinstance(where, DatabaseAddress):
        return _open_postgres(where, options)
    from trivium.store.embedded.backend import PATIENCE, open_embedded

    return open_embedded(where, **_arguments(options, PATIENCE))


def _open_postgres(where: DatabaseAddress, options: BackendOptions) -> Backend:
    with needs("postgres", "To keep a library in PostgreSQL, install psycopg."):
        from trivium.store.postgres.backend import PATIENCE, open_postgres
    from trivium.store.postgres.address import parse

    return open_postgres(parse(where), **_arguments(options, PATIENCE))


def _arguments(options: BackendOptions, patience: float) -> dict[str, Any]:
    """What every engine is opened with."""
    return {
        "create": options.create,
        "wait": patience if options.wait is None else options.wait,
        "blobs": options.blobs,
        "incoming": options.incoming,
        "spool": options.spool,
        "fields": options.fields,
    }


def make_from_backup(
    source: Path,
    where: LibraryPlace,
    options: BackendOptions,
    *,
    force: bool = False,
    on_progress: Progress = lambda *_: None,
) -> Backup:
    """Restore a library from a backup. Replaces an existing one only with `force`, and only once
    the new one is complete."""
    from trivium.store.embedded.recovery import recover

    return recover(source, _folder(where), options.blobs, force=force, on_progress=on_progress)


def judged_set(where: LibraryPlace, name: str) -> Path | None:
    """The files of a library's judged set, without opening the library. None: there is none."""
    if isinstance(where, DatabaseAddress):
        return None
    from trivium.store.embedded.spool import FolderShelf

    with FolderShelf(where).reading(name) as folder:
        return folder if folder.is_dir() else None


def engine_versions() -> dict[str, str]:
    """Of the libraries that keep and find."""
    versions = {"sqlite": sqlite3.sqlite_version}
    for name, package in {"faiss": "faiss-cpu"}.items():
        try:
            versions[name] = version(package)
        except PackageNotFoundError:
            versions[name] = "not installed"
    return versions


def _folder(where: LibraryPlace) -> Path:
    if isinstance(where, DatabaseAddress):
        raise BadSetting(
            "You can only restore a backup into a folder.",
            fix="`trivium recover FILE --library FOLDER`, then `trivium copy FOLDER ADDRESS`.",
            on_page="Ask the person who runs this server to do this in a terminal.",
        )
    return where


@dataclass(frozen=True, slots=True)
class Rescue:
    """What can be done for a library that does not open because its database is damaged."""

    is_damaged: Callable[[], bool]
    survey: Callable[[], Salvaged]  # what `salvage` would save and lose; changes nothing
    salvage: Callable[[], Salvaged]  # keeps the damaged database with the new one
    alone: Callable[[Waiting | None], AbstractContextManager[None]]  # to salvage within


def rescue_of(place: LibraryPlace) -> Rescue:
    from trivium.store.embedded import salvage

    if isinstance(place, DatabaseAddress):  # the server's own tools mend its files
        raise BadSetting("Only the database server can repair a database.")
    where = place

    return Rescue(
        lambda: salvage.is_damaged(where),
        lambda: salvage.survey(where),
        lambda: salvage.salvage(where),
        lambda waiting: salvage.alone(where, waiting),
    )
