"""Adds files that a password protects. The password is used once and kept nowhere: what is stored
is the file without it, so that later readings need none."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from trivium.config import Settings
from trivium.core.errors import FileLocked
from trivium.core.types import Labels
from trivium.library.jobs import Report
from trivium.ports import Blob, SourceItem

UNLOCKERS = "trivium.extract.unlock:UNLOCKERS"


def unlock(settings: Settings, name: str, data: bytes, password: str) -> bytes:
    """The same file without its password, opened where files are read. Raises ReadError."""
    from trivium.extract.sandbox import Sandbox

    with Sandbox(
        1,
        settings.read_seconds,
        settings.read_memory,
        max_bytes=settings.read_max_bytes,
        extractors=UNLOCKERS,
        isolated=settings.read_isolate,
    ) as sandbox:
        return sandbox.read(Blob(name, data, title=password)).enclosed[0].data


@dataclass(frozen=True, slots=True)
class LockedFiles:
    """Files of this machine, opened with a password. Only this process can offer them."""

    paths: Sequence[str]
    open: Callable[[str, bytes], bytes]

    def items(self) -> Iterator[SourceItem]:
        for path in self.paths:
            yield SourceItem(path, os.path.basename(path), partial(self._read, path))

    def _read(self, path: str) -> bytes:
        return self.open(os.path.basename(path), Path(path).read_bytes())


def add_locked(
    report: Report,
    settings: Settings,
    password: str,
    add: Callable[[LockedFiles, Labels], Report],
    labels: Labels,
) -> Report:
    """Add the files that a report calls locked; the report with their outcomes in place."""
    locked = {outcome.uri for outcome in report.failed if isinstance(outcome.error, FileLocked)}
    paths = sorted(uri for uri in locked if os.path.isfile(uri))
    if not paths:
        return report

    def opened(name: str, data: bytes) -> bytes:
        return unlock(settings, name, data, password)

    more = add(LockedFiles(paths, opened), labels)
    outcomes = [outcome for outcome in report.outcomes if outcome.uri not in paths]
    counts = Counter(report.counts)
    counts.subtract(outcome.fate for outcome in report.failed if outcome.uri in paths)
    return replace(
        report,
        outcomes=(*outcomes, *more.outcomes),
        failed=(*(outcome for outcome in report.failed if outcome.uri not in paths), *more.failed),
        counts=counts + Counter(more.counts),
        chunks=report.chunks + more.chunks,
        seconds=report.seconds + more.seconds,
        embedding_seconds=report.embedding_seconds + more.embedding_seconds,
        notes=(*report.notes, *more.notes),
    )
