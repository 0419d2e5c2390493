"""What changed in a source that lists all its items, each with a mark that changes when the item
does."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from trivium.ports import Change, Checkpoint, Gone


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
