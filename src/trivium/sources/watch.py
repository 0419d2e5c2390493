"""Notices changes below folders, and when a whole folder disappears and comes back. Says only where
something happened; whoever listens looks what it was. Knows nothing of documents."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Event

_LOOK = 0.5  # seconds between two checks whether the folders still exist
_LONGEST = 30.0  # seconds after which changes are reported even if more keep coming


@dataclass(frozen=True, slots=True)
class Stir:
    """What happened since the last one; often nothing."""

    paths: frozenset[str] = frozenset()  # added, changed or deleted
    gone: tuple[Path, ...] = ()  # watched folders that disappeared
    back: tuple[Path, ...] = ()  # folders that are back: everything below may be new


class FolderWatch:
    def __init__(self, folders: Sequence[Path], quiet: float, stop: Event) -> None:
        """Reports changes once nothing more has happened for `quiet` seconds. Ends at `stop`."""
        self._folders = [Path(os.path.abspath(folder)) for folder in folders]
        self._quiet = quiet
        self._stop = stop

    def stirs(self) -> Iterator[Stir]:
        """Once or twice a second. A folder is reported as back once it is already watched, so that
        nothing is missed between the next look and later changes."""
        marks: dict[Path, tuple[int, int]] = {}
        while not self._stop.is_set():
            there = {f: mark for f in self._folders if (mark := _mark(f)) is not None}
            gone = tuple(f for f, mark in marks.items() if there.get(f) != mark)
            back = tuple(f for f, mark in there.items() if marks.get(f) != mark)
            if gone:
                yield Stir(gone=gone)
            marks = there
            if there:
                yield from self._watch(there, back)
            else:
                yield Stir()
                self._stop.wait(_LOOK)

    def _watch(self, there: dict[Path, tuple[int, int]], back: tuple[Path, ...]) -> Iterator[Stir]:
        """Until one of the folders disappears or another comes back."""
        from watchfiles import watch

        changed = watch(
            *there,
            watch_filter=None,
            step=max(1, int(self._quiet * 1000)),
            debounce=int(max(_LONGEST, 2 * self._quiet) * 1000),
            rust_timeout=int(_LOOK * 1000),
            yield_on_timeout=True,
            stop_event=self._stop,
            ignore_permission_denied=True,
        )
        try:
            for changes in changed:
                yield Stir(frozenset(path for _, path in changes), back=back)
                back = ()
                if {f: _mark(f) for f in self._folders} != {f: there.get(f) for f in self._folders}:
                    return
        except FileNotFoundError:
            return  # it disappeared just before we could watch it


def _mark(folder: Path) -> tuple[int, int] | None:
    """Which folder has this name now; None if none does."""
    try:
        stat = os.stat(folder)
    except OSError:
        return None
    return (stat.st_dev, stat.st_ino) if folder.is_dir() else None
