"""Who does what alone, by files that the operating system locks: a lease ends with its process.

writer.lock       adds, changes and removes documents
reembed.lock      makes the vectors of another model
following.lock    follows watched folders
worker-ID.lock    works off jobs, which it owns as long as it lives
attending-ID.lock takes jobs, and may have none
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from trivium.core.errors import LibraryBusy, LibraryNotFound
from trivium.core.work import ATTENDING, worker_lease
from trivium.ports import Waiting
from trivium.store.embedded.backup import DATABASE
from trivium.store.embedded.database import translated

_OF_ONE_RUN = (worker_lease(""), ATTENDING)  # nobody uses these names again


class FileLeases:
    def __init__(self, folder: Path, wait: float) -> None:
        """`wait`: how many seconds to wait by default."""
        self._folder = folder
        self._wait = wait

    @contextmanager
    def hold(
        self,
        name: str,
        doing: str,
        *,
        waiting: Waiting | None = None,
        patience: float | None = None,
    ) -> Iterator[None]:
        check_there(self._folder)  # locking a file would create the folder again
        seconds = self._wait if patience is None else patience
        lock = self._lock(name)
        with translated(self._folder):
            try:
                lock.acquire(timeout=0)
            except Timeout:
                if waiting:
                    waiting(f"Another process is {doing}; waiting for it to finish.")
                try:
                    lock.acquire(timeout=seconds)
                except Timeout as reason:
                    text = f"Another process has been {doing} for {seconds:.0f} s."
                    raise LibraryBusy(text) from reason
        try:
            yield
        finally:
            self._release(name, lock)

    def is_held(self, name: str) -> bool:
        lock = self._lock(name)
        if not Path(lock.lock_file).exists():
            return False
        try:
            lock.acquire(timeout=0)
        except Timeout:
            return True
        except OSError:  # the disk may be read-only
            return False
        self._release(name, lock)
        return False

    def count_held(self, beginning: str) -> int:
        locks = self._folder.glob(f"{beginning}*.lock")
        return sum(self.is_held(lock.stem) for lock in locks)

    @staticmethod
    def _release(name: str, lock: FileLock) -> None:
        if name.startswith(_OF_ONE_RUN):
            Path(lock.lock_file).unlink(missing_ok=True)
        lock.release()

    def _lock(self, name: str) -> FileLock:
        """A new lock each time: this process could take the same one twice."""
        return FileLock(self._folder / f"{name}.lock", thread_local=False)


def check_there(folder: Path) -> None:
    """Raises LibraryNotFound if the folder of an open library was moved or deleted."""
    if not (folder / DATABASE).exists():
        raise LibraryNotFound(
            f"The library's folder {folder} no longer exists.",
            fix="Put it back, or open the library where the folder is now.",
        )
