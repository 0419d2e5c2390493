"""What sources share that list all their items: what changed since a cursor, and files with marks
that change when they do.

A file counts as changed when its size or its time of change did, as with rsync and make.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from trivium.core.errors import PathNotFound, SourceUnreachable
from trivium.ports import Change, Checkpoint, Failed, Gone, Put, Wait

Stamp = tuple[int, int]  # nanoseconds and bytes


def stamp_of(path: Path) -> Stamp | None:
    """None: it doesn't exist, or can't be read."""
    try:
        stat = path.stat()
    except OSError:
        return None
    return stat.st_mtime_ns, stat.st_size


def existing(path: str) -> Path:
    """An option that names a file or folder. Raises PathNotFound."""
    place = Path(os.path.abspath(Path(path).expanduser()))
    if not place.exists():
        raise PathNotFound(f"There is no file or folder {place}.")
    return place


def missing(place: Path) -> SourceUnreachable:
    problem = f"{place} doesn't exist."
    return SourceUnreachable(problem, fix="Check that its disk is connected.")


def compared(
    before: Mapping[str, Any],
    now: Mapping[str, Any],
    tell: Callable[[str], Iterable[Change]],
    *,
    under: str = "",
    last: Mapping[str, Any] | None = None,
    below: bool = False,
    every: int = 100,
) -> Iterator[Change]:
    """`before`, `now`: marks by id, as JSON gives them back; an empty mark says nothing, so its
    item is read. `tell`: an item as it is. `under`: the cursor's field that holds the marks; empty:
    it is the marks. `last`: further fields of the last cursor. `below`: items have others below
    them. `every`: items between two cursors."""
    for id_ in sorted(before.keys() - now.keys()):
        yield Gone(id_, below=below)
    done = {id_: mark for id_, mark in before.items() if id_ in now}
    fresh = [id_ for id_, mark in now.items() if not mark or done.get(id_) != mark]

    def saved(more: Mapping[str, Any], count: int) -> Checkpoint:
        return Checkpoint(json.dumps({under: done, **more} if under else done), count, len(fresh))

    for count, id_ in enumerate(fresh, start=1):
        yield from tell(id_)
        done[id_] = now[id_]
        if count % every == 0:
            yield saved({}, count)
    yield saved(last or {}, len(fresh))


def ids_of(changes: Iterable[Change]) -> Iterator[str | Wait | Failed]:
    """Of a service where listing items means reading them."""
    seen: dict[str, None] = {}
    for change in changes:
        if isinstance(change, Wait | Failed):
            yield change
        elif isinstance(change, Put):
            seen[change.id] = None
    yield from seen


def picked(items: Iterable[Put | Failed], ids: Sequence[str]) -> Iterator[Change]:
    """Of all items those that are wanted; the others are gone."""
    wanted = dict.fromkeys(sorted(ids))
    for item in items:
        if item.id in wanted:
            del wanted[item.id]
            yield item
    yield from map(Gone, wanted)
