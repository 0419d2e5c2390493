"""Makes a library from a backup: builds it beside its place, checks it, and only then moves it
there."""

from __future__ import annotations

import glob
import shutil
import tempfile
from pathlib import Path

from trivium.core.errors import PathNotFound, TargetExists
from trivium.core.upkeep import Backup, Progress
from trivium.ports import Blobs
from trivium.store.blobs import FolderBlobs
from trivium.store.embedded.backend import open_embedded
from trivium.store.embedded.backup import ARCHIVE, read_backup
from trivium.store.embedded.database import translated

_MADE, _REPLACED = ".recovering-", ".replaced-"


def recover(
    file: Path,
    folder: Path,
    blobs: Blobs | None,
    *,
    force: bool = False,
    on_progress: Progress = lambda *_: None,
) -> Backup:
    """Make a library from a backup. Replaces a folder that isn't empty only with `force`, and only
    once the new library is complete. `blobs`: for the originals, if they aren't in the folder."""
    if not file.is_file():
        raise PathNotFound(f"There is no file {file}.", fix="Check the spelling.")
    if folder.exists() and not force and (folder.is_file() or any(folder.iterdir())):
        raise TargetExists(f"{folder} isn't empty.")
    with translated(folder):
        folder.parent.mkdir(parents=True, exist_ok=True)
        made = Path(tempfile.mkdtemp(prefix=f"{folder.name}{_MADE}", dir=folder.parent))
    try:
        archive = blobs or FolderBlobs(made / ARCHIVE)
        with translated(folder):
            about = read_backup(file, made, archive, on_progress)
        on_progress("indexes", 0, 1)
        open_embedded(made, create=False, blobs=archive).close()  # opening builds the indexes
        on_progress("indexes", 1, 1)
        with translated(folder):
            _swap(made, folder)
            _clear(folder)
    finally:
        shutil.rmtree(made, ignore_errors=True)
    return about


def _swap(made: Path, folder: Path) -> None:
    if not folder.exists():
        made.rename(folder)
        return
    old = Path(tempfile.mkdtemp(prefix=f"{folder.name}{_REPLACED}", dir=folder.parent))
    folder.rename(old / folder.name)
    made.rename(folder)
    shutil.rmtree(old)


def _clear(folder: Path) -> None:
    """Delete what killed calls for this folder left behind. Only once a complete library is in its
    place: until then one of these may be the only copy of the old one."""
    for ending in (_MADE, _REPLACED):
        for path in folder.parent.glob(f"{glob.escape(folder.name)}{ending}*"):
            shutil.rmtree(path, ignore_errors=True)
