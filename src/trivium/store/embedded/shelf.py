"""Judged sets and their saved evaluations, in a folder each: the work of people, not derived.

evaluation/NAME/      what `trivium judge` writes
evaluation/.lock      held by whoever writes to one
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from trivium.core.errors import LibraryBusy, LibraryNotFound
from trivium.store.embedded.backup import EVALUATION

_PATIENCE = 5.0  # seconds for another judgment to be written


class FolderShelf:
    def __init__(self, library: Path) -> None:
        self._folder = library / EVALUATION

    def names(self) -> list[str]:
        found = self._folder.iterdir() if self._folder.is_dir() else ()
        return sorted(path.name for path in found if path.is_dir())

    @contextmanager
    def reading(self, name: str) -> Iterator[Path]:
        yield self._folder / name

    @contextmanager
    def writing(self, name: str) -> Iterator[Path]:
        try:
            self._folder.mkdir(exist_ok=True)
        except FileNotFoundError as reason:
            raise LibraryNotFound(
                f"The library's folder {self._folder.parent} no longer exists."
            ) from reason
        try:
            with FileLock(self._folder / ".lock").acquire(timeout=_PATIENCE):
                yield self._folder / name
        except Timeout as reason:
            raise LibraryBusy("Another process is writing judgments.") from reason
